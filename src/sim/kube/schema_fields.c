/* Fields: those that nobody knows, and those that are filled in. */
#include "base/vec.h"
#include "data/edit.h"
#include "sim/kube/schema_impl.h"
#include "sim/kube/status.h"

/* ---- unknown fields ---- */

struct hunt {
    struct arena *a;
    bool prune;
    struct sb path;
    VEC(str) found;
};

static void hunt(struct hunt *h, const struct schema *s, struct tree *t, bool root);

static bool is_object_head(const struct schema *s, bool root, str name)
{
    return (root || s->embedded) && (str_is(name, "apiVersion") || str_is(name, "kind") || str_is(name, "metadata"));
}

static const struct schema *field_schema(const struct schema *s, bool root, str name)
{
    const struct schema_field *f = schema_field(s, name);

    if (is_object_head(s, root, name) && str_is(name, "metadata"))
        return schema_object_meta();
    return f ? f->schema : s->values;
}

static void hunt_map(struct hunt *h, const struct schema *s, struct tree *t, bool root)
{
    for (uint32_t i = 0; i < t->n;) {
        str name = t->keys[i];
        const struct schema *child = field_schema(s, root, name);
        size_t before = path_field(&h->path, name);
        bool known = child || s->preserve_unknown || is_object_head(s, root, name);

        if (child)
            hunt(h, child, &t->items[i], false);
        if (!known)
            vec_push(&h->found, sb_dup(&h->path, h->a));
        path_cut(&h->path, before);
        if (!known && h->prune)
            tree_drop(t, name);
        else
            i++;
    }
}

static void hunt(struct hunt *h, const struct schema *s, struct tree *t, bool root)
{
    if (t->kind == TREE_MAP && s->type == SCHEMA_OBJECT)
        hunt_map(h, s, t, root);
    if (t->kind == TREE_LIST && s->items)
        for (uint32_t i = 0; i < t->n; i++) {
            size_t before = path_index(&h->path, i);

            hunt(h, s->items, &t->items[i], false);
            path_cut(&h->path, before);
        }
}

static int by_text(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* Of a built-in kind they come in the order of the document. Of a custom kind first those of metadata, which is decoded by itself,
 * then the others by name. */
void schema_unknown(struct arena *a, const struct schema *s, struct tree *obj, bool prune, struct causes *out)
{
    struct hunt h = {.a = a, .prune = prune};

    hunt(&h, s, obj, /* root= */ true);
    if (s->name.n == 0) {
        uint32_t n_meta = 0;

        for (uint32_t i = 0; i < h.found.n; i++)
            if (str_starts(h.found.v[i], STR("metadata."))) {
                str path = h.found.v[i];

                memmove(&h.found.v[n_meta + 1], &h.found.v[n_meta], (i - n_meta) * sizeof(str));
                h.found.v[n_meta++] = path;
            }
        if (h.found.n > n_meta)
            sort_stable(h.found.v + n_meta, h.found.n - n_meta, sizeof(str), by_text, NULL);
    }
    for (uint32_t i = 0; i < h.found.n; i++) {
        str message = arena_printf(out->a, "unknown field \"" STR_FMT "\"", STR_ARG(h.found.v[i]));

        vec_push(&out->list, (struct cause){.message = message, .field = h.found.v[i]});
    }
    vec_fini(&h.found);
    sb_fini(&h.path);
}

/* ---- defaults ---- */

static void fill(struct arena *a, const struct schema *s, struct tree *t, bool root);

/* A null where null is no value counts as absent. */
static void drop_nulls(const struct schema *s, struct tree *t, bool root)
{
    for (uint32_t i = 0; i < t->n;) {
        const struct schema *child = field_schema(s, root, t->keys[i]);

        if (t->items[i].kind == TREE_NULL && child && !child->nullable && child->type != SCHEMA_ANY)
            tree_drop(t, t->keys[i]);
        else
            i++;
    }
}

static void fill_map(struct arena *a, const struct schema *s, struct tree *t, bool root)
{
    drop_nulls(s, t, root);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct schema_field *f = &s->fields[i];

        if (f->schema && f->schema->def && !is_object_head(s, root, f->name) && !tree_find(t, f->name))
            *tree_put(a, t, f->name) = *tree_copy(a, f->schema->def);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        const struct schema *child = field_schema(s, root, t->keys[i]);

        if (child)
            fill(a, child, &t->items[i], false);
    }
}

static void fill(struct arena *a, const struct schema *s, struct tree *t, bool root)
{
    if (t->kind == TREE_MAP && s->type == SCHEMA_OBJECT)
        fill_map(a, s, t, root);
    if (t->kind == TREE_LIST && s->items)
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->items[i].kind == TREE_NULL && s->items->def)
                t->items[i] = *tree_copy(a, s->items->def);
            fill(a, s->items, &t->items[i], false);
        }
}

void schema_default(struct arena *a, const struct schema *s, struct tree *obj)
{
    fill(a, s, obj, /* root= */ true);
}
