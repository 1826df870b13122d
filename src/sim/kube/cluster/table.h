/* table - hash table by name, with removal: what a cluster holds comes and goes for ever.
 *
 * An entry is a struct whose first member is a `str` with its key; the table keeps pointers and owns nothing. It is never
 * iterated (but for the end): hash order must not leak into what happens.
 */
#pragma once

#include "sim/kube/lookup.h"

struct keyed {
    str key;
};

struct table { /* zeroed: empty */
    struct lookup by_key;
};

static inline uint32_t table_count(const struct table *t)
{
    return t->by_key.n;
}

void *table_get(const struct table *t, str key); /* NULL when absent */
void table_put(struct table *t, void *entry);    /* its key must not be there */
void *table_take(struct table *t, str key);      /* removes; NULL when absent */
/* Hands every entry over to be freed, in no order, and is empty then. */
void table_drain(struct table *t, void (*release)(void *ctx, void *entry), void *ctx);
void table_fini(struct table *t);
