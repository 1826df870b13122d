/* Who owns which fields of an object: entries in and out, and what a write does to them. */
#include "sim/kube/managed.h"

#include "data/edit.h"
#include "model/duration.h"
#include "sim/kube/patch.h"
#include "sim/kube/typed.h"

#define MAX_UPDATES 10u
#define OLD_UPDATES STR("ancient-changes")

void managed_fini(struct managed *m)
{
    vec_fini(&m->list);
}

/* ---- in ---- */

static const struct tree *entries_of(const struct tree *obj)
{
    const struct tree *t = tree_at(obj, "metadata", "managedFields", NULL);

    return t && t->kind == TREE_LIST && t->n ? t : NULL;
}

static bool read_entry(struct managed *m, const struct tree *t, struct owner_entry *ret)
{
    str operation = tree_str(tree_get(t, "operation"));
    const struct tree *fields = tree_get(t, "fieldsV1");

    *ret = (struct owner_entry){
        .manager = tree_str(tree_get(t, "manager")),
        .version = tree_str(tree_get(t, "apiVersion")),
        .subresource = tree_str(tree_get(t, "subresource")),
        .time = tree_str(tree_get(t, "time")),
        .applies = str_is(operation, "Apply"),
        .fields = fields ? fields_read(m->a, fields) : &fields_none,
        .source = t,
    };
    return ret->fields && (ret->applies || str_is(operation, "Update")) &&
           str_is(tree_str(tree_get(t, "fieldsType")), "FieldsV1");
}

bool managed_read(struct managed *m, const struct tree *obj)
{
    const struct tree *list = entries_of(obj);

    m->list.n = 0;
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct owner_entry e;

        if (!read_entry(m, &list->items[i], &e))
            return false;
        vec_push(&m->list, e);
    }
    return true;
}

/* ---- out ---- */

static int by_age(const void *a, const void *b, void *ctx)
{
    const struct owner_entry *x = a, *y = b;
    int c = (int)y->applies - (int)x->applies;

    (void)ctx;
    if (c == 0)
        c = str_cmp(x->time, y->time); /* the texts are of one form, and without one it is oldest */
    if (c == 0)
        c = str_cmp(x->manager, y->manager);
    if (c == 0)
        c = str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->subresource, y->subresource);
}

/* Entries must be in order. The oldest updates, version by version, become one. */
static void join_old_updates(struct managed *m)
{
    uint32_t updates = 0;

    for (uint32_t i = 0; i < m->list.n; i++)
        updates += !m->list.v[i].applies;
    for (uint32_t i = 0; i < m->list.n && updates > MAX_UPDATES; i++) {
        struct owner_entry *first = &m->list.v[i];

        for (uint32_t j = i + 1; j < m->list.n && updates > MAX_UPDATES && !first->applies;) {
            struct owner_entry *e = &m->list.v[j];

            if (!str_eq(e->version, first->version)) {
                j++;
                continue;
            }
            first->manager = OLD_UPDATES;
            first->subresource = (str){0};
            first->time = e->time;
            managed_touch(first, fields_union(m->a, e->fields, first->fields));
            first->source = NULL;
            memmove(e, e + 1, (m->list.n - j - 1) * sizeof(*e));
            m->list.n--;
            updates--;
        }
    }
}

static struct tree entry_tree(struct arena *a, const struct owner_entry *e)
{
    struct tree t = {.kind = TREE_MAP};

    if (e->source)
        return *e->source;
    tree_set_str(a, &t, "manager", e->manager);
    tree_set(a, &t, "operation", tree_of_str(e->applies ? STR("Apply") : STR("Update")));
    tree_set_str(a, &t, "apiVersion", e->version);
    if (e->time.n)
        tree_set_str(a, &t, "time", e->time);
    tree_set(a, &t, "fieldsType", tree_of_str(STR("FieldsV1")));
    tree_set(a, &t, "fieldsV1", *e->fields);
    if (e->subresource.n)
        tree_set_str(a, &t, "subresource", e->subresource);
    return t;
}

