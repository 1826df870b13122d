/* Proofs that last: see whatif.h. Gauges are counted node by node, and follow every event at the cost of one node. */
#include <math.h>

#include "plan/whatif_int.h"

#define GAUGES_MAX 4096      /* of all families together, but for one of each */
#define FAMILY_GAUGES_MAX 64 /* a family with more sizes has every so many-th of them */
#define LASTS_ENOUGH 4       /* largest pods that may leave before a proof is gone: no better one is looked for */

/* cpu and memory; that every pod takes one of the node's pods goes without saying. */
enum { SIZE_DIMS = 2 };

struct size {
    int64_t v[SIZE_DIMS];
};

/* What new nodes could hold, cheapest first, without those that hold no more than a cheaper one. */
typedef VEC(struct priced_row) price_list;

struct family {
    uint32_t variant;    /* of one of its shapes */
    uint32_t first, n;   /* gauges, by cpu from small to large */
    struct size least;   /* no pod of it asks for less … */
    struct size most;    /* … nor for more, of any resource */
    price_list floor[2]; /* [1]: without nodes that spot nodes cannot be replaced with */
    bool priced;
    uint32_t asked; /* the last proof that looked at it */
};

struct gauge {
    struct size size;
    int64_t slots;
    int64_t step; /* slots that are gained when the largest pod of the family leaves its node */
};

struct id_list {
    uint32_t *v, n;
};

struct gauges {
    struct arena *arena;
    uint32_t *family_of; /* [shapes]; NONE: it has something to relax, or a node that refuses it may change its mind */
    VEC(struct family) families;
    VEC(struct gauge) v;
    uint64_t *risen;            /* bit set over gauges: in the news */
    struct u64map admits_ix;    /* (requirements, taints) of nodes -> index into `admits` */
    VEC(struct id_list) admits; /* families that may go there */
    uint32_t *admits_of;        /* [node bins] */
    bool spot_stays;            /* a spot node is never replaced where spot is allowed */
    uint32_t asked;
    VEC(struct size) pods; /* scratch: of one family on the node in question */
    VEC(int64_t) memory;   /* scratch */
};

/* --- families and sizes ----------------------------------------------------------------------------------------------- */

static struct size size_of(const struct shape *sh)
{
    return (struct size){{sh->requests[DIM_CPU], sh->requests[DIM_MEMORY]}};
}

static bool size_covers(const struct size *a, const struct size *b)
{
    return a->v[0] >= b->v[0] && a->v[1] >= b->v[1];
}

static int cmp_sizes(const void *a, const void *b, void *ctx)
{
    const struct size *x = a, *y = b;

    (void)ctx;
    for (int d = 0; d < SIZE_DIMS; d++)
        if (x->v[d] != y->v[d])
            return x->v[d] < y->v[d] ? -1 : 1;
    return 0;
}

/* What refuses such a pod now refuses it until the node changes. */
static bool is_plain(struct whatif *w, const struct shape *sh)
{
    return sh->bare == NONE && !sh->fickle && variant_next(&w->k.p, sh->variant) == NONE;
}

static void find_families(struct whatif *w, struct gauges *g)
{
    struct problem *p = &w->k.p;
    struct u64map ix = {0};

    g->family_of = arena_new_array(g->arena, uint32_t, p->shapes.n);
    for (uint32_t i = 0; i < p->shapes.n; i++) {
        const struct shape *sh = &p->shapes.v[i];
        struct size size = size_of(sh);

        g->family_of[i] = NONE;
        if (!is_plain(w, sh))
            continue;
        uint64_t key = u64_pair(p->variants.v[sh->variant].full, p->variants.v[sh->variant].tol_set);
        uint32_t f = u64map_get(&ix, key);
        if (f == MAP_NONE) {
            f = g->families.n;
            u64map_put(&ix, key, f);
            vec_push(&g->families, (struct family){.variant = sh->variant, .least = size, .most = size});
        }
        for (int d = 0; d < SIZE_DIMS; d++) {
            g->families.v[f].least.v[d] = MIN(g->families.v[f].least.v[d], size.v[d]);
            g->families.v[f].most.v[d] = MAX(g->families.v[f].most.v[d], size.v[d]);
        }
        g->family_of[i] = f;
    }
    u64map_fini(&ix);
}

static int64_t step_of(const struct size *most, const struct size *s)
{
    int64_t n = INT64_MAX;

    for (int d = 0; d < SIZE_DIMS; d++)
        n = s->v[d] > 0 ? MIN(n, most->v[d] / s->v[d]) : n;
    return n == INT64_MAX ? 1 : n; /* pods that ask for nothing take one of the node's pods each */
}

