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

struct turn_list {
    uint32_t *v, n, cap;
};

struct whatif {
    struct frame *frame; /* NULL: none */
    struct arena *arena;
    struct packer k;
    uint32_t *bin_of_node;     /* [n_nodes]; NONE: not a place for pods */
    struct turn_list *on_node; /* [n_nodes]: turns of its movable pods, in order */
    struct turn_list waiting;  /* turns of pods that wait anyway */
    uint64_t *running;         /* bit set over turns: neither pending nor on a deleting node */
    uint64_t *pending;         /* bit set over turns: has no node yet */
    uint64_t *at_home;         /* bit set over turns: waited, and does so no more */
    VEC(uint32_t) gone;        /* nodes that were taken away */
    VEC(uint32_t) settled;     /* turns in at_home */
    VEC(struct kept) marks;    /* of questions that were kept, and of the open one */
    VEC(uint32_t) round;
    bool open;
    bool compat;                 /* with Karpenter's quirks */
    struct priced_row *by_price; /* instance types, cheapest first; NULL: not asked for yet */
    uint32_t n_by_price;
    struct choice *choices; /* one for each claim of the open question; NULL: nobody asked for prices yet */
    uint32_t n_choices;
    struct arena *answer; /* dies with the question */
    /* Events. */
    const uint64_t *movable;
    VEC(uint32_t) free_turns; /* of pods that have gone */
    uint32_t turn_cap;        /* room in everything that is kept by turn */
    struct whatif_news news;  /* since somebody was told */
    struct gauges *gauges;    /* NULL: nobody asked for proofs yet */
};

/* whatif_gauge.c */
void gauges_count(struct whatif *w, uint32_t bin,
                  int sign); /* the room of the node no more (-1), or as it is now (1) */
void gauges_free(struct gauges *g);

static inline void parts_add_group(struct whatif_parts *x, uint32_t group)
{
    bit_set(x->groups, group % (64 * (uint32_t)ARRAY_LEN(x->groups)));
}

static inline bool claim_is_made(const struct packer *k, const struct bin *b)
{
    return k->placed[b->first];
}

/* Whether a pod that runs now ended up on a node that is not initialized: Karpenter does not rely on such nodes. */
static inline bool lands_early(const struct whatif *w, const struct bin *b, uint32_t turn)
{
    return !w->k.p.snap->nodes[b->node].initialized && bit_test(w->running, turn);
}

/* The first of the pods that the open question has put on the node. */
static inline uint32_t first_new(const struct packer *k, const struct saved_bin *s)
{
    return s->n ? k->next[s->last] : k->bins.v[s->bin].first;
}
