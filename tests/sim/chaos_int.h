/* chaos_int - one run of a case, for its files: chaos.c (from beginning to end), chaos_deeds.c (what people do and what breaks), chaos_pools.c (NodePools and workloads), chaos_buffers.c (CapacityBuffers),
 * chaos_rules.c (what may never happen), chaos_end.c (what must be so in the end), chaos_aws.c, chaos_aws_scarce.c and chaos_aws_rules.c (cases whose machines come from EC2). */
#pragma once

#include "sim/chaos.h"
#include "sim/kube/faults.h"
#include "support/fleet.h"

#define CHAOS_APPS 6
#define CHAOS_POOLS 3      /* a, which stays, b, which comes and goes, s, which has replicas */
#define CHAOS_NEWS_S 120.0 /* after so long every replica that acts has heard of a change, whatever watches break */

/* Something that was changed: what was so before counts as well until everybody can know. */
struct chaos_setting {
    int64_t now, before;
    double changed_s;
};

struct chaos_pool {
    const char *name;
    bool is_static;
    bool tainted;
    struct chaos_setting limit_milli; /* of cpu; INT64_MAX: none */
    struct chaos_setting budget;      /* percent; below zero: so many nodes */
    struct chaos_setting n_nodes;     /* that are initialized */
};

struct chaos_hold { /* a finalizer of somebody else */
    const char *plural;
    char name[128];
    double until_s;
};

struct chaos {
    const struct chaos_case *what;
    struct rig *r;
    struct rng rng; /* of the deed at hand */
    struct faults *faults;
    chaos_parts parts; /* that take part */
    char gates[80];    /* features of the controller */
    uint32_t n_apps;
    uint32_t replicas[CHAOS_APPS];
    uint32_t version[CHAOS_APPS]; /* of the template */
    uint32_t n_jobs, n_daemons;
    struct chaos_pool pools[CHAOS_POOLS];
    VEC(struct chaos_hold) holds;
    double no_join_until_s, no_start_until_s, jumped_s;
    int64_t latest_ms;          /* that the clock has shown before it jumped */
    uint32_t worst_rate;        /* of calls that go wrong, per 65,536; the largest of all kinds */
    double disturbed_s;         /* until then something was broken: a process, the server, the clock */
    struct chaos_aws *aws;      /* NULL: machines come from kwok */
    bool calm;                  /* nobody does anything any more */
    char holder[64];            /* of the lease */
    char led[RIG_REPLICAS][32]; /* who of those that had this place held it last */
    char evicting[128];         /* the pod whose eviction the server has in hands */
    uint64_t n_writes;
    uint64_t n_since_change; /* nodes given up by choice since anything else happened */
    char last_write[256];
    struct chaos_tally tally;
    struct sb bad; /* what was found */
    struct sb deeds;
};

static inline bool has_part(const struct chaos *c, enum chaos_part p)
{
    return parts_has(&c->parts, p);
}

static inline uint32_t below(struct chaos *c, uint32_t n)
{
    return rng_below(&c->rng, n);
}

static inline bool one_in(struct chaos *c, uint32_t n)
{
    return below(c, n) == 0;
}

static inline struct kube *chaos_kube(const struct chaos *c)
{
    return c->r->l->s->k;
}

PRINTF(2, 3) void bad(struct chaos *c, const char *fmt, ...);
void deed(struct chaos *c, const char *what, const char *name); /* a line for those who look at a run */
bool exists(struct chaos *c, const char *plural, const char *name);
void setting_set(struct chaos *c, struct chaos_setting *s, int64_t v);
int64_t setting_most(const struct chaos *c, const struct chaos_setting *s); /* the larger of what may be believed */
int64_t millicores(const struct tree *t);                 /* "2", "300m"; 0: nothing, or nothing that can be read */
struct chaos_pool *pool_named(struct chaos *c, str name); /* NULL: none of ours */

/* chaos_pools.c */
void pools_make(struct chaos *c);
void pool_make(struct chaos *c, struct chaos_pool *p);
void pool_change(struct chaos *c, enum chaos_part what);
void pools_calm(struct chaos *c); /* as they have to be for a cluster to come to rest */
void app_make(struct chaos *c, uint32_t i);
void app_scale(struct chaos *c);
void app_roll(struct chaos *c);
void app_budget(struct chaos *c);
void job_make(struct chaos *c);
void daemon_change(struct chaos *c);

/* chaos_buffers.c */
void buffers_act(struct chaos *c, uint32_t number); /* beside the deed of this number, now and then */
/* How many buffers say what is not so, or get no room without need; in words to `out`, which may be NULL. */
uint32_t buffers_odd(struct chaos *c, struct sb *out);

/* chaos_deeds.c */
void act(struct chaos *c);
void tend(struct chaos
              *c); /* whoever takes care: processes that ended begin again, taints and finalizers go when it is time */
void faults_stop(struct chaos *c);

/* chaos_rules.c */
void rules_watch(struct chaos *c);

/* chaos_aws.c; without effect in other cases but where it says so */
uint32_t aws_settings(struct chaos *c, const char **env);
void aws_open(struct chaos *c);                 /* before replicas start */
void aws_close(struct chaos *c);                /* they die */
void aws_act(struct chaos *c, uint32_t number); /* beside the deed of this number, now and then */
void aws_tend(struct chaos *c);
void aws_calm(struct chaos *c);
const char *aws_requirements(const struct chaos *c, bool is_static); /* of a NodePool */
/* The node class, whatever the provider. */
const char *class_plural(const struct chaos *c);
void class_make(struct chaos *c);
void class_toggle(struct chaos *c);
void patch_class(struct chaos *c, const char *patch); /* of AWS, if it is there to stay */
void class_restore(struct chaos *c);                  /* it is there and can be used from now on */

/* chaos_aws_scarce.c: reservations and zones that are shifted away from */
uint32_t scarce_settings(struct chaos *c, uint64_t draw, const char **env);
void scarce_act(struct chaos *c, uint32_t number); /* beside the deed of this number, now and then */
void scarce_tend(struct chaos *c);
void scarce_calm(struct chaos *c);
bool is_shifted(const struct chaos *c, str zone_id); /* or somebody may still believe that it is */

/* chaos_aws_rules.c */
void aws_watch(struct chaos *c);
void aws_warned(struct chaos *c, str instance); /* AWS has said that it takes this machine back */
void aws_check(struct chaos *c);                /* now and then */
void aws_check_end(struct chaos *c);            /* the cluster is at rest: it is taken down, and nothing may be left */

/* chaos_end.c */
void delete_all(struct chaos *c, const char *plural, bool (*which)(struct arena *a, const struct object *o));
bool is_any(struct arena *a, const struct object *o);
void give_in(struct chaos *c); /* drains that hang are let go, if an Event says why they hang */
void conclude(struct chaos *c);
