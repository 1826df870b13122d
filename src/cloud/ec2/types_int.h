/* types_int - what types.c, capacity.c and offerings.c share while a class is being resolved. */
#pragma once

#include "base/map.h"
#include "cloud/ec2/facts.h"
#include "cloud/ec2/family.h"
#include "cloud/ec2/types.h"

/* Core's labels come before the provider's in a type's requirements. */
enum { R_ITYPE, R_ARCH, R_OS, R_ZONE, R_REGION, R_WINBUILD, R_CT, N_CORE };

/* Ways to buy; bits. */
enum { BUY_ON_DEMAND = 1, BUY_SPOT = 2 };

struct zone_view { /* a zone of the universe, as the class sees it */
    sym name, id;  /* id: SYM_NONE when the class has no subnet here, or it does not tell */
    str text, id_text;
    const str *subnets; /* the class's */
    uint32_t n_subnets;
};

struct build {
    struct arena *a;
    struct syms *t;
    const struct ec2_types_input *in;
    const struct ec2_family_traits *family;
    sym keys[EC2_N_LABELS];
    struct zone_view *zones;                          /* beside universe.zones */
    const struct ec2_fact *fact;                      /* of the type at hand; NULL: it is in no table */
    const struct ec2_class_reservation **reserved_of; /* of the type at hand; room for all */
    uint32_t n_reserved_of;
    uint32_t *reservation_type; /* beside class->status.reservations: index of its type, or UINT32_MAX */

    /* types.c */
    sym amd64, arm64, os_linux, os_windows, yes, no;
    struct req_expr any_type[N_CORE + EC2_N_LABELS]; /* what a type starts from */
    uint32_t n_any_type;
    struct u64map numbers; /* number → symbol of its text */

    /* capacity.c */
    sym gpu_nvidia, gpu_amd, gpu_gaudi, neuron, neuroncore, efa, pod_eni, private_ipv4;
    uint32_t n_efa_only, n_efa_only_first;         /* network interfaces of the class; on card 0 */
    struct reslist kube_reserved, system_reserved; /* as the class says; where no expression has a part in it */
    struct ec2_kvs kube_kvs, system_kvs;
    bool expressions;        /* reservations have to be worked out for each type */
    struct strmap memory_of; /* type → index into in->memory */
};

#define EC2_MAX_PARTITIONS 64 /* EC2 itself has seven in a zone */

uint32_t ec2_ways_to_buy(const struct ec2_type_info *info);
uint32_t ec2_partitions(const struct ec2_placement_group *g); /* 0: not a group with partitions */

void capacity_init(struct build *b);
void capacity_fini(struct build *b);
bool type_capacity(struct build *b, const struct ec2_type_info *info, bool windows, struct itype *it,
                   struct ec2_type_detail *d, struct err *e);

void offers_init(struct build *b, struct ec2_types *types);
