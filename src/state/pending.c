/* Which pods wait for a place: pending ones that pass validation, then those on nodes that are going away. */

#include "base/sb.h"
#include "model/evict.h"
#include "state/build.h"

typedef VEC(uint32_t) pod_list;

/* What a pod's own requirements leave of one key: just enough set algebra (scheduling 3.1, 3.2) to tell whether nothing
 * is left. `in` is the first list of values; all other expressions only take away. */
struct key_set {
    const struct req_expr **exprs;
    uint32_t n;
};

static void key_set_add(struct key_set *k, sym key, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(x[i].key, key))
            k->exprs[k->n++] = &x[i];
}

static bool lists(const struct req_expr *x, sym val)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (sym_eq(x->vals[i], val))
            return true;
    return false;
}

/* Bounds of Gt, Lt, Gte, Lte; what cannot be read counts as 0. */
static void narrow(const struct syms *t, const struct req_expr *x, int64_t *gte, int64_t *lte)
{
    int64_t v = 0;

    if (x->n_vals)
        (void)str_to_i64(sym_str(t, x->vals[0]), &v);
    if (x->op == OP_GT || x->op == OP_GTE)
        *gte = MAX(*gte, x->op == OP_GT ? sat_add(v, 1) : v);
    if (x->op == OP_LT || x->op == OP_LTE)
        *lte = MIN(*lte, x->op == OP_LT ? sat_sub(v, 1) : v);
}

static bool value_survives(const struct key_set *k, const struct syms *t, sym val, int64_t gte, int64_t lte)
{
    bool bounded = gte != INT64_MIN || lte != INT64_MAX;
    int64_t v;

    if (bounded && (!str_to_i64(sym_str(t, val), &v) || v < gte || v > lte))
        return false;
    for (uint32_t i = 0; i < k->n; i++)
        if ((k->exprs[i]->op == OP_IN && !lists(k->exprs[i], val)) ||
            (k->exprs[i]->op == OP_NOT_IN && lists(k->exprs[i], val)))
            return false;
    return true;
}

static bool key_set_is_empty(const struct key_set *k, const struct syms *t)
{
    int64_t gte = INT64_MIN, lte = INT64_MAX;
    const struct req_expr *in = NULL;

    for (uint32_t i = 0; i < k->n; i++) {
        if (k->exprs[i]->op == OP_DOES_NOT_EXIST)
            return true;
        if (k->exprs[i]->op == OP_IN && !in)
            in = k->exprs[i];
        narrow(t, k->exprs[i], &gte, &lte);
    }
    if (gte > lte)
        return true;
    if (!in)
        return false;
    for (uint32_t i = 0; i < in->n_vals; i++)
        if (value_survives(k, t, in->vals[i], gte, lte))
            return false;
    return true;
}

/* The pod refuses every node of ours: nothing is left of the NodePool label. */
static bool refuses_pools(const struct build *b, const struct podspec *s)
{
    const struct pref_term *heaviest = NULL;
    struct key_set k = {0};

    for (uint32_t i = 0; i < s->n_preferred; i++)
        if (!heaviest || s->preferred[i].weight > heaviest->weight)
            heaviest = &s->preferred[i];
    k.exprs = arena_new_array(b->arena, const struct req_expr *,
                              s->n_node_selector + (heaviest ? heaviest->term.n : 0) +
                                  (s->n_required ? s->required[0].n : 0));
    key_set_add(&k, SYM(NP), s->node_selector, s->n_node_selector);
    if (heaviest)
        key_set_add(&k, SYM(NP), heaviest->term.exprs, heaviest->term.n);
    if (s->n_required)
        key_set_add(&k, SYM(NP), s->required[0].exprs, s->required[0].n);
    return k.n != 0 && key_set_is_empty(&k, b->syms);
}

static void add_reason(struct sb *why, const char *text)
{
    if (why->n)
        sb_c(why, "; ");
    sb_c(why, text);
}

static void check_exprs(const struct build *b, const struct req_expr *x, uint32_t n, struct sb *why)
{
    struct err e;

    for (uint32_t i = 0; i < n; i++)
        if (!req_expr_validate(&b->s->catalog->rules, b->syms, &x[i], &e))
            add_reason(why, e.msg);
}

/* Everything wrong with what the spec asks for; empty when nothing is. */
static str spec_refuses(const struct build *b, const struct podspec *s)
{
    struct sb why = {0};
    str kept;

    if (refuses_pools(b, s))
        add_reason(&why, REFUSED_NOT_OURS);
    check_exprs(b, s->node_selector, s->n_node_selector, &why);
    for (uint32_t i = 0; i < s->n_required; i++) {
        check_exprs(b, s->required[i].exprs, s->required[i].n, &why);
        if (s->required[i].match_fields)
            add_reason(&why, "node affinity with matchFields is not supported");
    }
    kept = why.n ? sb_dup(&why, b->arena) : (str){0};
    sb_fini(&why);
    return kept;
}

struct verdicts { /* per podspec */
    struct u64map by_spec;
    VEC(str) reasons;
};

static str spec_verdict(const struct build *b, struct verdicts *v, const struct podspec *s)
{
    uint64_t key = (uint64_t)(uintptr_t)s;
    uint32_t ix = u64map_get(&v->by_spec, key);

    if (ix == MAP_NONE) {
        ix = v->reasons.n;
        vec_push(&v->reasons, spec_refuses(b, s));
        u64map_put(&v->by_spec, key, ix);
    }
    return v->reasons.v[ix];
}

static void sort_out(struct build *b, const uint32_t *candidates, uint32_t n, pod_list *out)
{
    VEC(struct refused_pod) refused = {0};
    struct verdicts v = {0};

    for (uint32_t i = 0; i < n; i++) {
        const struct pod *p = &b->s->pods[candidates[i]];
        str why = spec_verdict(b, &v, p->spec);

        if (why.n == 0)
            why = volumes_refuse(b, p);
        if (why.n)
            vec_push(&refused, (struct refused_pod){candidates[i], why});
        else
            vec_push(out, candidates[i]);
    }
    b->s->refused = vec_to_arena(&refused, b->arena);
    b->s->n_refused = refused.n;
    vec_fini(&refused);
    vec_fini(&v.reasons);
    u64map_fini(&v.by_spec);
}

void build_pending(struct build *b, const uint32_t *candidates, uint32_t n, const uint32_t *of_buffers, uint32_t n_of)
{
    AUTO(pdb_index) struct pdb_index *pdbs = pdb_index_new(b->s);
    struct snapshot *s = b->s;
    pod_list out = {0};

    sort_out(b, candidates, n, &out);
    for (uint32_t i = 0; i < n_of; i++)
        vec_push(&out, of_buffers[i]);
    uint32_t n_waiting = out.n;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t j = 0; s->nodes[i].deleting && j < s->nodes[i].n_pods; j++)
            if (pod_is_movable(pdbs, &s->pods[s->nodes[i].pods[j]]))
                vec_push(&out, s->nodes[i].pods[j]);
    s->pending = vec_to_arena(&out, b->arena);
    s->n_pending = out.n;
    s->n_moving = out.n - n_waiting;
    s->cap_pending = 0;
    vec_fini(&out);
}
