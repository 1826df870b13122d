/* What the controllers of NodeClaims and NodePools share. Each has a file of its own: what it decides is a function on trees and structs, and a register function
 * adds its queue and its ears. */
#pragma once

#include "base/htab.h"
#include "control/claims.h"
#include "control/metrics.h"
#include "control/write.h"
#include "k8s/encode.h"

#define GROUP "karpenter.sh"
#define TERMINATION_FINALIZER "karpenter.sh/termination"
#define POOL_LABEL "karpenter.sh/nodepool"
#define ZONE_LABEL "topology.kubernetes.io/zone"
#define ITYPE_LABEL "node.kubernetes.io/instance-type"
#define CAPACITY_LABEL "karpenter.sh/capacity-type"
#define REGISTERED_LABEL "karpenter.sh/registered"
#define INITIALIZED_LABEL "karpenter.sh/initialized"
#define NO_TAINT_SYNC_LABEL "karpenter.sh/do-not-sync-taints"
#define UNREGISTERED_TAINT "karpenter.sh/unregistered"
#define HASH_ANNOTATION "karpenter.sh/nodepool-hash"
#define HASH_VERSION_ANNOTATION "karpenter.sh/nodepool-hash-version"
#define HASH_VERSION "v3"
#define TERMINATION_TIME_ANNOTATION "karpenter.sh/nodeclaim-termination-timestamp"

#define MINUTE_MS (60 * 1000ll)

/* A machine that was bought for a claim, until the claim says so itself. */
struct launch {
    struct arena *arena;
    struct machine machine;
};

/* What is known of a claim only here. Forgotten with the claim. */
struct claim_note {
    struct htab_node node; /* by uid */
    struct launch *launch; /* NULL: none, or written down */
    int64_t scanned_ms;    /* nodeclaim.consistency; INT64_MIN: never */
    int64_t type_found_ms; /* its instance type was there; INT64_MIN: never */
    bool expired;          /* and deleted for it */
    /* Digests of what was looked at when nothing was found to do: the same again need not be looked at. 0: something was. */
    uint64_t lived;      /* nodeclaim.lifecycle: the claim */
    uint64_t consistent; /* nodeclaim.consistency: the claim, with a Node that is as promised */
    uint64_t judged;     /* nodeclaim.disruption: the claim, and what was decided */
    uint64_t met;        /* nodeclaim.disruption: the claim and its pool, whose requirements it meets */
};

#define HEALTH_SAMPLES 4u

/* The last registrations of a pool's nodes. */
struct pool_note {
    struct htab_node node; /* by uid */
    bool failed[HEALTH_SAMPLES];
    uint32_t n, at;           /* samples, and where the next goes */
    int64_t noted_generation; /* old spellings have been told of up to here */
    uint64_t counted_at;      /* store_changes() when its sums were right; 0: never */
};

struct claims {
    struct control *c;
    struct htab notes;      /* struct claim_note */
    struct htab pool_notes; /* struct pool_note */
    struct queue *lifecycle, *disruption, *podevents, *expiration, *consistency, *hydration, *node_hydration;
    struct queue *static_up, *static_down; /* NULL: the gate is closed */
    bool static_synced;
    struct queue *counter, *hash, *readiness, *health, *validation;
};

struct claim_note *claim_note(struct claims *s, str uid); /* made if need be; good until the claim is gone */

/* ---- what they have in common ---- */

/* The claim if it is there and ours, without its text. */
const struct kept *claim_meta(struct claims *s, str name);
/* Opens the claim if it is there and ours. */
bool claim_open(struct draft *d, struct claims *s, struct reconcile *r);
bool pool_open(struct draft *d, struct claims *s, struct reconcile *r);
/* With the Node, if the claim has one; and with its provider-id. Which of the two a controller logs with is upstream's. */
struct log *claim_log(struct arena *a, const struct log *l, const struct tree *claim);
struct log *machine_log(struct arena *a, const struct log *l, const struct tree *claim);
/* The node class that the claim names: "group/kind/name" of the store. */
str class_name_of(struct arena *a, const struct nodeclass_ref *r);
/* The Node of this machine when there is exactly one; otherwise an empty name. *ret_several: there are more. */
str claim_node_name(struct claims *s, str provider_id, bool *ret_several);
/* Puts every claim that this event of a Node or a NodeClaim is about into the queue. */
void claims_queue_by_node(struct claims *s, struct queue *q, const struct store_event *ev);
bool claim_names_class(struct claims *s, str claim, str class); /* class: "group/kind/name" */
/* The same for pools: events of a pool, or of a node class that it names. */
void pools_queue_by_class(struct claims *s, struct queue *q, const struct store_event *ev);
struct queue *claims_controller(struct claims *s, const char *name,
                                reconcile_fn fn); /* with the workers that most have */
