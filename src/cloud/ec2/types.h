/* types - EC2's machines as a node class sees them: labels, capacity, overhead, offerings (aws 5).
 *
 * Pure: facts in, instance types out. The facts are EC2's (universe.h), our own tables (facts.h), prices, and what was met on the way (unavailable.h). The
 * built-in catalogue (catalog.h) is the same rules over facts that are compiled in.
 *
 * A class is resolved once (ec2_types_resolve), and again when EC2's answers, its own spec or its status have changed. What moves in between, availability,
 * prices, counts of reservations, is followed by ec2_types_offerings(), which leaves alone what is as it was.
 */
#pragma once

#include "cloud/ec2/class.h"
#include "cloud/ec2/labels.h"
#include "cloud/ec2/prices.h"
#include "cloud/ec2/unavailable.h"
#include "cloud/ec2/universe.h"
#include "model/itype.h"

struct ec2_reserved { /* how many machines a reservation has left */
    str id;
    int32_t left;
};

struct ec2_memory { /* what a Node of this type turned out to have */
    str type;
    uint64_t amis; /* ec2_amis_hash() of the class */
    int64_t bytes;
};

struct ec2_types_input {
    const struct ec2_universe *universe;
    const struct ec2_class *class;
    const struct ec2_prices *prices;
    const struct ec2_unavailable *unavailable;   /* NULL: nothing is */
    const struct ec2_placement_group *placement; /* NULL: none */
    const struct ec2_reserved *reserved;         /* a reservation that is not here has none left */
    uint32_t n_reserved;
    const struct ec2_memory *memory;
    uint32_t n_memory;
    const str *shifted_zones; /* ids: nothing is launched there */
    uint32_t n_shifted_zones;
    /* What overlays say of a type that has no price of its own; NAN: nothing. NULL: there are no overlays. */
    double (*overlay_price)(void *ctx, str type);
    void *overlay_ctx;
    uint64_t overlay_news; /* rises when it may say something else */
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
    struct itype *v; /* by name, as the universe has them */
    struct ec2_type_detail *detail;
    uint32_t n;
    struct ec2_offers *offers; /* private to offerings.c */
};

/* Fails when any type cannot be worked out, when there are none, or when the class has no subnets. The universe outlives the types; of the class nothing is kept. */
bool ec2_types_resolve(struct arena *a, struct syms *t, const struct ec2_types_input *in, struct ec2_types *ret,
                       struct err *e);
/* Only the offerings again: availability, prices, reservations. Universe, class and placement are what they were. Types that have not changed are not touched;
 * those that have get a new array in the arena, so whoever calls this for days resolves anew when it has grown. The answer is how many have changed. */
uint32_t ec2_types_offerings(struct arena *a, const struct ec2_types_input *in, struct ec2_types *io);

/* Every expression of the class' kubelet, for every type: none fails, none is negative (aws 2.5.4). Of the input only universe, class and reserved_enis count. */
bool ec2_expressions_work(struct arena *a, const struct ec2_types_input *in, struct err *e);

/* A type fits the class at all (aws 5.7). */
bool ec2_type_compatible(const struct ec2_type_info *info, const struct ec2_class *k,
                         const struct ec2_placement_group *placement);

/* A hash of the images that a class has, for ec2_memory. */
uint64_t ec2_amis_hash(const struct ec2_class *k);

/* Of overlays that are valid, in the order of their listing: the price that the last one with a price has for the type, which names it and asks for nothing else
 * (aws 5.6). NAN: none has. */
struct overlay;
double ec2_overlay_price(const struct syms *t, const struct overlay *v, uint32_t n, str type);
