/* Changing trees. A map or list that has no room left gets new arrays of twice the size; the old ones stay in their arena until
 * it goes, which for the requests that edit objects is soon. */
#include "data/edit.h"

#include <stdarg.h>

#include "base/sb.h"

struct tree *tree_new_map(struct arena *a)
{
    struct tree *t = arena_new_one(a, struct tree);

    t->kind = TREE_MAP;
    return t;
}

struct tree *tree_new_list(struct arena *a)
{
    struct tree *t = arena_new_one(a, struct tree);

    t->kind = TREE_LIST;
    return t;
}

struct tree tree_of_str(str s)
{
    return (struct tree){.kind = TREE_STRING, .text = s};
}

struct tree tree_of_i64(struct arena *a, int64_t v)
{
    char digits[24];
    struct sb b = {.p = digits, .cap = sizeof(digits)}; /* 20 digits fit: it never grows */

    sb_i64(&b, v);
    return (struct tree){.kind = TREE_NUMBER, .text = sb_dup(&b, a)};
}

struct tree tree_of_bool(bool v)
{
    return (struct tree){.kind = TREE_BOOL, .truth = v, .text = v ? STR("true") : STR("false")};
}

struct tree tree_of_null(void)
{
    return (struct tree){.kind = TREE_NULL};
}

static void copy_into(struct arena *a, struct tree *to, const struct tree *from)
{
    *to = *from;
    to->cap = from->n;
    to->text = from->text.n ? arena_strdup(a, from->text) : from->text;
    if (from->kind != TREE_LIST && from->kind != TREE_MAP)
        return;
    to->items = arena_new_array(a, struct tree, from->n);
    for (uint32_t i = 0; i < from->n; i++)
        copy_into(a, &to->items[i], &from->items[i]);
    if (from->kind != TREE_MAP)
        return;
    to->keys = arena_new_array(a, str, from->n);
    for (uint32_t i = 0; i < from->n; i++)
        to->keys[i] = arena_strdup(a, from->keys[i]);
}

struct tree *tree_copy(struct arena *a, const struct tree *t)
{
    struct tree *to = arena_new_one(a, struct tree);

    copy_into(a, to, t);
    return to;
}

static void share_into(struct arena *a, struct tree *to)
{
    if (to->kind != TREE_LIST && to->kind != TREE_MAP)
        return;
    to->cap = to->n;
    to->items = arena_memdup(a, to->items, to->n * sizeof(*to->items), alignof(struct tree));
    if (to->kind == TREE_MAP)
        to->keys = arena_memdup(a, to->keys, to->n * sizeof(*to->keys), alignof(str));
    for (uint32_t i = 0; i < to->n; i++)
        share_into(a, &to->items[i]);
}

struct tree *tree_twin(struct arena *a, const struct tree *t)
{
    struct tree *to = arena_memdup(a, t, sizeof(*t), alignof(struct tree));

    share_into(a, to);
    return to;
}

static bool numbers_equal(str a, str b)
{
    double x, y;
    int64_t i, j;

    if (str_eq(a, b))
        return true;
    if (str_to_i64(a, &i) && str_to_i64(b, &j))
        return i == j;
    return str_to_double(a, &x) && str_to_double(b, &y) && x == y;
}

static bool maps_equal(const struct tree *a, const struct tree *b)
{
    for (uint32_t i = 0; i < a->n; i++) {
        /* Mostly both were written by the same hand, in the same order. */
        const struct tree *other =
            str_eq(a->keys[i], b->keys[i]) ? &b->items[i] : tree_find((struct tree *)b, a->keys[i]);

        if (!other || !tree_equal(&a->items[i], other))
            return false;
    }
    return true;
}

bool tree_equal(const struct tree *a, const struct tree *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case TREE_NULL:
        return true;
    case TREE_BOOL:
        return a->truth == b->truth;
    case TREE_NUMBER:
        return numbers_equal(a->text, b->text);
    case TREE_STRING:
        return str_eq(a->text, b->text);
    case TREE_MAP:
        return maps_equal(a, b);
    case TREE_LIST:
        for (uint32_t i = 0; i < a->n; i++)
            if (!tree_equal(&a->items[i], &b->items[i]))
                return false;
        return true;
    }
    return false;
}

