/* The revised simplex behind the bound: pricing, pivots, and the best feasible point so far (see bound.c). */
#include "plan/bound_lp.h"

#include <math.h>
#include <string.h>

#define ROUNDS_MAX 2000u
#define GAP 1e-7 /* relative; also the size of the perturbation against ties */
/* Weight of the best point when columns are made. Work until the optimum with 400 rows: 158 M at 0, 115 M at 0.5, 140 M at
 * 0.8; with fewer rows it matters little. */
#define HOLD 0.5

struct col { /* what one dollar buys, as a share of each row's need; a surplus column costs nothing and takes back */
    double cost;
    uint32_t n, row[DIMS_MAX];
    double a[DIMS_MAX];
};

static double col_value(const struct col *c, const double *y)
{
    double v = 0;

    for (uint32_t k = 0; k < c->n; k++)
        v += c->a[k] * y[c->row[k]];
    return v;
}

/* A dollar on type t at that price; class_of_dim says who gets what. */
static struct col col_make(const struct lp *s, uint32_t t, double price, const uint32_t *class_of_dim)
{
    const struct prob *p = s->p;
    struct col c = {.cost = 1};

    for (uint32_t r = 0; r < p->n_dims; r++) {
        double room = p->room[(size_t)t * p->n_dims + r];
        uint32_t row = class_of_dim[r] == NONE ? NONE : s->row_of[(size_t)class_of_dim[r] * p->n_dims + r];

        if (row == NONE || !(room > 0))
            continue;
        c.row[c.n] = row;
        c.a[c.n++] = room / (s->need[row] * price);
    }
    return c;
}

/* Rows, and a first basis that buys for each row alone where it is cheapest. Needs differ by a hair from what was
 * asked, so that ratio tests do not tie and the simplex cannot go round in circles. */
void lp_init(struct arena *a, struct lp *s, const struct prob *p)
{
    size_t cells = (size_t)p->n_classes * p->n_dims;

    *s = (struct lp){.p = p, .stride = (p->n_dims + 3) & ~3u};
    s->row_of = arena_new_array(a, uint32_t, cells);
    for (size_t i = 0; i < cells; i++)
        s->row_of[i] = p->need[i] > 0 ? s->m++ : NONE;
    s->need = arena_new_array(a, double, s->m);
    s->ld = (s->m + 3) & ~3u;
    s->inv = arena_new_array(a, double, (size_t)s->m * s->ld);
    s->x = arena_new_array(a, double, s->ld);
    s->y = arena_new_array(a, double, s->m);
    s->w = arena_new_array(a, double, s->ld);
    s->touched = arena_new_array(a, uint32_t, s->m);
    s->worth = arena_new_array(a, double, (size_t)p->n_classes * s->stride);
    s->best = arena_new_array(a, double, (size_t)p->n_classes * s->stride);
    s->scale = arena_new_array(a, double, p->n_classes);
    s->pool = arena_new_array(a, struct col, p->n_types);
    for (size_t i = 0; i < cells; i++) {
        uint32_t row = s->row_of[i];

        if (row == NONE)
            continue;
        s->need[row] = p->need[i];
        s->y[row] = p->solo[i] * p->need[i];
        s->inv[(size_t)row * s->ld + row] = s->y[row];
        s->x[row] = s->y[row] * (1 + GAP * 0x1p-32 * (double)(row * 2654435761u));
    }
}

/* The basic column that the entering one (s->w) drives out, or NONE when no pivot is safe. */
static uint32_t lp_leaving(const struct lp *s, uint32_t n_touched)
{
    uint32_t out = NONE;
    double big = 0, ratio = INFINITY;

    for (uint32_t k = 0; k < n_touched; k++)
        big = MAX(big, fabs(s->w[s->touched[k]]));
    for (uint32_t k = 0; k < n_touched; k++) {
        uint32_t i = s->touched[k];

        if (s->w[i] > big * 1e-11 && MAX(s->x[i], 0.0) < ratio * s->w[i]) {
            ratio = MAX(s->x[i], 0.0) / s->w[i];
            out = i;
        }
    }
    return out;
}

/* y += f · x; n is a multiple of 4, and written out so that compilers use vectors at -O2 as well. */
static void add_scaled(double *restrict y, const double *restrict x, double f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 4) {
        y[i] += f * x[i];
        y[i + 1] += f * x[i + 1];
        y[i + 2] += f * x[i + 2];
        y[i + 3] += f * x[i + 3];
    }
}

