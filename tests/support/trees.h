/* trees - values for tests, written as YAML: {spec: {items: [{name: a}]}}. */
#pragma once

#include "data/tree.h"

struct tree *tree_yaml(struct arena *a, const char *text);
str tree_text(struct arena *a, const struct tree *t); /* as compact JSON; NULL: "absent" */

/* const struct tree *got, const char *want as YAML. Maps in any order. */
#define check_tree(name, ...) check_tree_at(__FILE__, __LINE__, (name), __VA_ARGS__)
void check_tree_at(const char *file, int line, const char *name, const struct tree *got, const char *want);
