/* Failures of a plan: one explanation per shape, however many pods share it. */
#include "plan/explain.h"

#include <math.h>

struct explanation {
    bool done;
    struct plan_why why;
};

str explain_take(struct explainer *x)
{
    str s = sb_dup(&x->b, x->a);

    sb_reset(&x->b);
    return s;
}

/* --- trials ---------------------------------------------------------------------------------------------------------- */

uint32_t trial_alternatives(const struct explainer *x, uint32_t variant)
{
    const struct problem *p = &x->k->p;
    uint32_t vols = p->shapes.v[p->variants.v[variant].shape].vols;

    return vols == NONE ? 1 : p->vols.v[vols].n;
}

bool trial_ports_clash(const struct explainer *x, const struct shape *sh, const struct daemon_group *g)
{
    return sh->spec->n_ports && g->n_ports &&
           ports_clash(x->k, sh->spec->ports, sh->spec->n_ports, g->ports, g->n_ports);
}

/* What one type is like, over its rows: a type with overrides is as good as its best row. */
static void judge_type(struct trial *t, bool met, bool fits, bool offered)
{
    t->met |= met;
    t->fits |= fits;
    t->offered |= offered;
    t->only_no_room |= met && offered && !fits;
    t->only_not_met |= fits && offered && !met;
}

static void filter_group(struct explainer *x, struct trial *t, const struct daemon_group *g, const int64_t *requests)
{
    struct problem *p = &x->k->p;
    uint32_t type = NONE;
    bool met = false, fits = false, offered = false;

    for (uint32_t d = 0; d < p->n_dims; d++)
        x->need[d] = sat_add(requests[d], g->overhead[d]);
    bits_copy(x->rows, x->offered, p->row_words); /* room counts only where something is on offer (scheduling 12.1) */
    bits_and(x->rows, g->rows, p->row_words);
    bits_and(x->rows, t->from, p->row_words);
    rows_fit(p, x->rows, x->need);
    for (uint32_t w = 0; w < p->row_words; w++)
        t->rows[w] |= x->rows[w] & x->met[w];
    for (BITS_EACH(r, g->rows, p->row_words)) {
        if (!bit_test(t->from, r))
            continue;
        if (type != NONE && p->rows.v[r].type != type) {
            judge_type(t, met, fits, offered);
            met = fits = offered = false;
        }
        type = p->rows.v[r].type;
        met |= bit_test(x->met, r);
        fits |= bit_test(x->rows, r);
        offered |= bit_test(x->offered, r);
    }
    if (type != NONE)
        judge_type(t, met, fits, offered);
}

static bool reservation_is_missing(struct explainer *x, struct trial *t)
{
    struct problem *p = &x->k->p;

    t->reservation = NONE;
    for (BITS_EACH(r, t->rows, p->row_words))
        for (uint32_t i = p->row_offering[r]; i < p->row_offering[r + 1]; i++) {
            const struct row_offering *o = &p->offerings.v[i];

            if (o->reservation == NONE || !o->available ||
                !rs_compatible(&p->space, t->rs, p->off_classes.v[o->cls].rs, COMPAT_LENIENT))
                continue;
            if (p->reservations.v[o->reservation].left > 0)
                return false;
            if (t->reservation == NONE)
                t->reservation = o->reservation;
        }
    return t->reservation != NONE;
}

static enum step try_types(struct explainer *x, struct trial *t, const struct shape *sh)
{
    struct problem *p = &x->k->p;
    const struct tmpl *tmpl = &p->tmpls[t->tmpl];

    bits_fill(x->met, p->row_words * 64);
    for (uint32_t i = 0; i < p->space.sets.v[t->rs].n; i++)
        bits_and(x->met, rows_of_req(p, p->space.sets.v[t->rs].e[i].req), p->row_words);
    (void)rows_with_offering(p, t->rs, x->offered);
    bits_zero(t->rows, p->row_words);
    t->met = t->fits = t->offered = t->only_no_room = t->only_not_met = false;
    t->ports = true;
    for (uint32_t i = 0; i < tmpl->n_groups; i++)
        if (!trial_ports_clash(x, sh, &tmpl->groups[i])) {
            t->ports = false;
            filter_group(x, t, &tmpl->groups[i], sh->requests);
        }
    if (!bits_any(t->rows, p->row_words))
        return STEP_TYPES;
    if (p->snap->settings.min_values == MINVALUES_STRICT && !rows_min_values(p, t->rows, t->rs, &t->lowered))
        return STEP_MIN_VALUES;
    return reservation_is_missing(x, t) ? STEP_RESERVATION : STEP_NONE;
}

static enum step try_claim(struct explainer *x, struct trial *t, uint32_t alternative)
{
    struct packer *k = x->k;
    struct problem *p = &k->p;
    struct reqspace *s = &p->space;
    const struct tmpl *tmpl = &p->tmpls[t->tmpl];
    const struct variant *v = &p->variants.v[t->variant];
    const struct shape *sh = &p->shapes.v[v->shape];

