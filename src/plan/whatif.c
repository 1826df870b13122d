/* One packer, asked about many sets of nodes. A question hides the nodes, uncounts their pods, gives their capacity back
 * to the limits, lets the packer run on the pods, and everything is put back by undo.c. */
#include <math.h>

#include "base/sort.h"
#include "plan/whatif_int.h"

static int cmp_priced_rows(const void *a, const void *b, void *ctx)
{
    double x = ((const struct priced_row *)a)->price, y = ((const struct priced_row *)b)->price;

    (void)ctx;
    return x < y ? -1 : x > y;
}

/* --- start ----------------------------------------------------------------------------------------------------------- */

/* Only nodes of pools that take part in the simulation count (lifecycle 8.9). */
static bool is_settling(const struct problem *p, const struct state_node *n)
{
    for (uint32_t i = 0; n->claim && i < p->n_tmpls; i++) {
        const struct nodepool *np = &p->snap->pools[p->tmpls[i].pool];

        if (sym_eq(np->name_sym, n->pool))
            return p->snap->now_ms < nodeclaim_settled_ms(np, n->claim);
    }
    return false;
}

static void index_bins(struct whatif *w)
{
    const struct snapshot *s = w->k.p.snap;

    w->bin_of_node = arena_new_array(w->arena, uint32_t, s->n_nodes);
    memset(w->bin_of_node, 0xff, s->n_nodes * sizeof(*w->bin_of_node));
    for (uint32_t i = 0; i < w->k.n_node_bins; i++) {
        struct bin *b = &w->k.bins.v[i];

        w->bin_of_node[b->node] = i;
        b->settling = is_settling(&w->k.p, &s->nodes[b->node]);
    }
}

/* Turns of every node, ascending because turns are gone through in order. */
static void index_turns(struct whatif *w, const uint64_t *waits, const uint32_t *node_of)
{
    const struct problem *p = &w->k.p;
    const struct snapshot *s = p->snap;
    uint32_t words = BITS_WORDS(p->n_pods), *turns = arena_new_array(w->arena, uint32_t, p->n_pods);

    w->running = arena_new_array(w->arena, uint64_t, words);
    w->pending = arena_new_array(w->arena, uint64_t, words);
    w->at_home = arena_new_array(w->arena, uint64_t, words);
    w->waiting = (struct turn_list){.v = arena_new_array(w->arena, uint32_t, s->n_pending), .cap = s->n_pending};
    w->on_node = arena_new_array(w->arena, struct turn_list, s->n_nodes);
    for (uint32_t t = 0; t < p->n_pods; t++) {
        uint32_t pod = w->k.pod_of[t];

        if (!bit_test(waits, pod)) {
            bit_set(w->running, t);
            w->on_node[node_of[pod]].cap++;
            continue;
        }
        w->waiting.v[w->waiting.n++] = t;
        if (!sym_some(s->pods[pod].node))
            bit_set(w->pending, t);
    }
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        w->on_node[i].v = turns;
        turns += w->on_node[i].cap;
    }
    for (uint32_t t = 0; t < p->n_pods; t++)
        if (bit_test(w->running, t)) {
            struct turn_list *l = &w->on_node[node_of[w->k.pod_of[t]]];

            l->v[l->n++] = t;
        }
}

static void loosen(const struct whatif *w, const struct req_expr *x, uint32_t n, uint64_t *loose)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t key = space_key(&w->k.p.space, x[i].key);

        if (key != KEY_NONE && (x[i].op == OP_NOT_IN || x[i].op == OP_DOES_NOT_EXIST))
            bit_set(loose, key);
    }
}

static bool every_node_has(const struct packer *k, uint32_t key)
{
    for (uint32_t i = 0; i < k->n_node_bins; i++)
        if (rs_get(&k->p.space, k->bins.v[i].rs, key) == REQ_NONE)
            return false;
    return true;
}

/* Labels that some node lacks and some pod excludes values of. quirk: once such a pod is on the node, the node takes pods
 * that want another value, as if it had the label (scheduling 10). Their refusal is not for good. */
