/* universe - what there is to buy in a region: EC2's types, and the zones that have them (aws 5.1). Asked for every 12 hours. */
#pragma once

#include "aws/ec2.h"

struct ec2_type_zones { /* of one type: indexes into zones, rising */
    uint16_t *v;
    uint32_t n;
};

struct ec2_universe {
    struct ec2_type_info *types; /* by name */
    struct ec2_type_zones *where;
    uint32_t n;
    str *zones; /* all that any offering names, by name */
    uint32_t n_zones;
    uint64_t hash; /* of all of it: the same again means that nothing has changed */
};

#define EC2_MAX_TYPES 8192
#define EC2_MAX_ZONES 1024

/* From the answers, whose texts it shares. ERR_INVALID: no types, no offerings, or more than there can be. */
bool ec2_universe_build(struct arena *a, const struct ec2_type_infos *infos, const struct ec2_type_zone *offered,
                        uint32_t n_offered, struct ec2_universe *ret, struct err *e);
const struct ec2_type_info *ec2_universe_find(const struct ec2_universe *u, str type); /* NULL: there is none */
