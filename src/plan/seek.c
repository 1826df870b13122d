#include "plan/seek.h"

void seek_fini(struct seek_index *x)
{
    vec_fini(&x->slots);
    for (int level = 0; level < 2; level++) {
        vec_fini(&x->blocks[level]);
        vec_fini(&x->refused[level]);
    }
}

static uint64_t *block_refused(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block)
{
    return x->refused[level].v + (size_t)block * bins->class_words;
}

static void block_admit(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block,
                        const struct seek_bin *b)
{
    struct seek_block *k = &x->blocks[level].v[block];
    uint64_t *refused = block_refused(x, bins, level, block);

    for (int d = 0; d < SEEK_DIMS; d++)
        k->room[d] = MAX(k->room[d], b->room[d]);
    k->zones |= b->zones;
    k->cts |= b->cts;
    k->tmpls |= b->tmpls;
    for (uint32_t i = 0; i < bins->class_words; i++)
        refused[i] &= b->refused ? b->refused[i] : 0;
}

static void block_include(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block,
                          const struct seek_bin *b)
{
    if (block == x->blocks[level].n) {
        (void)vec_add(&x->blocks[level]);
        for (uint32_t i = 0; i < bins->class_words; i++)
            vec_push(&x->refused[level], 0);
    }
    struct seek_block *k = &x->blocks[level].v[block];

    if (k->live++ == 0) { /* of no bins every class is refused */
        *k = (struct seek_block){.room = {INT64_MIN, INT64_MIN, INT64_MIN}, .live = 1};
        memset(block_refused(x, bins, level, block), 0xff, bins->class_words * sizeof(uint64_t));
    }
    block_admit(x, bins, level, block, b);
}

void seek_touch(struct seek_index *x, const struct seek_bins *bins, uint32_t slot)
{
    const struct seek_bin *b = &bins->v.v[x->slots.v[slot]];

    block_admit(x, bins, 0, slot / SEEK_FANOUT, b);
    block_admit(x, bins, 1, slot / SEEK_FANOUT / SEEK_FANOUT, b);
}

uint32_t seek_add(struct seek_index *x, const struct seek_bins *bins, uint32_t bin)
{
    uint32_t slot = x->slots.n;

    vec_push(&x->slots, bin);
    x->live++;
    block_include(x, bins, 0, slot / SEEK_FANOUT, &bins->v.v[bin]);
    block_include(x, bins, 1, slot / SEEK_FANOUT / SEEK_FANOUT, &bins->v.v[bin]);
    return slot;
}

void seek_remove(struct seek_index *x, uint32_t slot)
{
    assert(x->slots.v[slot] != NONE);
    x->slots.v[slot] = NONE;
    x->live--;
    x->blocks[0].v[slot / SEEK_FANOUT].live--;
    x->blocks[1].v[slot / SEEK_FANOUT / SEEK_FANOUT].live--;
    if (x->live == 0) {
        x->slots.n = 0;
        for (int level = 0; level < 2; level++) {
            x->blocks[level].n = 0;
            x->refused[level].n = 0;
        }
    }
}

static bool has_room(const int64_t *room, const int64_t *need)
{
    return (room[0] >= need[0]) & (room[1] >= need[1]) & (room[2] >= need[2]);
}

static bool block_may(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block,
                      const struct seek *w)
{
    const struct seek_block *k = &x->blocks[level].v[block];

    if (bins->exhaustive)
        return k->live;
    return k->live && has_room(k->room, w->need) && (k->zones & w->zones) && (k->cts & w->cts) &&
           (k->tmpls & w->tmpls) && (w->cls == NONE || !bit_test(block_refused(x, bins, level, block), w->cls));
}

static bool bin_may(const struct seek_bins *bins, uint32_t bin, const struct seek *w)
{
    const struct seek_bin *b = &bins->v.v[bin];

    if (bins->exhaustive)
        return true;
    return has_room(b->room, w->need) && (b->zones & w->zones) && (b->cts & w->cts) && (b->tmpls & w->tmpls) &&
           (w->cls == NONE || !b->refused || !bit_test(b->refused, w->cls));
}

/* A whole block was searched in vain: what it says of itself is made exact. */
static void block_learn(struct seek_index *x, const struct seek_bins *bins, uint32_t block, const struct seek *w)
{
    struct seek_block k = {.live = x->blocks[0].v[block].live, .room = {INT64_MIN, INT64_MIN, INT64_MIN}};
    uint32_t from = block * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, x->slots.n);
    bool all_refuse = w->cls != NONE;

    for (uint32_t i = from; i < to; i++) {
        if (x->slots.v[i] == NONE)
            continue;
        const struct seek_bin *b = &bins->v.v[x->slots.v[i]];

        for (int d = 0; d < SEEK_DIMS; d++)
            k.room[d] = MAX(k.room[d], b->room[d]);
        k.zones |= b->zones;
        k.cts |= b->cts;
        k.tmpls |= b->tmpls;
        all_refuse = all_refuse && b->refused && bit_test(b->refused, w->cls);
    }
    x->blocks[0].v[block] = k;
    if (all_refuse)
        bit_set(block_refused(x, bins, 0, block), w->cls);
}

