/* Looking things up in trees. Everything accepts NULL, so that paths can be followed without a check per step. */
#include "data/tree.h"

#include <stdarg.h>

#include "base/map.h"
#include "base/sort.h"

#define FEW_KEYS 12u /* up to here comparing all pairs beats hashing */

const struct tree *tree_get_str(const struct tree *t, str key)
{
    if (!t || t->kind != TREE_MAP)
        return NULL;
    for (uint32_t i = 0; i < t->n; i++)
        if (str_eq(t->keys[i], key))
            return t->items[i].kind == TREE_NULL ? NULL : &t->items[i];
    return NULL;
}

const struct tree *tree_at(const struct tree *t, ...)
{
    va_list ap;
    const char *key;

    va_start(ap, t);
    while (t && (key = va_arg(ap, const char *)))
        t = tree_get(t, key);
    va_end(ap);
    return t;
}

str tree_str(const struct tree *t)
{
    return t && t->kind == TREE_STRING ? t->text : (str){"", 0};
}

str tree_scalar(const struct tree *t)
{
    if (!t || t->kind == TREE_NULL || t->kind == TREE_LIST || t->kind == TREE_MAP)
        return (str){"", 0};
    return t->text;
}

bool tree_is_true(const struct tree *t)
{
    return t && t->kind == TREE_BOOL && t->truth;
}

const char *tree_kind_name(enum tree_kind k)
{
    switch (k) {
    case TREE_NULL:
        return "null";
    case TREE_BOOL:
        return "a boolean";
    case TREE_NUMBER:
        return "a number";
    case TREE_STRING:
        return "a string";
    case TREE_LIST:
        return "a list";
    case TREE_MAP:
        return "a map";
    }
    return "nothing";
}

static bool key_before(const uint32_t *x, const uint32_t *y, const void *ctx)
{
    const str *keys = ctx;

    return str_cmp(keys[*x], keys[*y]) < 0;
}

SORT_DEFINE(sort_by_key, uint32_t, key_before)

uint32_t *tree_key_order(struct arena *a, const struct tree *map)
{
    uint32_t *v = arena_new_array(a, uint32_t, map->n);

    for (uint32_t i = 0; i < map->n; i++)
        v[i] = i;
    sort_by_key(v, map->n, map->keys);
    return v;
}

static uint32_t repeated_among_many(const str *keys, uint32_t n)
{
    struct strmap seen = {0};
    uint32_t i;

    for (i = 0; i < n && strmap_get(&seen, keys[i]) == MAP_NONE; i++)
        strmap_put(&seen, keys[i], i);
    strmap_fini(&seen);
    return i;
}

uint32_t tree_repeated_key(const str *keys, uint32_t n)
{
    uint32_t sorted = 1;

    while (sorted < n && str_cmp(keys[sorted - 1], keys[sorted]) < 0) /* as most servers write them */
        sorted++;
    if (sorted >= n)
        return n;
    if (n > FEW_KEYS)
        return repeated_among_many(keys, n);
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (str_eq(keys[i], keys[k]))
                return i;
    return n;
}
