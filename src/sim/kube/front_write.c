/* Writing objects: create, update, patch, delete. What may be written is the store's business; here stands what HTTP adds to it. */
#include "sim/kube/front_int.h"

#include <strings.h>

#include "data/edit.h"
#include "sim/kube/selector.h"

static const char *sub_of(const struct request *r)
{
    return r->route.sub.n ? "status" : NULL; /* others have handlers of their own */
}

bool serve_create(struct request *r, struct status *st)
{
    const struct object *o;
    struct write_options w;
    struct tree *obj;

    return query_write(r, "CreateOptions", /* apply= */ false, &w, st) && body_object(r, &obj, st) &&
           kube_create_as(r->kube, r->a, r->route.kind, obj, &w, &o, st) && reply_object(r, 201, o, st);
}

bool serve_update(struct request *r, struct status *st)
{
    const struct object *o;
    struct write_options w;
    struct tree *obj;
    bool created = !kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);

    if (!query_write(r, "UpdateOptions", /* apply= */ false, &w, st))
        return false;
    if (r->route.sub.n == 0 && body_is_json(r) &&
        kube_put_text(r->kube, r->a, r->route.kind, r->route.ns, r->route.name, r->x->body, &w, &o))
        return reply_object(r, 200, o, st);
    return body_object(r, &obj, st) && kube_update_as(r->kube, r->a, r->route.kind, sub_of(r), obj, &w, &o, st) &&
           reply_object(r, created ? 201 : 200, o, st);
}

/* ---- patches ---- */

static bool patch_kind_of(struct request *r, enum patch_kind *ret, struct status *st)
{
    static const struct {
        const char *type;
        enum patch_kind kind;
    } known[] = {
        {"application/json-patch+json", PATCH_JSON},
        {"application/merge-patch+json", PATCH_MERGE},
        {"application/strategic-merge-patch+json", PATCH_STRATEGIC},
        {"application/apply-patch+yaml", PATCH_APPLY},
    };
    bool custom = r->route.kind->crd != NULL;
    str type, params;

    (void)str_cut(request_header(r, "Content-Type"), ';', &type, &params);
    type = str_trim(type);
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (type.n != strlen(known[i].type) || strncasecmp(type.p, known[i].type, type.n) != 0)
            continue;
        *ret = known[i].kind;
        if (*ret != PATCH_STRATEGIC || !custom)
            return true;
    }
    if (!custom)
        return status_blank(r->a, st, 415, "415: Unsupported Media Type");
    return status_bad_request(
        r->a, st, 415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

/* What is made must say its name; what is there already need not. */
static bool check_apply_name(struct request *r, const struct tree *patch, struct status *st)
{
    if (tree_str(tree_at(patch, "metadata", "name", NULL)).n ||
        kube_get(r->kube, r->route.kind, r->route.ns, r->route.name))
        return true;
    return status_bad_request(
        r->a, st, 400, "the name of the object (" STR_FMT " based on URL) was undeterminable: name must be provided",
        STR_ARG(r->route.name));
}

bool patch_object(struct request *r, const char *sub, const struct object **ret, bool *ret_created, struct status *st)
{
    struct write_options w;
    struct tree *patch = NULL;
    enum patch_kind how;

    if (!patch_kind_of(r, &how, st) || !query_write(r, "PatchOptions", how == PATCH_APPLY, &w, st) ||
        !body_patch(r, how, &patch, st))
        return false;
    if (how == PATCH_APPLY && !check_apply_name(r, patch, st))
        return false;
    return kube_patch(r->kube, r->a, r->route.kind, r->route.ns, r->route.name, sub, how, patch, query_flag(r, "force"),
                      &w, ret, ret_created, st);
}

bool serve_patch(struct request *r, struct status *st)
{
    const struct object *o;
    bool created;

    return patch_object(r, sub_of(r), &o, &created, st) && reply_object(r, created ? 201 : 200, o, st);
}

/* ---- deletion ---- */

/* *ret is NULL when there is no body. */
static bool delete_body(struct request *r, struct tree **ret, struct status *st)
{
    *ret = NULL;
    if (r->x->body.n == 0)
        return true;
    if (!body_parse(r, (str){0}, ret, st))
        return false;
    str kind = tree_str(tree_get(*ret, "kind")), version = tree_str(tree_get(*ret, "apiVersion"));
    if (version.n == 0)
        version = STR("meta.k8s.io/v1");
    if (kind.n && !str_is(kind, "DeleteOptions"))
        return status_bad_request(r->a, st, 400,
                                  "no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                                  "\" in scheme \"pkg/runtime/scheme.go:111\"",
                                  STR_ARG(kind), STR_ARG(version));
    return true;
}

/* Kinds whose last state is the answer even when nothing of them is left. */
static bool answers_with_object(const struct kind *k)
{
    static const char *const core[] = {"persistentvolumeclaims", "persistentvolumes", "pods",    "podtemplates",
                                       "resourcequotas",         "serviceaccounts",   "services"};
    static const char *const storage[] = {"csidrivers", "csinodes", "storageclasses", "volumeattachments"};

    for (size_t i = 0; k->group.n == 0 && i < ARRAY_LEN(core); i++)
        if (str_is(k->plural, core[i]))
            return true;
    for (size_t i = 0; str_is(k->group, "storage.k8s.io") && i < ARRAY_LEN(storage); i++)
        if (str_is(k->plural, storage[i]))
            return true;
    return false;
}

bool serve_delete(struct request *r, struct status *st)
{
    const struct kind *k = r->route.kind;
    const struct object *o, *left;
    struct delete_options d;
    struct write_options w;
    struct tree *body;

    if (!delete_body(r, &body, st) || !query_delete(r, body, &d, &w, st) ||
        !kube_delete_as(r->kube, r->a, k, r->route.ns, r->route.name, &d, &w, &o, st))
        return false;
    left = kube_get(r->kube, k, r->route.ns, r->route.name);
    bool stays = o->deleted_ms != 0 && (w.dry_run || (left && str_eq(left->uid, o->uid)));
    if (stays || answers_with_object(k))
        return reply_object(r, 200, o, st);
    reply_success(r, 200, k, r->route.name, o->uid);
    return true;
}

bool serve_delete_all(struct request *r, struct status *st)
{
    const struct selector *sel;
    struct delete_options d;
    struct write_options w;
    struct tree *body;
    struct past past;
    struct status one;
    bool ok = true;

    if (!delete_body(r, &body, st) || !query_delete(r, body, &d, &w, st) || !list_selector(r, &sel, st))
        return false;
    past_now(r, &past);
    VEC(const struct object *) gone = {0};
    for (uint32_t i = 0; i < past.list.n && ok; i++) {
        const struct object *o = past.list.v[i];

        if (!selector_matches_object(sel, o))
            continue;
        ok = kube_delete_as(r->kube, r->a, r->route.kind, o->ns, o->name, &d, &w, NULL, &one) || one.code == 404;
        vec_push(&gone, o);
    }
    if (ok)
        ok = reply_list(r, &(struct page){.objects = gone.v, .n = gone.n, .rv = past.rv}, st);
    else
        *st = one;
    vec_fini(&gone);
    past_fini(&past);
    return ok;
}
