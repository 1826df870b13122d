/* The scale subresource: replicas of an object under one shape for all kinds (autoscaling/v1 Scale). */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

/* ".spec.replicas" */
static const struct tree *at_path(const struct tree *t, str path)
{
    str key;

    path = str_sub(path, 1, path.n);
    while (t && path.n) {
        (void)str_cut(path, '.', &key, &path);
        t = tree_find((struct tree *)t, key);
    }
    return t && t->kind != TREE_NULL ? t : NULL;
}

static bool set_at_path(struct arena *a, struct tree *t, str path, struct tree value)
{
    str key;

    path = str_sub(path, 1, path.n);
    while (t) {
        bool more = str_cut(path, '.', &key, &path);
        struct tree *child = t->kind == TREE_MAP ? tree_put(a, t, arena_strdup(a, key)) : NULL;

        if (child && !more) {
            *child = value;
            return true;
        }
        if (child && child->kind == TREE_NULL)
            *child = *tree_new_map(a);
        t = child;
    }
    return false;
}

/* ---- selectors as text ---- */

static int by_text(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

static str set_text(struct arena *a, const char *op, str key, const struct tree *values)
{
    struct sb b = {0};
    uint32_t n = values && values->kind == TREE_LIST ? values->n : 0;
    str *sorted = arena_new_array(a, str, n);

    for (uint32_t i = 0; i < n; i++)
        sorted[i] = tree_str(&values->items[i]);
    sort_stable(sorted, n, sizeof(str), by_text, NULL);
    sb_printf(&b, STR_FMT " %s (", STR_ARG(key), op);
    for (uint32_t i = 0; i < n; i++)
        sb_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(sorted[i]));
    sb_char(&b, ')');
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static str expression_text(struct arena *a, const struct tree *x)
{
    str key = tree_str(tree_get(x, "key")), op = tree_str(tree_get(x, "operator"));

    if (str_is(op, "Exists"))
        return key;
    if (str_is(op, "DoesNotExist"))
        return arena_printf(a, "!" STR_FMT, STR_ARG(key));
    return set_text(a, str_is(op, "In") ? "in" : "notin", key, tree_get(x, "values"));
}

static str selector_text(struct arena *a, const struct tree *t)
{
    const struct tree *labels = tree_get(t, "matchLabels"), *list = tree_get(t, "matchExpressions");
    VEC(str) parts = {0};
    struct sb b = {0};

    if (t->kind == TREE_STRING)
        return t->text;
    if (!labels && !list)
        labels = t;
    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++)
        vec_push(&parts,
                 arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(labels->keys[i]), STR_ARG(tree_str(&labels->items[i]))));
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        vec_push(&parts, expression_text(a, &list->items[i]));
    sort_stable(parts.v, parts.n, sizeof(str), by_text, NULL);
    for (uint32_t i = 0; i < parts.n; i++)
        sb_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(parts.v[i]));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    vec_fini(&parts);
    return s;
}

/* ---- there and back ---- */

struct tree *kube_scale_get(struct kube *k, struct arena *a, const struct object *o)
{
    static const char *const kept[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
    const struct tree *obj = kube_tree(a, o), *v;
    struct tree *scale = tree_new_map(a), *meta, *status;

    (void)k;
    tree_set_str(a, scale, "kind", STR("Scale"));
    tree_set_str(a, scale, "apiVersion", STR("autoscaling/v1"));
    meta = tree_sub(a, scale, "metadata");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if ((v = tree_at(obj, "metadata", kept[i], NULL)))
            tree_set(a, meta, kept[i], *v);
    v = at_path(obj, o->kind->scale_spec);
    (void)tree_sub(a, scale, "spec");
    if (v && !str_is(tree_scalar(v), "0"))
        tree_set(a, tree_sub(a, scale, "spec"), "replicas", *v);
    status = tree_sub(a, scale, "status");
    v = at_path(obj, o->kind->scale_status);
    tree_set(a, status, "replicas", v ? *v : tree_of_i64(a, 0));
    v = o->kind->scale_selector.n ? at_path(obj, o->kind->scale_selector) : NULL;
    if (v)
        tree_set_str(a, status, "selector", selector_text(a, v));
    return scale;
}

static bool refuse(struct arena *a, str name, const struct tree *replicas, struct status *st)
{
    struct kind scale = {.name = STR("Scale"), .group = STR("autoscaling")};
    struct causes c = {.a = a};

    cause_invalid(&c, STR("spec.replicas"), tree_scalar(replicas), "must be greater than or equal to 0");
    (void)status_invalid(a, st, &scale, name, &c);
    causes_fini(&c);
    return false;
}

bool kube_scale_put(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                    const struct tree *scale, const struct write_options *o, const struct object **ret,
                    struct status *st)
{
    const struct object *old = kube_get(k, kind, ns, name);
    const struct tree *replicas = tree_at(scale, "spec", "replicas", NULL);
    const struct tree *rv = tree_at(scale, "metadata", "resourceVersion", NULL);
    const struct tree *uid = tree_at(scale, "metadata", "uid", NULL);
    int64_t n = 0;

    if (!old)
        return status_not_found(a, st, kind, name);
    if (replicas && !tree_to_i64(replicas, &n))
        return status_bad_request(
            a, st, 400,
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal %s into "
            "Go struct field ScaleSpec.spec.replicas of type int32",
            replicas->kind == TREE_STRING ? "string" : "value");
    if (n < 0)
        return refuse(a, name, replicas, st);
    struct tree *obj = kube_tree(a, old), *meta = tree_sub(a, obj, "metadata");
    (void)tree_drop(meta, STR("resourceVersion"));
    if (tree_str(rv).n)
        tree_set_str(a, meta, "resourceVersion", tree_str(rv));
    if (tree_str(uid).n)
        tree_set_str(a, meta, "uid", tree_str(uid));
    if (!set_at_path(a, obj, kind->scale_spec, tree_of_i64(a, n)))
        return status_internal(a, st, "the scale subresource's path for replicas cannot be written");
    struct write w = {.k = k, .a = a, .kind = kind, .sub = "scale", .obj = obj, .o = o, .ret = ret, .st = st};
    return write_update(&w, old);
}

/* Replicas of a custom kind are an int32, whatever its schema says; the field is named by its path. */
void scale_validate(struct causes *c, const struct kind *kind, const struct tree *obj)
{
    const str paths[] = {kind->scale_spec, kind->scale_status};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const struct tree *v = at_path(obj, paths[i]);
        int64_t n;

        if (!v || !tree_to_i64(v, &n))
            continue;
        if (n < 0)
            cause_invalid(c, paths[i], v->text, "should be a non-negative integer");
        else if (n > INT32_MAX)
            cause_invalid(c, paths[i], v->text, "should be less than or equal to %d", INT32_MAX);
    }
}
