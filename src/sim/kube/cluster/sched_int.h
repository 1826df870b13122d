/* sched_int - the state behind sched.h. Read the structs top to bottom: shapes, counts, nodes, pods. */
#pragma once

#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "model/labels.h"
#include "model/taint.h"
#include "sim/kube/cluster/sched.h"
#include "sim/kube/cluster/table.h"

#define NONE UINT32_MAX

/* ---- resources: cpu in milli, all else in whole units, rounded up ---- */

enum { RES_CPU, RES_MEMORY, RES_EPHEMERAL, RES_N };

struct extended {
    sym name;
    int64_t v;
};

struct amounts {
    int64_t v[RES_N];
    struct extended *ext; /* sorted by symbol */
    uint32_t n_ext;
};

struct port {
    sym protocol, ip; /* ip SYM_NONE: every address */
    int32_t port;
};

/* ---- what pods ask about other pods ---- */

/* Pods of some namespaces with some labels. */
struct whom {
    sym *namespaces; /* sorted */
    uint32_t n_namespaces;
    struct selector in_namespaces; /* of the namespaces' labels; not present: by name only */
    struct selector pods;
};

/* How many pods that match all of `whom` are on each node. Shared by all shapes that ask the same; goes with the last. */
struct tally {
    str key; /* first: canonical text */
    struct whom *whom;
    uint32_t n_whom;
    bool skip_leaving; /* pods that are being deleted do not count: topology spread */
    bool by_owner;     /* instead: pods of one controller */
    uint16_t *on_node; /* [node_cap] */
    uint32_t total, refs;
    uint32_t at;         /* in sched.tallies or sched.owners */
    VEC(uint8_t) shapes; /* by shape number: 0 not known, 1 no, 2 yes */
    struct arena *a;
};

enum holds { HOLDS_ANTI, HOLDS_AFFINITY, HOLDS_PREFERENCE };

/* How many pods on each node have this term of (anti-)affinity: others must or would rather keep away or come close. */
struct holder {
    str key; /* first */
    enum holds what;
    struct whom whom;
    sym topology;
    int32_t weight; /* HOLDS_PREFERENCE: negative for anti-affinity; HOLDS_AFFINITY: 1 */
    uint16_t *on_node;
    uint32_t total, refs;
    uint32_t at;
    VEC(uint8_t) shapes;
    struct arena *a;
};

struct topology { /* the values of one label over the nodes */
    sym key;
    uint32_t *domain; /* [node_cap]: dense number of the value; NONE */
    struct u64map number;
    uint32_t n;
};

/* ---- shapes ---- */

struct node_term {
    struct selector labels;
    sym *names; /* matchFields metadata.name In */
    uint32_t n_names;
    bool never; /* empty, or fields that nobody knows: matches no node */
    int32_t weight;
};

struct spread {
    sym key;
    uint32_t topology; /* in sched.topologies */
    int32_t max_skew, min_domains;
    bool hard, honor_affinity, honor_taints, self;
    struct tally *tally;
};

struct affinity_term {
    sym key;
    uint32_t topology;
    struct tally *tally;
    int32_t weight;
};

struct shape {
    str key; /* first: canonical text of everything below */
    uint32_t id, refs;
    struct arena *a;
    sym ns;
    lset_id labels;
    int32_t priority;
    bool never_preempts, gated, ours; /* ours: asks for the default scheduler */
    bool best_effort;                 /* asks for no cpu and memory */
    struct amounts asks;
    int64_t scored[2]; /* cpu and memory for scores: what does not ask is taken to need a little */
    struct selector node_selector;
    struct node_term *required; /* any of them */
    uint32_t n_required;
    bool has_required;
    struct node_term *preferred;
    uint32_t n_preferred;
    struct tolerations tolerations;
    struct port *ports;
    uint32_t n_ports;
    struct spread *spreads;
    uint32_t n_spreads, n_hard;
    struct affinity_term *affinity, *anti, *likes; /* required, required, preferred */
    uint32_t n_affinity, n_anti, n_likes;
    struct tally *all_affinity; /* pods that match all terms of required affinity */
    bool affine_to_itself;
    struct holder **holders;
    uint32_t n_holders;
};

/* ---- nodes and pods ---- */

