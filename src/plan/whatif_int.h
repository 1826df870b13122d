/* whatif_int - what the files of whatif.h share. */
#pragma once

#include "plan/pack.h"
#include "plan/whatif.h"

/* What the rules on prices have left to a claim. */
struct choice {
    const struct bin *bin;
    uint32_t rs, *types, n_types;
};

struct kept {
    struct undo_mark mark;
    uint32_t gone, settled; /* where these lists were */
};

struct priced_row {
    double price;
    int64_t room[DIM_FIXED];
};

struct whatif {
    struct arena *arena;
    struct packer k;
    uint32_t *bin_of_node;        /* [n_nodes]; NONE: not a place for pods */
    uint32_t *first_turn, *turns; /* movable pods of node i: turns[first_turn[i]] … turns[first_turn[i + 1]] */
    uint32_t *waiting, n_waiting; /* turns of pods that wait anyway, ascending */
    uint64_t *running;            /* bit set over turns: neither pending nor on a deleting node */
    uint64_t *pending;            /* bit set over turns: has no node yet */
    uint64_t *at_home;            /* bit set over turns: waited, and does so no more */
    VEC(uint32_t) gone;           /* nodes that were taken away */
    VEC(uint32_t) settled;        /* turns in at_home */
    VEC(struct kept) marks;       /* of questions that were kept, and of the open one */
    VEC(uint32_t) round;
    bool open;
    bool compat;                 /* with Karpenter's quirks */
    struct priced_row *by_price; /* instance types, cheapest first; NULL: not asked for yet */
    uint32_t n_by_price;
    struct choice *choices; /* one for each claim of the open question; NULL: nobody asked for prices yet */
    uint32_t n_choices;
    struct arena *answer; /* dies with the question */
};

static inline bool claim_is_made(const struct packer *k, const struct bin *b)
{
    return k->placed[b->first];
}
