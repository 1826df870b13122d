/* parts - what the parts of a cluster share: the kinds they deal in, how they see changes, and the pods by owner and node.
 *
 * Every part works the same way: it sees changes (see()), notes keys in a work queue, and acts when its key comes up, on what the
 * API server holds by then. Nobody keeps what the API server does not have, so a restored cluster goes on where it was.
 * `scratch` is for one piece of work: whoever is called from the loop begins with cluster_begin().
 */
#pragma once

#include "data/edit.h"
#include "sim/kube/cluster.h"
#include "sim/kube/cluster/pods.h"
#include "sim/kube/work.h"

struct kinds {
    const struct kind *namespace_, *service_account, *config_map, *pod, *node, *lease, *claim, *volume;
    const struct kind *storage_class, *csi_node, *attachment, *deployment, *replica_set, *stateful_set, *daemon_set;
    const struct kind *revision, *job, *cron_job, *budget, *cluster_role;
};

struct cluster {
    struct kube *k;
    struct world *w;
    struct cluster_options o;
    struct kinds kinds;
    struct arena *scratch;
    char second[32]; /* the current one as text, without its end */
    int64_t second_at;
    const struct kind *quiet; /* whose status is being written by its own controller */
    struct pods *pods;
    struct readings *readings;
    VEC(struct sight *) sights;
    struct kubelets *kubelets;
    struct nodelife *nodelife;
    struct podgc *podgc;
    struct accounts *accounts;
    struct roles *roles;
    struct volumes *volumes;
    struct scheduler *scheduler;
    struct deployments *deployments;
    struct replica_sets *replica_sets;
    struct stateful_sets *stateful_sets;
    struct daemon_sets *daemon_sets;
    struct jobs *jobs;
    struct cron_jobs *cron_jobs;
    struct budgets *budgets;
};

/* One change of an object, or one that was there when the cluster started (old is NULL then). */
struct seen {
    const struct object *old, *new; /* either may be NULL */
    const struct change *change;    /* private */
    struct arena *a;                /* private */
    struct tree *tree;              /* private */
};

typedef void (*seen_fn)(void *ctx, struct seen *s);

/* Calls fn for what is there and for every change from now on; it may note but not write. */
void see(struct cluster *c, const struct kind *kind, seen_fn fn, void *ctx);
/* The new side, or the old one when it is gone, as a tree; good until the subscriber returns. */
const struct tree *seen_tree(struct seen *s);

/* A member of the new side alone, likewise. */
const struct tree *seen_part(struct seen *s, const char *name);
/* Whether nothing but this member was written. */
bool seen_only(const struct seen *s, const char *name);

static inline const struct object *seen_object(const struct seen *s)
{
    return s->new ? s->new : s->old;
}

/* At the start of every piece of work; the arena is empty. */
struct arena *cluster_begin(struct cluster *c);
int64_t cluster_now_ms(const struct cluster *c);
str cluster_micro_time(struct cluster *c); /* now, as a metav1.MicroTime; until the next cluster_begin() */
int64_t cluster_draw_us(struct cluster *c, struct span s, int64_t def_ms); /* divided by speed */

/* "ns/name", the key of work queues; a name alone for kinds without namespace. */
str key_of(struct arena *a, str ns, str name);
void key_add(struct work *q, const struct object *o);
void key_add_name(struct work *q, str ns, str name);
void key_add_name_after(struct work *q, str ns, str name, int64_t us);
void key_split(str key, str *ret_ns, str *ret_name);
const struct object *key_get(struct cluster *c, const struct kind *kind, str key);

/* Writes that may lose against nobody: the process has one thread. A failure means that the object has gone or that somebody's rules
 * refuse it; the message is then in *st. */
bool cluster_update(struct cluster *c, const struct kind *kind, const char *sub, struct tree *obj);
bool cluster_update_part(struct cluster *c, const struct object *o, const char *name, struct tree *part);
bool cluster_delete(struct cluster *c, const struct object *o, int64_t grace_s);
PRINTF(6, 7)
void cluster_event(struct cluster *c, const struct object *about, const char *component, const char *type,
                   const char *reason, const char *fmt, ...);

/* The parts; each sees what it wants from the moment it is made. */
struct kubelets *kubelets_new(struct cluster *c);
void kubelets_free(struct kubelets *p);
struct nodelife *nodelife_new(struct cluster *c);
void nodelife_free(struct nodelife *p);
struct podgc *podgc_new(struct cluster *c);
void podgc_free(struct podgc *p);
struct accounts *accounts_new(struct cluster *c);
void accounts_free(struct accounts *p);
struct roles *roles_new(struct cluster *c);
void roles_free(struct roles *p);
struct volumes *volumes_new(struct cluster *c);
void volumes_free(struct volumes *p);
struct scheduler *scheduler_new(struct cluster *c);
void scheduler_free(struct scheduler *p);
struct sched *scheduler_state(struct scheduler *p); /* for who asks what fits where */
struct deployments *deployments_new(struct cluster *c);
void deployments_free(struct deployments *p);
struct replica_sets *replica_sets_new(struct cluster *c);
void replica_sets_free(struct replica_sets *p);
struct stateful_sets *stateful_sets_new(struct cluster *c);
void stateful_sets_free(struct stateful_sets *p);
struct daemon_sets *daemon_sets_new(struct cluster *c);
void daemon_sets_free(struct daemon_sets *p);
struct jobs *jobs_new(struct cluster *c);
void jobs_free(struct jobs *p);
struct cron_jobs *cron_jobs_new(struct cluster *c);
void cron_jobs_free(struct cron_jobs *p);
struct budgets *budgets_new(struct cluster *c);
void budgets_free(struct budgets *p);
