#include "plan/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/check.h"

#define GROUPS 8
#define TYPES 12
#define DIMS 4
#define INF INFINITY

static int setup(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

/* Written out in tables: rows beyond the counts are ignored. */
struct small {
    const char *name;
    uint32_t n_dims, n_types, n_groups;
    int64_t alloc[4][3];
    int64_t demand[3][3];
    double price[3][4];
    double want;
};

static const struct small small[] = {
    /* 10 units on nodes of 4 at $2: 2.5 nodes */
    {"one type, one resource", 1, 1, 1, {{4}}, {{10}}, {{2}}, 5},
    {"the tighter resource decides", 2, 1, 1, {{4, 8}}, {{8, 8}}, {{3}}, 6},
    {"the cheaper type wins", 1, 2, 1, {{4}, {8}}, {{16}}, {{2, 3}}, 6},
    /* cpu is cheapest on type 0, memory on type 1; half of each: x0·8 + x1·2 = 10, x0·2 + x1·8 = 10 */
    {"a mix of types", 2, 2, 1, {{8, 2}, {2, 8}}, {{10, 10}}, {{1, 1}}, 2},
    {"a mix of types, memory only", 2, 2, 1, {{8, 2}, {2, 8}}, {{0, 16}}, {{1, 1}}, 2},
    /* 2 · λ ≤ 3 on group 0's type, 4 · λ ≤ 1 on group 1's */
    {"disjoint groups add up", 1, 2, 2, {{2}, {4}}, {{4}, {8}}, {{3, INF}, {INF, 1}}, 8},
    /* group 0 has cpu to spare where group 1 has memory to spare: together one node */
    {"groups share a node", 2, 1, 2, {{4, 4}}, {{4, 0}, {0, 4}}, {{5}, {5}}, 5},
    /* apart they cannot share: each pays its own node */
    {"groups that cannot share", 2, 2, 2, {{4, 4}, {4, 4}}, {{4, 0}, {0, 4}}, {{5, INF}, {INF, 5}}, 10},
    {"overlapping types", 1, 3, 2, {{4}, {4}, {4}}, {{4}, {4}}, {{3, 2, INF}, {INF, 2, 1}}, 3},
    /* group 1 may use the cheap offering of the same type, group 0 only the dear one; cpu of both: 4·$4 + 4·$1 */
    {"price levels", 1, 1, 2, {{1}}, {{4}, {4}}, {{4}, {1}}, 20},
    /* the dear node has memory left for group 1, which otherwise pays $1: 4 nodes at $4 carry it for nothing */
    {"a dear node carries the cheap group's rest", 2, 1, 2, {{1, 1}}, {{4, 0}, {0, 4}}, {{4}, {1}}, 16},
    {"... and what does not fit there is bought", 2, 1, 2, {{1, 1}}, {{4, 0}, {0, 7}}, {{4}, {1}}, 19},
    {"same prices, two groups", 2, 1, 2, {{4, 4}}, {{4, 1}, {4, 1}}, {{5}, {5}}, 10},
    {"no usable type counts as nothing", 1, 1, 2, {{4}}, {{4}, {4}}, {{2}, {INF}}, 2},
    {"a resource nobody has: the group counts as nothing", 2, 1, 2, {{4, 0}}, {{4, 1}, {4, 0}}, {{2}, {2}}, 2},
    {"negative room is no room", 2, 2, 1, {{4, -3}, {2, 2}}, {{4, 2}}, {{1, 1}}, 1.5},
    {"no demand", 2, 1, 2, {{4, 4}}, {{0, 0}, {0, -5}}, {{2}, {2}}, 0},
    {"a free offering carries all", 2, 2, 1, {{4, 4}, {4, 4}}, {{4, 4}}, {{0, 3}}, 0},
    {"a free offering without memory", 2, 2, 1, {{4, 0}, {2, 4}}, {{4, 4}}, {{0, 3}}, 3},
    {"free for one group only", 1, 1, 2, {{4}}, {{4}, {4}}, {{0}, {3}}, 3},
    {"nano cpu and milli bytes", 2, 1, 1, {{4000000000, 17179869184000}}, {{400000000000, 100}}, {{0.2}}, 20},
    {"no types", 1, 0, 1, {{0}}, {{4}}, {{0}}, 0},
    {"no groups", 1, 1, 0, {{4}}, {{0}}, {{0}}, 0},
    {"no dimensions", 0, 1, 1, {{0}}, {{0}}, {{1}}, 0},
};

/* Any instance, with storage of its own. */
struct inst {
    struct bound_in in;
    struct bound_group groups[GROUPS];
    int64_t alloc[TYPES * DIMS], demand[GROUPS][DIMS];
    double price[GROUPS][TYPES];
};

static void inst_link(struct inst *x, uint32_t n_dims, uint32_t n_types, uint32_t n_groups)
{
    for (uint32_t g = 0; g < n_groups; g++)
        x->groups[g] = (struct bound_group){x->demand[g], x->price[g]};
    x->in = (struct bound_in){n_dims, n_types, n_groups, x->alloc, x->groups};
}

static void hand_computed(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(small); i++) {
        const struct small *s = &small[i];
        struct inst x = {0};
        const double *dual;

        for (uint32_t t = 0; t < s->n_types; t++)
            memcpy(x.alloc + (size_t)t * s->n_dims, s->alloc[t], sizeof(int64_t) * s->n_dims);
        for (uint32_t g = 0; g < s->n_groups; g++) {
            memcpy(x.demand[g], s->demand[g], sizeof(s->demand[g]));
            memcpy(x.price[g], s->price[g], sizeof(s->price[g]));
        }
        inst_link(&x, s->n_dims, s->n_types, s->n_groups);
        double v = bound_solve(a, &x.in, &dual);
        if (!bound_is_feasible(&x.in, dual))
            fail_msg("%s: not feasible", s->name);
        if (v > s->want || v < s->want * (1 - 1e-6))
            fail_msg("%s: %.9g, want %.9g", s->name, v, s->want);
    }
}

