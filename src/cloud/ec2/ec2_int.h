/* ec2_int - the provider, for its parts. Inner header of cloud/ec2: who includes it may change the provider's state.
 *
 *   provider.c   life, start, refreshes, the answers to cloud.h
 *   market.c     types, prices and offerings as classes see them, put together into the catalogue
 *   found.c      what was found of the user's things, remembered for a while: subnets, groups, reservations, placement groups; found_images.c: images, parameters
 *   profiles.c   instance profiles: made, remembered, collected
 *   reconcile.c  the status of a node class; validate.c whether launches would work, dryrun.c its dry runs
 *   launch.c     from a claim to a machine; choose.c is the pure part: filters, capacity type, templates, overrides
 *   launch_fleet.c  its fleet request, and what is learned from the errors; hydrate.c what the claim is told of its machine
 *   templates.c  launch templates: their names, their making, their end; template_data.c what they say
 *   batch.c      calls that wait for company; fleet.c, instances.c use it
 *   drift.c      whether a machine is still what its class asks for
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "cloud/ec2/prices.h"
#include "cloud/ec2/provider.h"
#include "cloud/ec2/types.h"
#include "cloud/ec2/unavailable.h"
#include "cloud/ec2/universe.h"
#include "net/fiber.h"

struct ec2_found;
struct ec2_profiles;
struct ec2_verdicts;
struct ec2_templates;
struct ec2_machines;
struct ec2_market;
struct ec2_view;

struct ec2_cluster { /* aws 9.6; texts live as long as the provider */
    str name, endpoint, ca_bundle, arn;
    str version; /* "1.36" */
    str dns;     /* empty: not discovered */
    str cidr;    /* empty: not asked for yet (ec2_cluster_cidr) */
};

struct ec2 {
    struct cloud cloud;
    struct cloud_class class_kind; /* cloud.classes */
    struct world *world;
    struct aws *aws;
    struct syms *syms;
    struct arena *arena; /* of what stays */
    struct ec2_settings settings;
    struct ec2_host host;
    struct ec2_cluster cluster;
    str judged_version; /* of the cluster, when it was last looked at whether we know it */
    struct ec2_prices *prices;
    struct ec2_unavailable *unavailable;
    struct ec2_market *market;
    struct ec2_found *found;
    struct ec2_profiles *profiles;
    struct ec2_verdicts *verdicts;
    struct ec2_templates *templates;
    struct ec2_machines *machines;
    VEC(struct zonal_shift) shifts; /* zone ids live in the arena */
};

/* What is remembered for a while runs out by the steady clock: nobody can set it back. */
static inline int64_t ec2_clock_ms(const struct ec2 *p)
{
    return world_mono_us(p->world) / 1000;
}

/* ---- provider.c ---- */

/* The class as it is now; NULL: there is none, or it cannot be read (e says so). */
struct ec2_class *ec2_class_of(struct ec2 *p, struct arena *a, str name, struct err *e);
/* The service CIDR, asked of EKS once. */
bool ec2_cluster_cidr(struct ec2 *p, struct arena *a, struct aws_answer *f, struct err *e);

/* ---- market.c ---- */

struct ec2_market *ec2_market_new(struct ec2 *p);
void ec2_market_free(struct ec2_market *m);
bool ec2_market_set(struct ec2_market *m, struct arena *a,
                    const struct ec2_universe *u); /* takes the arena; whether anything changed */
const struct ec2_universe *ec2_market_universe(const struct ec2_market *m);
/* The types as the class sees them now, availability and prices fresh; remembered by what the answer depends on. Good until the next call. */
bool ec2_market_types(struct ec2_market *m, const struct ec2_class *k, struct ec2_types *ret, struct err *e);
/* What ec2_market_types() gave stays for as long as it is held: for those who park meanwhile. */
struct ec2_view *ec2_market_hold(struct ec2_market *m, const struct ec2_types *t);
void ec2_market_release(struct ec2_market *m, struct ec2_view *v);
/* The types of a view with the prices and the capacity that NodeOverlays give to them for the pool (aws 4.1), in their order; worked out when something has changed. Lives as long as the view is held. */
const struct catalog *ec2_market_overlaid(struct ec2_market *m, struct ec2_view *v, sym pool);
/* All classes that NodePools refer to, for the planner; another one, with a higher version, when anything has changed. */
const struct catalog *ec2_market_catalog(struct ec2_market *m);
void ec2_market_learn(struct ec2_market *m, str type, uint64_t amis, int64_t bytes);

