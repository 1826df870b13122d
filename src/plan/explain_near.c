/* The nearest miss: the pool, the type and the one constraint that kept a pod out, with numbers.
 *
 * Every pool is tried without its limits. The pool that gets furthest is the nearest; one that only its limits stop is
 * nearer than any other. Among types the one with the smallest relative shortfall counts. */
#include "plan/explain.h"

#include <math.h>

#define ALTERNATIVES_MAX 64 /* of volumes: more are not looked at for the nearest */

/* How far a pod got, worst first. */
enum stage {
    STAGE_NOWHERE,
    STAGE_TAINTS,
    STAGE_REQUIREMENTS,
    STAGE_VOLUMES,
    STAGE_TOPOLOGY,
    STAGE_TYPES,
    STAGE_RESOURCES,
    STAGE_MIN_VALUES,
    STAGE_RESERVATION,
    STAGE_LIMITS,
};

struct miss {
    enum stage stage;
    double short_by; /* relative */
    struct plan_near near;
};

static str pool_name(const struct explainer *x, const struct trial *t)
{
    return x->k->p.snap->pools[x->k->p.tmpls[t->tmpl].pool].name;
}

static str key_name(const struct explainer *x, uint32_t key)
{
    return sym_str(x->k->p.space.syms, x->k->p.space.keys.v[key].name);
}

static const struct shape *trial_shape(const struct explainer *x, const struct trial *t)
{
    return &x->k->p.shapes.v[x->k->p.variants.v[t->variant].shape];
}

/* "In [a b]": a requirement without its key. */
static str values_text(struct explainer *x, uint32_t rs, uint32_t key)
{
    const struct reqspace *s = &x->k->p.space;
    uint32_t req = rs_get(s, rs, key);

    if (req == REQ_NONE)
        return STR("undefined");
    req_print(&x->b, s, req);
    str text = explain_take(x);
    return str_sub(text, key_name(x, key).n + 1, text.n);
}

static str set_text(struct explainer *x, uint32_t key, const uint64_t *vals)
{
    struct reqspace *s = &x->k->p.space;

    if (!bits_any(vals, s->keys.v[key].n_words))
        return STR("none");
    req_print(&x->b, s, req_in(s, key, vals));
    str text = explain_take(x);
    return str_sub(text, key_name(x, key).n + 1, text.n);
}

/* Quantities for people: what was asked for as it is, what there is rounded down to a tenth of a GiB or MiB. */
static str amount_text(struct explainer *x, sym name, int64_t v, bool binary, bool rounded)
{
    static const struct {
        int64_t bytes;
        const char *suffix;
    } units[] = {{1ll << 40, "Ti"}, {1ll << 30, "Gi"}, {1ll << 20, "Mi"}};
    int64_t bytes = v / 1000;

    if (rounded && sym_eq(name, SYM(CPU)))
        v -= v % 1000000; /* to milli */
    for (size_t i = 0; rounded && binary && i < ARRAY_LEN(units); i++) {
        if (bytes < units[i].bytes)
            continue;
        int64_t tenths = bytes / units[i].bytes * 10 + bytes % units[i].bytes * 10 / units[i].bytes;
        sb_i64(&x->b, tenths / 10);
        if (tenths % 10)
            sb_printf(&x->b, ".%d", (int)(tenths % 10));
        sb_c(&x->b, units[i].suffix);
        return explain_take(x);
    }
    quantity_print(&x->b, name, v, binary);
    return explain_take(x);
}

static struct miss miss_of(const struct explainer *x, const struct trial *t, enum stage stage, const char *constraint)
{
    return (struct miss){
        .stage = stage,
        .near = {.present = true, .pool = x->k->p.tmpls[t->tmpl].pool, .type = NONE, .constraint = constraint},
    };
}

/* --- before types come in -------------------------------------------------------------------------------------------- */

