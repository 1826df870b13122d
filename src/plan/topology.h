/* topology - spread, affinity and anti-affinity (scheduling 13). Internal to plan/.
 *
 * A group counts pods per domain: value of a label key, or host. Groups are shared by all pods whose constraint has
 * the same identity. Forward groups belong to the pods that state the constraint; inverse groups count where pods
 * with a required anti-affinity term are, to keep the pods away that the term selects.
 */
#pragma once

#include "plan/problem.h"

enum topo_kind { TOPO_SPREAD, TOPO_AFFINITY, TOPO_ANTI };

struct topo_group {
    enum topo_kind kind;
    bool inverse, is_host;
    uint32_t key;
    int32_t max_skew, min_domains;
    struct selector selector;
    sym *ns; /* sorted */
    uint32_t n_ns;
    /* Node filter, of spread groups only. */
    bool filtered, honor_affinity, honor_taints;
    uint32_t tol_set;
    uint32_t *alts, n_alts; /* requirement sets; any may hold */
    /* By value number; not for hosts, whose counts are in topology.host_counts. */
    int32_t *counts;
    int32_t *support;         /* nodes that have the value */
    uint64_t *seeded;         /* values that some pool could provide */
    uint64_t *known;          /* seeded, or of some node, or counted */
    bool leans;               /* some value is known only for the nodes that have it */
    bool mixed;               /* not all pods that have the constraint tolerate the same, so it matters who was first */
    VEC(uint32_t) busy_hosts; /* with a count above 0 */
    uint32_t holders;         /* inverse: pods that have the term, bound or waiting */
    uint32_t live_in; /* the round in which it came to be, for pods that ask; it counts placements of that round */
};

struct host {
    sym name;     /* SYM_NONE: a claim of this plan */
    uint32_t val; /* value number of the hostname key */
};

struct domain_taints { /* the value can be had by tolerating these taints */
    uint32_t val, taint_set;
};

struct key_domains {
    bool built;
    uint64_t *always; /* can be had without tolerating anything */
    VEC(struct domain_taints) tainted;
};

/* How many nodes have each value of a key; groups with the same key and node filter share it. */
struct node_domains {
    int32_t *support;
};

struct class_link {
    uint32_t cls, next;
};

/* A count as it was before a change. */
struct count_change {
    uint32_t group, at; /* value number or host */
    int32_t was;
};

struct topology {
    struct problem *p;
    bool any;       /* somebody has a constraint */
    uint32_t round; /* counts up with every question that is asked of the same problem */
    bool logging;   /* changes are written down to be undone */
    VEC(struct count_change) log;
    VEC(struct topo_group) groups;
    struct strmap ids[2];  /* forward, inverse */
    struct strmap filters; /* key and node filter -> node_domains */
    VEC(struct node_domains) node_domains;
    struct u64map host_counts; /* (group, host) */
    VEC(struct host) hosts;
    struct u64map host_of_sym;
    uint32_t *node_rs, *node_taints; /* [snap->n_nodes]: of the Node object as it is */
    uint32_t *node_host;             /* [snap->n_nodes]: where pods on it are counted */
    uint64_t *node_gone;             /* bit set: taken away */
    struct key_domains *domains;     /* [keys] */
    uint64_t *in_round;              /* bit set over snap->pods: placed by this plan */
    VEC(uint32_t) unselective;       /* groups without a selector */
    VEC(uint32_t) leaning;           /* groups with `leans` */
    struct u64map classes_with;      /* (label key, value) -> first of `links` */
    VEC(struct class_link) links;
    VEC(uint32_t) namespaces; /* symbols of all that are known */
    struct strmap anti_ix;    /* (spec, namespace) -> index into `anti` */
    VEC(uint32_t *) anti;     /* inverse groups of bound pods that belong to no shape */
    VEC(uint32_t) touched;    /* groups that may count the pod of the last event */
};

