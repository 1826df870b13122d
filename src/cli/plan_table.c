/* A plan for people. Nodes that are alike share a line, pods are named by their workload, and however large the plan
 * is, the output is not: what is left out is counted. Nodes are in plan_nodes.c. */
#include "cli/plan_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

#define MAX_REASONS 20 /* groups of pods without a place */
#define MAX_REASON 240 /* characters of a reason */

void view_heading(struct view *w, enum tone tone, str text)
{
    text_tone(w->out, &w->style, tone, text);
    sb_char(w->out, '\n');
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* --- pods without a place ---------------------------------------------------------------------------------------- */

struct reason {       /* pods that have no place for the same reason */
    uint32_t failure; /* of one of them */
    uint32_t n, at;   /* pods [at - n, at) of the sorted list */
};

str view_short_reason(struct view *w, str s)
{
    static const char *const ends[] = {", requirements=", " (counts = "};
    size_t n = MIN(s.n, (size_t)MAX_REASON);

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const char *at = memmem(s.p, s.n, ends[i], strlen(ends[i]));

        if (at && (size_t)(at - s.p) < n)
            return str_sub(s, 0, (size_t)(at - s.p));
    }
    if (n == s.n)
        return s;
    while (n > 0 && s.p[n] != ' ')
        n--;
    return arena_printf(w->a, STR_FMT " …", STR_ARG(str_sub(s, 0, n ? n : MAX_REASON)));
}

/* "NodePool default, m5.24xlarge: memory: needs 500Gi, has 370Gi" */
static str near_text(struct view *w, const struct plan_near *n)
{
    struct sb b = {0};

    sb_printf(&b, "NodePool " STR_FMT, STR_ARG(w->s->pools[n->pool].name));
    if (n->type != UINT32_MAX)
        sb_printf(&b, ", " STR_FMT, STR_ARG(sym_str(w->s->syms, w->s->catalog->types[n->type].name)));
    sb_printf(&b, ": %s", n->constraint);
    if (n->key.n)
        sb_printf(&b, ", " STR_FMT, STR_ARG(n->key));
    if (n->needs.n)
        sb_printf(&b, ": needs " STR_FMT, STR_ARG(n->needs));
    if (n->has.n)
        sb_printf(&b, "%s has " STR_FMT, n->needs.n ? "," : ":", STR_ARG(n->has));
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

static str reason_key(struct view *w, const struct plan_failure *f, struct sb *key)
{
    const struct plan_near *n = &f->why->near;
    const str parts[] = {view_short_reason(w, f->why->reason), n->key, n->needs, n->has, n->hint, str_c(n->constraint)};
    const uint32_t numbers[] = {n->present, n->pool, n->type, f->why->deferred};

    sb_reset(key);
    sb_bytes(key, numbers, sizeof(numbers));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        sb_str(key, parts[i]);
        sb_char(key, '\0');
    }
    return sb_view(key);
}

static void print_reason(struct view *w, const struct reason *r, const uint32_t *pods)
{
    const struct plan_failure *f = &w->v->plan->failures[r->failure];
    uint32_t first = pod_groups_count(&w->groups, pods, r->n), n;
    const str *items = pod_groups_items(&w->groups, first, w->groups.shares.n - first, true, &n);
    struct sb names = {0};

    for (uint32_t i = 0; i < n; i++)
        sb_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(items[i]));
    text_wrap(w->out, &w->style, STR("  "), sb_view(&names));
    if (f->why->reason.n)
        text_wrap(w->out, &w->style, STR("      "), view_short_reason(w, f->why->reason));
    if (f->why->deferred)
        text_wrap(w->out, &w->style, STR("      "), STR("waits for a reservation"));
    if (f->why->near.present)
        text_wrap(w->out, &w->style, STR("      nearest: "), near_text(w, &f->why->near));
    if (f->why->near.present && f->why->near.hint.n)
        text_wrap(w->out, &w->style, STR("      try:     "), f->why->near.hint);
    w->groups.shares.n = first;
    sb_fini(&names);
}

static int cmp_reasons(const void *a, const void *b, void *ctx)
{
    const struct reason *x = a, *y = b;

    (void)ctx;
    return x->n > y->n ? -1 : x->n < y->n;
}

struct reason_list {
    VEC(struct reason) v;
    uint32_t *pods; /* by reason */
};

static void collect_reasons(struct view *w, struct reason_list *l)
{
    const struct plan *p = w->v->plan;
    uint32_t *of = arena_new_array(w->a, uint32_t, p->n_failures), at = 0;
    struct strmap seen = {0};
    struct sb key = {0};

    for (uint32_t i = 0; i < p->n_failures; i++) {
        str k = reason_key(w, &p->failures[i], &key);

        of[i] = strmap_get(&seen, k);
        if (of[i] == MAP_NONE) {
            of[i] = l->v.n;
            strmap_put(&seen, arena_strdup(w->a, k), of[i]);
            vec_push(&l->v, (struct reason){.failure = i});
        }
        l->v.v[of[i]].n++;
    }
    for (uint32_t i = 0; i < l->v.n; i++) {
        l->v.v[i].at = at;
        at += l->v.v[i].n;
    }
    l->pods = arena_new_array(w->a, uint32_t, p->n_failures);
    for (uint32_t i = 0; i < p->n_failures; i++)
        l->pods[l->v.v[of[i]].at++] = p->failures[i].pod;
    sort_stable(l->v.v, l->v.n, sizeof(struct reason), cmp_reasons, NULL);
    strmap_fini(&seen);
    sb_fini(&key);
}