static void find_loose_keys(const struct whatif *w, uint64_t *loose)
{
    const struct problem *p = &w->k.p;

    for (uint32_t i = 0; i < p->shapes.n; i++) {
        const struct podspec *spec = p->shapes.v[i].spec;

        for (uint32_t t = 0; t < spec->n_required; t++)
            loosen(w, spec->required[t].exprs, spec->required[t].n, loose);
        for (uint32_t t = 0; t < spec->n_preferred; t++)
            loosen(w, spec->preferred[t].term.exprs, spec->preferred[t].term.n, loose);
    }
    for (uint32_t i = 0; i < p->snap->n_pvs; i++)
        for (uint32_t t = 0; t < p->snap->pvs[i].n_terms; t++)
            loosen(w, p->snap->pvs[i].terms[t].exprs, p->snap->pvs[i].terms[t].n, loose);
    for (BITS_EACH(key, loose, BITS_WORDS(p->space.keys.n)))
        if (every_node_has(&w->k, key))
            bit_clear(loose, key);
}

/* Shapes that ask for such a label. */
static void find_fickle_shapes(struct whatif *w)
{
    struct problem *p = &w->k.p;
    uint64_t *loose = arena_new_array(w->arena, uint64_t, BITS_WORDS(p->space.keys.n));

    find_loose_keys(w, loose);
    for (uint32_t i = 0; i < p->shapes.n; i++) {
        const struct rs *set = &p->space.sets.v[p->variants.v[p->shapes.v[i].variant].full];

        for (uint32_t k = 0; k < set->n; k++)
            p->shapes.v[i].fickle |= bit_test(loose, set->e[k].key);
    }
}

struct whatif *whatif_new_in(struct frame *f, const struct snapshot *s, const uint64_t *movable)
{
    struct whatif *w = xcalloc(1, sizeof(*w));
    uint64_t *waits = xcalloc(BITS_WORDS(s->n_pods) + 1, sizeof(*waits));
    uint32_t *node_of = xmalloc((s->n_pods + 1) * sizeof(*node_of)), n = s->n_pending;

    w->frame = f;
    w->arena = frame_arena(f);
    w->answer = arena_new(0);
    uint32_t *pods = arena_new_array(w->arena, uint32_t, s->n_pods);
    for (uint32_t i = 0; i < s->n_pending; i++) {
        pods[i] = s->pending[i];
        bit_set(waits, s->pending[i]);
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t j = 0; !s->nodes[i].deleting && j < s->nodes[i].n_pods; j++) {
            uint32_t pod = s->nodes[i].pods[j];

            if (!bit_test(movable, pod) || bit_test(waits, pod))
                continue;
            pods[n++] = pod;
            node_of[pod] = i;
        }
    packer_init(&w->k, w->arena, s, f, pods, n);
    w->k.fallback = true;
    topology_prepare_all(&w->k.topo);
    index_bins(w);
    index_turns(w, waits, node_of);
    find_fickle_shapes(w);
    w->k.running = w->running;
    w->movable = movable;
    w->turn_cap = n;
    free(waits);
    free(node_of);
    return w;
}

struct whatif *whatif_new(const struct snapshot *s, const uint64_t *movable)
{
    return whatif_new_in(NULL, s, movable);
}

void whatif_set_compat(struct whatif *w)
{
    w->compat = true;
}

void whatif_avoid_early(struct whatif *w)
{
    for (uint32_t i = 0; i < w->k.n_node_bins; i++)
        w->k.bins.v[i].settling |= !w->k.p.snap->nodes[w->k.bins.v[i].node].initialized;
}

void whatif_free(struct whatif *w)
{
    if (!w)
        return;
    packer_fini(&w->k);
    vec_fini(&w->gone);
    vec_fini(&w->settled);
    vec_fini(&w->marks);
    vec_fini(&w->round);
    vec_fini(&w->free_turns);
    gauges_free(w->gauges);
    vec_fini(&w->news.risen);
    arena_free(w->answer);
    frame_return_arena(w->frame, w->arena);
    free(w);
}

