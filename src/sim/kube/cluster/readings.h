/* readings - metadata and spec of objects whose status changes all the time: read once, for as long as they stay as they are.
 *
 * Of Deployments and ReplicaSets: each pod that comes or goes changes their status several times, and their controllers look
 * at the whole object every time.
 */
#pragma once

#include "sim/kube/kube.h"

struct cluster;

struct reading {
    str uid;                        /* first: the key */
    const struct object *o;         /* the revision that was read, referenced */
    struct arena *a;                /* of the trees */
    const struct tree *meta, *spec; /* NULL when absent */
    uint64_t serial;                /* another one after each change */
    uint64_t asked;                 /* a caller's note: of which other reading's serial … */
    bool said;                      /* … the answer is this */
};

struct readings *readings_new(struct cluster *c);
void readings_free(struct readings *p);
/* Good until the object changes and is asked for again, or goes. */
struct reading *reading_of(struct readings *p, const struct object *o);
