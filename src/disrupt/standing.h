/* standing - single-node consolidation of a cluster that is watched: the answer follows every event.
 *
 * A pass of disrupt.h looks at every node anew. Here the compiled snapshot stays, and so does what was found out about
 * every node; an event costs what it changes. The answer is what a pass of Karpenter's single-node method would give at
 * any time, at the moment that the snapshot is of: when the clock matters (a consolidateAfter window ends, a budget's
 * schedule begins), and when anything but a pod has changed, a new snapshot makes a new object.
 *
 *     while (standing_pod_left(t, pod, node))    and so on, as events come in
 *         command = standing_next(t, arena);     NULL: nothing is to be gained
 */
#pragma once

#include "base/sb.h"
#include "disrupt/disrupt.h"

struct standing;

/* The snapshot is changed by events, and nobody else may touch it. Its lists grow in `a`. Both outlive the object.
 * `compat`: with Karpenter's quirks, and at most one new node in a node's place. */
struct standing *standing_new(struct snapshot *s, struct arena *a, bool compat);
void standing_free(struct standing *t);
AUTO_DEFINE(standing)

/* --- events: false: what is compiled cannot follow, or no number is free; make a new one of a new snapshot ----------- */

/* The pod is gone or has finished. `node` UINT32_MAX: it waited for a place. */
bool standing_pod_left(struct standing *t, uint32_t pod, uint32_t node);
/* A pod that runs on the node from now on, or waits. It is copied to a number that is free: that of a pod that has gone,
 * or one of those at the end of snapshot.pods without a spec, which are spare. */
bool standing_pod_came(struct standing *t, const struct pod *pod, uint32_t node, uint32_t *ret_pod);

/* --- answers --------------------------------------------------------------------------------------------------------- */

enum standing_verdict {
    STANDING_INELIGIBLE, /* not a candidate: see candidate_obstacle() */
    STANDING_STAYS,
    STANDING_GOES, /* removing it is worth it, budgets aside */
};

/* *ret_savings: an hour, for nodes that go. */
enum standing_verdict standing_verdict(struct standing *t, uint32_t node, double *ret_savings);
/* The command of the single-node method, in `a`; NULL: none. */
const struct disrupt_command *standing_next(struct standing *t, struct arena *a);

/* What is compiled, as text: equal to that of an object made anew of the snapshot as it is. For checks. */
void standing_census(struct standing *t, struct sb *out);

/* What it took so far, for measurements. */
struct standing_work {
    uint64_t judged; /* nodes whose answer an event might have changed */
    uint64_t asked;  /* of these: those for which no proof was found */
    uint32_t held;   /* nodes that stay by proof, at the moment */
    uint32_t open;   /* nodes with an answer that no proof backs, at the moment */
    uint32_t due;    /* nodes whose answer is gone and was not wanted since */
};

struct standing_work standing_work(const struct standing *t);