bool whatif_has_pools(const struct whatif *w)
{
    return w->k.p.n_tmpls > 0;
}

/* --- a question ------------------------------------------------------------------------------------------------------- */

static inline bool number_before(const uint32_t *a, const uint32_t *b, const void *ctx)
{
    (void)ctx;
    return *a < *b;
}

static inline bool comes_before(const uint32_t *a, const uint32_t *b, const void *ctx)
{
    return turn_before(ctx, *a, *b);
}

SORT_DEFINE(sort_by_number, uint32_t, number_before)
SORT_DEFINE(sort_by_order, uint32_t, comes_before)

/* Large sets of nodes are a matter of sorting: where no event has mixed up the turns, their numbers say it all. */
static void sort_turns(struct whatif *w)
{
    if (w->k.late)
        sort_by_order(w->round.v, w->round.n, &w->k);
    else
        sort_by_number(w->round.v, w->round.n, NULL);
}

static void take_away(struct whatif *w, uint32_t node)
{
    struct packer *k = &w->k;
    uint32_t bin = w->bin_of_node[node];

    assert(bin != NONE && k->bins.v[bin].n == 0);
    vec_push(&w->gone, node);
    seek_hide(&k->nodes, k->bins.v[bin].slot);
    topology_take_node(&k->topo, node, /* away= */ true);
    limits_return(k, node);
    k->topo.logging = false; /* put back by the opposite, not by the log */
    for (uint32_t i = 0; i < w->on_node[node].n; i++) {
        uint32_t turn = w->on_node[node].v[i];

        topology_move(&k->topo, k->pod_of[turn], k->shape_of[turn], node, -1);
        vec_push(&w->round, turn);
    }
    k->topo.logging = true;
}

static void put_back(struct whatif *w, uint32_t node)
{
    struct packer *k = &w->k;
    uint32_t bin = w->bin_of_node[node];

    k->topo.logging = false;
    for (uint32_t i = 0; i < w->on_node[node].n; i++) {
        uint32_t turn = w->on_node[node].v[i];

        topology_move(&k->topo, k->pod_of[turn], k->shape_of[turn], node, 1);
    }
    topology_take_node(&k->topo, node, /* away= */ false);
    seek_show(&k->nodes, &k->seek, k->bins.v[bin].slot, bin);
}

/* Where the search for a place may begin; the cluster is as it is without the question. */
static void find_room_for_pods(struct whatif *w, uint32_t node)
{
    uint32_t last = NONE;

    for (uint32_t i = 0; i < w->on_node[node].n; i++) {
        uint32_t shape = w->k.shape_of[w->on_node[node].v[i]];

        if (shape != last) /* equal pods follow each other */
            (void)find_room(&w->k, shape);
        last = shape;
    }
}

/* Merges the pods that wait into the round, from the end: both are in order already, and there may be thousands. */
static void add_waiting(struct whatif *w)
{
    uint32_t left = w->round.n, more = 0, at;

    for (uint32_t i = 0; i < w->waiting.n; i++)
        more += !bit_test(w->at_home, w->waiting.v[i]);
    vec_reserve(&w->round, left + more);
    at = w->round.n = left + more;
    for (uint32_t i = w->waiting.n; i-- > 0;) {
        if (bit_test(w->at_home, w->waiting.v[i]))
            continue;
        while (left > 0 && turn_before(&w->k, w->waiting.v[i], w->round.v[left - 1]))
            w->round.v[--at] = w->round.v[--left];
        w->round.v[--at] = w->waiting.v[i];
    }
}

/* As at the start of a plan: the groups of everybody who takes part count from now on. */
static void prepare_round(struct whatif *w)
{
    struct packer *k = &w->k;

    if (!k->topo.any)
        return;
    for (uint32_t i = 0; i < w->round.n; i++) {
        const struct shape *sh = &k->p.shapes.v[k->shape_of[w->round.v[i]]];

        if (sh->bare == NONE)
            topology_prepare(&k->topo, sh->variant);
    }
}

