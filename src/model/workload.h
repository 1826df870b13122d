/* workload - the other objects planning looks at: daemons, budgets, namespaces, services, owners. */
#pragma once

#include "model/pod.h"

struct daemonset {
    sym ns, name;
    struct podspec *spec; /* of the template, limits copied into missing requests */
    lset_id labels;       /* of the template */
};

struct pdb {
    sym ns;
    str name;
    struct selector selector;
    str min_available, max_unavailable; /* as written; empty when absent */
    bool always_allow;                  /* unhealthyPodEvictionPolicy: AlwaysAllow */
    int64_t disruptions_allowed;
    bool has_disruptions_allowed;
};

struct ns_labels {
    sym name;
    lset_id labels;
};

struct service {
    sym ns;
    bool has_selector;
    lset_id selector;
};

/* A ReplicaSet, StatefulSet or ReplicationController: its selector, for default spread constraints. */
struct controller {
    sym ns, name;
    enum owner_kind kind;
    struct selector selector;
};