void managed_write(struct managed *m, struct tree *obj)
{
    struct tree list = {.kind = TREE_LIST}, *meta;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->list.n; i++)
        if (!fields_empty(m->list.v[i].fields))
            m->list.v[kept++] = m->list.v[i];
    m->list.n = kept;
    sort_stable(m->list.v, m->list.n, sizeof(*m->list.v), by_age, NULL);
    join_old_updates(m);
    sort_stable(m->list.v, m->list.n, sizeof(*m->list.v), by_age, NULL);
    for (uint32_t i = 0; i < m->list.n; i++)
        tree_push(m->a, &list, entry_tree(m->a, &m->list.v[i]));
    meta = tree_sub(m->a, obj, "metadata");
    if (!meta)
        return;
    if (list.n)
        tree_set(m->a, meta, "managedFields", list);
    else
        (void)tree_drop(meta, STR("managedFields"));
}

/* ---- changes ---- */

struct owner_entry *managed_find(struct managed *m, const struct apply_options *o, bool applies)
{
    for (uint32_t i = 0; i < m->list.n; i++) {
        struct owner_entry *e = &m->list.v[i];

        if (e->applies == applies && str_eq(e->manager, o->manager) && str_eq(e->subresource, o->subresource) &&
            (applies || str_eq(e->version, o->api_version)))
            return e;
    }
    return NULL;
}

struct owner_entry *managed_add(struct managed *m, const struct apply_options *o, bool applies)
{
    vec_push(&m->list, (struct owner_entry){
                           .manager = arena_strdup(m->a, o->manager),
                           .version = arena_strdup(m->a, o->api_version),
                           .subresource = arena_strdup(m->a, o->subresource),
                           .applies = applies,
                           .fields = &fields_none,
                       });
    return &vec_last(&m->list);
}

void managed_touch(struct owner_entry *e, const struct tree *fields)
{
    if (e->fields == fields)
        return;
    e->fields = fields;
    e->source = NULL;
}

void managed_take(struct managed *m, const struct tree *fields, const struct owner_entry *but)
{
    for (uint32_t i = 0; i < m->list.n; i++)
        if (&m->list.v[i] != but)
            managed_touch(&m->list.v[i], fields_minus(m->a, m->list.v[i].fields, fields));
}

str managed_time(struct arena *a, int64_t now_ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, now_ms);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* ---- after a write ---- */

/* [{}]: a client wants all entries forgotten. */
static bool is_reset(const struct tree *obj)
{
    const struct tree *list = entries_of(obj);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (list->items[i].kind != TREE_MAP || list->items[i].n)
            return false;
    return list != NULL;
}

/* The entries that a write starts from. Clients that know nothing of them send none, or none that can be read. */
static void read_before(struct managed *m, const struct tree *old, const struct tree *obj,
                        const struct apply_options *o)
{
    if (!o->subresource.n && is_reset(obj))
        return;
    if (!o->subresource.n && managed_read(m, obj) && m->list.n)
        return;
    if (!old || !managed_read(m, old))
        m->list.n = 0;
}

void managed_after_update(struct arena *a, const struct schema *s, const struct tree *old, struct tree *obj,
                          const struct apply_options *o)
{
    struct managed m = {.a = a};

    read_before(&m, old, obj, o);
    if (!old || m.list.n) {
        const struct schema *whole = typed_object(a, s);
        struct difference d = typed_compare(a, whole, old, obj, o);
        struct owner_entry *own = managed_find(&m, o, false);

        managed_take(&m, d.removed, NULL);
        managed_take(&m, d.taken, own);
        if (!fields_empty(d.taken)) {
            if (!own)
                own = managed_add(&m, o, false);
            own->fields = fields_union(a, own->fields, d.taken);
            own->time = managed_time(a, o->now_ms);
            own->source = NULL;
        }
    }
    managed_write(&m, obj);
    managed_fini(&m);
}