struct queue *pools_controller(struct claims *s, const char *name, reconcile_fn fn);
void claims_count_disrupted(struct claims *s, const struct tree *claim, const char *reason);
struct event_object claim_event_object(const struct tree *claim);
/* 300 bytes and three dots (lifecycle 1.5). */
str error_text(struct arena *a, const char *msg);
void err_lead(struct err *e, const char *what); /* "what, …": how Karpenter's own errors are put together */
/* Adds to the errors of the run. */
void reconcile_fail(struct reconcile *r, const struct err *e);
bool taint_tree_is(const struct tree *taint, str key, str effect);

/* ---- nodeclaim.lifecycle: one pass over one claim ---- */

struct visit {
    struct claims *s;
    struct control *c;
    struct reconcile *r;
    struct log *log;
    struct draft d; /* the claim */
    struct result result;
};

void visit_add(struct visit *p, struct result res);                    /* lifecycle 0.2, min-result */
bool visit_delete(struct visit *p, const char *reason, struct err *e); /* the claim; counted */

void launch_run(struct visit *p);
void register_run(struct visit *p);
void initialize_run(struct visit *p);
void liveness_run(struct visit *p);
struct result finalize_run(struct visit *p);

void launch_free(struct launch *l);
/* What was bought becomes part of the claim. */
void claim_populate(struct arena *a, const struct syms *t, struct tree *claim, const struct machine *m);
/* What the Node takes over from its claim, and what tells that it is registered. */
void node_sync(struct arena *a, struct tree *node, const struct tree *claim);
bool node_has_taint(const struct tree *node, str key, str effect);
void node_set_registered(struct arena *a, struct tree *node);

struct obstacle {
    const char *reason; /* NULL: none */
    str message;
};

/* Why the Node cannot be used yet. node NULL: there is none, or several. */
struct obstacle initialize_obstacle(struct arena *a, const struct syms *t, const struct nodeclaim *c,
                                    const struct node *n);

enum liveness { LIVE_WELL, LIVE_WAIT, LIVE_NOT_LAUNCHED, LIVE_NOT_REGISTERED };

/* Whether the claim has waited long enough; LIVE_WAIT: *ret_left_ms to go. after_launch: the launch has been given up in this pass already. */
enum liveness liveness_decide(const struct tree *claim, int64_t launch_timeout_ms, bool after_launch, int64_t now_ms,
                              int64_t *ret_left_ms);

/* ---- registration health of pools ---- */

enum pool_health { HEALTH_UNKNOWN, HEALTH_GOOD, HEALTH_BAD };

struct pool_note *pool_note(struct claims *s, str uid);
enum pool_health pool_health_of(const struct pool_note *n);
enum pool_health pool_health_with(const struct pool_note *n, bool failed); /* with one more sample */
void pool_health_add(struct pool_note *n, bool failed);
/* Writes the condition of the claim's pool, if that changes it, and remembers the outcome. */
bool pool_health_report(struct claims *s, struct arena *a, const struct tree *claim, bool failed, struct err *e);

/* ---- other decisions ---- */

/* Each changes the object and says whether it did. */
bool readiness_decide(const struct cond_object *pool, const struct tree *class);
bool hash_adopt_claim(struct arena *a, struct tree *claim, str hash);
bool drift_by_hash(const struct nodepool *p, const struct nodeclaim *c);
struct result consolidatable_decide(const struct cond_object *conds, const struct nodepool *p,
                                    const struct nodeclaim *c, bool *ret_marked);
bool podevent_counts(const struct pod *was, const struct pod *is);
bool podevent_decide(struct arena *a, struct tree *claim, int64_t last_ms, int64_t now_ms);
int64_t expiration_left_ms(const struct nodeclaim *c, int64_t now_ms);
str *consistency_issues(struct arena *a, const struct syms *t, const struct nodeclaim *c, const struct node *n,
                        uint32_t *ret_n);
/* How many claims a static pool lacks, or has too many (negative). *ret_limited: it lacks some, and its limit lets it have none. */
int64_t static_decide(const struct nodepool *p, struct pool_census v, bool *ret_limited);
/* The event of a NodePool is one that such pools are looked at for: it is new, its spec has changed, or it has become ready. */
bool static_is_news(const struct store_event *ev);
void counter_decide(struct arena *a, const struct syms *t, struct tree *pool, const struct reslist *usage);

/* ---- each controller ---- */

void claim_lifecycle_register(struct claims *s);
void claim_disruption_register(struct claims *s);
void claim_podevents_register(struct claims *s);
void claim_expiration_register(struct claims *s);
void claim_gc_register(struct claims *s);
void claim_consistency_register(struct claims *s);
void claim_static_register(struct claims *s);
void hydration_register(struct claims *s);
void pool_counter_register(struct claims *s);
void pool_hash_register(struct claims *s);
void pool_readiness_register(struct claims *s);
void pool_health_register(struct claims *s);
void pool_validation_register(struct claims *s);
