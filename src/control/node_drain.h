/* node_drain - which pods a node that goes away gets rid of next (lifecycle 6.4, 6.5). Pure. */
#pragma once

#include "model/evict.h"
#include "state/store.h"

#define NO_DEADLINE INT64_MAX

struct drain_pod { /* a copy: pods may go while we act */
    str ns, name, uid;
    int64_t grace_s; /* its own */
    uint32_t ix;     /* where it was */
    int64_t wait_ms; /* before it is evicted */
};

struct drain {
    struct drain_pod
        *expiring; /* to be deleted now, so that they have their grace, or what is left of it, before the deadline */
    uint32_t n_expiring;
    struct drain_pod *evict; /* what can be evicted of the first group that is not empty */
    uint32_t n_evict;
    uint32_t *asked; /* indexes of pods: those of that group whose annotation do-not-disrupt was asked */
    uint32_t n_asked;
    uint32_t n_waiting; /* pods that are still to go; 0: drained */
};

/* deadline_ms: when every pod must have gone; NO_DEADLINE. */
struct drain drain_decide(struct arena *a, const struct syms *t, const struct pod *pods, struct pod_list on_node,
                          int64_t deadline_ms, int64_t now_ms);
/* Of nodes that go at the same time the large pods are evicted first: whoever is evicted later finds less room in one piece, and it is the small ones that can do with it. A pod
 * that asks for a quarter of the node or more goes at once, the others a second later for every halving, four at most: no node is drained in less than five seconds anyway. */
void drain_large_first(struct drain *d, const struct pod *pods, const struct reslist *room);
/* What a pod that is deleted now is given; never less than a second. */
int64_t drain_grace_s(int64_t deadline_ms, int64_t now_ms);
