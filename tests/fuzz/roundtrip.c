#include "roundtrip.h"

#include <stdlib.h>

#include "data/json.h"
#include "data/reader.h"

#define WRITE_MAX 20000u /* larger trees are only walked */

#define must(cond) ((cond) ? (void)0 : abort())

/* Nodes in t, each looked at. */
static uint32_t walk(const struct tree *t, unsigned depth)
{
    uint32_t n = 1;

    must(depth <= READER_MAX_DEPTH);
    must(t->line > 0 && t->col > 0);
    must(t->kind == TREE_LIST || t->kind == TREE_MAP || t->n == 0);
    for (uint32_t i = 0; i < t->n; i++)
        n += walk(&t->items[i], depth + 1);
    must(t->kind != TREE_MAP || tree_repeated_key(t->keys, t->n) == t->n);
    return n;
}

static bool same(const struct tree *a, const struct tree *b)
{
    if (a->kind != b->kind || a->n != b->n || a->truth != b->truth || !str_eq(tree_scalar(a), tree_scalar(b)))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if ((a->keys && !str_eq(a->keys[i], b->keys[i])) || !same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

void tree_roundtrip(const struct tree *t, bool yaml, unsigned indent)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb sb = {0};
    struct jw w = {.out = &sb, .indent = indent, .yaml = yaml};
    const struct tree *again;
    struct err e;

    jw_tree(&w, t);
    must(yaml ? tree_parse_yaml(a, "again", sb_view(&sb), &again, &e)
              : tree_parse_json(a, "again", sb_view(&sb), &again, &e));
    must(same(t, again));
    sb_fini(&sb);
}

bool tree_is_sound(const struct tree *t)
{
    return walk(t, 0) <= WRITE_MAX;
}
