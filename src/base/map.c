#include "base/map.h"

#include <stdlib.h>

#include "base/arena.h"

uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
    const unsigned char *b = p;
    uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15u);

    for (; n >= 8; b += 8, n -= 8) {
        uint64_t w;

        memcpy(&w, b, 8);
        h = hash_mix(h, w);
    }
    uint64_t tail = 0;
    if (n >= 4) { /* two halves that may overlap: what they have in common is the same */
        uint32_t first, last;

        memcpy(&first, b, 4);
        memcpy(&last, b + n - 4, 4);
        tail = first | (uint64_t)last << (8 * (n - 4));
    } else {
        for (size_t i = 0; i < n; i++)
            tail |= (uint64_t)b[i] << (8 * i);
    }
    return hash_mix(h, tail);
}

static bool slot_holds(const struct strmap_slot *s, str key, uint32_t hash)
{
    /* an empty key may come with a null pointer, which memcmp() does not want to see */
    return s->hash == hash && s->n == key.n && (key.n == 0 || memcmp(s->p, key.p, key.n) == 0);
}

static struct strmap_slot *strmap_find(const struct strmap *m, str key, uint32_t hash)
{
    for (uint32_t i = hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
        struct strmap_slot *s = &m->slots[i];

        if (!s->p || slot_holds(s, key, hash))
            return s;
    }
}

uint32_t strmap_get(const struct strmap *m, str key)
{
    if (m->n == 0)
        return MAP_NONE;
    const struct strmap_slot *s = strmap_find(m, key, (uint32_t)hash_bytes(key.p, key.n, 0));
    return s->p ? s->val : MAP_NONE;
}

static void strmap_resize(struct strmap *m)
{
    struct strmap old = *m;

    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = xcalloc(m->cap, sizeof(*m->slots));
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.slots[i].p)
            *strmap_find(m, (str){old.slots[i].p, old.slots[i].n}, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

void strmap_put(struct strmap *m, str key, uint32_t val)
{
    uint32_t hash = (uint32_t)hash_bytes(key.p, key.n, 0);

    if ((m->n + 1) * 4 > m->cap * 3)
        strmap_resize(m);
    struct strmap_slot *s = strmap_find(m, key, hash);
    if (!s->p)
        m->n++;
    *s = (struct strmap_slot){key.p ? key.p : "", (uint32_t)key.n, hash, val};
}

void strmap_fini(struct strmap *m)
{
    free(m->slots);
    *m = (struct strmap){0};
}

void u64map_put(struct u64map *m, uint64_t key, uint32_t val)
{
    if ((m->n + 1) * 4 > m->cap * 3) {
        struct u64map old = *m;

        m->cap = old.cap ? old.cap * 2 : 16;
        m->slots = xcalloc(m->cap, sizeof(*m->slots));
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slots[i].used)
                *u64map_find(m, old.slots[i].key) = old.slots[i];
        free(old.slots);
    }
    struct u64map_slot *s = u64map_find(m, key);
    if (!s->used)
        m->n++;
    *s = (struct u64map_slot){key, val, 1};
}

void u64map_clear(struct u64map *m)
{
    if (m->cap)
        memset(m->slots, 0, m->cap * sizeof(*m->slots));
    m->n = 0;
}

void u64map_fini(struct u64map *m)
{
    free(m->slots);
    *m = (struct u64map){0};
}
