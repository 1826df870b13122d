/* How topology groups come to be: identity, known domains, counts of pods that run already (scheduling 13.1-13.3). */
#include "plan/topology.h"

uint32_t topology_host(struct topology *t, sym name)
{
    uint32_t ix = u64map_get(&t->host_of_sym, name.v);

    if (ix != MAP_NONE)
        return ix;
    u64map_put(&t->host_of_sym, name.v, t->hosts.n);
    vec_push(&t->hosts, (struct host){name, space_val(&t->p->space, t->p->host_key, name)});
    return t->hosts.n - 1;
}

uint32_t topology_new_host(struct topology *t)
{
    vec_push(&t->hosts, (struct host){SYM(NONE), t->p->space.keys.v[t->p->host_key].other});
    return t->hosts.n - 1;
}

/* --- identity --------------------------------------------------------------------------------------------------- */

static int cmp_u32(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    (void)ctx;
    return x < y ? -1 : x > y;
}

static void key_expr(struct sb *b, const struct req_expr *x)
{
    uint32_t *vals = xmalloc(x->n_vals * sizeof(*vals));

    for (uint32_t i = 0; i < x->n_vals; i++)
        vals[i] = x->vals[i].v;
    sort_stable(vals, x->n_vals, sizeof(*vals), cmp_u32, NULL);
    key_u32(b, x->key.v);
    key_u32(b, (uint32_t)x->op);
    key_u32(b, x->n_vals);
    sb_bytes(b, vals, x->n_vals * sizeof(*vals));
    free(vals);
}