static struct miss near_taints(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    struct miss m = miss_of(x, t, STAGE_TAINTS, "taints");

    explain_taint(x, taints_untolerated(&p->taint_sets.v[p->tmpls[t->tmpl].taint_set].taints,
                                        &p->variants.v[t->variant].tolerations, p->snap->syms));
    m.near.key = explain_take(x);
    m.near.needs = STR("a toleration");
    m.near.hint = arena_printf(x->a, "tolerate " STR_FMT ", or add a NodePool without it", STR_ARG(m.near.key));
    return m;
}

static struct miss near_requirements(struct explainer *x, const struct trial *t, enum stage stage,
                                     const char *constraint)
{
    struct reqspace *s = &x->k->p.space;
    struct miss m = miss_of(x, t, stage, constraint);
    bool undefined;
    uint32_t key = rs_incompatible_key(s, t->rs, t->want, COMPAT_LENIENT, &undefined);
    str pool = pool_name(x, t);

    m.near.key = key_name(x, key);
    m.near.needs = values_text(x, t->want, key);
    m.near.has = values_text(x, t->rs, key);
    sym similar = undefined ? explain_similar_key(x, t->rs, key) : SYM(NONE);
    if (sym_some(similar))
        m.near.hint = arena_printf(x->a, "did you mean " STR_FMT "?", STR_ARG(sym_str(s->syms, similar)));
    else if (undefined)
        m.near.hint = arena_printf(x->a, "add " STR_FMT " to the labels or requirements of NodePool \"" STR_FMT "\"",
                                   STR_ARG(m.near.key), STR_ARG(pool));
    else if (sym_eq(s->keys.v[key].name, SYM(NP)))
        m.near.hint = STR("name a NodePool that exists and is ready");
    else
        m.near.hint =
            arena_printf(x->a, "let NodePool \"" STR_FMT "\" allow " STR_FMT " " STR_FMT ", or add one that does",
                         STR_ARG(pool), STR_ARG(m.near.key), STR_ARG(m.near.needs));
    return m;
}

static struct miss near_topology(struct explainer *x, const struct trial *t)
{
    const struct topo_group *g = &x->k->topo.groups.v[t->group];
    struct miss m = miss_of(x, t, STAGE_TOPOLOGY, "topology");
    str key = key_name(x, g->key);

    m.near.key = key;
    explain_counts(x, t->group);
    m.near.has = x->b.n ? explain_take(x) : STR("no domain at all");
    switch (g->kind) {
    case TOPO_SPREAD:
        m.near.needs = arena_printf(x->a, "a domain within maxSkew %d", g->max_skew);
        m.near.hint = arena_printf(x->a, "let pods run in more domains of " STR_FMT ", or raise maxSkew", STR_ARG(key));
        break;
    case TOPO_AFFINITY:
        m.near.needs = STR("a domain with a pod it wants to be near");
        m.near.hint = g->is_host
                          ? STR("make room on the node of such a pod: a new node has none")
                          : arena_printf(x->a, "run such a pod in a " STR_FMT " where this one may go", STR_ARG(key));
        break;
    case TOPO_ANTI:
        m.near.needs = STR("a domain without pods it must keep away from");
        m.near.hint =
            arena_printf(x->a, "allow more domains of " STR_FMT ", or make the anti-affinity preferred", STR_ARG(key));
        break;
    }
    return m;
}

/* --- types ----------------------------------------------------------------------------------------------------------- */

/* Rows of `from` that meet every requirement of the set but the one on `but`. */
static void rows_meeting(struct explainer *x, uint32_t rs, uint32_t but, const uint64_t *from, uint64_t *out)
{
    struct problem *p = &x->k->p;

    bits_copy(out, from, p->row_words);
    for (uint32_t i = 0; i < p->space.sets.v[rs].n; i++)
        if (p->space.sets.v[rs].e[i].key != but)
            bits_and(out, rows_of_req(p, p->space.sets.v[rs].e[i].req), p->row_words);
}

