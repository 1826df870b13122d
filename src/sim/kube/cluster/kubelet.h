/* kubelet - one simulated machine, and how its two halves meet: kubelet.c is the node, kubelet_pods.c its pods,
 * kubelet_logs.c what they have said. */
#pragma once

#include "sim/kube/cluster/parts.h"

enum kubelet_state {
    KUBELET_BOOTING,  /* no Node yet */
    KUBELET_STARTING, /* joined, not Ready */
    KUBELET_UP,
    KUBELET_OFF, /* power is off: the Node object is on its own */
};

struct kubelet {
    str name; /* first: the key */
    struct kubelets *all;
    enum kubelet_state state;
    struct timer boot, lease, heartbeat;
    str uid, ip;              /* of the Node */
    struct arena *a;          /* what lives as long as the kubelet */
    struct tree *node;        /* BOOTING: the object to be made */
    struct tree *said;        /* conditions that somebody told it to report */
    struct tree *capacity[2]; /* capacity, allocatable, of booted machines */
    struct tree *renewal;     /* its Lease, but for the time */
};

struct kubelets {
    struct cluster *c;
    struct table by_name;
    VEC(struct kubelet *) list; /* in order of arrival */
    struct work *nodes, *pods;
    struct table containers; /* struct pod_run by pod uid */
    uint32_t n_hosts, n_ips;
};

struct kubelet *kubelet_of_pod(const struct kubelets *k, const struct pod_entry *e); /* NULL: nobody runs it */

void kubelet_logs_init(struct kubelets *k);
void kubelet_logs_fini(struct kubelets *k);

void pod_runs_init(struct kubelets *k);
void pod_runs_fini(struct kubelets *k);
void pod_runs_of_node(struct kubelets *k, str node); /* look at all its pods */
