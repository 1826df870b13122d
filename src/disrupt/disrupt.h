/* disrupt - which nodes are empty, out of date or not worth their price, and what would take their place.
 *
 * A pure function, like a plan: snapshot in, commands out, and for every node that stays the reason. Nothing is
 * carried out here.
 */
#pragma once

#include "plan/plan.h"

struct sb;

/* In Karpenter's order (lifecycle 8.1). */
enum disrupt_method {
    METHOD_EMPTINESS,
    METHOD_STATIC_DRIFT, /* of pools with replicas; only where they are kept up: see pass.h */
    METHOD_DRIFT,
    METHOD_MULTI,
    METHOD_SINGLE,
    N_METHODS,
};

#define PLANNED_METHODS (1u << METHOD_EMPTINESS | 1u << METHOD_DRIFT | 1u << METHOD_MULTI | 1u << METHOD_SINGLE)

/* What keeps a node. In the order in which Karpenter looks (lifecycle 8.3, 8.4), then what a decision found. */
enum blocker_kind {
    BLOCK_NONE,
    BLOCK_UNMANAGED, /* no NodeClaim */
    BLOCK_NO_NODE,   /* the NodeClaim has no Node */
    BLOCK_UNINITIALIZED,
    BLOCK_DELETING,
    BLOCK_NOMINATED,       /* a pending pod is on its way */
    BLOCK_NODE_ANNOTATION, /* karpenter.sh/do-not-disrupt on the node */
    BLOCK_NO_POOL_LABEL,
    BLOCK_POOL_MISSING,   /* the NodePool is not there or has no instance types */
    BLOCK_POD_ANNOTATION, /* karpenter.sh/do-not-disrupt on a pod */
    BLOCK_PDB,            /* a PodDisruptionBudget allows no eviction now */
    BLOCK_PDBS,           /* several on one pod: the eviction API refuses */
    BLOCK_STATIC,         /* a pool with replicas */
    BLOCK_UNKNOWN_TYPE,
    BLOCK_NO_CAPACITY_TYPE,
    BLOCK_NO_ZONE,
    BLOCK_NEVER,              /* consolidateAfter: Never */
    BLOCK_BUFFERED,           /* pods of capacity buffers count on it */
    BLOCK_EMPTY,              /* has no pods: another method's */
    BLOCK_NOT_EMPTY,          /* has pods: another method's */
    BLOCK_POLICY,             /* WhenEmpty, and the node is not empty */
    BLOCK_NOT_CONSOLIDATABLE, /* the condition is not True: inside the consolidateAfter window */
    BLOCK_NOT_DRIFTED,
    BLOCK_BUDGET,        /* the pool's disruption budget is used up */
    BLOCK_NO_POOL_READY, /* no NodePool could be simulated with */
    BLOCK_PODS,          /* some pod would have no place */
    BLOCK_SEVERAL,       /* its pods would need more than one new node */
    BLOCK_MIN_VALUES,
    BLOCK_NOT_CHEAPER,
    BLOCK_SPOT_OFF,
    BLOCK_SPOT_FEW,
    BLOCK_BALANCE,    /* policy Balanced: not worth the disruption */
    BLOCK_SAVINGS,    /* CONSOLIDATION_MIN_SAVINGS */
    BLOCK_TAKES_PODS, /* it takes pods of a node that goes in the same pass */
    BLOCK_LATER,      /* one command a pass: this one was not it */
};

struct blocker {
    enum blocker_kind kind;
    str object; /* what is in the way: "Pod default/web-0", "PodDisruptionBudget default/web", "NodePool a"; may be empty */
    str text; /* Karpenter's sentence where it has one */
    str fix;  /* the cheapest thing that would unblock the node; may be empty */
};

struct disrupt_command {
    enum disrupt_method method;
    uint32_t *nodes; /* indexes into snapshot.nodes */
    uint32_t n_nodes;
    struct plan_claim *claims; /* replacements; none: the nodes are deleted */
    uint32_t n_claims;
    double price;    /* what the nodes cost an hour */
    double savings;  /* less what the replacements cost; lifecycle 8.12 */
    uint32_t n_pods; /* that move */
    /* Where to. None for nodes that count as empty in compat mode: Karpenter does not look
     * where pods go that cost nothing to evict (lifecycle 8.7). */
    struct plan_move *moves;
    uint32_t n_moves;
};

/* One for each node of the snapshot, in its order. */
struct disrupt_node {
    bool eligible;      /* a candidate of some method that was asked for, before budgets and simulation */
    uint32_t command;   /* UINT32_MAX: it stays */
    struct blocker why; /* when it stays */
    double price;       /* an hour; 0 when unknown */
};

struct disruption {
    struct disrupt_command *commands;
    uint32_t n_commands;
    struct disrupt_node *nodes;     /* [snapshot.n_nodes] */
    uint32_t n_candidates;          /* eligible ones */
    double cost_before, cost_after; /* of all nodes with a known price, an hour */
};

struct disrupt_options {
    unsigned methods; /* bit set over PLANNED_METHODS; 0: all */
    bool compat;      /* one pass of Karpenter: the methods in order, up to the first that finds something */
    bool explain;     /* say for every node why it stays, where that takes a simulation of its own */
};

struct disruption *disrupt_plan(struct arena *a, const struct snapshot *s, const struct disrupt_options *o);

const char *disrupt_method_name(enum disrupt_method m); /* "emptiness", "static-drift", "drift", "multi", "single" */
const char *disrupt_reason_name(enum disrupt_method m); /* "Empty", "Drifted", "Underutilized" */

/* --- words for commands (lifecycle 8.14) ------------------------------------------------------------------------------ */

/* What the node costs an hour; 0 when that is not known. */
double node_price(const struct snapshot *s, uint32_t node);
/* A Node goes by its own name, and a NodeClaim that has no Node by its own. */
str node_title(const struct state_node *n);
const char *command_decision(const struct disrupt_command *c); /* "delete", "replace" */
const char *consolidation_type(enum disrupt_method m);         /* "empty", "multi", "single", or nothing for drift */
/* "replace: [a, b] -> [1 replacement]". `nodes`: those of the command, in the order in which they are named. */
void command_text(struct sb *out, const struct snapshot *s, const struct disrupt_command *c, const uint32_t *nodes);