/* The different sizes of a family, or as many of them as there may be gauges. */
static void choose_gauges(struct whatif *w, struct gauges *g, uint32_t family, uint32_t most)
{
    struct family *f = &g->families.v[family];
    VEC(struct size) sizes = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->k.p.shapes.n; i++)
        if (g->family_of[i] == family)
            vec_push(&sizes, size_of(&w->k.p.shapes.v[i]));
    sort_stable(sizes.v, sizes.n, sizeof(*sizes.v), cmp_sizes, NULL);
    for (uint32_t i = 0; i < sizes.n; i++)
        if (i == 0 || cmp_sizes(&sizes.v[i], &sizes.v[i - 1], NULL) != 0)
            sizes.v[n++] = sizes.v[i];
    f->first = g->v.n;
    f->n = MIN(n, most);
    for (uint32_t i = 0; i < f->n; i++) {
        const struct size *x = &sizes.v[(size_t)i * n / f->n];

        vec_push(&g->v, (struct gauge){.size = *x, .step = step_of(&f->most, x)});
    }
    vec_fini(&sizes);
}

/* --- slots ------------------------------------------------------------------------------------------------------------ */

static uint32_t admitted(struct whatif *w, struct gauges *g, const struct bin *b)
{
    struct problem *p = &w->k.p;
    uint64_t key = u64_pair(b->rs, b->taint_set);
    uint32_t ix = u64map_get(&g->admits_ix, key);
    VEC(uint32_t) found = {0};

    if (ix != MAP_NONE)
        return ix;
    for (uint32_t i = 0; i < g->families.n; i++) {
        const struct variant *v = &p->variants.v[g->families.v[i].variant];

        if (problem_tolerates(p, v->tol_set, b->taint_set) && rs_compatible(&p->space, b->rs, v->full, COMPAT_STRICT))
            vec_push(&found, i);
    }
    ix = g->admits.n;
    u64map_put(&g->admits_ix, key, ix);
    vec_push(&g->admits, (struct id_list){arena_dup_array(g->arena, uint32_t, found.v, found.n), found.n});
    vec_fini(&found);
    return ix;
}

/* How many pods of the size the node could take at most. */
static int64_t slots_at(const struct bin *b, const struct size *s)
{
    int64_t n = b->vec[DIM_PODS] / 1000;

    if (b->vec[DIM_CPU] < s->v[0] || b->vec[DIM_MEMORY] < s->v[1])
        return 0;
    if (s->v[0] > 0)
        n = MIN(n, b->vec[DIM_CPU] / s->v[0]);
    if (s->v[1] > 0)
        n = MIN(n, b->vec[DIM_MEMORY] / s->v[1]);
    return n;
}

/* It takes running pods, if they fit. */
static bool is_open(const struct whatif *w, const struct bin *b)
{
    for (uint32_t d = 0; d < w->k.p.n_dims; d++)
        if (b->vec[d] < 0)
            return false;
    return !b->settling && b->vec[DIM_PODS] >= 1000;
}

static uint64_t family_bit(uint32_t family)
{
    return 1ull << (family % 63);
}

#define FAMILY_NONE (1ull << 63) /* pods that belong to no family */

void gauges_count(struct whatif *w, uint32_t bin, int sign)
{
    struct gauges *g = w->gauges;
    const struct bin *b = &w->k.bins.v[bin];

    w->news.parts.families |= FAMILY_NONE;
    if (!g || !is_open(w, b))
        return;
    const struct id_list *l = &g->admits.v[g->admits_of[bin]];
    for (uint32_t i = 0; i < l->n; i++) {
        const struct family *f = &g->families.v[l->v[i]];

        if (slots_at(b, &f->least) == 0)
            continue;
        w->news.parts.families |= family_bit(l->v[i]);
        for (uint32_t k = f->first; k < f->first + f->n && g->v.v[k].size.v[0] <= b->vec[DIM_CPU]; k++) {
            int64_t n = slots_at(b, &g->v.v[k].size);

            g->v.v[k].slots += sign * n;
            if (n && sign > 0 && !bit_test(g->risen, k)) {
                bit_set(g->risen, k);
                vec_push(&w->news.risen, k);
            }
        }
    }
}

void whatif_news_clear(struct whatif *w)
{
    for (uint32_t i = 0; i < w->news.risen.n; i++)
        bit_clear(w->gauges->risen, w->news.risen.v[i]);
    w->news.risen.n = 0;
    w->news.parts = (struct whatif_parts){0};
    w->news.waiting = false;
}