/* A claim whose list of types cannot be cut without breaking minValues is not made (scheduling 12.4). */
static void give_up_claims(struct whatif *w, uint32_t first)
{
    struct packer *k = &w->k;

    for (uint32_t i = first; i < k->bins.n; i++) {
        const struct bin *b = &k->bins.v[i];
        uint32_t *types, n;

        if (bits_count(b->rows, k->p.row_words) <= MAX_TYPES ||
            claim_types(k, claim_rs(k, b), b->rows, w->answer, &types, &n))
            continue;
        for (uint32_t t = b->first; t != NONE; t = k->next[t])
            k->placed[t] = false;
    }
}

static void sum_up(struct whatif *w, const struct undo_mark *m, struct whatif_outcome *ret)
{
    struct packer *k = &w->k;

    give_up_claims(w, m->claims);
    for (uint32_t i = m->claims; i < k->bins.n; i++)
        ret->n_claims += claim_is_made(k, &k->bins.v[i]);
    for (uint32_t i = 0; i < w->round.n; i++)
        ret->n_failed += !k->placed[w->round.v[i]] && !bit_test(w->pending, w->round.v[i]);
    for (uint32_t i = m->bins; i < k->undo.bins.n; i++)
        for (uint32_t t = first_new(k, &k->undo.bins.v[i]); t != NONE; t = k->next[t])
            ret->n_failed += lands_early(w, &k->bins.v[k->undo.bins.v[i].bin], t);
}

void whatif_remove(struct whatif *w, const uint32_t *nodes, uint32_t n, bool settled_only, uint32_t max_claims,
                   struct whatif_outcome *ret)
{
    struct packer *k = &w->k;

    assert(!w->open);
    w->open = true;
    *ret = (struct whatif_outcome){0};
    vec_push(&w->marks, (struct kept){.mark = undo_begin(k), .gone = w->gone.n, .settled = w->settled.n});
    w->round.n = 0;
    for (uint32_t i = 0; i < n && settled_only; i++)
        find_room_for_pods(w, nodes[i]);
    for (uint32_t i = 0; i < n; i++)
        take_away(w, nodes[i]);
    ret->n_pods = w->round.n;
    if (n > 1)
        sort_turns(w);
    add_waiting(w);
    prepare_round(w);
    k->settled_only = settled_only;
    k->stop_at = max_claims == UINT32_MAX ? NONE : k->bins.n + max_claims + 1;
    queue_start(k, w->round.v, w->round.n);
    packer_run(k);
    sum_up(w, &vec_last(&w->marks).mark, ret);
}

void whatif_undo(struct whatif *w)
{
    struct kept m = vec_last(&w->marks);
    bool open = w->open;

    w->marks.n--;
    w->open = false;
    undo_end(&w->k, &m.mark, !open);
    while (w->gone.n > m.gone)
        put_back(w, w->gone.v[--w->gone.n]);
    while (w->settled.n > m.settled)
        bit_clear(w->at_home, w->settled.v[--w->settled.n]);
    w->choices = NULL;
    arena_reset(w->answer);
    for (uint32_t i = 0; !open && i < w->k.p.shapes.n; i++)
        w->k.p.shapes.v[i].room_from = 0; /* there is more room than when it was looked for */
}

static void add_moves(const struct whatif *w, uint32_t turn, uint32_t node, uint32_t claim, move_list *out)
{
    for (; turn != NONE; turn = w->k.next[turn])
        if (bit_test(w->running, turn))
            vec_push(out, (struct plan_move){w->k.pod_of[turn], node, claim});
}

void whatif_moves(const struct whatif *w, move_list *out)
{
    const struct packer *k = &w->k;
    const struct undo_mark *m = &vec_last(&w->marks).mark;
    uint32_t claim = 0;

    assert(w->open);
    for (uint32_t i = m->bins; i < k->undo.bins.n; i++) {
        const struct saved_bin *s = &k->undo.bins.v[i];

        add_moves(w, first_new(k, s), k->bins.v[s->bin].node, NONE, out);
    }
    for (uint32_t i = m->claims; i < k->bins.n; i++)
        if (claim_is_made(k, &k->bins.v[i]))
            add_moves(w, k->bins.v[i].first, NONE, claim++, out);
}