/* The requirement without which some type would do; else the first that every type fails. x->met: those types. */
static uint32_t blocking_key(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    uint32_t own = p->tmpls[t->tmpl].usable ? p->tmpls[t->tmpl].rs : RS_EMPTY;
    uint32_t worst = KEY_NONE, n = p->space.sets.v[t->rs].n;

    for (uint32_t i = 0; i < n; i++) {
        struct rs_entry e = p->space.sets.v[t->rs].e[i];

        if (rs_get(&p->space, own, e.key) == e.req)
            continue; /* the pool's own: its types meet it */
        rows_meeting(x, t->rs, e.key, t->from, x->met);
        if (bits_any(x->met, p->row_words))
            return e.key;
        if (worst == KEY_NONE && !bits_meet(rows_of_req(p, e.req), t->from, p->row_words))
            worst = e.key;
    }
    bits_copy(x->met, t->from, p->row_words);
    if (worst != KEY_NONE)
        return worst;
    for (uint32_t i = 0; i < n; i++)
        if (rs_get(&p->space, own, p->space.sets.v[t->rs].e[i].key) != p->space.sets.v[t->rs].e[i].req)
            return p->space.sets.v[t->rs].e[i].key;
    return n ? p->space.sets.v[t->rs].e[0].key : KEY_NONE;
}

static struct miss near_type_requirements(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    struct miss m = miss_of(x, t, STAGE_TYPES, "requirements");
    uint32_t key = blocking_key(x, t);

    if (key == KEY_NONE)
        return (struct miss){0};
    uint32_t words = p->space.keys.v[key].n_words, first = bits_next(x->met, p->row_words, 0);
    uint64_t *seen = arena_new_array(x->a, uint64_t, words), *raw = arena_new_array(x->a, uint64_t, words);
    for (BITS_EACH(r, x->met, p->row_words)) {
        uint32_t req = rs_get(&p->space, p->type_rs[p->rows.v[r].type], key);

        if (req == REQ_NONE)
            continue;
        req_raw(&p->space, req, raw);
        bits_or(seen, raw, words);
    }
    m.near.type = first == UINT32_MAX ? NONE : p->rows.v[first].type;
    m.near.key = key_name(x, key);
    m.near.needs = values_text(x, t->rs, key);
    m.near.has = set_text(x, key, seen);
    if (req_op(&p->space, rs_get(&p->space, t->rs, key)) == OP_DOES_NOT_EXIST)
        m.near.hint =
            arena_printf(x->a, "the requirements on " STR_FMT " contradict each other: drop one", STR_ARG(m.near.key));
    else
        m.near.hint = arena_printf(x->a, "ask for another " STR_FMT ", or let NodePool \"" STR_FMT "\" use more types",
                                   STR_ARG(m.near.key), STR_ARG(pool_name(x, t)));
    return m;
}

/* What is on offer for the types of x->met when `key` is left open; false: nothing either. */
static bool offered_values(struct explainer *x, uint32_t rs, uint32_t key, uint64_t *vals, uint32_t *ret_type)
{
    struct problem *p = &x->k->p;
    uint32_t open =
        rs_put(&p->space, rs, req_of(&p->space, &(struct req_expr){p->space.keys.v[key].name, OP_EXISTS, 0, NULL, 0}));
    uint64_t *raw = arena_new_array(x->a, uint64_t, p->space.keys.v[key].n_words);

    *ret_type = NONE;
    for (BITS_EACH(r, x->met, p->row_words))
        for (uint32_t i = p->row_offering[r]; i < p->row_offering[r + 1]; i++) {
            const struct row_offering *o = &p->offerings.v[i];
            uint32_t cls = p->off_classes.v[o->cls].rs, req = rs_get(&p->space, cls, key);

            if (!o->available || req == REQ_NONE || !rs_compatible(&p->space, open, cls, COMPAT_LENIENT))
                continue;
            req_raw(&p->space, req, raw);
            bits_or(vals, raw, p->space.keys.v[key].n_words);
            if (*ret_type == NONE)
                *ret_type = p->rows.v[r].type;
        }
    return *ret_type != NONE;
}

