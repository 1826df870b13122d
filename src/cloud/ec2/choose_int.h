/* choose_int - what choose.c and choose_filters.c share: a choice that is being made. */
#pragma once

#include "cloud/ec2/choose.h"
#include "model/req.h"

struct chooser {
    const struct ec2_choose_input *in;
    struct reqspace s;
    uint32_t want; /* the claim's requirements */
    sym reservation, kind, interruptible, tenancy, partition, capacity_block, yes;
    bool allows_reserved, allows_spot, allows_on_demand, has_min_values;
    struct ec2_option *v; /* what is left */
    uint32_t n;
};

double option_price(const struct ec2_option *o); /* of its cheapest offer that fits; INFINITY: none does */
/* Filters 2 to 6 of aws 4.3, in their order; false: nothing is left. */
bool choose_filter(struct chooser *x, struct arena *a);