static int cmp_strs(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* Writes a set of byte strings: sorted; duplicates once, or with parity cancelling each other. */
static void key_set(struct sb *b, str *v, uint32_t n, bool parity)
{
    sort_stable(v, n, sizeof(*v), cmp_strs, NULL);
    key_u32(b, n > 0);
    for (uint32_t i = 0; i < n;) {
        uint32_t same = 1;

        while (i + same < n && str_eq(v[i], v[i + same]))
            same++;
        if (!parity || same % 2) {
            key_u32(b, (uint32_t)v[i].n);
            sb_str(b, v[i]);
        }
        i += same;
    }
    key_u32(b, NONE);
}

static void key_selector(struct arena *a, struct sb *b, const struct selector *s)
{
    uint32_t n = s->n_exprs;
    str *parts = arena_new_array(a, str, n);

    key_u32(b, s->present);
    for (uint32_t i = 0; i < n; i++) {
        struct sb one = {0};

        key_u32(&one, i < s->n_labels);
        key_expr(&one, &s->exprs[i]);
        parts[i] = sb_dup(&one, a);
        sb_fini(&one);
    }
    key_set(b, parts, n, /* parity= */ false);
}

/* quirk: of the filter's requirements only the label keys take part, and equal ones cancel (scheduling 13.2). */
static void key_filter(struct topology *t, struct sb *b, const struct topo_group *g)
{
    struct problem *p = t->p;
    const struct tolerations *tol = &p->tol_sets.v[g->tol_set];
    str *parts = arena_new_array(p->arena, str, MAX(g->n_alts, tol->n));

    key_u32(b, (uint32_t)g->honor_affinity << 1 | g->honor_taints);
    for (uint32_t i = 0; i < g->n_alts; i++) {
        const struct rs *rs = &p->space.sets.v[g->alts[i]];
        uint32_t *keys = arena_new_array(p->arena, uint32_t, rs->n);

        for (uint32_t k = 0; k < rs->n; k++)
            keys[k] = rs->e[k].key;
        parts[i] = (str){(const char *)keys, rs->n * sizeof(*keys)};
    }
    key_set(b, parts, g->n_alts, /* parity= */ true);
    for (uint32_t i = 0; i < tol->n; i++)
        parts[i] = (str){(const char *)&tol->v[i], sizeof(tol->v[i])};
    key_set(b, parts, tol->n, /* parity= */ false);
}

static str group_identity(struct topology *t, const struct topo_group *g)
{
    struct sb b = {0};

    key_u32(&b, g->key);
    key_u32(&b, (uint32_t)g->kind);
    key_u32(&b, (uint32_t)g->max_skew);
    for (uint32_t i = 0; i < g->n_ns; i++)
        key_u32(&b, g->ns[i].v);
    key_u32(&b, NONE);
    key_selector(t->p->arena, &b, &g->selector);
    if (g->filtered)
        key_filter(t, &b, g);
    str id = sb_dup(&b, t->p->arena);
    sb_fini(&b);
    return id;
}

static uint32_t find_or_make(struct topology *t, struct topo_group *g)
{
    struct strmap *ids = &t->ids[g->inverse];
    str id = group_identity(t, g);
    uint32_t ix = strmap_get(ids, id);

    if (ix != MAP_NONE) {
        t->groups.v[ix].mixed |= t->groups.v[ix].tol_set != g->tol_set;
        return ix;
    }
    assert(!t->logging); /* a group that comes to be is not undone */
    const struct label_key *k = &t->p->space.keys.v[g->key];
    g->is_host = g->key == t->p->host_key;
    g->counts = arena_new_array(t->p->arena, int32_t, k->n_vals);
    g->support = arena_new_array(t->p->arena, int32_t, k->n_vals);
    g->seeded = arena_new_array(t->p->arena, uint64_t, k->n_words);
    g->known = arena_new_array(t->p->arena, uint64_t, k->n_words);
    ix = t->groups.n;
    strmap_put(ids, id, ix);
    if (!g->is_host) {
        topology_seed_domains(t, g);
        bits_copy(g->known, g->seeded, k->n_words);
        if (!g->inverse) /* quirk: pods that others keep away go to no node whose domain no pool has (scheduling 13.2) */
            topology_add_nodes(t, g);
    }
    vec_push(&t->groups, *g);
    if (g->leans)
        vec_push(&t->leaning, ix);
    if (!g->inverse && !g->selector.present)
        vec_push(&t->unselective, ix);
    topology_attach(t, ix);
    return ix;
}

/* --- groups of a pod ---------------------------------------------------------------------------------------------- */

static struct selector with_label_keys(struct topology *t, const struct spread *c, lset_id labels)
{
    struct selector s = c->selector;
    uint32_t n = s.n_exprs;

    if (c->n_match_label_keys == 0 || !s.present)
        return s;
    struct req_expr *x = arena_new_array(t->p->arena, struct req_expr, n + c->n_match_label_keys);
    if (n)
        memcpy(x, s.exprs, n * sizeof(*x));
    for (uint32_t i = 0; i < c->n_match_label_keys; i++) {
        sym *val = arena_new_one(t->p->arena, sym);

        if (!lset_value(t->p->snap->syms, labels, c->match_label_keys[i], val))
            continue;
        x[n++] = (struct req_expr){.key = c->match_label_keys[i], .op = OP_IN, .vals = val, .n_vals = 1};
        s.n_exprs++;
    }
    s.exprs = x;
    return s;
}

static void fill_filter(struct topology *t, struct topo_group *g, const struct variant *v, const struct spread *c)
{
    struct problem *p = t->p;
    const struct podspec *spec = p->shapes.v[v->shape].spec;
    uint32_t base = rs_of_exprs(&p->space, spec->node_selector, spec->n_node_selector);
    uint32_t left = spec->n_required - MIN(v->first_required, spec->n_required);

    g->filtered = true;
    g->honor_affinity = !c->ignore_affinity;
    g->honor_taints = c->honor_taints;
    g->n_alts = MAX(left, 1u);
    g->alts = arena_new_array(p->arena, uint32_t, g->n_alts);
    g->alts[0] = base;
    for (uint32_t i = 0; i < left; i++) {
        const struct req_term *term = &spec->required[v->first_required + i];

        g->alts[i] = rs_union(&p->space, base, rs_of_exprs(&p->space, term->exprs, term->n));
    }
}

static uint32_t spread_group(struct topology *t, const struct variant *v, const struct spread *c)
{
    const struct lclass *cls = &t->p->classes.v[t->p->shapes.v[v->shape].lclass];
    struct topo_group g = {
        .kind = TOPO_SPREAD,
        .key = space_key(&t->p->space, c->key),
        .max_skew = c->max_skew,
        .min_domains = c->min_domains,
        .selector = with_label_keys(t, c, cls->labels),
        .tol_set = v->tol_set,
        .n_ns = 1,
    };

    g.ns = arena_new_array(t->p->arena, sym, 1);
    g.ns[0] = cls->ns;
    fill_filter(t, &g, v, c);
    return find_or_make(t, &g);
}

static int cmp_syms(const void *a, const void *b, void *ctx)
{
    return cmp_u32(a, b, ctx);
}

static void fill_namespaces(struct topology *t, struct topo_group *g, const struct pod_affinity *a, sym own)
{
    const struct snapshot *s = t->p->snap;
    VEC(sym) ns = {0};

    for (uint32_t i = 0; i < a->n_namespaces; i++)
        vec_push(&ns, a->namespaces[i]);
    for (uint32_t i = 0; a->ns_selector.present && i < t->namespaces.n; i++) {
        lset_id labels = {0};

        for (uint32_t k = 0; k < s->n_namespaces; k++)
            if (s->namespaces[k].name.v == t->namespaces.v[i])
                labels = s->namespaces[k].labels;
        if (selector_matches(&a->ns_selector, s->syms, labels))
            vec_push(&ns, (sym){t->namespaces.v[i]});
    }
    if (ns.n == 0 && !a->ns_selector.present)
        vec_push(&ns, own);
    sort_stable(ns.v, ns.n, sizeof(*ns.v), cmp_syms, NULL);
    g->ns = arena_new_array(t->p->arena, sym, ns.n);
    for (uint32_t i = 0; i < ns.n; i++)
        if (i == 0 || !sym_eq(ns.v[i], ns.v[i - 1]))
            g->ns[g->n_ns++] = ns.v[i];
    vec_fini(&ns);
}

static struct topo_group affinity_terms(struct topology *t, const struct pod_affinity *a, sym ns, uint32_t tol_set,
                                        enum topo_kind kind, bool inverse)
{
    struct topo_group g = {
        .kind = kind,
        .inverse = inverse,
        .key = space_key(&t->p->space, a->key),
        .max_skew = INT32_MAX,
        .selector = a->selector,
        .tol_set = tol_set,
    };

    fill_namespaces(t, &g, a, ns);
    return g;
}

static uint32_t affinity_group(struct topology *t, const struct pod_affinity *a, sym ns, uint32_t tol_set,
                               enum topo_kind kind, bool inverse)
{
    struct topo_group g = affinity_terms(t, a, ns, tol_set, kind, inverse);

    return find_or_make(t, &g);
}

static void own(struct topology *t, uint32_t variant, uint32_t group)
{
    struct variant *v = &t->p->variants.v[variant];
    const struct lclass *c = &t->p->classes.v[t->p->shapes.v[v->shape].lclass];
    const struct topo_group *g = &t->groups.v[group];

    for (uint32_t i = 0; i < v->groups.n; i++)
        if (v->groups.v[i].group == group)
            return;
    bool self = topology_has_namespace(g, c->ns) && selector_matches(&g->selector, t->p->snap->syms, c->labels);
    vec_push(&v->groups, (struct owned_group){group, self});
}

static void make_groups(struct topology *t, uint32_t variant)
{
    struct variant *v = &t->p->variants.v[variant];
    const struct podspec *spec = t->p->shapes.v[v->shape].spec;
    sym ns = t->p->classes.v[t->p->shapes.v[v->shape].lclass].ns;

    if (v->topology_ready)
        return;
    v->topology_ready = true; /* the pointer holds: making groups adds no variants */
    for (uint32_t i = 0; i < v->n_spreads; i++)
        own(t, variant, spread_group(t, v, &spec->spreads[v->spreads[i]]));
    for (uint32_t i = 0; i < spec->aff_required.n; i++)
        own(t, variant, affinity_group(t, &spec->aff_required.v[i], ns, v->tol_set, TOPO_AFFINITY, false));
    for (uint32_t i = 0; i < v->n_aff; i++)
        own(t, variant, affinity_group(t, &spec->aff_preferred.v[v->aff[i]], ns, v->tol_set, TOPO_AFFINITY, false));
    for (uint32_t i = 0; i < spec->anti_required.n; i++)
        own(t, variant, affinity_group(t, &spec->anti_required.v[i], ns, v->tol_set, TOPO_ANTI, false));
    for (uint32_t i = 0; i < v->n_anti; i++)
        own(t, variant, affinity_group(t, &spec->anti_preferred.v[v->anti[i]], ns, v->tol_set, TOPO_ANTI, false));
}

void topology_prepare_all(struct topology *t)
{
    for (uint32_t i = 0; i < t->p->shapes.n && t->any; i++)
        for (uint32_t v = t->p->shapes.v[i].variant; v != NONE; v = variant_next(t->p, v))
            make_groups(t, v);
}

void topology_prepare(struct topology *t, uint32_t variant)
{
    struct variant *v = &t->p->variants.v[variant];

    if (v->live_in == t->round)
        return;
    v->live_in = t->round;
    make_groups(t, variant);
    for (uint32_t i = 0; i < v->groups.n; i++)
        t->groups.v[v->groups.v[i].group].live_in = t->round;
    const struct shape *sh = &t->p->shapes.v[v->shape];
    for (uint32_t i = 0; i < sh->n_inverse_owned && !v->bare; i++)
        t->groups.v[sh->inverse_owned[i]].live_in = t->round;
}

/* The inverse groups of a pod that is no shape's, because nothing moves it; NULL: one of them does not exist. */
const uint32_t *topology_anti_groups(struct topology *t, const struct pod *pod)
{
    struct {
        const struct podspec *spec;
        uint64_t ns;
    } key = {pod->spec, pod->ns.v};
    uint32_t n = pod->spec->anti_required.n, ix = strmap_get(&t->anti_ix, (str){(const char *)&key, sizeof(key)});

    if (ix != MAP_NONE)
        return t->anti.v[ix];
    uint32_t *v = arena_new_array(t->p->arena, uint32_t, n);
    for (uint32_t i = 0; i < n && v; i++) {
        struct topo_group g =
            affinity_terms(t, &pod->spec->anti_required.v[i], pod->ns, 0, TOPO_ANTI, /* inverse= */ true);

        v[i] = strmap_get(&t->ids[true], group_identity(t, &g));
        v = v[i] == MAP_NONE ? NULL : v;
    }
    strmap_put(&t->anti_ix, arena_strdup(t->p->arena, (str){(const char *)&key, sizeof(key)}), t->anti.n);
    vec_push(&t->anti, v);
    return v;
}

/* --- start ----------------------------------------------------------------------------------------------------------- */

static bool spec_has_topology(const struct podspec *s)
{
    return s->n_spreads || s->aff_required.n || s->aff_preferred.n || s->anti_required.n || s->anti_preferred.n;
}

static void index_nodes(struct topology *t)
{
    struct problem *p = t->p;
    const struct snapshot *s = p->snap;

    t->node_rs = arena_new_array(p->arena, uint32_t, s->n_nodes);
    t->node_taints = arena_new_array(p->arena, uint32_t, s->n_nodes);
    t->node_host = arena_new_array(p->arena, uint32_t, s->n_nodes);
    t->node_gone = arena_new_array(p->arena, uint64_t, BITS_WORDS(s->n_nodes));
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct node *n = s->nodes[i].node;
        sym host;

        if (!n)
            continue;
        sym name = n->name_sym;
        t->node_rs[i] = problem_lset_rs(p, n->labels);
        t->node_taints[i] = problem_taint_set(p, &n->taints);
        t->node_host[i] = topology_host(t, lset_value(s->syms, n->labels, SYM(HOST), &host) ? host : name);
    }
}

