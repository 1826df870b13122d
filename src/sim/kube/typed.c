/* Shapes, items and what can be owned. */
#include "sim/kube/typed.h"

#include "base/vec.h"
#include "data/edit.h"
#include "sim/kube/patch.h"

enum shape shape_of(const struct schema *s, const struct tree *t)
{
    if (!s || s->type == SCHEMA_ANY)
        return t->kind == TREE_MAP ? SHAPE_MAP : SHAPE_LEAF;
    if (s->type == SCHEMA_OBJECT && (t->kind == TREE_MAP || t->kind == TREE_NULL))
        return s->map_atomic ? SHAPE_LEAF : SHAPE_MAP;
    if (s->type == SCHEMA_LIST && (t->kind == TREE_LIST || t->kind == TREE_NULL) && s->list != LIST_ATOMIC)
        return s->list == LIST_SET ? SHAPE_SET : SHAPE_KEYED;
    return SHAPE_LEAF;
}

static bool is_one_of(str s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, names[i]))
            return true;
    return false;
}

const struct schema *typed_object(struct arena *a, const struct schema *s)
{
    static const char *const common[] = {"apiVersion", "kind", "metadata"};
    const struct schema_field *meta = schema_field(s, STR("metadata"));

    if (meta && meta->schema->n_fields)
        return s;
    const struct schema *pod = schema_builtin(STR(""), STR("v1"), STR("Pod")); /* as good as any other kind */
    struct schema *whole = arena_dup_array(a, struct schema, s, 1);
    struct schema_field *fields = arena_new_array(a, struct schema_field, s->n_fields + ARRAY_LEN(common));
    whole->n_fields = 0;
    for (size_t i = 0; i < ARRAY_LEN(common); i++) {
        fields[whole->n_fields] = *schema_field(pod, str_c(common[i]));
        fields[whole->n_fields++].always = false; /* of a custom kind nothing is there before it is written */
    }
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (!is_one_of(s->fields[i].name, common, ARRAY_LEN(common)))
            fields[whole->n_fields++] = s->fields[i];
    whole->fields = fields;
    return whole;
}

const struct schema *typed_member(const struct schema *s, str key)
{
    return s && s->type == SCHEMA_OBJECT ? schema_child(s, key) : NULL;
}

const struct tree *typed_find(const struct tree *map, str key, uint32_t *hint)
{
    if (!map || map->kind != TREE_MAP)
        return NULL;
    for (uint32_t k = 0, i = *hint; k < map->n; k++, i++) {
        if (i >= map->n)
            i = 0;
        if (str_eq(map->keys[i], key)) {
            *hint = i + 1;
            return &map->items[i];
        }
    }
    return NULL;
}

/* ---- items ---- */

const struct tree *item_key(const struct schema *list, const struct tree *item, str key)
{
    const struct tree *t = tree_find((struct tree *)item, key);
    const struct schema *s = typed_member(list->items, key);

    if (t)
        return t;
    return s ? s->def : NULL;
}

bool item_same(const struct schema *list, const struct tree *x, const struct tree *y)
{
    if (list->list == LIST_SET)
        return tree_equal(x, y);
    for (uint32_t i = 0; i < list->n_list_keys; i++) {
        const struct tree *a = item_key(list, x, list->list_keys[i]), *b = item_key(list, y, list->list_keys[i]);

        if (!a != !b || (a && !tree_equal(a, b)))
            return false;
    }
    return true;
}

uint32_t item_find(const struct schema *s, const struct tree *list, const struct tree *item, uint32_t *hint)
{
    for (uint32_t k = 0, i = *hint; k < list->n; k++, i++) {
        if (i >= list->n)
            i = 0;
        if (item_same(s, &list->items[i], item)) {
            *hint = i + 1;
            return i;
        }
    }
    return list->n;
}

static int by_name(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

static void keys_of(struct sb *b, const struct schema *list, const struct tree *item)
{
    str names[8];
    uint32_t n = MIN(list->n_list_keys, (uint32_t)ARRAY_LEN(names)), said = 0;

    for (uint32_t i = 0; i < n; i++)
        names[i] = list->list_keys[i];
    sort_stable(names, n, sizeof(*names), by_name, NULL);
    sb_char(b, '{');
    for (uint32_t i = 0; i < n; i++) {
        const struct tree *t = item_key(list, item, names[i]);
        struct tree name = tree_of_str(names[i]);

        if (!t)
            continue;
        sb_c(b, said++ ? "," : "");
        fields_json(b, &name);
        sb_char(b, ':');
        fields_json(b, t);
    }
    sb_char(b, '}');
}

str item_step(struct arena *a, const struct schema *list, const struct tree *item)
{
    struct sb b = {0};

    sb_c(&b, list->list == LIST_SET ? "v:" : "k:");
    if (list->list == LIST_SET)
        fields_json(&b, item);
    else
        keys_of(&b, list, item);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

str member_step(struct arena *a, str key)
{
    char *p = arena_alloc(a, key.n + 2, 1);

    p[0] = 'f';
    p[1] = ':';
    if (key.n)
        memcpy(p + 2, key.p, key.n);
    return (str){p, key.n + 2};
}

/* ---- ownership ---- */

enum realm realm_below(enum realm r, str key)
{
    return r == REALM_TOP && str_is(key, "metadata") ? REALM_META : REALM_BELOW;
}

bool ownable(const struct apply_options *o, const struct schema *s, enum realm r, str key)
{
    static const char *const top[] = {"apiVersion", "kind"};
    static const char *const meta[] = {
        "name",       "namespace",       "creationTimestamp", "selfLink",          "uid",
        "generation", "resourceVersion", "managedFields",     "deletionTimestamp", "deletionGracePeriodSeconds",
    };

    if (r == REALM_BELOW)
        return true;
    if (r == REALM_META)
        return !is_one_of(key, meta, ARRAY_LEN(meta));
    if (str_is(o->subresource, "status"))
        return str_is(key, "status") || (s->name.n && str_is(key, "metadata"));
    return !is_one_of(key, top, ARRAY_LEN(top)) && !(o->has_status && str_is(key, "status"));
}
