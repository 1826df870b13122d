/* From a plan to its lower bound: who could be hosted where, at which price (bound.h has the mathematics).
 *
 * A bound is worth nothing unless every plan obeys what it assumes. So a pod may use every offering of every type
 * that some pool has, as long as the pool's taints (but PreferNoSchedule, which is only a wish), the pod's node
 * selector, one of its required terms and one alternative of its volumes do not rule it out; labels that somebody
 * leaves open rule out nothing. Preferences, topology, limits and minValues are ignored, and a node gives to pods
 * what its type has less the smallest overhead of daemons in any pool. Pods on claims without a price are left out,
 * as they are in the plan's cost.
 */
#include <math.h>

#include "plan/bound.h"
#include "plan/problem.h"

/* More are merged: the bound may take about 20 ms. With 1328 types and 1325 groups it is 277 in 17 ms when merged to 192
 * groups, 240 in 15 ms when merged to 96, and 356 in 117 ms when all are kept. */
#define GROUPS_MAX 192u
#define GROUPS_EXACT 144u
#define SAMPLE_ROWS 128u /* that decide which groups resemble each other */

/* Pods that may use the same offerings at the same prices. */
struct cost_group {
    double *price;   /* [rows] */
    int64_t *demand; /* [dims of the bound] */
    double weight;   /* for choosing whom to merge */
};

struct cost {
    struct problem p;
    struct arena *a;
    uint64_t *count;        /* [shapes]: pods on new nodes */
    uint32_t *dims, n_dims; /* dimensions of the problem that count */
    int64_t *room;          /* [rows][n_dims] */
    uint64_t *usable;       /* rows of any template */
    VEC(struct cost_group) groups;
    struct u64map group_of_hash; /* by price vector */
    VEC(double *) prices;        /* by wish: what decides where a shape may go */
    struct strmap wish_ix;
    uint64_t *classes, *left; /* scratch: sets of offering classes and of rows */
};

/* --- where pods may go ------------------------------------------------------------------------------------------------- */

/* The lowest price of every row under the set, where it is lower than what is known. */
static void offer_prices(struct cost *c, uint32_t rs, const uint64_t *rows, double *price)
{
    struct problem *p = &c->p;
    uint64_t *classes = c->classes, *left = c->left;

    bits_copy(left, rows, p->row_words);
    bits_zero(classes, BITS_WORDS(p->off_classes.n));
    for (uint32_t i = 0; i < p->off_classes.n; i++)
        if (rs_compatible(&p->space, rs, p->off_classes.v[i].rs, COMPAT_INTERSECTS))
            bit_set(classes, i);
    for (uint32_t i = 0; i < p->space.sets.v[rs].n; i++)
        bits_and(left, rows_of_req(p, p->space.sets.v[rs].e[i].req), p->row_words);
    for (BITS_EACH(r, left, p->row_words))
        for (uint32_t i = p->row_offering[r]; i < p->row_offering[r + 1]; i++) {
            const struct row_offering *o = &p->offerings.v[i];

            if (o->available && bit_test(classes, o->cls) && o->price < price[r])
                price[r] = o->price;
        }
}

/* PreferNoSchedule is tolerated by everybody in the end (scheduling 14). */
static bool could_tolerate(struct problem *p, const struct tolerations *o, uint32_t taint_set)
{
    const struct taints *t = &p->taint_sets.v[taint_set].taints;

    for (uint32_t i = 0; i < t->n; i++) {
        struct taints one = {&t->v[i], 1};

        if (t->v[i].effect != EFFECT_PREFER_NO_SCHEDULE && taints_untolerated(&one, o, p->snap->syms))
            return false;
    }
    return true;
}

static void template_prices(struct cost *c, const struct tmpl *t, uint32_t wish, const struct shape *sh, double *price)
{
    struct problem *p = &c->p;
    struct reqspace *s = &p->space;
    uint32_t none = RS_EMPTY, rs;
    struct vol_alts alts = sh->vols == NONE ? (struct vol_alts){&none, 1} : p->vols.v[sh->vols];

    if (!rs_compatible(s, t->rs, wish, COMPAT_INTERSECTS))
        return;
    rs = rs_union(s, t->rs, wish);
    for (uint32_t i = 0; i < alts.n; i++)
        if (rs_compatible(s, rs, alts.rs[i], COMPAT_INTERSECTS))
            offer_prices(c, rs_union(s, rs, alts.rs[i]), t->rows, price);
}

