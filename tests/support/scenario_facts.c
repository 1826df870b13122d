/* What there is to say about a plan, fact by fact, in the words of scenario.h. */
#include "support/builder.h"
#include "support/scenario_int.h"

static int cmp_strs(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

void put_joined(struct sb *out, strs *v, char sep, bool sorted)
{
    if (sorted)
        sort_stable(v->v, v->n, sizeof(*v->v), cmp_strs, NULL);
    for (uint32_t i = 0; i < v->n; i++) {
        if (i)
            sb_char(out, sep);
        sb_str(out, v->v[i]);
    }
    if (!v->n)
        sb_char(out, '-');
    vec_fini(v);
}

str short_type(str name)
{
    str end = STR("-instance-type");

    return str_ends(name, end) ? str_sub(name, 0, name.n - end.n) : name;
}

static str short_value(struct arena *a, str v)
{
    str zone = STR("test-zone-");

    return str_starts(v, zone) ? arena_printf(a, "z" STR_FMT, STR_ARG(str_sub(v, zone.n, v.n))) : v;
}

static void put_pods(const struct facts *f, struct sb *out, const uint32_t *pods, uint32_t n)
{
    strs names = {0};

    for (uint32_t i = 0; i < n; i++)
        vec_push(&names, f->s->snap->pods[pods[i]].name);
    put_joined(out, &names, ',', /* sorted= */ true);
}

/* The value of a label that pods of the claim will find; empty when it has none. */
static str claim_label(const struct facts *f, const struct plan_claim *c, sym key)
{
    const struct itype *it = &f->s->catalog->types[c->type];

    if (sym_eq(key, SYM(ZONE)))
        return sym_str(f->s->t, c->zone);
    if (sym_eq(key, SYM(CT)))
        return sym_str(f->s->t, c->capacity_type);
    for (uint32_t i = 0; i < c->n_reqs; i++)
        if (sym_eq(c->reqs[i].key, key) && c->reqs[i].op == OP_IN && c->reqs[i].n_vals == 1)
            return c->reqs[i].vals[0];
    for (uint32_t i = 0; i < it->n_requirements; i++)
        if (sym_eq(it->requirements[i].key, key) && it->requirements[i].op == OP_IN)
            return sym_str(f->s->t, it->requirements[i].vals[0]);
    return STR("");
}

struct tally {
    str val;
    uint32_t n;
};

typedef VEC(struct tally) tallies;

static void tally_add(tallies *v, str val, uint32_t n)
{
    if (!val.n || !n)
        return;
    for (uint32_t i = 0; i < v->n; i++)
        if (str_eq(v->v[i].val, val)) {
            v->v[i].n += n;
            return;
        }
    vec_push(v, (struct tally){val, n});
}

static void tally_nodes(const struct facts *f, sym key, tallies *v)
{
    for (uint32_t i = 0; i < f->s->snap->n_nodes; i++) {
        const struct state_node *node = &f->s->snap->nodes[i];
        sym val = SYM(NONE);
        uint32_t n = 0;

        for (uint32_t k = 0; k < node->n_pods; k++)
            n += f->s->snap->pods[node->pods[k]].owner != OWNER_DAEMONSET && !node->deleting;
        for (uint32_t k = 0; k < f->p->n_nodes; k++)
            if (f->p->nodes[k].node == i)
                n += f->p->nodes[k].n_pods;
        (void)lset_value(f->s->t, node->labels, key, &val);
        tally_add(v, sym_eq(key, SYM(HOST)) ? node->name : sym_str(f->s->t, val), n);
    }
}

/* Live pods by label of their node, daemons left out. */
static void put_tally(const struct facts *f, struct sb *out, str key_text, bool names)
{
    sym key = sym_of(f->s->t, builder_key(key_text));
    tallies v = {0};
    strs parts = {0};

    tally_nodes(f, key, &v);
    for (uint32_t i = 0; i < f->p->n_claims; i++)
        tally_add(&v, sym_eq(key, SYM(HOST)) ? arena_printf(f->a, "new-%u", i) : claim_label(f, &f->p->claims[i], key),
                  f->p->claims[i].n_pods);
    for (uint32_t i = 0; i < v.n; i++)
        vec_push(&parts, names ? arena_printf(f->a, STR_FMT ":%u", STR_ARG(short_value(f->a, v.v[i].val)), v.v[i].n)
                               : arena_printf(f->a, "%03u", v.v[i].n));
    if (!names) /* sorted as text, then without the zeros that make that right */
        sort_stable(parts.v, parts.n, sizeof(*parts.v), cmp_strs, NULL);
    for (uint32_t i = 0; i < parts.n && !names; i++)
        while (parts.v[i].n > 1 && parts.v[i].p[0] == '0')
            parts.v[i] = str_sub(parts.v[i], 1, parts.v[i].n);
    put_joined(out, &parts, ',', names);
    vec_fini(&v);
}

static void put_type_names(const struct facts *f, struct sb *out, const struct plan_claim *c, char before)
{
    strs names = {0};

    for (uint32_t i = 0; i < c->n_types; i++)
        vec_push(&names, sym_str(f->s->t, f->s->catalog->types[c->types[i]].name));
    sort_stable(names.v, names.n, sizeof(*names.v), cmp_strs, NULL);
    for (uint32_t i = 0; i < names.n; i++)
        names.v[i] = short_type(names.v[i]);
    sb_char(out, before);
    put_joined(out, &names, ',', /* sorted= */ false);
}

static void put_req(const struct facts *f, struct sb *out, const struct plan_claim *c, sym key)
{
    bool any = false;

    for (uint32_t i = 0; i < c->n_reqs; i++) {
        const struct plan_req *q = &c->reqs[i];

        if (!sym_eq(q->key, key))
            continue;
        sb_c(out, any ? "&" : "");
        any = true;
        sb_c(out, req_op_name(q->op));
        for (uint32_t k = 0; k < q->n_vals; k++) {
            sb_c(out, k ? "," : ":");
            sb_str(out, short_type(short_value(f->a, q->vals[k])));
        }
        if (q->of_types)
            put_type_names(f, out, c, ':');
        if (q->min_values)
            sb_printf(out, "~%d", q->min_values);
    }
    if (!any)
        sb_char(out, '-');
}

/* One fact about every claim, separated by bars. */
static void put_claim(const struct facts *f, struct sb *out, str key, const struct plan_claim *c)
{
    const struct resq *q;

    if (str_is(key, "offers")) {
        strs names = {0};

        for (uint32_t i = 0; i < c->n_types; i++)
            vec_push(&names, short_type(sym_str(f->s->t, f->s->catalog->types[c->types[i]].name)));
        put_joined(out, &names, ',', /* sorted= */ false);
    } else if (str_is(key, "n.offers")) {
        sb_u64(out, c->n_types);
    } else if (str_is(key, "where")) {
        put_pods(f, out, c->pods, c->n_pods);
    } else if (str_starts(key, STR("req."))) {
        put_req(f, out, c, sym_of(f->s->t, builder_key(str_sub(key, 4, key.n))));
    } else {
        q = reslist_get(&c->requests, sym_of(f->s->t, str_sub(key, 4, key.n)));
        if (q)
            quantity_print(out, q->name, q->v, q->binary);
        else
            sb_char(out, '-');
    }
}

static void put_numbers(const struct facts *f, struct sb *out, str key)
{
    uint32_t n = 0;

    if (str_is(key, "nodes"))
        n = f->p->n_claims;
    else if (str_is(key, "unschedulable"))
        n = f->p->n_failures;
    else if (str_is(key, "existing"))
        for (uint32_t i = 0; i < f->p->n_nodes; i++)
            n += f->p->nodes[i].n_pods;
    else if (str_is(key, "deferred"))
        for (uint32_t i = 0; i < f->p->n_failures; i++)
            n += f->p->failures[i].why->deferred;
    else if (str_is(key, "relaxed"))
        for (uint32_t i = 0; i < f->p->n_claims; i++)
            n += f->p->claims[i].min_values_relaxed;
    else
        sb_c(out, "(no such fact)");
    sb_u64(out, n);
}

static void put_lists(const struct facts *f, struct sb *out, str key)
{
    strs v = {0};

    if (str_is(key, "types") || str_is(key, "pools") || str_is(key, "pods"))
        for (uint32_t i = 0; i < f->p->n_claims; i++) {
            const struct plan_claim *c = &f->p->claims[i];

            vec_push(&v, str_is(key, "types")   ? short_type(sym_str(f->s->t, f->s->catalog->types[c->type].name))
                         : str_is(key, "pools") ? f->s->snap->pools[c->pool].name
                                                : arena_printf(f->a, "%u", c->n_pods));
        }
    else if (str_is(key, "lost"))
        for (uint32_t i = 0; i < f->p->n_failures; i++)
            vec_push(&v, f->s->snap->pods[f->p->failures[i].pod].name);
    put_joined(out, &v, ',', !str_is(key, "pools"));
}

/* Pending pods by the zone that they need. */
static void put_needs(const struct facts *f, struct sb *out)
{
    for (uint32_t i = 0; i < f->p->n_zones; i++)
        sb_printf(out, "%s" STR_FMT ":%u", i ? "," : "", STR_ARG(short_value(f->a, f->p->zones[i].name)),
                  f->p->zones[i].n_pods);
}

static void put_node(const struct facts *f, struct sb *out, str name)
{
    for (uint32_t i = 0; i < f->p->n_nodes; i++)
        if (str_eq(f->s->snap->nodes[f->p->nodes[i].node].name, name)) {
            put_pods(f, out, f->p->nodes[i].pods, f->p->nodes[i].n_pods);
            return;
        }
    sb_char(out, '-');
}

void put_fact(const struct facts *f, struct sb *out, str key)
{
    static const char *const lists[] = {"types", "pools", "pods", "lost"};
    static const char *const tallied[][2] = {{"zones", "zone"}, {"cts", "ct"}, {"archs", "arch"}, {"hosts", "host"}};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (str_is(key, lists[i])) {
            put_lists(f, out, key);
            return;
        }
    for (size_t i = 0; i < ARRAY_LEN(tallied); i++)
        if (str_is(key, tallied[i][0])) {
            put_tally(f, out, str_c(tallied[i][1]), /* names= */ false);
            return;
        }
    if (str_starts(key, STR("by.")) || str_starts(key, STR("at."))) {
        put_tally(f, out, str_sub(key, 3, key.n), key.p[0] == 'a');
    } else if (str_is(key, "needs")) {
        put_needs(f, out);
    } else if (str_is(key, "cost")) {
        sb_printf(out, "%.4f", f->p->hourly_cost);
    } else if (str_starts(key, STR("node."))) {
        put_node(f, out, str_sub(key, 5, key.n));
    } else if (str_is(key, "offers") || str_is(key, "n.offers") || str_is(key, "where") ||
               str_starts(key, STR("req.")) || str_starts(key, STR("ask."))) {
        for (uint32_t i = 0; i < f->p->n_claims; i++) {
            if (i)
                sb_char(out, '|');
            put_claim(f, out, key, &f->p->claims[i]);
        }
        if (!f->p->n_claims)
            sb_char(out, '-');
    } else {
        put_numbers(f, out, key);
    }
}

str facts_text(str want, struct arena *a, void (*put)(const void *ctx, struct sb *out, str key), const void *ctx)
{
    struct sb out = {0};
    str one, key, val;

    while (want.n) {
        (void)str_cut(want, ' ', &one, &want);
        (void)str_cut(one, '=', &key, &val);
        if (out.n)
            sb_char(&out, ' ');
        sb_printf(&out, STR_FMT "=", STR_ARG(key));
        put(ctx, &out, key);
    }
    str ret = sb_dup(&out, a);
    sb_fini(&out);
    return ret;
}

static void put_one(const void *ctx, struct sb *out, str key)
{
    put_fact(ctx, out, key);
}

str scene_facts(const struct scene *s, const struct plan *p, str want, struct arena *a)
{
    struct facts f = {.s = s, .p = p, .a = a};

    return facts_text(want, a, put_one, &f);
}
