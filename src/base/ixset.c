/* Open addressing with linear probing. A removal moves later members of the run back, so that no tombstones pile up
 * in a table that lives for months. */
#include "base/ixset.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define IXSET_FREE UINT32_MAX

uint32_t ixset_get(const struct ixset *s, const struct ixset_keys *k, const void *owner, uint64_t hash, const void *key)
{
    if (s->n == 0)
        return MAP_NONE;
    for (uint32_t i = (uint32_t)hash & (s->cap - 1); s->slots[i] != IXSET_FREE; i = (i + 1) & (s->cap - 1))
        if (k->has(owner, s->slots[i], key))
            return s->slots[i];
    return MAP_NONE;
}

static void put(struct ixset *s, uint64_t hash, uint32_t ix)
{
    uint32_t i = (uint32_t)hash & (s->cap - 1);

    while (s->slots[i] != IXSET_FREE)
        i = (i + 1) & (s->cap - 1);
    s->slots[i] = ix;
}

static void resize(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t cap)
{
    struct ixset old = *s;

    s->cap = cap;
    s->slots = xmalloc(cap * sizeof(*s->slots));
    memset(s->slots, 0xff, cap * sizeof(*s->slots));
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.slots[i] != IXSET_FREE)
            put(s, k->hash(owner, old.slots[i]), old.slots[i]);
    free(old.slots);
}

void ixset_add(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t ix)
{
    assert(ix != IXSET_FREE);
    if ((s->n + 1) * 4ull > s->cap * 3ull)
        resize(s, k, owner, s->cap ? s->cap * 2 : 8);
    put(s, k->hash(owner, ix), ix);
    s->n++;
}

static uint32_t slot_of(const struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t ix)
{
    assert(s->n);
    uint32_t i = (uint32_t)k->hash(owner, ix) & (s->cap - 1);
    while (s->slots[i] != ix) {
        assert(s->slots[i] != IXSET_FREE);
        i = (i + 1) & (s->cap - 1);
    }
    return i;
}

void ixset_remove(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t ix)
{
    uint32_t mask = s->cap - 1, hole = slot_of(s, k, owner, ix);

    for (uint32_t i = (hole + 1) & mask; s->slots[i] != IXSET_FREE; i = (i + 1) & mask) {
        uint32_t home = (uint32_t)k->hash(owner, s->slots[i]) & mask;

        if (((i - home) & mask) < ((i - hole) & mask))
            continue; /* it would come to stand before its home */
        s->slots[hole] = s->slots[i];
        hole = i;
    }
    s->slots[hole] = IXSET_FREE;
    s->n--;
    if (s->cap > 64 && s->n < s->cap / 8)
        resize(s, k, owner, s->cap / 4);
}

void ixset_rename(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t from, uint32_t to)
{
    s->slots[slot_of(s, k, owner, from)] = to;
}

void ixset_fini(struct ixset *s)
{
    free(s->slots);
    *s = (struct ixset){0};
}
