/* revisions - the history of templates that DaemonSets and StatefulSets keep as ControllerRevisions. */
#pragma once

#include "sim/kube/cluster/workload.h"

struct revision {
    const struct object *o; /* referenced */
    int64_t number;
    const struct tree *template;
    str name, hash;
};

struct revisions {
    struct revision *v; /* oldest first; the last one has the current template */
    uint32_t n;
};

/* Loads the history and puts the current template at its end, writing what is missing. false: it cannot be written. */
bool revisions_begin(struct revisions *r, struct subject *s, const char *hash_label);
void revisions_end(struct revisions *r);
const struct revision *revision_named(const struct revisions *r, str name); /* NULL: none */

static inline const struct revision *revision_last(const struct revisions *r)
{
    return &r->v[r->n - 1];
}

/* Forgets the oldest ones that are not in use beyond spec.revisionHistoryLimit. */
void revisions_trim(struct revisions *r, struct subject *s, bool (*in_use)(void *ctx, const struct revision *v),
                    void *ctx);
