/* The dual of the fluid relaxation, and why any feasible point of it is a bound.
 *
 * Let λ[g][r] ≥ 0 be what one unit of resource r is worth when a pod of group g asks for it. A node of type t bought
 * at price p hosts only groups with price[g][t] ≤ p, and its pods use at most alloc[t][r] of each resource. So they
 * are worth at most Σ_r alloc[t][r] · max{λ[g][r] : price[g][t] ≤ p}: whatever the mix, no unit of r on that node is
 * worth more than it is to the group that values r most. If that sum is ≤ p for every type and price, no node holds
 * pods worth more than it costs, and the plan costs at least what all pods are worth, Σ λ[g][r] · demand[g][r]. It is
 * enough to look at the prices price[g][t] themselves: between two of them the left side stays and p grows.
 *
 * How good λ is depends on the code below, whether it is right only on dual_load(), which shares nothing with the
 * optimiser but the sort. The optimiser:
 *
 *  1. Groups with the same prices become one class: raising both to the higher λ costs nothing.
 *  2. The relaxation itself is solved by a revised simplex with one row per (class, resource). A column is what one
 *     dollar buys: a type, a price level and, per resource, the class that gets all of it. There are too many columns
 *     to write down, but the most violated one of a type is exactly the max of the constraint, so they are made when
 *     needed. λ made feasible after each round is the bound so far; the best one is kept.
 *  3. When there are more rows than ROWS_MAX, the weightiest classes lead, the others lend their demand to the
 *     leader that resembles them and afterwards take as much of its λ as their own constraints allow.
 *
 * All work is counted, not timed: the same input gives the same bytes. */
#include "plan/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "plan/bound_lp.h"

#define ROWS_MAX 256u
#define SAMPLE_TYPES 64u     /* that decide which classes resemble each other */
#define PIVOT_WORK 16000000u /* multiply-adds, 0.5 to 1 ns each */
#define CLASS_WORK 30000u    /* more for each class */
#define RAISE_WORK 4000000u
#define CELL_WORK 16u /* more for each type of each class, in proportion to what reading them costs */
#define SAFETY 1e-9

struct key { /* for sorting groups by price */
    double price;
    uint32_t ix;
};

/* Ascending and stable. Neighbouring types rank the groups alike, so the input is usually nearly sorted. */
static void keys_sort(struct key *k, struct key *tmp, uint32_t n)
{
    if (n <= 8) {
        for (uint32_t i = 1; i < n; i++) {
            struct key x = k[i];
            uint32_t j = i;

            for (; j > 0 && k[j - 1].price > x.price; j--)
                k[j] = k[j - 1];
            k[j] = x;
        }
        return;
    }
    uint32_t half = n / 2, i = 0, j = half, at = 0;

    keys_sort(k, tmp, half);
    keys_sort(k + half, tmp, n - half);
    if (k[half - 1].price <= k[half].price)
        return;
    memcpy(tmp, k, half * sizeof(*k));
    while (i < half && j < n)
        k[at++] = k[j].price < tmp[i].price ? k[j++] : tmp[i++];
    memcpy(k + at, tmp + i, (half - i) * sizeof(*k));
}

/* ---- the certificate --------------------------------------------------------------------------------------------- */

/* Can the group's whole demand be met by the types it may use, each resource by some type? */
static bool group_is_hostable(const struct bound_in *in, const struct bound_group *g)
{
    for (uint32_t r = 0; r < in->n_dims; r++) {
        uint32_t t = 0;

        if (g->demand[r] <= 0)
            continue;
        while (t < in->n_types && !(isfinite(g->price[t]) && in->alloc[(size_t)t * in->n_dims + r] > 0))
            t++;
        if (t == in->n_types)
            return false;
    }
    return true;
}

