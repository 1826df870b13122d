/* ixset - finds numbers by a key that lives elsewhere: a hash table of uint32_t with deletion, four bytes a slot.
 *
 * The table holds numbers only. What a number stands for, its owner knows: a hash of its key, and whether it has a given
 * key. While a number is in the table neither may change. Never iterated, like the tables of map.h.
 */
#pragma once

#include "base/map.h"

struct ixset {
    uint32_t *slots; /* IXSET_FREE or a number */
    uint32_t n, cap;
};

struct ixset_keys {
    uint64_t (*hash)(const void *owner, uint32_t ix);
    bool (*has)(const void *owner, uint32_t ix, const void *key);
};

/* The number with the key, whose hash is given; MAP_NONE when there is none. */
uint32_t ixset_get(const struct ixset *s, const struct ixset_keys *k, const void *owner, uint64_t hash,
                   const void *key);
void ixset_add(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t ix); /* its key is not there */
void ixset_remove(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t ix); /* it is there */
/* What was called `from` is `to` from now on; both have the same key at the moment. */
void ixset_rename(struct ixset *s, const struct ixset_keys *k, const void *owner, uint32_t from, uint32_t to);
void ixset_fini(struct ixset *s);

static inline size_t ixset_bytes(const struct ixset *s)
{
    return s->cap * sizeof(*s->slots);
}