struct snode {
    sym name;
    bool live, unschedulable;
    lset_id labels;
    struct taints taints;
    struct amounts alloc, used;
    int64_t scored[2], pods_alloc;
    VEC(struct spod *) pods, nominated;
    int32_t least; /* no pod there has a lower priority */
    struct arena *a;
};

struct scsi { /* how many volumes of a driver a node can have */
    str key;  /* first: name of the node */
    struct driver_limit {
        sym driver;
        int64_t n;
    } * limits;
    uint32_t n;
    struct arena *a;
};

struct spod {
    str uid; /* first: the key */
    struct shape *shape;
    struct tally *owner; /* pods of its ReplicaSet or StatefulSet: spread a little by default; NULL: none */
    uint32_t node;       /* where it is or will be; NONE */
    uint32_t assumed;    /* decided here, not written yet; NONE */
    uint32_t nominated;
    bool leaving, over;
    int64_t started_ms;
    sym *claims; /* names */
    uint32_t n_claims;
    sym fixed; /* spec.nodeName */
};

struct sclaim {
    str key;                     /* first: "ns/name" */
    sym volume, class, selected; /* selected: the node it is to be bound on */
    bool bound, lost, once_pod;
    int64_t size;
    uint32_t modes; /* bit set: RWO, ROX, RWX, RWOP */
};

struct svolume {
    str key; /* first: name */
    sym class, driver, handle;
    bool available;
    sym claim_ns, claim; /* claimRef */
    int64_t size;
    uint32_t modes;
    struct node_term *terms;
    uint32_t n_terms;
    bool has_terms;
    struct selector zones; /* labels of zone and region */
    struct arena *a;
};

struct sclass {
    str key; /* first: name */
    sym provisioner;
    bool waits, provisions;
    struct node_term *topologies;
    uint32_t n_topologies;
    struct arena *a;
};

struct sbudget {
    str key; /* first: "ns/name" */
    sym ns;
    struct selector pods;
    int64_t allowed;
    struct arena *a;
};

struct sched {
    struct syms *syms;
    struct arena *tmp; /* one decision or one decoding */
    VEC(struct snode) nodes;
    VEC(uint32_t) order; /* live nodes */
    VEC(uint32_t) free_nodes;
    struct u64map node_of; /* symbol of the name -> number */
    uint32_t node_cap, next_start;
    struct table pods, shapes, tallies_by_key, holders_by_key;
    VEC(struct tally *) tallies, owners; /* by selector; by controller */
    VEC(struct holder *) holders;
    VEC(struct topology) topologies;
    VEC(uint32_t) free_shapes;
    uint32_t n_shapes;
    struct u64map ns_labels; /* symbol -> label set + 1 */
    struct table claims, volumes, classes;
    VEC(struct svolume *) volume_list; /* by name */
    VEC(struct sbudget *) budgets;
    struct table csi_nodes;
    VEC(struct spod *) strays; /* name a node that is not there */
};

/* sched_shape.c */
struct shape *pod_shape(struct sched *s, const struct tree *pod);
void shape_unref(struct sched *s, struct shape *p);
bool node_terms_match(const struct sched *s, const struct node_term *t, uint32_t n, const struct snode *node);
bool shape_fits_labels(const struct sched *s, const struct shape *p, const struct snode *n);
/* The first taint of an effect that matters to filters and is not tolerated. */
const struct taint *untolerated(const struct sched *s, const struct shape *p, const struct snode *n, bool execute_only);
struct amounts amounts_of(struct sched *s, struct arena *a, const struct tree *list);

/* sched_decode.c */
void decode_selector(struct sched *s, struct arena *a, const struct tree *t,
                     struct selector *ret); /* a LabelSelector */
void decode_node_terms(struct sched *s, struct arena *a, const struct tree *list, struct node_term **ret,
                       uint32_t *ret_n);
bool decode_node_term(struct sched *s, struct arena *a, const struct tree *t, struct node_term *ret);
lset_id decode_labels(struct sched *s, const struct tree *map);
sym decode_sym(struct sched *s, const struct tree *t);

