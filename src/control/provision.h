/* provision - pending pods become NodeClaims (scheduling 8): triggers, the batch window, rounds.
 *
 * A round is one look at the cluster: the snapshot is planned, everything that is to be said or done is written down (struct round), and only then
 * does anything happen, because a plan refers to the snapshot and the snapshot goes on changing while calls are under way.
 */
#pragma once

#include "control/control.h"
#include "control/podbook.h"
#include "data/tree.h"
#include "plan/plan.h"

struct round_pod {
    str ns, name, uid;
    bool bound; /* it moves off a node that goes away */
};

struct round_claim {
    str pool;
    struct tree *body;
    str requests; /* as JSON */
    str types;    /* the first five and how many more */
    bool min_values_relaxed;
    bool healthy_pool; /* NodeRegistrationHealthy is True */
    struct round_pod *pods;
    uint32_t n_pods;
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

struct round {
    struct round_claim *claims;
    struct round_node *nodes;
    struct round_refusal *refusals;
    struct round_exclusion *exclusions;
    uint32_t n_claims, n_nodes, n_refusals, n_exclusions;
    uint32_t n_pending, n_moving, n_ignored; /* ignored: refused before planning */
};

/* What a plan means for the world, with nothing left that points into snapshot, plan or store. */
struct round *round_of(struct arena *a, const struct store *st, const struct snapshot *s, const struct plan *p,
                       uint64_t random);

struct provisioner;

struct provisioner *provision_register(struct control *c);
void provisioner_free(struct provisioner *p);
AUTO_DEFINE(provisioner)
const struct podbook *provisioner_book(const struct provisioner *p);
/* Something makes a round worthwhile though no pod has come. */
void provisioner_trigger(struct provisioner *p, str id);
