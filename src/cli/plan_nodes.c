/* Nodes of a plan for people: those that are alike share a line, the costliest line comes first, and if there are too many
 * lines they are summed up by type instead. */
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "cli/plan_table.h"

#define MAX_LINES 50 /* of nodes */
#define MAX_SUMS 30  /* of types */

struct line {       /* nodes that are alike */
    uint32_t claim; /* one of them */
    uint32_t n_nodes, first_share, n_shares;
    double cost;
};

/* --- new nodes --------------------------------------------------------------------------------------------------- */

/* Rounded down, so that 100 % is full; empty where there is nothing to have. */
static str percent(struct view *w, int64_t used, int64_t have)
{
    if (have <= 0)
        return used > 0 ? STR("-") : (str){0};
    return arena_printf(w->a, "%lld%%", (long long)((__int128)used * 100 / have));
}

static bool offering_has(const struct offering *o, sym key, sym val)
{
    for (uint32_t i = 0; i < o->n_requirements; i++)
        if (sym_eq(o->requirements[i].key, key))
            for (uint32_t k = 0; k < o->requirements[i].n_vals; k++)
                if (sym_eq(o->requirements[i].vals[k], val))
                    return true;
    return false;
}

/* What the chosen type leaves to pods, in the zone and capacity type that were chosen. */
static struct reslist allocatable(struct view *w, const struct plan_claim *c)
{
    const struct itype *t = &w->s->catalog->types[c->type];
    struct reslist l = reslist_dup(w->a, &t->capacity), taken = reslist_dup(w->a, &t->overhead);

    for (uint32_t i = 0; i < t->n_offerings; i++) {
        const struct offering *o = &t->offerings[i];

        if (o->price_usd_per_h <= c->price_usd_per_h && o->price_usd_per_h >= c->price_usd_per_h &&
            offering_has(o, SYM(ZONE), c->zone) && offering_has(o, SYM(CT), c->capacity_type)) {
            reslist_add(w->a, &l, &o->capacity_override);
            reslist_add(w->a, &taken, &o->overhead_override);
            break;
        }
    }
    reslist_sub(&l, &taken);
    return l;
}

/* The device that is used most, "8/8 nvidia.com/gpu"; empty without devices. */
static str devices(struct view *w, const struct reslist *used, const struct reslist *have)
{
    const struct resq *best = NULL;
    int64_t best_have = 1;

    for (uint32_t i = 0; i < used->n; i++) {
        const struct resq *q = &used->q[i];
        int64_t all = reslist_value(have, q->name);

        if (q->v <= 0 || all <= 0 || sym_eq(q->name, SYM(CPU)) || sym_eq(q->name, SYM(MEMORY)) ||
            sym_eq(q->name, SYM(PODS)) || sym_eq(q->name, SYM(EPHEMERAL)))
            continue;
        __int128 x = (__int128)q->v * best_have, y = best ? (__int128)best->v * all : -1;
        if (x > y || (x == y && str_cmp(sym_str(w->s->syms, q->name), sym_str(w->s->syms, best->name)) < 0)) {
            best = q;
            best_have = all;
        }
    }
    if (!best)
        return (str){0};
    return arena_printf(w->a, "%lld/%lld " STR_FMT, (long long)(best->v / 1000), (long long)(best_have / 1000),
                        STR_ARG(sym_str(w->s->syms, best->name)));
}

enum { COL_COUNT, COL_NAME, COL_TYPE, COL_ZONE, COL_CT, COL_CPU, COL_MEM, COL_PODS, COL_DEVICES, COL_PRICE, N_COLS };

