#include "k8s/affinity.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static const char *const label_key_lists[] = {"matchLabelKeys", "mismatchLabelKeys"};

bool affinity_uses_labels(const struct tree *affinity)
{
    if (!affinity || (affinity->kind != TREE_MAP && affinity->kind != TREE_LIST))
        return false;
    for (size_t k = 0; k < ARRAY_LEN(label_key_lists); k++)
        if (tree_get(affinity, label_key_lists[k]))
            return true;
    for (uint32_t i = 0; i < affinity->n; i++)
        if (affinity_uses_labels(&affinity->items[i]))
            return true;
    return false;
}

static bool dec_syms(struct decoder *d, const struct tree *t, const char *key, sym **ret, uint32_t *ret_n,
                     struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, t, key, &list, e))
        return false;
    *ret_n = list ? list->n : 0;
    *ret = arena_new_array(d->o->arena, sym, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++) {
        if (!dec_is_str(d, &list->items[i], e))
            return false;
        (*ret)[i] = sym_of(d->o->syms, list->items[i].text);
    }
    return true;
}

static bool selector_has(const struct selector *s, const struct req_expr *x)
{
    for (uint32_t i = 0; i < s->n_exprs; i++)
        if (sym_eq(s->exprs[i].key, x->key) && s->exprs[i].op == x->op && s->exprs[i].n_vals == 1 &&
            sym_eq(s->exprs[i].vals[0], x->vals[0]))
            return true;
    return false;
}

/* The API server turns these keys into expressions when a pod is created; a template still has them to itself. */
static bool merge_label_keys(struct decoder *d, const struct tree *t, lset_id labels, struct selector *s, struct err *e)
{
    for (size_t k = 0; k < ARRAY_LEN(label_key_lists); k++) {
        uint32_t n;
        sym *keys;

        if (!dec_syms(d, t, label_key_lists[k], &keys, &n, e))
            return false;
        for (uint32_t i = 0; i < n; i++) {
            struct req_expr x = {.key = keys[i], .op = k == 0 ? OP_IN : OP_NOT_IN, .n_vals = 1};
            sym val;

            if (!s->present || !lset_value(d->o->syms, labels, keys[i], &val))
                continue;
            x.vals = arena_dup_array(d->o->arena, sym, &val, 1);
            if (selector_has(s, &x))
                continue;
            struct req_expr *more = arena_new_array(d->o->arena, struct req_expr, s->n_exprs + 1);
            if (s->n_exprs)
                memcpy(more, s->exprs, s->n_exprs * sizeof(*more));
            more[s->n_exprs++] = x;
            s->exprs = more;
        }
    }
    return true;
}

static bool dec_pod_term(struct decoder *d, const struct tree *t, lset_id labels, struct pod_affinity *ret,
                         struct err *e)
{
    str key;

    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "topologyKey", &key, e) ||
        !dec_selector(d, t, "labelSelector", &ret->selector, e) ||
        !dec_selector(d, t, "namespaceSelector", &ret->ns_selector, e) ||
        !dec_syms(d, t, "namespaces", &ret->namespaces, &ret->n_namespaces, e))
        return false;
    ret->key = sym_of(d->o->syms, key);
    return merge_label_keys(d, t, labels, &ret->selector, e);
}

static bool dec_weight(struct decoder *d, const struct tree *t, int32_t *ret, struct err *e)
{
    int64_t weight = 0;

    if (!dec_is_map(d, t, e))
        return false;
    if (!tree_get(t, "weight"))
        return dec_fail(d, t, "weight", e, "required");
    if (!dec_int(d, t, "weight", 1, 100, &weight, e))
        return false;
    *ret = (int32_t)weight;
    return true;
}

static bool dec_pod_terms(struct decoder *d, const struct tree *parent, bool preferred, lset_id labels,
                          struct pod_affinities *ret, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, parent, preferred ? PREFERRED : REQUIRED, &list, e))
        return false;
    ret->n = list ? list->n : 0;
    ret->v = arena_new_array(d->o->arena, struct pod_affinity, ret->n);
    for (uint32_t i = 0; i < ret->n; i++) {
        const struct tree *t = &list->items[i], *term = t;

        if (preferred) {
            if (!dec_weight(d, t, &ret->v[i].weight, e) || !dec_map(d, t, "podAffinityTerm", &term, e))
                return false;
            if (!term)
                return dec_fail(d, t, "podAffinityTerm", e, "required");
        }
        if (!dec_pod_term(d, term, labels, &ret->v[i], e))
            return false;
    }
    return true;
}

