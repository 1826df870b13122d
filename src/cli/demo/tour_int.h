/* What the parts of the tour share: tour.c has the steps, tour_see.c what there is at the moment and waiting for it. */
#pragma once

#include "cli/demo/tour.h"
#include "data/edit.h"
#include "k8s/api.h"

#define TOUR_MAX_CLAIMS 16

struct tour {
    struct tour_setup s;
    struct kube_config *config;
    struct api *api;
    struct arena *a; /* of the look; what must outlive it is in `keep` */
    struct arena *keep;
    struct err e;

    /* What the step is about. */
    uint32_t want_pods;
    str before[TOUR_MAX_CLAIMS]; /* names of NodeClaims when it began */
    uint32_t n_before;
    str lost_node, lost_id; /* that is being lost: its Node, and its machine (empty: kwok has none) */
    str image;              /* that machines are to have; empty: any */
    int64_t large_cpus;     /* of the node that is too large */

    /* What was seen on the way, since the step began. */
    uint32_t most_going; /* nodes on their way out at once, as budgets count them */
    bool overlapped;     /* a replacement was ready while the lost one was still there */
};

struct sight { /* what there is at the moment */
    struct tree *claims;
    uint32_t n_claims, n_ready; /* NodeClaims, and those that are Ready */
    uint32_t n_leaving;         /* NodeClaims that are being deleted */
    uint32_t n_pods, n_running;
    uint32_t n_nodes;    /* that belong to a NodePool */
    uint32_t n_going;    /* of these: tainted or being deleted */
    uint32_t n_machines; /* NodeClaims whose machine runs, as the AWS account says; of kwok: all */
    double price;        /* of all NodeClaims that stay, an hour; 0: nobody knows */
};

typedef bool (*holds_fn)(const struct tour *t, const struct sight *s);

void tour_begin(struct tour *t, const struct sight *s); /* a step: forgets what was seen before */
/* Looks until the condition holds; says how long it took. */
bool tour_wait(struct tour *t, holds_fn holds, const char *what, struct sight *s);
void tour_say_claims(const struct sight *s); /* those that stay */

str claim_name(const struct tree *claim);
str claim_label(const struct tree *claim, const char *name);
int64_t claim_cpus(const struct tree *claim);
bool was_there(const struct tour *t, str name); /* when the step began */
