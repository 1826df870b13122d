/* htab - a hash table of things that come and go, by a key of bytes.
 *
 * A thing embeds a struct htab_node and owns its key; the table owns nothing but its slots. Where things are only ever added, map.h takes less memory. The order of
 * htab_next() must not leak into a result: it is for freeing, and for what is sorted afterwards.
 */
#pragma once

#include "base/str.h"

struct htab_node {
    struct htab_node *next;
    str key; /* set before htab_put() */
    uint64_t hash;
};

struct htab {
    struct htab_node **slots;
    uint32_t n, cap;
};

struct htab_node *htab_get(const struct htab *t, str key); /* NULL when absent */
void htab_put(struct htab *t, struct htab_node *n);        /* the key must not be there yet */
void htab_del(struct htab *t, struct htab_node *n);        /* it must be there */
void htab_fini(struct htab *t);                            /* what was in it stays */

/* NULL: the first one. Nothing may be put or deleted between two calls; the last answer itself may go. */
struct htab_walk {
    struct htab_node *next;
    uint32_t slot;
};
struct htab_node *htab_next(const struct htab *t, struct htab_walk *w); /* w zeroed at first; NULL at the end */

/* The thing of type T whose member m is the node, or NULL. */
#define HTAB_THING(node, T, m) htab_thing((node), offsetof(T, m))
static inline void *htab_thing(struct htab_node *n, size_t offset)
{
    return n ? (char *)n - offset : NULL;
}
