/* unavailable - what EC2 had none of a moment ago: offerings, capacity types, subnets; each for three minutes (aws 3.5).
 *
 * Time is given by the caller. The version rises with every mark and with every one that has run out, seen by ec2_unavailable_sweep().
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#define EC2_UNAVAILABLE_MS (3 * 60 * 1000)

struct ec2_unavailable;

struct ec2_offering_key {
    str capacity_type, type, zone;
    str placement; /* group id; empty: in general */
    str partition; /* empty: of the whole group */
};

struct ec2_unavailable *ec2_unavailable_new(void);
void ec2_unavailable_free(struct ec2_unavailable *u);
AUTO_DEFINE(ec2_unavailable)

void ec2_unavailable_mark(struct ec2_unavailable *u, const struct ec2_offering_key *k, int64_t now_ms);
void ec2_unavailable_mark_capacity_type(struct ec2_unavailable *u, str capacity_type, int64_t now_ms);
void ec2_unavailable_mark_subnet(struct ec2_unavailable *u, str subnet, int64_t now_ms);

/* In general or, when the key has a group, for the group; or the capacity type, or all of these subnets. quirk: what was marked for a partition is never asked
 * for, so the key's partition does not count (aws 12, 1). */
bool ec2_unavailable_is(const struct ec2_unavailable *u, const struct ec2_offering_key *k, const str *subnets,
                        uint32_t n_subnets, int64_t now_ms);

/* Forgets what has run out; when the next one will, INT64_MAX: none. */
int64_t ec2_unavailable_sweep(struct ec2_unavailable *u, int64_t now_ms);
uint64_t ec2_unavailable_version(const struct ec2_unavailable *u);
int64_t ec2_unavailable_until_ms(const struct ec2_unavailable *u); /* the same, without forgetting anything */
bool ec2_unavailable_none(const struct ec2_unavailable *u);        /* nothing was marked, or all is forgotten */

/* For reports and tests: every mark that holds, as "spot:m5.large:zone-a[:pg[:1]]", "spot", "subnet-1", by text. */
void ec2_unavailable_list(const struct ec2_unavailable *u, struct arena *a, int64_t now_ms, str **ret_offerings,
                          uint32_t *ret_n_offerings, str **ret_types, uint32_t *ret_n_types, str **ret_subnets,
                          uint32_t *ret_n_subnets);
