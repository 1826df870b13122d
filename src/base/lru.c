/* A block per record: the links, the record, the key. */
#include "base/lru.h"

#include <stdlib.h>

#include "base/arena.h"

struct lru_node {
    struct htab_node node;
    struct lru_node *newer, *older;
    alignas(max_align_t) char record[];
};

static void unlink_node(struct lru *l, struct lru_node *n)
{
    *(n->newer ? &n->newer->older : &l->newest) = n->older;
    *(n->older ? &n->older->newer : &l->oldest) = n->newer;
}

static void link_newest(struct lru *l, struct lru_node *n)
{
    n->newer = NULL;
    n->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = n;
    l->newest = n;
}

static void drop(struct lru *l, struct lru_node *n)
{
    unlink_node(l, n);
    htab_del(&l->table, &n->node);
    free(n);
}

void lru_fini(struct lru *l)
{
    while (l->newest)
        drop(l, l->newest);
    htab_fini(&l->table);
}

void *lru_get(struct lru *l, str key)
{
    struct lru_node *n = HTAB_THING(htab_get(&l->table, key), struct lru_node, node);

    if (!n)
        return NULL;
    unlink_node(l, n);
    link_newest(l, n);
    return n->record;
}

void *lru_put(struct lru *l, str key)
{
    struct lru_node *n;

    if (l->table.n >= l->cap)
        drop(l, l->oldest);
    n = xcalloc(1, sizeof(*n) + l->size + key.n);
    memcpy(n->record + l->size, key.p, key.n);
    n->node.key = (str){n->record + l->size, key.n};
    htab_put(&l->table, &n->node);
    link_newest(l, n);
    return n->record;
}

void *lru_oldest(const struct lru *l)
{
    return l->oldest ? l->oldest->record : NULL;
}

void lru_drop(struct lru *l, void *record)
{
    drop(l, (struct lru_node *)(void *)((char *)record - offsetof(struct lru_node, record)));
}