static void fill_use(struct view *w, struct grid_row *row, const struct reslist *used, const struct reslist *have)
{
    row->cells[COL_CPU] = percent(w, reslist_value(used, SYM(CPU)), reslist_value(have, SYM(CPU)));
    row->cells[COL_MEM] = percent(w, reslist_value(used, SYM(MEMORY)), reslist_value(have, SYM(MEMORY)));
    row->cells[COL_PODS] = arena_printf(w->a, "%lld/%lld", (long long)(reslist_value(used, SYM(PODS)) / 1000),
                                        (long long)(reslist_value(have, SYM(PODS)) / 1000));
    row->cells[COL_DEVICES] = devices(w, used, have);
}

static struct grid node_grid(const char *name_title)
{
    return (struct grid){
        .cols = {[COL_COUNT] = {"", true, 0},
                 [COL_NAME] = {name_title, false, 32},
                 [COL_TYPE] = {"TYPE", false, 24},
                 [COL_ZONE] = {"ZONE", false, 20},
                 [COL_CT] = {"CAPACITY", false, 12},
                 [COL_CPU] = {"CPU", true, 0},
                 [COL_MEM] = {"MEMORY", true, 0},
                 [COL_PODS] = {"PODS", true, 0},
                 [COL_DEVICES] = {"DEVICES", true, 28},
                 [COL_PRICE] = {"$/HOUR", true, 0}},
        .n_cols = N_COLS,
        .items_title = "WORKLOADS",
    };
}

struct line_key {
    uint32_t pool, type, zone, ct;
    double price;
    int64_t cpu, memory;
};

/* Everything a line shows, as bytes: nodes with equal keys share the line. */
static str line_key(struct view *w, const struct plan_claim *c, uint32_t first, struct sb *key)
{
    struct line_key k;

    memset(&k, 0, sizeof(k));
    k.pool = c->pool;
    k.type = c->type;
    k.zone = c->zone.v;
    k.ct = c->capacity_type.v;
    k.price = c->price_usd_per_h;
    k.cpu = reslist_value(&c->requests, SYM(CPU));
    k.memory = reslist_value(&c->requests, SYM(MEMORY));
    sb_reset(key);
    sb_bytes(key, &k, sizeof(k));
    for (uint32_t i = first; i < w->groups.shares.n; i++) {
        sb_bytes(key, &w->groups.shares.v[i].workload, sizeof(uint32_t));
        sb_bytes(key, &w->groups.shares.v[i].n, sizeof(uint32_t));
    }
    return sb_view(key);
}

struct line_list {
    VEC(struct line) v;
};

static int cmp_lines(const void *a, const void *b, void *ctx)
{
    const struct line *x = a, *y = b;

    (void)ctx;
    return x->cost > y->cost ? -1 : x->cost < y->cost;
}

static void collect_lines(struct view *w, struct line_list *l)
{
    struct strmap seen = {0};
    struct sb key = {0};

    for (uint32_t i = 0; i < w->v->plan->n_claims; i++) {
        const struct plan_claim *c = &w->v->plan->claims[i];
        uint32_t first = pod_groups_count(&w->groups, c->pods, c->n_pods), n = w->groups.shares.n - first;
        str k = line_key(w, c, first, &key);
        uint32_t ix = strmap_get(&seen, k);

        if (ix == MAP_NONE) {
            ix = l->v.n;
            strmap_put(&seen, arena_strdup(w->a, k), ix);
            vec_push(&l->v, (struct line){.claim = i, .first_share = first, .n_shares = n});
        } else {
            w->groups.shares.n = first;
        }
        l->v.v[ix].n_nodes++;
        l->v.v[ix].cost += MAX(c->price_usd_per_h, 0);
    }
    sort_stable(l->v.v, l->v.n, sizeof(struct line), cmp_lines, NULL);
    strmap_fini(&seen);
    sb_fini(&key);
}

static void name_offering(struct view *w, struct grid_row *row, const struct plan_claim *c)
{
    if (c->price_usd_per_h < 0) {
        row->cells[COL_TYPE] = STR("nothing on offer");
        return;
    }
    row->cells[COL_TYPE] = sym_str(w->s->syms, w->s->catalog->types[c->type].name);
    row->cells[COL_ZONE] = sym_str(w->s->syms, c->zone);
    row->cells[COL_CT] = sym_str(w->s->syms, c->capacity_type);
}