static bool dec_node_affinity(struct decoder *d, const struct tree *t, struct podspec *s, struct err *e)
{
    const struct tree *required, *list;

    if (!dec_map(d, t, REQUIRED, &required, e) ||
        !dec_terms(d, required, "nodeSelectorTerms", &s->required, &s->n_required, e) ||
        !dec_list(d, t, PREFERRED, &list, e))
        return false;
    s->n_preferred = list ? list->n : 0;
    s->preferred = arena_new_array(d->o->arena, struct pref_term, s->n_preferred);
    for (uint32_t i = 0; i < s->n_preferred; i++) {
        const struct tree *pref;

        if (!dec_weight(d, &list->items[i], &s->preferred[i].weight, e) ||
            !dec_map(d, &list->items[i], "preference", &pref, e))
            return false;
        if (!pref)
            return dec_fail(d, &list->items[i], "preference", e, "required");
        if (!dec_term(d, pref, &s->preferred[i].term, e))
            return false;
    }
    return true;
}

bool dec_affinity(struct decoder *d, const struct tree *spec, lset_id labels, struct podspec *s, struct err *e)
{
    const struct tree *affinity, *node, *pod, *anti;

    return dec_map(d, spec, "affinity", &affinity, e) && dec_map(d, affinity, "nodeAffinity", &node, e) &&
           dec_map(d, affinity, "podAffinity", &pod, e) && dec_map(d, affinity, "podAntiAffinity", &anti, e) &&
           dec_node_affinity(d, node, s, e) && dec_pod_terms(d, pod, false, labels, &s->aff_required, e) &&
           dec_pod_terms(d, pod, true, labels, &s->aff_preferred, e) &&
           dec_pod_terms(d, anti, false, labels, &s->anti_required, e) &&
           dec_pod_terms(d, anti, true, labels, &s->anti_preferred, e);
}

/* One of two words; `ret` says whether it is the second. Absent counts as `absent`. */
static bool dec_choice(struct decoder *d, const struct tree *t, const char *key, const char *const words[2],
                       bool absent, bool *ret, struct err *e)
{
    str s;

    if (!dec_str(d, t, key, &s, e))
        return false;
    if (s.n && !str_is(s, words[0]) && !str_is(s, words[1]))
        return dec_fail(d, tree_get(t, key), NULL, e, "must be %s or %s", words[0], words[1]);
    *ret = s.n ? str_is(s, words[1]) : absent;
    return true;
}

static bool dec_spread(struct decoder *d, const struct tree *t, struct spread *ret, struct err *e)
{
    static const char *const when[] = {"DoNotSchedule", "ScheduleAnyway"};
    static const char *const policy[] = {"Ignore", "Honor"};
    int64_t skew = 0, domains = 0;
    bool anyway, honor_affinity;
    str key;

    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "topologyKey", &key, e))
        return false;
    if (!tree_get(t, "maxSkew"))
        return dec_fail(d, t, "maxSkew", e, "required");
    if (!dec_int(d, t, "maxSkew", 1, INT32_MAX, &skew, e) || !dec_int(d, t, "minDomains", 1, INT32_MAX, &domains, e) ||
        !dec_choice(d, t, "whenUnsatisfiable", when, /* absent= */ false, &anyway, e) ||
        !dec_choice(d, t, "nodeAffinityPolicy", policy, /* absent= */ true, &honor_affinity, e) ||
        !dec_choice(d, t, "nodeTaintsPolicy", policy, /* absent= */ false, &ret->honor_taints, e) ||
        !dec_selector(d, t, "labelSelector", &ret->selector, e) ||
        !dec_syms(d, t, "matchLabelKeys", &ret->match_label_keys, &ret->n_match_label_keys, e))
        return false;
    ret->key = sym_of(d->o->syms, key);
    ret->max_skew = (int32_t)skew;
    ret->min_domains = (int32_t)domains;
    ret->when = anyway ? SPREAD_ANYWAY : SPREAD_DO_NOT_SCHEDULE;
    ret->ignore_affinity = !honor_affinity;
    return true;
}

bool dec_spreads(struct decoder *d, const struct tree *spec, struct podspec *s, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, spec, "topologySpreadConstraints", &list, e))
        return false;
    s->n_spreads = list ? list->n : 0;
    s->spreads = arena_new_array(d->o->arena, struct spread, s->n_spreads);
    for (uint32_t i = 0; i < s->n_spreads; i++)
        if (!dec_spread(d, &list->items[i], &s->spreads[i], e))
            return false;
    return true;
}
