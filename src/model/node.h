/* node - Node and the storage objects that scheduling asks about. */
#pragma once

#include "model/labels.h"
#include "model/quantity.h"
#include "model/taint.h"

struct node {
    str name, uid, provider_id;
    sym name_sym;
    lset_id labels;
    int64_t created_ms;
    /* spec.taints; spec.unschedulable adds node.kubernetes.io/unschedulable:NoSchedule if it is missing */
    struct taints taints;
    struct reslist capacity, allocatable;
    bool deleting;
    bool ready;          /* condition Ready is True */
    bool do_not_disrupt; /* annotation karpenter.sh/do-not-disrupt=true */
};

struct pvc {
    sym ns;
    str name;
    str volume_name;   /* bound to */
    str storage_class; /* empty when none */
    bool no_class;     /* storageClassName is absent, which differs from "" */
    bool deleting, lost, bind_completed;
};

struct pv {
    str name;
    str driver;             /* spec.csi.driver, or what an in-tree source translates to; empty: not counted */
    struct req_term *terms; /* required node affinity */
    uint32_t n_terms;
    bool claimed; /* spec.claimRef names a claim */
    bool local;   /* local or hostPath: hostname expressions do not bind */
    bool deleting;
};

struct storage_class {
    str name, provisioner;
    struct req_term *topologies; /* allowedTopologies */
    uint32_t n_topologies;
    bool immediate; /* volumeBindingMode: Immediate */
    bool is_default;
    int64_t created_ms;
};

struct csi_limit {
    str node, driver;
    int64_t count;
};

struct csi_drivers { /* a CSINode */
    const struct csi_limit *limits;
    uint32_t n;
};

struct attachment {         /* a VolumeAttachment */
    str name, node, volume; /* volume: spec.source.persistentVolumeName; may be empty */
};

/* kubernetes.io/aws-ebs -> ebs.csi.aws.com and so on; other names come back unchanged. */
str csi_driver_of_provisioner(str provisioner);
