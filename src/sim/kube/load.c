/* Objects from texts and back: manifests as people write them, and the state of the whole server. */
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/kube_int.h"

/* ---- manifests ---- */

static bool explain(struct err *e, const struct tree *obj, const struct status *st)
{
    return err_set(e, st->code == 409 ? ERR_CONFLICT : ERR_INVALID, STR_FMT " \"" STR_FMT "\": " STR_FMT,
                   STR_ARG(tree_str(tree_get(obj, "kind"))), STR_ARG(tree_str(tree_at(obj, "metadata", "name", NULL))),
                   STR_ARG(st->message));
}

static bool create_or_replace(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj,
                              struct status *st)
{
    struct tree *meta = tree_sub(a, obj, "metadata");
    str ns = tree_str(tree_get(meta, "namespace"));

    if (meta) {
        (void)tree_drop(meta, STR("resourceVersion"));
        (void)tree_drop(meta, STR("uid"));
        if (kind->namespaced && ns.n == 0)
            tree_set_str(a, meta, "namespace", ns = STR("default"));
    }
    if (kube_get(k, kind, ns, tree_str(tree_get(meta, "name"))))
        return kube_update(k, a, kind, NULL, obj, NULL, st);
    return kube_create(k, a, kind, obj, NULL, st);
}

static bool load_one(struct kube *k, const char *name, const struct tree *t, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(64 << 10);
    const struct kind *kind = kind_of_object(k, t);
    struct tree *obj = tree_copy(a, t);
    struct status st;

    if (!kind)
        return err_set(e, ERR_INVALID, "%s:%u: no kind \"" STR_FMT "\" in version \"" STR_FMT "\"", name, t->line,
                       STR_ARG(tree_str(tree_get(t, "kind"))), STR_ARG(tree_str(tree_get(t, "apiVersion"))));
    if (!create_or_replace(k, a, kind, obj, &st)) {
        (void)explain(e, t, &st);
        return err_wrap(e, "%s:%u", name, t->line);
    }
    if (kind == k->crds) /* what follows in the text may be of this kind */
        crd_sync(k, tree_str(tree_at(t, "metadata", "name", NULL)));
    return true;
}

bool kube_load(struct kube *k, const char *name, str text, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open_bytes(name, text, e);
    const struct tree *t = NULL;

    if (!r)
        return false;
    do {
        if (!reader_next(r, &t, e) || (t && !load_one(k, name, t, e)))
            return false;
    } while (t);
    return true;
}

/* ---- the whole server ---- */

static bool is_saved(const struct kube *k, const struct kind *kind)
{
    return kind && kind != k->events && !(str_is(kind->name, "Lease") && str_is(kind->group, "coordination.k8s.io"));
}

void kube_save(struct kube *k, struct sb *out)
{
    bool any = false;

    sb_c(out, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"");
    sb_u64(out, k->rv);
    sb_c(out, "\"},\"items\":[");
    for (uint32_t i = 0; i < k->kinds.n; i++) {
        if (!is_saved(k, k->kinds.v[i]))
            continue;
        struct cursor c = store_from(k, k->kinds.v[i], (str){0});
        const struct object *o;

        while ((o = cursor_next(&c))) {
            sb_c(out, any ? ",\n" : "\n");
            sb_str(out, o->json);
            any = true;
        }
    }
    sb_c(out, "\n]}\n");
}

struct saved {
    struct arena *a;
    VEC(struct tree *) objects;
};

static bool defines(const struct tree *crd, const struct tree *obj)
{
    str api = tree_str(tree_get(obj, "apiVersion")), group, version;

    return str_is(tree_str(tree_get(crd, "kind")), "CustomResourceDefinition") && str_cut(api, '/', &group, &version) &&
           str_eq(tree_str(tree_at(crd, "spec", "group", NULL)), group) &&
           str_eq(tree_str(tree_at(crd, "spec", "names", "kind", NULL)), tree_str(tree_get(obj, "kind")));
}

static bool will_be_known(struct kube *k, const struct saved *s, const struct tree *obj)
{
    if (kind_of_object(k, obj))
        return true;
    for (uint32_t i = 0; i < s->objects.n; i++) /* definitions come first in what was saved */
        if (defines(s->objects.v[i], obj))
            return true;
    return false;
}

static bool read_rv(const struct tree *obj, uint64_t *ret)
{
    int64_t rv;

    if (!str_to_i64(tree_str(tree_at(obj, "metadata", "resourceVersion", NULL)), &rv) || rv <= 0)
        return false;
    *ret = (uint64_t)rv;
    return true;
}

static bool check_saved(struct kube *k, const char *name, const struct saved *s, struct err *e)
{
    for (uint32_t i = 0; i < s->objects.n; i++) {
        struct tree *obj = s->objects.v[i];
        const struct tree *meta = tree_get(obj, "metadata");
        struct kind any = {.name = tree_str(tree_get(obj, "kind"))};
        struct status st;
        uint64_t rv;

        if (!will_be_known(k, s, obj))
            return err_set(e, ERR_INVALID, "%s:%u: no kind \"" STR_FMT "\"", name, obj->line, STR_ARG(any.name));
        if (!meta_decodes(s->a, &any, obj, &st))
            return err_set(e, ERR_INVALID, "%s:%u: " STR_FMT, name, obj->line, STR_ARG(st.message));
        if (!read_rv(obj, &rv) || tree_str(tree_get(meta, "uid")).n == 0 || tree_str(tree_get(meta, "name")).n == 0)
            return err_set(e, ERR_INVALID, "%s:%u: metadata has no name, uid or resourceVersion", name, obj->line);
    }
    return true;
}

static void put_back(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj)
{
    uint64_t rv = 0;

    (void)read_rv(obj, &rv);
    kind = shape_to_stored(a, kind, obj);
    draft_write(&k->draft, a, kind, obj, rv, NULL);
    kube_put_back(k, draft_keep(&k->draft));
}

/* Definitions first: they make the kinds that the rest may need. A definition that is refused after all leaves its objects out. */
static void restore_all(struct kube *k, const struct saved *s)
{
    for (uint32_t i = 0; i < s->objects.n; i++)
        if (kind_of_object(k, s->objects.v[i]) == k->crds) {
            put_back(k, s->a, k->crds, s->objects.v[i]);
            crd_sync(k, tree_str(tree_at(s->objects.v[i], "metadata", "name", NULL)));
        }
    for (uint32_t i = 0; i < s->objects.n; i++) {
        const struct kind *kind = kind_of_object(k, s->objects.v[i]);

        if (kind && kind != k->crds)
            put_back(k, s->a, kind, s->objects.v[i]);
    }
}

bool kube_restore(struct kube *k, const char *name, str text, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open_bytes(name, text, e);
    AUTO(arena) struct arena *a = arena_new(1 << 20);
    struct saved s = {.a = a};
    const struct tree *t = NULL;
    bool ok = r != NULL;

    while (ok && (ok = reader_next(r, &t, e)) && t)
        vec_push(&s.objects, tree_copy(a, t));
    ok = ok && check_saved(k, name, &s, e);
    if (ok)
        restore_all(k, &s);
    vec_fini(&s.objects);
    return ok;
}