/* ---- found.c: each parks when it has to ask; caches as aws 3.4 ---- */

struct ec2_found *ec2_found_new(struct ec2 *p);
void ec2_found_free(struct ec2_found *f);
bool ec2_find_subnets(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_class_subnet **ret,
                      uint32_t *ret_n, struct err *e);
bool ec2_find_groups(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_group **ret, uint32_t *ret_n,
                     struct err *e);
/* err.code EC2_UNSUPPORTED_ALIAS (images.h) says that waiting does not help. */
bool ec2_find_amis(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_class_ami **ret,
                   uint32_t *ret_n, struct err *e);
bool ec2_find_reservations(struct ec2 *p, struct arena *a, const struct ec2_class *k,
                           struct ec2_class_reservation **ret, uint32_t *ret_n, struct err *e);
/* ERR_NOT_FOUND: there is none. Old data may come with another error: *ret_known. Texts live as long as the provider. */
bool ec2_find_placement(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_placement_group *ret,
                        bool *ret_known, struct err *e);
/* What is remembered of it, without asking; false: nothing. */
bool ec2_placement_known(const struct ec2 *p, const struct ec2_class *k, struct ec2_placement_group *ret);

/* Free addresses (aws 4.5): of the last listing, less what launches under way will take. */
int64_t ec2_subnet_free(const struct ec2 *p, str subnet);
int64_t ec2_subnet_listed(const struct ec2 *p, str subnet); /* of the last listing alone; -1: not known any more */
bool ec2_subnet_has_inflight(const struct ec2 *p, str subnet);
void ec2_subnet_take(struct ec2 *p, str subnet, int64_t n); /* n < 0: given back */
void ec2_subnet_is_full(struct ec2 *p, str subnet);         /* whoever launches marks it unavailable, too */
/* Forgets parameters that name the newest image when that image is out of date (aws 7.10). */
bool ec2_parameters_check(struct ec2 *p, struct err *e);
str ec2_class_key(struct arena *a, const struct ec2_class *k); /* "uid-generation" */

/* Machines left in reservations (aws 5.8). */
const struct ec2_reserved *ec2_reserved_left(const struct ec2 *p, uint32_t *ret_n);
uint64_t ec2_reserved_version(const struct ec2 *p);
void ec2_reserved_launched(struct ec2 *p, str id);
void ec2_reserved_ended(struct ec2 *p, str id);
void ec2_reserved_none(struct ec2 *p, str id);

/* ---- profiles.c ---- */

struct ec2_profiles *ec2_profiles_new(void);
void ec2_profiles_free(struct ec2_profiles *s);
/* The profile that machines of the class get; made when there is none yet with its role. */
bool ec2_profile_ensure(struct ec2 *p, struct arena *a, const struct ec2_class *k, str *ret, struct err *e);
bool ec2_profiles_delete(struct ec2 *p, struct arena *a, const struct ec2_class *k,
                         struct err *e); /* all of the class */

/* ---- validate.c ---- */

struct ec2_verdicts *ec2_verdicts_new(void);
void ec2_verdicts_free(struct ec2_verdicts *v);
void ec2_verdicts_forget(struct ec2 *p, str class);

struct ec2_verdict {
    const char *reason; /* NULL: launches would work, as far as can be told */
    str message;
    bool unsettled; /* nothing is to be said now: ask again */
    bool fleeting;  /* not to be remembered */
};

