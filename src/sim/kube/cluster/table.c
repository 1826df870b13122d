/* Open addressing; removal moves later members of a run forward, so there are no tombstones to clean up. */
#include "sim/kube/cluster/table.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"

static uint32_t home(const struct table *t, str key)
{
    return (uint32_t)hash_bytes(key.p, key.n, 0) & (t->cap - 1);
}

static uint32_t slot_of(const struct table *t, str key)
{
    uint32_t i = home(t, key);

    while (t->slots[i] && !str_eq(t->slots[i]->key, key))
        i = (i + 1) & (t->cap - 1);
    return i;
}

void *table_get(const struct table *t, str key)
{
    return t->n == 0 ? NULL : t->slots[slot_of(t, key)];
}

static void grow(struct table *t)
{
    struct table bigger = {.cap = t->cap ? t->cap * 2 : 16, .n = t->n};

    bigger.slots = xcalloc(bigger.cap, sizeof(struct keyed *));
    for (uint32_t i = 0; i < t->cap; i++)
        if (t->slots[i])
            bigger.slots[slot_of(&bigger, t->slots[i]->key)] = t->slots[i];
    free(t->slots);
    *t = bigger;
}

void table_put(struct table *t, void *entry)
{
    struct keyed *e = entry;

    if (t->n >= t->cap / 2)
        grow(t);
    uint32_t i = slot_of(t, e->key);
    assert(!t->slots[i]);
    t->slots[i] = e;
    t->n++;
}

void *table_take(struct table *t, str key)
{
    if (t->n == 0)
        return NULL;
    uint32_t hole = slot_of(t, key);
    struct keyed *e = t->slots[hole];
    if (!e)
        return NULL;

    uint32_t mask = t->cap - 1;
    for (uint32_t i = (hole + 1) & mask; t->slots[i]; i = (i + 1) & mask) {
        /* An entry may move into the hole unless its home lies behind the hole. */
        if (((i - home(t, t->slots[i]->key)) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole] = NULL;
    t->n--;
    return e;
}

void table_drain(struct table *t, void (*release)(void *ctx, void *entry), void *ctx)
{
    struct table all = *t;

    *t = (struct table){0}; /* entries may look for others while they go */
    for (uint32_t i = 0; i < all.cap; i++)
        if (all.slots[i])
            release(ctx, all.slots[i]);
    free(all.slots);
}

void table_fini(struct table *t)
{
    free(t->slots);
    *t = (struct table){0};
}
