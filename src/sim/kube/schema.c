/* Finding one's way in a schema. */
#include "sim/kube/schema.h"

#include "data/edit.h"
#include "sim/kube/schema_impl.h"

struct schema *schema_new(struct arena *a, enum schema_type type)
{
    struct schema *s = arena_new_one(a, struct schema);

    s->type = type;
    s->min_length = s->max_length = s->min_items = s->max_items = s->min_props = s->max_props = -1;
    return s;
}

const struct schema_field *schema_field(const struct schema *s, str name)
{
    if (!s)
        return NULL;
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (str_eq(s->fields[i].name, name))
            return &s->fields[i];
    return NULL;
}

const struct schema *schema_child(const struct schema *s, str name)
{
    const struct schema_field *f = schema_field(s, name);

    if (f)
        return f->schema;
    if (!s)
        return NULL;
    return s->type == SCHEMA_LIST ? s->items : s->values;
}

const struct schema *schema_object_meta(void)
{
    return schema_child(schema_builtin(STR(""), STR("v1"), STR("Namespace")), STR("metadata"));
}

const char *schema_type_name(enum schema_type t)
{
    switch (t) {
    case SCHEMA_OBJECT:
        return "object";
    case SCHEMA_LIST:
        return "array";
    case SCHEMA_STRING:
        return "string";
    case SCHEMA_INTEGER:
        return "integer";
    case SCHEMA_NUMBER:
        return "number";
    case SCHEMA_BOOLEAN:
        return "boolean";
    case SCHEMA_ANY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
        break;
    }
    return "";
}

/* ---- paths ---- */

size_t path_field(struct sb *path, str name)
{
    size_t before = path->n;

    if (path->n)
        sb_char(path, '.');
    sb_str(path, name);
    return before;
}

size_t path_index(struct sb *path, uint32_t ix)
{
    size_t before = path->n;

    sb_printf(path, "[%u]", ix);
    return before;
}

void path_cut(struct sb *path, size_t n)
{
    path->n = n;
}

/* ---- lists that are maps ---- */

static const struct tree *key_of(const struct schema *list, const struct tree *item, str key)
{
    const struct tree *t = item->kind == TREE_MAP ? tree_find((struct tree *)item, key) : NULL;
    const struct schema_field *f = schema_field(list->items, key);

    return t || !f ? t : f->schema->def;
}

bool schema_same_keys(const struct schema *list, const struct tree *a, const struct tree *b)
{
    for (uint32_t i = 0; i < list->n_list_keys; i++) {
        const struct tree *x = key_of(list, a, list->list_keys[i]), *y = key_of(list, b, list->list_keys[i]);

        if ((x == NULL) != (y == NULL) || (x && !tree_equal(x, y)))
            return false;
    }
    return true;
}

const struct tree *schema_counterpart(const struct schema *list, const struct tree *old, const struct tree *item)
{
    if (!old || old->kind != TREE_LIST || list->list != LIST_MAP)
        return NULL;
    for (uint32_t i = 0; i < old->n; i++)
        if (schema_same_keys(list, &old->items[i], item))
            return &old->items[i];
    return NULL;
}