static void add_line(struct view *w, struct grid *g, const struct line *l)
{
    const struct plan_claim *c = &w->v->plan->claims[l->claim];
    struct grid_row *row = vec_add(&g->rows);

    if (l->n_nodes > 1)
        row->cells[COL_COUNT] = arena_printf(w->a, "%u×", l->n_nodes);
    row->cells[COL_NAME] = w->s->pools[c->pool].name;
    name_offering(w, row, c);
    if (c->price_usd_per_h >= 0) {
        struct reslist have = allocatable(w, c);

        row->cells[COL_PRICE] = arena_printf(w->a, "%.4f", c->price_usd_per_h);
        fill_use(w, row, &c->requests, &have);
    }
    row->items = pod_groups_items(&w->groups, l->first_share, l->n_shares, l->n_nodes == 1, &row->n_items);
}

/* --- sums -------------------------------------------------------------------------------------------------------- */

struct sum {        /* nodes of one pool, type and capacity type */
    uint32_t claim; /* one of them */
    uint64_t n_nodes, n_pods;
    double cost;
};

struct sum_list {
    VEC(struct sum) v;
};

static int cmp_sums(const void *a, const void *b, void *ctx)
{
    const struct sum *x = a, *y = b;

    (void)ctx;
    return x->cost > y->cost ? -1 : x->cost < y->cost;
}

static void collect_sums(struct view *w, struct sum_list *l)
{
    struct strmap seen = {0};

    for (uint32_t i = 0; i < w->v->plan->n_claims; i++) {
        const struct plan_claim *c = &w->v->plan->claims[i];
        bool offered = c->price_usd_per_h >= 0;
        const uint32_t key[] = {c->pool, offered ? c->type : UINT32_MAX, offered ? c->capacity_type.v : 0};
        uint32_t ix = strmap_get(&seen, (str){(const char *)key, sizeof(key)});

        if (ix == MAP_NONE) {
            ix = l->v.n;
            strmap_put(&seen, arena_strdup(w->a, (str){(const char *)key, sizeof(key)}), ix);
            vec_push(&l->v, (struct sum){.claim = i});
        }
        l->v.v[ix].n_nodes++;
        l->v.v[ix].n_pods += c->n_pods;
        l->v.v[ix].cost += MAX(c->price_usd_per_h, 0);
    }
    sort_stable(l->v.v, l->v.n, sizeof(struct sum), cmp_sums, NULL);
    strmap_fini(&seen);
}

static void print_sums(struct view *w)
{
    struct sum_list l = {0};
    struct grid g = node_grid("NODEPOOL");
    uint64_t left = 0;

    collect_sums(w, &l);
    for (uint32_t i = 0; i < l.v.n; i++) {
        const struct sum *s = &l.v.v[i];
        const struct plan_claim *c = &w->v->plan->claims[s->claim];

        if (i >= MAX_SUMS) {
            left += s->n_nodes;
            continue;
        }
        struct grid_row *row = vec_add(&g.rows);
        row->cells[COL_COUNT] = arena_printf(w->a, STR_FMT "×", STR_ARG(text_count(w->a, s->n_nodes)));
        row->cells[COL_NAME] = w->s->pools[c->pool].name;
        row->cells[COL_PODS] = text_count(w->a, s->n_pods);
        name_offering(w, row, c);
        row->cells[COL_ZONE] = (str){0};
        row->cells[COL_PRICE] = arena_printf(w->a, "%.4f", s->cost);
    }
    g.items_title = "";
    view_heading(w, TONE_HEAD, STR("All new nodes by type"));
    grid_print(w->out, &w->style, &g);
    if (left)
        sb_printf(w->out, "  … and " STR_FMT " more node%s of %u other types\n", STR_ARG(text_count(w->a, left)),
                  plural(left), l.v.n - MAX_SUMS);
    sb_char(w->out, '\n');
    grid_fini(&g);
    vec_fini(&l.v);
}

