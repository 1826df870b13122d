/* build - what the steps of state_build() share. Inner header of state/. */
#pragma once

#include "base/map.h"
#include "state/state.h"

struct build {
    struct arena *arena; /* of the snapshot */
    struct objects *o;
    struct syms *syms;
    struct snapshot *s;
    /* Indexes by name; the text of their keys is in the arena. */
    struct strmap pvcs; /* "namespace/name" */
    struct strmap pvs, classes;
};

bool build_workloads(struct build *b, struct err *e); /* adds missing replicas to o->pods */
void build_pools(struct build *b);                    /* run-time validation, node classes */
void build_nodes(struct build *b);
void build_daemons(struct build *b);
void build_volumes(struct build *b); /* default storage class, the indexes above */
void build_pending(struct build *b); /* pending, refused, moving */

/* Why the claims of a pod keep it from being planned; empty when they do not (scheduling 15.2). */
str volumes_refuse(struct build *b, const struct pod *p);