static void index_bound_pods(struct topology *t)
{
    const struct snapshot *s = t->p->snap;

    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_pods; k++) {
            uint32_t ix = s->nodes[i].pods[k];

            if (s->pods[ix].terminating || bit_test(t->in_round, ix))
                continue;
            uint32_t c = lclass_of_pod(t->p, &s->pods[ix]);
            vec_push(&t->p->classes.v[c].bound, (struct bound_pod){ix, i});
        }
}

static void index_classes(struct topology *t)
{
    struct problem *p = t->p;

    for (uint32_t i = 0; i < p->classes.n; i++) {
        uint32_t n;
        const struct label *l = lset_get(p->snap->syms, p->classes.v[i].labels, &n);

        for (uint32_t k = 0; k < n; k++) {
            if (!bit_test(p->selector_keys, l[k].key.v))
                continue;
            uint64_t pair = u64_pair(l[k].key.v, l[k].val.v);

            vec_push(&t->links, (struct class_link){i, u64map_get(&t->classes_with, pair)});
            u64map_put(&t->classes_with, pair, t->links.n - 1);
        }
    }
}

static void add_namespace(struct topology *t, struct u64map *seen, sym ns)
{
    if (u64map_get(seen, ns.v) != MAP_NONE)
        return;
    u64map_put(seen, ns.v, 1);
    vec_push(&t->namespaces, ns.v);
}

