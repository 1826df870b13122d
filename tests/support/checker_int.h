/* checker_int - what the files of the checker share; see checker.h. Nothing else includes this. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "checker.h"
#include "data/tree.h"

#define K_ZONE "topology.kubernetes.io/zone"
#define K_HOST "kubernetes.io/hostname"
#define K_CT "karpenter.sh/capacity-type"
#define K_NP "karpenter.sh/nodepool"
#define K_ITYPE "node.kubernetes.io/instance-type"
#define K_ARCH "kubernetes.io/arch"
#define K_OS "kubernetes.io/os"
#define K_REGISTERED "karpenter.sh/registered"
#define K_INITIALIZED "karpenter.sh/initialized"
#define K_RESERVATION "karpenter.kwok.sh/reservation-id"

#define K_DISRUPTED "karpenter.sh/disrupted"
#define K_DO_NOT_DISRUPT "karpenter.sh/do-not-disrupt"

#define MAX_RES 24 /* resource names in one cluster */
#define NONE UINT32_MAX

typedef __int128 quantity; /* in units of 10^-9 */

struct rvec {
    quantity v[MAX_RES];
};

/* One requirement: a set of strings or the complement of one, with integer bounds. */
struct creq {
    str key;
    bool open; /* complement: everything but `vals` */
    str *vals;
    uint32_t n_vals;
    int64_t gte, lte; /* INT64_MIN, INT64_MAX when absent */
    int64_t min_values;
};

struct creqs {
    struct creq *v;
    uint32_t n;
};

struct ctaint {
    str key, value, effect;
};

struct ctaints {
    struct ctaint *v;
    uint32_t n;
};

struct ctoleration {
    str key, value, effect, op;
};

struct clabel {
    str key, value;
};

struct clabels {
    struct clabel *v;
    uint32_t n;
};

struct cselector {
    bool nil;
    struct creq *v; /* In, NotIn, Exists, DoesNotExist as plain requirements */
    uint32_t n;
};

struct cport {
    str ip, proto;
    int64_t port;
};

enum group_kind { SPREAD, AFFINITY, ANTI_AFFINITY };

/* A constraint that pods share: whom it selects and over which key it counts. */
struct group {
    enum group_kind kind;
    str key;
    bool host_key;
    str *namespaces; /* sorted */
    uint32_t n_namespaces;
    struct cselector selector, ns_selector;
    int64_t max_skew, min_domains;
    bool honor_affinity, honor_taints;
    uint8_t *known; /* domains that some pool provides, by number; made when first needed */
    uint32_t n_known;
    bool unclear;         /* upstream's sharing of groups makes the end state say nothing: not judged */
    uint32_t first_owner; /* a shape that carries it */
    bool pod_domains_set; /* some owner restricts the key itself */
    uint32_t first_count; /* chain through counts[] */
    uint64_t anywhere;    /* matching pods whose domain is not known */
};

/* Pods that scheduling cannot tell apart. */
struct shape {
    str ns;
    struct clabels labels;
    struct creqs *terms; /* node selector with each required node-affinity term */
    uint32_t n_terms;
    struct creqs *preferred; /* preferred node-affinity terms by themselves */
    uint32_t n_preferred;
    struct ctoleration *tolerations;
    uint32_t n_tolerations;
    struct cport *ports;
    uint32_t n_ports;
    str *claims; /* ns/name of PersistentVolumeClaims */
    uint32_t n_claims;
    uint32_t *owns, n_owns;       /* groups */
    uint32_t *matches, n_matches; /* groups that select it, filled in late */
    struct rvec requests;         /* with pods: 1 */
    bool match_fields;
    bool unresolved; /* its volumes could not be looked up: planned as if it had none, outside topology */
};

/* Moving: on a node that is going away already. Leaving: on one that a command takes away. */
enum pod_role { POD_PENDING, POD_BOUND, POD_MOVING, POD_LEAVING, POD_OTHER };

struct cpod {
    str id; /* namespace/name */
    uint32_t shape, host;
    uint32_t next; /* on the same host */
    uint8_t role;
    bool daemon, counted; /* counted: alive and not terminating */
    uint8_t seen;
    bool mirror, stateful, unready;
    bool guarded;    /* do-not-disrupt is in force */
    bool weightless; /* evicting it costs nothing: priority or deletion cost are that low */
};

