/* launch_int - what launch.c and launch_fleet.c share: one launch, from the claim to the machine. */
#pragma once

#include "cloud/ec2/choose.h"
#include "cloud/ec2/ec2_int.h"

struct ec2_pick { /* the subnet that is taken in a zone */
    const struct ec2_class_subnet *subnet;
    int64_t listed; /* its free addresses when it was picked (ec2_subnet_listed) */
    int64_t pods;   /* addresses that the launch may take */
};

struct ec2_launching {
    struct ec2 *p;
    struct arena *a;
    const struct nodeclaim *claim;
    const struct ec2_class *k;
    const struct ec2_tag *tags;
    uint32_t n_tags;
    const struct ec2_placement_group *placement; /* NULL: none */
    struct ec2_choice choice;
    struct ec2_pick *picks;
    uint32_t n_picks;
};

struct ec2_launched { /* the machine that a fleet gave */
    str id;
    struct ec2_override is; /* type, subnet, image, zone */
};

bool ec2_launch_error(struct err *e, enum err_kind kind, const char *code, const char *message); /* false */
/* Subnets, templates, the fleet; what is learned from its errors (aws 4.5 to 4.8). ret_gone: a template was not there any more, and is forgotten now. */
bool ec2_launch_fleet(struct ec2_launching *l, struct ec2_launched *ret, bool *ret_gone, struct err *e);
bool ec2_claim_wants_efa(const struct ec2_launching *l);
