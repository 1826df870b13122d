/* plan - where pending pods go: existing nodes, new NodeClaims, or nowhere and why.
 *
 * A pure function: the same snapshot gives the same plan, byte for byte. The result lives in the arena it was
 * given and refers to the snapshot.
 */
#pragma once

#include "model/snapshot.h"

struct plan_req { /* one requirement as a NodeClaim would carry it */
    sym key;
    enum req_op op;
    str *vals; /* sorted */
    uint32_t n_vals;
    int32_t min_values; /* 0 when absent */
    bool of_types;      /* In the names of plan_claim.types, which `vals` does not repeat */
};

struct plan_claim {
    uint32_t pool; /* index into snapshot.pools */
    uint32_t *pods;
    uint32_t n_pods; /* in order of placement */
    uint32_t *types; /* indexes into catalog.types, launch order, cut to 600 */
    uint32_t n_types;
    struct plan_req *reqs; /* sorted by key text */
    uint32_t n_reqs;
    struct reslist requests;
    struct reslist daemon_requests; /* part of `requests` */
    bool min_values_relaxed;
    /* What a launch would pick today; price < 0 when nothing is on offer. */
    uint32_t type;
    sym zone, capacity_type;
    double price_usd_per_h;
};

struct plan_node {
    uint32_t node; /* index into snapshot.nodes */
    uint32_t *pods;
    uint32_t n_pods;
};

/* Where a pod goes that has a node now. One of the two is UINT32_MAX. */
struct plan_move {
    uint32_t pod;
    uint32_t node;  /* index into snapshot.nodes */
    uint32_t claim; /* index into the claims of the same answer */
};

/* The closest a pod came to a place: one pool, one type, the one constraint that failed. */
struct plan_near {
    bool present;
    uint32_t pool; /* index into snapshot.pools */
    uint32_t type; /* index into catalog.types; UINT32_MAX when no type was reached */
    /* "resources", "requirements", "offering", "taints", "limits", "topology", "minValues", "hostPorts", "volumes",
     * "reservation" */
    const char *constraint;
    str key;        /* resource name, label key or taint */
    str needs, has; /* what the pod needs, what there is; with numbers where there are numbers */
    str hint;       /* what would help */
};

struct plan_why {
    str reason;    /* Karpenter's text */
    bool deferred; /* waits for a reservation: not unschedulable in upstream's sense */
    struct plan_near near;
};

struct plan_failure {
    uint32_t pod;
    const struct plan_why *why; /* pods that failed alike share it */
};

/* Before a claim was opened: types of a NodePool that its limits left out, of those that meet its requirements. */
struct plan_exclusion {
    uint32_t pool; /* index into snapshot.pools */
    uint32_t n_excluded, n_types;
};

/* A NodePool of which nothing can be made: no instance type meets its requirements, or what is left of them falls short of its minValues. */
struct plan_dropped {
    uint32_t pool; /* index into snapshot.pools */
    bool by_min_values;
};

/* Pods of phase Pending by the zone that they need, before anything is placed. */
struct plan_zone {
    str name; /* of the zone; "flexible": any of several, "none": there is none */
    uint32_t n_pods;
};

struct plan {
    struct plan_claim *claims;
    uint32_t n_claims;
    struct plan_node *nodes; /* only those that received pods, by name */
    uint32_t n_nodes;
    struct plan_failure *failures; /* in no order that matters; see plan_sort_failures() */
    uint32_t n_failures;
    struct plan_exclusion *exclusions; /* in the order in which they came about */
    uint32_t n_exclusions;
    struct plan_dropped *dropped; /* in the order in which pools are tried */
    uint32_t n_dropped;
    struct plan_zone *zones; /* by name, flexible and none last */
    uint32_t n_zones;
    double hourly_cost;
    bool has_bound;
    double lower_bound; /* no plan for the pods on new nodes is cheaper */
};

/* By namespace, then name of the pod: the order in which they are listed for people. */
void plan_sort_failures(const struct snapshot *s, struct plan *p);

/* What plans of one cluster have in common: labels, resources and instance types as tables, and what was found out about them. Whoever plans again and again keeps one. It changes
 * the speed and not the plan, and begins anew by itself when it does not fit any more: when types or prices have changed, or somebody mentions what nobody has mentioned before. Not for
 * two threads at a time. */
struct frame;
struct frame *frame_new(void);
void frame_reset(struct frame *f); /* gives its memory back; it is as good as new. NULL is fine */
void frame_free(struct frame *f);  /* after everything that was made with it */

/* All pods a plan lists are indexes into snapshot.pods. */
struct plan *plan_make(struct arena *a, const struct snapshot *s);
struct plan *plan_make_in(struct frame *f, struct arena *a, const struct snapshot *s); /* f: NULL for none */

/* Fills has_bound and lower_bound: what any plan for the pods on new nodes costs at least. Not needed to act on a
 * plan, so it is a step of its own; it takes milliseconds. */
void plan_add_bound(const struct snapshot *s, struct plan *p);
