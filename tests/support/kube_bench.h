/* kube_bench - an API server in a simulated world, and calls to it.
 *
 * bench_call() moves the virtual clock until the answer is there. bench_open() starts a call that may stay open (a watch): what
 * has come so far stands in it after each bench_run().
 */
#pragma once

#include "base/arena.h"
#include "sim/kube/faults.h"
#include "sim/kube/kube.h"
#include "sim/world.h"

#define BENCH_URL "https://kube"

struct kube_bench {
    struct sim *sim;
    struct world *server, *client;
    struct kube *kube;
    struct faults *faults; /* NULL: the server is well */
    struct arena *a;
};

void bench_init(struct kube_bench *b, uint64_t seed, const struct kube_options *o, const struct kube_faults *f);
void bench_fini(struct kube_bench *b);

struct stream {
    struct http_call *call;
    struct arena *a;
    int status; /* 0: no head yet */
    struct http_header *headers;
    uint32_t n_headers;
    struct sb body;
    bool over, broken;
};

/* headers: "Name: value" lines, or NULL. */
struct stream *bench_open(struct kube_bench *b, const char *method, const char *path, const char *headers, str body);
void bench_close(struct stream *s);
void bench_run(struct kube_bench *b, int64_t ms);

/* The stream lives until bench_fini(). */
const struct stream *bench_call(struct kube_bench *b, const char *method, const char *path, const char *headers,
                                const char *body);
str stream_header(const struct stream *s, const char *name);
