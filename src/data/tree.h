/* tree - one read-only shape for JSON and YAML values, with the place each came from.
 *
 * A tree lives in the arena it was built in. Scalars keep their source text: numbers are checked for
 * well-formedness only, so that 0.1, 1e3 and a quantity written without quotes arrive exactly as written.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum tree_kind { TREE_NULL, TREE_BOOL, TREE_NUMBER, TREE_STRING, TREE_LIST, TREE_MAP };

struct tree {
    enum tree_kind kind;
    uint32_t line, col; /* from 1; 0 when unknown */
    uint32_t n;         /* members of a list or map */
    uint32_t cap;       /* room for members; edit.h */
    bool truth;         /* TREE_BOOL */
    str text;           /* TREE_STRING: content; TREE_NUMBER, TREE_BOOL: as written */
    struct tree *items; /* TREE_LIST, TREE_MAP: the values, in source order */
    str *keys;          /* TREE_MAP: keys[i] names items[i]; unique */
};

/* The member, or NULL when t is NULL, not a map, or has no such key. A null member counts as absent. */
const struct tree *tree_get_str(const struct tree *t, str key);

static inline const struct tree *tree_get(const struct tree *t, const char *key) /* here: most lengths are constants */
{
    return tree_get_str(t, str_c(key));
}

/* tree_at(t, "spec", "template", NULL): tree_get() along a path. */
const struct tree *tree_at(const struct tree *t, ...) __attribute__((sentinel));

/* What the value is when it is a string (or any scalar for tree_scalar()); empty otherwise. */
str tree_str(const struct tree *t);
str tree_scalar(const struct tree *t);
bool tree_is_true(const struct tree *t);

const char *tree_kind_name(enum tree_kind k); /* "a map", "a string", … for messages */

/* Numbers of the members of a map, in byte order of their keys. */
uint32_t *tree_key_order(struct arena *a, const struct tree *map);

/* For those who build trees: the first key that was there before, or n. */
uint32_t tree_repeated_key(const str *keys, uint32_t n);