/* Pods of a bin that this question put there are counted by everybody from now on. */
static void settle_bin(struct whatif *w, const struct bin *b, uint32_t first)
{
    struct packer *k = &w->k;

    for (uint32_t t = first; t != NONE; t = k->next[t]) {
        if (k->topo.any)
            topology_settle(&k->topo, k->p.shapes.v[k->shape_of[t]].variant, b->rs, b->host, b->taint_set);
        if (bit_test(w->running, t))
            continue;
        bit_set(w->at_home, t);
        vec_push(&w->settled, t);
    }
}

void whatif_keep(struct whatif *w)
{
    struct packer *k = &w->k;
    const struct undo_mark *m = &vec_last(&w->marks).mark;

    for (uint32_t i = m->bins; i < k->undo.bins.n; i++) {
        const struct saved_bin *s = &k->undo.bins.v[i];

        settle_bin(w, &k->bins.v[s->bin], first_new(k, s));
    }
    for (uint32_t i = m->claims; i < k->bins.n; i++)
        settle_bin(w, &k->bins.v[i], k->bins.v[i].first);
    claims_forget(k);
    w->open = false;
    w->choices = NULL;
    arena_reset(w->answer);
}

typedef VEC(uint32_t) turns;

/* Turns of capacity buffers that have room on nodes now. Any room will do for them, so they are not bound to the nodes that
 * would hold them today. */
static void find_floating(struct whatif *w, turns *out)
{
    const struct packer *k = &w->k;
    struct whatif_outcome ignored;
    bool any = false;

    for (uint32_t i = 0; i < w->waiting.n; i++)
        any |= packer_pod(k, w->waiting.v[i])->of_buffer;
    if (!any)
        return;
    whatif_remove(w, NULL, 0, /* settled_only= */ false, UINT32_MAX, &ignored);
    for (uint32_t i = vec_last(&w->marks).mark.bins; i < k->undo.bins.n; i++)
        for (uint32_t t = first_new(k, &k->undo.bins.v[i]); t != NONE; t = k->next[t])
            if (packer_pod(k, t)->of_buffer)
                vec_push(out, t);
    whatif_undo(w);
}

void whatif_settle(struct whatif *w)
{
    struct whatif_outcome out;
    turns floating = {0};

    if (w->waiting.n == 0)
        return;
    find_floating(w, &floating);
    for (uint32_t i = 0; i < floating.n; i++)
        bit_set(w->at_home, floating.v[i]);
    whatif_remove(w, NULL, 0, /* settled_only= */ false, UINT32_MAX, &out);
    for (uint32_t i = 0; i < w->round.n; i++) {
        uint32_t turn = w->round.v[i];

        if (w->k.placed[turn] || !bit_test(w->pending, turn))
            continue;
        bit_set(w->at_home, turn);
        vec_push(&w->settled, turn);
    }
    whatif_keep(w);
    for (uint32_t i = 0; i < floating.n; i++)
        bit_clear(w->at_home, floating.v[i]);
    vec_fini(&floating);
}

uint32_t whatif_kept(const struct whatif *w)
{
    return w->marks.n;
}

bool whatif_took(const struct whatif *w, uint32_t node)
{
    return w->bin_of_node[node] != NONE && w->k.bins.v[w->bin_of_node[node]].n > 0;
}

/* --- bounds ------------------------------------------------------------------------------------------------------------- */