    t->rs = tmpl->rs;
    t->want = v->full;
    if (!problem_tolerates(p, v->tol_set, tmpl->taint_set))
        return STEP_TAINTS;
    if (!rs_compatible(s, t->rs, t->want, COMPAT_LENIENT))
        return STEP_REQUIREMENTS;
    t->rs = rs_union(s, t->rs, t->want);
    if (sh->vols != NONE) {
        t->want = p->vols.v[sh->vols].rs[alternative];
        if (!rs_compatible(s, t->rs, t->want, COMPAT_LENIENT))
            return STEP_VOLUMES;
        t->rs = rs_union(s, t->rs, t->want);
    }
    t->want = t->rs;
    if (k->topo.any && !topology_narrow(&k->topo, t->variant, t->rs, k->spare_host, &t->want, &t->group))
        return STEP_TOPOLOGY;
    if (t->want != t->rs && !rs_compatible(s, t->rs, t->want, COMPAT_LENIENT))
        return STEP_DOMAINS;
    t->rs = t->want;
    return try_types(x, t, sh);
}

void trial_run(struct explainer *x, struct trial *t, uint32_t alternative)
{
    t->failed = try_claim(x, t, alternative);
}

/* --- one shape ------------------------------------------------------------------------------------------------------- */

/* All templates that could be tried, in order, until one waits for a reservation. */
static bool explain_variant(struct explainer *x, uint32_t variant)
{
    const struct problem *p = &x->k->p;

    sb_reset(&x->b);
    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        if (!p->tmpls[i].usable)
            continue;
        if (x->b.n)
            sb_c(&x->b, "; ");
        if (explain_template(x, i, variant))
            return true;
    }
    return false;
}

static bool any_usable(const struct problem *p)
{
    for (uint32_t i = 0; i < p->n_tmpls; i++)
        if (p->tmpls[i].usable)
            return true;
    return false;
}

static void explain_shape(struct explainer *x, uint32_t shape, struct explanation *e)
{
    struct problem *p = &x->k->p;
    const struct shape *sh = &p->shapes.v[shape];
    bool may_wait = sh->deferred;
    uint32_t v = sh->variant, last = v;

    e->done = true;
    if (sh->spec->uses_dra && p->snap->settings.ignore_dra) {
        e->why.reason = STR("pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter");
        return;
    }
    if (p->n_tmpls == 0) {
        e->why.reason = STR("no nodepools found");
        return;
    }
    if (!any_usable(p)) {
        e->why.reason = STR("nodepool requirements filtered out all available instance types");
        if (!x->brief)
            e->why.near = explain_near_pools(x);
        return;
    }
    for (; v != NONE && !e->why.deferred; v = variant_next(p, v)) { /* the last try is the one that is reported */
        last = v;
        if (!may_wait && variant_next(p, v) != NONE)
            continue;
        if (x->k->topo.any)
            topology_prepare(&x->k->topo, v);
        e->why.deferred = explain_variant(x, v);
    }
    e->why.reason = explain_take(x);
    if (!x->brief)
        e->why.near = explain_near(x, last);
}

/* --- claims that were given up --------------------------------------------------------------------------------------- */

struct priced {
    uint32_t type;
    double price;
};

static int cmp_priced(const void *a, const void *b, void *ctx)
{
    const struct priced *x = a, *y = b;

    (void)ctx;
    return x->price < y->price ? -1 : x->price > y->price;
}

/* The cheapest types of a claim, as many as fit into a NodeClaim, as rows. */
static void cheapest_rows(struct explainer *x, const struct bin *b, uint64_t *out)
{
    struct problem *p = &x->k->p;
    struct priced *list = xmalloc((p->snap->catalog->n + 1) * sizeof(*list));
    uint32_t n = 0;

    for (BITS_EACH(r, b->rows, p->row_words)) {
        uint32_t type = p->rows.v[r].type;

        if (n && list[n - 1].type == type)
            continue;
        list[n++] = (struct priced){type, INFINITY};
        for (uint32_t i = p->row_offering[p->first_row[type]]; i < p->row_offering[p->first_row[type + 1]]; i++) {
            const struct row_offering *o = &p->offerings.v[i];

            if (o->available && rs_compatible(&p->space, b->rs, p->off_classes.v[o->cls].rs, COMPAT_LENIENT))
                list[n - 1].price = MIN(list[n - 1].price, o->price);
        }
    }
    sort_stable(list, n, sizeof(*list), cmp_priced, NULL);
    bits_zero(out, p->row_words);
    for (uint32_t i = 0; i < MIN(n, (uint32_t)MAX_TYPES); i++)
        for (uint32_t r = p->first_row[list[i].type]; r < p->first_row[list[i].type + 1]; r++)
            bit_set(out, r);
    free(list);
}

