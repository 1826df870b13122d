/* seek - finds the first bin, in order, that might take a pod, without looking at all of them. Internal to plan/.
 *
 * An index is a row of slots, each a bin or empty. Slots are only ever added at the end and emptied, so the order
 * never changes under a search. Blocks of slots, and blocks of blocks, carry a summary: an upper bound of the room
 * that is left in any of them, the zones and capacity types one of them allows, the templates they come from, and for
 * every seek class whether all of them have turned it away for good. A search skips blocks on their summary, and what it learns by looking
 * into one in vain makes the summary sharper. Summaries may be too hopeful, never too strict. The largest room of one
 * bin in cpu and of another in memory make a block look roomy that is not: a few searches that found no room are
 * remembered as they were, and whoever asks for as much again passes by.
 *
 * A seek class is everything about a pod that decides where it may go, but the amounts of cpu, memory and pods it
 * asks for: pods of one class that differ in size share what was learnt.
 */
#pragma once

#include "base/vec.h"
#include "plan/problem.h"

#define SEEK_FANOUT 32
#define SEEK_DIMS DIM_FIXED /* cpu, memory, pods */

struct seek {                   /* what is looked for */
    const int64_t *need;        /* [SEEK_DIMS] */
    uint32_t cls;               /* NONE: nothing is known about its class */
    uint64_t zones, cts, tmpls; /* at least one of each must be allowed */
};

/* What an index knows of a bin; the bin's own copy is up to date. */
struct seek_bin {
    int64_t room[SEEK_DIMS];
    uint64_t zones, cts;
    uint64_t tmpls;    /* one bit for the template of a claim, shared with every 64th other; all for a node */
    uint64_t *refused; /* bit set over classes; NULL: none */
};

#define SEEK_FAILS 4

/* No bin has this room in one of these zones with one of these capacity types, but bins that refuse the class. */
struct seek_fail {
    int64_t need[SEEK_DIMS];
    uint64_t zones, cts;
    uint32_t cls; /* NONE: there is no bin at all */
};

struct seek_block {
    int64_t room[SEEK_DIMS];
    uint64_t zones, cts, tmpls;
    uint32_t live;
    uint16_t n_fails, next_fail;
    struct seek_fail fails[SEEK_FAILS];
};

struct seek_index {
    VEC(uint32_t) slots; /* bin numbers; NONE: empty */
    VEC(struct seek_block) blocks[2];
    VEC(uint64_t) refused[2]; /* class_words words a block */
    uint32_t live;
    bool backwards; /* the last slot comes first */
};

/* Bins by number; shared by all indexes of a plan. */
struct seek_bins {
    VEC(struct seek_bin) v;
    uint32_t class_words;
    bool exhaustive; /* look at every bin: slow, for checking that skipping never changes a plan */
};

void seek_fini(struct seek_index *x);
uint32_t seek_add(struct seek_index *x, const struct seek_bins *bins, uint32_t bin); /* answers the slot */
void seek_remove(struct seek_index *x, uint32_t slot);
void seek_clear(struct seek_index *x);
/* Takes the bin out of its slot for a while, and puts it back. */
void seek_hide(struct seek_index *x, uint32_t slot);
void seek_show(struct seek_index *x, const struct seek_bins *bins, uint32_t slot, uint32_t bin);
/* The bin in this slot has become less picky than the index may have been told. */
void seek_touch(struct seek_index *x, const struct seek_bins *bins, uint32_t slot);
/* The first slot that might do, starting after `after` (NONE: from the start); NONE when there is none. */
uint32_t seek_first(struct seek_index *x, const struct seek_bins *bins, const struct seek *what, uint32_t after);
/* When most slots are empty: moves the bins together. `moved` hears of every new slot. */
typedef void (*seek_moved_fn)(void *ctx, uint32_t bin, uint32_t slot);
void seek_compact(struct seek_index *x, const struct seek_bins *bins, seek_moved_fn moved, void *ctx);
