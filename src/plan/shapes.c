/* Pods that scheduling cannot tell apart become one shape; pods that selectors cannot tell apart one label class. */
#include "plan/problem.h"

static void announce_terms(struct problem *p, const struct req_term *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < t[i].n; j++)
            reqspace_expr(&p->space, &t[i].exprs[j]);
}

static void mention(struct problem *p, sym key)
{
    bit_set(p->selector_keys, key.v);
}

static void mention_selector(struct problem *p, const struct selector *s)
{
    for (uint32_t i = 0; i < s->n_exprs; i++)
        mention(p, s->exprs[i].key);
}

static void announce_affinities(struct problem *p, const struct pod_affinities *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        reqspace_key(&p->space, t->v[i].key);
        mention_selector(p, &t->v[i].selector);
    }
}

static void announce_spreads(struct problem *p, const struct spread *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        reqspace_key(&p->space, v[i].key);
        mention_selector(p, &v[i].selector);
        for (uint32_t k = 0; k < v[i].n_match_label_keys; k++)
            mention(p, v[i].match_label_keys[k]);
    }
}

static void announce_spec(struct problem *p, const struct podspec *spec)
{
    for (uint32_t i = 0; i < spec->n_node_selector; i++)
        reqspace_expr(&p->space, &spec->node_selector[i]);
    announce_terms(p, spec->required, spec->n_required);
    for (uint32_t i = 0; i < spec->n_preferred; i++)
        announce_terms(p, &spec->preferred[i].term, 1);
    announce_spreads(p, spec->spreads, spec->n_spreads);
    announce_affinities(p, &spec->aff_required);
    announce_affinities(p, &spec->aff_preferred);
    announce_affinities(p, &spec->anti_required);
    announce_affinities(p, &spec->anti_preferred);
}

static const struct podspec *base_spec(const struct podspec *s)
{
    return s->base ? s->base : s;
}

static uint32_t spec_number(struct problem *p, const struct podspec *spec)
{
    uint32_t ix = u64map_get(&p->spec_ix, (uintptr_t)spec);

    if (ix != MAP_NONE)
        return ix;
    u64map_put(&p->spec_ix, (uintptr_t)spec, p->specs.n);
    vec_push(&p->specs, spec);
    announce_spec(p, spec);
    return p->specs.n - 1;
}

/* The one walk over all pods before the label space is known. */
static void find_runs(struct problem *p)
{
    const struct snapshot *s = p->snap;
    const struct pod *last = NULL;
    bool defaults = s->settings.n_default_spreads > 0;

    for (uint32_t i = 0; i < p->n_pods; i++) {
        const struct pod *pod = &s->pods[p->pods[i]];

        if (last && last->spec == pod->spec && last->labels.v == pod->labels.v && sym_eq(last->ns, pod->ns) &&
            pod->spec->n_volumes == 0 &&
            (!defaults || (last->owner == pod->owner && sym_eq(last->owner_name, pod->owner_name)))) {
            vec_last(&p->runs).n++;
            continue;
        }
        last = pod;
        if (pod->spec->n_volumes)
            volumes_announce(p, pod);
        const struct podspec *spec = base_spec(pod->spec);
        if (defaults)
            spec = defaults_apply(p, pod, spec);
        vec_push(&p->runs, (struct pod_run){i, 1, spec_number(p, spec)});
    }
}

void shapes_announce(struct problem *p)
{
    const struct snapshot *s = p->snap;

    p->n_syms = syms_count(s->syms);
    p->selector_keys = arena_new_array(p->arena, uint64_t, BITS_WORDS(p->n_syms) + 1);
    find_runs(p);
    for (uint32_t i = 0; i < s->n_daemons; i++) {
        announce_spec(p, s->daemons[i].spec);
        if (s->daemon_pods[i])
            announce_spec(p, s->daemon_pods[i]->spec);
    }
    for (uint32_t i = 0; i < s->n_nodes && !s->none_apart; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_pods; k++)
            announce_affinities(p, &s->pods[s->nodes[i].pods[k]].spec->anti_required);
}

static uint32_t project(struct problem *p, lset_id labels)
{
    if (p->n_projected_cap <= labels.v) {
        uint32_t cap = MAX(lsets_count(p->snap->syms), labels.v + 1);

        p->projected = xrealloc(p->projected, cap * sizeof(*p->projected));
        memset(p->projected + p->n_projected_cap, 0xff, (cap - p->n_projected_cap) * sizeof(*p->projected));
        p->n_projected_cap = cap;
    }
    if (p->projected[labels.v] != NONE)
        return p->projected[labels.v];

    uint32_t n, kept = 0;
    const struct label *l = lset_get(p->snap->syms, labels, &n);
    struct label *own = arena_new_array(p->arena, struct label, n);
    for (uint32_t i = 0; i < n; i++)
        if (l[i].key.v < p->n_syms && bit_test(p->selector_keys, l[i].key.v))
            own[kept++] = l[i];
    str bytes = {(const char *)own, kept * sizeof(*own)};
    uint32_t ix = strmap_get(&p->projections, bytes);
    if (ix == MAP_NONE) {
        ix = p->projections.n;
        strmap_put(&p->projections, bytes, ix);
    }
    p->projected[labels.v] = ix;
    return ix;
}

uint32_t lclass_of_pod(struct problem *p, const struct pod *pod)
{
    uint64_t key = u64_pair(project(p, pod->labels), pod->ns.v);
    uint32_t ix = u64map_get(&p->class_ix, key);

    if (ix != MAP_NONE)
        return ix;
    struct lclass *c = vec_add(&p->classes);
    c->ns = pod->ns;
    c->labels = pod->labels;
    u64map_put(&p->class_ix, key, p->classes.n - 1);
    return p->classes.n - 1;
}

