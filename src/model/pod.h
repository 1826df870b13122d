/* pod - a pod as scheduling sees it.
 *
 * What pods of one workload have in common (podspec) is decoded once and shared by pointer, so that a million pods
 * take little more than their names.
 */
#pragma once

#include "model/labels.h"
#include "model/quantity.h"
#include "model/taint.h"
#include "model/uid.h"

enum spread_when { SPREAD_DO_NOT_SCHEDULE, SPREAD_ANYWAY };

struct spread {
    sym key;
    int32_t max_skew;
    int32_t min_domains; /* 0 when absent */
    enum spread_when when;
    bool ignore_affinity; /* nodeAffinityPolicy: Ignore (default Honor) */
    bool honor_taints;    /* nodeTaintsPolicy: Honor (default Ignore) */
    struct selector selector;
    sym *match_label_keys;
    uint32_t n_match_label_keys;
};

struct pod_affinity {
    sym key;
    int32_t weight; /* preferred terms only */
    struct selector selector;
    struct selector ns_selector;
    sym *namespaces; /* as listed; may be empty */
    uint32_t n_namespaces;
};

struct pod_affinities {
    struct pod_affinity *v;
    uint32_t n;
};

enum port_proto { PROTO_TCP, PROTO_UDP, PROTO_SCTP, PROTO_OTHER };

struct host_port {
    sym ip; /* never SYM_NONE: "0.0.0.0" when unset */
    uint16_t port;
    sym proto; /* "TCP", … */
};

/* A volume that needs a claim: by name, or generic ephemeral (claim "<pod>-<volume>"). */
struct pod_volume {
    sym name;
    bool ephemeral; /* `name` is the volume's name, the claim is <pod name>-<name> */
};

struct podspec {
    struct req_expr *node_selector; /* In [value] each */
    uint32_t n_node_selector;
    struct req_term *required; /* required node affinity: any term */
    uint32_t n_required;
    struct pref_term *preferred; /* preferred node affinity, in source order */
    uint32_t n_preferred;
    struct tolerations tolerations;
    struct spread *spreads;
    uint32_t n_spreads;
    struct pod_affinities aff_required, aff_preferred, anti_required, anti_preferred;
    struct reslist requests; /* effective requests of one pod (scheduling 5.1) without `pods` */
    struct reslist limits;   /* likewise; no plan looks at them */
    struct host_port *ports;
    uint32_t n_ports;
    struct pod_volume *volumes;
    uint32_t n_volumes;
    const struct podspec *base; /* the same without volumes, which many pods share; NULL: this one has none */
    bool uses_dra;              /* has resource claims */
    uint32_t number;            /* where it is shared: podspecs.h */
};

enum pod_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED, PHASE_UNKNOWN };
enum owner_kind {
    OWNER_NONE,
    OWNER_DAEMONSET,
    OWNER_NODE,
    OWNER_STATEFULSET,
    OWNER_REPLICASET,
    OWNER_RC,
    OWNER_JOB,
    OWNER_OTHER
};

/* A moment to the second, as the API server writes them; 0: unknown. */
typedef struct {
    uint32_t v;
} moment;

static inline int64_t moment_ms(moment t) /* INT64_MIN when unknown */
{
    return t.v ? (int64_t)t.v * 1000 : INT64_MIN;
}

moment moment_of_ms(int64_t ms); /* INT64_MIN: unknown; what lies outside 1970 to 2106 is drawn in */

/* Clusters have hundreds of thousands of these: 120 bytes. */
struct pod {
    str name;
    struct uid uid;
    int64_t created_ms; /* INT64_MAX when unknown: a pod that does not exist yet is the youngest */
    int64_t started_ms; /* status.startTime; INT64_MIN when unknown */
    const struct podspec *spec;
    str do_not_disrupt;   /* annotation karpenter.sh/do-not-disrupt */
    double deletion_cost; /* annotation controller.kubernetes.io/pod-deletion-cost; may be NaN */
    sym ns;
    lset_id labels;
    sym node;         /* spec.nodeName; SYM_NONE: not bound */
    sym owner_name;   /* of `owner`; of_buffer: the buffer */
    int32_t priority; /* spec.priority */
    moment deleted;   /* deletionTimestamp: when its grace ends */
    /* The next three, and `ready`, `unschedulable` and `critical` below, are known in a cluster that is watched only. */
    int32_t grace_s;  /* spec.terminationGracePeriodSeconds */
    moment scheduled; /* when condition PodScheduled last changed */
    moment readied;   /* when condition Ready last changed */
    enum pod_phase phase : 8;
    enum owner_kind owner : 8;  /* the controller, else the first DaemonSet or Node owner */
    bool terminating : 1;       /* has a deletionTimestamp */
    bool not_ready : 1;         /* condition Ready is False */
    bool ready : 1;             /* condition Ready is True */
    bool unschedulable : 1;     /* condition PodScheduled has the reason Unschedulable */
    bool nominated : 1;         /* status.nominatedNodeName is set */
    bool foreign_scheduler : 1; /* spec.schedulerName names another scheduler */
    bool critical : 1;          /* spec.priorityClassName is system-node-critical or system-cluster-critical */
    bool of_buffer : 1;         /* there is no such pod: a capacity buffer wants room for it (buffer.h) */
};