/* sched_counts.c */
struct tally *tally_of(struct sched *s, const struct whom *whom, uint32_t n, bool skip_leaving);
struct tally *tally_of_owner(struct sched *s, str uid);
void tally_unref(struct sched *s, struct tally *t);
struct holder *holder_of(struct sched *s, enum holds what, const struct whom *whom, sym topology, int32_t weight);
void holder_unref(struct sched *s, struct holder *h);
bool tally_matches(struct sched *s, struct tally *t, const struct shape *p);
bool holder_matches(struct sched *s, struct holder *h, const struct shape *p);
void counts_add(struct sched *s, struct spod *p, uint32_t node, int sign);
void counts_grow(struct sched *s, uint32_t cap);
void counts_forget_shape(struct sched *s, uint32_t id);
void counts_recount(struct sched *s); /* namespaces changed */
uint32_t topology_of(struct sched *s, sym key);
void topologies_node(struct sched *s, uint32_t node);

/* sched_state.c */
void pod_place(struct sched *s, struct spod *p, uint32_t node); /* counts it there; NONE: takes it away */
uint32_t node_find(const struct sched *s, str name);

/* ---- one decision ---- */

enum why {
    WHY_FITS,
    WHY_UNSCHEDULABLE,
    WHY_NODE_NAME,
    WHY_TAINT,
    WHY_NODE_AFFINITY,
    WHY_PREFILTERED,
    WHY_PORTS,
    WHY_PODS,
    WHY_RESOURCE, /* with a symbol */
    WHY_ONCE_POD,
    WHY_VOLUME_LIMIT,
    WHY_VOLUME_NODE,
    WHY_VOLUME_BIND,
    WHY_VOLUME_ZONE,
    WHY_SPREAD_LABEL,
    WHY_SPREAD,
    WHY_AFFINITY,
    WHY_ANTI,
    WHY_EXISTING_ANTI,
    WHY_NO_VICTIMS,
    WHY_NOT_HELPFUL,
};

struct reasons {
    VEC(struct reason {
        enum why why;
        sym resource;
        uint32_t n;
    })
    v;
};

struct domain_counts { /* one constraint of the pod: pods per domain */
    int32_t *n;        /* [topology.n] */
    bool *eligible;
    int32_t min;
};

struct attempt {
    struct sched *s;
    struct spod *pod;
    const struct shape *p;
    struct reasons why;
    uint8_t *verdicts; /* by node: 0 not looked at, 1 fits, 2 may be helped by preemption, 3 not */
    /* answers about other pods, computed once */
    struct domain_counts *spread; /* [n_spreads] hard ones */
    int32_t **affinity, **anti;   /* [term][domain] */
    bool affinity_anywhere;
    struct forbidden { /* by existing pods' anti-affinity */
        uint32_t topology;
        bool *domain;
    } * forbidden;
    uint32_t n_forbidden;
    bool asks_others; /* any of the above */
    uint32_t *feasible;
    uint32_t n_feasible;
    int64_t *scores;
};

void reason_add(struct reasons *r, enum why why, sym resource);
void reasons_print(const struct sched *s, struct sb *b, const struct reasons *r, uint32_t n_nodes);

/* sched_filter.c */
void attempt_begin(struct attempt *t, struct sched *s, struct spod *pod);
void attempt_count_others(struct attempt *t); /* again, after pods were moved */
/* Runs the filters; resolvable: whether removing pods could help. Reasons are noted when `note`. */
bool filter(struct attempt *t, uint32_t node, bool note, bool *ret_resolvable);

/* sched_spread.c, sched_affinity.c */
void spread_count(struct attempt *t);
enum why spread_filter(const struct attempt *t, uint32_t node);
void spread_score(struct attempt *t, int64_t *total, int64_t weight);
void affinity_count(struct attempt *t);
enum why affinity_filter(const struct attempt *t, uint32_t node);
void affinity_score(struct attempt *t, int64_t *total, int64_t weight);

/* sched_score.c */
void score_all(struct attempt *t);

/* sched_volumes.c */
void volumes_fini(struct sched *s);
bool volumes_prefilter(const struct attempt *t, struct sb *ret_message);
enum why volumes_filter(const struct attempt *t, uint32_t node);
void volumes_to_bind(const struct attempt *t, const str **ret, uint32_t *ret_n);

/* sched_preempt.c */
bool preempt(struct attempt *t, struct verdict *ret, struct sb *message);