static void superblock_learn(struct seek_index *x, const struct seek_bins *bins, uint32_t super, const struct seek *w)
{
    struct seek_block k = {.live = x->blocks[1].v[super].live, .room = {INT64_MIN, INT64_MIN, INT64_MIN}};
    uint32_t from = super * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, x->blocks[0].n);
    bool all_refuse = w->cls != NONE;

    for (uint32_t i = from; i < to; i++) {
        const struct seek_block *b = &x->blocks[0].v[i];

        if (!b->live)
            continue;
        for (int d = 0; d < SEEK_DIMS; d++)
            k.room[d] = MAX(k.room[d], b->room[d]);
        k.zones |= b->zones;
        k.cts |= b->cts;
        k.tmpls |= b->tmpls;
        all_refuse = all_refuse && bit_test(block_refused(x, bins, 0, i), w->cls);
    }
    x->blocks[1].v[super] = k;
    if (all_refuse)
        bit_set(block_refused(x, bins, 1, super), w->cls);
}

/* Slots or blocks in the order of the index: from `at` up to, and without, `end`. */
struct walk {
    int64_t at, end, step;
};

static struct walk walk_over(const struct seek_index *x, int64_t from, int64_t to, int64_t after)
{
    if (x->backwards)
        return (struct walk){after >= 0 ? MIN(after, to) - 1 : to - 1, from - 1, -1};
    return (struct walk){MAX(after + 1, from), to, 1};
}

static uint32_t first_in_block(struct seek_index *x, const struct seek_bins *bins, const struct seek *w, uint32_t block,
                               int64_t after)
{
    int64_t from = (int64_t)block * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, (int64_t)x->slots.n);

    for (struct walk i = walk_over(x, from, to, after); i.at != i.end && (i.at < i.end) == (i.step > 0); i.at += i.step)
        if (x->slots.v[i.at] != NONE && bin_may(bins, x->slots.v[i.at], w))
            return (uint32_t)i.at;
    if (after < 0)
        block_learn(x, bins, block, w);
    return NONE;
}

static uint32_t first_in_super(struct seek_index *x, const struct seek_bins *bins, const struct seek *w, uint32_t super,
                               int64_t after)
{
    int64_t from = (int64_t)super * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, (int64_t)x->blocks[0].n);
    /* The block of `after` itself is looked into again. */
    int64_t skip = after < 0 ? -1 : after / SEEK_FANOUT - (x->backwards ? -1 : 1);

    for (struct walk i = walk_over(x, from, to, skip); i.at != i.end && (i.at < i.end) == (i.step > 0);
         i.at += i.step) {
        bool same = after >= 0 && i.at == after / SEEK_FANOUT;

        if (!block_may(x, bins, 0, (uint32_t)i.at, w))
            continue;
        uint32_t slot = first_in_block(x, bins, w, (uint32_t)i.at, same ? after : -1);
        if (slot != NONE)
            return slot;
    }
    if (after < 0)
        superblock_learn(x, bins, super, w);
    return NONE;
}

uint32_t seek_first(struct seek_index *x, const struct seek_bins *bins, const struct seek *w, uint32_t after_slot)
{
    const int64_t per = (int64_t)SEEK_FANOUT * SEEK_FANOUT;
    int64_t after = after_slot == NONE ? -1 : (int64_t)after_slot;
    int64_t skip = after < 0 ? -1 : after / per - (x->backwards ? -1 : 1);

    for (struct walk i = walk_over(x, 0, (int64_t)x->blocks[1].n, skip);
         i.at != i.end && (i.at < i.end) == (i.step > 0); i.at += i.step) {
        bool same = after >= 0 && i.at == after / per;

        if (!block_may(x, bins, 1, (uint32_t)i.at, w))
            continue;
        uint32_t slot = first_in_super(x, bins, w, (uint32_t)i.at, same ? after : -1);
        if (slot != NONE)
            return slot;
    }
    return NONE;
}

void seek_compact(struct seek_index *x, const struct seek_bins *bins, seek_moved_fn moved, void *ctx)
{
    struct seek_index old = *x;

    if (x->slots.n < 4 * SEEK_FANOUT || x->slots.n < 2 * x->live)
        return;
    *x = (struct seek_index){.backwards = old.backwards};
    for (uint32_t i = 0; i < old.slots.n; i++)
        if (old.slots.v[i] != NONE)
            moved(ctx, old.slots.v[i], seek_add(x, bins, old.slots.v[i]));
    seek_fini(&old);
}
