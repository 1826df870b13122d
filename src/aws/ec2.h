/* ec2 - the calls of EC2 that a provider of machines makes, as functions from structs to structs (aws 3.2).
 *
 * Every listing reads all pages. Results live in the arena; a text that AWS left out is empty, a number 0, a time INT64_MIN. On failure *f, where there is one and
 * it is not NULL, holds AWS's own code and message whole; both are empty when AWS was not asked or its answer made no sense.
 */
#pragma once

#include "aws/aws.h"
#include "base/sb.h"

struct ec2_tag {
    str key, value;
};

struct ec2_filter {
    const char *name; /* "tag:" + key needs ec2_filter_tag() */
    const str *values;
    uint32_t n;
};

/* A filter "tag:KEY" = value; "tag-key" = KEY when the value is "*". The values live in the arena. */
struct ec2_filter ec2_filter_tag(struct arena *a, str key, str value);

/* ---- what there is to buy ---- */

struct ec2_accel { /* GPU, inference accelerator, Neuron device */
    str name, manufacturer;
    int32_t count;
    int64_t memory_mib; /* of one GPU */
    int32_t cores;      /* of one Neuron device */
};

struct ec2_card {
    int32_t index, max_interfaces;
};

struct ec2_type_info { /* DescribeInstanceTypes */
    str name;
    str *usage_classes;
    uint32_t n_usage_classes;
    str hypervisor;
    bool bare_metal;
    str *archs;
    uint32_t n_archs;
    bool has_processor;
    double clock_ghz;
    str manufacturer;
    str *features;
    uint32_t n_features;
    int32_t vcpus;
    int64_t memory_mib;
    bool has_storage;
    int64_t storage_gb;
    str nvme; /* nvmeSupport */
    str ebs_optimized;
    int64_t ebs_mbps; /* maximumBandwidthInMbps */
    int32_t default_card;
    struct ec2_card *cards;
    uint32_t n_cards;
    int32_t ipv4_per_interface;
    str ena;
    bool has_efa;
    int32_t max_efa;
    bool encryption_in_transit;
    struct ec2_accel *gpus, *accelerators, *neurons;
    uint32_t n_gpus, n_accelerators, n_neurons;
    bool has_neuron; /* neuronInfo is there */
    str *placement_strategies;
    uint32_t n_placement_strategies;
    str enclaves; /* nitroEnclavesSupport */
};

struct ec2_type_infos {
    struct ec2_type_info *v;
    uint32_t n;
};

bool ec2_probe(struct aws *c, struct arena *a, struct err *e); /* DescribeInstanceTypes, dry run (aws 1.1 step 5) */
bool ec2_describe_types(struct aws *c, struct arena *a, struct ec2_type_infos *ret, struct err *e);

struct ec2_type_zone {
    str type, zone;
};

bool ec2_describe_type_zones(struct aws *c, struct arena *a, struct ec2_type_zone **ret, uint32_t *ret_n,
                             struct err *e);

struct ec2_spot_price {
    str type, zone;
    double usd; /* NAN: it cannot be read */
    int64_t at_ms;
};

bool ec2_describe_spot_prices(struct aws *c, struct arena *a, struct ec2_spot_price **ret, uint32_t *ret_n,
                              struct err *e);

/* ---- what there is of the user's ---- */

struct ec2_subnet {
    str id, zone, zone_id;
    int64_t free_ips;
};

struct ec2_group {
    str id, name;
};

struct ec2_image {
    str id, name, arch, state;
    int64_t created_ms, deprecated_ms;
};

struct ec2_reservation {
    str id, owner, type, zone, match, kind; /* kind: reservationType */
    int64_t ends_ms;
    int32_t available;
    bool interruptible;
};

struct ec2_placement_group {
    str id, name, strategy, spread_level;
    int32_t partitions;
};

bool ec2_describe_subnets(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                          struct ec2_subnet **ret, uint32_t *ret_n, struct err *e);
bool ec2_describe_groups(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                         struct ec2_group **ret, uint32_t *ret_n, struct err *e);
/* Filter state=available is added; deprecated ones are included. */
bool ec2_describe_images(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f, const str *owners,
                         uint32_t n_owners, struct ec2_image **ret, uint32_t *ret_n, struct err *e);
/* id empty: by filters. Filter state=active comes first. An id that is not there is no result, not an error. */
bool ec2_describe_reservations(struct aws *c, struct arena *a, str id, const struct ec2_filter *f, uint32_t n_f,
                               struct ec2_reservation **ret, uint32_t *ret_n, struct err *e);
/* By id or by name; filter state=available. ERR_NOT_FOUND: there is none. */
bool ec2_describe_placement_group(struct aws *c, struct arena *a, str id, str name, struct ec2_placement_group *ret,
                                  struct err *e);

/* ---- launch templates ---- */

struct ec2_volume {
    str device;
    int8_t delete_on_termination, encrypted;  /* -1: not said */
    int64_t iops, throughput, rate, size_gib; /* 0: not said */
    str kms_key, snapshot, type;
    bool has_ebs;
};

struct ec2_interface {
    int32_t card, device; /* card -1: not said */
    str type;             /* "": not said */
    const str *groups;
    uint32_t n_groups;
    int8_t public_ip;                     /* -1: not said */
    int32_t ipv4_prefixes, ipv6_prefixes; /* -1: not said */
    bool primary_ipv6;
    int32_t ipv6_addresses;                   /* 0: not said */
    int32_t tcp_established, udp_stream, udp; /* connection tracking; 0: not said */
    str subnet;                               /* RunInstances only */
};

