/* sched - where a pod goes: kube-scheduler's default filters, scores and preemption, on state of its own.
 *
 * The state is fed with trees of the objects that count (nodes, pods, namespaces, claims, volumes, classes, budgets), each decoded once per change. A
 * decision is a function of that state and of chance; writing it down is scheduler.c's. Nothing here knows the API server, so that
 * filters and scores can be tested with a few lines of YAML.
 *
 * Pods that ask for the same thing share a shape; what pods ask about other pods (spread, affinity) is answered from counts per node that are
 * kept up to date, so a decision looks at nodes and never at all pods.
 */
#pragma once

#include "base/arena.h"
#include "data/tree.h"

struct sched;

struct sched *sched_new(void);
void sched_free(struct sched *s);

/* ---- the state; a tree of NULL removes ---- */

enum sched_news {                       /* what a change may be good for: who waits for which is woken */
                  NEWS_NODE = 1 << 0,   /* a node came, or one became better */
                  NEWS_ROOM = 1 << 1,   /* a pod left a node, or shrank */
                  NEWS_PLACED = 1 << 2, /* a pod has a node now, or changed its labels there */
                  NEWS_VOLUME = 1 << 3,
};

unsigned sched_node(struct sched *s, str name, const struct tree *node);
/* reshaped: what the pod asks for, or its labels, may have changed. */
unsigned sched_pod(struct sched *s, str uid, const struct tree *pod, bool reshaped);
/* A pod that asks for what it asked for before, and is known: what became of it. */
struct pod_course {
    bool leaving, over;
    str node, nominated; /* empty: none */
    int64_t started_ms;  /* 0: not yet */
};
unsigned sched_pod_goes_on(struct sched *s, str uid, const struct pod_course *c);
unsigned sched_namespace(struct sched *s, str name, const struct tree *namespace_);
unsigned sched_claim(struct sched *s, str ns, str name, const struct tree *claim);
unsigned sched_volume(struct sched *s, str name, const struct tree *volume);
unsigned sched_class(struct sched *s, str name, const struct tree *storage_class);
unsigned sched_csi_node(struct sched *s, str name, const struct tree *csi_node);
void sched_budget(struct sched *s, str ns, str name, const struct tree *budget);

/* ---- questions ---- */

enum pod_wants { POD_WANTS_NOTHING, POD_WANTS_NODE, POD_IS_GATED };

struct pod_queueing { /* how it stands in the queue */
    enum pod_wants wants;
    int32_t priority;
    str nominated; /* status.nominatedNodeName as decided here */
};

str sched_where(const struct sched *s, str uid); /* the node it is on, or named before; empty: none */
bool sched_queueing(const struct sched *s, str uid, struct pod_queueing *ret); /* false: no such pod */

/* For every node, by the order of their arrival: whether a daemon's pod may be there: its node affinity fits, the taints of either
 * effect are tolerated. */
struct daemon_fit {
    bool affinity, schedule, execute;
};
void sched_daemon(struct sched *s, const struct tree *pod, void (*fn)(void *ctx, str node, struct daemon_fit fit),
                  void *ctx);
/* Whether a node can reach what spec.nodeAffinity of a volume or allowedTopologies of a class ask for. */
bool sched_volume_reaches(struct sched *s, str volume, str node);

/* ---- decisions ---- */

struct verdict {
    str node;    /* where to; empty: nowhere. Strings live until the next call that changes or decides */
    str message; /* why nowhere: the text of condition and event */
    str nominated;
    const str *victims; /* uids of pods to remove for it */
    uint32_t n_victims;
    unsigned wakes_on;    /* NEWS_… that may help */
    const str *provision; /* names of claims, in the pod's namespace, that are to be bound on the node first */
    uint32_t n_provision;
};

typedef uint64_t (*chance_fn)(void *ctx);

/* Decides for one pod that wants a node. A node that is found counts as taken from here on (sched_assume()); a nominated one is
 * remembered. */
void sched_decide(struct sched *s, str uid, chance_fn chance, void *ctx, struct verdict *ret);
void sched_assume(struct sched *s, str uid, str node); /* empty: no longer */
bool sched_claims_bound(const struct sched *s, str uid);
/* Whether a pod that waits would get through the node's own filters now: a reason to try again. */
bool sched_might_fit(struct sched *s, str uid, str node);
/* Shape of the pod: equal numbers stand for equal wishes, while one of those pods exists. */
uint32_t sched_shape(const struct sched *s, str uid);