/* ---- a slow, plain judge ----------------------------------------------------------------------------------------- */

/* Largest Σ room · max λ / price, straight from the definition: every level against every group. */
static double naive_load(const struct bound_in *in, const double *dual)
{
    double load = 0;

    for (uint32_t t = 0; t < in->n_types; t++)
        for (uint32_t h = 0; h < in->n_groups; h++) {
            double p = in->groups[h].price[t], sum = 0;

            for (uint32_t r = 0; r < in->n_dims && isfinite(p); r++) {
                double top = 0;

                for (uint32_t g = 0; g < in->n_groups; g++)
                    if (in->groups[g].price[t] <= p)
                        top = MAX(top, dual[(size_t)g * in->n_dims + r]);
                sum += (double)MAX(in->alloc[(size_t)t * in->n_dims + r], 0) * top;
            }
            if (sum > 0)
                load = MAX(load, sum / p);
        }
    return load;
}

/* max c·x, A x ≤ b, x ≥ 0, b ≥ 0, as a dense dictionary: row m is the objective, column n the right side. */
struct dict {
    uint32_t m, n;
    double *v; /* [m + 1][n + 1] */
};

static void dict_pivot(struct dict *d, uint32_t row, uint32_t col)
{
    uint32_t w = d->n + 1;
    double *pr = d->v + (size_t)row * w, p = pr[col];

    for (uint32_t j = 0; j < w; j++)
        pr[j] /= p;
    pr[col] = 1 / p;
    for (uint32_t i = 0; i <= d->m; i++) {
        double *r = d->v + (size_t)i * w, f = r[col];

        if (i == row || f == 0)
            continue;
        r[col] = 0;
        for (uint32_t j = 0; j < w; j++)
            r[j] -= f * pr[j];
    }
}

