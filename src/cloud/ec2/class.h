/* class - an EC2NodeClass, decoded: what the user wants of EC2, and what was found of it (aws 2).
 *
 * Made anew from the object's text whenever it is needed. Everything lives in the arena, and texts point into the object, which must live as long. CRD defaults
 * are filled in here too, so that objects which never saw an API server mean the same. The leniencies of docs/differences.md (an alias without a version, a
 * family without terms, no security groups) are read here and named in `notes`.
 */
#pragma once

#include "aws/ec2.h"
#include "model/nodepool.h"
#include "model/req.h"

enum ec2_family {
    EC2_CUSTOM,
    EC2_AL2,
    EC2_AL2023,
    EC2_BOTTLEROCKET,
    EC2_WINDOWS2019,
    EC2_WINDOWS2022,
    EC2_WINDOWS2025
};

struct ec2_term { /* of any selector; which members count depends on the selector (aws 2.3) */
    str id, name, owner, alias, ssm, match;
    struct ec2_tag *tags; /* by key */
    uint32_t n_tags;
    bool has_tags; /* an empty map is not the same as none */
};

struct ec2_terms {
    struct ec2_term *v;
    uint32_t n;
};

struct ec2_device { /* blockDeviceMappings */
    str name;
    bool has_name, root, has_root, has_ebs;
    int8_t delete_on_termination, encrypted; /* -1: not said */
    int64_t iops, throughput, rate;
    bool has_iops, has_throughput, has_rate;
    str kms_key, snapshot, type;
    bool has_kms_key, has_snapshot, has_type;
    str size; /* canonical quantity; empty: none */
    int64_t size_bytes;
};

struct ec2_nic { /* networkInterfaces */
    int32_t card, device;
    str type; /* "interface", "efa-only" */
};

struct ec2_metadata_options {
    bool present;
    str endpoint, ipv6, tokens; /* "": not said */
    int64_t hops;
    bool has_hops;
};

/* One entry of a map of the kubelet's, by key. */
struct ec2_kv {
    str key, value;
};

struct ec2_kvs {
    struct ec2_kv *v;
    uint32_t n;
    bool present; /* an empty map is not the same as none */
};

struct ec2_kubelet {        /* the twelve managed keys (aws 2.5.1); numbers are -1 when not said */
    const struct tree *raw; /* the whole map; NULL: none */
    str *dns;
    uint32_t n_dns;
    bool has_dns;
    int64_t max_pods; /* -1: not said, or an expression */
    bool max_pods_is_expr;
    str max_pods_expr; /* may be empty, which is a bad one */
    int64_t pods_per_core, eviction_max_grace, image_gc_high, image_gc_low;
    struct ec2_kvs system_reserved, kube_reserved, eviction_hard, eviction_soft, eviction_soft_grace;
    int8_t cpu_cfs_quota; /* -1: not said */
};

/* ---- status ---- */

struct ec2_class_ami {
    str id, name;
    bool deprecated;
    struct req_expr *requirements;
    uint32_t n_requirements;
};

struct ec2_class_subnet {
    str id, zone, zone_id;
};

struct ec2_class_reservation {
    str id, zone, type, owner, match, kind, state; /* kind: default, capacity-block; state: active, expiring */
    int64_t ends_ms;                               /* INT64_MIN: never */
    bool interruptible;
};

struct ec2_class {
    str name, uid;
    int64_t generation;
    bool deleting;
    const struct tree *object; /* all of it */

    struct ec2_terms subnets, groups, images, reservations;
    bool has_placement;
    str placement_name, placement_id;
    int8_t public_ip;    /* -1: not said */
    int32_t ip_prefixes; /* -1: not said */
    enum ec2_family family;
    bool has_family; /* amiFamily is said */
    str user_data;
    bool has_user_data;
    str role, profile; /* one of the two */
    bool has_role, has_profile;
    struct ec2_tag *tags; /* by key */
    uint32_t n_tags;
    bool has_tags;
    struct ec2_kubelet kubelet;
    struct ec2_device *devices;
    uint32_t n_devices;
    bool has_devices;
    str store_policy; /* "RAID0" */
    struct ec2_nic *nics;
    uint32_t n_nics;
    bool has_nics;
    int8_t monitoring; /* -1: not said */
    struct ec2_metadata_options metadata;
    bool has_tracking;
    int32_t tcp_established, udp_stream, udp; /* 0: not said */
    str context;
    bool has_context;
    bool has_cpu_options;
    str nested_virtualization;

    struct { /* as the object has it */
        struct ec2_class_subnet *subnets;
        struct ec2_group *groups;
        struct ec2_class_ami *amis;
        struct ec2_class_reservation *reservations;
        uint32_t n_subnets, n_groups, n_amis, n_reservations;
        str profile;
    } status;

    str *notes; /* what is read in another sense than it is written; names the modern spelling */
    uint32_t n_notes;
};

/* NULL: ERR_INVALID, which names the field. Types, ranges and words are checked as the CRD does, rules across fields are not (aws 2.4). The cluster's name is for leniencies that stand for "the cluster's own". */
struct ec2_class *ec2_class_decode(struct arena *a, struct syms *t, const struct tree *object, str cluster,
                                   struct err *e);

const char *ec2_family_name(enum ec2_family f);        /* "AL2023" */
bool ec2_family_parse(str name, enum ec2_family *ret); /* any case: aliases are lower case */
bool ec2_family_is_windows(enum ec2_family f);

#define EC2_HASH_VERSION "v6"

/* The value of annotation karpenter.k8s.aws/ec2nodeclass-hash in version v6, and in v5, which v1.14.1 writes (aws 2.9). */
uint64_t ec2_class_hash(const struct ec2_class *k, str ca_bundle);
uint64_t ec2_class_hash_v5(const struct ec2_class *k, str ca_bundle);

/* All that is wrong with spec.kubelet, joined by "; "; empty: nothing (aws 2.5.2). */
str ec2_kubelet_problems(struct arena *a, const struct ec2_class *k);
/* Keys beyond the managed ones and settings that the family cannot deliver; empty: none (aws 2.5.4). */
str ec2_kubelet_unsupported(struct arena *a, const struct ec2_class *k);
bool ec2_kubelet_has_expressions(const struct ec2_kubelet *k);
/* Expressions, or keys beyond the managed ones: what v1.14.1 knows nothing of. */
bool ec2_kubelet_is_open(const struct ec2_kubelet *k);

/* Tags that a user may not set: which rule it breaks; empty: none does (aws 2.4). */
str ec2_tags_problem(struct arena *a, const struct ec2_class *k, str cluster);
