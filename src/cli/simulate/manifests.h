/* manifests - the objects that a simulation begins with: of files, or of a cluster that is asked for them.
 *
 * What a cluster made by itself is left out (pods and ReplicaSets of Deployments, NodeClaims and their Nodes, Events, …), and so is what only it may write:
 * the simulated cluster makes these again. Node classes of cloud providers become KWOKNodeClasses of the same name, and NodePools refer to
 * those: the machines are kwok's, whatever the prices.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "data/tree.h"

struct manifest {
    const struct tree *obj;
    const char *file; /* where it is from; with obj->line */
    uint32_t rank;    /* in which order they are applied */
};

struct ignored {
    str kind; /* "monitoring.coreos.com/v1 ServiceMonitor" */
    uint32_t n;
};

struct manifests {
    struct arena *arena; /* the caller's; everything lives here */
    VEC(struct manifest) v;
    VEC(struct ignored) ignored; /* kinds that the simulated cluster has no use for */
    bool aws;                    /* a NodePool asks for machines of EC2 */
};

#define MANIFESTS_MAX 200000

void manifests_init(struct manifests *m, struct arena *a);
void manifests_fini(struct manifests *m);
bool manifests_read(struct manifests *m, const char *path, struct err *e); /* FILE, DIR or "-" */
/* One object of `file`, which lives as long; copied. */
bool manifests_add(struct manifests *m, const char *file, const struct tree *obj, struct err *e);

/* Whether the object says which machines there may be: NodePools, node classes, NodeOverlays. --compare replaces these. */
bool manifest_is_config(const struct manifest *m);
/* Of `base` all that says nothing about machines, of `config` all that does. Refers to both. */
void manifests_with_config(struct manifests *ret, const struct manifests *base, const struct manifests *config);
/* In the order in which they are applied, with the node classes and service accounts that are asked for and were not given. */
void manifests_finish(struct manifests *m);

#define RANK_WORKLOADS 100 /* from here on: applied when time begins */