struct cond_object;
struct ec2_reconciled;
/* Says ValidationSucceeded, of the class with its status as it is now. */
void ec2_validate(struct ec2 *p, const struct ec2_class *k, const struct cond_object *o, struct ec2_reconciled *ret);
/* Makes a launch template for real, and goes through the motions with it. */
bool ec2_dry_run(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_verdict *ret, struct err *e);

/* ---- templates.c ---- */

struct ec2_templates *ec2_templates_new(struct ec2 *p);
void ec2_templates_free(struct ec2_templates *t);
/* The name of a template with this content; made in EC2 unless it is there. err.code and *f say why not. */
bool ec2_template_ensure(struct ec2 *p, struct arena *a, const struct ec2_template_data *d, const struct ec2_tags *tags,
                         str class, str *ret_name, struct aws_answer *f, struct err *e);
void ec2_template_forget(struct ec2 *p, str name); /* EC2 has it no more */
bool ec2_templates_delete(struct ec2 *p, struct arena *a, str class, struct err *e);

/* ---- launch.c ---- */

/* What a template of the class for these types says (aws 4.6); also for the dry runs of validation. */
struct ec2_template_request {
    const struct ec2_class *class;
    const struct nodeclaim *claim; /* labels, taints, requests */
    const struct ec2_class_ami *ami;
    const struct ec2_type_detail *type; /* of the group that the template is for */
    const char *capacity_type;          /* "spot", "on-demand", "reserved" */
    const char *tenancy;
    const struct ec2_class_reservation *reservation; /* NULL: none */
    const struct ec2_placement_group *placement;     /* NULL: none */
    int32_t partition;                               /* 0: none */
    uint32_t n_efa;
    const struct ec2_tag *tags;
    uint32_t n_tags;
};

bool ec2_template_data(struct ec2 *p, struct arena *a, const struct ec2_template_request *r,
                       struct ec2_template_data *ret, struct err *e);
/* spec.tags and ours (aws 4.1); pool may be empty. CLOUD_NOT_READY: a tag that a user may not set. */
bool ec2_launch_tags(struct ec2 *p, struct arena *a, const struct ec2_class *k, str pool, struct ec2_tag **ret,
                     uint32_t *ret_n, struct err *e);
bool ec2_launch(struct ec2 *p, struct arena *a, const struct nodeclaim *c, struct machine *ret, struct err *e);

/* ---- instances.c ---- */

struct ec2_machines *ec2_machines_new(struct ec2 *p);
void ec2_machines_free(struct ec2_machines *m);
bool ec2_fleet_batched(struct ec2 *p, struct arena *a, const struct ec2_fleet *r, struct ec2_fleet_answer *ret,
                       struct aws_answer *f, struct err *e);
#define EC2_TOO_FEW "too few instances returned" /* code of an error: EC2 had nothing to say about it */
bool ec2_instance_end(struct ec2 *p, struct arena *a, str id, struct err *e); /* batched */

/* ---- hydrate.c ---- */

struct ec2_facts { /* what is known of a machine, whoever told it */
    str id, image, zone, capacity_type, tenancy;
    str reservation, reservation_kind;
    str partition; /* of its placement group; empty: not known yet */
    str pool;
    uint32_t n_efa;
    bool has_pool, interruptible, deleting;
};

/* type, k and placement may be NULL: then the machine has less to tell. Nothing of the answer points outside of the arena. */
void ec2_machine_of(struct ec2 *p, struct arena *a, const struct ec2_facts *f, const struct itype *type,
                    const struct ec2_class *k, const struct ec2_placement_group *placement, struct machine *ret);
struct ec2_facts ec2_facts_of(const struct ec2 *p, struct arena *a, const struct ec2_instance *i);
str ec2_instance_tag_value(const struct ec2_instance *i, const char *key, bool *ret_known);
bool ec2_instance_is_reserved(const struct ec2 *p, const struct ec2_instance *i);

/* ---- drift.c ---- */

bool ec2_drifted(struct ec2 *p, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e);
