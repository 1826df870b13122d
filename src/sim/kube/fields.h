/* fields - sets of field paths, kept as trees in the form of metadata.managedFields[].fieldsV1.
 *
 * {"f:spec":{"f:replicas":{},"f:ports":{".":{},"k:{\"port\":80}":{"f:name":{}}}}} holds .spec.replicas, .spec.ports and
 * .spec.ports[port=80].name. A step is "f:" and the name of a member, "k:" and the keys of a list's item as JSON, "v:" and a
 * set's item as JSON, or "i:" and an index. An empty map below the root is a member; "." makes one of a map that is not empty.
 *
 * Keys are in the order of a real server, "." first. Sets are never changed once made, and share what they have in common.
 */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

extern const struct tree fields_none;

/* A set that came from outside, sorted; NULL when it is none. */
const struct tree *fields_read(struct arena *a, const struct tree *t);

static inline bool fields_empty(const struct tree *set)
{
    return set->n == 0;
}

const struct tree *fields_union(struct arena *a, const struct tree *x, const struct tree *y);
const struct tree *fields_minus(struct arena *a, const struct tree *x,
                                const struct tree *y); /* x itself: nothing in common */
const struct tree *fields_common(struct arena *a, const struct tree *x, const struct tree *y);

/* What is below a step: NULL when nothing is. */
const struct tree *fields_below(const struct tree *set, str step);
bool fields_is_member(const struct tree *below); /* of a node that fields_below() found */

/* Building: a node collects what is below it in any order, fields_put() makes it part of the node above. */
struct field_node {
    bool member;
    struct tree kids;
};

void fields_put(struct arena *a, struct field_node *above, str step, struct field_node *node);
struct tree fields_done(struct arena *a, struct field_node *node); /* the root */

/* A tree as compact JSON with keys in order: for steps. */
void fields_json(struct sb *out, const struct tree *t);

str fields_step_text(struct arena *a, str step); /* .name, [port=80], [="a"], [0] */

/* Calls fn for each member, those of a node before what lies deeper. The path is spelled ".spec.ports[port=80].name". */
void fields_each(struct arena *a, const struct tree *set, void (*fn)(void *ctx, str path), void *ctx);
