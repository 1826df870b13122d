/* choose - which machines a launch may ask for: filters, the way to buy, groups that share a launch template, overrides of a fleet (aws 4.3 to 4.7).
 *
 * Pure: types as a class sees them and a claim in, a choice out. The choice lives in the arena and points into the types, which outlive it.
 */
#pragma once

#include "cloud/ec2/types.h"
#include "model/nodepool.h"

struct ec2_offer { /* an offering, as the claim sees it */
    const struct offering *offering;
    sym capacity_type, zone;
    sym reservation, kind; /* SYM_NONE: not of a reservation; kind: default, capacity-block */
    bool interruptible;
    bool fits; /* available, and the claim may have it */
};

struct ec2_option { /* a type that may be launched */
    const struct itype *type;
    const struct ec2_type_detail *detail;
    struct ec2_offer *offers;
    uint32_t n_offers;
    double price; /* of the cheapest offer that fits; INFINITY: none does */
};

struct ec2_choice {
    struct ec2_option *v; /* the cheapest first */
    uint32_t n;
    sym capacity_type;
    const char *tenancy;
    str partition;       /* of a placement group with partitions; empty: any */
    bool allows_spot;    /* the claim does */
    bool has_min_values; /* a requirement of the claim has */
};

struct ec2_choose_input {
    struct syms *syms;
    const struct label_rules *rules;
    const struct nodeclaim *claim;
    const struct itype *types; /* beside detail */
    const struct ec2_type_detail *detail;
    uint32_t n;
    bool best_effort; /* MIN_VALUES_POLICY */
};

/* ERR_CAPACITY: nothing is left. */
bool ec2_choose(struct arena *a, const struct ec2_choose_input *in, struct ec2_choice *ret, struct err *e);

struct ec2_launch_group { /* types that one launch template is good for */
    const struct ec2_class_ami *ami;
    uint32_t n_efa;
    str reservation; /* empty: none */
    str kind;
    bool interruptible;
    uint32_t *options; /* indexes into the choice */
    uint32_t n;
};

/* Fails when the class has no images, or none for these types (aws 4.6.1). */
bool ec2_launch_groups(struct arena *a, struct syms *t, const struct ec2_choice *c, const struct ec2_class *k,
                       bool wants_efa, struct ec2_launch_group **ret, uint32_t *ret_n, struct err *e);

struct ec2_zone_subnet { /* where a launch goes in a zone */
    str zone, subnet;
};

/* What a fleet may take for the group; the answer is how many. */
uint32_t ec2_overrides(struct arena *a, const struct syms *t, const struct ec2_choice *c,
                       const struct ec2_launch_group *g, const struct ec2_zone_subnet *where, uint32_t n_where,
                       struct ec2_override **ret);

/* The fewest pods of a type that can be bought like this in the zone; 0: none can (aws 4.5). */
int64_t ec2_fewest_pods(const struct syms *t, const struct ec2_choice *c, str zone);
