/* thing - the schema of a custom kind with a field of every sort, for tests of patches and server-side apply. What it stands for
 * is in thing.yaml, so that a real server can be asked what it does with such an object. */
#pragma once

#include "sim/kube/schema.h"

extern const struct schema thing_schema;
