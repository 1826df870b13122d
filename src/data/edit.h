/* edit - changes trees in place. What is added lives in the arena that is passed; parsed trees may be edited too.
 *
 * A pointer to a member is good until the map or list that holds it gets or loses a member.
 */
#pragma once

#include "data/tree.h"

struct tree *tree_new_map(struct arena *a);
struct tree *tree_new_list(struct arena *a);
struct tree tree_of_str(str s); /* not copied */
struct tree tree_of_i64(struct arena *a, int64_t v);
struct tree tree_of_bool(bool v);
struct tree tree_of_null(void);

/* Deep: nothing of the copy points into the original. */
struct tree *tree_copy(struct arena *a, const struct tree *t);
/* A copy that can be changed by itself and shares the text of strings, for as long as that is there. */
struct tree *tree_twin(struct arena *a, const struct tree *t);
/* Maps in any order of keys, numbers by value, lists in order. */
bool tree_equal(const struct tree *a, const struct tree *b);
/* Written in the same way: keys in the same order, numbers with the same digits. Costs nothing where one is part of the other. */
bool tree_same(const struct tree *a, const struct tree *b);

/* The member itself, null or not; NULL when there is none. */
struct tree *tree_find(struct tree *map, str key);
/* The member for this key, made if need be: null then. */
struct tree *tree_put(struct arena *a, struct tree *map, str key);
void tree_set(struct arena *a, struct tree *map, const char *key, struct tree value);
void tree_set_str(struct arena *a, struct tree *map, const char *key, str value); /* not copied */
void tree_set_i64(struct arena *a, struct tree *map, const char *key, int64_t value);
void tree_set_bool(struct arena *a, struct tree *map, const char *key, bool value);
bool tree_drop(struct tree *map, str key); /* the others keep their order */

/* The map under this key, made if it is absent or null; NULL if something else is there. */
struct tree *tree_sub(struct arena *a, struct tree *map, const char *key);
/* tree_sub() along a path: tree_path(a, obj, "spec", "template", NULL). */
struct tree *tree_path(struct arena *a, struct tree *map, ...) __attribute__((sentinel));
struct tree *tree_sublist(struct arena *a, struct tree *map, const char *key);

struct tree *tree_push(struct arena *a, struct tree *list, struct tree value);
struct tree *tree_insert(struct arena *a, struct tree *list, uint32_t at, struct tree value);
void tree_remove(struct tree *list, uint32_t at);

/* Whole numbers only; false otherwise. */
bool tree_to_i64(const struct tree *t, int64_t *ret);