/* Whether the group looks at pods of this namespace. */
static inline bool topology_has_namespace(const struct topo_group *g, sym ns)
{
    for (uint32_t i = 0; i < g->n_ns; i++)
        if (sym_eq(g->ns[i], ns))
            return true;
    return false;
}

void topology_init(struct topology *t, struct problem *p);
void topology_fini(struct topology *t);
uint32_t topology_host(struct topology *t, sym name); /* of an existing node */
uint32_t topology_new_host(struct topology *t);       /* of a claim */

/* Adds to the known domains of a group those that some pool could provide to a pod of its own (topology_domains.c). */
void topology_seed_domains(struct topology *t, struct topo_group *g);

/* Groups that are new (topology_running.c): the domains that nodes give it, the label classes that it selects, a pod on a node. */
void topology_add_nodes(struct topology *t, struct topo_group *g);
void topology_attach(struct topology *t, uint32_t group);
void topology_count_node(struct topology *t, uint32_t group, uint32_t node, bool host_fallback, int change);
/* The inverse groups of a pod that is no shape's, because nothing moves it; NULL: one of them does not exist. */
const uint32_t *topology_anti_groups(struct topology *t, const struct pod *pod);

/* Makes sure the variant's groups exist. A group counts from the moment somebody of the round asks for it. */
void topology_prepare(struct topology *t, uint32_t variant);
void topology_prepare_all(struct topology *t); /* the groups of every variant there can be */

/* What the constraints of the variant make of requirement set `rs` on `host`; false: no domain is left.
 * *ret_group is the group that said no. */
bool topology_narrow(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t *ret_rs,
                     uint32_t *ret_group);
/* The same for hosts only: cheap, and a no is final for everything but affinity. */
bool topology_host_allows(struct topology *t, uint32_t variant, uint32_t host, bool *ret_final);

/* Which values of `key` the variant's groups on that key leave, wherever the pod goes; ~0 when none is on that key. */
uint64_t topology_open_values(struct topology *t, uint32_t variant, uint32_t key);

/* A pod of the variant is placed on a bin with these final requirements. */
void topology_record(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t taint_set);
int32_t topology_host_count(const struct topology *t, uint32_t group, uint32_t host);
void topology_count_host(struct topology *t, uint32_t group, uint32_t host, int change);
void topology_count_value(struct topology *t, uint32_t group, uint32_t val, int change);
/* The value is known or not, after its count or support has changed. */
void topology_refresh(struct topo_group *g, uint32_t val);

/* --- what questions change, and how it is undone --------------------------------------------------------------------- */

/* A running pod leaves its node to be placed anew (change -1), or is back (+1). */
void topology_move(struct topology *t, uint32_t pod, uint32_t shape, uint32_t node, int change);
/* The node is taken away, or is back. */
void topology_take_node(struct topology *t, uint32_t node, bool away);
void topology_undo(struct topology *t, uint32_t mark); /* to when the log had `mark` entries */
/* A pod of the round stays where it was placed: groups that nobody of the round asked for count it too. */
void topology_settle(struct topology *t, uint32_t variant, uint32_t rs, uint32_t host, uint32_t taint_set);
/* A pod has left the node for good (change -1) or runs on it from now on (+1). `shape`: NONE when nothing moves it.
 * False: it belongs to no label class or group that is known, or to a group that would know other domains without it or with it. The groups that may count it are in `touched`. */
bool topology_count_pod(struct topology *t, uint32_t pod, uint32_t shape, uint32_t node, int change);
/* A pod that is yet to be placed comes (+1) or leaves (-1). False: a group would know other domains then. */
bool topology_wait(struct topology *t, uint32_t pod, uint32_t shape, int change);
/* Whether the group counts pods on nodes with these requirements and taints at all. */
bool topology_filter_matches(struct topology *t, const struct topo_group *g, uint32_t rs, uint32_t taint_set);