/* Worth without a demand that can be met proves nothing; subnormal numbers would escape the error bound. */
static bool dual_is_sane(const struct bound_in *in, const double *dual)
{
    for (uint32_t g = 0; g < in->n_groups; g++) {
        bool any = false;

        for (uint32_t r = 0; r < in->n_dims; r++) {
            double v = dual[(size_t)g * in->n_dims + r];

            if (v != 0 && !(isnormal(v) && v > 0))
                return false;
            any |= v != 0;
        }
        for (uint32_t t = 0; t < in->n_types; t++)
            if (!(in->groups[g].price[t] >= 0))
                return false;
        if (any && !group_is_hostable(in, &in->groups[g]))
            return false;
    }
    return true;
}

/* The largest load of one type: value of what a node can carry, over its price. The computed sum of n products is
 * within (n + 2) · 2⁻⁵³ of the true one, relatively, and the division adds one more; 64 · 2⁻⁵³ is ample. */
static double type_load(const struct bound_in *in, const double *dual, uint32_t t, const struct key *keys, uint32_t n)
{
    const int64_t *alloc = in->alloc + (size_t)t * in->n_dims;
    double top[DIMS_MAX] = {0}, load = 0;

    for (uint32_t k = 0; k < n && keys[k].price < INFINITY; k++) {
        const double *v = dual + (size_t)keys[k].ix * in->n_dims;
        double sum = 0;

        for (uint32_t r = 0; r < in->n_dims; r++)
            top[r] = MAX(top[r], v[r]);
        if (k + 1 < n && keys[k + 1].price <= keys[k].price)
            continue; /* not yet everyone who may share the node */
        for (uint32_t r = 0; r < in->n_dims; r++)
            if (alloc[r] > 0)
                sum += (double)alloc[r] * top[r];
        if (sum > 0)
            load = MAX(load, sum / keys[k].price * (1 + 0x1p-47)); /* infinite at price 0 */
    }
    return load;
}

static double dual_load(const struct bound_in *in, const double *dual)
{
    uint32_t n = 0;
    double load = 0;

    assert(in->n_dims <= DIMS_MAX);
    if (!dual_is_sane(in, dual))
        return INFINITY;
    struct key *keys = xcalloc(in->n_groups, 2 * sizeof(*keys)), *tmp = keys + in->n_groups;
    for (uint32_t g = 0; g < in->n_groups; g++) {
        bool any = false;

        for (uint32_t r = 0; r < in->n_dims; r++)
            any |= dual[(size_t)g * in->n_dims + r] > 0;
        if (any)
            keys[n++].ix = g;
    }
    for (uint32_t t = 0; t < in->n_types; t++) {
        for (uint32_t k = 0; k < n; k++)
            keys[k].price = in->groups[keys[k].ix].price[t];
        keys_sort(keys, tmp, n);
        double l = type_load(in, dual, t, keys, n);
        load = MAX(load, l);
    }
    free(keys);
    return load;
}

bool bound_is_feasible(const struct bound_in *in, const double *dual)
{
    return dual_load(in, dual) <= 1;
}

double bound_value(const struct bound_in *in, const double *dual)
{
    double sum = 0;

    for (uint32_t g = 0; g < in->n_groups; g++)
        for (uint32_t r = 0; r < in->n_dims; r++)
            if (in->groups[g].demand[r] > 0)
                sum += dual[(size_t)g * in->n_dims + r] * (double)in->groups[g].demand[r];
    /* n additions of non-negative numbers are off by at most n · 2⁻⁵³, relatively */
    return sum * (1 - (double)(in->n_groups * in->n_dims + 4) * 0x1p-52);
}

/* ---- the problem in small numbers -------------------------------------------------------------------------------- */

/* Normalised room; dimensions nobody has stay 0. ret_unit takes 1 as the size of such a dimension. */
static const double *room_make(struct arena *a, const struct bound_in *in, double *ret_unit)
{
    double *room = arena_new_array(a, double, (size_t)in->n_types * in->n_dims);

    for (uint32_t r = 0; r < in->n_dims; r++) {
        int64_t most = 1;

        for (uint32_t t = 0; t < in->n_types; t++)
            most = MAX(most, in->alloc[(size_t)t * in->n_dims + r]);
        ret_unit[r] = (double)most;
        for (uint32_t t = 0; t < in->n_types; t++) {
            size_t i = (size_t)t * in->n_dims + r;

            room[i] = in->alloc[i] > 0 ? (double)in->alloc[i] / ret_unit[r] : 0;
        }
    }
    return room;
}

