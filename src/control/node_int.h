/* What the controllers of Nodes share. */
#pragma once

#include "base/lru.h"
#include "control/claim_int.h"
#include "control/eviction.h"
#include "control/nodes.h"

#define NODE_DISRUPTED_TAINT "karpenter.sh/disrupted"
#define NODE_NO_BALANCER_LABEL "node.kubernetes.io/exclude-from-external-load-balancers"

#define NODE_BACKOFF_US (100 * 1000)
#define NODE_BACKOFF_MAX_US (10 * 1000 * 1000)

struct nodes {
    struct control *c;
    struct evictions *evictions;
    struct lru waiting;                 /* node.termination's own */
    int64_t drain_began_ms;             /* of the node that came last */
    struct queue *termination, *health; /* health: NULL unless the gate is open and the provider has policies */
};

void termination_register(struct nodes *s);
void health_register(struct nodes *s);

/* The node's claim when there is exactly one. */
bool node_claim_open(struct control *c, struct arena *a, const struct tree *node, struct draft *ret);
struct event_object node_event_object(const struct tree *node);
/* Event FailedDraining, said once in a while; false: there is no such node. */
PRINTF(3, 4) bool node_failed_draining(struct control *c, str node, const char *fmt, ...);
/* The error of the run, as upstream puts them together: "what, why". */
struct result node_error(struct reconcile *r, const struct err *e, const char *what);
