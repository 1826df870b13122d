/* kube - what the files of bench-kube share; see kube.c. Nothing else includes this. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "net/http.h"

enum kind { PODS, NODES, LEASES, N_KINDS };

struct options {
    const char *karpenter;
    int64_t nodes, pods, writes, watchers, connections;
    bool json;
};

struct bench {
    struct options o;
    struct arena *a; /* of the whole run */
    struct world *w;
    pid_t pid;              /* the server's; 0: none */
    const char *kubeconfig; /* where it says how to be reached */
    str url;                /* "https://127.0.0.1:6443" */
    struct http_trust trust;
    str authorization;
};

_Noreturn void die(const char *what, const char *detail);
const char *kind_path(enum kind k); /* of the whole collection: "/api/v1/pods" */

/* ---- the server (kube_demo.c) ---- */

void demo_start(struct bench *b); /* parks until it answers */
void demo_stop(struct bench *b);
double demo_cpu_s(const struct bench *b);   /* used so far */
double demo_peak_mb(const struct bench *b); /* the largest resident set so far */

/* ---- calls (kube_demo.c) ---- */

struct call {
    const char *method; /* NULL: GET */
    str path;
    const char *content_type;
    str body;
};

/* Dies unless the answer is 2xx. */
void call_fetch(struct bench *b, const struct call *c, struct arena *a, struct http_response *ret);
struct http_stream *call_open(struct bench *b, str path, struct arena *a);

/* ---- writing (kube_write.c) ---- */

/* What the server has said to have written. Removals have revisions too, which no answer names: they are counted. */
struct written {
    VEC(uint64_t) rvs[N_KINDS]; /* ascending once write_*() is through */
    uint32_t deleted[N_KINDS];
    uint32_t n; /* writes */
};

struct writer;

struct writer *writer_new(struct bench *b);
void writer_free(struct writer *w);
void write_cluster(struct writer *w, struct written *ret); /* nodes, their leases, pods, and that they run */
void write_changes(struct writer *w, struct written *ret);

/* ---- watching (kube_watch.c) ---- */

/* How a watcher learns what is there. */
enum beginning { BEGIN_WHOLE, BEGIN_PAGES, BEGIN_CACHED, BEGIN_STREAM, N_BEGINNINGS };

struct watchers;

struct watchers *watchers_new(
    struct bench *b); /* list, all at the same time, and stay; parks until each has everything */
void watchers_wait(struct watchers *ws, const struct written *w); /* parks until they have seen it, or have not */
/* What is wrong, a line each; nothing when every promise was kept. */
void watchers_check(struct watchers *ws, const struct written *w, struct sb *ret);
uint64_t watchers_events(const struct watchers *ws);
uint64_t watchers_bytes(const struct watchers *ws);
void watchers_free(struct watchers *ws); /* once the server is gone */
