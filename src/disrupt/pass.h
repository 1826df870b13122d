/* pass - one method's look at a cluster that is live (lifecycle 8.1): what it would do, what it has to say, and whether a decision of a while ago still holds.
 *
 * disrupt.h says what would be removed, for people who ask. A controller looks with one method at a time, tells nodes and pools why nothing happens to them, and looks
 * again before it acts. Snapshot in, answers out; nothing is carried out here.
 */
#pragma once

#include "disrupt/disrupt.h"

struct candidates;  /* candidate.h */
struct pool_budget; /* candidate.h */

/* What does not depend on the method, for passes of several methods over one snapshot: most of the work where nothing is found. It takes part in passes over that snapshot only,
 * and only as long as nothing has changed. */
struct candidates *pass_candidates_new(struct arena *a, const struct snapshot *s);
void pass_candidates_free(struct candidates *c); /* its arena keeps the rest */

/* What the controller knows and a snapshot does not say. */
struct pass_options {
    enum disrupt_method method;
    const struct candidates *known; /* of this snapshot; NULL: found out for this pass alone */
    struct frame *frame;            /* plan.h; NULL: none */
    bool compat;                    /* Karpenter's own search and at most one command of a method, where it makes one */
    const uint64_t
        *busy; /* bit set over snapshot.nodes: a command under way has them; no candidates, nothing is said of them */
    /* Bit set over snapshot.nodes, of those in `busy`: commands of this run that have not begun yet have them, so that they take from the budgets. NULL: none. */
    const uint64_t *waiting;
    /* Static drift: how many replacements a pool may have now, by its limits and what is on its way. [snapshot.n_pools]; NULL for every other method. */
    const int64_t *static_room;
    /* Nothing has changed since the method found nothing (lifecycle 2.7): candidates and budgets are looked at, and
     * what keeps nodes from being candidates is said; nothing is searched for. */
    bool unchanged;
    /* Bit set over snapshot.nodes: an Unconsolidatable of these would be dropped, so the words of decisions, which can
     * cost more than the decision, are not made. Outside of compat METHOD_SINGLE passes over them, as METHOD_MULTI has
     * looked at single nodes too. NULL: none. */
    const uint64_t *told;
};

enum remark_kind {
    REMARK_BLOCKED,          /* event DisruptionBlocked */
    REMARK_UNCONSOLIDATABLE, /* event Unconsolidatable */
    REMARK_CANDIDATE, /* event ConsolidationCandidate; the text is the command's, without the sentence around it */
    REMARK_APPROVED,  /* event ConsolidationApproved */
};

/* Something to say, in the order in which it was found out. Of one of: */
struct remark {
    enum remark_kind kind;
    uint32_t node;  /* and its NodeClaim: index into snapshot.nodes; UINT32_MAX: */
    uint32_t pool;  /* index into snapshot.pools */
    str text;       /* as Karpenter writes it, sentence case */
    double savings; /* REMARK_CANDIDATE: dollars an hour */
};

/* What the policy of a pool thought of a move (lifecycle 8.12), for the metrics of consolidation. */
struct pass_move {
    uint32_t pool;
    bool approved;
    bool replaces; /* the nodes would be replaced, not only deleted */
    bool scored;   /* by the policy Balanced, with what the score is made of: */
    double score;
    double savings, disruption;        /* of the move */
    double saved, disrupted;           /* as parts of: */
    double pool_cost, pool_disruption; /* of all */
    const uint32_t *nodes;             /* all of the move, whatever their pool: indexes into snapshot.nodes */
    uint32_t n_nodes;
};

struct pass {
    struct disrupt_command *commands;
    uint32_t n_commands;
    uint32_t n_candidates;             /* before budgets */
    bool constrained;                  /* a budget kept a candidate: that nothing was found is not to be remembered */
    str error;                         /* the pass of all methods ends here (no pool to launch from); empty otherwise */
    const struct pool_budget *budgets; /* [snapshot.n_pools] for this method's reason; NULL: no candidate, no look */
    struct remark *remarks;
    struct pass_move *moves;
    uint32_t n_remarks, n_moves;
};

/* Finds commands. Those of one pass are disjoint and may all start, one after the other: where there is a recheck, each is
 * rechecked on a snapshot in which those before it have started. The method of a command is the one its nodes are
 * reported under, which need not be the method of the pass: outside of compat METHOD_MULTI looks for single nodes too. */
struct pass *disrupt_pass(struct arena *a, const struct snapshot *s, const struct pass_options *o);

/* Whether a command of an earlier snapshot may start now (lifecycle 8.11). */
enum recheck { RECHECK_GOOD, RECHECK_CHURN, RECHECK_BUDGET, RECHECK_SCHEDULING };

/* A command as it was written down: names have become indexes into the snapshot of now; UINT32_MAX for what is gone. */
struct earlier {
    uint32_t *nodes; /* emptiness: those that may still go stay, in order; the others are taken out */
    uint32_t n_nodes;
    uint32_t n_claims;
    const uint32_t *const *types; /* [n_claims]: indexes into catalog.types */
    const uint32_t *n_types;
};

/* Does not look at nodes that are marked as going; *ret_failed: how many candidates did not pass. `c->nodes` changes for emptiness alone. */
enum recheck disrupt_recheck(struct arena *a, const struct snapshot *s, const struct pass_options *o, struct earlier *c,
                             uint32_t *ret_failed);