bool tree_same(const struct tree *a, const struct tree *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    switch (a->kind) {
    case TREE_NULL:
        return true;
    case TREE_BOOL:
        return a->truth == b->truth;
    case TREE_NUMBER:
    case TREE_STRING:
        return a->text.p == b->text.p ? a->text.n == b->text.n : str_eq(a->text, b->text);
    case TREE_MAP:
    case TREE_LIST:
        break;
    }
    if (a->items == b->items)
        return a->keys == b->keys;
    for (uint32_t i = 0; i < a->n; i++)
        if ((a->kind == TREE_MAP && !str_eq(a->keys[i], b->keys[i])) || !tree_same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

struct tree *tree_find(struct tree *map, str key)
{
    if (!map || map->kind != TREE_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->n; i++)
        if (str_eq(map->keys[i], key))
            return &map->items[i];
    return NULL;
}

/* Room for one more member. */
static void grow(struct arena *a, struct tree *t)
{
    if (t->n < t->cap)
        return;

    uint32_t cap = MAX(4u, 2 * t->n);
    struct tree *items = arena_new_array(a, struct tree, cap);
    if (t->n)
        memcpy(items, t->items, t->n * sizeof(*items));
    t->items = items;
    if (t->kind == TREE_MAP) {
        str *keys = arena_new_array(a, str, cap);

        if (t->n)
            memcpy(keys, t->keys, t->n * sizeof(*keys));
        t->keys = keys;
    }
    t->cap = cap;
}

struct tree *tree_put(struct arena *a, struct tree *map, str key)
{
    struct tree *t = tree_find(map, key);

    if (t)
        return t;
    assert(map->kind == TREE_MAP);
    grow(a, map);
    map->keys[map->n] = key;
    map->items[map->n] = tree_of_null();
    return &map->items[map->n++];
}

void tree_set(struct arena *a, struct tree *map, const char *key, struct tree value)
{
    *tree_put(a, map, str_c(key)) = value;
}

void tree_set_str(struct arena *a, struct tree *map, const char *key, str value)
{
    tree_set(a, map, key, tree_of_str(value));
}

void tree_set_i64(struct arena *a, struct tree *map, const char *key, int64_t value)
{
    tree_set(a, map, key, tree_of_i64(a, value));
}

void tree_set_bool(struct arena *a, struct tree *map, const char *key, bool value)
{
    tree_set(a, map, key, tree_of_bool(value));
}

bool tree_drop(struct tree *map, str key)
{
    struct tree *t = tree_find(map, key);

    if (!t)
        return false;
    uint32_t at = (uint32_t)(t - map->items), after = map->n - at - 1;
    memmove(&map->items[at], &map->items[at + 1], after * sizeof(*map->items));
    memmove(&map->keys[at], &map->keys[at + 1], after * sizeof(*map->keys));
    map->n--;
    return true;
}

static struct tree *sub_of_kind(struct arena *a, struct tree *map, const char *key, enum tree_kind kind)
{
    if (!map || map->kind != TREE_MAP)
        return NULL;
    struct tree *t = tree_put(a, map, str_c(key));
    if (t->kind == TREE_NULL)
        *t = (struct tree){.kind = kind};
    return t->kind == kind ? t : NULL;
}

struct tree *tree_sub(struct arena *a, struct tree *map, const char *key)
{
    return sub_of_kind(a, map, key, TREE_MAP);
}

struct tree *tree_sublist(struct arena *a, struct tree *map, const char *key)
{
    return sub_of_kind(a, map, key, TREE_LIST);
}

struct tree *tree_path(struct arena *a, struct tree *map, ...)
{
    va_list ap;
    const char *key;

    va_start(ap, map);
    while (map && (key = va_arg(ap, const char *)))
        map = tree_sub(a, map, key);
    va_end(ap);
    return map;
}

struct tree *tree_push(struct arena *a, struct tree *list, struct tree value)
{
    return tree_insert(a, list, list->n, value);
}

struct tree *tree_insert(struct arena *a, struct tree *list, uint32_t at, struct tree value)
{
    assert(list->kind == TREE_LIST && at <= list->n);
    grow(a, list);
    memmove(&list->items[at + 1], &list->items[at], (list->n - at) * sizeof(*list->items));
    list->items[at] = value;
    list->n++;
    return &list->items[at];
}

void tree_remove(struct tree *list, uint32_t at)
{
    assert(list->kind == TREE_LIST && at < list->n);
    memmove(&list->items[at], &list->items[at + 1], (list->n - at - 1) * sizeof(*list->items));
    list->n--;
}

bool tree_to_i64(const struct tree *t, int64_t *ret)
{
    double d;

    if (!t || t->kind != TREE_NUMBER)
        return false;
    if (str_to_i64(t->text, ret))
        return true;
    if (!str_to_double(t->text, &d) || d < -9007199254740992.0 || d > 9007199254740992.0 || d != (double)(int64_t)d)
        return false;
    *ret = (int64_t)d;
    return true;
}
