/* The report for people on a terminal: figures side by side, then what they are made of. */
#include <stdio.h>

#include "cli/simulate/report.h"
#include "cli/text.h"
#include "model/duration.h"

#define MOST_TYPES 8
#define MOST_STUCK 12

static str change_text(struct arena *a, const struct figure *f, const struct report *r, uint32_t i)
{
    return i == 0 ? (str){0} : figure_change(a, f->unit, f->of(r->v[0].t), f->of(r->v[i].t));
}

static void begin_grid(struct grid *g, const struct report *r, const char *title)
{
    *g = (struct grid){.n_cols = 1, .items_title = ""};
    g->cols[0].title = title;
    for (uint32_t i = 0; i < r->n; i++) {
        g->cols[g->n_cols].title = r->v[i].name;
        g->cols[g->n_cols++].right = true;
        if (i > 0) {
            g->cols[g->n_cols].title = "";
            g->cols[g->n_cols++].right = true;
        }
    }
}

static struct grid_row *add_row(struct grid *g, str title)
{
    struct grid_row *row = vec_add(&g->rows);

    row->cells[0] = title;
    return row;
}

/* Columns of figures: the first configuration has one, the others have one more for the change. */
static uint32_t col_of(uint32_t i)
{
    return i == 0 ? 1 : 2 * i;
}

static void print_figures(struct sb *out, const struct text_style *st, const struct report *r)
{
    struct grid g;
    uint32_t n;
    const struct figure *f = figures(&n);

    begin_grid(&g, r, "");
    for (uint32_t i = 0; i < n; i++) {
        bool first = i == 0 || strcmp(f[i].group, f[i - 1].group) != 0;

        if (!figure_is_known(&f[i], r))
            continue;
        struct grid_row *row = add_row(
            &g, arena_printf(r->arena, "%s%s", first || strcmp(f[i].group, "pods") == 0 ? "" : "  ", f[i].title));

        for (uint32_t k = 0; k < r->n; k++) {
            row->cells[col_of(k)] = figure_print(r->arena, f[i].unit, f[i].of(r->v[k].t));
            row->cells[col_of(k) + 1] = k ? change_text(r->arena, &f[i], r, k) : row->cells[col_of(k) + 1];
        }
    }
    grid_print(out, st, &g);
    grid_fini(&g);
}

/* ---- lists whose members differ between configurations ---- */

struct names {
    VEC(str) v;
};

static void note_name(struct names *n, str s)
{
    for (uint32_t i = 0; i < n->v.n; i++)
        if (str_eq(n->v.v[i], s))
            return;
    vec_push(&n->v, s);
}

static uint32_t reason_count(const struct tally *t, str name)
{
    for (uint32_t i = 0; i < t->reasons.n; i++)
        if (str_eq(t->reasons.v[i].name, name))
            return t->reasons.v[i].n;
    return 0;
}

static void print_reasons(struct sb *out, const struct text_style *st, const struct report *r)
{
    struct names names = {0};
    struct grid g;

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->v[i].t->reasons.n; k++)
            note_name(&names, r->v[i].t->reasons.v[k].name);
    if (names.v.n) {
        begin_grid(&g, r, "nodes removed because");
        for (uint32_t k = 0; k < names.v.n; k++) {
            struct grid_row *row = add_row(&g, names.v.v[k]);

            for (uint32_t i = 0; i < r->n; i++)
                row->cells[col_of(i)] = text_count(r->arena, reason_count(r->v[i].t, names.v.v[k]));
        }
        sb_char(out, '\n');
        grid_print(out, st, &g);
        grid_fini(&g);
    }
    vec_fini(&names.v);
}

static const struct tally_pool *pool_named(const struct tally *t, str name)
{
    for (uint32_t i = 0; i < t->pools.n; i++)
        if (str_eq(t->pools.v[i].name, name))
            return &t->pools.v[i];
    return NULL;
}

