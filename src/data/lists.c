/* Bookkeeping of Lists within Lists. */
#include "data/lists.h"

void lists_init(struct lists *l, const struct source *src)
{
    *l = (struct lists){.src = src, .spine = arena_new(0)};
}

void lists_fini(struct lists *l)
{
    while (l->n)
        lists_pop(l);
    arena_free(l->spine);
}

bool lists_kind_is_list(str kind)
{
    return str_ends(kind, STR("List"));
}

bool lists_push(struct lists *l, bool envelope, uint64_t line, uint64_t col, struct err *e)
{
    if (l->n == LISTS_MAX)
        return source_error(l->src, line, col, e, "Lists within Lists deeper than %u levels", LISTS_MAX);

    struct list_level *level = &l->v[l->n++];
    *level = (struct list_level){.envelope = envelope, .mark = arena_mark(l->spine)};
    if (envelope)
        strmap_put(&level->keys, STR("items"), 0);
    return true;
}

void lists_pop(struct lists *l)
{
    struct list_level *level = &l->v[--l->n];

    strmap_fini(&level->keys);
    arena_rewind(l->spine, level->mark);
}

bool lists_note(struct lists *l, const struct tree *members, struct err *e)
{
    struct list_level *level = &l->v[l->n - 1];

    for (uint32_t i = 0; i < members->n; i++) {
        const struct tree *t = &members->items[i];
        str key = arena_strdup(l->spine, members->keys[i]);

        if (strmap_get(&level->keys, key) != MAP_NONE)
            return source_error(l->src, t->line, t->col, e, "key \"" STR_FMT "\" appears twice",
                                STR_ARG(str_sub(key, 0, 80)));
        strmap_put(&level->keys, key, 0);
        if (str_is(key, "apiVersion"))
            level->api_version = arena_strdup(l->spine, tree_str(t));
        if (!str_is(key, "kind") || t->kind == TREE_NULL)
            continue;
        if (!lists_kind_is_list(tree_str(t)))
            return source_error(l->src, t->line, t->col, e,
                                "kind \"" STR_FMT "\" is not a List: its items may only come after its kind",
                                STR_ARG(str_sub(tree_scalar(t), 0, 80)));
        level->kind = arena_strdup(l->spine, tree_str(t));
    }
    return true;
}

static void map_append(struct tree *t, const char *key, str text)
{
    t->keys[t->n] = str_c(key);
    t->items[t->n++] = (struct tree){.kind = TREE_STRING, .line = t->line, .col = t->col, .text = text};
}

bool lists_accept(const struct lists *l, struct arena *a, struct tree *t, bool *ret_skip, struct err *e)
{
    *ret_skip = t->kind == TREE_NULL && l->n == 0;
    if (*ret_skip)
        return true;
    if (t->kind != TREE_MAP)
        return source_error(l->src, t->line, t->col, e, "expected a map, found %s", tree_kind_name(t->kind));
    if (l->n == 0)
        return true;

    const struct list_level *level = &l->v[l->n - 1];
    str kind = str_sub(level->kind, 0, level->kind.n - MIN(level->kind.n, sizeof("List") - 1));
    if (kind.n == 0 || tree_get(t, "kind"))
        return true;

    struct tree full = *t;
    full.n = 0;
    full.keys = arena_new_array(a, str, t->n + 2);
    full.items = arena_new_array(a, struct tree, t->n + 2);
    map_append(&full, "kind", arena_strdup(a, kind));
    if (level->api_version.n && !tree_get(t, "apiVersion"))
        map_append(&full, "apiVersion", arena_strdup(a, level->api_version));
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind == TREE_NULL && (str_is(t->keys[i], "kind") || str_is(t->keys[i], "apiVersion")))
            continue;
        full.keys[full.n] = t->keys[i];
        full.items[full.n++] = t->items[i];
    }
    *t = full;
    return true;
}
