/* deployment - one Deployment that is being looked at, with its ReplicaSets; deployment.c decides, deployment_sets.c edits sets,
 * deployment_status.c reports. */
#pragma once

#include "sim/kube/cluster/workload.h"

struct replica_set { /* of the Deployment, as it is now */
    const struct object *o;
    struct reading *reading;
    struct tree *annotations;                 /* as they are to be: a copy */
    const struct tree *status;                /* NULL: none */
    int64_t replicas, revision, desired, max; /* spec.replicas; annotations, 0: none */
    int64_t n, ready, available, terminating; /* status */
    bool settled;                             /* its controller has seen the current generation */
    bool failed;                              /* cannot create pods */
};

struct rollout {
    struct subject s;
    struct tree *annotations; /* of the Deployment, as they are to be: a copy */
    struct work *q;
    int64_t replicas, max_surge, max_unavailable, min_ready_s;
    int64_t deadline_s; /* progressDeadlineSeconds; INT32_MAX: none */
    bool paused, recreate;
    struct replica_set *sets; /* oldest first */
    uint32_t n;
    struct replica_set *fresh; /* the one with the Deployment's template; NULL: none yet */
};

static inline bool is_orphan(const struct object *set)
{
    return !controller_of(set) && !set->deleted_ms;
}

/* orphans: there are sets that nobody controls, some of which may be its own. */
bool rollout_begin(struct rollout *r, struct cluster *c, str key, bool orphans);
void rollout_end(struct rollout *r);

static inline bool rollout_has_deadline(const struct rollout *r)
{
    return r->deadline_s != INT32_MAX;
}

int64_t rollout_total(const struct rollout *r, bool old_only);     /* spec.replicas of the sets */
int64_t rollout_available(const struct rollout *r, bool old_only); /* status.availableReplicas */

/* Finds the set of the current template and brings its annotations up to date; makes it when there is none and `create`. false: it was
 * written, or cannot be: the next look goes on. */
bool rollout_fresh(struct rollout *r, bool create);
bool rollout_scale(struct rollout *r, struct replica_set *rs, int64_t to); /* true: something was written */
void rollout_cleanup(struct rollout *r);                                   /* revisionHistoryLimit */

/* status.conditions Progressing */
void rollout_progress(struct rollout *r, str status, str reason, str message);
bool rollout_complete(const struct rollout *r);
bool rollout_paused_condition(struct rollout *r); /* true: it was written */
void rollout_status(struct rollout *r);           /* with progress, unless it is paused */
