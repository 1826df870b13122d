/* types - EC2's machines as a node class sees them: labels, capacity, overhead, offerings (aws 5).
 *
 * Pure: facts in, instance types out. The facts are EC2's (DescribeInstanceTypes, offerings, prices), our own tables (facts.h), and what was met on the way
 * (unavailable.h). The built-in catalogue (catalog.h) is the same rules over facts that are compiled in.
 */
#pragma once

#include "cloud/ec2/class.h"
#include "cloud/ec2/prices.h"
#include "cloud/ec2/unavailable.h"
#include "model/itype.h"

struct ec2_type_zones { /* of one type: indexes into zones */
    uint16_t *v;
    uint32_t n;
};

/* What EC2 says, refreshed every 12 h. */
struct ec2_universe {
    struct ec2_type_info *types; /* by name */
    struct ec2_type_zones *where;
    uint32_t n;
    str *zones; /* all that any offering names, by name */
    uint32_t n_zones;
};

struct ec2_reserved { /* how many machines a reservation has left */
    str id;
    int32_t left;
};

struct ec2_memory { /* what a Node of this type turned out to have */
    str type;
    uint64_t amis;
    int64_t bytes;
};

struct ec2_types_input {
    const struct ec2_universe *universe;
    const struct ec2_class *class;
    const struct ec2_prices *prices;
    const struct ec2_unavailable *unavailable;
    const struct ec2_placement_group *placement; /* NULL: none */
    const struct ec2_reserved *reserved;
    uint32_t n_reserved;
    const struct ec2_memory *memory;
    uint32_t n_memory;
    const str *shifted_zones; /* ids: nothing is launched there */
    uint32_t n_shifted_zones;
    str region;
    double memory_overhead; /* VM_MEMORY_OVERHEAD_PERCENT */
    int32_t reserved_enis;
    bool reserved_capacity, expressions; /* gates */
    int64_t now_ms;
};

/* What else is known of a type than the planner needs; beside catalog.types. */
struct ec2_type_detail {
    const struct ec2_type_info *info;
    int64_t pods;
    struct ec2_kvs kube_reserved, system_reserved;                          /* worked out */
    struct reslist kube_reserved_list, system_reserved_list, eviction_list; /* their sum is the overhead */
    uint32_t n_efa;
    bool compatible; /* with the class (aws 5.7) */
};

struct ec2_types {
    struct itype *v;
    struct ec2_type_detail *detail;
    uint32_t n;
};

/* Fails when any type cannot be worked out. */
bool ec2_types_resolve(struct arena *a, struct syms *t, const struct ec2_types_input *in, struct ec2_types *ret,
                       struct err *e);
/* Only the offerings again: availability, prices, reservations. Types that have not changed are not touched. */
void ec2_types_offerings(struct arena *a, struct syms *t, const struct ec2_types_input *in, struct ec2_types *io);

/* The label keys of the provider and their rules. */
struct label_rules ec2_label_rules(struct arena *a, struct syms *t);

/* A hash of the images that a class has, for ec2_memory. */
uint64_t ec2_amis_hash(const struct ec2_class *k);
/* The first image of the class that the type fits; NULL: none (aws 6.4). */
const struct ec2_class_ami *ec2_ami_for(const struct ec2_class *k, const struct syms *t, const struct itype *type);