static double dict_solve(struct dict *d)
{
    uint32_t w = d->n + 1;
    double *obj = d->v + (size_t)d->m * w;

    for (uint32_t step = 0; step < 5000; step++) {
        uint32_t col = d->n, row = d->m;
        double most = 1e-9, least = INFINITY;

        for (uint32_t j = 0; j < d->n; j++)
            if (obj[j] > most && (step < 1000 || col == d->n)) {
                most = obj[j];
                col = j;
            }
        if (col == d->n)
            return -obj[d->n];
        for (uint32_t i = 0; i < d->m; i++) {
            const double *r = d->v + (size_t)i * w;

            if (r[col] > 1e-9 && r[d->n] / r[col] < least) {
                least = r[d->n] / r[col];
                row = i;
            }
        }
        assert_true(row < d->m); /* bounded: every group has a type for what it needs */
        dict_pivot(d, row, col);
    }
    fail_msg("the reference solver went round in circles");
    return 0;
}

/* Rows for one type and level: one for every way to give each resource to one of the groups allowed there. */
static void dict_add_splits(struct dict *d, const struct bound_in *in, uint32_t t, double p)
{
    uint32_t who[GROUPS], n = 0, pick[DIMS] = {0};

    for (uint32_t g = 0; g < in->n_groups; g++)
        if (in->groups[g].price[t] <= p)
            who[n++] = g;
    for (;;) {
        double *row = d->v + (size_t)d->m++ * (d->n + 1);
        uint32_t r = 0;

        memset(row, 0, sizeof(double) * (d->n + 1));
        for (; r < in->n_dims; r++)
            row[who[pick[r]] * in->n_dims + r] = (double)MAX(in->alloc[(size_t)t * in->n_dims + r], 0);
        row[d->n] = p;
        for (r = 0; r < in->n_dims && ++pick[r] == n; r++)
            pick[r] = 0;
        if (r == in->n_dims)
            return;
    }
}

static double exact_optimum(const struct bound_in *in)
{
    struct dict d = {.n = in->n_groups * in->n_dims};
    size_t splits = 1;

    for (uint32_t r = 0; r < in->n_dims; r++)
        splits *= in->n_groups;
    d.v = calloc((splits * in->n_types * in->n_groups + 1) * (d.n + 1), sizeof(double));
    assert_non_null(d.v);
    for (uint32_t t = 0; t < in->n_types; t++)
        for (uint32_t g = 0; g < in->n_groups; g++)
            if (isfinite(in->groups[g].price[t]))
                dict_add_splits(&d, in, t, in->groups[g].price[t]);
    double *obj = d.v + (size_t)d.m * (d.n + 1);
    memset(obj, 0, sizeof(double) * (d.n + 1));
    for (uint32_t i = 0; i < d.n; i++) {
        const int64_t *demand = in->groups[i / in->n_dims].demand;

        obj[i] = (double)demand[i % in->n_dims];
    }
    double v = dict_solve(&d);
    free(d.v);
    return v;
}

/* ---- random instances -------------------------------------------------------------------------------------------- */

/* Type 0 has room for everything and everybody may use it, so that the optimum is finite. */
static void inst_random(struct inst *x, struct rng *r, uint32_t n_dims, uint32_t n_types, uint32_t n_groups, bool odd)
{
    double base[TYPES];

    *x = (struct inst){0};
    for (uint32_t t = 0; t < n_types; t++) {
        base[t] = 0.1 + rng_unit(r);
        for (uint32_t d = 0; d < n_dims; d++)
            x->alloc[t * n_dims + d] = 1 + rng_below(r, 64);
        if (odd && t > 0 && rng_below(r, 4) == 0)
            x->alloc[t * n_dims + rng_below(r, n_dims)] = -(int64_t)rng_below(r, 3);
    }
    for (uint32_t g = 0; g < n_groups; g++) {
        for (uint32_t d = 0; d < n_dims; d++)
            x->demand[g][d] = rng_below(r, 5) == 0 ? 0 : 1 + rng_below(r, 1000);
        for (uint32_t t = 0; t < n_types; t++) {
            x->price[g][t] = base[t] * (0.5 + 0.25 * rng_below(r, 4));
            if (t > 0 && rng_below(r, 3) == 0)
                x->price[g][t] = INFINITY;
            if (odd && rng_below(r, 20) == 0)
                x->price[g][t] = 0;
        }
    }
    inst_link(x, n_dims, n_types, n_groups);
}

