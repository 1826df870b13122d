/* explain - why a pod has no place, in Karpenter's words and in ours. Internal to plan/.
 *
 * A trial puts one pod on a new claim of one template, as the packer would, and remembers the step that failed and
 * what it saw. explain_text.c turns a trial into the text users of Karpenter know; explain_near.c looks for the one
 * change that would have let the pod in. Everything is asked against the packer's final state.
 */
#pragma once

#include "base/sb.h"
#include "plan/pack.h"

enum step {
    STEP_NONE, /* it would fit */
    STEP_TAINTS,
    STEP_REQUIREMENTS,
    STEP_VOLUMES,
    STEP_TOPOLOGY, /* a group has no domain left */
    STEP_DOMAINS,  /* the groups' domains contradict each other or the node */
    STEP_TYPES,
    STEP_MIN_VALUES,
    STEP_RESERVATION,
};

struct trial {
    uint32_t tmpl, variant;
    const uint64_t *from; /* rows to choose from */
    enum step failed;
    uint32_t rs;          /* the claim's requirements when it failed */
    uint32_t want;        /* requirements, volumes, domains: what they did not allow */
    uint32_t group;       /* topology */
    uint64_t *rows;       /* types: those that are left; else empty */
    uint32_t lowered;     /* minValues: the set with values that could be met */
    uint32_t reservation; /* the first one that is used up */
    bool ports;           /* types: every daemon group has one of the pod's host ports */
    /* types: did any meet the requirements, have room, have an offering; meet two of these but not the third */
    bool met, fits, offered, only_no_room, only_not_met;
};

struct explainer {
    struct packer *k;
    struct arena *a; /* of the plan: texts live there */
    struct sb b;
    uint64_t *met, *offered, *rows; /* scratch [row_words] */
    int64_t *need;                  /* scratch [n_dims] */
    uint32_t *hosts, n_hosts;       /* by name; NULL: not sorted yet */
    bool brief;                     /* Karpenter's words only, no nearest miss */
};

/* explain.c */
void trial_run(struct explainer *x, struct trial *t, uint32_t alternative);
uint32_t trial_alternatives(const struct explainer *x, uint32_t variant);
/* The pod cannot use the group's types: one of its host ports is taken there. */
bool trial_ports_clash(const struct explainer *x, const struct shape *sh, const struct daemon_group *g);
/* The content of x->b, which is then empty again. */
str explain_take(struct explainer *x);

/* explain_text.c: all of them append to x->b */
bool explain_template(struct explainer *x, uint32_t tmpl, uint32_t variant); /* true: for want of a reservation */
void explain_taint(struct explainer *x, const struct taint *t);
void explain_counts(struct explainer *x, uint32_t group);
void explain_min_values(struct explainer *x, uint32_t rs, uint32_t lowered); /* the keys whose minValues differ */
sym explain_similar_key(struct explainer *x, uint32_t have, uint32_t key);   /* SYM_NONE: nothing looks like it */

/* explain_near.c */
struct plan_near explain_near(struct explainer *x, uint32_t variant);
struct plan_near explain_near_pools(struct explainer *x); /* there are pools, and none is usable */
/* `lowered` is what could be met of the minValues of `rs`. */
struct plan_near explain_near_min_values(struct explainer *x, uint32_t tmpl, uint32_t rs, uint32_t lowered);