struct cpdb {
    str ns, name;
    struct cselector selector;
    bool always_unhealthy;
    bool never;   /* as written it allows no eviction, ever */
    bool counted; /* status says how many it allows */
    int64_t allowed;
};

struct cbudget {
    str nodes, schedule;
    str *reasons;
    uint32_t n_reasons;
    bool any_reason; /* the list is absent */
    bool has_duration;
    int64_t duration_ms;
};

struct coffering {
    struct creqs reqs;
    double price;
    bool available;
    int64_t reservation_capacity;
};

struct ctype {
    str name;
    struct creqs reqs;
    struct rvec capacity, allocatable;
    struct coffering *offerings;
    uint32_t n_offerings;
};

struct cpool {
    str name, class_id;
    struct creqs reqs; /* spec, template labels, and what every node of the pool carries */
    struct ctaints taints;
    struct rvec limits;
    uint32_t limited; /* bit per resource */
    int64_t node_limit;
    bool usable, has_min_values;
    struct rvec used;
    int64_t nodes;
    struct creqs written;  /* spec.template.spec.requirements alone */
    bool is_static, never; /* never: consolidateAfter */
    int64_t consolidate_after_ms;
    str policy, hash, hash_version;
    struct cbudget *budgets;
    uint32_t n_budgets;
    int64_t counted, disrupting; /* nodes that budgets look at; of these going away or not ready */
    struct rvec *overhead;       /* per type, made when first needed */
    uint64_t *daemon_sets;       /* per type: bit per daemon */
};

struct cnode {
    str name, hostname;
    str claim_name, node_name, provider_id;
    bool has_claim, has_node, registered, initialized, deleting, ignored;
    struct clabels labels, claim_labels, node_labels;
    struct creqs reqs;
    struct ctaints taints, claim_taints, node_taints, startup_taints;
    struct rvec capacity, allocatable, claim_capacity, claim_allocatable, node_capacity, node_allocatable;
    struct rvec bound, bound_daemons, placed;
    uint32_t first_pod;
    bool deletion_mark_claim, deletion_mark_node;
    uint32_t pool;
    bool consolidatable, drifted, terminating, was_initialized; /* conditions of the claim */
    bool not_ready, guarded, has_grace;                         /* guarded: do-not-disrupt on the Node */
    bool gone;                                                  /* a command takes it */
    int64_t quiet_since_ms; /* the last pod event or else initialization; INT64_MIN when unknown */
    str hash, hash_version;
};

struct cvolume_claim {
    str id, volume, storage_class;
    bool lost;
};

struct cvolume { /* PersistentVolume or StorageClass */
    str name, driver;
    struct creqs *alternatives;
    uint32_t n_alternatives;
    bool immediate;
    bool unclaimed; /* a PersistentVolume without claimRef */
};

struct cdaemon {
    str name;
    uint32_t shape;
    bool unclear; /* several required terms, or real pods that differ from the template */
};

struct reqset {                      /* the requirements of a claim as printed */
    struct creqs r, before_narrowed; /* without the capacity type that was pinned last */
    bool reserved, pinned;
    double *price;       /* per type; NAN not computed, INFINITY no offering */
    uint8_t *compatible; /* per type: 0 not computed, 1 yes, 2 no */
};

struct type_list {
    uint32_t *v, n;
};

struct chost { /* a new claim */
    uint32_t reqset, pool, list, first_pod;
};

/* Pods of one group in one domain. */
struct dcount {
    uint32_t next;
    uint32_t domain;
    uint32_t match_new, match_old, match_maybe, match_elsewhere; /* elsewhere: on nodes that are going away */
    uint32_t own_self, own_other, own_old, old_filtered;
};

struct checker {
    struct arena *a;
    FILE *out;
    uint64_t n_violations;
    bool partial;     /* input with kinds whose pods are not enumerated here */
    bool best_effort; /* MIN_VALUES_POLICY */
    bool no_reserved; /* FEATURE_GATES ReservedCapacity=false */