uint32_t whatif_gauges(const struct whatif *w)
{
    return w->gauges->v.n;
}

int64_t whatif_slots(const struct whatif *w, uint32_t gauge)
{
    return w->gauges->v.v[gauge].slots;
}

static void add_reads(struct whatif *w, const struct turn_list *l, struct whatif_parts *ret)
{
    struct problem *p = &w->k.p;
    uint32_t last = NONE;

    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t shape = w->k.shape_of[l->v[i]], f = w->gauges->family_of[shape];
        const struct lclass *c = &p->classes.v[p->shapes.v[shape].lclass];

        if (shape == last) /* equal pods follow each other */
            continue;
        last = shape;
        ret->families |= f == NONE ? FAMILY_NONE : family_bit(f);
        for (uint32_t v = p->shapes.v[shape].variant; v != NONE; v = variant_next(p, v))
            for (uint32_t k = 0; k < p->variants.v[v].groups.n; k++)
                parts_add_group(ret, p->variants.v[v].groups.v[k].group);
        for (uint32_t k = 0; k < c->inverse.n; k++)
            parts_add_group(ret, c->inverse.v[k]);
    }
}

void whatif_reads(struct whatif *w, uint32_t node, struct whatif_parts *ret)
{
    *ret = (struct whatif_parts){0};
    add_reads(w, &w->on_node[node], ret);
    if (w->waiting.n == 0)
        return;
    add_reads(w, &w->waiting, ret);
    ret->families |= FAMILY_NONE; /* pods that wait may go where running ones may not: to nodes that are settling */
}

bool whatif_is_news(const struct whatif *w, const struct whatif_parts *reads)
{
    const struct whatif_parts *x = &w->news.parts;

    return w->news.waiting || x->families & reads->families ||
           bits_meet(x->groups, reads->groups, ARRAY_LEN(x->groups));
}

/* --- what new nodes cost ---------------------------------------------------------------------------------------------- */

/* Requirements of a claim only get narrower than its template's, but for labels that nobody had defined. */
static bool may_offer(struct problem *p, const struct tmpl *t, uint32_t cls)
{
    uint32_t rs = p->off_classes.v[cls].rs;
    bool undefined;

    return rs_compatible(&p->space, t->rs, rs, COMPAT_LENIENT) ||
           (rs_incompatible_key(&p->space, t->rs, rs, COMPAT_LENIENT, &undefined) != KEY_NONE && undefined);
}

static double row_price(struct problem *p, const struct tmpl *t, uint32_t row)
{
    uint32_t type = p->rows.v[row].type;
    double price = INFINITY;

    /* All offerings of the type count, as in price.c. */
    for (uint32_t i = p->row_offering[p->first_row[type]]; i < p->row_offering[p->first_row[type + 1]]; i++)
        if (p->offerings.v[i].available && may_offer(p, t, p->offerings.v[i].cls))
            price = MIN(price, p->offerings.v[i].price);
    return price;
}

static void add_prices(struct whatif *w, const struct tmpl *t, price_list *out)
{
    struct problem *p = &w->k.p;

    for (uint32_t i = 0; i < t->n_groups; i++)
        for (BITS_EACH(r, t->groups[i].rows, p->row_words)) {
            struct priced_row x = {.price = row_price(p, t, r)};

            for (uint32_t d = 0; d < DIM_FIXED; d++)
                x.room[d] = sat_sub(p->rows.v[r].alloc[d], t->groups[i].overhead[d]);
            if (!isinf(x.price))
                vec_push(out, x);
        }
}

static int cmp_prices(const void *a, const void *b, void *ctx)
{
    double x = ((const struct priced_row *)a)->price, y = ((const struct priced_row *)b)->price;

    (void)ctx;
    return x < y ? -1 : x > y;
}

static bool holds(const struct priced_row *x, const int64_t *need)
{
    return x->room[0] >= need[0] && x->room[1] >= need[1] && x->room[2] >= need[2];
}

static double least_price(const price_list *l, const int64_t *need)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (holds(&l->v[i], need))
            return l->v[i].price;
    return INFINITY;
}

static void sort_prices(price_list *l)
{
    uint32_t n = 0;

    sort_stable(l->v, l->n, sizeof(*l->v), cmp_prices, NULL);
    for (uint32_t i = 0; i < l->n; i++) {
        price_list cheaper = {.v = l->v, .n = n};

        if (isinf(least_price(&cheaper, l->v[i].room)))
            l->v[n++] = l->v[i];
    }
    l->n = n;
}