static void print_pools(struct sb *out, const struct text_style *st, const struct report *r)
{
    struct names names = {0};
    struct grid g;

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->v[i].t->pools.n; k++)
            note_name(&names, r->v[i].t->pools.v[k].name);
    if (names.v.n > 1) {
        begin_grid(&g, r, "cost of NodePools");
        for (uint32_t k = 0; k < names.v.n; k++) {
            struct grid_row *row = add_row(&g, names.v.v[k]);

            for (uint32_t i = 0; i < r->n; i++) {
                const struct tally_pool *p = pool_named(r->v[i].t, names.v.v[k]);

                row->cells[col_of(i)] = figure_print(r->arena, UNIT_USD, p ? p->usd : 0);
            }
        }
        sb_char(out, '\n');
        grid_print(out, st, &g);
        grid_fini(&g);
    }
    vec_fini(&names.v);
}

static void print_types(struct sb *out, const struct text_style *st, const struct report *r, const struct outcome *o)
{
    struct grid g = {.n_cols = 5, .items_title = ""};

    if (o->t->spends.n == 0)
        return;
    g.cols[0].title = r->n > 1 ? arena_printf(r->arena, "machines, %s%c", o->name, 0).p : "machines";
    g.cols[1].title = "";
    g.cols[2].title = "launched";
    g.cols[3].title = "on average";
    g.cols[4].title = "cost";
    g.cols[2].right = g.cols[3].right = g.cols[4].right = true;
    for (uint32_t i = 0; i < MIN(o->t->spends.n, MOST_TYPES); i++) {
        const struct tally_spend *s = &o->t->spends.v[i];
        struct grid_row *row = add_row(&g, s->type);

        row->cells[1] = s->capacity;
        row->cells[2] = text_count(r->arena, s->launched);
        row->cells[3] = arena_printf(r->arena, "%.1f", o->t->seconds > 0 ? s->node_s / o->t->seconds : 0);
        row->cells[4] = figure_print(r->arena, UNIT_USD, s->usd);
    }
    sb_char(out, '\n');
    grid_print(out, st, &g);
    if (o->t->spends.n > MOST_TYPES)
        sb_printf(out, "  and %u more\n", o->t->spends.n - MOST_TYPES);
    grid_fini(&g);
}

static void print_stuck(struct sb *out, const struct text_style *st, const struct report *r, const struct outcome *o)
{
    if (o->t->stuck.n == 0)
        return;
    sb_char(out, '\n');
    text_tone(out, st, TONE_BAD,
              arena_printf(r->arena, "Pods that never ran%s%s", r->n > 1 ? ", " : "", r->n > 1 ? o->name : ""));
    sb_char(out, '\n');
    for (uint32_t i = 0; i < MIN(o->t->stuck.n, MOST_STUCK); i++) {
        const struct tally_stuck *s = &o->t->stuck.v[i];
        struct sb first = {0};

        sb_c(&first, "  ");
        text_put(&first, s->workload);
        sb_printf(&first, " ×%u%s: ", s->n, s->gone ? " (gone)" : "");
        text_wrap(out, st, sb_view(&first), s->why);
        sb_fini(&first);
    }
    if (o->t->stuck.n > MOST_STUCK)
        sb_printf(out, "  and %u more\n", o->t->stuck.n - MOST_STUCK);
}

static void print_head(struct sb *out, const struct report *r)
{
    const struct tally *t = r->v[0].t;

    sb_str(out, span_text(r->arena, t->seconds));
    if (t->seconds + 1 < r->wanted_s)
        sb_printf(out, " of the %.*s that were asked for", STR_ARG(span_text(r->arena, r->wanted_s)));
    sb_c(out, " from ");
    time_print_rfc3339(out, r->start_ms);
    sb_printf(out, ", seed %llu, prices: ", (unsigned long long)r->seed);
    text_put(out, str_c(r->origin));
    sb_c(out, "\n\n");
}

void report_text(struct sb *out, const struct text_style *st, const struct report *r)
{
    print_head(out, r);
    print_figures(out, st, r);
    print_pools(out, st, r);
    print_reasons(out, st, r);
    for (uint32_t i = 0; i < r->n; i++)
        print_types(out, st, r, &r->v[i]);
    for (uint32_t i = 0; i < r->n; i++)
        print_stuck(out, st, r, &r->v[i]);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->v[i].t->n_unpriced)
            sb_printf(out, "\nThe price of %u machines is not known: they count as free.\n", r->v[i].t->n_unpriced);
}
