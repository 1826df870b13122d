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
    /* Counts by value number; not for hosts, whose counts are in topology.host_counts. */
    int32_t *counts;
    uint64_t *known;
    VEC(uint32_t) busy_hosts; /* with a count above 0 */
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

struct class_link {
    uint32_t cls, next;
};

struct topology {
    struct problem *p;
    bool any; /* somebody has a constraint */
    VEC(struct topo_group) groups;
    struct strmap ids[2];      /* forward, inverse */
    struct u64map host_counts; /* (group, host) */
    VEC(struct host) hosts;
    struct u64map host_of_sym, node_of_sym;
    uint32_t *node_rs, *node_taints; /* [snap->n_nodes]: of the Node object as it is */
    struct key_domains *domains;     /* [keys] */
    uint64_t *in_round;              /* bit set over snap->pods: placed by this plan */
    struct u64map classes_with;      /* (label key, value) -> first of `links` */
    VEC(struct class_link) links;
    VEC(uint32_t) namespaces; /* symbols of all that are known */
};

void topology_init(struct topology *t, struct problem *p);
void topology_fini(struct topology *t);
uint32_t topology_host(struct topology *t, sym name); /* of an existing node */
uint32_t topology_new_host(struct topology *t);       /* of a claim */

/* Adds to the known domains of a group those that some pool could provide to a pod of its own (topology_domains.c). */
void topology_seed_domains(struct topology *t, struct topo_group *g);

/* Makes sure the variant's groups exist. A group counts from the moment it is made. */
void topology_prepare(struct topology *t, uint32_t variant);

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
void topology_count_host(struct topology *t, uint32_t group, uint32_t host); /* one more pod there */
/* Whether the group counts pods on nodes with these requirements and taints at all. */
bool topology_filter_matches(struct topology *t, const struct topo_group *g, uint32_t rs, uint32_t taint_set);