static bool allows_spot(const struct problem *p, const struct tmpl *t)
{
    return req_has(&p->space, rs_get(&p->space, t->rs, p->ct_key), space_val(&p->space, p->ct_key, SYM(SPOT)));
}

static void price_family(struct whatif *w, struct gauges *g, struct family *f)
{
    struct problem *p = &w->k.p;

    f->priced = true;
    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        const struct tmpl *t = &p->tmpls[i];

        if (!claims_may_take(&w->k, t, &p->variants.v[f->variant]))
            continue;
        add_prices(w, t, &f->floor[0]);
        if (!g->spot_stays || !allows_spot(p, t))
            add_prices(w, t, &f->floor[1]);
    }
    sort_prices(&f->floor[0]);
    sort_prices(&f->floor[1]);
}

/* --- spot for spot ---------------------------------------------------------------------------------------------------- */

static bool mentions(const struct problem *p, const struct req_expr *x, uint32_t n, uint32_t key)
{
    for (uint32_t i = 0; i < n; i++)
        if (space_key(&p->space, x[i].key) == key)
            return true;
    return false;
}

static bool spec_mentions(const struct problem *p, const struct podspec *s, uint32_t key)
{
    bool any = mentions(p, s->node_selector, s->n_node_selector, key);

    for (uint32_t i = 0; i < s->n_required; i++)
        any |= mentions(p, s->required[i].exprs, s->required[i].n, key);
    for (uint32_t i = 0; i < s->n_preferred; i++)
        any |= mentions(p, s->preferred[i].term.exprs, s->preferred[i].term.n, key);
    return any;
}

/* Nobody but NodePools says which capacity type a claim has, and spot is not replaced with spot. */
static bool spot_stays(const struct whatif *w)
{
    const struct problem *p = &w->k.p;
    bool any = p->snap->settings.spot_to_spot || p->reservations.n > 0;

    for (uint32_t i = 0; i < p->shapes.n && !any; i++)
        any = spec_mentions(p, p->shapes.v[i].spec, p->ct_key);
    for (uint32_t i = 0; i < p->vols.n && !any; i++)
        for (uint32_t k = 0; k < p->vols.v[i].n; k++)
            any |= rs_get(&p->space, p->vols.v[i].rs[k], p->ct_key) != REQ_NONE;
    for (uint32_t i = 0; i < w->k.topo.groups.n && !any; i++)
        any = w->k.topo.groups.v[i].key == p->ct_key;
    return !any;
}

/* --- proofs ----------------------------------------------------------------------------------------------------------- */

/* Most memory first. */
static void order_memory(struct gauges *g, const struct size *least)
{
    g->memory.n = 0;
    for (uint32_t i = 0; i < g->pods.n; i++) {
        int64_t m = g->pods.v[i].v[1];
        uint32_t at = g->memory.n;

        if (!size_covers(&g->pods.v[i], least))
            continue;
        vec_push(&g->memory, m);
        for (; at > 0 && g->memory.v[at - 1] < m; at--)
            g->memory.v[at] = g->memory.v[at - 1];
        g->memory.v[at] = m;
    }
}

/* How many of the node's `n` pods of this size may leave, from `from` on, so that those that stay still need a node that
 * costs no less; below `from`: not even so many. The largest leave first, whatever resource is looked at. */
static int64_t may_leave(struct gauges *g, const struct gauge *x, int64_t n, int64_t from, const price_list *l,
                         double price)
{
    const struct size *least = &x->size;
    int64_t left[DIM_FIXED] = {0, 0, n * 1000}, gone = 0;
    uint32_t cpu = 0; /* pods are in the order of cpu already */

    order_memory(g, least);
    for (uint32_t i = 0; i < g->pods.n; i++)
        for (int d = 0; d < SIZE_DIMS && size_covers(&g->pods.v[i], least); d++)
            left[d] = sat_add(left[d], g->pods.v[i].v[d]);
    for (; gone < n && gone <= from + LASTS_ENOUGH * x->step; gone++) {
        if (gone >= from && least_price(l, left) < price)
            break;
        while (!size_covers(&g->pods.v[cpu], least))
            cpu++;
        left[0] = sat_sub(left[0], g->pods.v[cpu++].v[0]);
        left[1] = sat_sub(left[1], g->memory.v[gone]);
        left[2] -= 1000;
    }
    return gone - 1;
}

/* Its own pods may have come to the node by other ways. */
static bool admits(const struct whatif *w, uint32_t bin, uint32_t family)
{
    const struct id_list *l = &w->gauges->admits.v[w->gauges->admits_of[bin]];

    for (uint32_t i = 0; i < l->n; i++)
        if (l->v[i] == family)
            return is_open(w, &w->k.bins.v[bin]);
    return false;
}

