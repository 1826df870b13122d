/* candidate - nodes that may be disrupted, what they cost, and what keeps the others. Inner header of disrupt/. */
#pragma once

#include "base/bits.h"
#include "base/map.h"
#include "disrupt/disrupt.h"
#include "disrupt/drift.h"
#include "model/evict.h"

#define NO_INDEX UINT32_MAX

/* What is known of a node, whether it is a candidate or not. */
struct candidate {
    uint32_t node;          /* index into snapshot.nodes */
    uint32_t pool;          /* index into snapshot.pools, by its label; NO_INDEX: there is no such pool */
    uint32_t type;          /* index into catalog.types, by its label; NO_INDEX: unknown */
    uint32_t n_pods;        /* reschedulable pods on it */
    bool spot;              /* by its label */
    bool empty;             /* reschedule_cost <= 1: also with pods that are all cheap to evict */
    double price;           /* an hour; 0 when unknown */
    double reschedule_cost; /* 1 + what moving its pods costs; NaN when a pod says so */
    double savings_ratio;   /* price / reschedule_cost */
    double disruption_cost; /* evicting all of its pods, times the part of its life that is left */
    int64_t drifted_ms;     /* since when the condition is True; INT64_MAX when it is not */

    /* The first obstacle that no method forgives (lifecycle 8.3, rows 2-9), or BLOCK_NONE. Then the first pod with
     * do-not-disrupt in force and the first whose disruption budget refuses an eviction, or NO_INDEX: these do not
     * count against drift when the NodeClaim has a terminationGracePeriod. */
    enum blocker_kind obstacle;
    uint32_t protected_pod, refused_pod;
};

/* Everything about candidates that does not depend on the method, found out once. */
struct candidates {
    const struct snapshot *s;
    struct arena *a;
    struct pdb_index *pdbs;
    struct u64map pool_of_sym, type_of_sym;
    struct candidate *all; /* [snapshot.n_nodes] */
    uint64_t *movable;     /* bit set over snapshot.pods: on a node, and would move if it went (lifecycle 1.3) */
    bool many;             /* nodes: types are found by map */
    bool borrowed;         /* but for `all` everything is somebody else's, and read only */
};

void candidates_init(struct candidates *c, struct arena *a, const struct snapshot *s);
/* Of these nodes alone, a bit set: no pod of another one is movable, and nobody asks about them. */
void candidates_init_of(struct candidates *c, struct arena *a, const struct snapshot *s, const uint64_t *nodes);
/* The same as `from`, which outlives it, for a run that may change what is said of single nodes. */
void candidates_borrow(struct candidates *c, struct arena *a, const struct candidates *from);
void candidates_fini(struct candidates *c);
/* The same of one node, after its pods have changed. */
void candidate_refresh(struct candidates *c, uint32_t node);

/* What keeps a node from being a candidate of the method: construction and filter, not budgets (lifecycle 8.3, 8.4).
 * BLOCK_NONE: nothing. */
enum blocker_kind candidate_obstacle(const struct candidates *c, uint32_t node, enum disrupt_method m);
/* The same for people. Object, text and fix live in the arena of the candidates. */
struct blocker candidate_blocker(const struct candidates *c, uint32_t node, enum disrupt_method m);
/* Whether construction succeeds, whatever the method's filter says. `eventual`: as for drift. */
bool candidate_is_constructible(const struct candidates *c, uint32_t node, bool eventual);

/* The candidates of a method in its order (lifecycle 8.5): savings ratio from high to low; for drift by time, nodes
 * without pods to move first. Ties: the node with the lower disruption cost, then the younger one, then by name. */
struct candidate **candidates_of(const struct candidates *c, struct arena *a, enum disrupt_method m, uint32_t *ret_n);

/* The order of every method but drift. */
bool candidate_before(const struct candidate *a, const struct candidate *b, const struct snapshot *s);

/* The least that the type costs where the node is, whether it is to be had today or not; 0 when it is not offered there. */
double candidate_cheapest_offering(const struct candidates *c, const struct candidate *x);

/* --- budgets.c (lifecycle 8.6) --------------------------------------------------------------------------------------- */

struct pool_budget {
    uint32_t nodes;      /* that count */
    uint32_t disrupting; /* of these: deleting or not ready */
    int64_t allowed;     /* by the budgets for this reason; INT32_MAX: no limit */
    int64_t left;        /* max(allowed - disrupting, 0) */
    str error;           /* a budget that cannot be read closes the pool: why; empty otherwise */
};

/* [snapshot.n_pools] */
struct pool_budget *budgets_of(struct arena *a, const struct snapshot *s, enum budget_reason reason);
enum budget_reason method_budget(enum disrupt_method m);

/* --- balance.c (lifecycle 8.12) --------------------------------------------------------------------------------------- */

#define BALANCE_THRESHOLD 0.5 /* share of a pool's cost saved over share of its disruption */

struct balance {
    double *cost, *disruption; /* [snapshot.n_pools]; 0 for pools without a candidate */
    uint64_t *has_candidate;   /* bit set over pools */
};

/* Totals of every pool with a candidate: what all of its NodeClaims cost, and the disruption of all of its nodes. */
void balance_init(struct balance *b, const struct candidates *c);
void balance_count(struct balance *b, const struct candidates *c); /* again, after candidates have changed */
/* What a move means to one pool, as parts of its totals. */
struct weight {
    double savings, disruption; /* of the move; in dollars an hour, in the unit of reschedule_cost */
    double saved, disrupted;    /* the same as parts of the pool's totals */
    double score;               /* one over the other */
};

/* Its part of the savings is its part of the price. */
struct weight balance_weigh(const struct balance *b, uint32_t pool, struct candidate *const *v, uint32_t n,
                            double savings);
str balance_text(struct arena *a, const struct weight *w); /* "score 0.87 >= threshold 0.50 (…)" */
double balance_score(double savings, double disruption, double pool_cost, double pool_disruption);
/* Whether every Balanced pool approves of removing these nodes with this saving. */
bool balance_approves(const struct balance *b, const struct candidates *c, struct candidate *const *v, uint32_t n,
                      double savings);
/* Whether deleting the node could be approved at all: worth a look before a simulation. */
bool balance_may_approve(const struct balance *b, const struct candidates *c, const struct candidate *v);