/* Put groups with equal prices together. Answers the class of each group, NONE for those that earn nothing. */
static uint32_t *classes_make(struct arena *a, const struct bound_in *in, const double *unit, struct prob *p)
{
    uint32_t *class_of = arena_new_array(a, uint32_t, in->n_groups), cap = 16;
    size_t row = sizeof(double) * in->n_types;

    while (cap < in->n_groups * 2)
        cap *= 2;
    uint32_t *slots = arena_new_array(a, uint32_t, cap); /* class + 1 */
    for (uint32_t g = 0; g < in->n_groups; g++) {
        const struct bound_group *grp = &in->groups[g];
        uint32_t i = (uint32_t)hash_bytes(grp->price, row, 0) & (cap - 1);

        class_of[g] = NONE;
        if (!group_is_hostable(in, grp))
            continue;
        while (slots[i] && memcmp(p->price[slots[i] - 1], grp->price, row) != 0)
            i = (i + 1) & (cap - 1);
        if (!slots[i]) {
            p->price[p->n_classes++] = grp->price;
            slots[i] = p->n_classes;
        }
        class_of[g] = slots[i] - 1;
        for (uint32_t r = 0; r < in->n_dims; r++)
            if (grp->demand[r] > 0)
                p->need[(size_t)class_of[g] * in->n_dims + r] += (double)grp->demand[r] / unit[r];
    }
    return class_of;
}

/* The distinct prices of one type, and who comes in at which. */
static void levels_of_type(struct prob *p, uint32_t t, const struct key *keys, uint32_t n)
{
    size_t base = (size_t)t * p->n_classes;
    uint32_t at = p->level_at[t], n_distinct = 0, rank = 0, l = 0;

    memset(p->level + base, NO_LEVEL, p->n_classes);
    for (uint32_t k = 0; k < n; k++)
        n_distinct += k == 0 || keys[k].price > keys[k - 1].price;
    uint32_t n_levels = MIN(n_distinct, LEVELS_MAX);
    for (uint32_t k = 0; k < n; k++) {
        rank += k > 0 && keys[k].price > keys[k - 1].price;
        l = (uint32_t)((uint64_t)rank * n_levels / n_distinct);
        if (k == 0 || p->level[base + keys[k - 1].ix] != l)
            p->level_price[at + l] = MAX(keys[k].price, 0.0);
        p->level_end[at + l] = k + 1;
        p->level[base + keys[k].ix] = (uint8_t)l;
        p->order[base + k] = (uint16_t)keys[k].ix;
    }
    p->level_at[t + 1] = at + n_levels;
}

static void levels_make(struct arena *a, struct prob *p)
{
    size_t cells = (size_t)p->n_types * p->n_classes;
    size_t cap = (size_t)p->n_types * MIN(p->n_classes, LEVELS_MAX);
    struct key *keys = arena_new_array(a, struct key, 2 * (size_t)p->n_classes), *tmp = keys + p->n_classes;

    p->order = arena_new_array(a, uint16_t, cells);
    p->level = arena_new_array(a, uint8_t, cells);
    p->level_at = arena_new_array(a, uint32_t, p->n_types + 1);
    p->level_price = arena_new_array(a, double, cap);
    p->level_end = arena_new_array(a, uint32_t, cap);
    for (uint32_t c = 0; c < p->n_classes; c++)
        keys[c].ix = c;
    for (uint32_t t = 0; t < p->n_types; t++) {
        uint32_t n = p->n_classes;

        for (uint32_t k = 0; k < n; k++) {
            double v = p->price[keys[k].ix][t];

            keys[k].price = isfinite(v) ? v : INFINITY;
        }
        keys_sort(keys, tmp, n);
        while (n > 0 && keys[n - 1].price == INFINITY)
            n--;
        levels_of_type(p, t, keys, n);
    }
}

