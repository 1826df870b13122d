/* map - hash tables from bytes or from a 64-bit key to a uint32_t, open addressing, no deletion.
 *
 * Used for interning and memoising, never iterated: the order in which a table holds its keys must not
 * leak into a result.
 */
#pragma once

#include "base/str.h"

#define MAP_NONE UINT32_MAX

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);

static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h *= 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

/* Keys are kept by reference: the bytes must live as long as the map. */
struct strmap_slot {
    const char *p;
    uint32_t n, hash, val;
};

struct strmap {
    struct strmap_slot *slots;
    uint32_t n, cap;
};

uint32_t strmap_get(const struct strmap *m, str key); /* MAP_NONE when absent */
void strmap_put(struct strmap *m, str key, uint32_t val);
void strmap_fini(struct strmap *m);

/* Two-word keys; {0, 0} is a key like any other. */
struct u64map_slot {
    uint64_t key;
    uint32_t val;
    uint32_t used;
};

struct u64map {
    struct u64map_slot *slots;
    uint32_t n, cap;
};

/* In line: memoised answers are looked up far more often than anything else is done. */
static inline struct u64map_slot *u64map_find(const struct u64map *m, uint64_t key)
{
    for (uint32_t i = (uint32_t)hash_mix(0, key) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct u64map_slot *s = &m->slots[i];

        if (!s->used || s->key == key)
            return s;
    }
}

static inline uint32_t u64map_get(const struct u64map *m, uint64_t key)
{
    if (m->n == 0)
        return MAP_NONE;
    const struct u64map_slot *s = u64map_find(m, key);
    return s->used ? s->val : MAP_NONE;
}

void u64map_put(struct u64map *m, uint64_t key, uint32_t val);
void u64map_clear(struct u64map *m); /* empty, keeps the memory */
void u64map_fini(struct u64map *m);

static inline uint64_t u64_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}
