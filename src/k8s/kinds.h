/* kinds - the codecs, one function per kind; each adds d->root to the objects. Inner header of k8s/. */
#pragma once

#include "k8s/fragment.h"

#define DEFAULT_EXPIRY_NS (720 * 3600 * 1000000000ll) /* spec.expireAfter of NodePools and NodeClaims */

bool dec_pod(struct decoder *d, struct err *e);
bool dec_node(struct decoder *d, struct err *e);
bool dec_csinode(struct decoder *d, struct err *e);
bool dec_nodepool(struct decoder *d, struct err *e);
bool dec_nodeclaim(struct decoder *d, struct err *e);
bool dec_nodeclass(struct decoder *d, struct err *e);
bool dec_daemonset(struct decoder *d, struct err *e);
bool dec_deployment(struct decoder *d, struct err *e);
bool dec_replicaset(struct decoder *d, struct err *e);
bool dec_statefulset(struct decoder *d, struct err *e);
bool dec_job(struct decoder *d, struct err *e);
bool dec_replication_controller(struct decoder *d, struct err *e);
bool dec_pvc(struct decoder *d, struct err *e);
bool dec_pv(struct decoder *d, struct err *e);
bool dec_storage_class(struct decoder *d, struct err *e);
bool dec_attachment(struct decoder *d, struct err *e);
bool dec_pdb(struct decoder *d, struct err *e);
bool dec_namespace(struct decoder *d, struct err *e);
bool dec_service(struct decoder *d, struct err *e);
bool dec_podtemplate(struct decoder *d, struct err *e);
bool dec_buffer(struct decoder *d, struct err *e);
bool dec_overlay(struct decoder *d, struct err *e);

/* The object is of the kind, whatever it says itself. */
bool k8s_decode_as(struct decoder *d, const struct tree *t, enum object_kind kind, struct err *e);

/* spec.nodeClassRef of NodePools and NodeClaims. */
bool dec_class_ref(struct decoder *d, const struct tree *spec, const char *kind, str name, struct nodeclass_ref *ret,
                   struct err *e);