/* The best proof so far, and how long it lasts: in slots that its gauge may gain, of which a pod frees up to a step. */
struct proof {
    struct whatif_hold hold;
    int64_t slack, step;
};

static bool lasts_longer(const struct proof *a, const struct proof *b)
{
    return sat_mul(a->slack + 1, b->step) > sat_mul(b->slack + 1, a->step);
}

static void try_family(struct whatif *w, uint32_t family, uint32_t bin, const struct whatif_price *p,
                       struct proof *best)
{
    struct gauges *g = w->gauges;
    const struct family *f = &g->families.v[family];
    const price_list *floor = &f->floor[p->spot];
    const struct bin *own = admits(w, bin, family) ? &w->k.bins.v[bin] : NULL;

    for (uint32_t i = f->first; i < f->first + f->n && best->slack < LASTS_ENOUGH * best->step; i++) {
        const struct gauge *x = &g->v.v[i];
        int64_t n = 0, others = x->slots - (own ? slots_at(own, &x->size) : 0);

        for (uint32_t k = 0; k < g->pods.n; k++)
            n += size_covers(&g->pods.v[k], &x->size);
        struct proof found = {.slack = n - 1 - others, .step = x->step};
        if (!lasts_longer(&found, best))
            continue;
        int64_t leave = n - 1;
        if (p->max_claims > 1) {
            const int64_t one[DIM_FIXED] = {x->size.v[0], x->size.v[1], 1000};

            leave = least_price(floor, one) >= p->price ? leave : -1;
        } else if (floor->n) {
            leave = may_leave(g, x, n, others, floor, p->price);
        }
        found.slack = leave - others;
        found.hold = (struct whatif_hold){i, leave + x->slots - others};
        if (lasts_longer(&found, best))
            *best = found;
    }
}

bool whatif_hold(struct whatif *w, uint32_t node, const struct whatif_price *p, struct whatif_hold *ret)
{
    struct gauges *g = w->gauges;
    const struct turn_list *l = &w->on_node[node];
    struct proof best = {.slack = -1, .step = 1};

    g->asked++;
    for (uint32_t i = 0; i < l->n && best.slack < LASTS_ENOUGH * best.step; i++) {
        uint32_t family = g->family_of[w->k.shape_of[l->v[i]]];
        struct family *f = family == NONE ? NULL : &g->families.v[family];

        if (!f || f->asked == g->asked)
            continue;
        f->asked = g->asked;
        if (!f->priced)
            price_family(w, g, f);
        g->pods.n = 0;
        for (uint32_t k = i; k < l->n; k++)
            if (g->family_of[w->k.shape_of[l->v[k]]] == family)
                vec_push(&g->pods, size_of(&w->k.p.shapes.v[w->k.shape_of[l->v[k]]]));
        try_family(w, family, w->bin_of_node[node], p, &best);
    }
    *ret = best.hold;
    return best.slack >= 0;
}

/* --- start and end ---------------------------------------------------------------------------------------------------- */

void whatif_gauge(struct whatif *w)
{
    struct gauges *g = xcalloc(1, sizeof(*g));

    assert(!w->open && w->marks.n == 0 && !w->gauges);
    g->arena = w->arena;
    find_families(w, g);
    uint32_t most = MIN(MAX(GAUGES_MAX / MAX(g->families.n, 1u), 1u), (uint32_t)FAMILY_GAUGES_MAX);
    for (uint32_t i = 0; i < g->families.n; i++)
        choose_gauges(w, g, i, most);
    g->risen = arena_new_array(g->arena, uint64_t, BITS_WORDS(g->v.n));
    g->admits_of = arena_new_array(g->arena, uint32_t, w->k.n_node_bins);
    for (uint32_t i = 0; i < w->k.n_node_bins; i++)
        g->admits_of[i] = admitted(w, g, &w->k.bins.v[i]);
    g->spot_stays = spot_stays(w);
    w->gauges = g;
    for (uint32_t i = 0; i < w->k.n_node_bins; i++)
        gauges_count(w, i, 1);
    whatif_news_clear(w);
}

void gauges_free(struct gauges *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->families.n; i++) {
        vec_fini(&g->families.v[i].floor[0]);
        vec_fini(&g->families.v[i].floor[1]);
    }
    vec_fini(&g->families);
    vec_fini(&g->v);
    u64map_fini(&g->admits_ix);
    vec_fini(&g->admits);
    vec_fini(&g->pods);
    vec_fini(&g->memory);
    free(g);
}
