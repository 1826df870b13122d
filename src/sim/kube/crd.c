/* Custom kinds: a CustomResourceDefinition becomes a kind of the server as soon as its names are accepted, changes it when its
 * spec changes, and takes it along, with all its objects, when it is deleted.
 *
 * One version of a definition is served: the one in which objects are stored, since there is no conversion between versions. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"
#include "sim/kube/schema.h"

static struct custom_kind *find_custom(struct kube *k, str crd)
{
    for (uint32_t i = 0; i < k->custom_kinds.n; i++)
        if (str_eq(k->custom_kinds.v[i].crd, crd))
            return &k->custom_kinds.v[i];
    return NULL;
}

/* ---- from the definition to a kind ---- */

static const struct tree *stored_version(const struct tree *spec)
{
    const struct tree *versions = tree_get(spec, "versions");

    for (uint32_t i = 0; versions && versions->kind == TREE_LIST && i < versions->n; i++)
        if (tree_is_true(tree_get(&versions->items[i], "storage")))
            return &versions->items[i];
    return NULL;
}

static void list_of(struct arena *a, const struct tree *t, const str **ret, uint32_t *ret_n)
{
    uint32_t n = t && t->kind == TREE_LIST ? t->n : 0;
    str *names = arena_new_array(a, str, n);

    for (uint32_t i = 0; i < n; i++)
        names[i] = tree_str(&t->items[i]);
    *ret = names;
    *ret_n = n;
}

/* spec.versions[].selectableFields: ".spec.color" is selected as spec.color. */
static const struct kind_rules *selectable_rules(struct arena *a, const struct tree *version)
{
    const struct tree *list = tree_get(version, "selectableFields");
    uint32_t n = list && list->kind == TREE_LIST ? list->n : 0;
    const char **names = arena_new_array(a, const char *, n + 1);
    struct kind_rules *rules = arena_new_one(a, struct kind_rules);

    for (uint32_t i = 0; i < n; i++) {
        str path = tree_str(tree_get(&list->items[i], "jsonPath"));

        names[i] = arena_printf(a, STR_FMT, STR_ARG(str_sub(path, path.n && path.p[0] == '.', path.n))).p;
    }
    rules->selectable = names;
    return rules;
}

static void read_names(struct arena *a, const struct tree *spec, struct kind *kind)
{
    const struct tree *names = tree_get(spec, "names");

    kind->group = tree_str(tree_get(spec, "group"));
    kind->name = tree_str(tree_get(names, "kind"));
    kind->plural = tree_str(tree_get(names, "plural"));
    kind->singular = tree_str(tree_get(names, "singular"));
    kind->namespaced = str_is(tree_str(tree_get(spec, "scope")), "Namespaced");
    list_of(a, tree_get(names, "shortNames"), &kind->short_names, &kind->n_short_names);
    list_of(a, tree_get(names, "categories"), &kind->categories, &kind->n_categories);
}

/* Everything it points to is in the server's own arena: requests may still hold the kind as it was. */
static bool read_kind(struct kube *k, const struct tree *crd, struct kind *kind, struct err *e)
{
    struct arena *a = k->forever;
    const struct tree *spec = tree_copy(a, tree_get(crd, "spec")), *version = stored_version(spec);
    const struct tree *schema = tree_at(version, "schema", "openAPIV3Schema", NULL);
    const struct tree *scale = tree_at(version, "subresources", "scale", NULL);

    if (!version)
        return err_set(e, ERR_INVALID, "no version is stored");
    struct causes wrong = {.a = a};
    kind->schema = schema ? schema_from_openapi(a, schema, STR("spec.validation.openAPIV3Schema"), &wrong) : NULL;
    if (wrong.list.n)
        (void)err_set(e, ERR_INVALID, STR_FMT ": " STR_FMT, STR_ARG(wrong.list.v[0].field),
                      STR_ARG(wrong.list.v[0].message));
    causes_fini(&wrong);
    if (schema && !kind->schema)
        return false;
    read_names(a, spec, kind);
    kind->version = tree_str(tree_get(version, "name"));
    kind->has_status = tree_at(version, "subresources", "status", NULL) != NULL;
    kind->has_scale = scale != NULL;
    kind->scale_spec = tree_str(tree_get(scale, "specReplicasPath"));
    kind->scale_status = tree_str(tree_get(scale, "statusReplicasPath"));
    kind->scale_selector = tree_str(tree_get(scale, "labelSelectorPath"));
    kind->has_generation = kind->needs_rv = true;
    kind->rules = selectable_rules(a, version);
    kind->crd_columns = tree_get(version, "additionalPrinterColumns");
    kind->crd = spec;
    return true;
}

