/* build - what goes into a snapshot, step by step. Inner header of state/.
 *
 * state_build() takes all steps, on the objects of a file. The store (store.h) keeps most of their outcome up to date
 * and takes only those whose outcome depends on the moment.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "state/state.h"

struct build {
    struct arena *arena; /* of the snapshot */
    struct objects *o;   /* NULL: the store's, and nobody wants notes */
    struct syms *syms;
    struct snapshot *s;
    /* Indexes into the arrays of the snapshot, or MAP_NONE. */
    const struct build_lookups *find;
    const void *finder;
};

struct build_lookups {
    uint32_t (*pvc)(const struct build *b, sym ns, str name);
    uint32_t (*pv)(const struct build *b, str name);
    uint32_t (*storage_class)(const struct build *b, str name);
};

bool build_workloads(struct build *b, struct err *e); /* adds missing replicas to o->pods */
bool build_buffers(struct build *b,
                   struct err *e); /* adds pods of capacity buffers to o->pods, if their gate is open */
void build_nodes(struct build *b);
void build_daemons(struct build *b);

/* --- shared with the store ------------------------------------------------------------------------------------------- */

/* Run-time validation and node classes: those that may not be used have ready = COND_FALSE afterwards. */
void build_pools(struct build *b);
/* The default storage class for claims that name none. */
void build_default_class(struct build *b);

/* What identifies the machine of a Node; empty when the Node is not looked at yet. */
str build_machine_id(const struct syms *t, const struct node *n);
/* Everything about a machine but its pods, from its Node and NodeClaim. */
void build_machine(struct arena *a, struct syms *t, struct state_node *s);

/* Of two pods of a DaemonSet, which stands for it: the newest; of equally old ones the first by uid, then by name. */
bool build_stands_for(const struct pod *p, const struct pod *than);
/* What the planner gets to see of the pod that stands for the DaemonSet. */
const struct pod *build_representative(struct arena *a, const struct daemonset *ds, const struct pod *live);

/* Pending, refused and moving pods, when all else is in place. Candidates: pods that wait for a place, ascending. Pods of
 * buffers are not validated (scheduling 21.3). */
void build_pending(struct build *b, const uint32_t *candidates, uint32_t n, const uint32_t *of_buffers, uint32_t n_of);
/* Why the claims of a pod keep it from being planned; empty when they do not (scheduling 15.2). */
str volumes_refuse(struct build *b, const struct pod *p);