static bool is_one_of(const struct whatif *w, uint32_t slot, const uint32_t *nodes, uint32_t n)
{
    uint32_t node = w->k.bins.v[w->k.nodes.slots.v[slot]].node;

    for (uint32_t i = 0; i < n; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

/* No node but those that go has room for pods of the shape, as written: there is nothing to relax. */
static bool has_no_room(struct whatif *w, uint32_t shape, const uint32_t *nodes, uint32_t n)
{
    const struct shape *sh = &w->k.p.shapes.v[shape];

    if (sh->bare != NONE || sh->fickle || variant_next(&w->k.p, sh->variant) != NONE)
        return false;
    uint32_t slot = find_room(&w->k, shape);
    while (slot < w->k.nodes.slots.n && is_one_of(w, slot, nodes, n))
        slot = next_room(&w->k, shape, slot + 1);
    return slot == w->k.nodes.slots.n;
}

/* What the rows could give to pods at most, cheapest rows first. */
static void price_rows(struct whatif *w)
{
    struct problem *p = &w->k.p;

    w->by_price = arena_new_array(w->arena, struct priced_row, p->rows.n);
    for (uint32_t r = 0; r < p->rows.n; r++) {
        struct priced_row *x = &w->by_price[w->n_by_price];

        *x = (struct priced_row){.price = INFINITY, .room = {INT64_MIN, INT64_MIN, INT64_MIN}};
        for (uint32_t i = p->row_offering[r]; i < p->row_offering[r + 1]; i++)
            if (p->offerings.v[i].available)
                x->price = MIN(x->price, p->offerings.v[i].price);
        for (uint32_t i = 0; i < p->n_tmpls; i++)
            for (uint32_t g = 0; g < p->tmpls[i].n_groups; g++)
                for (uint32_t d = 0; d < DIM_FIXED && bit_test(p->tmpls[i].groups[g].rows, r); d++)
                    x->room[d] = MAX(x->room[d], sat_sub(p->rows.v[r].alloc[d], p->tmpls[i].groups[g].overhead[d]));
        w->n_by_price += isfinite(x->price) && x->room[0] != INT64_MIN;
    }
    sort_stable(w->by_price, w->n_by_price, sizeof(*w->by_price), cmp_priced_rows, NULL);
}

double whatif_least(struct whatif *w, const uint32_t *nodes, uint32_t n)
{
    struct packer *k = &w->k;
    int64_t sum[DIM_FIXED] = {0};
    uint32_t last = NONE;
    bool none = false;

    assert(!w->open);
    if (!w->by_price)
        price_rows(w);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < w->on_node[nodes[i]].n; t++) {
            uint32_t shape = k->shape_of[w->on_node[nodes[i]].v[t]];

            none = shape == last ? none : has_no_room(w, shape, nodes, n); /* equal pods follow each other */
            last = shape;
            for (uint32_t d = 0; d < DIM_FIXED && none; d++)
                sum[d] = sat_add(sum[d], k->p.shapes.v[shape].requests[d]);
        }
    if (sum[DIM_PODS] == 0)
        return 0;
    for (uint32_t i = 0; i < w->n_by_price; i++)
        if (w->by_price[i].room[0] >= sum[0] && w->by_price[i].room[1] >= sum[1] && w->by_price[i].room[2] >= sum[2])
            return w->by_price[i].price;
    return INFINITY;
}

double whatif_worth(struct whatif *w, uint32_t node)
{
    const struct packer *k = &w->k;
    double sum[DIM_FIXED] = {0}, least = INFINITY;

    if (!w->by_price)
        price_rows(w);
    for (uint32_t t = 0; t < w->on_node[node].n; t++)
        for (uint32_t d = 0; d < DIM_FIXED; d++)
            sum[d] += (double)k->p.shapes.v[k->shape_of[w->on_node[node].v[t]]].requests[d];
    for (uint32_t i = 0; i < w->n_by_price; i++) {
        double share = 0;

        for (uint32_t d = 0; d < DIM_FIXED; d++)
            share = MAX(share, w->by_price[i].room[d] > 0 ? sum[d] / (double)w->by_price[i].room[d]
                               : sum[d] > 0               ? INFINITY
                                                          : 0);
        least = MIN(least, share * w->by_price[i].price);
    }
    return least;
}
