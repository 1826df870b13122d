#include "k8s/fragment.h"

bool dec_labels(struct decoder *d, const struct tree *map, bool node_keys, lset_id *ret, struct err *e)
{
    uint32_t n = map ? map->n : 0, at = 0;
    struct label *l = arena_new_array(d->tmp, struct label, n);

    /* Aliases first: where a node carries both spellings, the last of equal keys wins. */
    for (int aliases = 1; aliases >= 0; aliases--)
        for (uint32_t i = 0; i < n; i++) {
            str key = node_keys ? label_key_normalise(map->keys[i]) : map->keys[i];

            if (str_eq(key, map->keys[i]) == (aliases != 0))
                continue;
            if (!dec_is_str(d, &map->items[i], e))
                return false;
            l[at++] = (struct label){sym_of(d->o->syms, key), sym_of(d->o->syms, map->items[i].text)};
        }
    *ret = lset_of(d->o->syms, l, at);
    return true;
}

bool dec_annotations(struct decoder *d, const struct tree *map, struct annotation **ret, uint32_t *ret_n, struct err *e)
{
    uint32_t n = map ? map->n : 0;
    struct annotation *v = arena_new_array(d->o->arena, struct annotation, n);

    for (uint32_t i = 0; i < n; i++) {
        if (!dec_is_str(d, &map->items[i], e))
            return false;
        v[i] = (struct annotation){dec_keep_shared(d, map->keys[i]), dec_keep(d, map->items[i].text)};
    }
    *ret = v;
    *ret_n = n;
    return true;
}

str dec_annotation(const struct meta *m, const char *key)
{
    return tree_str(tree_get(m->annotations, key));
}

static bool dec_taint(struct decoder *d, const struct tree *t, struct taint *ret, struct err *e)
{
    str key, effect;

    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "key", &key, e) || !dec_sym(d, t, "value", &ret->value, e) ||
        !dec_str(d, t, "effect", &effect, e))
        return false;
    ret->key = sym_of(d->o->syms, key);
    if (!taint_effect_parse(effect, &ret->effect) || ret->effect == EFFECT_NONE)
        return dec_fail(d, t, "effect", e, "must be NoSchedule, PreferNoSchedule or NoExecute");
    return true;
}

bool dec_taints(struct decoder *d, const struct tree *parent, const char *key, struct taints *ret, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, parent, key, &list, e))
        return false;
    *ret = (struct taints){0};
    if (!list)
        return true;
    ret->n = list->n;
    ret->v = arena_new_array(d->o->arena, struct taint, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        if (!dec_taint(d, &list->items[i], &ret->v[i], e))
            return false;
    return true;
}

bool dec_resources(struct decoder *d, struct arena *a, const struct tree *parent, const char *key, struct reslist *ret,
                   struct err *e)
{
    const struct tree *map;
    struct reslist l = {0};

    if (!dec_map(d, parent, key, &map, e))
        return false;
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct tree *t = &map->items[i];
        sym name = sym_of(d->o->syms, map->keys[i]);
        struct err why;
        int64_t v;
        bool binary;

        if (t->kind != TREE_STRING && t->kind != TREE_NUMBER)
            return dec_fail(d, t, NULL, e, "must be a quantity, not %s", tree_kind_name(t->kind));
        if (!quantity_parse(t->text, name, &v, &binary, &why))
            return dec_fail(d, t, NULL, e, "%s", why.msg);
        if (v < 0)
            return dec_fail(d, t, NULL, e, "must not be negative, is \"" STR_FMT "\"", STR_ARG(t->text));
        reslist_set(d->tmp, &l, name, v, binary);
    }
    *ret = reslist_dup(a, &l);
    return true;
}

static bool dec_values(struct decoder *d, const struct tree *t, struct req_expr *ret, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, t, "values", &list, e))
        return false;
    ret->n_vals = list ? list->n : 0;
    ret->vals = arena_new_array(d->o->arena, sym, ret->n_vals);
    for (uint32_t i = 0; i < ret->n_vals; i++) {
        if (!dec_is_str(d, &list->items[i], e))
            return false;
        ret->vals[i] = sym_of(d->o->syms, list->items[i].text);
    }
    return true;
}

