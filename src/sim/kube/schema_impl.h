/* schema_impl - shared by the files that make and walk schemas. Private to schema*.c and openapi.c. */
#pragma once

#include "base/sb.h"
#include "sim/kube/schema.h"

/* All bounds absent. */
struct schema *schema_new(struct arena *a, enum schema_type type);