/* What the rows cost a shape: the best of all templates and required terms. */
static double *shape_prices(struct cost *c, const struct shape *sh)
{
    struct problem *p = &c->p;
    struct reqspace *s = &p->space;
    double *price = arena_new_array(c->a, double, p->rows.n);
    uint32_t base = rs_of_exprs(s, sh->spec->node_selector, sh->spec->n_node_selector);

    for (uint32_t r = 0; r < p->rows.n; r++)
        price[r] = INFINITY;
    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        const struct tmpl *t = &p->tmpls[i];

        if (!t->usable || !could_tolerate(p, &sh->spec->tolerations, t->taint_set))
            continue;
        if (sh->spec->n_required == 0)
            template_prices(c, t, base, sh, price);
        for (uint32_t k = 0; k < sh->spec->n_required; k++) {
            const struct req_term *term = &sh->spec->required[k];

            template_prices(c, t, rs_union(s, base, rs_of_exprs(s, term->exprs, term->n)), sh, price);
        }
    }
    return price;
}

/* Shapes that differ in size alone share their prices. */
static const double *prices_of(struct cost *c, const struct shape *sh)
{
    struct problem *p = &c->p;
    struct reqspace *s = &p->space;
    struct sb key = {0};

    key_u32(&key, rs_of_exprs(s, sh->spec->node_selector, sh->spec->n_node_selector));
    key_u32(&key, problem_tol_set(p, &sh->spec->tolerations));
    key_u32(&key, sh->vols);
    for (uint32_t k = 0; k < sh->spec->n_required; k++)
        key_u32(&key, rs_of_exprs(s, sh->spec->required[k].exprs, sh->spec->required[k].n));
    uint32_t ix = strmap_get(&c->wish_ix, sb_view(&key));
    if (ix == MAP_NONE) {
        ix = c->prices.n;
        strmap_put(&c->wish_ix, sb_dup(&key, c->a), ix);
        vec_push(&c->prices, shape_prices(c, sh));
    }
    sb_fini(&key);
    return c->prices.v[ix];
}

/* --- amounts ----------------------------------------------------------------------------------------------------------- */

static void count_pods(struct cost *c, const struct plan *plan)
{
    const struct snapshot *s = c->p.snap;
    uint32_t *pending = xmalloc((s->n_pods + 1) * sizeof(*pending));

    for (uint32_t i = 0; i < s->n_pending; i++)
        pending[s->pending[i]] = i;
    c->count = arena_new_array(c->a, uint64_t, c->p.shapes.n);
    for (uint32_t i = 0; i < plan->n_claims; i++)
        for (uint32_t k = 0; plan->claims[i].price_usd_per_h >= 0 && k < plan->claims[i].n_pods; k++)
            c->count[c->p.shape_of[pending[plan->claims[i].pods[k]]]]++;
    free(pending);
}

/* Resources that somebody asks for; to leave one out is fair. */
static void choose_dims(struct cost *c)
{
    const struct problem *p = &c->p;

    c->dims = arena_new_array(c->a, uint32_t, p->n_dims);
    for (uint32_t d = 0; d < p->n_dims && c->n_dims < BOUND_DIMS_MAX; d++)
        for (uint32_t i = 0; i < p->shapes.n; i++)
            if (c->count[i] && p->shapes.v[i].requests[d] > 0) {
                c->dims[c->n_dims++] = d;
                break;
            }
}

/* Nano to micro, milli to whole: sums over many pods stay in range. Room is rounded up, demand down. */
#define UNIT 1000

