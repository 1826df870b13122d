/* How Go shows values: the sentences of an API server are full of it. */
#include "sim/kube/patch_impl.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"
#include "sim/kube/status.h"

static int by_key(const void *a, const void *b, void *map)
{
    const struct tree *t = map;

    return str_cmp(t->keys[*(const uint32_t *)a], t->keys[*(const uint32_t *)b]);
}

uint32_t *keys_in_order(const struct tree *map)
{
    uint32_t *order = xmalloc(sizeof(*order) * map->n);

    for (uint32_t i = 0; i < map->n; i++)
        order[i] = i;
    sort_stable(order, map->n, sizeof(*order), by_key, (void *)map);
    return order;
}

static void go_map(struct sb *out, const struct tree *t)
{
    uint32_t *order = keys_in_order(t);

    sb_c(out, "map[");
    for (uint32_t i = 0; i < t->n; i++) {
        sb_c(out, i ? " " : "");
        sb_str(out, t->keys[order[i]]);
        sb_char(out, ':');
        go_value(out, &t->items[order[i]]);
    }
    sb_char(out, ']');
    free(order);
}

void go_value(struct sb *out, const struct tree *t)
{
    switch (t->kind) {
    case TREE_NULL:
        sb_c(out, "<nil>");
        return;
    case TREE_BOOL:
    case TREE_NUMBER:
    case TREE_STRING:
        sb_str(out, t->text);
        return;
    case TREE_LIST:
        sb_char(out, '[');
        for (uint32_t i = 0; i < t->n; i++) {
            sb_c(out, i ? " " : "");
            go_value(out, &t->items[i]);
        }
        sb_char(out, ']');
        return;
    case TREE_MAP:
        go_map(out, t);
        return;
    }
}

str go_text(struct arena *a, const struct tree *t)
{
    struct sb b = {0};

    go_value(&b, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

const char *go_kind(const struct tree *t)
{
    int64_t v;

    switch (t->kind) {
    case TREE_NULL:
        return "<nil>";
    case TREE_BOOL:
        return "bool";
    case TREE_NUMBER:
        return str_to_i64(t->text, &v) ? "int64" : "float64";
    case TREE_STRING:
        return "string";
    case TREE_LIST:
        return "slice";
    case TREE_MAP:
        return "map";
    }
    return "";
}

bool refuse(struct arena *a, struct status *st, int code, const char *reason, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);

    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1, 1);
    va_start(ap, fmt);
    (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
    va_end(ap);
    *st = (struct status){.code = code, .reason = reason, .message = {text, (size_t)n}};
    return false;
}

void drop_nulls(struct tree *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind == TREE_MAP && t->items[i].kind == TREE_NULL)
            continue;
        drop_nulls(&t->items[i]);
        t->items[kept] = t->items[i];
        if (t->kind == TREE_MAP)
            t->keys[kept] = t->keys[i];
        kept++;
    }
    t->n = kept;
}
