/* nodepool - NodePool, NodeClaim and node class objects. */
#pragma once

#include "model/duration.h"
#include "model/labels.h"
#include "model/quantity.h"
#include "model/taint.h"

enum cond_status { COND_ABSENT, COND_TRUE, COND_FALSE, COND_UNKNOWN };

enum consolidation_policy { CONSOLIDATE_EMPTY_OR_UNDERUTILIZED, CONSOLIDATE_EMPTY, CONSOLIDATE_BALANCED };

enum budget_reason { BUDGET_UNDERUTILIZED = 1, BUDGET_EMPTY = 2, BUDGET_DRIFTED = 4 };

struct budget {
    unsigned reasons; /* enum budget_reason bits; 0: none is listed */
    bool all_reasons; /* the field is absent; an empty list is not the same (quirk, lifecycle 8.6) */
    str nodes;        /* "10%" or "3" */
    str schedule;     /* empty: always */
    int64_t duration_ns;
    bool has_duration;
};

struct annotation {
    str key, val;
};

struct nodeclass_ref {
    str group, kind, name;
};

/* spec.template: what every NodeClaim of the pool starts from. Presence of empty maps and lists matters to the hash. */
struct claim_template {
    lset_id labels;
    struct annotation *annotations;
    uint32_t n_annotations;
    struct taints taints, startup_taints;
    struct req_expr *requirements;
    uint32_t n_requirements;
    struct nodeclass_ref class_ref;
    int64_t expire_after_ns;      /* DURATION_NEVER */
    int64_t termination_grace_ns; /* valid when has_termination_grace */
    bool has_termination_grace;
    bool has_labels, has_annotations, has_taints, has_startup_taints;
};

struct nodepool {
    str name, uid;
    sym name_sym;
    struct claim_template tmpl;
    struct reslist limits;
    bool has_limits;
    int32_t weight; /* 0 when unset */
    int64_t replicas;
    bool is_static; /* spec.replicas is set */
    bool deleting;
    enum cond_status ready;
    enum cond_status registers;   /* condition NodeRegistrationHealthy */
    int64_t consolidate_after_ns; /* DURATION_NEVER */
    enum consolidation_policy policy;
    struct budget *budgets;
    uint32_t n_budgets;
    struct annotation *annotations; /* of the object: nodepool-hash, … */
    uint32_t n_annotations;
};

struct nodeclaim {
    str name, uid, provider_id, node_name, image_id;
    int64_t created_ms;
    lset_id labels;
    struct annotation *annotations;
    uint32_t n_annotations;
    struct taints taints, startup_taints;
    struct req_expr *requirements;
    uint32_t n_requirements;
    struct reslist requests, capacity, allocatable;
    struct nodeclass_ref class_ref;
    bool deleting;
    enum cond_status launched, registered, initialized, consolidatable, drifted, instance_terminating;
    enum cond_status disruption_reason;                    /* True: a command of disruption has the node */
    int64_t initialized_ms, drifted_ms, last_pod_event_ms; /* INT64_MIN when unknown */
    int64_t expire_after_ns;
    int64_t termination_grace_ns;
    bool has_termination_grace;
};

struct nodeclass {
    str group, kind, name;
    bool deleting;
    enum cond_status ready;
    str ready_message; /* of that condition */
    struct annotation *annotations;
    uint32_t n_annotations;
    int64_t registration_delay_ns; /* KWOKNodeClass: how long after a launch the Node appears */
};

/* The value of annotation karpenter.sh/nodepool-hash, bit-exact (scheduling 2.11). */
uint64_t nodepool_hash(const struct claim_template *t, const struct syms *syms);

/* When the node has been left alone for its pool's consolidateAfter: until then it is inside the window, and takes part
 * in no consolidation (lifecycle 1.4). INT64_MIN when it is in none. */
int64_t nodeclaim_settled_ms(const struct nodepool *p, const struct nodeclaim *c);

/* The part of its life that the claim has before it, 0 to 1 (lifecycle 1.4). */
double nodeclaim_lifetime_left(const struct nodeclaim *c, int64_t now_ms);

/* The value of an annotation; empty when it is not there. */
str annotation_value(const struct annotation *v, uint32_t n, const char *key);
/* What the schema cannot say: restricted labels, taints that occur twice, requirements that make no sense (scheduling 2.9). */
bool claim_template_validate(const struct claim_template *t, const struct label_rules *rules, const struct syms *syms,
                             struct err *e);
/* "karpenter.k8s.aws/ec2nodeclass": the label that carries the class' name on NodeClaims and Nodes. */
str nodeclass_label(struct arena *a, const struct nodeclass_ref *r);
/* Copies that live in the arena and point nowhere else. */
struct nodeclaim *nodeclaim_dup(struct arena *a, const struct nodeclaim *c);
struct nodeclass *nodeclass_dup(struct arena *a, const struct nodeclass *k);
/* The class that is meant, or NULL. */
const struct nodeclass *nodeclass_find(const struct nodeclass *v, uint32_t n, const struct nodeclass_ref *r);
