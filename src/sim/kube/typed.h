/* typed - objects as server-side apply sees them: which values are taken apart and which belong together.
 *
 * Structs and maps are taken apart, unless they are atomic; lists only where they are sets or have keys. Where a schema does not
 * say anything (x-kubernetes-preserve-unknown-fields, any type), maps are taken apart and all else is one value.
 */
#pragma once

#include "data/tree.h"
#include "sim/kube/fields.h"
#include "sim/kube/schema.h"

struct apply_options;

#define TYPED_DEPTH 64 /* what lies deeper is one value: the sets have to fit into the object */

enum shape { SHAPE_LEAF, SHAPE_MAP, SHAPE_SET, SHAPE_KEYED };

/* Of a value, by the schema or by itself. A value of the wrong type is a leaf; null has the shape that its schema says. */
enum shape shape_of(const struct schema *s, const struct tree *t);

/* Absent, null or without members: such a value is compared and merged in one piece. */
static inline bool typed_hollow(const struct tree *t)
{
    return !t || t->n == 0;
}

/* A schema of whole objects, with metadata as all objects have it. */
const struct schema *typed_object(struct arena *a, const struct schema *s);

/* The schema of a member; NULL when nothing is said of it. */
const struct schema *typed_member(const struct schema *s, str key);

/* A member and the place where the next one is to be looked for first: mostly two maps were written in the same order. */
const struct tree *typed_find(const struct tree *map, str key, uint32_t *hint);

/* ---- items of sets and of lists with keys ---- */

/* The value of a key, or its default; NULL when there is neither. */
const struct tree *item_key(const struct schema *list, const struct tree *item, str key);
bool item_same(const struct schema *list, const struct tree *x, const struct tree *y);
/* The index of an item with the same keys, looked for from *hint on; list->n when there is none. */
uint32_t item_find(const struct schema *s, const struct tree *list, const struct tree *item, uint32_t *hint);
str item_step(struct arena *a, const struct schema *list, const struct tree *item);
str member_step(struct arena *a, str key);

/* ---- ownership ---- */

/* Where a walk is: at the top, in metadata, or below. */
enum realm { REALM_TOP, REALM_META, REALM_BELOW };

/* Whether anybody can own a member. Names, versions and the like belong to the server; a write to the object leaves its status
 * alone, and one to the status all else. */
bool ownable(const struct apply_options *o, const struct schema *s, enum realm r, str key);
enum realm realm_below(enum realm r, str key);

/* What differs between two versions of an object. */
struct difference {
    const struct tree *taken;   /* added or changed */
    const struct tree *removed; /* gone */
};

/* old NULL: everything is added, besides what an empty object of a built-in kind has. */
struct difference typed_compare(struct arena *a, const struct schema *s, const struct tree *old, const struct tree *obj,
                                const struct apply_options *o);

/* The fields that a configuration speaks of; o NULL: also those that nobody can own. */
const struct tree *typed_fields(struct arena *a, const struct schema *s, const struct tree *config,
                                const struct apply_options *o);