static void choose_room(struct cost *c)
{
    const struct problem *p = &c->p;

    c->room = arena_new_array(c->a, int64_t, (size_t)p->rows.n * c->n_dims);
    c->usable = arena_new_array(c->a, uint64_t, p->row_words);
    for (uint32_t i = 0; i < p->n_tmpls; i++)
        for (uint32_t g = 0; p->tmpls[i].usable && g < p->tmpls[i].n_groups; g++) {
            const struct daemon_group *group = &p->tmpls[i].groups[g];

            for (BITS_EACH(r, group->rows, p->row_words)) {
                for (uint32_t k = 0; k < c->n_dims; k++) {
                    int64_t v = sat_sub(p->rows.v[r].alloc[c->dims[k]], group->overhead[c->dims[k]]);
                    int64_t *room = &c->room[(size_t)r * c->n_dims + k];

                    v = v > 0 ? v / UNIT + (v % UNIT > 0) : 0;
                    *room = bit_test(c->usable, r) ? MAX(*room, v) : v;
                }
                bit_set(c->usable, r);
            }
        }
}

static struct cost_group *group_of(struct cost *c, const double *price)
{
    size_t size = sizeof(double) * c->p.rows.n;
    uint64_t h = hash_bytes(price, size, 0);

    for (;; h++) {
        uint32_t ix = u64map_get(&c->group_of_hash, h);

        if (ix == MAP_NONE)
            break;
        if (memcmp(c->groups.v[ix].price, price, size) == 0)
            return &c->groups.v[ix];
    }
    u64map_put(&c->group_of_hash, h, c->groups.n);
    struct cost_group *g = vec_add(&c->groups);
    g->price = arena_dup_array(c->a, double, price, c->p.rows.n);
    g->demand = arena_new_array(c->a, int64_t, c->n_dims);
    return g;
}

static bool can_be_hosted(const struct cost *c, const double *price)
{
    for (uint32_t r = 0; r < c->p.rows.n; r++)
        if (isfinite(price[r]))
            return true;
    return false;
}

static void add_demand(struct cost *c, const struct shape *sh, uint64_t count)
{
    const double *price = prices_of(c, sh);

    if (!can_be_hosted(c, price))
        return;
    struct cost_group *g = group_of(c, price);
    for (uint32_t k = 0; k < c->n_dims; k++) {
        int64_t want = MAX(sh->requests[c->dims[k]], (int64_t)0);
        unsigned __int128 sum = (unsigned __int128)count * (uint64_t)want / UNIT;

        g->demand[k] = sat_add(g->demand[k], sum > INT64_MAX ? INT64_MAX : (int64_t)sum);
    }
}

/* --- merging ----------------------------------------------------------------------------------------------------------- */

/* What the group would cost if only its dearest resource counted: enough to tell the large from the small. */
static void weigh(struct cost *c, struct cost_group *g)
{
    for (uint32_t k = 0; k < c->n_dims; k++) {
        double least = INFINITY;

        for (uint32_t r = 0; r < c->p.rows.n; r++)
            if (isfinite(g->price[r]) && c->room[(size_t)r * c->n_dims + k] > 0)
                least = MIN(least, g->price[r] / (double)c->room[(size_t)r * c->n_dims + k]);
        if (isfinite(least))
            g->weight = MAX(g->weight, least * (double)g->demand[k]);
    }
}

