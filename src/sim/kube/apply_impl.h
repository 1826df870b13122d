/* apply_impl - the steps of server-side apply, for apply.c. Trees that come out share what is unchanged with those that went in. */
#pragma once

#include "data/tree.h"
#include "sim/kube/schema.h"

struct apply_options;
struct status;

/* Whether a configuration fits the schema; if not, one sentence for each field that does not. */
bool config_fits(struct arena *a, const struct schema *s, const struct tree *config, const struct apply_options *o,
                 struct status *st);

/* live with the values of config; neither is changed. */
struct tree typed_merge(struct arena *a, const struct schema *s, const struct tree *live, const struct tree *config);

/* t without the members of the set. What becomes empty by this is null. */
struct tree typed_without(struct arena *a, const struct schema *s, const struct tree *t, const struct tree *set);

/* The set and every field of a struct that it says something about: the struct goes with the last of what was said. */
const struct tree *typed_with_structs(struct arena *a, const struct schema *s, const struct tree *set);
