/* fleet - what has become of the cluster of a rig (rig.h): whether pods run, and whether NodeClaims, Nodes and what is on them fit together.
 */
#pragma once

#include "support/rig.h"

struct fleet {
    uint32_t n_pods, n_running; /* of namespace default, without those that are being deleted */
    uint32_t n_claims, n_ready;
    uint32_t n_nodes;   /* those with the label of a NodePool */
    uint32_t n_leaving; /* pods, NodeClaims and Nodes that are being deleted */
};

/* A NodePool of on-demand machines; `more` goes into its spec ("limits: {cpu: 8}"), in YAML's flow style, or is empty. Without "disruption: …" nodes stay for ever. */
void fleet_pool(struct rig *r, const char *name, const char *more, const char *more_template);
void fleet_class(struct rig *r);

void fleet_look(struct rig *r, struct fleet *ret);
/* A sentence for everything that may not be so once all is done: a NodeClaim without a Node, a Node without a NodeClaim, what is not ready, taints and finalizers that
 * should have gone, a lease whose holder is none of the replicas that live. Empty: all is well. */
void fleet_faults(struct rig *r, struct sb *out);