uint32_t lclass_find(struct problem *p, const struct pod *pod)
{
    return u64map_get(&p->class_ix, u64_pair(project(p, pod->labels), pod->ns.v));
}

static uint32_t add_shape(struct problem *p, const struct podspec *spec, uint32_t lclass, uint32_t vols)
{
    struct shape *s = vec_add(&p->shapes);

    s->spec = spec;
    s->lclass = lclass;
    s->vols = vols;
    s->requests = problem_vector(p, &s->spec->requests);
    s->requests[DIM_PODS] = 1000;
    s->request_dims = arena_new_array(p->arena, uint32_t, spec->requests.n);
    for (uint32_t i = 0; i < spec->requests.n; i++)
        s->request_dims[i] = problem_dim(p, spec->requests.q[i].name);
    s->failed_at[false] = s->failed_at[true] = UINT64_MAX;
    s->bare = s->cursor = NONE;
    uint32_t ix = p->shapes.n - 1, v = variant_first(p, ix);
    p->shapes.v[ix].variant = v;
    return ix;
}

static uint32_t shape_of_pod(struct problem *p, const struct pod *pod, uint32_t spec)
{
    uint32_t vols = NONE;
    bool known = pod->spec->n_volumes == 0 || volumes_of_pod(p, pod, &vols);
    uint32_t lclass = lclass_of_pod(p, pod);
    uint64_t key = u64_pair(spec, lclass);
    uint32_t pair = u64map_get(&p->shape_ix[0], key);

    if (pair == MAP_NONE) {
        pair = p->shape_ix[0].n;
        u64map_put(&p->shape_ix[0], key, pair);
    }
    uint64_t full = u64_pair(pair, known ? vols : NONE - 1);
    uint32_t ix = u64map_get(&p->shape_ix[1], full);
    if (ix == MAP_NONE) {
        ix = add_shape(p, p->specs.v[spec], lclass, vols);
        if (!known)
            p->shapes.v[ix].bare = variant_bare(p, ix);
        u64map_put(&p->shape_ix[1], full, ix);
    }
    if (pod->spec->n_volumes && p->snap->n_csi_limits)
        p->shapes.v[ix].has_csi = true;
    return ix;
}

uint32_t shape_find(struct problem *p, const struct pod *pod)
{
    const struct podspec *spec = base_spec(pod->spec);

    if (pod->spec->n_volumes)
        return NONE; /* what its claims demand was never announced */
    if (p->snap->settings.n_default_spreads)
        spec = defaults_apply(p, pod, spec);
    uint32_t number = u64map_get(&p->spec_ix, (uintptr_t)spec), lclass = lclass_find(p, pod);
    if (number == MAP_NONE || lclass == NONE)
        return NONE;
    uint32_t pair = u64map_get(&p->shape_ix[0], u64_pair(number, lclass));
    return pair == MAP_NONE ? NONE : u64map_get(&p->shape_ix[1], u64_pair(pair, NONE));
}

/* The same in one look for pods like one that was seen: names of namespaces and labels rarely go apart. */
static uint32_t shape_of_run(struct problem *p, const struct pod *pod, uint32_t spec)
{
    if (pod->spec->n_volumes)
        return shape_of_pod(p, pod, spec);
    uint64_t key = u64_pair(spec, pod->labels.v);
    uint32_t ix = u64map_get(&p->shape_quick, key);
    if (ix != MAP_NONE && sym_eq(p->classes.v[p->shapes.v[ix].lclass].ns, pod->ns))
        return ix;
    ix = shape_of_pod(p, pod, spec);
    u64map_put(&p->shape_quick, key, ix);
    return ix;
}

static int cmp_sizes(const void *a, const void *b, void *ctx)
{
    const struct problem *p = ctx;
    const int64_t *x = p->shapes.v[*(const uint32_t *)a].requests, *y = p->shapes.v[*(const uint32_t *)b].requests;

    if (x[DIM_CPU] != y[DIM_CPU])
        return x[DIM_CPU] > y[DIM_CPU] ? -1 : 1;
    return x[DIM_MEMORY] > y[DIM_MEMORY] ? -1 : x[DIM_MEMORY] < y[DIM_MEMORY];
}

static void rank_sizes(struct problem *p)
{
    uint32_t *order = arena_new_array(p->arena, uint32_t, p->shapes.n), rank = 0;

    for (uint32_t i = 0; i < p->shapes.n; i++)
        order[i] = i;
    sort_stable(order, p->shapes.n, sizeof(*order), cmp_sizes, p);
    for (uint32_t i = 0; i < p->shapes.n; i++) {
        if (i && cmp_sizes(&order[i - 1], &order[i], p) != 0)
            rank++;
        p->shapes.v[order[i]].size_rank = rank;
    }
}

void shapes_build(struct problem *p)
{
    const struct snapshot *s = p->snap;

    p->shape_of = arena_new_array(p->arena, uint32_t, p->n_pods);
    for (uint32_t i = 0; i < p->runs.n; i++) {
        const struct pod_run *r = &p->runs.v[i];
        uint32_t shape = shape_of_run(p, &s->pods[p->pods[r->first]], r->spec);

        for (uint32_t k = 0; k < r->n; k++)
            p->shape_of[r->first + k] = shape;
    }
    rank_sizes(p);
}
