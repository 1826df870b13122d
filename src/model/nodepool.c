#include "model/nodepool.h"

int64_t nodeclaim_settled_ms(const struct nodepool *p, const struct nodeclaim *c)
{
    int64_t after_ns = p->consolidate_after_ns;

    if (after_ns == DURATION_NEVER || after_ns == 0 || c->initialized != COND_TRUE)
        return INT64_MIN;
    int64_t from_ms = c->last_pod_event_ms != INT64_MIN ? c->last_pod_event_ms : c->initialized_ms;
    return from_ms == INT64_MIN ? INT64_MIN : sat_add(from_ms, (after_ns - 1) / 1000000 + 1);
}

str annotation_value(const struct annotation *v, uint32_t n, const char *key)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].key, key))
            return v[i].val;
    return (str){0};
}

const struct nodeclass *nodeclass_find(const struct nodeclass *v, uint32_t n, const struct nodeclass_ref *r)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i].name, r->name) && str_eq(v[i].kind, r->kind) && str_eq(v[i].group, r->group))
            return &v[i];
    return NULL;
}
