/* tally_int - what the two halves of the tally share. */
#pragma once

#include "base/htab.h"
#include "cli/simulate/room.h"
#include "cli/simulate/tally.h"
#include "sim/kube/kube.h"

struct seen_node {
    struct htab_node by_name;
    bool there, managed; /* the object exists; it belongs to a NodePool */
    struct room room, used;
};

struct seen_claim {
    struct htab_node by_uid;
    bool launched, going;
    uint32_t pool, spend;
    int64_t rate;
};

struct seen_pod {
    struct htab_node by_uid;
    int64_t created_us;
    struct room asks;
    struct seen_node *node; /* where its requests count; NULL: nowhere */
    uint32_t workload;
    enum { POD_WAITS, POD_RUNS, POD_ENDED } state;
    bool daemon, going;
    str why; /* the last reason that somebody gave for its waiting; in the tally's arena */
};

struct watcher {
    struct kube *kube;
    struct tally *t;
    bool counts; /* it has begun and is not closed */
    int64_t began_us, settled_us;
    struct htab nodes, claims, pods;
    uint32_t n_nodes, n_fixed, n_running, n_waiting;
    struct room used, room;            /* on nodes of NodePools */
    int64_t rate;                      /* nanodollars an hour */
    struct wordbook *workloads, *whys; /* tally_pods.c */
};

void watcher_settle(struct watcher *w); /* sums up to now: before anything changes */
struct tally_slot *watcher_slot(struct watcher *w);
struct seen_node *watcher_node(struct watcher *w, str name); /* made when it is not there */
void watcher_use(struct watcher *w, struct seen_node *n, const struct room *r, int sign);

void watcher_pods_init(struct watcher *w);
void watcher_pods_close(struct watcher *w);
void watcher_pods_fini(struct watcher *w);
