/* lru - records by a key, as many as are allowed: the one that was not looked at for longest makes room.
 *
 * struct lru l = {.cap = 4096, .size = sizeof(struct thing)}; a record is a zeroed struct thing until it is filled. Keys are copied.
 */
#pragma once

#include "base/htab.h"

struct lru_node;

struct lru {
    uint32_t cap;
    size_t size;
    struct htab table;
    struct lru_node *newest, *oldest;
};

void lru_fini(struct lru *l);
void *lru_get(struct lru *l, str key); /* it is the newest now; NULL when absent */
void *lru_put(struct lru *l, str key); /* the key must not be there */
void *lru_oldest(const struct lru *l); /* NULL when empty */
void lru_drop(struct lru *l, void *record);

static inline uint32_t lru_count(const struct lru *l)
{
    return l->table.n;
}