static bool lp_pivot(struct lp *s, const struct col *c)
{
    uint32_t m = s->m, n = 0, out;
    double *w = s->w, gain = col_value(c, s->y) - c->cost;

    memset(w, 0, s->ld * sizeof(*w));
    for (uint32_t k = 0; k < c->n; k++)
        add_scaled(w, s->inv + (size_t)c->row[k] * s->ld, c->a[k], s->ld);
    for (uint32_t i = 0; i < m; i++)
        if (w[i] != 0)
            s->touched[n++] = i;
    s->work += (uint64_t)m * (c->n + 2);
    out = lp_leaving(s, n);
    if (out == NONE)
        return false;

    double pivot = w[out], step = MAX(s->x[out], 0.0) / pivot;
    add_scaled(s->x, w, -step, s->ld);
    s->x[out] = step;
    w[out] = 0; /* that row is set, not updated */
    for (uint32_t j = 0; j < m; j++) {
        double *col = s->inv + (size_t)j * s->ld, f = col[out] / pivot;

        if (f == 0)
            continue;
        s->y[j] -= gain * f;
        if (n * 4 < m)
            for (uint32_t k = 0; k < n; k++)
                col[s->touched[k]] -= f * w[s->touched[k]];
        else
            add_scaled(col, w, -f, s->ld);
        col[out] = f;
        s->work += n * 4 < m ? n * 2 : m;
    }
    return true;
}

/* Optimise over the columns of the pool; answers the number of pivots. */
static uint32_t lp_run(struct lp *s)
{
    uint32_t pivots = 0;

    for (; s->work < s->budget && pivots < 4 * s->m + 50; pivots++) {
        struct col surplus = {.n = 1, .a = {-1}}, *enter = NULL;
        double low = 0, total = 0, most = 1 + GAP / 100;

        for (uint32_t i = 0; i < s->m; i++) {
            total += s->y[i];
            if (s->y[i] < low) {
                low = s->y[i];
                surplus.row[0] = i;
            }
        }
        for (uint32_t k = 0; k < s->n_pool; k++) {
            double v = col_value(&s->pool[k], s->y);

            if (v > most) {
                most = v;
                enter = &s->pool[k];
            }
        }
        s->work += s->m + (uint64_t)s->n_pool * s->p->n_dims * 2;
        if (low < -1e-11 * total)
            enter = &surplus;
        if (!enter)
            break;
        if (!lp_pivot(s, enter))
            enter->n = 0; /* numerically hopeless: forget it */
    }
    return pivots;
}

/* First class by class, as if nobody shared a node: blocks of n_dims rows, which cost next to nothing. */
static void lp_run_apart(struct lp *s)
{
    const struct prob *p = s->p;

    for (uint32_t c = 0; c < p->n_classes && s->work < s->budget; c++) {
        uint32_t whole[DIMS_MAX];

        for (uint32_t r = 0; r < p->n_dims; r++)
            whole[r] = c;
        s->n_pool = 0;
        for (uint32_t t = 0; t < p->n_types; t++) {
            uint8_t l = p->level[(size_t)t * p->n_classes + c];
            double price = l == NO_LEVEL ? 0 : p->level_price[p->level_at[t] + l];

            if (price > 0)
                s->pool[s->n_pool++] = col_make(s, t, price, whole);
        }
        (void)lp_run(s);
    }
}

/* The highest worth per level of type t, four dimensions at a time: this is where most of the time goes, and as it
 * stands the compiler keeps the maxima in vector registers (twice as fast as one dimension after the other). */
static void lp_tops(const struct lp *s, uint32_t t, double (*tops)[DIMS_MAX])
{
    const struct prob *p = s->p;
    const uint16_t *order = p->order + (size_t)t * p->n_classes;
    uint32_t at = p->level_at[t], n_levels = p->level_at[t + 1] - at;

    for (uint32_t r = 0; r < s->stride; r += 4) {
        double a0 = 0, a1 = 0, a2 = 0, a3 = 0;

        for (uint32_t l = 0, k = 0; l < n_levels; l++) {
            for (; k < p->level_end[at + l]; k++) {
                const double *v = s->worth + (size_t)order[k] * s->stride + r;

                a0 = v[0] > a0 ? v[0] : a0;
                a1 = v[1] > a1 ? v[1] : a1;
                a2 = v[2] > a2 ? v[2] : a2;
                a3 = v[3] > a3 ? v[3] : a3;
            }
            tops[l][r] = a0;
            tops[l][r + 1] = a1;
            tops[l][r + 2] = a2;
            tops[l][r + 3] = a3;
        }
    }
}