struct ec2_tags { /* a tag specification */
    const char *resource;
    const struct ec2_tag *v;
    uint32_t n;
};

struct ec2_template_data {
    str image, profile, user_data; /* user_data: plain text; it is encoded on its way */
    const struct ec2_volume *volumes;
    uint32_t n_volumes;
    const struct ec2_interface *interfaces;
    uint32_t n_interfaces;
    const struct ec2_tags *tags;
    uint32_t n_tags;
    bool monitoring, enclaves;
    str metadata_endpoint, metadata_ipv6, metadata_tokens; /* "": not said */
    int64_t metadata_hops;
    str tenancy, placement_group;
    int32_t partition; /* 0: not said */
    str nested_virtualization;
    str reservation_preference, reservation_id, market; /* "": not said */
};

struct ec2_template {
    str id, name;
};

bool ec2_create_template(struct aws *c, struct arena *a, str name, const struct ec2_template_data *d,
                         const struct ec2_tags *tags, struct ec2_template *ret, struct aws_answer *f, struct err *e);
/* What is sent, for those who compare: equal templates have equal texts. */
void ec2_template_encode(struct sb *out, str token, str name, const struct ec2_template_data *d,
                         const struct ec2_tags *tags);
/* ERR_NOT_FOUND: there is none. More than one of a name is an error too. */
bool ec2_describe_template(struct aws *c, struct arena *a, str name, struct ec2_template *ret, struct aws_answer *f,
                           struct err *e);
bool ec2_describe_templates(struct aws *c, struct arena *a, const struct ec2_filter *f, uint32_t n_f,
                            struct ec2_template **ret, uint32_t *ret_n, struct err *e);
bool ec2_delete_template(struct aws *c, struct arena *a, str id, str name, struct err *e); /* one of the two */

/* ---- machines ---- */

struct ec2_override {
    str type, subnet, image, zone;
    double priority;
    bool has_priority;
};

struct ec2_fleet_config {
    str template_name;
    const struct ec2_override *overrides;
    uint32_t n;
};

struct ec2_fleet {
    str context;
    const struct ec2_fleet_config *configs;
    uint32_t n_configs;
    const char *capacity_type;    /* DefaultTargetCapacityType */
    const char *spot_strategy;    /* NULL: no such block */
    const char *demand_strategy;  /* likewise */
    const char *reservation_type; /* ReservedCapacityOptions; likewise */
    const struct ec2_tags *tags;
    uint32_t n_tags;
    int32_t count;
    bool dry_run; /* sent once; true when AWS says DryRunOperation, ret is not written and may be NULL */
};

struct ec2_fleet_error {
    str code, message;
    struct ec2_override override; /* texts are empty when AWS does not say */
};

struct ec2_fleet_group { /* instances of one kind */
    const str *ids;
    uint32_t n;
    str type, lifecycle;
    struct ec2_override override;
};

struct ec2_fleet_answer {
    str id;
    struct ec2_fleet_group *groups;
    uint32_t n_groups;
    struct ec2_fleet_error *errors;
    uint32_t n_errors;
};

bool ec2_create_fleet(struct aws *c, struct arena *a, const struct ec2_fleet *r, struct ec2_fleet_answer *ret,
                      struct aws_answer *f, struct err *e);

/* What is sent, for those who compare. */
void ec2_fleet_encode(struct sb *out, str token, const struct ec2_fleet *r);

/* RunInstances, only ever as a dry run. */
struct ec2_run {
    str template_name, type;
    const struct ec2_interface *interfaces;
    uint32_t n_interfaces;
    const struct ec2_tags *tags;
    uint32_t n_tags;
};

bool ec2_run_dry(struct aws *c, struct arena *a, const struct ec2_run *r, struct aws_answer *f, struct err *e);

struct ec2_instance {
    str id, image, type, state, zone, zone_id, tenancy, subnet;
    str spot_request, lifecycle, reservation, reservation_preference;
    int64_t launched_ms;
    int32_t partition; /* 0: none */
    const str *groups;
    uint32_t n_groups;
    const struct ec2_tag *tags;
    uint32_t n_tags;
    uint32_t n_efa; /* interfaces of type efa or efa-only */
};

/* EC2 tells both; some that speak like it tell the second alone. */
static inline bool ec2_instance_is_spot(const struct ec2_instance *i)
{
    return i->spot_request.n > 0 || str_is(i->lifecycle, "spot");
}

struct ec2_instances {
    struct ec2_instance *v;
    uint32_t n;
};

/* Without those that are terminated. By ids, or by filters. */
bool ec2_describe_instances(struct aws *c, struct arena *a, const str *ids, uint32_t n_ids, const struct ec2_filter *f,
                            uint32_t n_f, struct ec2_instances *ret, struct err *e);

struct ec2_state_change {
    str id, is, was;
};

bool ec2_terminate(struct aws *c, struct arena *a, const str *ids, uint32_t n, struct ec2_state_change **ret,
                   uint32_t *ret_n, struct err *e);
bool ec2_create_tags(struct aws *c, struct arena *a, str resource, const struct ec2_tag *tags, uint32_t n,
                     struct err *e);

struct ec2_check { /* a detail of a status check */
    str name, status;
    int64_t since_ms; /* impairedSince */
};

struct ec2_status {
    str id;
    struct ec2_check *instance, *system, *ebs;
    uint32_t n_instance, n_system, n_ebs;
    str *events; /* codes */
    uint32_t n_events;
};

bool ec2_describe_status(struct aws *c, struct arena *a, const struct ec2_filter *f, struct ec2_status **ret,
                         uint32_t *ret_n, struct err *e);