/* solo, and need = 0 where a free node takes it all. */
static void solo_make(struct arena *a, struct prob *p)
{
    p->solo = arena_new_array(a, double, (size_t)p->n_classes * p->n_dims);
    p->solo_type = arena_new_array(a, uint32_t, (size_t)p->n_classes * p->n_dims);
    for (size_t i = 0; i < (size_t)p->n_classes * p->n_dims; i++)
        p->solo[i] = INFINITY;
    for (uint32_t c = 0; c < p->n_classes; c++) {
        double *solo = p->solo + (size_t)c * p->n_dims, *need = p->need + (size_t)c * p->n_dims;
        uint32_t *type = p->solo_type + (size_t)c * p->n_dims;

        for (uint32_t t = 0; t < p->n_types; t++) {
            uint8_t l = p->level[(size_t)t * p->n_classes + c];
            const double *room = p->room + (size_t)t * p->n_dims;

            for (uint32_t r = 0; l != NO_LEVEL && r < p->n_dims; r++)
                if (room[r] > 0 && p->level_price[p->level_at[t] + l] < solo[r] * room[r]) {
                    solo[r] = p->level_price[p->level_at[t] + l] / room[r];
                    type[r] = t;
                }
        }
        for (uint32_t r = 0; r < p->n_dims; r++)
            if (!(solo[r] > 0) || isinf(solo[r]))
                need[r] = solo[r] = 0;
    }
}

/* ---- raising a feasible point ------------------------------------------------------------------------------------ */

/* The largest s' ≤ s with Σ room · max(top, s' · dir) ≤ price. The sum is convex in s and every Newton step from the
 * right lands on or right of the root, so at most one step per dimension and the one that stops. */
static double line_limit(const double *room, const double *top, const double *dir, double price, double s, uint32_t n)
{
    for (uint32_t step = 0; step <= n && s > 0; step++) {
        double value = 0, slope = 0;

        for (uint32_t r = 0; r < n; r++) {
            double v = s * dir[r];

            value += room[r] * MAX(v, top[r]);
            slope += v > top[r] ? room[r] * dir[r] : 0;
        }
        if (value <= price || !(slope > 0))
            return s;
        s -= (value - price) / slope;
    }
    return MAX(s, 0.0);
}

struct fill {
    const struct prob *p;
    double *worth; /* [n_classes][n_dims], feasible */
    double *top;   /* [levels of all types][n_dims]: the most anybody on that level or below pays */
    uint64_t work;
};

static void fill_note(struct fill *f, uint32_t c)
{
    const struct prob *p = f->p;
    const double *worth = f->worth + (size_t)c * p->n_dims;

    for (uint32_t t = 0; t < p->n_types; t++) {
        uint8_t l = p->level[(size_t)t * p->n_classes + c];

        if (l == NO_LEVEL)
            continue;
        for (uint32_t at = p->level_at[t] + l; at < p->level_at[t + 1]; at++)
            for (uint32_t r = 0; r < p->n_dims; r++)
                f->top[(size_t)at * p->n_dims + r] = MAX(f->top[(size_t)at * p->n_dims + r], worth[r]);
    }
}

static void fill_init(struct arena *a, struct fill *f)
{
    const struct prob *p = f->p;

    f->top = arena_new_array(a, double, (size_t)p->level_at[p->n_types] * p->n_dims);
    for (uint32_t t = 0; t < p->n_types; t++)
        for (uint32_t at = p->level_at[t], k = 0; at < p->level_at[t + 1]; at++) {
            double *top = f->top + (size_t)at * p->n_dims;

            if (at > p->level_at[t])
                memcpy(top, top - p->n_dims, sizeof(double) * p->n_dims);
            for (; k < p->level_end[at]; k++)
                for (uint32_t r = 0; r < p->n_dims; r++) {
                    uint32_t c = p->order[(size_t)t * p->n_classes + k];

                    top[r] = MAX(top[r], f->worth[(size_t)c * p->n_dims + r]);
                }
        }
}

