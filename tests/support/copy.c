#include "support/copy.h"

const struct api_kind copied_kind = {"", "v1", "configmaps", "ConfigMap", true};

static struct entry *entry_of(struct copy *c, const struct tree *obj)
{
    str name = tree_str(tree_at(obj, "metadata", "name", NULL));

    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(name, c->v[i].name))
            return &c->v[i];
    assert(c->n < ARRAY_LEN(c->v) && name.n < sizeof(c->v[0].name));
    memcpy(c->v[c->n].name, name.p, name.n);
    return &c->v[c->n++];
}

static uint64_t rv_of(const struct tree *obj)
{
    int64_t v = 0;

    (void)str_to_i64(tree_str(tree_at(obj, "metadata", "resourceVersion", NULL)), &v);
    return (uint64_t)v;
}

static void on_list_begin(void *ctx)
{
    struct copy *c = ctx;

    c->listing = true;
    for (uint32_t i = 0; i < c->n; i++)
        c->v[i].mentioned = false;
}

static void on_object(void *ctx, struct tree *obj)
{
    struct copy *c = ctx;
    struct entry *x = entry_of(c, obj);

    if (rv_of(obj) < x->rv)
        c->wrong = "an object goes back in time";
    if (!str_is(tree_str(tree_get(obj, "kind")), "ConfigMap") || !str_is(tree_str(tree_get(obj, "apiVersion")), "v1"))
        c->wrong = "an object does not say what it is";
    x->rv = rv_of(obj);
    x->there = x->mentioned = true;
    c->n_events++;
}

static void on_gone(void *ctx, const struct tree *obj)
{
    struct copy *c = ctx;
    struct entry *x = entry_of(c, obj);

    if (rv_of(obj) < x->rv)
        c->wrong = "an object goes before its time";
    x->rv = rv_of(obj);
    x->there = x->mentioned = false;
    c->n_events++;
}

static void on_list_end(void *ctx)
{
    struct copy *c = ctx;

    if (!c->listing)
        c->wrong = "a list ends that has not begun";
    c->listing = false;
    c->n_lists++;
    for (uint32_t i = 0; i < c->n; i++)
        c->v[i].there = c->v[i].mentioned;
}

static void on_error(void *ctx, const struct err *e)
{
    struct copy *c = ctx;

    c->n_errors++;
    c->last = *e;
}

struct reflector_events copy_events(struct copy *c)
{
    return (struct reflector_events){.ctx = c,
                                     .on_list_begin = on_list_begin,
                                     .on_object = on_object,
                                     .on_gone = on_gone,
                                     .on_list_end = on_list_end,
                                     .on_error = on_error};
}