/* The column for level l of type t: every resource goes to the class that made the maximum. */
static struct col lp_column(const struct lp *s, uint32_t t, uint32_t l, const double *top)
{
    const struct prob *p = s->p;
    const uint16_t *order = p->order + (size_t)t * p->n_classes;
    uint32_t who[DIMS_MAX];

    for (uint32_t r = 0; r < p->n_dims; r++) {
        uint32_t k = 0;

        while (s->worth[(size_t)order[k] * s->stride + r] < top[r])
            k++;
        who[r] = order[k];
    }
    return col_make(s, t, p->level_price[p->level_at[t] + l], who);
}

/* Look at every constraint of type t: the most violated one becomes a column, and all violations lower the scale of
 * every class that takes part, which makes `worth` feasible: each class in the sum is lowered at least that much. */
static void lp_price_type(struct lp *s, uint32_t t)
{
    const struct prob *p = s->p;
    const double *room = p->room + (size_t)t * p->n_dims;
    const uint16_t *order = p->order + (size_t)t * p->n_classes;
    uint32_t at = p->level_at[t], n_levels = p->level_at[t + 1] - at, best = 0;
    double tops[LEVELS_MAX][DIMS_MAX], load[LEVELS_MAX], most = 1 + GAP / 100;

    lp_tops(s, t, tops);
    for (uint32_t l = 0; l < n_levels; l++) {
        double value = 0;

        for (uint32_t r = 0; r < p->n_dims; r++)
            value += room[r] * tops[l][r];
        load[l] = value > 0 ? value / p->level_price[at + l] : 0;
        if (load[l] > most) {
            most = load[l];
            best = l;
        }
    }
    if (!(most > 1 + GAP / 100))
        return;
    s->pool[s->n_pool++] = lp_column(s, t, best, tops[best]);
    most = 1;
    for (uint32_t l = n_levels; l-- > 0;) {
        most = MAX(most, load[l]);
        for (uint32_t k = l ? p->level_end[at + l - 1] : 0; k < p->level_end[at + l]; k++)
            s->scale[order[k]] = MIN(s->scale[order[k]], 1 / most);
    }
}

/* Fill the pool, and remember the bound if it is better. Multipliers jump about until the end, so the columns are
 * made for a point between them and the best feasible one: `hold` is the weight of the latter. */
static void lp_price(struct lp *s, double hold)
{
    const struct prob *p = s->p;
    double value = 0;

    for (uint32_t c = 0; c < p->n_classes; c++) {
        s->scale[c] = 1;
        for (uint32_t r = 0; r < p->n_dims; r++) {
            size_t i = (size_t)c * s->stride + r;
            uint32_t row = s->row_of[(size_t)c * p->n_dims + r];

            if (row != NONE)
                s->worth[i] = hold * s->best[i] + (1 - hold) * MAX(s->y[row], 0.0) / s->need[row];
        }
    }
    s->n_pool = 0;
    for (uint32_t t = 0; t < p->n_types; t++)
        lp_price_type(s, t);
    s->work += (uint64_t)p->n_types * p->n_classes * s->stride;
    for (uint32_t c = 0; c < p->n_classes; c++)
        for (uint32_t r = 0; r < p->n_dims; r++) {
            s->worth[(size_t)c * s->stride + r] *= s->scale[c];
            value += s->worth[(size_t)c * s->stride + r] * p->need[(size_t)c * p->n_dims + r];
        }
    if (value > s->best_value) {
        s->best_value = value;
        memcpy(s->best, s->worth, sizeof(double) * p->n_classes * s->stride);
    }
}

/* True when the bound is the optimum of the relaxation, up to GAP. */
bool lp_solve(struct lp *s)
{
    double hold = 0;

    lp_run_apart(s);
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        double spent = 0;

        lp_price(s, hold);
        for (uint32_t i = 0; i < s->m; i++)
            spent += s->y[i]; /* = the dollars spent on the basis, surplus columns being free */
        if (s->best_value >= spent * (1 - 2 * GAP) || (s->n_pool == 0 && hold == 0))
            return true;
        if (s->work >= s->budget)
            return false;
        hold = lp_run(s) > 0 ? HOLD : 0;
    }
    return false;
}