static void print_lowered(struct view *w)
{
    const struct plan *p = w->v->plan;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_claims; i++)
        n += p->claims[i].min_values_relaxed;
    if (n)
        sb_printf(w->out, "  minValues could not be met and was lowered for %u of these nodes\n", n);
}

void view_new_nodes(struct view *w)
{
    struct line_list l = {0};
    struct grid g = node_grid("NODEPOOL");
    uint64_t left = 0;
    double left_cost = 0;

    if (w->v->plan->n_claims == 0)
        return;
    collect_lines(w, &l);
    for (uint32_t i = 0; i < l.v.n; i++)
        if (i < MAX_LINES) {
            add_line(w, &g, &l.v.v[i]);
        } else {
            left += l.v.v[i].n_nodes;
            left_cost += l.v.v[i].cost;
        }
    view_heading(w, TONE_HEAD, STR("New nodes"));
    grid_print(w->out, &w->style, &g);
    if (left)
        sb_printf(w->out, "  … and " STR_FMT " more node%s for " STR_FMT " an hour; -o json lists them all\n",
                  STR_ARG(text_count(w->a, left)), plural(left), STR_ARG(text_money(w->a, left_cost, 4)));
    print_lowered(w);
    sb_char(w->out, '\n');
    grid_fini(&g);
    vec_fini(&l.v);
    if (left)
        print_sums(w);
}

/* --- existing nodes ---------------------------------------------------------------------------------------------- */

str view_label(const struct view *w, lset_id labels, sym key)
{
    sym val;

    return lset_value(w->s->syms, labels, key, &val) ? sym_str(w->s->syms, val) : (str){0};
}

static void add_node(struct view *w, struct grid *g, const struct plan_node *pn)
{
    const struct state_node *n = &w->s->nodes[pn->node];
    struct reslist used = reslist_dup(w->a, &n->requests);
    struct grid_row *row = vec_add(&g->rows);
    uint32_t first = pod_groups_count(&w->groups, pn->pods, pn->n_pods);

    for (uint32_t i = 0; i < pn->n_pods; i++)
        reslist_add(w->a, &used, &w->s->pods[pn->pods[i]].spec->requests);
    reslist_set(w->a, &used, SYM(PODS), reslist_value(&used, SYM(PODS)) + pn->n_pods * 1000ll, false);
    row->cells[COL_NAME] = n->name;
    row->cells[COL_TYPE] = view_label(w, n->labels, SYM(ITYPE));
    row->cells[COL_ZONE] = view_label(w, n->labels, SYM(ZONE));
    row->cells[COL_CT] = view_label(w, n->labels, SYM(CT));
    fill_use(w, row, &used, &n->allocatable);
    row->items = pod_groups_items(&w->groups, first, w->groups.shares.n - first, true, &row->n_items);
    w->groups.shares.n = first;
}

void view_existing_nodes(struct view *w)
{
    const struct plan *p = w->v->plan;
    struct grid g = node_grid("NODE");
    uint64_t left = 0, left_pods = 0;

    if (p->n_nodes == 0)
        return;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (i < MAX_LINES) {
            add_node(w, &g, &p->nodes[i]);
        } else {
            left++;
            left_pods += p->nodes[i].n_pods;
        }
    view_heading(w, TONE_HEAD, STR("Existing nodes that take pods, and how full they are then"));
    grid_print(w->out, &w->style, &g);
    if (left)
        sb_printf(w->out, "  … and " STR_FMT " more node%s with " STR_FMT " pod%s; -o json lists them all\n",
                  STR_ARG(text_count(w->a, left)), plural(left), STR_ARG(text_count(w->a, left_pods)),
                  plural(left_pods));
    sb_char(w->out, '\n');
    grid_fini(&g);
}
