/* Looking at other objects during admission. */
#include "sim/kube/rules/around.h"

const struct object *around_find(const struct rule_context *c, const char *group, const char *kind, str ns, str name)
{
    const struct kind *k = c->kube ? kube_kind(c->kube, str_c(group), str_c(kind)) : NULL;

    return k ? kube_get(c->kube, k, ns, name) : NULL;
}

struct tree *around_get(const struct rule_context *c, const char *group, const char *kind, str ns, str name)
{
    const struct object *o = around_find(c, group, kind, ns, name);

    return o ? kube_tree(c->a, o) : NULL;
}

void around_each(const struct rule_context *c, const char *group, const char *kind,
                 void (*fn)(void *ctx, const struct object *o), void *ctx)
{
    const struct kind *k = c->kube ? kube_kind(c->kube, str_c(group), str_c(kind)) : NULL;

    if (k)
        kube_each(c->kube, k, (str){0}, fn, ctx);
}
