/* machines_int - what fleet.c and instances.c share: the calls that wait for company, and what is known of machines. */
#pragma once

#include "base/htab.h"
#include "cloud/ec2/batch.h"
#include "cloud/ec2/ec2_int.h"

struct ec2_machines {
    struct ec2_batch *fleets, *describes, *terminates;
    struct htab known; /* struct known of instances.c, by id */
};

void ec2_fleets_run(void *provider, void **requests, uint32_t n); /* struct ec2_batch_rules.run */
