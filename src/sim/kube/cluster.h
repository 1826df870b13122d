/* cluster - everything of a Kubernetes cluster but its API server: scheduler, kubelets, workload controllers.
 *
 * It lives in the server's process and world and uses the functions of kube.h. All randomness comes from the world. Every duration
 * of the simulated machines is divided by `speed`.
 */
#pragma once

#include "sim/kube/kube.h"

struct cluster;

struct span { /* a duration, drawn evenly from … to */
    int64_t from_ms, to_ms;
};

struct cluster_options {
    double speed;           /* 0: 1 */
    struct span node_ready; /* from Node object (or machine joined) to Ready; 0: 1 s */
    struct span pod_start;  /* from bound to Running; 0: 1 s */
    struct span pod_stop;   /* how long a container takes to stop when asked; capped by its grace period; 0: 0.2 s */
    int64_t lease_renew_ms; /* 0: 10 s */
    int64_t node_grace_ms;  /* without a lease: NotReady; 0: 40 s */
    int64_t heartbeat_ms;   /* a kubelet reports its status this often even if nothing changes; 0: 5 min */
    bool no_scheduler, no_workloads;
    bool lean;      /* for long simulations: nobody records events, pods start in one step */
    bool told_once; /* likewise: a pod is told once that there is no place for it, not each time in other words */
    bool container_events; /* Pulled, Created, Started and Killing, as kubelets record them for `kubectl describe` */
    const char *kubelet_version; /* NULL: "v1.36.3" */
    const char *root_ca;         /* PEM, for the ConfigMap kube-root-ca.crt of every namespace; NULL: it is empty */
};

struct cluster *cluster_new(struct kube *k, const struct cluster_options *o);
/* Right before kube_free(): the API server must not be written to any more. */
void cluster_free(struct cluster *c);

/* A machine that boots and joins: after boot_ms its kubelet creates the Node. A Node that somebody else creates gets a kubelet
 * when it has the annotation kwok.x-k8s.io/node. */
struct machine {
    str name; /* of the Node */
    str provider_id;
    str ip;                                           /* its InternalIP; empty: some address */
    const struct tree *labels, *annotations, *taints; /* as in the Node; taints is spec.taints; NULL: none */
    const struct tree *capacity, *allocatable;        /* resource lists */
    int64_t boot_ms;                                  /* not divided by speed */
};

void cluster_boot(struct cluster *c, const struct machine *m);
/* The machine is gone: its kubelet stops renewing, its pods stop running; the Node object stays. */
void cluster_power_off(struct cluster *c, str name);
/* The kubelet reports a condition (repair tests): "Ready", "False", … */
void cluster_set_condition(struct cluster *c, str node, const char *type, const char *status, const char *reason,
                           const char *message);