/* ---- names ---- */

static bool short_name_taken(const struct kind *mine, const struct kind *other, str *ret)
{
    for (uint32_t i = 0; i < mine->n_short_names; i++) {
        *ret = mine->short_names[i];
        if (str_eq(*ret, other->plural) || str_eq(*ret, other->singular))
            return true;
        for (uint32_t j = 0; j < other->n_short_names; j++)
            if (str_eq(*ret, other->short_names[j]))
                return true;
    }
    return false;
}

static const char *conflict_with(const struct kind *mine, const struct kind *other, str *ret_name)
{
    *ret_name = mine->plural;
    if (str_eq(mine->plural, other->plural))
        return "PluralConflict";
    *ret_name = mine->singular;
    if (mine->singular.n && str_eq(mine->singular, other->singular))
        return "SingularConflict";
    if (short_name_taken(mine, other, ret_name))
        return "ShortNamesConflict";
    *ret_name = mine->name;
    return str_eq(mine->name, other->name) ? "KindConflict" : NULL;
}

/* NULL: no other kind of the group has one of the names. */
static const char *find_conflict(const struct kube *k, const struct kind *mine, const struct kind *self, str *ret_name)
{
    for (uint32_t i = 0; i < k->kinds.n; i++) {
        const struct kind *other = k->kinds.v[i];

        if (!other || other == self || !str_eq(other->group, mine->group))
            continue;
        const char *why = conflict_with(mine, other, ret_name);
        if (why)
            return why;
    }
    return NULL;
}

/* ---- what becomes of a definition ---- */

static void refuse_names(struct kube *k, struct arena *a, const struct object *crd, struct tree *obj,
                         const char *reason, str name)
{
    int64_t now_ms = world_now_ms(k->world);
    str why = arena_printf(a, "\"" STR_FMT "\" is already in use", STR_ARG(name));

    condition_set(a, obj, "NamesAccepted", "False", reason, why.p, now_ms);
    if (!condition_get(obj, "Established"))
        condition_set(a, obj, "Established", "False", "NotAccepted", "not all names are accepted", now_ms);
    (void)write_revision(k, a, crd, obj);
}

static void refuse_schema(struct kube *k, struct arena *a, const struct object *crd, struct tree *obj, const char *why)
{
    condition_set(a, obj, "NonStructuralSchema", "True", "Violations", why, world_now_ms(k->world));
    (void)write_revision(k, a, crd, obj);
}

static void accept(struct kube *k, struct arena *a, const struct object *crd, struct tree *obj, const struct kind *kind)
{
    int64_t now_ms = world_now_ms(k->world);
    struct tree *status = tree_sub(a, obj, "status");
    struct tree *stored = tree_sublist(a, status, "storedVersions");
    bool known = false;

    tree_set(a, status, "acceptedNames", *tree_copy(a, tree_at(obj, "spec", "names", NULL)));
    for (uint32_t i = 0; stored && i < stored->n; i++)
        known = known || str_eq(tree_str(&stored->items[i]), kind->version);
    if (stored && !known)
        (void)tree_push(a, stored, tree_of_str(kind->version));
    condition_set(a, obj, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now_ms);
    condition_set(a, obj, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted",
                  now_ms);
    (void)write_revision(k, a, crd, obj);
}