/* Move a class's worth up to dir, or as far that way as every node it may sit on allows. */
static void fill_raise(struct fill *f, uint32_t c, const double *dir)
{
    const struct prob *p = f->p;
    double s = 1, *worth = f->worth + (size_t)c * p->n_dims;
    bool moved = false;

    for (uint32_t t = 0; t < p->n_types && s > 0; t++) {
        uint8_t l = p->level[(size_t)t * p->n_classes + c];

        if (l == NO_LEVEL)
            continue;
        for (uint32_t at = p->level_at[t] + l; at < p->level_at[t + 1]; at++)
            s = line_limit(p->room + (size_t)t * p->n_dims, f->top + (size_t)at * p->n_dims, dir, p->level_price[at], s,
                           p->n_dims);
        f->work += (uint64_t)(p->level_at[t + 1] - p->level_at[t] - l) * p->n_dims * 2;
    }
    s *= 1 - 1e-12; /* rounding must not eat into the next class's room */
    for (uint32_t r = 0; r < p->n_dims; r++)
        if (s * dir[r] > worth[r] && p->need[(size_t)c * p->n_dims + r] > 0) {
            worth[r] = s * dir[r];
            moved = true;
        }
    if (moved)
        fill_note(f, c);
}

/* Weightiest classes first: all of the wish, in proportion, and then each resource on its own. */
static void fill_run(struct arena *a, struct fill *f, const uint32_t *by_weight, const double *wish)
{
    const struct prob *p = f->p;

    uint64_t budget = RAISE_WORK + CELL_WORK * (uint64_t)p->n_types * p->n_classes;

    fill_init(a, f);
    for (uint32_t k = 0; k < p->n_classes && f->work < budget; k++)
        fill_raise(f, by_weight[k], wish + (size_t)by_weight[k] * p->n_dims);
    for (uint32_t k = 0; k < p->n_classes; k++)
        for (uint32_t r = 0; r < p->n_dims && f->work < 2 * budget; r++) {
            size_t i = (size_t)by_weight[k] * p->n_dims + r;
            double dir[DIMS_MAX] = {0};

            dir[r] = p->solo[i];
            if (p->need[i] > 0)
                fill_raise(f, by_weight[k], dir);
        }
}

/* ---- leaders ----------------------------------------------------------------------------------------------------- */

/* Classes by what they cost at least on their own, largest first. */
static uint32_t *classes_by_weight(struct arena *a, const struct prob *p)
{
    struct key *keys = arena_new_array(a, struct key, 2 * (size_t)p->n_classes);
    uint32_t *by_weight = arena_new_array(a, uint32_t, p->n_classes);

    for (uint32_t c = 0; c < p->n_classes; c++) {
        keys[c].ix = c;
        for (size_t i = (size_t)c * p->n_dims; i < (size_t)(c + 1) * p->n_dims; i++)
            keys[c].price = MIN(keys[c].price, -p->need[i] * p->solo[i]);
    }
    keys_sort(keys, keys + p->n_classes, p->n_classes);
    for (uint32_t c = 0; c < p->n_classes; c++)
        by_weight[c] = keys[c].ix;
    return by_weight;
}

/* 0 for equal prices, 1 for each sampled type that only one of them can use. */
static double price_distance(const double *x, const double *y, uint32_t n_types)
{
    uint32_t stride = MAX(n_types / SAMPLE_TYPES, 1u);
    double sum = 0;

    for (uint32_t t = 0; t < n_types; t += stride) {
        bool fx = isfinite(x[t]), fy = isfinite(y[t]);

        if (fx && fy && x[t] != y[t])
            sum += fabs(x[t] - y[t]) / MAX(fabs(x[t]), fabs(y[t]));
        else if (fx != fy)
            sum += 1;
    }
    return sum;
}