static struct miss near_offering(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    struct miss m = miss_of(x, t, STAGE_TYPES, "offering");
    const uint32_t keys[] = {p->zone_key, p->ct_key};

    rows_meeting(x, t->rs, KEY_NONE, t->from, x->met);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        uint64_t *vals = arena_new_array(x->a, uint64_t, p->space.keys.v[keys[i]].n_words);

        if (rs_get(&p->space, t->rs, keys[i]) == REQ_NONE || !offered_values(x, t->rs, keys[i], vals, &m.near.type))
            continue;
        m.near.key = key_name(x, keys[i]);
        m.near.needs = values_text(x, t->rs, keys[i]);
        m.near.has = set_text(x, keys[i], vals);
        m.near.hint = arena_printf(x->a, "allow another " STR_FMT ", or more types in NodePool \"" STR_FMT "\"",
                                   STR_ARG(m.near.key), STR_ARG(pool_name(x, t)));
        return m;
    }
    m.near.key = key_name(x, p->zone_key);
    m.near.needs = values_text(x, t->rs, p->zone_key);
    m.near.has = STR("nothing on offer");
    m.near.hint = STR("allow other zones and capacity types");
    return m;
}

static struct miss near_ports(struct explainer *x, const struct trial *t)
{
    const struct podspec *spec = trial_shape(x, t)->spec;
    const struct syms *syms = x->k->p.snap->syms;
    struct miss m = miss_of(x, t, STAGE_TYPES, "hostPorts");

    for (uint32_t i = 0; i < spec->n_ports; i++)
        sb_printf(&x->b, "%s" STR_FMT " " STR_FMT ":%u", i ? ", " : "", STR_ARG(sym_str(syms, spec->ports[i].proto)),
                  STR_ARG(sym_str(syms, spec->ports[i].ip)), spec->ports[i].port);
    m.near.needs = explain_take(x);
    m.near.key = STR("hostPort");
    m.near.has = STR("taken by a DaemonSet on every node");
    m.near.hint = STR("use another host port, or keep the DaemonSet off some nodes");
    return m;
}

/* --- room ------------------------------------------------------------------------------------------------------------ */

struct shortage {
    uint32_t row, dim;
    double by;
    int64_t has;
};

static void short_in_group(struct explainer *x, const struct daemon_group *g, const int64_t *want,
                           struct shortage *best)
{
    const struct problem *p = &x->k->p;

    for (BITS_EACH(r, x->met, p->row_words)) {
        struct shortage s = {.row = r, .dim = NONE};

        if (!bit_test(g->rows, r))
            continue;
        for (uint32_t d = 0; d < p->n_dims; d++) {
            int64_t has = MAX(sat_sub(p->rows.v[r].alloc[d], g->overhead[d]), (int64_t)0);
            double by = want[d] > has ? (double)(want[d] - has) / (double)want[d] : 0;

            if (by > s.by) {
                s.by = by;
                s.dim = d;
                s.has = has;
            }
        }
        if (s.dim != NONE && s.by < best->by)
            *best = s;
    }
}

static bool is_binary(const struct problem *p, const struct shape *sh, uint32_t dim)
{
    const struct resq *q = reslist_get(&sh->spec->requests, p->dims[dim]);

    return dim == DIM_MEMORY || (q && q->binary);
}

static struct miss near_resources(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    const struct tmpl *tmpl = &p->tmpls[t->tmpl];
    const struct shape *sh = trial_shape(x, t);
    struct shortage best = {.dim = NONE, .by = INFINITY};

    rows_meeting(x, t->rs, KEY_NONE, t->from, x->met);
    bits_and(x->met, rows_with_offering(p, t->rs, x->offered), p->row_words);
    for (uint32_t i = 0; i < tmpl->n_groups; i++)
        if (!trial_ports_clash(x, sh, &tmpl->groups[i]))
            short_in_group(x, &tmpl->groups[i], sh->requests, &best);
    if (best.dim == NONE)
        return (struct miss){0};
    struct miss m = miss_of(x, t, STAGE_RESOURCES, "resources");
    sym name = p->dims[best.dim];
    bool binary = is_binary(p, sh, best.dim);
    m.short_by = best.by;
    m.near.type = p->rows.v[best.row].type;
    m.near.key = sym_str(p->snap->syms, name);
    m.near.needs = amount_text(x, name, sh->requests[best.dim], binary, /* rounded= */ false);
    m.near.has = amount_text(x, name, best.has, binary, /* rounded= */ true);
    if (best.has == 0)
        m.near.hint = arena_printf(x->a, "add a NodePool with instance types that have " STR_FMT, STR_ARG(m.near.key));
    else
        m.near.hint = arena_printf(x->a, "ask for less " STR_FMT ", or let NodePool \"" STR_FMT "\" use larger types",
                                   STR_ARG(m.near.key), STR_ARG(pool_name(x, t)));
    return m;
}

