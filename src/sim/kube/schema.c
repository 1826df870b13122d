/* Finding one's way in a schema. */
#include "sim/kube/schema.h"

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
