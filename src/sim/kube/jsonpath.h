/* jsonpath - the part of JSONPath that printer columns of custom kinds use: .spec.name, .metadata.labels.a\.b/c, [0], [-1], [*],
 * ['name'], [?(@.type=="Ready")].
 */
#pragma once

#include "data/tree.h"

/* The first thing that the path finds; NULL: nothing, a null, or a path that cannot be read. */
const struct tree *jsonpath_first(struct arena *a, const struct tree *t, str path);
