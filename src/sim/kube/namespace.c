/* The end of a namespace: everything in it is deleted; when nothing is left, the finalizer "kubernetes" of its spec goes, and
 * with it the namespace. What still stands in the way is told by its conditions. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

#define LOOK_AGAIN_US 50000 /* many objects go at once: one look for all of them */

struct remains {
    struct sb content, finalizers; /* sentences */
    VEC(str) names;                /* of finalizers */
    VEC(uint32_t) counts;
};

/* ---- deleting what is there ---- */

static void delete_content(struct kube *k, struct arena *a, const struct kind *kind, str ns)
{
    struct listing *l = listing_new(k, kind, ns);

    for (uint32_t i = 0; i < l->n; i++)
        if (!l->objects[i]->deleted_ms)
            remove_by_server(k, a, l->objects[i], "Background");
    listing_free(l);
}

/* ---- what is left ---- */

static void count_finalizer(struct remains *r, str name)
{
    uint32_t at = 0;

    while (at < r->names.n && str_cmp(r->names.v[at], name) < 0)
        at++;
    if (at < r->names.n && str_eq(r->names.v[at], name)) {
        r->counts.v[at]++;
        return;
    }
    vec_push(&r->names, name);
    vec_push(&r->counts, 1);
    memmove(&r->names.v[at + 1], &r->names.v[at], (r->names.n - 1 - at) * sizeof(*r->names.v));
    memmove(&r->counts.v[at + 1], &r->counts.v[at], (r->counts.n - 1 - at) * sizeof(*r->counts.v));
    r->names.v[at] = name;
    r->counts.v[at] = 1;
}

static uint32_t count_kind(struct kube *k, struct arena *a, const struct kind *kind, str ns, struct remains *r)
{
    struct cursor c = store_from(k, kind, ns);
    const struct object *o;
    uint32_t n = 0;

    while ((o = cursor_next(&c)) && str_eq(o->ns, ns)) {
        n++;
        if (o->n_finalizers == 0)
            continue;
        const struct tree *list = tree_at(kube_tree(a, o), "metadata", "finalizers", NULL);
        for (uint32_t i = 0; i < list->n; i++)
            count_finalizer(r, tree_str(&list->items[i]));
    }
    return n;
}

static int by_text(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* false: nothing is left. */
static bool find_remains(struct kube *k, struct arena *a, str ns, struct remains *r)
{
    VEC(str) lines = {0};

    for (uint32_t i = 0; i < k->kinds.n; i++) {
        const struct kind *kind = k->kinds.v[i];
        uint32_t n = kind && kind->namespaced ? count_kind(k, a, kind, ns, r) : 0;

        if (n)
            vec_push(&lines, arena_printf(a, STR_FMT "." STR_FMT " has %u resource instances", STR_ARG(kind->plural),
                                          STR_ARG(kind->group), n));
    }
    sort_stable(lines.v, lines.n, sizeof(str), by_text, NULL);
    for (uint32_t i = 0; i < lines.n; i++)
        sb_printf(&r->content, "%s" STR_FMT, i ? ", " : "Some resources are remaining: ", STR_ARG(lines.v[i]));
    for (uint32_t i = 0; i < r->names.n; i++)
        sb_printf(&r->finalizers, "%s" STR_FMT " in %u resource instances",
                  i ? ", " : "Some content in the namespace has finalizers remaining: ", STR_ARG(r->names.v[i]),
                  r->counts.v[i]);
    bool any = lines.n > 0;
    vec_fini(&lines);
    return any;
}

static void report(struct kube *k, struct arena *a, const struct object *ns, struct remains *r)
{
    int64_t now_ms = world_now_ms(k->world);
    struct tree *obj = object_tree(a, ns);

    condition_set(a, obj, "NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
                  "All resources successfully discovered", now_ms);
    condition_set(a, obj, "NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
                  "All legacy kube types successfully parsed", now_ms);
    condition_set(a, obj, "NamespaceDeletionContentFailure", "False", "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization", now_ms);
    if (r->content.n)
        condition_set(a, obj, "NamespaceContentRemaining", "True", "SomeResourcesRemain", sb_cstr(&r->content), now_ms);
    else
        condition_set(a, obj, "NamespaceContentRemaining", "False", "ContentRemoved",
                      "All content successfully removed", now_ms);
    if (r->finalizers.n)
        condition_set(a, obj, "NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain", sb_cstr(&r->finalizers),
                      now_ms);
    else
        condition_set(a, obj, "NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers",
                      "All content-preserving finalizers finished", now_ms);
    (void)write_revision(k, a, ns, obj);
}

static void release(struct kube *k, struct arena *a, const struct object *ns)
{
    struct tree *obj = object_tree(a, ns);
    struct tree *list = tree_sublist(a, tree_sub(a, obj, "spec"), "finalizers");

    object_ref(ns);
    for (uint32_t i = list ? list->n : 0; i-- > 0;)
        if (str_is(tree_str(&list->items[i]), "kubernetes"))
            tree_remove(list, i);
    write_finalizers(k, a, ns, obj);
    object_unref(ns);
}

/* ---- the loop ---- */

static void empty(void *ctx, str name)
{
    struct kube *k = ctx;
    AUTO(arena) struct arena *a = arena_new(16 << 10);
    const struct object *ns = kube_get(k, k->namespaces, (str){0}, name);
    struct remains r = {0};

    if (!ns || !ns->deleted_ms)
        return;
    for (uint32_t i = 0; i < k->kinds.n; i++)
        if (k->kinds.v[i] && k->kinds.v[i]->namespaced)
            delete_content(k, a, k->kinds.v[i], name);
    bool left = find_remains(k, a, name, &r);
    report(k, a, kube_get(k, k->namespaces, (str){0}, name), &r);
    if (!left)
        release(k, a, kube_get(k, k->namespaces, (str){0}, name));
    sb_fini(&r.content);
    sb_fini(&r.finalizers);
    vec_fini(&r.names);
    vec_fini(&r.counts);
}

static void on_change(void *ctx, const struct change *c)
{
    struct kube *k = ctx;
    const struct object *o = c->new ? c->new : c->old;

    if (o->kind == k->namespaces) {
        if (c->new && c->new->deleted_ms && !(c->old && c->old->deleted_ms))
            work_add(k->namespaces_work, o->name);
        return;
    }
    if (c->new || o->ns.n == 0)
        return;
    const struct object *ns = kube_get(k, k->namespaces, (str){0}, o->ns);
    if (ns && ns->deleted_ms)
        work_add_after(k->namespaces_work, o->ns, LOOK_AGAIN_US);
}

void namespaces_init(struct kube *k)
{
    k->namespaces_work = work_new(k->world, "namespaces", empty, k);
    kube_subscribe(k, NULL, on_change, k);
}
