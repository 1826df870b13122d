/* objects - decoded Kubernetes objects as they came in: the input of state_build().
 *
 * A collection grows while objects are decoded into it and is read-only afterwards. Everything it holds lives in
 * its arena and symbol table; a snapshot built from it refers to both. No object occurs twice.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/buffer.h"
#include "model/node.h"
#include "model/nodepool.h"
#include "model/overlay.h"
#include "model/pod.h"
#include "model/workload.h"

enum object_kind {
    OBJ_NODEPOOL,
    OBJ_NODECLAIM,
    OBJ_NODECLASS,
    OBJ_NODE,
    OBJ_POD,
    OBJ_DAEMONSET,
    OBJ_DEPLOYMENT,
    OBJ_REPLICASET,
    OBJ_STATEFULSET,
    OBJ_JOB,
    OBJ_RC,
    OBJ_PVC,
    OBJ_PV,
    OBJ_STORAGECLASS,
    OBJ_CSINODE,
    OBJ_PDB,
    OBJ_NAMESPACE,
    OBJ_SERVICE,
    OBJ_ATTACHMENT,
    OBJ_PODTEMPLATE,
    OBJ_BUFFER, /* a CapacityBuffer */
    OBJ_OVERLAY,
    OBJ_OTHER, /* kinds that are known but not looked at */
};

/* A claim that a workload's pods bring along: <pod>-<name> (ephemeral) or <name>-<pod> (volumeClaimTemplates). */
struct claim_source {
    sym name;
    bool ephemeral;
    bool has_class;
    str storage_class;
};

struct workload {
    enum object_kind kind; /* Deployment, ReplicaSet, StatefulSet or Job; PodTemplate: of its pods only */
    sym ns;
    str name;
    int64_t replicas; /* pods it wants to have running now */
    int64_t ordinals; /* StatefulSet: the first index */
    lset_id labels;   /* of the template */
    struct podspec *spec;
    struct selector selector;
    int64_t created_ms, generation;
    bool deleting;
    bool foreign_scheduler;
    str do_not_disrupt; /* of the template, as are the next two */
    double deletion_cost;
    int32_t priority;
    sym owner; /* ReplicaSet: the Deployment it belongs to; SYM_NONE */
    struct claim_source *claims;
    uint32_t n_claims;
};

struct ignored_kind {
    str kind; /* "monitoring.coreos.com/v1/ServiceMonitor" */
    uint32_t n;
};

struct object_id {
    enum object_kind kind;
    sym ns;
    str name;
    struct uid uid; /* empty when the object has none or nobody asks for it */
};

/* What is known of any object of a cluster, whether the rest of it can be read or not. */
struct object_meta {
    str ns, name, uid; /* node classes: name is "group/kind/name"; buffers: "namespace/name", and ns is empty */
    uint64_t version;  /* resourceVersion as a number; 0 when it is none */
    int64_t generation;
    int64_t created_ms, deleted_ms; /* INT64_MIN when absent */
    bool managed;                   /* ours to act on (lifecycle 0.5) */
};

struct objects {
    struct arena *arena;
    struct syms *syms;

    VEC(struct nodepool) pools;
    VEC(struct nodeclaim) claims;
    VEC(struct nodeclass) classes;
    VEC(struct node) nodes;
    VEC(struct pod) pods;
    VEC(sym) pod_owner_kinds; /* beside pods: the kind of the controller, as written */
    VEC(struct daemonset) daemons;
    VEC(struct workload) workloads, templates; /* templates: PodTemplates */
    VEC(struct buffer) buffers;
    VEC(struct overlay) overlays;
    VEC(struct pvc) pvcs;
    VEC(struct pv) pvs;
    VEC(struct storage_class) storage_classes;
    VEC(struct csi_limit) csi_limits;
    VEC(struct attachment) attachments;
    VEC(struct pdb) pdbs;
    VEC(struct ns_labels) namespaces;
    VEC(struct service) services;
    VEC(struct controller) controllers;

    VEC(struct ignored_kind) ignored; /* in order of first sight */
    VEC(str) notes;                   /* what was read in another sense than it was written, for people */

    /* Every object's identity. Pods are looked up in `pods`: a million of them must not be kept twice. */
    VEC(struct object_id) ids;
    struct u64map by_name, by_uid; /* hash -> pod index, or index into ids with the top bit set */
};

struct objects *objects_new(struct syms *syms); /* syms outlive the collection */
void objects_free(struct objects *o);
AUTO_DEFINE(objects)
/* Empty again, for collections of one object at a time: what comes next lives in `next`, which stays the caller's. What
 * came before is not the collection's any more. */
void objects_reset(struct objects *o, struct arena *next);

/* Takes the identity of an object that is about to be added. A second object of the same kind, namespace and name,
 * or with the same uid, is an error that names both. A pod must be pushed to `pods` right after. */
bool objects_claim_id(struct objects *o, const struct object_id *id, struct err *e);
/* The pod's index, or MAP_NONE. */
uint32_t objects_find_pod(const struct objects *o, sym ns, str name);
void objects_ignore(struct objects *o, str api_version, str kind);
PRINTF(2, 3) void objects_note(struct objects *o, const char *fmt, ...);

const char *object_kind_name(enum object_kind k);
