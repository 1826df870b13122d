/* Removals for people: what goes and what comes instead, then what stays and why (disrupt_stay.c), then what it saves.
 * Commands that are alike share an entry, and however many there are, the output is bounded: what is left out is counted. */
#include "cli/disrupt_table.h"

#include <math.h>

#include "base/map.h"
#include "cli/disrupt_text.h"

#define MAX_COMMANDS 20 /* groups of commands */
#define MAX_TYPES 4     /* lines of nodes in one of them */
#define MAX_SUMS 30     /* the same in the sum of all */
#define MAX_NAMES 6     /* nodes named on a line */

struct group {        /* commands that do the same to nodes of the same types */
    uint32_t command; /* one of them */
    uint32_t n_commands, n_pods;
    VEC(uint32_t) nodes; /* that go */
    VEC(const struct plan_claim *) claims;
    double savings;
};

struct group_list {
    VEC(struct group) v;
};

static void group_add(struct group *g, const struct disrupt_command *c)
{
    g->n_commands++;
    g->n_pods += c->n_pods;
    g->savings += c->savings;
    for (uint32_t i = 0; i < c->n_nodes; i++)
        vec_push(&g->nodes, c->nodes[i]);
    for (uint32_t i = 0; i < c->n_claims; i++)
        vec_push(&g->claims, &c->claims[i]);
}

static void group_fini(struct group *g)
{
    vec_fini(&g->nodes);
    vec_fini(&g->claims);
}

/* --- nodes by type -------------------------------------------------------------------------------------------------- */