static bool dec_req(struct decoder *d, const struct tree *t, enum req_flavour f, struct req_expr *ret, struct err *e)
{
    bool counts = f == REQ_POOL || f == REQ_CLAIM;
    int64_t min_values = 0;
    str key, op;

    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "key", &key, e) || !dec_str(d, t, "operator", &op, e))
        return false;
    *ret = (struct req_expr){.op = OP_IN};
    if (op.n == 0 && !counts)
        return dec_fail(d, t, "operator", e, "required");
    if (op.n != 0 && (!req_op_parse(op, &ret->op) || (f == REQ_SELECTOR && ret->op > OP_DOES_NOT_EXIST)))
        return dec_fail(d, tree_get(t, "operator"), NULL, e, "\"" STR_FMT "\" is not an operator: use %s", STR_ARG(op),
                        f == REQ_SELECTOR ? "In, NotIn, Exists or DoesNotExist"
                                          : "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte");
    if (counts && !dec_int(d, t, "minValues", 1, f == REQ_POOL ? 50 : INT32_MAX, &min_values, e))
        return false;
    ret->min_values = (int32_t)min_values;
    ret->key = sym_of(d->o->syms, f == REQ_SELECTOR ? key : label_key_normalise(key));
    if (!dec_values(d, t, ret, e))
        return false;
    if (f == REQ_SELECTOR && (ret->op == OP_IN || ret->op == OP_NOT_IN) && ret->n_vals == 0)
        return dec_fail(d, t, "values", e, "must have at least one value for operator " STR_FMT, STR_ARG(op));
    if (f == REQ_SELECTOR && (ret->op == OP_EXISTS || ret->op == OP_DOES_NOT_EXIST) && ret->n_vals)
        return dec_fail(d, tree_get(t, "values"), NULL, e, "must be empty for operator " STR_FMT, STR_ARG(op));
    return true;
}

bool dec_reqs(struct decoder *d, const struct tree *parent, const char *key, enum req_flavour f, struct req_expr **ret,
              uint32_t *ret_n, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, parent, key, &list, e))
        return false;
    *ret_n = list ? list->n : 0;
    *ret = arena_new_array(d->o->arena, struct req_expr, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++)
        if (!dec_req(d, &list->items[i], f, &(*ret)[i], e))
            return false;
    return true;
}

bool dec_selector(struct decoder *d, const struct tree *parent, const char *key, struct selector *ret, struct err *e)
{
    const struct tree *t, *labels, *exprs;

    *ret = (struct selector){0};
    if (!dec_map(d, parent, key, &t, e) || !dec_map(d, t, "matchLabels", &labels, e) ||
        !dec_list(d, t, "matchExpressions", &exprs, e))
        return false;
    if (!t)
        return true;
    ret->present = true;
    ret->n_labels = labels ? labels->n : 0;
    ret->n_exprs = ret->n_labels + (exprs ? exprs->n : 0);
    ret->exprs = arena_new_array(d->o->arena, struct req_expr, ret->n_exprs);
    for (uint32_t i = 0; i < ret->n_labels; i++) {
        struct req_expr *x = &ret->exprs[i];

        if (!dec_is_str(d, &labels->items[i], e))
            return false;
        x->key = sym_of(d->o->syms, labels->keys[i]);
        x->n_vals = 1;
        x->vals = arena_new_one(d->o->arena, sym);
        x->vals[0] = sym_of(d->o->syms, labels->items[i].text);
    }
    for (uint32_t i = ret->n_labels; i < ret->n_exprs; i++)
        if (!dec_req(d, &exprs->items[i - ret->n_labels], REQ_SELECTOR, &ret->exprs[i], e))
            return false;
    return true;
}

bool dec_term(struct decoder *d, const struct tree *t, struct req_term *ret, struct err *e)
{
    const struct tree *fields;

    if (!dec_is_map(d, t, e) || !dec_list(d, t, "matchFields", &fields, e))
        return false;
    ret->match_fields = fields && fields->n;
    return dec_reqs(d, t, "matchExpressions", REQ_NODE_AFFINITY, &ret->exprs, &ret->n, e);
}

bool dec_terms(struct decoder *d, const struct tree *parent, const char *key, struct req_term **ret, uint32_t *ret_n,
               struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, parent, key, &list, e))
        return false;
    *ret_n = list ? list->n : 0;
    *ret = arena_new_array(d->o->arena, struct req_term, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++)
        if (!dec_term(d, &list->items[i], &(*ret)[i], e))
            return false;
    return true;
}

bool dec_condition(struct decoder *d, const struct tree *status, const char *type, enum cond_status *ret,
                   int64_t *ret_since_ms, struct err *e)
{
    const struct tree *list;

    *ret = COND_ABSENT;
    if (ret_since_ms)
        *ret_since_ms = INT64_MIN;
    if (!dec_list(d, status, "conditions", &list, e))
        return false;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];
        str value = tree_str(tree_get(c, "status"));

        if (!str_is(tree_str(tree_get(c, "type")), type))
            continue;
        *ret = str_is(value, "True") ? COND_TRUE : str_is(value, "False") ? COND_FALSE : COND_UNKNOWN;
        return !ret_since_ms || dec_time(d, c, "lastTransitionTime", ret_since_ms, e);
    }
    return true;
}
