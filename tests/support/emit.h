/* emit - writes Kubernetes objects as compact JSON, one per line, the way an API server would hand them out.
 *
 * Shared by the workload generator and by the random clusters of the property tests. Everything variable comes
 * from the caller's generator of random numbers, so that one seed gives one byte sequence. Fragments (`labels`,
 * `spec`, …) are JSON text without the surrounding braces; NULL means none.
 */
#pragma once

#include <stdio.h>

#include "base/rng.h"

#define EMIT_KWOK_CLASS                                                                                                \
    "\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"}"
#define EMIT_EC2_CLASS                                                                                                 \
    "\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\",\"kind\":\"EC2NodeClass\",\"name\":\"default\"}"

struct emitter {
    FILE *out;
    struct rng rng; /* identities only: the content of a workload never depends on how many objects came before */
    uint64_t n_objects;
};

struct emit_pod {
    const char *ns; /* "default" when NULL */
    const char *name;
    const char *labels, *annotations;
    const char *spec;       /* further members of spec */
    const char *container;  /* further members of the only container */
    const char *node;       /* bound there and running; NULL: pending */
    const char *daemonset;  /* its owner */
    const char *replicaset; /* its owner; one of the two */
    const char *status;     /* further members of status */
    uint32_t cpu_m, mem_mi; /* 0: no such request */
    const char *requests;   /* further resource requests */
};

struct emit_pool {
    const char *name;
    const char *requirements; /* JSON objects, separated by commas */
    const char *labels, *taints, *startup_taints, *limits;
    const char
        *disruption; /* members of spec.disruption; NULL: consolidation at once, a tenth of the nodes at a time */
    const char *annotations; /* of the NodePool */
    const char *spec;        /* further members of spec */
    uint32_t weight;         /* 0: unset */
    bool ec2;                /* nodeClassRef of the AWS provider instead of kwok's */
};

struct emit_node {
    const char *name, *pool;
    const char *type, *zone, *capacity_type, *arch;
    const char *labels; /* further ones, with the type's own */
    const char *taints, *startup_taints;
    const char *capacity, *allocatable; /* resource lists */
    const char *annotations;            /* of the Node */
    const char *claim_spec;             /* further members of the NodeClaim's spec */
    const char *claim_status;           /* … and of its status */
    const char *conditions;             /* further conditions of the NodeClaim */
    bool not_ready;                     /* the Node's Ready condition is False */
    bool unmanaged;                     /* a Node without a NodeClaim and without Karpenter's labels */
    bool claim_only;                    /* in flight: a launched NodeClaim without a Node */
    bool uninitialized;                 /* registered, not initialized */
    bool deleting;                      /* the NodeClaim is on its way out */
};

void emit_init(struct emitter *e, FILE *out, uint64_t seed);
void emit_uid(struct emitter *e, char ret_uid[37]);
/* `"name":"…","uid":"…","creationTimestamp":"…"` of the next object. */
void emit_meta(struct emitter *e, const char *ns, const char *name);
void emit_pod(struct emitter *e, const struct emit_pod *p);
void emit_pool(struct emitter *e, const struct emit_pool *p);
void emit_node(struct emitter *e, const struct emit_node *n);
void emit_daemonset(struct emitter *e, const struct emit_pod *p);
/* `spec`: minAvailable or maxUnavailable; the selector is one label. */
void emit_pdb(struct emitter *e, const char *ns, const char *name, const char *label, const char *value,
              const char *spec, uint32_t disruptions_allowed);
/* A condition of a NodeClaim that is True since the time given, for emit_node.conditions. */
#define EMIT_CONDITION(type, reason, since)                                                                            \
    "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"" reason                                                  \
    "\",\"message\":\"\",\"lastTransitionTime\":\"" since "\"}"
/* A bound claim and its volume; zone NULL: the volume can be attached anywhere. */
void emit_volume(struct emitter *e, const char *ns, const char *name, const char *driver, const char *zone);