static void close_to_the_optimum(void **state)
{
    struct arena *a = *state;
    struct inst x;
    struct rng r;
    double worst = 1;

    for (uint32_t seed = 0; seed < 240; seed++) {
        const double *dual;

        rng_init(&r, seed);
        uint32_t n_dims = 1 + seed % 3, n_groups = 1 + rng_below(&r, n_dims == 3 ? 5 : GROUPS);
        inst_random(&x, &r, n_dims, 1 + rng_below(&r, n_dims == 3 ? 5 : 8), n_groups, /* odd= */ seed % 7 == 0);
        double v = bound_solve(a, &x.in, &dual), want = exact_optimum(&x.in);
        if (v > want * (1 + 1e-9) || v < want * 0.999)
            fail_msg("seed %u: %.9g, optimum %.9g", seed, v, want);
        if (want > 0)
            worst = MIN(worst, v / want);
        arena_reset(a);
    }
    print_message("worst bound / optimum: %.9f\n", worst);
}

static void always_feasible(void **state)
{
    struct arena *a = *state;
    struct inst x;
    struct rng r;

    for (uint32_t seed = 0; seed < 1000; seed++) {
        const double *dual;

        rng_init(&r, 1000 + seed);
        uint32_t n_dims = 1 + rng_below(&r, DIMS), n_types = 1 + rng_below(&r, TYPES);
        inst_random(&x, &r, n_dims, n_types, 1 + rng_below(&r, GROUPS), /* odd= */ seed % 2 == 0);
        double v = bound_solve(a, &x.in, &dual);
        if (!(v >= 0) || !bound_is_feasible(&x.in, dual) || naive_load(&x.in, dual) > 1)
            fail_msg("seed %u: bound %.9g, load %.17g", 1000 + seed, v, naive_load(&x.in, dual));
        assert_true(v == bound_value(&x.in, dual));
        arena_reset(a);
    }
}

static void the_check_can_fail(void **state)
{
    struct arena *a = *state;
    struct inst x;
    struct rng r;
    uint32_t n_rejected = 0;

    for (uint32_t seed = 0; seed < 200; seed++) {
        const double *dual;

        rng_init(&r, 5000 + seed);
        inst_random(&x, &r, 3, 8, 5, /* odd= */ false);
        double v = bound_solve(a, &x.in, &dual), *bent = arena_dup_array(a, double, dual, 5 * 3);
        size_t i = rng_below(&r, 5 * 3);
        for (;; i = (i + 1) % (5 * 3)) { /* what hardly counts may be off */
            const int64_t *demand = x.demand[i / 3];

            if (bent[i] * (double)demand[i % 3] >= 1e-3 * v)
                break;
        }
        bent[i] *= 1 + 1e-3;
        /* at an optimum nothing can be raised on its own */
        assert_int_equal(bound_is_feasible(&x.in, bent), naive_load(&x.in, bent) <= 1);
        n_rejected += !bound_is_feasible(&x.in, bent);
        for (i = 0; i < 5 * 3; i++)
            bent[i] = dual[i] * (1 + 1e-6);
        assert_false(bound_is_feasible(&x.in, bent));
        arena_reset(a);
    }
    assert_int_equal(n_rejected, 200);
}

