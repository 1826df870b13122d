/* Subresources: scale, binding, eviction, and those that need a kubelet. The subresource status is an ordinary read or write. */
#include "sim/kube/front_int.h"

#include "data/edit.h"

/* ---- scale ---- */

static bool reply_scale(struct request *r, const struct object *o)
{
    reply_tree(r, 200, kube_scale_get(r->kube, r->a, o));
    return true;
}

static bool put_scale(struct request *r, struct status *st)
{
    const struct object *o;
    struct write_options w;
    struct tree *scale;

    return query_write(r, "UpdateOptions", /* apply= */ false, &w, st) &&
           body_other(r, STR("autoscaling/v1"), "Scale", &scale, st) &&
           body_place(r, scale, /* name_required= */ true, st) &&
           kube_scale_put(r->kube, r->a, r->route.kind, r->route.ns, r->route.name, scale, &w, &o, st) &&
           reply_scale(r, o);
}

static bool serve_scale(struct request *r, struct status *st)
{
    const struct object *o = kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);
    bool created;

    if (!o)
        return status_not_found(r->a, st, r->route.kind, r->route.name);
    if (request_is(r, "GET"))
        return reply_scale(r, o);
    if (request_is(r, "PUT"))
        return put_scale(r, st);
    if (request_is(r, "PATCH"))
        return patch_object(r, "scale", &o, &created, st) && reply_scale(r, o);
    return refuse_method(r, st);
}

/* ---- binding ---- */

static bool bad_binding(struct request *r, str kind, str node, struct status *st)
{
    const char *why_name = "target.name: Required value";
    str why_kind =
        arena_printf(r->a, "target.kind: Unsupported value: \"" STR_FMT "\": supported values: \"Node\", \"<empty>\"",
                     STR_ARG(kind));
    bool bad_kind = kind.n && !str_is(kind, "Node");

    if (bad_kind && node.n == 0)
        (void)status_bad_request(r->a, st, 500, "[" STR_FMT ", %s]", STR_ARG(why_kind), why_name);
    else if (bad_kind)
        (void)status_bad_request(r->a, st, 500, STR_FMT, STR_ARG(why_kind));
    else if (node.n == 0)
        (void)status_bad_request(r->a, st, 500, "%s", why_name);
    else
        return true;
    st->reason = ""; /* quirk: the real server forgets to say that the request was bad */
    return false;
}

bool serve_bind(struct request *r, struct status *st)
{
    struct write_options w;
    struct tree *b;

    if (!query_write(r, "CreateOptions", /* apply= */ false, &w, st) || !body_other(r, STR("v1"), "Binding", &b, st))
        return false;
    str name = tree_str(tree_at(b, "metadata", "name", NULL)), ns = tree_str(tree_at(b, "metadata", "namespace", NULL));
    str kind = tree_str(tree_at(b, "target", "kind", NULL)), node = tree_str(tree_at(b, "target", "name", NULL));

    if (r->route.name.n && !str_eq(name, r->route.name))
        return status_bad_request(r->a, st, 400, "name in URL does not match name in Binding object");
    if (ns.n && !str_eq(ns, r->route.ns))
        return status_bad_request(
            r->a, st, 400, "the namespace of the provided object does not match the namespace sent on the request");
    if (!bad_binding(r, kind, node, st))
        return false;
    if (!w.dry_run && !kube_bind(r->kube, r->a, r->route.ns, name, node, st))
        return false;
    reply_success(r, 201, NULL, (str){0}, (str){0});
    return true;
}

/* ---- eviction ---- */

static bool serve_evict(struct request *r, struct status *st)
{
    struct delete_options d;
    struct write_options w;
    struct tree *b;

    if (!body_other(r, STR("policy/v1"), "Eviction", &b, st))
        return false;
    if (!str_eq(tree_str(tree_at(b, "metadata", "name", NULL)), r->route.name))
        return status_bad_request(r->a, st, 400, "name in URL does not match name in Eviction object");
    if (!query_delete(r, tree_get(b, "deleteOptions"), &d, &w, st) ||
        !kube_evict_as(r->kube, r->a, r->route.ns, r->route.name, &d, &w, st))
        return false;
    reply_success(r, 201, NULL, (str){0}, (str){0});
    return true;
}

/* ---- which ---- */

bool serve_sub(struct request *r, struct status *st)
{
    const struct kind *k = r->route.kind;
    str sub = r->route.sub;
    bool core = k->group.n == 0, pod = core && str_is(k->plural, "pods"), post = request_is(r, "POST");

    if (k->has_scale && str_is(sub, "scale"))
        return serve_scale(r, st);
    if (pod && str_is(sub, "binding"))
        return post ? serve_bind(r, st) : refuse_method(r, st);
    if (pod && str_is(sub, "eviction"))
        return post ? serve_evict(r, st) : refuse_method(r, st);
    if (pod && str_is(sub, "log"))
        return request_is(r, "GET") ? serve_logs(r, st) : refuse_method(r, st);
    if (pod && (str_is(sub, "exec") || str_is(sub, "attach") || str_is(sub, "portforward")))
        return serve_kubelet(r, st);
    if (core && str_is(k->plural, "serviceaccounts") && str_is(sub, "token"))
        return post ? serve_token(r, st) : refuse_method(r, st);
    return k->crd ? status_not_found(r->a, st, k, r->route.name) : refuse_path(r, st);
}
