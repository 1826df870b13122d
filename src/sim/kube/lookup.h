/* lookup - a hash table from bytes to pointers that can also forget: open addressing, linear probing, no tombstones.
 *
 * Never iterated: hash order must not leak into anything. The caller hashes, and says through `has` what has which key.
 */
#pragma once

#include "base/str.h"

struct lookup {
    /* Whether the thing has this key. */
    bool (*has)(const void *thing, const void *key);
    struct lookup_slot {
        uint64_t hash;
        void *thing; /* NULL: free */
    } * slots;
    uint32_t n, cap;
};

void *lookup_get(const struct lookup *l, uint64_t hash, const void *key);
void lookup_add(struct lookup *l, uint64_t hash, void *thing); /* not there yet */
void lookup_remove(struct lookup *l, uint64_t hash, const void *thing);
void lookup_fini(struct lookup *l);