/* The sub-problem of the weightiest classes; leader[c] is who stands for class c in it. */
static void leaders_make(struct arena *a, const struct prob *p, const uint32_t *by_weight, struct prob *q,
                         uint32_t *leader)
{
    uint32_t rows = 0, n = 0;

    *q = (struct prob){.n_dims = p->n_dims, .n_types = p->n_types, .room = p->room};
    for (; n < p->n_classes; n++) {
        for (uint32_t r = 0; r < p->n_dims; r++)
            rows += p->need[(size_t)by_weight[n] * p->n_dims + r] > 0;
        if (rows > ROWS_MAX)
            break;
    }
    q->price = arena_new_array(a, const double *, n);
    q->need = arena_new_array(a, double, (size_t)n * p->n_dims);
    q->n_classes = n;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint32_t c = by_weight[k], to = MIN(k, n);
        double near = INFINITY;

        if (k < n)
            q->price[k] = p->price[c];
        for (uint32_t i = 0; k >= n && i < n && near > 0; i++) {
            double d = price_distance(p->price[c], q->price[i], p->n_types);

            if (d < near) {
                near = d;
                to = i;
            }
        }
        leader[c] = to;
        for (uint32_t r = 0; r < p->n_dims; r++) /* a follower adds weight to rows the leader has, but no rows */
            if (k < n || q->need[(size_t)to * p->n_dims + r] > 0)
                q->need[(size_t)to * p->n_dims + r] += p->need[(size_t)c * p->n_dims + r];
    }
    levels_make(a, q);
    solo_make(a, q);
}

/* Worth per class, in normalised units: feasible up to rounding. */
static const double *prob_solve(struct arena *a, const struct prob *p)
{
    size_t cells = (size_t)p->n_classes * p->n_dims;
    uint32_t rows = 0, *leader = arena_new_array(a, uint32_t, p->n_classes);
    uint32_t *by_weight = classes_by_weight(a, p);
    const struct prob *lead = p;
    struct prob some;
    struct lp s;

    for (size_t i = 0; i < cells; i++)
        rows += p->need[i] > 0;
    for (uint32_t c = 0; c < p->n_classes; c++)
        leader[c] = c;
    if (rows > ROWS_MAX) {
        leaders_make(a, p, by_weight, &some, leader);
        lead = &some;
    }
    lp_init(a, &s, lead);
    s.budget = PIVOT_WORK + CLASS_WORK * (uint64_t)MIN(p->n_classes, 1000u);
    bool exact = lp_solve(&s) && lead == p;
    struct fill f = {.p = p, .worth = arena_new_array(a, double, cells)};
    double *wish = arena_new_array(a, double, cells);
    for (size_t i = 0; i < cells; i++) {
        uint32_t c = (uint32_t)(i / p->n_dims), r = (uint32_t)(i % p->n_dims);
        double v = s.best[(size_t)leader[c] * s.stride + r];

        /* leaders ask for more than they have: their worth may have been scaled down further than needed */
        wish[i] = lead == p ? 2 * v : v;
        if (lead == p || some.price[leader[c]] == p->price[c])
            f.worth[i] = p->need[i] > 0 ? v : 0;
    }
    if (!exact)
        fill_run(a, &f, by_weight, wish);
    return f.worth;
}

double bound_solve(struct arena *a, const struct bound_in *in, const double **ret_dual)
{
    size_t cells = (size_t)in->n_groups * in->n_dims;
    double *dual = arena_new_array(a, double, cells), unit[DIMS_MAX];
    struct arena_mark m = arena_mark(a);
    struct prob p = {.n_dims = in->n_dims, .n_types = in->n_types};

    assert(in->n_dims <= DIMS_MAX && in->n_groups < UINT16_MAX);
    p.room = room_make(a, in, unit);
    p.price = arena_new_array(a, const double *, in->n_groups);
    p.need = arena_new_array(a, double, cells);
    const uint32_t *class_of = classes_make(a, in, unit, &p);
    levels_make(a, &p);
    solo_make(a, &p);
    const double *worth = prob_solve(a, &p);
    for (size_t i = 0; i < cells; i++) {
        uint32_t g = (uint32_t)(i / in->n_dims), r = (uint32_t)(i % in->n_dims);

        if (class_of[g] != NONE && in->groups[g].demand[r] > 0)
            dual[i] = worth[(size_t)class_of[g] * in->n_dims + r] / unit[r] * (1 - SAFETY);
    }
    arena_rewind(a, m);

    double load = dual_load(in, dual);
    for (size_t i = 0; load > 1 && i < cells; i++)
        dual[i] = isfinite(load) ? dual[i] / load * (1 - SAFETY) : 0;
    *ret_dual = dual;
    return bound_value(in, dual);
}
