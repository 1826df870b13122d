/* pods - every pod of the cluster with what its parts ask about it, decoded once per change, by owner and by node.
 *
 * An entry lives as long as its pod does. Groups hold their pods in the order in which they came.
 */
#pragma once

#include "base/vec.h"
#include "sim/kube/cluster/table.h"
#include "sim/kube/kube.h"

struct cluster;

enum pod_phase { POD_PENDING, POD_RUNNING, POD_SUCCEEDED, POD_FAILED, POD_UNKNOWN };

struct pod_group;

struct pod_link {
    struct pod_group *group;
    struct pod_entry *prev, *next;
};

struct pod_entry {
    str uid;                /* first: the key */
    const struct object *o; /* the current revision, referenced */
    enum pod_phase phase;
    bool ready;
    bool scheduled;         /* has a node */
    bool relabelled;        /* since its owner last looked; owner's */
    bool tracked;           /* has the finalizer of Jobs */
    int64_t ready_since_ms; /* of the Ready condition, while it is true */
    int64_t started_ms;     /* status.startTime; 0: none */
    int64_t cost;           /* annotation pod-deletion-cost */
    int32_t restarts;       /* of the container with the most */
    struct pod_link by_owner, by_node;
};

struct pod_group {
    str key; /* first */
    struct pod_entry *first, *last;
    uint32_t n;
};

struct pods *pods_new(struct cluster *c);
void pods_free(struct pods *p);

struct pod_entry *pods_get(const struct pods *p, str uid);
/* NULL when there is none. The group may go when its last pod does. */
const struct pod_group *pods_of_owner(const struct pods *p, str uid);
const struct pod_group *pods_of_node(const struct pods *p, str node);
const struct pod_group *pods_without_owner(const struct pods *p, str ns);

const struct owner *controller_of(const struct object *o); /* NULL: none */
str pod_node(const struct pod_entry *e);                   /* spec.nodeName, may be empty */

static inline bool pod_is_over(const struct pod_entry *e)
{
    return e->phase == POD_SUCCEEDED || e->phase == POD_FAILED;
}

static inline bool pod_is_active(const struct pod_entry *e)
{
    return !pod_is_over(e) && e->o->deleted_ms == 0;
}

static inline bool pod_is_available(const struct pod_entry *e, int64_t min_ready_s, int64_t now_ms)
{
    return e->ready && (min_ready_s == 0 || e->ready_since_ms + min_ready_s * 1000 <= now_ms);
}
