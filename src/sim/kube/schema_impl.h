/* schema_impl - shared by the files that make and walk schemas. Private to schema*.c and openapi.c. */
#pragma once

#include "base/sb.h"
#include "data/tree.h"
#include "sim/kube/schema.h"

/* All bounds absent. */
struct schema *schema_new(struct arena *a, enum schema_type type);
/* A built-in type by its name; NULL when there is none. */
const struct schema *schema_type(str name);
const char *schema_type_name(enum schema_type t); /* "integer", as in OpenAPI; "" for none */
/* "spec.taints[2].key": adds to the path; the answer is what to cut it back to. */
size_t path_field(struct sb *path, str name);
size_t path_index(struct sb *path, uint32_t ix);
void path_cut(struct sb *path, size_t n);

/* Whether a list's two members have the same keys; absent keys count as their defaults. */
bool schema_same_keys(const struct schema *list, const struct tree *a, const struct tree *b);
/* The member of an old list that a new member continues: by keys, in lists that are maps. NULL: none. */
const struct tree *schema_counterpart(const struct schema *list, const struct tree *old, const struct tree *item);

/* Whether a text is of a format that the server checks; unknown formats take anything. */
bool schema_format_ok(str format, str text);

/* CEL rules of the whole object; old_is_valid: as in schema_validate(). */
void schema_check_rules(const struct schema *s, const struct tree *obj, const struct tree *old, bool old_is_valid,
                        struct causes *out);
