/* workload - what the controllers of workloads have in common: pods from templates, pods that are theirs, counts. */
#pragma once

#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"
#include "sim/kube/cluster/readings.h"
#include "sim/kube/selector.h"

/* An object that is being worked on: one reference and its tree, in the scratch arena. */
struct subject {
    struct cluster *c;
    struct arena *a;
    const struct object *o;
    struct tree *t, *status; /* t: NULL after subject_look(); status is made when it is absent */
    const struct tree *spec; /* of t, or of the reading: read only */
    struct reading *reading; /* NULL after subject_begin() */
    int64_t generation, now_ms;
    str now;
};

/* false: there is none. Otherwise ends with subject_end(). */
bool subject_begin(struct subject *s, struct cluster *c, const struct kind *kind, str key);
/* Likewise for a kind that has readings: what is not its status is read when it changes, and not to be edited. */
bool subject_look(struct subject *s, struct cluster *c, const struct kind *kind, str key);
void subject_end(struct subject *s);
/* s->status as it is now. The controller of the kind knows its own hand: is_own_status() is true when the change is seen. */
bool subject_write_status(struct subject *s);

static inline bool is_own_status(const struct cluster *c, const struct seen *s)
{
    return s->new && s->new->kind == c->quiet;
}

void status_count(struct subject *s, const char *key, int64_t n); /* absent when 0 */

/* Takes over pods without owner that match spec.selector, lets go of owned ones that no longer do. The pods are then those of
 * pods_of_owner(). */
void claim_pods(struct subject *s);
void claim_object(struct subject *s, const struct object *o, bool adopt); /* makes it the subject's, or nobody's */
/* All objects of a kind in the subject's namespace that it controls, referenced, in order of name. */
typedef VEC(const struct object *) objects;
void children_of(struct subject *s, const struct kind *kind, objects *ret);
void objects_fini(objects *list);

/* A pod to be: metadata and spec of the template, the subject as its controller. name empty: generateName of the subject's. */
struct tree *pod_of_template(struct subject *s, const struct tree *template, str name);
/* Creates, and records the event; false: refused, and the reason is in *st. */
bool create_pod(struct subject *s, const char *component, struct tree *pod, const struct object **ret,
                struct status *st);
bool delete_pod(struct subject *s, const char *component, const struct pod_entry *e);

/* Wakes the controllers of a kind when a pod changes: its controller, or all in the namespace when it has none. */
void wake_owner(struct work *q, const struct kind *kind, const struct object *pod);
void wake_owners(struct cluster *c, struct work *q, const struct kind *kind, const struct seen *pod);
