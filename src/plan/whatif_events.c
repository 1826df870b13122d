/* Events: one pod less or more, on what is compiled already. Whatever was learnt and is no longer true is forgotten. */
#include "plan/whatif_int.h"

/* --- lists of turns --------------------------------------------------------------------------------------------------- */

static void list_insert(struct whatif *w, struct turn_list *l, uint32_t turn)
{
    uint32_t at = l->n;

    if (l->n == l->cap) {
        uint32_t cap = l->n + l->n / 2 + 4, *more = arena_new_array(w->arena, uint32_t, cap);

        if (l->n)
            memcpy(more, l->v, l->n * sizeof(*more));
        l->v = more;
        l->cap = cap;
    }
    for (; at > 0 && turn_before(&w->k, turn, l->v[at - 1]); at--)
        l->v[at] = l->v[at - 1];
    l->v[at] = turn;
    l->n++;
}

/* Takes the turn of the pod off the list; NONE: it has none there. */
static uint32_t list_take(struct whatif *w, struct turn_list *l, uint32_t pod)
{
    uint32_t at = 0;

    while (at < l->n && w->k.pod_of[l->v[at]] != pod)
        at++;
    if (at == l->n)
        return NONE;
    uint32_t turn = l->v[at];
    l->n--;
    memmove(l->v + at, l->v + at + 1, (l->n - at) * sizeof(*l->v));
    return turn;
}

/* --- turns ------------------------------------------------------------------------------------------------------------ */

static uint64_t *more_bits(struct whatif *w, const uint64_t *v, uint32_t n, uint32_t cap)
{
    uint64_t *more = arena_new_array(w->arena, uint64_t, BITS_WORDS(cap));

    if (v)
        bits_copy(more, v, BITS_WORDS(n));
    return more;
}

static uint32_t *more_numbers(struct whatif *w, const uint32_t *v, uint32_t n, uint32_t cap)
{
    uint32_t *more = arena_new_array(w->arena, uint32_t, cap);

    if (n)
        memcpy(more, v, n * sizeof(*more));
    return more;
}

/* By half as many each time: what is left behind in the arena is never much more than what is in use. */
static void grow_turns(struct whatif *w)
{
    struct packer *k = &w->k;
    uint32_t n = k->p.n_pods, cap = n + n / 2 + 16;

    k->pod_of = more_numbers(w, k->pod_of, n, cap);
    k->shape_of = more_numbers(w, k->shape_of, n, cap);
    k->next = more_numbers(w, k->next, n, cap);
    k->queue = more_numbers(w, NULL, 0, cap); /* of a question: empty now */
    k->last_len = more_numbers(w, NULL, 0, cap);
    k->placed = arena_new_array(w->arena, bool, cap);
    k->late = k->late ? more_bits(w, k->late, n, cap) : NULL;
    w->running = more_bits(w, w->running, n, cap);
    w->pending = more_bits(w, w->pending, n, cap);
    w->at_home = more_bits(w, w->at_home, n, cap);
    k->running = w->running;
    w->turn_cap = cap;
}

static uint32_t give_turn(struct whatif *w, uint32_t pod, uint32_t shape)
{
    struct packer *k = &w->k;
    uint32_t turn;

    if (w->free_turns.n) {
        turn = w->free_turns.v[--w->free_turns.n];
    } else {
        if (k->p.n_pods == w->turn_cap)
            grow_turns(w);
        turn = k->p.n_pods++;
    }
    if (!k->late)
        k->late = more_bits(w, NULL, 0, w->turn_cap);
    bit_set(k->late, turn);
    k->pod_of[turn] = pod;
    k->shape_of[turn] = shape;
    k->next[turn] = NONE;
    return turn;
}

static void return_turn(struct whatif *w, uint32_t turn)
{
    bit_clear(w->running, turn);
    bit_clear(w->pending, turn);
    bit_clear(w->at_home, turn);
    vec_push(&w->free_turns, turn);
}

/* --- nodes ------------------------------------------------------------------------------------------------------------ */

/* The node has the room that its pods leave. `roomier`: more of it, or fewer reasons to refuse somebody. */
static void node_changed(struct whatif *w, uint32_t bin, bool roomier, bool refuses_less)
{
    struct packer *k = &w->k;
    struct bin *b = &k->bins.v[bin];
    struct seek_bin *s = &k->seek.v.v[bin];

    gauges_count(w, bin, -1);
    node_measure(k, b);
    node_room(k, bin);
    gauges_count(w, bin, 1);
    k->node_changes++;
    k->epoch++;
    if (!roomier)
        return;
    if (refuses_less && s->refused)
        bits_zero(s->refused, k->seek.class_words);
    seek_touch(&k->nodes, &k->seek, b->slot);
    for (uint32_t i = 0; i < k->p.shapes.n; i++)
        k->p.shapes.v[i].room_from = MIN(k->p.shapes.v[i].room_from, b->slot);
}

/* --- events ----------------------------------------------------------------------------------------------------------- */

static bool stops_waiting(struct whatif *w, uint32_t pod)
{
    uint32_t turn = list_take(w, &w->waiting, pod);

    if (turn == NONE || !topology_wait(&w->k.topo, pod, w->k.shape_of[turn], -1))
        return false;
    w->news.waiting = true;
    return_turn(w, turn);
    return true;
}

static void tell_groups(struct whatif *w)
{
    for (uint32_t i = 0; i < w->k.topo.touched.n; i++)
        parts_add_group(&w->news.parts, w->k.topo.touched.v[i]);
}

bool whatif_pod_left(struct whatif *w, uint32_t pod, uint32_t node)
{
    struct packer *k = &w->k;

    assert(!w->open && w->marks.n == 0);
    if (node == NONE)
        return stops_waiting(w, pod);
    uint32_t bin = w->bin_of_node[node], turn = list_take(w, &w->on_node[node], pod);
    if (bin == NONE || !topology_count_pod(&k->topo, pod, turn == NONE ? NONE : k->shape_of[turn], node, -1))
        return false;
    if (turn != NONE)
        return_turn(w, turn);
    tell_groups(w);
    node_changed(w, bin, /* roomier= */ true, k->topo.touched.n || k->p.snap->pods[pod].spec->n_ports);
    return true;
}

bool whatif_pod_came(struct whatif *w, uint32_t pod, uint32_t node)
{
    struct packer *k = &w->k;
    const struct pod *p = &k->p.snap->pods[pod];
    bool moves = node == NONE || bit_test(w->movable, pod);
    uint32_t shape = moves ? shape_find(&k->p, p) : NONE;

    assert(!w->open && w->marks.n == 0);
    if (moves && shape == NONE)
        return false;
    if (node == NONE) {
        if (!topology_wait(&k->topo, pod, shape, 1))
            return false;
        uint32_t turn = give_turn(w, pod, shape);

        bit_set(w->pending, turn);
        list_insert(w, &w->waiting, turn);
        w->news.waiting = true;
        return true;
    }
    uint32_t bin = w->bin_of_node[node];
    if (bin == NONE || !topology_count_pod(&k->topo, pod, shape, node, 1))
        return false;
    if (moves) {
        uint32_t turn = give_turn(w, pod, shape);

        bit_set(w->running, turn);
        list_insert(w, &w->on_node[node], turn);
    }
    tell_groups(w);
    node_changed(w, bin, /* roomier= */ false, false);
    return true;
}

const struct whatif_news *whatif_news(const struct whatif *w)
{
    return &w->news;
}
