/* The least that the store's tests need of rules, schemas, managed fields and the HTTP front. */
#include "data/edit.h"
#include "sim/kube/front.h"
#include "sim/kube/kind.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"

static void pod_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    struct tree *status = tree_new_map(c->a);

    (void)ret_denied;
    tree_set_str(c->a, status, "phase", STR("Pending"));
    tree_set(c->a, obj, "status", *status);
}

static void namespace_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    struct tree *list = tree_sublist(c->a, tree_sub(c->a, obj, "spec"), "finalizers");

    (void)ret_denied;
    if (list->n == 0)
        (void)tree_push(c->a, list, tree_of_str(STR("kubernetes")));
    tree_set_str(c->a, tree_sub(c->a, obj, "status"), "phase", STR("Active"));
}

const struct kind_rules *kind_rules_of(str group, str name)
{
    static const char *const pod_fields[] = {"spec.nodeName", "status.phase", NULL};
    static const struct kind_rules pod = {.on_create = pod_on_create, .selectable = pod_fields};
    static const struct kind_rules ns = {.on_create = namespace_on_create};

    if (group.n)
        return NULL;
    return str_is(name, "Pod") ? &pod : str_is(name, "Namespace") ? &ns : NULL;
}

const struct kind_columns *kind_columns_of(str group, str name)
{
    (void)group, (void)name;
    return NULL;
}

const struct schema *schema_from_openapi(struct arena *a, const struct tree *t, struct err *e)
{
    struct schema *s = arena_new_one(a, struct schema);

    (void)e;
    s->type = SCHEMA_OBJECT;
    return t ? s : NULL;
}

void schema_unknown(struct arena *a, const struct schema *s, struct tree *obj, bool prune, struct causes *out)
{
    (void)a, (void)s;
    if (!tree_find(obj, STR("zzz")))
        return;
    vec_push(&out->list, (struct cause){.message = STR("unknown field \"zzz\""), .field = STR("zzz")});
    if (prune)
        (void)tree_drop(obj, STR("zzz"));
}

void schema_default(struct arena *a, const struct schema *s, struct tree *obj)
{
    (void)a, (void)s, (void)obj;
}

void schema_validate(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *old,
                     struct causes *out)
{
    (void)a, (void)s, (void)obj, (void)old, (void)out;
}

bool schema_decodes(const struct schema *s, const struct tree *obj, struct err *e)
{
    (void)s, (void)obj, (void)e;
    return true;
}

bool apply_patch(struct arena *a, const struct schema *s, struct tree **live, const struct tree *config,
                 const struct apply_options *o, struct status *st)
{
    (void)s, (void)o;
    if (!*live)
        *live = tree_copy(a, config);
    return patch_merge(a, *live, config, st);
}

void managed_after_update(struct arena *a, const struct schema *s, const struct tree *old, struct tree *obj,
                          const struct apply_options *o)
{
    struct tree *list = tree_new_list(a), *entry = tree_push(a, list, *tree_new_map(a));

    (void)s, (void)old;
    tree_set_str(a, entry, "manager", o->manager);
    tree_set(a, tree_sub(a, obj, "metadata"), "managedFields", *list);
}

struct front *front_new(struct kube *k)
{
    (void)k;
    return NULL;
}

void front_free(struct front *f)
{
    (void)f;
}