static struct miss near_types(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;

    if (t->ports)
        return near_ports(x, t);
    rows_meeting(x, t->rs, KEY_NONE, t->from, x->met);
    if (!bits_any(x->met, p->row_words))
        return near_type_requirements(x, t);
    if (!bits_meet(x->met, rows_with_offering(p, t->rs, x->offered), p->row_words))
        return near_offering(x, t);
    return near_resources(x, t);
}

/* --- the rest -------------------------------------------------------------------------------------------------------- */

struct plan_near explain_near_min_values(struct explainer *x, uint32_t tmpl, uint32_t rs, uint32_t lowered)
{
    const struct reqspace *s = &x->k->p.space;
    const struct trial t = {.tmpl = tmpl};
    struct plan_near near = miss_of(x, &t, STAGE_MIN_VALUES, "minValues").near;

    for (uint32_t i = 0; i < s->sets.v[rs].n; i++) {
        const struct rs_entry *e = &s->sets.v[rs].e[i];
        uint32_t low = rs_get(s, lowered, e->key);

        if (low == e->req)
            continue;
        near.key = key_name(x, e->key);
        near.needs = arena_printf(x->a, "%d values", s->reqs.v[e->req].min_values);
        near.has = arena_printf(x->a, "%d", s->reqs.v[low].min_values);
        break;
    }
    near.hint = arena_printf(x->a, "lower minValues in NodePool \"" STR_FMT "\", or widen its requirements",
                             STR_ARG(pool_name(x, &t)));
    return near;
}

static struct miss near_reservation(struct explainer *x, const struct trial *t)
{
    const struct problem *p = &x->k->p;
    struct miss m = miss_of(x, t, STAGE_RESERVATION, "reservation");

    m.near.key = sym_str(p->snap->syms, p->reservations.v[t->reservation].id);
    m.near.needs = STR("1 free instance");
    m.near.has = STR("0");
    m.near.hint = STR("wait until the reservation has room, or do not ask for reserved capacity");
    return m;
}

/* Nothing but the pool's limits is in the way. */
static struct miss near_limits(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    struct tmpl *tmpl = &p->tmpls[t->tmpl];
    const struct nodepool *np = &p->snap->pools[tmpl->pool];
    const uint64_t *within = limits_rows(x->k, tmpl);
    uint32_t nodes = problem_dim(p, SYM(NODES));
    struct shortage best = {.dim = NONE, .by = INFINITY};

    for (BITS_EACH(r, t->rows, p->row_words)) {
        const int64_t *cap = p->type_capacity + (size_t)p->rows.v[r].type * p->n_dims;

        if (!tmpl->has_limits || bit_test(within, r))
            continue;
        struct shortage s = {.row = r, .dim = NONE};
        for (BITS_EACH(d, tmpl->limited, BITS_WORDS(p->n_dims))) {
            int64_t want = d == nodes ? 1000 : cap[d];
            double by =
                want > tmpl->remaining[d] ? (double)(want - tmpl->remaining[d]) / (double)MAX(want, (int64_t)1) : 0;

            if (by > s.by)
                s = (struct shortage){r, d, by, want};
        }
        if (s.dim != NONE && s.by < best.by)
            best = s;
    }
    if (best.dim == NONE)
        return (struct miss){0};
    struct miss m = miss_of(x, t, STAGE_LIMITS, "limits");
    sym name = p->dims[best.dim];
    const struct resq *limit = reslist_get(&np->limits, name);
    bool binary = best.dim == DIM_MEMORY || limit->binary;
    m.short_by = best.by;
    m.near.type = p->rows.v[best.row].type;
    m.near.key = sym_str(p->snap->syms, name);
    m.near.needs = amount_text(x, name, best.has, binary, /* rounded= */ false);
    str left = amount_text(x, name, MAX(tmpl->remaining[best.dim], (int64_t)0), binary, /* rounded= */ true);
    str all = amount_text(x, name, limit->v, binary, /* rounded= */ false);
    m.near.has = arena_printf(x->a, STR_FMT " left of " STR_FMT, STR_ARG(left), STR_ARG(all));
    m.near.hint = arena_printf(x->a, "raise limits." STR_FMT " of NodePool \"" STR_FMT "\"", STR_ARG(m.near.key),
                               STR_ARG(np->name));
    return m;
}