static void serve(struct kube *k, str crd, const struct kind *next, int64_t generation)
{
    struct custom_kind *c = find_custom(k, crd);

    if (!c) {
        c = vec_add(&k->custom_kinds);
        c->crd = arena_strdup(k->forever, crd);
        c->kind = arena_new_one(k->forever, struct kind);
        *c->kind = *next;
        kinds_add(k, c->kind);
    } else {
        uint32_t ix = c->kind->ix;

        *c->kind = *next;
        c->kind->ix = ix;
        k->kinds_version++;
    }
    c->kind->api_version = kind_api_version(k->forever, next);
    c->generation = generation;
}

static void define(struct kube *k, struct arena *a, const struct object *crd)
{
    struct tree *obj = object_tree(a, crd);
    struct custom_kind *c = find_custom(k, crd->name);
    struct kind next = {0};
    struct err e;
    int64_t generation = 0;
    str name;

    (void)tree_to_i64(tree_at(obj, "metadata", "generation", NULL), &generation);
    if (c && c->generation == generation)
        return;
    object_ref(crd);
    if (!read_kind(k, obj, &next, &e)) {
        refuse_schema(k, a, crd, obj, e.msg);
    } else {
        const char *conflict = find_conflict(k, &next, c ? c->kind : NULL, &name);

        if (conflict) {
            refuse_names(k, a, crd, obj, conflict, name);
        } else {
            serve(k, crd->name, &next, generation);
            accept(k, a, crd, obj, &next);
        }
    }
    object_unref(crd);
}

/* ---- the end of a definition ---- */

static void empty(struct kube *k, struct arena *a, const struct object *crd)
{
    struct custom_kind *c = find_custom(k, crd->name);
    struct tree *obj = object_tree(a, crd);
    int64_t now_ms = world_now_ms(k->world);

    if (!finalizers_have(obj, CRD_FINALIZER))
        return;
    object_ref(crd);
    if (c && kube_count(k, c->kind)) {
        struct listing *l = listing_new(k, c->kind, (str){0});

        for (uint32_t i = 0; i < l->n; i++)
            if (!l->objects[i]->deleted_ms)
                remove_by_server(k, a, l->objects[i], "Background");
        listing_free(l);
    }
    if (c && kube_count(k, c->kind)) {
        condition_set(a, obj, "Terminating", "True", "InstanceDeletionInProgress",
                      "CustomResource deletion is in progress", now_ms);
        (void)write_revision(k, a, crd, obj);
    } else {
        condition_set(a, obj, "Terminating", "False", "InstanceDeletionCompleted", "removed all instances", now_ms);
        (void)finalizers_drop(obj, CRD_FINALIZER);
        write_finalizers(k, a, crd, obj);
    }
    object_unref(crd);
}

void crd_sync(struct kube *k, str name)
{
    AUTO(arena) struct arena *a = arena_new(64 << 10);
    const struct object *crd = kube_get(k, k->crds, (str){0}, name);

    if (crd && crd->deleted_ms)
        empty(k, a, crd);
    else if (crd)
        define(k, a, crd);
}

static void forget(struct kube *k, str crd)
{
    struct custom_kind *c = find_custom(k, crd);

    if (!c)
        return;
    k->kinds.v[c->kind->ix] = NULL;
    k->kinds_version++;
    watchlog_drop(k, c->kind);
    uint32_t at = (uint32_t)(c - k->custom_kinds.v), after = k->custom_kinds.n - at - 1;
    memmove(c, c + 1, after * sizeof(*c));
    k->custom_kinds.n--;
}

static void on_change(void *ctx, const struct change *c)
{
    struct kube *k = ctx;
    const struct object *o = c->new ? c->new : c->old;

    if (o->kind == k->crds && c->new)
        work_add(k->crds_work, o->name);
    else if (o->kind == k->crds)
        forget(k, o->name);
    else if (!c->new && o->kind->crd)
        for (uint32_t i = 0; i < k->custom_kinds.n; i++)
            if (k->custom_kinds.v[i].kind == o->kind)
                work_add(k->crds_work, k->custom_kinds.v[i].crd);
}

static void look_at(void *ctx, str name)
{
    crd_sync(ctx, name);
}

void crd_init(struct kube *k)
{
    k->crds_work = work_new(k->world, "crds", look_at, k);
    kube_subscribe(k, NULL, on_change, k);
}