static void nonsense_is_rejected(void **state)
{
    static const int64_t alloc[] = {4, 0}, demand[] = {4, 0}, gpu[] = {4, 1};
    static const double fine[] = {2}, none[] = {INFINITY}, below[] = {-1}, nan_price[] = {NAN}, zero[] = {0};
    static const struct {
        const char *name;
        struct bound_group group;
        double dual[2];
        bool want;
    } cases[] = {
        {"exactly at the price", {demand, fine}, {0.5 * (1 - 1e-12), 0}, true},
        {"one part in 10¹² above", {demand, fine}, {0.5 * (1 + 1e-12), 0}, false},
        {"nothing", {demand, fine}, {0, 0}, true},
        {"negative", {demand, fine}, {0.25, -0.1}, false},
        {"not a number", {demand, fine}, {NAN, 0}, false},
        {"infinite", {demand, fine}, {INFINITY, 0}, false},
        {"too small to reckon with", {demand, fine}, {1e-310, 0}, false},
        {"no room, no demand", {demand, fine}, {0.25, 7}, true},
        {"no type", {demand, none}, {0.1, 0}, false},
        {"demand nobody can meet", {gpu, fine}, {0.1, 0}, false},
        {"worth something on a free node", {demand, zero}, {1e-30, 0}, false},
        {"worth nothing on a free node", {demand, zero}, {0, 0}, true},
        {"negative price", {demand, below}, {0, 0}, false},
        {"price not a number", {demand, nan_price}, {0, 0}, false},
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bound_in in = {2, 1, 1, alloc, &cases[i].group};
        const double *dual;

        if (bound_is_feasible(&in, cases[i].dual) != cases[i].want)
            fail_msg("%s", cases[i].name);
        double v = bound_solve(a, &in, &dual);
        if (!(v >= 0 && v <= 2))
            fail_msg("%s: bound %g", cases[i].name, v);
    }
}

/* Pods one by one onto the first node with room, nodes of a random usable type: no such plan beats the bound. */
static void no_plan_is_cheaper(void **state)
{
    struct arena *a = *state;

    for (uint32_t seed = 0; seed < 200; seed++) {
        struct {
            uint32_t type;
            double price;
            int64_t left[2];
        } nodes[200];
        uint32_t n_nodes = 0;
        const double *dual;
        double cost = 0;
        struct inst x;
        struct rng r;

        rng_init(&r, 9000 + seed);
        inst_random(&x, &r, 2, 5, 4, /* odd= */ false);
        memset(x.demand, 0, sizeof(x.demand));
        for (uint32_t pod = 0; pod < 200; pod++) {
            uint32_t g = rng_below(&r, 4), n = 0;
            int64_t ask[2] = {rng_below(&r, 8), rng_below(&r, 8)};

            while (n < n_nodes && !(nodes[n].price >= x.price[g][nodes[n].type] && nodes[n].left[0] >= ask[0] &&
                                    nodes[n].left[1] >= ask[1]))
                n++;
            if (n == n_nodes) {
                uint32_t t = rng_below(&r, 5);

                if (!isfinite(x.price[g][t]) || x.alloc[t * 2] < ask[0] || x.alloc[t * 2 + 1] < ask[1])
                    continue; /* this pod stays out of the game */
                nodes[n].type = t;
                nodes[n].price = x.price[g][t];
                memcpy(nodes[n].left, x.alloc + (size_t)t * 2, sizeof(nodes[n].left));
                cost += nodes[n_nodes++].price;
            }
            for (uint32_t d = 0; d < 2; d++) {
                nodes[n].left[d] -= ask[d];
                x.demand[g][d] += ask[d];
            }
        }
        double v = bound_solve(a, &x.in, &dual);
        if (v > cost)
            fail_msg("seed %u: bound %.9g, a plan costs %.9g", 9000 + seed, v, cost);
        arena_reset(a);
    }
}

/* ---- large ------------------------------------------------------------------------------------------------------- */

/* Families of types in sizes, six offerings each; groups differ in zones, capacity types and families. */
static struct bound_in *large(struct arena *a, uint32_t n_types, uint32_t n_groups, uint64_t seed)
{
    enum { D = 3, OFFERS = 6 };
    struct bound_in *in = arena_new_one(a, struct bound_in);
    struct bound_group *groups = arena_new_array(a, struct bound_group, n_groups);
    int64_t *alloc = arena_new_array(a, int64_t, n_types * D);
    double *offers = arena_new_array(a, double, n_types *OFFERS);
    struct rng r;