static void explain_cut(struct explainer *x, const struct bin *b, struct explanation *e)
{
    struct problem *p = &x->k->p;
    str pool = p->snap->pools[p->tmpls[b->tmpl].pool].name;
    uint32_t lowered;

    cheapest_rows(x, b, x->rows);
    (void)rows_min_values(p, x->rows, b->rs, &lowered);
    if (!x->brief)
        e->why.near = explain_near_min_values(x, b->tmpl, b->rs, lowered);
    sb_c(&x->b, "pod didn't schedule because NodePool couldn't meet minValues requirements, validating minValues, ");
    explain_min_values(x, b->rs, lowered);
    sb_printf(&x->b, " (NodePool=" STR_FMT ")", STR_ARG(pool));
    e->why.reason = explain_take(x);
}

/* --- the list -------------------------------------------------------------------------------------------------------- */

/* Pods of claims that were packed and then given up, each with the claim's explanation; NULL: there are none. */
static struct explanation **explain_cuts(struct explainer *x)
{
    struct packer *k = x->k;
    struct explanation **of_pod = NULL;

    for (uint32_t i = k->n_node_bins; i < k->bins.n; i++) {
        const struct bin *b = &k->bins.v[i];

        if (b->n == 0 || k->placed[b->first])
            continue;
        if (!of_pod)
            of_pod = arena_new_array(k->p.arena, struct explanation *, k->p.n_pods);
        struct explanation *e = arena_new_one(x->a, struct explanation);
        explain_cut(x, b, e);
        for (uint32_t pod = b->first; pod != NONE; pod = k->next[pod])
            of_pod[pod] = e;
    }
    return of_pod;
}

static void fill_failures(struct explainer *x, struct plan *out)
{
    struct problem *p = &x->k->p;
    struct explanation *shapes = arena_new_array(x->a, struct explanation, p->shapes.n);
    struct explanation **cut = explain_cuts(x);

    for (uint32_t i = 0; i < x->k->n_round; i++) {
        uint32_t turn = round_turn(x->k, i);

        if (x->k->placed[turn])
            continue;
        struct explanation *e = cut && cut[turn] ? cut[turn] : &shapes[x->k->shape_of[turn]];
        if (!(cut && cut[turn]) && !e->done)
            explain_shape(x, x->k->shape_of[turn], e);
        out->failures[out->n_failures++] = (struct plan_failure){x->k->pod_of[turn], &e->why};
    }
}

static struct explainer explainer_of(struct packer *k, struct arena *a)
{
    struct problem *p = &k->p;

    return (struct explainer){
        .k = k,
        .a = a,
        .met = arena_new_array(a, uint64_t, p->row_words),
        .offered = arena_new_array(a, uint64_t, p->row_words),
        .rows = arena_new_array(a, uint64_t, p->row_words),
        .need = arena_new_array(a, int64_t, p->n_dims),
    };
}

/* The claim that took the pod and was given up; NULL. */
static const struct bin *cut_claim(const struct packer *k, uint32_t turn)
{
    for (uint32_t i = k->n_node_bins; i < k->bins.n; i++)
        for (uint32_t t = k->bins.v[i].first; k->bins.v[i].n && t != NONE; t = k->next[t])
            if (t == turn)
                return &k->bins.v[i];
    return NULL;
}

str explain_turn(struct packer *k, uint32_t turn, struct arena *a)
{
    struct explainer x = explainer_of(k, a);
    const struct bin *cut = cut_claim(k, turn);
    struct explanation e = {0};

    x.brief = true;
    if (cut)
        explain_cut(&x, cut, &e);
    else
        explain_shape(&x, k->shape_of[turn], &e);
    sb_fini(&x.b);
    return e.why.reason;
}

str explain_missed_values(struct packer *k, uint32_t rs, uint32_t lowered, struct arena *a)
{
    struct explainer x = explainer_of(k, a);

    explain_min_values(&x, rs, lowered);
    str text = explain_take(&x);
    sb_fini(&x.b);
    return text;
}

void explain_failures(struct packer *k, struct plan *out, struct arena *a)
{
    const struct snapshot *s = k->p.snap;
    uint32_t unplaced = 0;

    for (uint32_t i = 0; i < k->n_round; i++)
        unplaced += !k->placed[round_turn(k, i)];
    out->failures = arena_new_array(a, struct plan_failure, unplaced + s->n_refused);
    if (unplaced) {
        struct explainer x = explainer_of(k, a);

        fill_failures(&x, out);
        sb_fini(&x.b);
    }
    for (uint32_t i = 0; i < s->n_refused; i++) {
        struct plan_why *why = arena_new_one(a, struct plan_why);

        why->reason = s->refused[i].reason;
        why->refused = true;
        out->failures[out->n_failures++] = (struct plan_failure){s->refused[i].pod, why};
    }
}
