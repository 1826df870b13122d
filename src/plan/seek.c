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

/* The summary starts anew; what is remembered of failed searches stays true. */
static void block_reset(struct seek_block *k)
{
    for (int d = 0; d < SEEK_DIMS; d++)
        k->room[d] = INT64_MIN;
    k->zones = k->cts = k->tmpls = 0;
}

static void block_widen(struct seek_block *k, const int64_t *room, uint64_t zones, uint64_t cts, uint64_t tmpls)
{
    for (int d = 0; d < SEEK_DIMS; d++)
        k->room[d] = MAX(k->room[d], room[d]);
    k->zones |= zones;
    k->cts |= cts;
    k->tmpls |= tmpls;
}

static void block_admit(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block,
                        const struct seek_bin *b)
{
    struct seek_block *k = &x->blocks[level].v[block];
    uint64_t *refused = block_refused(x, bins, level, block);

    block_widen(k, b->room, b->zones, b->cts, b->tmpls);
    k->n_fails = 0;
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

void seek_clear(struct seek_index *x)
{
    x->live = x->slots.n = 0;
    for (int level = 0; level < 2; level++) {
        x->blocks[level].n = 0;
        x->refused[level].n = 0;
    }
}

void seek_hide(struct seek_index *x, uint32_t slot)
{
    assert(x->slots.v[slot] != NONE);
    x->slots.v[slot] = NONE;
    x->live--;
    x->blocks[0].v[slot / SEEK_FANOUT].live--;
    x->blocks[1].v[slot / SEEK_FANOUT / SEEK_FANOUT].live--;
}

void seek_show(struct seek_index *x, const struct seek_bins *bins, uint32_t slot, uint32_t bin)
{
    assert(x->slots.v[slot] == NONE);
    x->slots.v[slot] = bin;
    x->live++;
    x->blocks[0].v[slot / SEEK_FANOUT].live++;
    x->blocks[1].v[slot / SEEK_FANOUT / SEEK_FANOUT].live++;
    seek_touch(x, bins, slot);
}

void seek_remove(struct seek_index *x, uint32_t slot)
{
    seek_hide(x, slot);
    if (x->live == 0)
        seek_clear(x);
}

static bool has_room(const int64_t *room, const int64_t *need)
{
    return (room[0] >= need[0]) & (room[1] >= need[1]) & (room[2] >= need[2]);
}

/* As much was looked for before, in vain: by pods of any class, or by those of the class alone. */
static bool failed_before(const struct seek_block *k, const struct seek *w, uint32_t cls)
{
    for (uint32_t i = 0; i < k->n_fails; i++) {
        const struct seek_fail *f = &k->fails[i];

        if (f->cls == cls && has_room(w->need, f->need) && !(w->zones & ~f->zones) && !(w->cts & ~f->cts))
            return true;
    }
    return false;
}

static void remember_failure(struct seek_block *k, const struct seek *w, bool roomy)
{
    uint32_t i = 0, cls = roomy ? w->cls : NONE;

    if (roomy && w->cls == NONE)
        return;
    while (i < k->n_fails && !(has_room(k->fails[i].need, w->need) && (cls == NONE || k->fails[i].cls == cls) &&
                               !(k->fails[i].zones & ~w->zones) && !(k->fails[i].cts & ~w->cts)))
        i++; /* one that says less than the new one gives way to it */
    if (i == SEEK_FAILS) {
        i = k->next_fail;
        k->next_fail = (uint16_t)((i + 1) % SEEK_FAILS);
    } else if (i == k->n_fails) {
        k->n_fails++;
    }
    k->fails[i] = (struct seek_fail){{w->need[0], w->need[1], w->need[2]}, w->zones, w->cts, cls};
}

static bool block_has_room(const struct seek_block *k, const struct seek *w)
{
    return k->live && has_room(k->room, w->need) && (k->zones & w->zones) && (k->cts & w->cts) &&
           !failed_before(k, w, NONE);
}

static bool block_may(struct seek_index *x, const struct seek_bins *bins, int level, uint32_t block,
                      const struct seek *w)
{
    const struct seek_block *k = &x->blocks[level].v[block];

    if (bins->exhaustive)
        return k->live;
    return block_has_room(k, w) && (k->tmpls & w->tmpls) &&
           (w->cls == NONE ||
            (!bit_test(block_refused(x, bins, level, block), w->cls) && !failed_before(k, w, w->cls)));
}

static bool bin_has_room(const struct seek_bin *b, const struct seek *w)
{
    return has_room(b->room, w->need) && (b->zones & w->zones) && (b->cts & w->cts);
}

static void superblock_learn(struct seek_index *x, const struct seek_bins *bins, uint32_t super, const struct seek *w)
{
    struct seek_block k = x->blocks[1].v[super];
    uint32_t from = super * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, x->blocks[0].n);
    bool all_refuse = w->cls != NONE;

    block_reset(&k);
    for (uint32_t i = from; i < to; i++) {
        const struct seek_block *b = &x->blocks[0].v[i];

        if (!b->live)
            continue;
        block_widen(&k, b->room, b->zones, b->cts, b->tmpls);
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

static bool refuses(const struct seek_bin *b, uint32_t cls)
{
    return b->refused && cls != NONE && bit_test(b->refused, cls);
}

/* *roomy: some bin has the room and is no good for another reason. A block that was searched from end to end in vain
 * knows exactly what it has to offer. */
static uint32_t first_in_block(struct seek_index *x, const struct seek_bins *bins, const struct seek *w, uint32_t block,
                               int64_t after, bool *roomy)
{
    int64_t from = (int64_t)block * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, (int64_t)x->slots.n);
    struct seek_block k = {0};
    bool here = false, all_refuse = w->cls != NONE;

    block_reset(&k);
    for (struct walk i = walk_over(x, from, to, after); i.at != i.end && (i.at < i.end) == (i.step > 0);
         i.at += i.step) {
        if (x->slots.v[i.at] == NONE)
            continue;
        const struct seek_bin *b = &bins->v.v[x->slots.v[i.at]];
        bool no = refuses(b, w->cls);

        if (bins->exhaustive)
            return (uint32_t)i.at;
        block_widen(&k, b->room, b->zones, b->cts, b->tmpls);
        all_refuse = all_refuse && no;
        if (!bin_has_room(b, w))
            continue;
        if (!no && (b->tmpls & w->tmpls))
            return (uint32_t)i.at;
        here = true;
    }
    if (after < 0) {
        struct seek_block *own = &x->blocks[0].v[block];

        block_reset(own);
        block_widen(own, k.room, k.zones, k.cts, k.tmpls);
        remember_failure(own, w, here);
        if (all_refuse)
            bit_set(block_refused(x, bins, 0, block), w->cls);
    }
    *roomy |= here;
    return NONE;
}

static uint32_t first_in_super(struct seek_index *x, const struct seek_bins *bins, const struct seek *w, uint32_t super,
                               int64_t after)
{
    int64_t from = (int64_t)super * SEEK_FANOUT, to = MIN(from + SEEK_FANOUT, (int64_t)x->blocks[0].n);
    /* The block of `after` itself is looked into again. */
    int64_t skip = after < 0 ? -1 : after / SEEK_FANOUT - (x->backwards ? -1 : 1);
    bool roomy = false;

    for (struct walk i = walk_over(x, from, to, skip); i.at != i.end && (i.at < i.end) == (i.step > 0);
         i.at += i.step) {
        bool same = after >= 0 && i.at == after / SEEK_FANOUT;

        if (!block_may(x, bins, 0, (uint32_t)i.at, w)) {
            roomy = roomy || block_has_room(&x->blocks[0].v[i.at], w);
            continue;
        }
        uint32_t slot = first_in_block(x, bins, w, (uint32_t)i.at, same ? after : -1, &roomy);
        if (slot != NONE)
            return slot;
    }
    if (after < 0) {
        superblock_learn(x, bins, super, w);
        remember_failure(&x->blocks[1].v[super], w, roomy);
    }
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