    VEC(str) resources;
    uint32_t res_cpu, res_memory, res_pods;
    VEC(str) well_known;
    VEC(struct ctype) types;
    struct strmap type_ix;
    VEC(struct cpool) pools;
    VEC(struct cnode) nodes;
    struct strmap node_by_provider, node_by_name, node_by_plan_name;
    VEC(struct shape) shapes;
    struct strmap shape_ix;
    VEC(struct cpod) pods;
    struct strmap pod_ix;
    VEC(str) pod_nodes; /* parallel to pods while loading: spec.nodeName */
    VEC(struct group) groups;
    struct strmap group_ix, group_alike;
    VEC(struct cdaemon) daemons;
    VEC(struct daemon_pod {
        str owner;
        uint32_t shape;
    })
    daemon_pods; /* one entry for pods that are alike */
    VEC(struct cvolume_claim) claims;
    struct strmap claim_ix;
    VEC(struct cvolume) volumes, classes;
    struct strmap volume_ix, class_ix;
    struct csi_limit {
        str node, driver;
        int64_t count;
    } * csi;
    uint32_t n_csi, cap_csi;
    VEC(struct namespace_labels {
        str name;
        struct clabels labels;
    })
    namespaces;
    VEC(str) bad_classes; /* node classes that say Ready=False */
    VEC(struct cpdb) pdbs;

    bool disrupting;   /* what is judged are commands */
    bool spot_to_spot; /* FEATURE_GATES */
    int64_t now_ms;
    uint64_t n_unverified;
    double savings; /* of all commands */

    VEC(struct reqset) reqsets;
    struct strmap reqset_ix, list_ix;
    VEC(struct type_list) lists;
    struct u64map pod_verdicts, pool_verdicts, tolerance;
    struct strmap pool_ix;
    struct arena *scratch;
    uint32_t *missing_ok; /* per shape: 0 not asked, 1 may stay without a place, 2 may not */
    VEC(struct chost) hosts;
    struct rvec *remaining; /* per pool, while claims are read in order */
    struct strmap reservations;
    VEC(int64_t) reservations_left;
    double cost;
    uint64_t n_pending, n_new, n_existing, n_unschedulable;

    VEC(struct dcount) counts;
    struct u64map count_ix;
    struct strmap domain_ix;
    VEC(str) domains;
    struct sb tmp;
};

PRINTF(2, 3) void checker_fail(struct checker *c, const char *fmt, ...);

/* checker_req.c */
struct creq creq_make(struct checker *c, str key, str op, const struct tree *values);
struct creq creq_in(struct checker *c, str key, str value);
void creqs_add(struct checker *c, struct creqs *s, struct creq r);
const struct creq *creqs_get(const struct creqs *s, str key);
bool creq_has(const struct creq *r, str v);
bool creq_within(const struct creq *have, const struct creq *want); /* have is a subset, as far as output can say */
bool creqs_meet(const struct creqs *have, const struct creqs *want, str *ret_key);
bool creqs_compatible(const struct checker *c, const struct creqs *have, const struct creqs *want, bool lenient,
                      str *ret_key);
struct creqs creqs_of_labels(struct checker *c, const struct clabels *l);
struct creqs creqs_of_list(struct checker *c, const struct tree *exprs);
struct creqs creqs_copy(struct checker *c, const struct creqs *s);
/* Does `meets` accept one of the ways in which the pod's node requirements can be put? */
bool any_term(struct checker *c, const struct shape *s, const struct creqs *have,
              bool (*meets)(struct checker *c, const struct creqs *have, const struct creqs *term, str *ret_key),
              str *ret_key);
bool tolerates(const struct shape *s, const struct ctaints *t, bool hard_only, str *ret_key);
bool selector_matches_object(const struct cselector *s, const struct clabels *l);
bool ports_collide(const struct cport *a, const struct cport *b);
bool well_known(const struct checker *c, str key);
void well_known_add(struct checker *c, str key);
str key_normal(str key);

/* checker_load.c and its helpers */
uint32_t resource_ix(struct checker *c, str name);
quantity quantity_parse(str s);
void rvec_read(struct checker *c, const struct tree *list, struct rvec *ret);
void rvec_add(const struct checker *c, struct rvec *a, const struct rvec *b);
bool rvec_fits(const struct checker *c, const struct rvec *need, const struct rvec *room, uint32_t *ret_resource);
void pod_requests(struct checker *c, const struct tree *spec, bool default_from_limits, struct rvec *ret);
struct clabels labels_read(struct checker *c, const struct tree *t);
str labels_get(const struct clabels *l, str key);
uint32_t shape_of(struct checker *c, str ns, str pod_name, const struct tree *labels, const struct tree *spec,
                  bool template_limits);
