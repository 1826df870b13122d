/* provider - machines of EC2 for a cluster: the provider `aws` (aws 1, 4).
 *
 * It asks AWS through a session (aws/aws.h), remembers what it found for as long as the specification says, and answers the controller through cloud/cloud.h. What it
 * has to know of the cluster (node classes, NodePools, its DNS) it asks of its host. Everything that parks runs on fibers of the host's world; what is said about a node
 * class is written by the controllers of control/aws, which call reconcile.h.
 */
#pragma once

#include "aws/aws.h"
#include "cloud/cloud.h"
#include "cloud/ec2/class.h"
#include "model/snapshot.h"

struct ec2;

struct ec2_settings { /* aws 9.1 */
    str cluster_name;
    str cluster_endpoint, ca_bundle; /* empty: found out */
    str interruption_queue;          /* empty: none */
    bool isolated_vpc, eks_control_plane, disable_dry_run, zonal_shift;
    bool expressions;                      /* gate NodeClassCEL */
    bool reserved_capacity, node_overlays; /* gates of the core */
    double memory_overhead;
    int32_t reserved_enis;
    int64_t ami_refresh_ms, subnet_refresh_ms;
    enum min_values_policy min_values;
};

enum ec2_subject { EC2_ON_CLAIM, EC2_ON_POOL };

struct ec2_host {
    void *ctx;
    /* The EC2NodeClass, CRD defaults filled in or not; NULL: there is none. */
    struct tree *(*class_object)(void *ctx, struct arena *a, str name);
    void (*each_class)(void *ctx, void (*fn)(void *arg, str name), void *arg);
    void (*each_pool)(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg);
    /* Rises with whatever NodePools, node classes and overlays say. */
    uint64_t (*news)(void *ctx);
    /* Of overlays (gate): the price of a type that AWS has none for; NAN: none. NULL: there are no overlays. */
    double (*overlay_price)(void *ctx, str type);
    /* Of overlays (gate): types as the pool sees them, in the order of `base`, which they may share things with. NULL: there are no overlays. */
    const struct catalog *(*overlaid)(void *ctx, struct arena *a, str pool, const struct catalog *base);
    bool (*kube_dns)(void *ctx, struct arena *a, str *ret_ip, struct err *e);        /* ERR_NOT_FOUND: there is none */
    bool (*kube_version)(void *ctx, struct arena *a, str *ret_minor, struct err *e); /* "1.36" */
    str kube_ca; /* base64, of our own way to the API server; may be empty */
    /* A warning for people, without a reason (aws 8.2). */
    void (*warn)(void *ctx, enum ec2_subject s, str name, const char *message);
    /* Counters and figures (aws 8.1.1); any may be NULL. */
    void (*launch_failed)(void *ctx, str zone, str zone_id, str capacity_type, str reason);
    void (*termination_failed)(void *ctx, str zone, str zone_id);
    void (*batched)(void *ctx, const char *batcher, uint32_t n, int64_t window_us);
    void (*user_data_bytes)(void *ctx, str class, size_t n);
    void (*class_gone)(void *ctx, str class);                                     /* nothing more will be told of it */
    void (*say)(void *ctx, bool error, const char *message, const struct err *e); /* a line of the log; e may be NULL */
    void (*gone)(void *ctx); /* the last that is heard of the provider: it was freed; may be NULL */
};

struct ec2_options {
    struct world *world;
    struct aws *aws; /* outlives the provider */
    struct syms *syms;
    struct ec2_settings settings;
    struct ec2_host host;
};

struct ec2 *ec2_new(const struct ec2_options *o);
struct cloud *ec2_cloud(struct ec2 *p); /* whose free() frees the provider */

/* Steps 4 to 11 of aws 1.1: region, reachability, cluster facts, instance types, offerings. Parks. A failure is the end of the process. */
bool ec2_start(struct ec2 *p, struct err *e);

/* ---- refreshes, for controllers; each parks and says whether anything changed by the catalogue's version ---- */

bool ec2_refresh_types(struct ec2 *p, struct err *e);       /* every 12 h */
bool ec2_refresh_prices(struct ec2 *p, struct err *e);      /* every 12 h */
bool ec2_refresh_version(struct ec2 *p, struct err *e);     /* every 5 min */
bool ec2_refresh_parameters(struct ec2 *p, struct err *e);  /* SSM invalidation, every 30 min (aws 7.10) */
bool ec2_refresh_shifts(struct ec2 *p, struct err *e);      /* zonal shift, every 30 s (aws 7.12) */
bool ec2_zone_is_shifted(const struct ec2 *p, str zone_id); /* as of the last refresh */
/* Once, by a new leader: launch templates that another process made, and that would otherwise never end. */
bool ec2_adopt_templates(struct ec2 *p, struct err *e);
void ec2_learn_memory(struct ec2 *p, str type, str class, str image, int64_t bytes); /* aws 5.10 */

/* ---- what interruption and other controllers tell and ask ---- */

str ec2_instance_id(str provider_id); /* empty: it has none */
void ec2_mark_unavailable(struct ec2 *p, str capacity_type, str type, str zone);
void ec2_mark_reservation(struct ec2 *p, str id); /* nothing is left of it */
/* The instance, past the cache when `fresh`. ERR_NOT_FOUND: it is gone. */
bool ec2_instance_get(struct ec2 *p, struct arena *a, str id, bool fresh, struct ec2_instance *ret, struct err *e);
bool ec2_instance_list(struct ec2 *p, struct arena *a, struct ec2_instances *ret, struct err *e);
bool ec2_instance_tag(struct ec2 *p, struct arena *a, str id, const struct ec2_tag *tags, uint32_t n, struct err *e);