static void index_namespaces(struct topology *t)
{
    struct u64map seen = {0};

    for (uint32_t i = 0; i < t->p->snap->n_namespaces; i++)
        add_namespace(t, &seen, t->p->snap->namespaces[i].name);
    for (uint32_t i = 0; i < t->p->classes.n; i++)
        add_namespace(t, &seen, t->p->classes.v[i].ns);
    u64map_fini(&seen);
}

static void make_inverse_groups(struct topology *t)
{
    struct problem *p = t->p;
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_nodes && !s->none_apart; i++)
        for (uint32_t j = 0; s->nodes[i].node && j < s->nodes[i].n_pods; j++) {
            const struct pod *pod = &s->pods[s->nodes[i].pods[j]];

            if (bit_test(t->in_round, s->nodes[i].pods[j]))
                continue;
            for (uint32_t k = 0; k < pod->spec->anti_required.n; k++) {
                uint32_t tol = problem_tol_set(p, &pod->spec->tolerations);
                uint32_t group = affinity_group(t, &pod->spec->anti_required.v[k], pod->ns, tol, TOPO_ANTI, true);

                topology_count_node(t, group, i, /* host_fallback= */ false, 1);
                t->groups.v[group].holders++;
            }
        }
    for (uint32_t i = 0; i < p->shapes.n; i++) {
        struct shape *sh = &p->shapes.v[i];
        uint32_t tol = p->variants.v[sh->variant].tol_set;

        sh->inverse_owned = arena_new_array(p->arena, uint32_t, sh->spec->anti_required.n);
        for (uint32_t k = 0; k < sh->spec->anti_required.n; k++)
            sh->inverse_owned[sh->n_inverse_owned++] = affinity_group(
                t, &sh->spec->anti_required.v[k], p->classes.v[sh->lclass].ns, tol, TOPO_ANTI, /* inverse= */ true);
    }
    for (uint32_t i = 0; i < s->n_pending && i < p->n_pods; i++) { /* pods that wait come first */
        const struct shape *sh = &p->shapes.v[p->shape_of[i]];

        for (uint32_t k = 0; k < sh->n_inverse_owned && sh->bare == NONE; k++)
            t->groups.v[sh->inverse_owned[k]].holders++;
    }
}