    rng_init(&r, seed);
    for (uint32_t t = 0; t < n_types; t++) {
        int64_t cpu = 2 << rng_below(&r, 6), gib = cpu * (2 << t % 3);

        memcpy(alloc + (size_t)t * D, (int64_t[D]){cpu * 970000000, gib * 1000000000000, 110000}, sizeof(int64_t) * D);
        for (uint32_t o = 0; o < OFFERS; o++)
            offers[t * OFFERS + o] = (double)(5 * cpu + gib) * 0.004 * (o < 3 ? 1 : 0.3 + 0.3 * rng_unit(&r));
    }
    for (uint32_t g = 0; g < n_groups; g++) {
        int64_t n = 1 + rng_below(&r, 500), *demand = arena_new_array(a, int64_t, D);
        double *price = arena_new_array(a, double, n_types);
        uint64_t families = rng_below(&r, 3) ? UINT64_MAX : rng_next(&r) | 1;
        uint32_t usable = 1 + rng_below(&r, 63);

        demand[0] = n * (100000000 + rng_below(&r, 2000000000));
        demand[1] = n * (int64_t)(1 + rng_below(&r, 8)) * 500000000000;
        demand[2] = n * 1000;
        for (uint32_t t = 0; t < n_types; t++) {
            price[t] = INFINITY;
            for (uint32_t o = 0; o < OFFERS && families >> (t % 40) & 1; o++)
                if (usable >> o & 1)
                    price[t] = MIN(price[t], offers[t * OFFERS + o]);
        }
        groups[g] = (struct bound_group){demand, price};
    }
    *in = (struct bound_in){D, n_types, n_groups, alloc, groups};
    return in;
}

/* What a group would cost if it had the cluster to itself: the bound is at least the largest and at most the sum. */
static void large_is_sound_and_repeatable(void **state)
{
    static const struct {
        const char *name;
        uint32_t n_types, n_groups;
    } cases[] = {
        {"one group", 400, 1},
        {"a few", 200, 20},
        {"many", 300, 100},
        {"more rows than the simplex takes", 120, 700},
    };
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t n_groups = cases[i].n_groups;
        struct bound_in *in = large(a, cases[i].n_types, n_groups, 77 + i);
        const double *dual, *again, *one;
        double sum = 0, most = 0, v = bound_solve(a, in, &dual), w = bound_solve(a, in, &again);

        assert_true(bound_is_feasible(in, dual));
        assert_memory_equal(&v, &w, sizeof(v));
        assert_memory_equal(dual, again, sizeof(double) * n_groups * in->n_dims);
        for (uint32_t g = 0; g < n_groups; g++) {
            struct bound_in alone = *in;

            alone.groups = &in->groups[g];
            alone.n_groups = 1;
            double own = bound_solve(a, &alone, &one);
            sum += own;
            most = MAX(most, own);
        }
        print_message("%s: %.6f of the sum of the groups apart\n", cases[i].name, v / sum);
        if (v > sum * (1 + 1e-9) || v < most * 0.9 || v < sum * 0.8)
            fail_msg("%s: bound %.9g, apart %.9g, largest %.9g", cases[i].name, v, sum, most);
        arena_reset(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hand_computed, setup, teardown),
        cmocka_unit_test_setup_teardown(close_to_the_optimum, setup, teardown),
        cmocka_unit_test_setup_teardown(always_feasible, setup, teardown),
        cmocka_unit_test_setup_teardown(the_check_can_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(nonsense_is_rejected, setup, teardown),
        cmocka_unit_test_setup_teardown(no_plan_is_cheaper, setup, teardown),
        cmocka_unit_test_setup_teardown(large_is_sound_and_repeatable, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
