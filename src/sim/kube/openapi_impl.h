/* openapi_impl - what the files that write OpenAPI documents share. Private to openapi*.c. */
#pragma once

#include "data/json.h"
#include "sim/kube/kind.h"
#include "sim/kube/schema_impl.h"

struct openapi {
    struct arena *a;
    struct jw w;
    bool v2;
};

/* {"$ref": "#/components/schemas/NAME"} */
void openapi_ref(struct openapi *o, str name);
/* The names of types: "io.k8s.api.core.v1.Pod", "sh.karpenter.v1.NodePool". */
str openapi_type(struct openapi *o, const struct kind *k);
str openapi_list_type(struct openapi *o, const struct kind *k);
bool openapi_has_list(const struct kind *k); /* reviews can only be created */

/* The value of components.schemas or definitions: what these kinds need, by name. */
void openapi_schemas(struct openapi *o, const struct kind *const *kinds, uint32_t n);
