#include "model/nodepool.h"

int64_t nodeclaim_settled_ms(const struct nodepool *p, const struct nodeclaim *c)
{
    int64_t after_ns = p->consolidate_after_ns;

    if (after_ns == DURATION_NEVER || after_ns == 0 || c->initialized != COND_TRUE)
        return INT64_MIN;
    int64_t from_ms = c->last_pod_event_ms != INT64_MIN ? c->last_pod_event_ms : c->initialized_ms;
    return from_ms == INT64_MIN ? INT64_MIN : sat_add(from_ms, (after_ns - 1) / 1000000 + 1);
}

double nodeclaim_lifetime_left(const struct nodeclaim *c, int64_t now_ms)
{
    if (c->expire_after_ns == DURATION_NEVER)
        return 1;
    if (c->expire_after_ns <= 0)
        return 0;
    double all_ms = (double)c->expire_after_ns / 1e6, age_ms = (double)sat_sub(now_ms, c->created_ms);
    double left = (all_ms - age_ms) / all_ms;
    return left < 0 ? 0 : left > 1 ? 1 : left;
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

str nodeclass_label(struct arena *a, const struct nodeclass_ref *r)
{
    str key = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(r->group), STR_ARG(r->kind));
    char *p = (char *)key.p + r->group.n + 1;

    for (size_t i = 0; i < r->kind.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return key;
}

static struct annotation *annotations_dup(struct arena *a, const struct annotation *v, uint32_t n)
{
    struct annotation *ret = arena_new_array(a, struct annotation, n);

    for (uint32_t i = 0; i < n; i++)
        ret[i] = (struct annotation){arena_strdup(a, v[i].key), arena_strdup(a, v[i].val)};
    return ret;
}

static struct nodeclass_ref ref_dup(struct arena *a, const struct nodeclass_ref *r)
{
    return (struct nodeclass_ref){arena_strdup(a, r->group), arena_strdup(a, r->kind), arena_strdup(a, r->name)};
}

struct nodeclaim *nodeclaim_dup(struct arena *a, const struct nodeclaim *c)
{
    struct nodeclaim *d = arena_dup_array(a, struct nodeclaim, c, 1);

    d->name = arena_strdup(a, c->name);
    d->uid = arena_strdup(a, c->uid);
    d->provider_id = arena_strdup(a, c->provider_id);
    d->node_name = arena_strdup(a, c->node_name);
    d->image_id = arena_strdup(a, c->image_id);
    d->annotations = annotations_dup(a, c->annotations, c->n_annotations);
    d->taints.v = arena_dup_array(a, struct taint, c->taints.v, c->taints.n);
    d->startup_taints.v = arena_dup_array(a, struct taint, c->startup_taints.v, c->startup_taints.n);
    d->requirements = arena_dup_array(a, struct req_expr, c->requirements, c->n_requirements);
    for (uint32_t i = 0; i < c->n_requirements; i++)
        d->requirements[i].vals = arena_dup_array(a, sym, c->requirements[i].vals, c->requirements[i].n_vals);
    d->requests = reslist_dup(a, &c->requests);
    d->capacity = reslist_dup(a, &c->capacity);
    d->allocatable = reslist_dup(a, &c->allocatable);
    d->class_ref = ref_dup(a, &c->class_ref);
    return d;
}

struct nodeclass *nodeclass_dup(struct arena *a, const struct nodeclass *k)
{
    struct nodeclass *d = arena_dup_array(a, struct nodeclass, k, 1);

    d->group = arena_strdup(a, k->group);
    d->kind = arena_strdup(a, k->kind);
    d->name = arena_strdup(a, k->name);
    d->ready_message = arena_strdup(a, k->ready_message);
    d->annotations = annotations_dup(a, k->annotations, k->n_annotations);
    return d;
}
