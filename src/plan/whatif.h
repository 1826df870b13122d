/* whatif - what would become of the pods if some nodes went: one compiled snapshot, asked again and again.
 *
 * A question takes nodes away, finds places for their pods next to those that wait for one anyway, and can be undone
 * exactly: it costs what it touches, not what the cluster holds. Questions nest: one that is kept changes the cluster
 * that the next ones are asked of.
 *
 *     whatif_remove(w, nodes, n, true, 0, &out);
 *     if (out.n_failed == 0 && out.n_claims == 0)
 *         …                                    the nodes are not needed
 *     whatif_undo(w);
 */
#pragma once

#include "base/sb.h"
#include "base/vec.h"
#include "plan/plan.h"

struct whatif;

/* `movable`: bit set over snapshot.pods, those that want a new place when their node goes. The snapshot and the set
 * outlive the object, and change only with events. */
struct whatif *whatif_new(const struct snapshot *s, const uint64_t *movable);
struct whatif *whatif_new_in(struct frame *f, const struct snapshot *s, const uint64_t *movable); /* f: see plan.h */
void whatif_set_compat(struct whatif *w); /* quirks of Karpenter that never do a user good are reproduced too */
/* Before the first question: nodes that are not initialized are settling. Otherwise they may be found to be the place of a pod, which counts as failed. */
void whatif_avoid_early(struct whatif *w);
void whatif_free(struct whatif *w);
/* Some NodePool could be launched from. */
bool whatif_has_pools(const struct whatif *w);

struct whatif_outcome {
    uint32_t n_claims; /* new NodeClaims; one more than `max_claims`: at least so many */
    uint32_t n_failed; /* pods that run now and would have no place; those that are pending now do not count */
    uint32_t n_pods;   /* of the nodes that went */
};

/* `nodes`: indexes into snapshot.nodes, none of them deleting. `settled_only`: nodes that are still inside the
 * consolidateAfter window of their pool take no running pods (lifecycle 8.9). The question ends early, with pods that
 * were not looked at, when it takes more than `max_claims`; UINT32_MAX: never. */
void whatif_remove(struct whatif *w, const uint32_t *nodes, uint32_t n, bool settled_only, uint32_t max_claims,
                   struct whatif_outcome *ret);
void whatif_undo(struct whatif *w);
/* The nodes stay away and the pods where they were placed. New claims take no further pods. */
void whatif_keep(struct whatif *w);
/* Pods that wait get their places now, as a plan would give them. Pending pods that find none take no part in later
 * questions: with thousands of them every question would try them all again. Pods of capacity buffers that have room on
 * nodes go on waiting, as any room will do for them: until a question is kept, which settles them too. */
void whatif_settle(struct whatif *w);
uint32_t whatif_kept(const struct whatif *w); /* how many questions were kept; whatif_undo() takes back the last */
/* The node takes pods of questions that were kept or are open. */
bool whatif_took(const struct whatif *w, uint32_t node);

/* Cheap and certain, while no question is open: what a new node for those pods of the nodes costs at least that have
 * no room on any other; 0: there may be no such pods. INFINITY: no instance type could hold them together. */
double whatif_least(struct whatif *w, const uint32_t *nodes, uint32_t n);

/* What the pods of the node that would move are worth: their part of the price of a new node that is full of such pods, of the type that suits them best. */
double whatif_worth(struct whatif *w, uint32_t node);

/* While a question is open: why pods have no place, in Karpenter's words ("not all pods would schedule, …"). */
str whatif_failures(struct whatif *w, struct arena *a);
/* The first of these pods, by name: an index into snapshot.pods; UINT32_MAX: there is none. *ret_node: the node that is
 * not initialized and would be its place; UINT32_MAX: it has none. */
uint32_t whatif_first_failure(struct whatif *w, uint32_t *ret_node);
/* After CHEAPER_MIN_VALUES: what the types that are left do not meet, in Karpenter's words. */
str whatif_missed_values(struct whatif *w, struct arena *a);

/* While a question is open: where it puts the pods of its nodes, added to a list. */
typedef VEC(struct plan_move) move_list;
void whatif_moves(const struct whatif *w, move_list *out);

/* --- while a question is open and has made claims ------------------------------------------------------------------- */

enum cheaper {
    CHEAPER_YES,
    CHEAPER_MIN_VALUES, /* the types that are cheap enough do not meet minValues */
    CHEAPER_NONE,       /* no type is cheap enough */
    CHEAPER_SPOT_OFF,   /* spot for spot, and the feature gate is off */
    CHEAPER_SPOT_FEW,   /* spot for spot, and fewer than 15 types are cheaper */
};

