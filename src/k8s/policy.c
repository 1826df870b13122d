/* Small kinds around pods: disruption budgets, namespaces, services. */
#include "k8s/kinds.h"

/* "3" or "30%", written as a number or as text. */
static bool dec_int_or_percent(struct decoder *d, const struct tree *t, const char *key, str *ret, struct err *e)
{
    const struct tree *f = tree_get(t, key);
    int64_t v;

    *ret = (str){0};
    if (!f)
        return true;
    str s = tree_scalar(f);
    bool percent = f->kind == TREE_STRING && str_ends(s, STR("%"));
    if ((f->kind != TREE_STRING && f->kind != TREE_NUMBER) || !str_to_i64(percent ? str_sub(s, 0, s.n - 1) : s, &v) ||
        v < 0)
        return dec_fail(d, f, NULL, e, "must be a number that is not negative, or a percentage");
    *ret = dec_keep_shared(d, s);
    return true;
}

bool dec_pdb(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status;
    struct pdb b = {0};
    struct meta m;
    str policy;

    if (!dec_meta(d, /* namespaced= */ true, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, d->root, "status", &status, e) || !dec_selector(d, spec, "selector", &b.selector, e) ||
        !dec_int_or_percent(d, spec, "minAvailable", &b.min_available, e) ||
        !dec_int_or_percent(d, spec, "maxUnavailable", &b.max_unavailable, e) ||
        !dec_str(d, spec, "unhealthyPodEvictionPolicy", &policy, e) ||
        !dec_int(d, status, "disruptionsAllowed", 0, INT32_MAX, &b.disruptions_allowed, e) ||
        !dec_take_id(d, OBJ_PDB, &m, e))
        return false;
    if (b.min_available.n && b.max_unavailable.n)
        return dec_fail(d, spec, NULL, e, "minAvailable and maxUnavailable exclude each other");
    b.ns = m.ns;
    b.name = dec_keep(d, m.name);
    b.always_allow = str_is(policy, "AlwaysAllow");
    b.has_disruptions_allowed = tree_get(status, "disruptionsAllowed") != NULL;
    vec_push(&d->o->pdbs, b);
    return true;
}

bool dec_namespace(struct decoder *d, struct err *e)
{
    lset_id written;
    struct meta m;
    uint32_t n;

    if (!dec_meta(d, /* namespaced= */ false, &m, e) || !dec_labels(d, m.labels, /* node_keys= */ false, &written, e) ||
        !dec_take_id(d, OBJ_NAMESPACE, &m, e))
        return false;
    /* The API server labels every namespace with its own name. */
    sym name = sym_of(d->o->syms, m.name);
    const struct label *l = lset_get(d->o->syms, written, &n);
    struct label *all = arena_new_array(d->tmp, struct label, n + 1);
    if (n)
        memcpy(all, l, n * sizeof(*all));
    all[n] = (struct label){sym_of(d->o->syms, STR("kubernetes.io/metadata.name")), name};
    vec_push(&d->o->namespaces, (struct ns_labels){name, lset_of(d->o->syms, all, n + 1)});
    return true;
}

bool dec_service(struct decoder *d, struct err *e)
{
    const struct tree *spec, *selector;
    struct service s = {0};
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ true, &m, e) || !dec_map(d, d->root, "spec", &spec, e) ||
        !dec_map(d, spec, "selector", &selector, e) ||
        !dec_labels(d, selector, /* node_keys= */ false, &s.selector, e) || !dec_take_id(d, OBJ_SERVICE, &m, e))
        return false;
    s.ns = m.ns;
    s.has_selector = selector != NULL;
    vec_push(&d->o->services, s);
    return true;
}