void tree_dump(struct sb *b, const struct tree *t);
str keep(struct checker *c, str s);
struct cselector selector_read(struct checker *c, const struct tree *t);
uint32_t group_of(struct checker *c, struct group g, str text, str alike, uint32_t shape);

/* checker_cluster.c */
void cluster_complete(struct checker *c); /* joins Nodes with NodeClaims, pods with nodes, pods with groups */
void pool_daemons(struct checker *c, struct cpool *p);
bool volumes_allow(struct checker *c, const struct shape *s, const struct creqs *have, bool strict,
                   const char **ret_why);
str volume_driver(struct checker *c, str claim);
bool must_have_place(struct checker *c, uint32_t shape);

/* checker_plan.c: the answer, member by member */
bool plan_read(struct checker *c, const char *path, struct err *e);
bool json_open(str *s, char bracket);
double json_number(str raw);
bool json_member(str *s, str *ret_key, str *ret_raw); /* of an object that is open */
bool json_element(str *s, str *ret_raw);
str json_text(struct checker *c, str raw); /* content of a string; a copy only when it has escapes */

/* checker_claims.c, checker_nodes.c: one host at a time */
void claim_check(struct checker *c, str raw);
void node_check(struct checker *c, str raw);
void existing_check(struct checker *c);
uint32_t pod_place(struct checker *c, str raw, uint32_t host, str where); /* NONE when there is no such pod to place */
void host_ports_check(struct checker *c, uint32_t first_pod, str where);

bool node_takes(struct checker *c, uint32_t node, uint32_t pod); /* all but topology */
void node_recheck(struct checker *c, uint32_t node);
double claim_price(struct checker *c, uint32_t host); /* the cheapest offer of its first type, 0 if none */
double claim_worst(struct checker *c, uint32_t host); /* the dearest way in which it may be launched */

/* checker_topology.c */
void topology_check(struct checker *c);
uint32_t domain_of(struct checker *c, str value);
struct dcount *count_of(struct checker *c, uint32_t group, uint32_t domain);
bool group_selects(const struct shape *s, uint32_t group);
bool filter_accepts(struct checker *c, const struct group *g, const struct cnode *n);
void count_pods(struct checker *c);
void count_new(struct checker *c, const struct cpod *p, uint32_t group, bool owner, bool selected);
uint32_t emptiest(struct checker *c, uint32_t group);
str domain_name(const struct checker *c, const struct group *g, uint32_t domain);
str owner_name(struct checker *c, const struct group *g);

/* checker_shift.c: the same for pods that change places, command by command */
void shift_begin(struct checker *c);
void shift_leave(struct checker *c, uint32_t pod, uint32_t node, bool comes_back);
void shift_arrive(struct checker *c, uint32_t pod); /* at its host */
bool shift_admits(struct checker *c, uint32_t pod, uint32_t node);
void shift_check(struct checker *c, uint32_t pod);
void shift_settle(struct checker *c, uint32_t pod);

/* checker_time.c */
bool time_read(str s, int64_t *ret_ms);     /* RFC 3339 in UTC */
bool duration_read(str s, int64_t *ret_ms); /* Go's form */
/* Whether a window of this length that begins whenever `schedule` fires is open now; false: cannot be read. */
bool window_read(str schedule, int64_t duration_ms, int64_t now_ms, bool *ret_open);

/* checker_evict.c: what keeps pods and nodes */
bool pod_reschedulable(const struct cpod *p);
bool pod_leaves(struct checker *c, const struct cpod *p);                        /* wants a place when its node goes */
const char *node_obstacle(struct checker *c, const struct cnode *n, str method); /* NULL: none */
bool budget_allows(struct checker *c, const struct cpool *p, str reason, int64_t taken, int64_t *ret_allowed);
double node_price(struct checker *c, const struct cnode *n);

/* checker_disrupt.c: one command at a time */
void command_check(struct checker *c, str raw);
void candidate_check(struct checker *c, str raw);
void disruption_summary_check(struct checker *c, str raw);
