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

/* What the last change of a pod changed. */
enum pod_news {
    POD_IS_NEW = 1 << 0,
    POD_PHASE = 1 << 1,
    POD_READINESS = 1 << 2,
    POD_LEAVES = 1 << 3, /* deletion was asked for */
    POD_LABELS = 1 << 4,
    POD_OWNER = 1 << 5,
    POD_NODE = 1 << 6,
    POD_SPEC = 1 << 7,
    POD_TRACKING = 1 << 8,
    POD_NOMINATION = 1 << 9,
};
/* What controllers of workloads count. */
#define POD_COUNTS (POD_IS_NEW | POD_PHASE | POD_READINESS | POD_LEAVES | POD_LABELS | POD_OWNER | POD_TRACKING)

struct pod_group;

struct pod_link {
    struct pod_group *group;
    struct pod_entry *prev, *next;
};

struct pod_entry {
    str uid;                /* first: the key */
    const struct object *o; /* the current revision, referenced */
    unsigned news;          /* enum pod_news of the last change */
    enum pod_phase phase;
    bool ready;
    bool scheduled;          /* has a node */
    bool relabelled;         /* since its owner last looked: pod_labels_seen() */
    bool labelled, unjudged; /* has the labels of its owner's template; may have others now: pod_set_labelled() */
    bool tracked;            /* has the finalizer of Jobs */
    bool host_network, has_claims, has_gates; /* gates: of readiness */
    bool restarts_always;                     /* spec.restartPolicy */
    int64_t ready_since_ms;                   /* of the Ready condition, while it is true */
    int64_t started_ms;                       /* status.startTime; 0: none */
    int64_t cost;                             /* annotation pod-deletion-cost */
    int32_t restarts;                         /* of the container with the most */
    int64_t generation;
    int64_t grace_s; /* metadata.deletionGracePeriodSeconds, while it is being deleted */
    int64_t run_ms;  /* after how long its containers exit by themselves; negative: never */
    int64_t exit_code;
    struct pod_link by_owner, by_node;
};

struct pod_group {
    str key; /* first */
    struct pod_entry *first, *last;
    uint32_t n;
    /* Of an owner's pods, kept up to date so that nobody walks them to count. */
    uint32_t n_active, n_ready, n_labelled; /* active; of these ready, and with the labels of the template */
    uint32_t n_leaving;                     /* being deleted, not over */
    uint32_t n_relabelled, n_unjudged;
    int64_t template; /* generation of the owner for which `labelled` holds; owner's */
};

void pod_labels_seen(struct pod_entry *e); /* it is relabelled no longer */
void pod_set_labelled(struct pod_entry *e, bool labelled);

struct pods *pods_new(struct cluster *c);
void pods_free(struct pods *p);

struct pod_entry *pods_get(const struct pods *p, str uid);
/* The pod of a change: as it is now, or as it was when it is gone; good until the subscriber returns. */
struct seen;
const struct pod_entry *pods_seen(const struct pods *p, const struct seen *s);
/* NULL when there is none. The group may go when its last pod does. */
struct pod_group *pods_of_owner(const struct pods *p, str uid);
const struct pod_group *pods_of_node(const struct pods *p, str node);
const struct pod_group *pods_without_owner(const struct pods *p, str ns);

const struct owner *controller_of(const struct object *o);           /* NULL: none */
str pod_node(const struct pod_entry *e);                             /* spec.nodeName, may be empty */
struct tree *pod_status(const struct pod_entry *e, struct arena *a); /* to be changed and written */

static inline str pod_nomination(const struct object *o)
{
    return object_field(o, "status.nominatedNodeName");
}

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
