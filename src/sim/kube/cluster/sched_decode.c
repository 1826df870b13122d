/* Trees into what the scheduler compares: symbols, selectors, terms about nodes. */
#include "sim/kube/cluster/sched_int.h"

sym decode_sym(struct sched *s, const struct tree *t)
{
    return sym_of(s->syms, tree_scalar(t));
}

lset_id decode_labels(struct sched *s, const struct tree *map)
{
    struct arena_mark m = arena_mark(s->tmp);
    uint32_t n = map && map->kind == TREE_MAP ? map->n : 0;
    struct label *labels = arena_new_array(s->tmp, struct label, n);

    for (uint32_t i = 0; i < n; i++)
        labels[i] = (struct label){sym_of(s->syms, map->keys[i]), decode_sym(s, &map->items[i])};
    lset_id id = lset_of(s->syms, labels, n);
    arena_rewind(s->tmp, m);
    return id;
}

static struct req_expr one_of(struct arena *a, sym key, sym value)
{
    struct req_expr x = {.key = key, .op = OP_IN, .n_vals = 1, .vals = arena_new_one(a, sym)};

    x.vals[0] = value;
    return x;
}

static bool decode_expr(struct sched *s, struct arena *a, const struct tree *t, struct req_expr *ret)
{
    const struct tree *values = tree_get(t, "values");

    *ret = (struct req_expr){.key = decode_sym(s, tree_get(t, "key"))};
    if (!req_op_parse(tree_str(tree_get(t, "operator")), &ret->op))
        return false;
    ret->n_vals = values ? values->n : 0;
    ret->vals = arena_new_array(a, sym, ret->n_vals);
    for (uint32_t i = 0; i < ret->n_vals; i++)
        ret->vals[i] = decode_sym(s, &values->items[i]);
    return true;
}

void decode_selector(struct sched *s, struct arena *a, const struct tree *t, struct selector *ret)
{
    const struct tree *labels = tree_get(t, "matchLabels"), *exprs = tree_get(t, "matchExpressions");
    uint32_t n = (labels ? labels->n : 0) + (exprs ? exprs->n : 0);

    *ret = (struct selector){.present = t != NULL, .exprs = arena_new_array(a, struct req_expr, n)};
    for (uint32_t i = 0; labels && i < labels->n; i++)
        ret->exprs[ret->n_exprs++] = one_of(a, sym_of(s->syms, labels->keys[i]), decode_sym(s, &labels->items[i]));
    ret->n_labels = ret->n_exprs;
    for (uint32_t i = 0; exprs && i < exprs->n; i++)
        if (decode_expr(s, a, &exprs->items[i], &ret->exprs[ret->n_exprs]))
            ret->n_exprs++;
}

/* Fields of a node: its name is the only one there is. */
static void decode_fields(struct sched *s, struct arena *a, const struct tree *list, struct node_term *ret)
{
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *values = tree_get(&list->items[i], "values");

        if (!str_is(tree_str(tree_get(&list->items[i], "key")), "metadata.name") ||
            !str_is(tree_str(tree_get(&list->items[i], "operator")), "In") || ret->names) {
            ret->never = true;
            return;
        }
        ret->n_names = values ? values->n : 0;
        ret->names = arena_new_array(a, sym, ret->n_names + 1);
        for (uint32_t k = 0; k < ret->n_names; k++)
            ret->names[k] = decode_sym(s, &values->items[k]);
    }
}

bool decode_node_term(struct sched *s, struct arena *a, const struct tree *t, struct node_term *ret)
{
    const struct tree *exprs = tree_get(t, "matchExpressions"), *fields = tree_get(t, "matchFields");
    uint32_t n = exprs ? exprs->n : 0;

    *ret = (struct node_term){.labels = {.present = true, .exprs = arena_new_array(a, struct req_expr, n)}};
    for (uint32_t i = 0; i < n; i++)
        if (decode_expr(s, a, &exprs->items[i], &ret->labels.exprs[ret->labels.n_exprs]))
            ret->labels.n_exprs++;
        else
            ret->never = true;
    decode_fields(s, a, fields, ret);
    if (n == 0 && (!fields || fields->n == 0))
        ret->never = true;
    return !ret->never;
}

void decode_node_terms(struct sched *s, struct arena *a, const struct tree *list, struct node_term **ret,
                       uint32_t *ret_n)
{
    *ret_n = list ? list->n : 0;
    *ret = arena_new_array(a, struct node_term, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++)
        decode_node_term(s, a, &list->items[i], &(*ret)[i]);
}

static bool names_have(const struct node_term *t, sym name)
{
    for (uint32_t i = 0; i < t->n_names; i++)
        if (sym_eq(t->names[i], name))
            return true;
    return false;
}

bool node_terms_match(const struct sched *s, const struct node_term *t, uint32_t n, const struct snode *node)
{
    for (uint32_t i = 0; i < n; i++)
        if (!t[i].never && (!t[i].names || names_have(&t[i], node->name)) &&
            selector_matches(&t[i].labels, s->syms, node->labels))
            return true;
    return false;
}