static void print_failures(struct view *w)
{
    uint32_t n = w->v->plan->n_failures;
    struct reason_list l = {0};
    uint64_t left = 0;

    if (n == 0)
        return;
    collect_reasons(w, &l);
    view_heading(w, TONE_BAD,
                 arena_printf(w->a, "No place for " STR_FMT " pod%s", STR_ARG(text_count(w->a, n)), plural(n)));
    for (uint32_t i = 0; i < l.v.n; i++)
        if (i < MAX_REASONS)
            print_reason(w, &l.v.v[i], l.pods + l.v.v[i].at - l.v.v[i].n);
        else
            left += l.v.v[i].n;
    if (left)
        sb_printf(w->out, "  … and " STR_FMT " more pod%s for %u other reason%s; -o json lists them all\n",
                  STR_ARG(text_count(w->a, left)), plural(left), l.v.n - MAX_REASONS, plural(l.v.n - MAX_REASONS));
    sb_char(w->out, '\n');
    vec_fini(&l.v);
}

/* --- totals ------------------------------------------------------------------------------------------------------ */

void view_total(struct view *w, const char *what, str text)
{
    text_wrap(w->out, &w->style, arena_printf(w->a, "  %-14s  ", what), text);
}

static str pods_text(struct view *w)
{
    const struct plan *p = w->v->plan;
    uint64_t on_new = 0, on_old = 0;
    struct sb b = {0};

    for (uint32_t i = 0; i < p->n_claims; i++)
        on_new += p->claims[i].n_pods;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        on_old += p->nodes[i].n_pods;
    if (on_new + on_old + p->n_failures == 0)
        return STR("none is waiting for a place");
    sb_str(&b, text_count(w->a, on_new + on_old + p->n_failures));
    if (w->s->n_moving)
        sb_printf(&b, ", " STR_FMT " of them from nodes that are going away",
                  STR_ARG(text_count(w->a, w->s->n_moving)));
    sb_printf(&b, ": " STR_FMT " on " STR_FMT " new node%s", STR_ARG(text_count(w->a, on_new)),
              STR_ARG(text_count(w->a, p->n_claims)), plural(p->n_claims));
    if (p->n_nodes)
        sb_printf(&b, ", " STR_FMT " on " STR_FMT " existing node%s", STR_ARG(text_count(w->a, on_old)),
                  STR_ARG(text_count(w->a, p->n_nodes)), plural(p->n_nodes));
    if (p->n_failures)
        sb_printf(&b, ", " STR_FMT " without a place", STR_ARG(text_count(w->a, p->n_failures)));
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

static str bound_text(struct view *w)
{
    const struct plan *p = w->v->plan;
    str money = text_money(w->a, p->lower_bound, 4);
    double above = p->hourly_cost / p->lower_bound * 100 - 100;

    if (above < 0.05)
        return arena_printf(w->a, STR_FMT " an hour: no plan for these pods is cheaper", STR_ARG(money));
    if (above >= 100)
        return arena_printf(w->a, STR_FMT " an hour; this plan costs at most %.1f times the cheapest possible",
                            STR_ARG(money), 1 + above / 100);
    return arena_printf(w->a, STR_FMT " an hour; this plan is at most %.1f%% above the cheapest possible",
                        STR_ARG(money), above);
}

static str time_text(struct view *w)
{
    double us = (double)w->v->micros;

    if (us < 1000)
        return arena_printf(w->a, "%.0f µs", us);
    return us < 1e6 ? arena_printf(w->a, "%.1f ms", us / 1e3) : arena_printf(w->a, "%.2f s", us / 1e6);
}

void view_origin(struct view *w)
{
    if (w->s->catalog->origin.n)
        view_total(w, "instance types", w->s->catalog->origin);
    view_total(w, "solved in", time_text(w));
}

str view_cost(struct view *w, double usd_per_h)
{
    return arena_printf(w->a, STR_FMT " an hour, " STR_FMT " a month", STR_ARG(text_money(w->a, usd_per_h, 4)),
                        STR_ARG(text_money(w->a, usd_per_h * HOURS_A_MONTH, 2)));
}

static void print_totals(struct view *w)
{
    const struct plan *p = w->v->plan;

    view_heading(w, TONE_HEAD, STR("Total"));
    view_total(w, "pods", pods_text(w));
    if (p->n_claims)
        view_total(w, "cost",
                   arena_printf(w->a, STR_FMT " (%d h)", STR_ARG(view_cost(w, p->hourly_cost)), HOURS_A_MONTH));
    if (p->n_claims && p->has_bound && p->lower_bound > 0)
        view_total(w, "lower bound", bound_text(w));
    view_origin(w);
}

void plan_print_table(struct sb *b, const struct plan_view *v)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct view w = {
        .v = v,
        .s = v->snap,
        .a = a,
        .style = {v->colour, v->width},
        .out = b,
        .groups = {.s = v->snap, .a = a},
    };

    view_new_nodes(&w);
    view_existing_nodes(&w);
    print_failures(&w);
    print_totals(&w);
    pod_groups_fini(&w.groups);
}