static int cmp_weights(const void *a, const void *b, void *ctx)
{
    const struct cost_group *x = a, *y = b;

    (void)ctx;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* What making one price vector out of two gives away, on some of the rows. */
static double distance(const struct cost *c, const double *x, const double *y)
{
    uint32_t stride = MAX(c->p.rows.n / SAMPLE_ROWS, 1u);
    double sum = 0;

    for (uint32_t r = 0; r < c->p.rows.n; r += stride) {
        if (isfinite(x[r]) != isfinite(y[r]))
            sum += 1;
        else if (isfinite(x[r]) && x[r] != y[r])
            sum += fabs(x[r] - y[r]) / MAX(x[r], y[r]);
    }
    return sum;
}

static void merge(struct cost *c, struct cost_group *into, const struct cost_group *g)
{
    for (uint32_t r = 0; r < c->p.rows.n; r++)
        into->price[r] = MIN(into->price[r], g->price[r]);
    for (uint32_t k = 0; k < c->n_dims; k++)
        into->demand[k] = sat_add(into->demand[k], g->demand[k]);
}

/* The heaviest groups stay as they are; the rest become a few groups in which everybody pays the lowest price of
 * all: what they pay can only fall, so the bound stays one. */
static void coarsen(struct cost *c)
{
    if (c->groups.n <= GROUPS_MAX)
        return;
    for (uint32_t i = 0; i < c->groups.n; i++)
        weigh(c, &c->groups.v[i]);
    sort_stable(c->groups.v, c->groups.n, sizeof(*c->groups.v), cmp_weights, NULL);
    for (uint32_t i = GROUPS_MAX; i < c->groups.n; i++) {
        uint32_t to = GROUPS_EXACT;
        double near = INFINITY;

        for (uint32_t k = GROUPS_EXACT; k < GROUPS_MAX; k++) {
            double d = distance(c, c->groups.v[k].price, c->groups.v[i].price);

            if (d < near) {
                near = d;
                to = k;
            }
        }
        merge(c, &c->groups.v[to], &c->groups.v[i]);
    }
    c->groups.n = GROUPS_MAX;
}

/* --- the bound --------------------------------------------------------------------------------------------------------- */

/* Only rows that somebody can use. */
static struct bound_in bound_input(struct cost *c)
{
    struct problem *p = &c->p;
    uint32_t *rows = arena_new_array(c->a, uint32_t, p->rows.n), n = 0;
    struct bound_group *groups = arena_new_array(c->a, struct bound_group, c->groups.n);

    for (uint32_t r = 0; r < p->rows.n; r++)
        for (uint32_t g = 0; g < c->groups.n; g++)
            if (isfinite(c->groups.v[g].price[r])) {
                rows[n++] = r;
                break;
            }
    int64_t *alloc = arena_new_array(c->a, int64_t, (size_t)n * c->n_dims);
    for (uint32_t i = 0; i < n; i++)
        memcpy(alloc + (size_t)i * c->n_dims, c->room + (size_t)rows[i] * c->n_dims, sizeof(*alloc) * c->n_dims);
    for (uint32_t g = 0; g < c->groups.n; g++) {
        double *price = arena_new_array(c->a, double, n);

        for (uint32_t i = 0; i < n; i++)
            price[i] = c->groups.v[g].price[rows[i]];
        groups[g] = (struct bound_group){c->groups.v[g].demand, price};
    }
    return (struct bound_in){c->n_dims, n, c->groups.n, alloc, groups};
}

void plan_add_bound(const struct snapshot *s, struct plan *plan)
{
    plan->has_bound = false;
    plan->lower_bound = 0;
    if (plan->n_claims == 0)
        return;
    AUTO(arena) struct arena *pass = arena_new(1u << 16);
    struct cost c = {.a = pass};
    const double *dual;

    problem_init(&c.p, pass, s, NULL, s->pending, s->n_pending);
    c.classes = arena_new_array(pass, uint64_t, BITS_WORDS(c.p.off_classes.n));
    c.left = arena_new_array(pass, uint64_t, c.p.row_words);
    count_pods(&c, plan);
    choose_dims(&c);
    choose_room(&c);
    for (uint32_t i = 0; i < c.p.shapes.n; i++)
        if (c.count[i])
            add_demand(&c, &c.p.shapes.v[i], c.count[i]);
    coarsen(&c);
    struct bound_in in = bound_input(&c);
    double bound = bound_solve(pass, &in, &dual);
    plan->has_bound = bound_is_feasible(&in, dual);
    /* The plan's cost is a rounded sum too: a bound that meets it may be off by a few units in the last place. */
    if (bound > plan->hourly_cost && bound <= plan->hourly_cost * (1 + 1e-9))
        bound = plan->hourly_cost;
    plan->lower_bound = plan->has_bound ? bound : 0;
    vec_fini(&c.groups);
    vec_fini(&c.prices);
    strmap_fini(&c.wish_ix);
    u64map_fini(&c.group_of_hash);
    problem_fini(&c.p);
}
