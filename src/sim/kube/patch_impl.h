/* patch_impl - what the files that change objects share. */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

struct schema;
struct status;

/* A value as Go's %v prints what JSON was decoded into: "map[a:1 b:[x y]]", keys in order. */
void go_value(struct sb *out, const struct tree *t);
str go_text(struct arena *a, const struct tree *t);
/* What Go calls the value: "map", "slice", "string", "int64", "float64", "bool". */
const char *go_kind(const struct tree *t);

/* Indexes of a map's members in the order of their keys; to be freed. */
uint32_t *keys_in_order(const struct tree *map);

/* Fills *st and returns false. */
PRINTF(5, 6) bool refuse(struct arena *a, struct status *st, int code, const char *reason, const char *fmt, ...);

/* Without the members that are null, however deep; null elements of lists stay. */
void drop_nulls(struct tree *t);

/* Whether each value of obj that the patch touched can be held by its field (patch_restore.c). */
bool restores(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *patch,
              struct status *st);