void topology_init(struct topology *t, struct problem *p)
{
    const struct snapshot *s = p->snap;

    *t = (struct topology){.p = p, .round = 1};
    for (uint32_t i = 0; i < p->shapes.n && !t->any; i++)
        t->any = spec_has_topology(p->shapes.v[i].spec);
    for (uint32_t i = 0; i < s->n_nodes && !t->any && !s->none_apart; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_pods && !t->any; k++)
            t->any = s->pods[s->nodes[i].pods[k]].spec->anti_required.n > 0;
    if (!t->any)
        return;
    t->domains = arena_new_array(p->arena, struct key_domains, p->space.keys.n);
    t->in_round = arena_new_array(p->arena, uint64_t, BITS_WORDS(s->n_pods));
    for (uint32_t i = 0; i < s->n_pending; i++)
        bit_set(t->in_round, s->pending[i]);
    index_nodes(t);
    index_bound_pods(t);
    index_classes(t);
    index_namespaces(t);
    make_inverse_groups(t);
    for (uint32_t i = 0; i < p->shapes.n; i++)
        if (p->shapes.v[i].bare == NONE)
            topology_prepare(t, p->shapes.v[i].variant);
}

void topology_fini(struct topology *t)
{
    for (uint32_t i = 0; i < t->groups.n; i++)
        vec_fini(&t->groups.v[i].busy_hosts);
    vec_fini(&t->groups);
    strmap_fini(&t->ids[0]);
    strmap_fini(&t->ids[1]);
    strmap_fini(&t->filters);
    strmap_fini(&t->anti_ix);
    vec_fini(&t->anti);
    vec_fini(&t->touched);
    vec_fini(&t->node_domains);
    u64map_fini(&t->host_counts);
    vec_fini(&t->hosts);
    u64map_fini(&t->host_of_sym);
    for (uint32_t i = 0; t->domains && i < t->p->space.keys.n; i++)
        vec_fini(&t->domains[i].tainted);
    u64map_fini(&t->classes_with);
    vec_fini(&t->links);
    vec_fini(&t->log);
    vec_fini(&t->unselective);
    vec_fini(&t->leaning);
    vec_fini(&t->namespaces);
}