static struct miss miss_of_trial(struct explainer *x, const struct trial *t)
{
    switch (t->failed) {
    case STEP_NONE:
        return near_limits(x, t);
    case STEP_TAINTS:
        return near_taints(x, t);
    case STEP_REQUIREMENTS:
        return near_requirements(x, t, STAGE_REQUIREMENTS, "requirements");
    case STEP_VOLUMES:
        return near_requirements(x, t, STAGE_VOLUMES, "volumes");
    case STEP_TOPOLOGY:
        return near_topology(x, t);
    case STEP_DOMAINS:
        return near_requirements(x, t, STAGE_TOPOLOGY, "topology");
    case STEP_TYPES:
        return near_types(x, t);
    case STEP_MIN_VALUES:
        return (struct miss){.stage = STAGE_MIN_VALUES, .near = explain_near_min_values(x, t->tmpl, t->rs, t->lowered)};
    case STEP_RESERVATION:
        return near_reservation(x, t);
    }
    return (struct miss){0};
}

struct plan_near explain_near(struct explainer *x, uint32_t variant)
{
    struct problem *p = &x->k->p;
    struct miss best = {.short_by = INFINITY};
    uint32_t n = MIN(trial_alternatives(x, variant), (uint32_t)ALTERNATIVES_MAX);
    uint64_t *rows = arena_new_array(x->a, uint64_t, p->row_words);

    for (uint32_t i = 0; i < p->n_tmpls; i++)
        for (uint32_t alt = 0; p->tmpls[i].usable && alt < n; alt++) {
            struct trial t = {.tmpl = i, .variant = variant, .from = p->tmpls[i].rows, .rows = rows};

            trial_run(x, &t, alt);
            struct miss m = miss_of_trial(x, &t);
            if (m.stage > best.stage || (m.stage == best.stage && m.short_by < best.short_by))
                best = m;
            if (t.failed <= STEP_REQUIREMENTS && t.failed != STEP_NONE)
                break; /* volumes do not matter */
        }
    return best.near;
}

/* No pool has a type that it could use: what is the first one's trouble? */
struct plan_near explain_near_pools(struct explainer *x)
{
    struct problem *p = &x->k->p;
    uint64_t *all = arena_new_array(x->a, uint64_t, p->row_words);
    struct trial t = {.tmpl = 0, .rs = p->tmpls[0].rs, .from = all};
    uint32_t lowered;

    if (p->tmpls[0].min_values_failed) {
        (void)rows_min_values(p, p->tmpls[0].rows, t.rs, &lowered);
        return explain_near_min_values(x, 0, t.rs, lowered);
    }
    bits_fill(all, p->rows.n);
    struct plan_near near = near_types(x, &t).near;
    if (near.present)
        near.hint =
            arena_printf(x->a, "NodePool \"" STR_FMT "\" has no instance type: widen its requirement on " STR_FMT,
                         STR_ARG(pool_name(x, &t)), STR_ARG(near.key));
    return near;
}
