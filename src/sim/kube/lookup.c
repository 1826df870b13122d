#include "sim/kube/lookup.h"

#include <stdlib.h>

#include "base/arena.h"

static uint32_t home(const struct lookup *l, uint64_t hash)
{
    return (uint32_t)hash & (l->cap - 1);
}

void *lookup_get(const struct lookup *l, uint64_t hash, const void *key)
{
    if (l->n == 0)
        return NULL;
    for (uint32_t i = home(l, hash); l->slots[i].thing; i = (i + 1) & (l->cap - 1))
        if (l->slots[i].hash == hash && l->has(l->slots[i].thing, key))
            return l->slots[i].thing;
    return NULL;
}

static void place(struct lookup *l, uint64_t hash, void *thing)
{
    uint32_t i = home(l, hash);

    while (l->slots[i].thing)
        i = (i + 1) & (l->cap - 1);
    l->slots[i] = (struct lookup_slot){hash, thing};
}

void lookup_add(struct lookup *l, uint64_t hash, void *thing)
{
    if ((l->n + 1) * 4 > l->cap * 3) {
        struct lookup old = *l;

        l->cap = old.cap ? old.cap * 2 : 64;
        l->slots = xcalloc(l->cap, sizeof(*l->slots));
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slots[i].thing)
                place(l, old.slots[i].hash, old.slots[i].thing);
        free(old.slots);
    }
    place(l, hash, thing);
    l->n++;
}

/* Those behind the gap that could not have it as their place move up. */
void lookup_remove(struct lookup *l, uint64_t hash, const void *thing)
{
    if (l->n == 0)
        return;
    uint32_t mask = l->cap - 1, gap = home(l, hash);
    while (l->slots[gap].thing != thing) {
        if (!l->slots[gap].thing)
            return;
        gap = (gap + 1) & mask;
    }
    for (uint32_t i = (gap + 1) & mask; l->slots[i].thing; i = (i + 1) & mask) {
        uint32_t from_home = (i - home(l, l->slots[i].hash)) & mask, from_gap = (i - gap) & mask;

        if (from_home >= from_gap) {
            l->slots[gap] = l->slots[i];
            gap = i;
        }
    }
    l->slots[gap] = (struct lookup_slot){0};
    l->n--;
}

void lookup_fini(struct lookup *l)
{
    free(l->slots);
    l->slots = NULL;
    l->n = l->cap = 0;
}
