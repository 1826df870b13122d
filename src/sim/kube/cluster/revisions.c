#include "sim/kube/cluster/revisions.h"

static const struct tree *template_of(struct arena *a, const struct tree *t)
{
    struct tree *copy = tree_copy(a, tree_at(t, "data", "spec", "template", NULL));

    tree_drop(copy, STR("$patch"));
    return copy;
}

static int compare_numbers(const void *x, const void *y, void *ctx)
{
    const struct revision *a = x, *b = y;

    (void)ctx;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void load(struct revisions *r, struct subject *s, const char *hash_label)
{
    objects list = {0};

    children_of(s, s->c->kinds.revision, &list);
    r->n = list.n;
    r->v = arena_new_array(s->a, struct revision, list.n);
    for (uint32_t i = 0; i < list.n; i++) {
        const struct object *o = list.v[i];
        struct tree *t = kube_tree(s->a, o);

        r->v[i] = (struct revision){.o = o,
                                    .number = field_i64(tree_get(t, "revision"), 0),
                                    .template = template_of(s->a, t),
                                    .name = o->name,
                                    .hash = object_label(o, str_c(hash_label))};
    }
    vec_fini(&list);
    sort_stable(r->v, r->n, sizeof(*r->v), compare_numbers, NULL);
}

static bool create(struct subject *s, const char *hash_label, int64_t number)
{
    struct arena *a = s->a;
    const struct kind *kind = s->c->kinds.revision;
    struct tree *template = tree_copy(a, tree_get(s->spec, "template"));
    str hash = template_hash(a, template, field_i64(tree_get(s->status, "collisionCount"), 0));
    struct tree *t =
        object_new(a, kind, s->o->ns, arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(s->o->name), STR_ARG(hash)));
    struct tree *meta = tree_sub(a, t, "metadata"), *labels = tree_sub(a, meta, "labels");
    const struct tree *annotations = tree_at(s->t, "metadata", "annotations", NULL);
    struct status st;

    strings_merge(a, labels, tree_at(template, "metadata", "labels", NULL));
    tree_set_str(a, labels, hash_label, hash);
    if (annotations)
        strings_merge(a, tree_sub(a, meta, "annotations"), annotations);
    set_controller(a, meta, s->o);
    tree_set_str(a, template, "$patch", STR("replace"));
    tree_set(a, tree_path(a, t, "data", "spec", NULL), "template", *template);
    tree_set_i64(a, t, "revision", number);
    return kube_create(s->c->k, a, kind, t, NULL, &st);
}

/* A template that was used before comes back: its revision becomes the newest. */
static bool renumber(struct subject *s, const struct revision *v, int64_t number)
{
    struct tree *t = kube_tree(s->a, v->o);

    tree_set_i64(s->a, t, "revision", number);
    return cluster_update(s->c, s->c->kinds.revision, NULL, t);
}

bool revisions_begin(struct revisions *r, struct subject *s, const char *hash_label)
{
    const struct tree *template = tree_get(s->spec, "template");
    bool wrote;

    load(r, s, hash_label);
    int64_t next = r->n ? revision_last(r)->number + 1 : 1;
    for (uint32_t i = r->n; i-- > 0;) {
        if (!tree_equal(r->v[i].template, template))
            continue;
        if (i + 1 == r->n)
            return true;
        wrote = renumber(s, &r->v[i], next);
        goto again;
    }
    wrote = create(s, hash_label, next);
again:
    revisions_end(r);
    if (wrote)
        load(r, s, hash_label);
    return wrote && r->n;
}

void revisions_end(struct revisions *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        object_unref(r->v[i].o);
    r->n = 0;
}

const struct revision *revision_named(const struct revisions *r, str name)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (str_eq(r->v[i].name, name))
            return &r->v[i];
    return NULL;
}

void revisions_trim(struct revisions *r, struct subject *s, bool (*in_use)(void *ctx, const struct revision *v),
                    void *ctx)
{
    int64_t limit = field_i64(tree_get(s->spec, "revisionHistoryLimit"), 10);
    uint32_t idle = 0;

    for (uint32_t i = 0; i + 1 < r->n; i++)
        idle += !in_use(ctx, &r->v[i]);
    for (uint32_t i = 0; i + 1 < r->n && idle > limit; i++)
        if (!in_use(ctx, &r->v[i])) {
            cluster_delete(s->c, r->v[i].o, -1);
            idle--;
        }
}
