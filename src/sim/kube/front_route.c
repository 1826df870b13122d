/* From a path to what it names: /api/v1/namespaces/NS/pods/NAME/SUB, /apis/GROUP/VERSION/…, or something that is no resource. */
#include "sim/kube/front_int.h"

/* Cuts the path into decoded segments. A slash at the end does not matter. */
static enum routed cut_path(struct request *r, struct status *st)
{
    struct route *t = &r->route;
    str rest = str_sub(r->x->path, 1, r->x->path.n), one;

    while (rest.n) {
        (void)str_cut(rest, '/', &one, &rest);
        if (one.n == 0)
            return ROUTE_NO_PAGE;
        if (t->n_segs == ROUTE_MAX_SEGS)
            return ROUTE_NO_RESOURCE;
        if (!url_decode(r->a, one, /* query= */ false, &t->segs[t->n_segs++])) {
            (void)status_bad_request(r->a, st, 400, "invalid URL escape \"" STR_FMT "\"", STR_ARG(one));
            return ROUTE_BAD;
        }
    }
    return ROUTE_OTHER;
}

/* No object has such a name, and it could be taken for something else in a path. */
static bool is_odd(str s)
{
    return str_contains(s, STR("/")) || str_contains(s, STR("%"));
}

/* `seg` begins after the version. false: nothing can have this path. */
static bool name_parts(struct route *t, const str *seg, uint32_t n)
{
    if (n && str_is(seg[0], "watch")) {
        t->watch = true;
        seg++, n--;
    }
    bool in_ns = n >= 3 && str_is(seg[0], "namespaces") && !str_is(seg[2], "status") && !str_is(seg[2], "finalize");

    if (in_ns) {
        t->ns = seg[1];
        seg += 2, n -= 2;
    }
    t->plural = n > 0 ? seg[0] : (str){0};
    t->name = n > 1 ? seg[1] : (str){0};
    t->sub = n > 2 ? seg[2] : (str){0};
    return n <= 3 && !is_odd(t->ns) && !is_odd(t->name);
}

bool route_group_is(const struct kube *k, str group, bool *ret_custom)
{
    bool found = false;

    for (uint32_t i = 0; i < kube_n_kinds(k); i++) {
        const struct kind *kind = kube_kind_at(k, i);

        if (kind && str_eq(kind->group, group)) {
            *ret_custom = kind->crd != NULL;
            if (!*ret_custom)
                return true;
            found = true;
        }
    }
    for (uint32_t i = 0; virtual_kind_at(i); i++) {
        if (!str_is(group, virtual_kind_at(i)->group))
            continue;
        *ret_custom = false;
        return true;
    }
    return found;
}

static enum routed nothing(const struct request *r)
{
    bool custom;

    return route_group_is(r->kube, r->route.group, &custom) && !custom ? ROUTE_NO_RESOURCE : ROUTE_NO_PAGE;
}

enum routed route_path(struct request *r, struct status *st)
{
    struct route *t = &r->route;
    enum routed cut = cut_path(r, st);

    if (cut != ROUTE_OTHER)
        return cut;

    uint32_t skip = t->n_segs && str_is(t->segs[0], "api") ? 2 : 3;
    bool api = skip == 2 || (t->n_segs && str_is(t->segs[0], "apis"));
    if (!api || t->n_segs <= skip)
        return ROUTE_OTHER;
    t->group = skip == 3 ? t->segs[1] : (str){0};
    t->version = t->segs[skip - 1];
    if (!name_parts(t, t->segs + skip, t->n_segs - skip))
        return nothing(r);

    t->virt = virtual_kind_of(t->group, t->version, t->plural);
    if (t->virt)
        return t->name.n || (t->ns.n != 0) != t->virt->namespaced ? ROUTE_NO_RESOURCE : ROUTE_RESOURCE;
    t->kind = kube_kind_by_plural(r->kube, t->group, t->version, t->plural);
    if (!t->kind || (t->ns.n && !t->kind->namespaced) || (!t->ns.n && t->kind->namespaced && t->name.n))
        return nothing(r);
    return ROUTE_RESOURCE;
}
