/* around - what rules ask about other objects. Without a server there are none. */
#pragma once

#include "sim/kube/kind.h"
#include "sim/kube/kube.h"

/* NULL when there is none. */
const struct object *around_find(const struct rule_context *c, const char *group, const char *kind, str ns, str name);
struct tree *around_get(const struct rule_context *c, const char *group, const char *kind, str ns, str name);
void around_each(const struct rule_context *c, const char *group, const char *kind,
                 void (*fn)(void *ctx, const struct object *o), void *ctx);
