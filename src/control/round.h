/* round - what a plan means for the world: NodeClaims to be made, machines that take pods, pods without a place.
 *
 * Everything is written down before anything happens, because a plan refers to the snapshot and the snapshot goes on changing while calls are under way. Disruption
 * writes its replacements down in the same words.
 */
#pragma once

#include "control/control.h"
#include "data/tree.h"
#include "plan/plan.h"

struct round_pod {
    str ns, name, uid;
    bool bound; /* it moves off a node that goes away */
    str buffer; /* there is no such pod: this capacity buffer, of its namespace, wants room for it; empty: there is */
};

struct round_claim { /* a NodeClaim to be made */
    str pool;
    struct tree *body;
    str requests;  /* as JSON */
    str types;     /* the first five and how many more */
    uint64_t plan; /* of store_plan_number(), when it was planned */
    bool min_values_relaxed;
    bool healthy_pool; /* NodeRegistrationHealthy is True */
    struct round_pod *pods;
    uint32_t n_pods;
    const str *leaving; /* provider ids of machines in whose place it comes */
    uint32_t n_leaving;
};

struct round_node {               /* an existing machine that takes pods */
    str node, claim, provider_id; /* node or claim may be empty */
    str pool;
    bool healthy_pool;
    struct round_pod *pods;
    uint32_t n_pods;
};

struct round_refusal {
    struct round_pod pod;
    str reason;
    bool deferred; /* waits for a reservation: no event */
    bool silent;   /* does not want our capacity: no event either */
};

struct round_exclusion { /* types that the limits of a pool left out */
    str pool;
    uint32_t n_excluded, n_types;
};

struct round_dropped { /* a pool that has no instance types */
    str pool, uid;
    bool by_min_values;
};

struct round_zone { /* pods by the zone that they need */
    str name;
    uint32_t n_pods;
};

struct round {
    struct round_claim *claims;
    struct round_node *nodes;
    struct round_refusal *refusals;
    struct round_exclusion *exclusions;
    struct round_dropped *dropped;
    struct round_zone *zones;
    uint32_t n_claims, n_nodes, n_refusals, n_exclusions, n_dropped, n_zones;
    uint32_t n_pending, n_moving, n_ignored; /* ignored: refused before planning */
};

/* What a plan means for the world, with nothing left that points into snapshot, plan or store. */
struct round *round_of(struct arena *a, const struct store *st, const struct snapshot *s, const struct plan *p,
                       uint64_t random);

/* ---- parts of it ---- */

struct round_pod *round_pods(struct arena *a, const struct snapshot *s, const uint32_t *ix, uint32_t n);
struct round_claim round_claim_of(struct arena *a, const struct store *st, const struct snapshot *s,
                                  const struct plan_claim *c, uint64_t random);
/* Of a pool with replicas: its template as it is, for no pods. */
struct round_claim round_claim_static(struct arena *a, const struct store *st, const struct syms *t,
                                      const struct nodepool *p);
struct round_node round_node_of(struct arena *a, const struct store *st, const struct snapshot *s,
                                const struct plan_node *n);

/* ---- carried out ---- */

/* Which names the pool. */
struct log *round_log(struct arena *a, const struct log *l, const struct round_claim *x);
/* Whether the pool is within its limits, and nobody has overtaken the plan; round_create() asks this first. */
bool round_may_create(struct control *c, const struct round_claim *x, struct err *e);
/* Creates the NodeClaim; counted by why: "provisioned". The name is in the arena, the log names the pool already. Not when the pool is beyond its limits by now; and ERR_CONFLICT when it has limits
 * and others make claims of it, or have made some since this one was planned: it is to be planned again. */
bool round_create(struct control *c, struct arena *a, struct log *l, const struct round_claim *x, const char *reason,
                  str *ret_name, struct err *e);
/* Pods are on their way to the machine. */
void round_nominate(struct control *c, struct arena *a, const struct round_node *n);

/* Event Nominated; claim or node may be empty. */
void round_say_nominated(struct control *c, struct arena *a, const struct round_pod *pod, str claim, str node);
void round_say_refused(struct control *c, struct arena *a, const struct round_refusal *x); /* event FailedScheduling */
void round_say_dropped(struct control *c, const struct round_dropped *x); /* event NoCompatibleInstanceTypes */
