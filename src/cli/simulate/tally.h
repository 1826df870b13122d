/* tally - what a simulation was like: money, waiting, nodes, disruption.
 *
 * It hears of every change in the API server's store and keeps sums that are integrated over time when one of them changes; nothing is ever listed, so that
 * looking costs what happens. Amounts are integers (millicores, bytes, nanodollars), so that what comes is what goes.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"

struct kube;

#define TALLY_SLOTS 240 /* pieces that the time is cut into, for charts */

struct tally_slot { /* integrals over the piece: divide by covered_s */
    double covered_s;
    double usd;    /* spent */
    double node_s; /* nodes of NodePools × seconds, and so on */
    double running_s, waiting_s;
    double cpu_used_s, cpu_s; /* cores requested by pods on nodes of NodePools, and what these nodes have */
    double memory_used_s, memory_s;
    uint32_t nodes_max, waiting_max;
    uint32_t launched, removed, evicted;
};

struct tally_pool {
    str name;
    double usd, node_s;
    uint32_t launched, removed, nodes, nodes_max;
    int64_t rate; /* nanodollars an hour, now */
};

struct tally_reason { /* why NodeClaims went */
    str name;
    uint32_t n;
};

struct tally_stuck { /* pods of one workload that never ran, for one reason */
    str workload;    /* "shop/web" */
    str why;
    uint32_t n;
    bool gone; /* they were deleted before they ran; else: they wait still */
};

struct tally_spend { /* by instance type and capacity type */
    str type, capacity;
    double usd, node_s;
    uint32_t launched, nodes;
    int64_t rate;
};

struct tally {
    double seconds; /* that were simulated */
    double usd;
    bool has_least;
    double least_usd; /* what nodes for the pods would have cost at least (floor.h) */
    struct tally_slot total;
    struct tally_slot slots[TALLY_SLOTS];
    double slot_s;
    VEC(struct tally_pool) pools;     /* by name, once it is closed */
    VEC(struct tally_reason) reasons; /* by number, then name */
    VEC(struct tally_stuck) stuck;    /* by number, then name */
    VEC(struct tally_spend) spends;   /* by cost, then name */
    VEC(uint32_t) waits_ms;           /* of every pod that began to run, from its creation; ascending once closed */
    uint32_t nodes_min, n_nodes;      /* the least after the first node was there */
    uint32_t n_fixed;                 /* nodes of no NodePool; at the end */
    uint32_t n_pods, n_ran, n_stuck;  /* not those of DaemonSets */
    uint32_t n_unpriced;              /* machines whose price nobody knows */
    struct arena *arena;
};

struct watcher;

/* Hears of everything from the start of the server on; counts from watcher_begin(), for so many seconds. The server is freed before it. */
struct watcher *watcher_new(struct kube *k, double seconds);
void watcher_begin(struct watcher *w);
/* The end, whenever that is; the tally is the caller's. */
struct tally *watcher_close(struct watcher *w);
void watcher_free(struct watcher *w);
AUTO_DEFINE(watcher)

void tally_free(struct tally *t);
AUTO_DEFINE(tally)

double tally_wait_s(const struct tally *t, double quantile); /* 1: the longest; 0 when nobody waited */
