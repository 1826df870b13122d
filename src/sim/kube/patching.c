/* Patches: read, patch, write. Everything happens on one thread, so nobody can be faster in between. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"
#include "sim/kube/patch.h"

struct patching {
    struct kube *k;
    struct arena *a;
    const struct kind *kind;
    str ns, name;
    const char *sub;
    enum patch_kind how;
    const struct tree *patch;
    bool force;
    const struct write_options *o;
    struct status *st;
};

static bool unsupported(struct patching *p)
{
    return status_bad_request(
        p->a, p->st, 415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

static bool apply(struct patching *p, const struct kind *kind, struct tree **live)
{
    struct apply_options o = {.manager = p->o ? p->o->manager : (str){0},
                              .subresource = str_c(p->sub ? p->sub : ""),
                              .api_version = kind_api_version(p->a, kind),
                              .kind = kind->name,
                              .has_status = kind->has_status,
                              .force = p->force,
                              .now_ms = world_now_ms(p->k->world)};

    return apply_patch(p->a, kind->schema, live, p->patch, &o, p->st);
}

static bool patch_tree(struct patching *p, struct tree **live)
{
    switch (p->how) {
    case PATCH_JSON:
        return patch_json(p->a, *live, p->patch, p->st);
    case PATCH_MERGE:
        return patch_merge(p->a, *live, p->patch, p->st);
    case PATCH_STRATEGIC:
        return p->kind->crd ? unsupported(p) : patch_strategic(p->a, p->kind->schema, *live, p->patch, p->st);
    case PATCH_APPLY:
        return apply(p, p->kind, live);
    }
    return false;
}

/* The patch must not make another object of it. */
static bool same_identity(struct patching *p, const struct tree *obj)
{
    const struct tree *meta = tree_get(obj, "metadata");
    str name = tree_str(tree_get(meta, "name")), ns = tree_str(tree_get(meta, "namespace"));

    if (name.n && !str_eq(name, p->name))
        return status_bad_request(
            p->a, p->st, 400, "the name of the object (" STR_FMT ") does not match the name on the URL (" STR_FMT ")",
            STR_ARG(name), STR_ARG(p->name));
    if (ns.n && !str_eq(ns, p->ns))
        return status_bad_request(
            p->a, p->st, 400, "the namespace of the provided object does not match the namespace sent on the request");
    return true;
}

/* What is applied says what it is. */
static bool check_config(struct patching *p)
{
    str api = kind_api_version(p->a, p->kind), said = tree_str(tree_get(p->patch, "apiVersion"));

    if (p->patch->kind != TREE_MAP)
        return status_bad_request(p->a, p->st, 400, "error decoding YAML: the configuration is not a map");
    if (!str_eq(said, api))
        return status_bad_request(p->a, p->st, 400,
                                  "the API version in the data (" STR_FMT
                                  ") does not match the expected API version (" STR_FMT ")",
                                  STR_ARG(said), STR_ARG(api));
    if (!str_eq(tree_str(tree_get(p->patch, "kind")), p->kind->name))
        return status_bad_request(p->a, p->st, 400,
                                  "the kind in the data (" STR_FMT ") does not match the expected kind (" STR_FMT ")",
                                  STR_ARG(tree_str(tree_get(p->patch, "kind"))), STR_ARG(p->kind->name));
    return same_identity(p, p->patch);
}

static bool create_applied(struct patching *p, const struct object **ret)
{
    struct tree *live = NULL;

    if (!apply(p, p->kind, &live))
        return false;
    struct tree *meta = tree_sub(p->a, live, "metadata");
    tree_set_str(p->a, meta, "name", p->name);
    if (p->kind->namespaced)
        tree_set_str(p->a, meta, "namespace", p->ns);
    return write_create(&(struct write){.k = p->k,
                                        .a = p->a,
                                        .kind = p->kind,
                                        .obj = live,
                                        .o = p->o,
                                        .patch = true,
                                        .applied = true,
                                        .ret = ret,
                                        .st = p->st});
}

static bool patch_scale(struct patching *p, const struct object *old, const struct object **ret)
{
    struct tree *scale = kube_scale_get(p->k, p->a, old);
    struct kind as_scale = {.name = STR("Scale"), .group = STR("autoscaling"), .version = STR("v1")};
    bool ok;

    if (p->how == PATCH_APPLY)
        ok = apply(p, &as_scale, &scale);
    else if (p->how == PATCH_JSON)
        ok = patch_json(p->a, scale, p->patch, p->st);
    else /* a Scale has no lists: the strategic patch is a merge */
        ok = patch_merge(p->a, scale, p->patch, p->st);
    return ok && kube_scale_put(p->k, p->a, p->kind, p->ns, p->name, scale, p->o, ret, p->st);
}

/* False: it takes the long way. */
static bool patch_status(struct patching *p, const struct object *old, const struct object **ret)
{
    return p->how == PATCH_MERGE && p->sub && strcmp(p->sub, "status") == 0 &&
           write_patched_status(&(struct write){.k = p->k,
                                                .a = p->a,
                                                .kind = p->kind,
                                                .sub = p->sub,
                                                .o = p->o,
                                                .patch = true,
                                                .ret = ret,
                                                .st = p->st},
                                old, p->patch);
}

static bool patch_whole(struct patching *p, const struct object *old, const struct object **ret)
{
    struct tree *was = object_tree(p->a, old), *live = tree_twin(p->a, was);

    if (p->kind->shape_of)
        p->kind->shape->from_stored(p->a, live);
    if (!patch_tree(p, &live) || !same_identity(p, live))
        return false;
    return write_update(&(struct write){.k = p->k,
                                        .a = p->a,
                                        .kind = p->kind,
                                        .sub = p->sub,
                                        .obj = live,
                                        .was = was,
                                        .o = p->o,
                                        .patch = true,
                                        .applied = p->how == PATCH_APPLY,
                                        .ret = ret,
                                        .st = p->st},
                        old);
}

bool kube_patch(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name, const char *sub,
                enum patch_kind how, const struct tree *patch, bool force, const struct write_options *o,
                const struct object **ret, bool *ret_created, struct status *st)
{
    struct patching p = {k, a, kind, ns, name, sub, how, patch, force, o, st};
    const struct object *old = kube_get(k, kind, ns, name);
    bool scale = sub && strcmp(sub, "scale") == 0;

    if (ret_created)
        *ret_created = false;
    if (how == PATCH_APPLY && !scale && !check_config(&p))
        return false;
    if (!old && how == PATCH_APPLY && !sub) {
        if (ret_created)
            *ret_created = true;
        return create_applied(&p, ret);
    }
    if (!old)
        return status_not_found(a, st, kind, name);
    if (scale)
        return patch_scale(&p, old, ret);
    object_ref(old);
    bool ok = patch_status(&p, old, ret) || patch_whole(&p, old, ret);
    object_unref(old);
    return ok;
}
