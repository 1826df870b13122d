#include "sim/kube/cluster/table.h"

#include "base/map.h"

static uint64_t hash_of(str key)
{
    return hash_bytes(key.p, key.n, 0);
}

static bool has_key(const void *thing, const void *key)
{
    return str_eq(((const struct keyed *)thing)->key, *(const str *)key);
}

void *table_get(const struct table *t, str key)
{
    return lookup_get(&t->by_key, hash_of(key), &key);
}

void table_put(struct table *t, void *entry)
{
    str key = ((struct keyed *)entry)->key;

    t->by_key.has = has_key;
    assert(!table_get(t, key));
    lookup_add(&t->by_key, hash_of(key), entry);
}

void *table_take(struct table *t, str key)
{
    void *entry = table_get(t, key);

    if (entry)
        lookup_remove(&t->by_key, hash_of(key), entry);
    return entry;
}

void table_drain(struct table *t, void (*release)(void *ctx, void *entry), void *ctx)
{
    struct lookup all = t->by_key;

    *t = (struct table){0}; /* entries may look for others while they go */
    for (uint32_t i = 0; i < all.cap; i++)
        if (all.slots[i].thing)
            release(ctx, all.slots[i].thing);
    lookup_fini(&all);
}

void table_fini(struct table *t)
{
    lookup_fini(&t->by_key);
    *t = (struct table){0};
}
