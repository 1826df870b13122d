/* What a pod would like and what it insists on: variants of a shape from "as written" to "nothing left to give up"
 * (scheduling 14). Preferences are hard until they are dropped, one per step. */
#include "plan/problem.h"

static int cmp_weights(const void *a, const void *b, void *ctx)
{
    const int32_t *w = ctx;
    int32_t x = w[*(const uint32_t *)a], y = w[*(const uint32_t *)b];

    return x > y ? -1 : x < y;
}

/* 0 … n-1 ordered by weight, heaviest first, equal weights as written. */
static uint32_t *by_weight(struct problem *p, int32_t *weights, uint32_t n)
{
    uint32_t *ix = arena_new_array(p->arena, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        ix[i] = i;
    sort_stable(ix, n, sizeof(*ix), cmp_weights, weights);
    return ix;
}

static uint32_t *affinities_by_weight(struct problem *p, const struct pod_affinities *t)
{
    int32_t *w = arena_new_array(p->arena, int32_t, t->n);

    for (uint32_t i = 0; i < t->n; i++)
        w[i] = t->v[i].weight;
    return by_weight(p, w, t->n);
}

static void compile_requirements(struct problem *p, struct variant *v)
{
    struct reqspace *s = &p->space;
    const struct podspec *spec = p->shapes.v[v->shape].spec;
    uint32_t rs = rs_of_exprs(s, spec->node_selector, spec->n_node_selector);

    /* quirk: only the first term that is left counts here; the others are reached by relaxing (scheduling 3.3). */
    if (v->first_required < spec->n_required) {
        const struct req_term *t = &spec->required[v->first_required];

        rs = rs_union(s, rs, rs_of_exprs(s, t->exprs, t->n));
    }
    v->strict = v->full = rs;
    if (v->n_preferred) {
        const struct req_term *t = &spec->preferred[v->preferred[0]].term;

        v->full = rs_union(s, rs, rs_of_exprs(s, t->exprs, t->n));
    }
    v->tol_set = problem_tol_set(p, &v->tolerations);
}

uint32_t variant_first(struct problem *p, uint32_t shape)
{
    const struct podspec *spec = p->shapes.v[shape].spec;
    bool respect = p->snap->settings.preferences == PREF_RESPECT;
    struct variant v = {.shape = shape, .next = NONE, .tolerations = spec->tolerations};

    v.spreads = arena_new_array(p->arena, uint32_t, spec->n_spreads);
    for (uint32_t i = 0; i < spec->n_spreads; i++)
        if (respect || spec->spreads[i].when == SPREAD_DO_NOT_SCHEDULE)
            v.spreads[v.n_spreads++] = i;
    if (respect) {
        int32_t *w = arena_new_array(p->arena, int32_t, spec->n_preferred);

        for (uint32_t i = 0; i < spec->n_preferred; i++)
            w[i] = spec->preferred[i].weight;
        v.preferred = by_weight(p, w, spec->n_preferred);
        v.n_preferred = spec->n_preferred;
        v.aff = affinities_by_weight(p, &spec->aff_preferred);
        v.n_aff = spec->aff_preferred.n;
        v.anti = affinities_by_weight(p, &spec->anti_preferred);
        v.n_anti = spec->anti_preferred.n;
    }
    compile_requirements(p, &v);
    vec_push(&p->variants, v);
    return p->variants.n - 1;
}

uint32_t variant_bare(struct problem *p, uint32_t shape)
{
    struct variant v = p->variants.v[p->shapes.v[shape].variant];

    v.topology_ready = v.bare = true;
    v.live_in = 0;
    v.cls_known = false;
    vec_push(&p->variants, v);
    return p->variants.n - 1;
}

struct tolerations tolerations_with_prefer(struct problem *p, const struct tolerations *t)
{
    struct tolerations r = {arena_new_array(p->arena, struct toleration, t->n + 1), t->n + 1};

    if (t->n)
        memcpy(r.v, t->v, t->n * sizeof(*t->v));
    r.v[t->n] = (struct toleration){.op = TOL_EXISTS, .effect = EFFECT_PREFER_NO_SCHEDULE};
    return r;
}

static bool tolerates_every_preference(const struct tolerations *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].op == TOL_EXISTS && t->v[i].effect == EFFECT_PREFER_NO_SCHEDULE && !sym_some(t->v[i].key) &&
            !sym_some(t->v[i].value))
            return true;
    return false;
}

/* Drops the first soft spread constraint; the last constraint takes its slot. */
static bool drop_soft_spread(struct problem *p, struct variant *v)
{
    const struct podspec *spec = p->shapes.v[v->shape].spec;

    for (uint32_t i = 0; i < v->n_spreads; i++)
        if (spec->spreads[v->spreads[i]].when == SPREAD_ANYWAY) {
            v->spreads = arena_dup_array(p->arena, uint32_t, v->spreads, v->n_spreads);
            v->spreads[i] = v->spreads[--v->n_spreads];
            return true;
        }
    return false;
}

static bool relax(struct problem *p, struct variant *v)
{
    const struct podspec *spec = p->shapes.v[v->shape].spec;

    if (v->first_required + 1 < spec->n_required) {
        v->first_required++;
        return true;
    }
    if (v->n_aff) {
        v->aff++, v->n_aff--;
        return true;
    }
    if (v->n_anti) {
        v->anti++, v->n_anti--;
        return true;
    }
    if (v->n_preferred) {
        v->preferred++, v->n_preferred--;
        return true;
    }
    if (drop_soft_spread(p, v))
        return true;
    if (!p->tolerate_prefer || tolerates_every_preference(&v->tolerations))
        return false;
    v->tolerations = tolerations_with_prefer(p, &v->tolerations);
    return true;
}

uint32_t variant_next(struct problem *p, uint32_t variant)
{
    struct variant *v = &p->variants.v[variant];

    if (v->next != NONE || v->last)
        return v->next;
    struct variant n = *v;

    n.topology_ready = n.bare = n.cls_known = false;
    n.live_in = 0;
    memset(&n.groups, 0, sizeof(n.groups));
    if (!relax(p, &n)) {
        v->last = true;
        return NONE;
    }
    compile_requirements(p, &n);
    v->next = p->variants.n;
    vec_push(&p->variants, n);
    return p->variants.n - 1;
}