/* Leaves to the claims the types that together cost less than `price` wherever they are launched, by the rules of
 * lifecycle 8.10. `all_spot`: every node that goes is a spot node; `alone`: there is one. *ret_n: types left. */
enum cheaper whatif_cheaper(struct whatif *w, double price, bool all_spot, bool alone, uint32_t *ret_n);
/* The same of claim `i`, with a price and nothing else; false: minValues no longer hold, or nothing is left. */
bool whatif_below(struct whatif *w, uint32_t i, double price);
/* Whether claim `i` could become this type. */
bool whatif_offers(struct whatif *w, uint32_t i, uint32_t type);
/* What claim `i` would cost: its cheapest offering; 0 when there is none (lifecycle 8.12). */
double whatif_price(struct whatif *w, uint32_t i);
/* The claims as they would be written, in `a`. */
struct plan_claim *whatif_claims(struct whatif *w, struct arena *a);

/* --- events ---------------------------------------------------------------------------------------------------------
 *
 * While no question is open or kept: the cluster has changed by one pod, and so has the snapshot already
 * (model/change.h). What was compiled follows, at the cost of the change. False: it cannot; make a new one. So it is
 * when a pod is like none that was there at the start (a spec, labels or volumes that nobody had), and when its node is
 * on its way out. A pod that has changed leaves as it was, and comes back as it is.
 *
 * `node` UINT32_MAX: the pod waits for a place. A pod that waited leaves there before it comes to a node. */

bool whatif_pod_left(struct whatif *w, uint32_t pod, uint32_t node);
bool whatif_pod_came(struct whatif *w, uint32_t pod, uint32_t node);

/* --- proofs that last -----------------------------------------------------------------------------------------------
 *
 * That a node is worth keeping can often be proved from a single number: how many more pods of some size all other nodes
 * could take. A family is made of the pods that nodes cannot tell apart but by size: same requirements, same
 * tolerations, nothing to relax. A gauge is a size in a family, and has slots: how many pods of that size existing nodes
 * have room for. A pod that is as large or larger takes at least one. So if a node has five such pods and the gauge two
 * slots, three of them need a new node, whatever the rest of the cluster looks like, and what that costs at least is
 * known. The proof holds until the gauge has more slots than it allows for. */

void whatif_gauge(struct whatif *w); /* once, before the first proof: goes through all nodes */

struct whatif_price {
    double price;        /* of the node */
    bool spot;           /* it is a spot node */
    uint32_t max_claims; /* that may take its place */
};

/* Proof that removing the node alone is not worth it: true while the gauge has no more than `limit` slots, and the node
 * keeps its pods and its room. */
struct whatif_hold {
    uint32_t gauge;
    int64_t limit;
};

bool whatif_hold(struct whatif *w, uint32_t node, const struct whatif_price *p, struct whatif_hold *ret);
uint32_t whatif_gauges(const struct whatif *w); /* how many there are */
int64_t whatif_slots(const struct whatif *w, uint32_t gauge);

/* Parts of the cluster, as sets that may be too large: families of pods, and topology groups. */
struct whatif_parts {
    uint64_t families;
    uint64_t groups[4];
};

/* What events have changed since it was last cleared, for whoever remembers answers. */
struct whatif_news {
    VEC(uint32_t) risen;       /* gauges that may have more slots */
    struct whatif_parts parts; /* families for which nodes with room have changed; groups that count other pods */
    bool waiting;              /* other pods wait: any answer may change */
};

const struct whatif_news *whatif_news(const struct whatif *w);
void whatif_news_clear(struct whatif *w);
/* What a question about the node looks at. Its answer stays as long as nothing of this is in the news, and the node
 * keeps its pods. */
void whatif_reads(struct whatif *w, uint32_t node, struct whatif_parts *ret);
bool whatif_is_news(const struct whatif *w, const struct whatif_parts *reads);

/* --- checking ------------------------------------------------------------------------------------------------------- */

/* Everything that questions change, as text: equal before a question and after undoing it. */
void whatif_digest(struct whatif *w, struct sb *out);
/* What is compiled of nodes, pods and counts, in names instead of numbers: equal after events and when compiled anew. */
void whatif_census(struct whatif *w, struct sb *out);
/* While a question is open: the cluster's plan as plan_make() would have it, with the pods of questions that were kept. */
struct plan *whatif_plan(struct whatif *w, struct arena *a);
/* Looks at every bin instead of asking the index, which gives the same answers; before the first question. */
void whatif_search_all(struct whatif *w);
