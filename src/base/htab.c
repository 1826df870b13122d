/* Chains, so that a deletion leaves no gap behind. As many slots as things at least; it never shrinks. */
#include "base/htab.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"

#define FIRST_CAP 16u

static struct htab_node **place(const struct htab *t, uint64_t hash)
{
    return &t->slots[(uint32_t)hash & (t->cap - 1)];
}

struct htab_node *htab_get(const struct htab *t, str key)
{
    uint64_t hash = hash_bytes(key.p, key.n, 0);

    if (t->n == 0)
        return NULL;
    for (struct htab_node *n = *place(t, hash); n; n = n->next)
        if (n->hash == hash && str_eq(n->key, key))
            return n;
    return NULL;
}

static void grow(struct htab *t)
{
    struct htab old = *t;

    t->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    t->slots = xcalloc(t->cap, sizeof(*t->slots));
    for (uint32_t i = 0; i < old.cap; i++)
        for (struct htab_node *n = old.slots[i], *next; n; n = next) {
            struct htab_node **at = place(t, n->hash);

            next = n->next;
            n->next = *at;
            *at = n;
        }
    free(old.slots);
}

void htab_put(struct htab *t, struct htab_node *n)
{
    struct htab_node **at;

    if (t->n >= t->cap)
        grow(t);
    n->hash = hash_bytes(n->key.p, n->key.n, 0);
    at = place(t, n->hash);
    n->next = *at;
    *at = n;
    t->n++;
}

void htab_del(struct htab *t, struct htab_node *n)
{
    struct htab_node **at = place(t, n->hash);

    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    t->n--;
}

void htab_fini(struct htab *t)
{
    free(t->slots);
    *t = (struct htab){0};
}

struct htab_node *htab_next(const struct htab *t, struct htab_walk *w)
{
    struct htab_node *n = w->next;

    while (!n && w->slot < t->cap)
        n = t->slots[w->slot++];
    w->next = n ? n->next : NULL;
    return n;
}
