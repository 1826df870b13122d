/* snapshot - one moment of a cluster: everything a plan is made from, and nothing that changes under it.
 *
 * Built by state/ from decoded objects; read by plan/. All memory belongs to whoever built it and outlives the plan.
 */
#pragma once

#include "model/itype.h"
#include "model/node.h"
#include "model/nodepool.h"
#include "model/pod.h"
#include "model/workload.h"

enum pref_policy { PREF_RESPECT, PREF_IGNORE };
enum min_values_policy { MINVALUES_STRICT, MINVALUES_BEST_EFFORT };
enum packing { PACKING_COMPAT }; /* `cost` will join it */
enum consolidation {
    CONSOLIDATION_AUTO,     /* nobody said: thorough, unless one pass of a method is asked for by name */
    CONSOLIDATION_THOROUGH, /* every candidate, as many disjoint commands as budgets allow */
    CONSOLIDATION_COMPAT,   /* Karpenter's own search: one command, among the first 101 candidates */
};

struct settings {
    enum pref_policy preferences;
    enum min_values_policy min_values;
    enum packing packing;
    bool weight_ascending;  /* NODEPOOL_WEIGHT_ORDER=ascending */
    bool reserved_capacity; /* feature gate */
    bool ignore_dra;        /* IGNORE_DRA_REQUESTS */
    bool spot_to_spot;      /* feature gate SpotToSpotConsolidation */
    bool capacity_buffers;  /* feature gate CapacityBuffer */
    bool node_overlays;     /* feature gate NodeOverlay */
    enum consolidation consolidation;
    double min_savings_usd,
        min_savings_share;          /* CONSOLIDATION_MIN_SAVINGS: an hour; of the price of the nodes that go */
    uint32_t max_replacements;      /* CONSOLIDATION_MAX_REPLACEMENTS */
    struct spread *default_spreads; /* SCHEDULER_CONFIG; selectors are deduced per pod */
    uint32_t n_default_spreads;
};

/* One machine, or one on its way: a Node, a NodeClaim, or both (scheduling 7). */
struct state_node {
    const struct node *node;       /* NULL: in flight */
    const struct nodeclaim *claim; /* NULL: not ours */
    str name;                      /* as plans call it */
    sym hostname;
    sym pool; /* label karpenter.sh/nodepool; SYM_NONE */
    lset_id labels;
    struct taints taints; /* without those that do not count yet */
    struct reslist capacity, allocatable;
    struct reslist requests;        /* of bound pods that are not finished, with `pods` */
    struct reslist daemon_requests; /* of those owned by a DaemonSet */
    bool initialized, deleting;     /* deleting: marked for deletion */
    bool nominated;                 /* a pending pod is on its way to it */
    uint32_t n_buffer_pods;         /* pods of capacity buffers that the last round put here: it is not empty */
    uint32_t *pods;                 /* indexes into snapshot.pods, bound here, not finished; ascending */
    uint32_t n_pods;
    uint32_t cap_pods; /* room in `pods`, where it was made to grow; 0: there is as much as it holds */
};

/* The reason of a pod that asks not to be planned for; no one needs to be warned of it. */
#define REFUSED_NOT_OURS "the pod does not want nodes of Karpenter (karpenter.sh/nodepool DoesNotExist)"

/* Why a pending pod takes no part in planning, though it must be reported (scheduling 8.3). */
struct refused_pod {
    uint32_t pod;
    str reason;
};

struct snapshot {
    struct syms *syms;
    int64_t now_ms;
    struct settings settings;
    const struct catalog *catalog;

    struct nodepool *pools;
    uint32_t n_pools;
    struct nodeclass *node_classes;
    uint32_t n_node_classes;
    struct state_node *nodes;
    uint32_t n_nodes;

    struct pod *pods; /* all of them */
    uint32_t n_pods;
    bool none_apart; /* no pod has required anti-affinity; false: nobody has looked */
    /* Pods to place: valid pending ones in input order, those of capacity buffers, those moving off deleting nodes. */
    uint32_t *pending;
    uint32_t n_pending, n_moving;
    uint32_t cap_pending; /* room in `pending`, where it was made to grow; 0: there is as much as it holds */
    struct refused_pod *refused;
    uint32_t n_refused;

    struct daemonset *daemons;
    const struct pod **daemon_pods; /* newest live pod of daemons[i], or NULL */
    uint32_t n_daemons;

    struct pvc *pvcs;
    struct pv *pvs;
    struct storage_class *classes;
    struct csi_limit *csi_limits;
    uint32_t n_pvcs, n_pvs, n_classes, n_csi_limits;

    struct pdb *pdbs;
    struct ns_labels *namespaces;
    struct service *services;
    struct controller *controllers;
    uint32_t n_pdbs, n_namespaces, n_services, n_controllers;
};