/* "m5.large, spot, $0.0384": what a node is, as far as it matters here. */
static str node_kind(struct view *w, uint32_t node, bool each)
{
    const struct state_node *n = &w->s->nodes[node];
    double price = w->v->disruption->nodes[node].price;
    str type = view_label(w, n->labels, SYM(ITYPE)), ct = view_label(w, n->labels, SYM(CT));
    struct sb b = {0};

    sb_str(&b, type.n ? type : STR("type unknown"));
    if (ct.n)
        sb_printf(&b, ", " STR_FMT, STR_ARG(ct));
    if (price > 0)
        sb_printf(&b, ", " STR_FMT "%s", STR_ARG(text_money(w->a, price, 4)), each ? " each" : "");
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

static str claim_kind(struct view *w, const struct plan_claim *c, bool each)
{
    str pool = w->s->pools[c->pool].name;

    if (c->price_usd_per_h < 0)
        return arena_printf(w->a, "nothing on offer (NodePool " STR_FMT ")", STR_ARG(pool));
    return arena_printf(w->a, STR_FMT ", " STR_FMT ", " STR_FMT ", " STR_FMT "%s (NodePool " STR_FMT ")",
                        STR_ARG(sym_str(w->s->syms, w->s->catalog->types[c->type].name)),
                        STR_ARG(sym_str(w->s->syms, c->zone)), STR_ARG(sym_str(w->s->syms, c->capacity_type)),
                        STR_ARG(text_money(w->a, c->price_usd_per_h, 4)), each ? " each" : "", STR_ARG(pool));
}

struct type_line { /* nodes that are alike */
    uint32_t n;
    uint32_t first[MAX_NAMES]; /* where they stand in the list */
};

struct type_list {
    VEC(struct type_line) v;
    struct strmap seen;
};

static void type_add(struct type_list *l, str kind, uint32_t at)
{
    uint32_t ix = strmap_get(&l->seen, kind);

    if (ix == MAP_NONE) {
        ix = l->v.n;
        strmap_put(&l->seen, kind, ix);
        (void)vec_add(&l->v);
    }
    struct type_line *t = &l->v.v[ix];
    if (t->n < MAX_NAMES)
        t->first[t->n] = at;
    t->n++;
}

static void type_fini(struct type_list *l)
{
    vec_fini(&l->v);
    strmap_fini(&l->seen);
}

static int cmp_types(const void *a, const void *b, void *ctx)
{
    const struct type_line *x = a, *y = b;

    (void)ctx;
    return x->n > y->n ? -1 : x->n < y->n;
}

/* Prints the lines; `text` says what one of them is. */
static void print_types(struct view *w, struct type_list *l, const char *title, uint32_t max,
                        str (*text)(struct view *w, const struct type_line *t, const void *list), const void *list)
{
    uint64_t left = 0;

    if (l->v.n)
        sort_stable(l->v.v, l->v.n, sizeof(struct type_line), cmp_types, NULL);
    for (uint32_t i = 0; i < l->v.n; i++)
        if (i < max)
            text_wrap(w->out, &w->style, arena_printf(w->a, "      %-7s ", i ? "" : title), text(w, &l->v.v[i], list));
        else
            left += l->v.v[i].n;
    if (left)
        sb_printf(w->out, "              … and " STR_FMT " more of %u other types\n", STR_ARG(text_count(w->a, left)),
                  l->v.n - max);
}

/* "node-1, node-2 and 3 more (5× m5.large, spot, $0.0384 each)" */
static str goes_text(struct view *w, const struct type_line *t, const void *list)
{
    const uint32_t *nodes = list;
    uint32_t shown = MIN(t->n, (uint32_t)MAX_NAMES);
    struct sb b = {0};

    for (uint32_t i = 0; i < shown; i++)
        sb_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(node_title(&w->s->nodes[nodes[t->first[i]]])));
    if (t->n > shown)
        sb_printf(&b, " and " STR_FMT " more", STR_ARG(text_count(w->a, t->n - shown)));
    sb_c(&b, " (");
    if (t->n > 1)
        sb_printf(&b, STR_FMT "× ", STR_ARG(text_count(w->a, t->n)));
    sb_str(&b, node_kind(w, nodes[t->first[0]], t->n > 1));
    sb_char(&b, ')');
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

static str comes_text(struct view *w, const struct type_line *t, const void *list)
{
    const struct plan_claim *const *claims = list;
    str kind = claim_kind(w, claims[t->first[0]], t->n > 1);

    return t->n > 1 ? arena_printf(w->a, STR_FMT "× " STR_FMT, STR_ARG(text_count(w->a, t->n)), STR_ARG(kind)) : kind;
}

static void print_goes(struct view *w, const struct group *g, uint32_t max)
{
    const uint32_t *nodes = nodes_by_title(w->a, w->s, g->nodes.v, g->nodes.n);
    struct type_list l = {0};

    for (uint32_t i = 0; i < g->nodes.n; i++)
        type_add(&l, node_kind(w, nodes[i], false), i);
    print_types(w, &l, "goes:", max, goes_text, nodes);
    type_fini(&l);
}

static void print_comes(struct view *w, const struct group *g, uint32_t max)
{
    struct type_list l = {0};

    for (uint32_t i = 0; i < g->claims.n; i++)
        type_add(&l, claim_kind(w, g->claims.v[i], false), i);
    print_types(w, &l, "comes:", max, comes_text, g->claims.v);
    type_fini(&l);
}

/* --- commands ------------------------------------------------------------------------------------------------------- */

static int cmp_strs(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* Everything an entry shows but names: commands with equal keys share it. */
static str group_key(struct view *w, const struct disrupt_command *c, struct sb *key)
{
    uint32_t n = c->n_nodes + c->n_claims;
    str *kinds = arena_new_array(w->a, str, n);

    for (uint32_t i = 0; i < c->n_nodes; i++)
        kinds[i] = node_kind(w, c->nodes[i], false);
    for (uint32_t i = 0; i < c->n_claims; i++)
        kinds[c->n_nodes + i] = claim_kind(w, &c->claims[i], false);
    sort_stable(kinds, c->n_nodes, sizeof(str), cmp_strs, NULL);
    sort_stable(kinds + c->n_nodes, c->n_claims, sizeof(str), cmp_strs, NULL);
    sb_reset(key);
    sb_printf(key, "%s/%u/%u", disrupt_reason_name(c->method), c->n_nodes, c->n_claims);
    for (uint32_t i = 0; i < n; i++) {
        sb_char(key, '\0');
        sb_str(key, kinds[i]);
    }
    return sb_view(key);
}

/* What saves most comes first. */
static int cmp_groups(const void *a, const void *b, void *ctx)
{
    const struct group *x = a, *y = b;

    (void)ctx;
    return x->savings > y->savings ? -1 : x->savings < y->savings;
}

static void collect_groups(struct view *w, struct group_list *l)
{
    const struct disruption *d = w->v->disruption;
    struct strmap seen = {0};
    struct sb key = {0};

    for (uint32_t i = 0; i < d->n_commands; i++) {
        str k = group_key(w, &d->commands[i], &key);
        uint32_t ix = strmap_get(&seen, k);

        if (ix == MAP_NONE) {
            ix = l->v.n;
            strmap_put(&seen, arena_strdup(w->a, k), ix);
            vec_push(&l->v, (struct group){.command = i});
        }
        group_add(&l->v.v[ix], &d->commands[i]);
    }
    if (l->v.n)
        sort_stable(l->v.v, l->v.n, sizeof(struct group), cmp_groups, NULL);
    strmap_fini(&seen);
    sb_fini(&key);
}

/* "Underutilized: replace 3 nodes by 1, 7 pods move" */
static str group_title(struct view *w, const struct group *g)
{
    const struct disrupt_command *c = &w->v->disruption->commands[g->command];
    struct sb b = {0};

    if (g->n_commands > 1)
        sb_printf(&b, STR_FMT " commands, ", STR_ARG(text_count(w->a, g->n_commands)));
    sb_printf(&b, "%s: %s " STR_FMT " node%s", disrupt_reason_name(c->method), command_decision(c),
              STR_ARG(text_count(w->a, g->nodes.n)), plural(g->nodes.n));
    if (g->claims.n)
        sb_printf(&b, " by " STR_FMT, STR_ARG(text_count(w->a, g->claims.n)));
    if (g->n_pods)
        sb_printf(&b, ", " STR_FMT " pod%s move%s", STR_ARG(text_count(w->a, g->n_pods)), plural(g->n_pods),
                  g->n_pods == 1 ? "s" : "");
    else
        sb_c(&b, ", no pods move");
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

static void print_group(struct view *w, const struct group *g)
{
    text_wrap(w->out, &w->style, STR("  "), group_title(w, g));
    print_goes(w, g, MAX_TYPES);
    print_comes(w, g, MAX_TYPES);
    if (g->savings >= 0)
        text_wrap(w->out, &w->style, STR("      saves:  "), view_cost(w, g->savings));
    else
        text_wrap(w->out, &w->style, STR("      costs:  "),
                  arena_printf(w->a, STR_FMT ", more than now", STR_ARG(view_cost(w, -g->savings))));
}

/* Where not every command has an entry of its own, all nodes at least have their place in a sum. */
static void print_sums(struct view *w)
{
    const struct disruption *d = w->v->disruption;
    struct group all = {0};

    for (uint32_t i = 0; i < d->n_commands; i++)
        group_add(&all, &d->commands[i]);
    view_heading(w, TONE_HEAD, STR("All of it by type"));
    print_goes(w, &all, MAX_SUMS);
    print_comes(w, &all, MAX_SUMS);
    sb_char(w->out, '\n');
    group_fini(&all);
}

static void print_commands(struct view *w)
{
    struct group_list l = {0};
    uint64_t left = 0, left_nodes = 0;
    double left_savings = 0;

    if (w->v->disruption->n_commands == 0) {
        view_heading(w, TONE_HEAD, STR("Nothing would be removed"));
        sb_char(w->out, '\n');
        return;
    }
    collect_groups(w, &l);
    view_heading(w, TONE_HEAD, STR("What would be removed"));
    for (uint32_t i = 0; i < l.v.n; i++) {
        if (i < MAX_COMMANDS) {
            print_group(w, &l.v.v[i]);
        } else {
            left += l.v.v[i].n_commands;
            left_nodes += l.v.v[i].nodes.n;
            left_savings += l.v.v[i].savings;
        }
        group_fini(&l.v.v[i]);
    }
    if (left)
        sb_printf(w->out,
                  "  … and " STR_FMT " more command%s for " STR_FMT " node%s that save%s " STR_FMT
                  " an hour; -o json lists them all\n",
                  STR_ARG(text_count(w->a, left)), plural(left), STR_ARG(text_count(w->a, left_nodes)),
                  plural(left_nodes), left == 1 ? "s" : "", STR_ARG(text_money(w->a, left_savings, 4)));
    sb_char(w->out, '\n');
    if (left)
        print_sums(w);
    vec_fini(&l.v);
}

/* --- totals --------------------------------------------------------------------------------------------------------- */

static void print_counts(struct view *w)
{
    const struct disruption *d = w->v->disruption;
    uint64_t go = 0, come = 0, pods = 0;

    for (uint32_t i = 0; i < d->n_commands; i++) {
        go += d->commands[i].n_nodes;
        come += d->commands[i].n_claims;
        pods += d->commands[i].n_pods;
    }
    view_total(w, "nodes",
               arena_printf(w->a, STR_FMT ", " STR_FMT " of them candidates: " STR_FMT " go%s, " STR_FMT " come%s",
                            STR_ARG(text_count(w->a, w->s->n_nodes)), STR_ARG(text_count(w->a, d->n_candidates)),
                            STR_ARG(text_count(w->a, go)), go == 1 ? "es" : "", STR_ARG(text_count(w->a, come)),
                            come == 1 ? "s" : ""));
    if (pods)
        view_total(w, "pods", arena_printf(w->a, STR_FMT " to move", STR_ARG(text_count(w->a, pods))));
}

static str change(struct view *w, double from, double to, int decimals)
{
    return arena_printf(w->a, STR_FMT " → " STR_FMT, STR_ARG(text_money(w->a, from, decimals)),
                        STR_ARG(text_money(w->a, to, decimals)));
}

static str cost_text(struct view *w)
{
    const struct disruption *d = w->v->disruption;

    if (d->n_commands == 0)
        return view_cost(w, d->cost_before);
    return arena_printf(w->a, STR_FMT " an hour, " STR_FMT " a month",
                        STR_ARG(change(w, d->cost_before, d->cost_after, 4)),
                        STR_ARG(change(w, d->cost_before * HOURS_A_MONTH, d->cost_after * HOURS_A_MONTH, 2)));
}

static void print_cost(struct view *w)
{
    const struct disruption *d = w->v->disruption;
    double saved = d->cost_before - d->cost_after;
    uint32_t unknown = 0;

    for (uint32_t i = 0; i < w->s->n_nodes; i++)
        unknown += d->nodes[i].price <= 0;
    if (d->cost_before > 0)
        view_total(w, "cost", arena_printf(w->a, STR_FMT " (%d h)", STR_ARG(cost_text(w)), HOURS_A_MONTH));
    if (d->cost_before > 0 && d->n_commands)
        view_total(w, saved < 0 ? "more" : "saved",
                   arena_printf(w->a, STR_FMT ", %.1f%%", STR_ARG(view_cost(w, fabs(saved))),
                                fabs(saved) / d->cost_before * 100));
    if (unknown)
        view_total(w, "not counted",
                   arena_printf(w->a, STR_FMT " node%s without a known price", STR_ARG(text_count(w->a, unknown)),
                                plural(unknown)));
}

static void print_no_nodes(struct view *w)
{
    view_heading(w, TONE_HEAD, STR("There are no nodes in the input"));
    text_wrap(w->out, &w->style, STR("  "),
              STR("Removals are planned for the nodes of a cluster. This prints them, and what they run:"));
    sb_c(w->out, "  " DISRUPT_DUMP "\n");
}

void disrupt_print_table(struct sb *b, const struct plan_view *v)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct view w = {.v = v, .s = v->snap, .a = a, .style = {v->colour, v->width}, .out = b};

    if (v->snap->n_nodes == 0) {
        print_no_nodes(&w);
        return;
    }
    print_commands(&w);
    view_staying_nodes(&w, nodes_by_title(a, v->snap, NULL, v->snap->n_nodes));
    view_heading(&w, TONE_HEAD, STR("Total"));
    print_counts(&w);
    print_cost(&w);
    view_origin(&w);
}
