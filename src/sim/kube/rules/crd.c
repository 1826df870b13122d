/* Rules of CustomResourceDefinitions. What their schemas may say is checked where they are compiled (schema.h). */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

static const struct at *const at_spec = &(const struct at){.key = STR_INIT("spec")};

static void crd_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec = tree_sub(a, obj, "spec"), *names = tree_sub(a, spec, "names");
    str kind = tree_str(tree_get(names, "kind"));

    if (!spec || !names)
        return;
    if (kind.n) {
        if (is_empty(tree_get(names, "singular")))
            tree_set_str(a, names, "singular", lower_case(a, kind));
        if (is_empty(tree_get(names, "listKind")))
            tree_set_str(a, names, "listKind", arena_printf(a, STR_FMT "List", STR_ARG(kind)));
    }
    default_str(a, tree_sub(a, spec, "conversion"), "strategy", "None");
    if (tree_get(spec, "preserveUnknownFields") && !tree_is_true(tree_get(spec, "preserveUnknownFields")))
        tree_drop(spec, STR("preserveUnknownFields"));
}

static const struct tree *storage_version(const struct tree *obj)
{
    const struct tree *list = tree_at(obj, "spec", "versions", NULL);

    for (uint32_t i = 0; i < list_len(list); i++)
        if (tree_is_true(tree_get(&list->items[i], "storage")))
            return tree_get(&list->items[i], "name");
    return NULL;
}

static void crd_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    struct tree *status = tree_new_map(c->a), *names = tree_sub(c->a, status, "acceptedNames");
    const struct tree *stored = storage_version(obj);

    (void)ret_denied;
    tree_set_str(c->a, names, "kind", (str){0});
    tree_set_str(c->a, names, "plural", (str){0});
    tree_set(c->a, status, "conditions", tree_of_null());
    if (stored)
        tree_push(c->a, tree_sublist(c->a, status, "storedVersions"), *stored);
    else
        tree_set(c->a, status, "storedVersions", tree_of_null());
    tree_set(c->a, obj, "status", *status);
}

/* A version that is stored from now on joins those that have been. */
static void crd_on_update(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied)
{
    keep_other_half(c, obj, old, ret_denied);
    const struct tree *stored = storage_version(obj);
    struct tree *list = tree_sublist(c->a, tree_sub(c->a, obj, "status"), "storedVersions");
    for (uint32_t i = 0; stored && i < list_len(list); i++)
        if (tree_equal(&list->items[i], stored))
            return;
    if (!c->sub && stored && list)
        tree_push(c->a, list, *stored);
}

static const struct view view_version[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Served", "served", VIEW_BOOL, NULL},
    {"Storage", "storage", VIEW_BOOL, NULL},
    {"Deprecated", "deprecated", VIEW_BOOL, NULL},
    {"DeprecationWarning", "deprecationWarning", VIEW_ANY, NULL},
    {"Schema", "-", VIEW_ANY, NULL}, /* what all versions share stands elsewhere in the server's own type */
    {"Subresources", "-", VIEW_ANY, NULL},
    {"AdditionalPrinterColumns", "-", VIEW_ANY, NULL},
    {"SelectableFields", "-", VIEW_ANY, NULL},
    {0},
};

static const struct view view_versions[] = {{"versions", "versions", VIEW_LIST, view_version}, {0}};

/* [{…},{…}] */
static str versions_text(struct arena *a, const struct tree *spec)
{
    str s = view_text(a, view_versions, spec);
    size_t head = sizeof("{\"versions\":") - 1;

    return str_sub(s, head, s.n - 1);
}

static void check_versions(struct flaws *f, const struct tree *obj)
{
    const struct tree *spec = tree_get(obj, "spec"), *list = tree_get(spec, "versions");
    uint32_t stored = 0;

    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct at *at = AT_IX(AT(at_spec, "versions"), i);
        const struct tree *v = &list->items[i];

        stored += tree_is_true(tree_get(v, "storage"));
        if (!tree_at(v, "schema", "openAPIV3Schema", NULL))
            flaw_required(f, AT(AT(at, "schema"), "openAPIV3Schema"), "%s", "");
        check_label_1035(f, AT(at, "name"), tree_str(tree_get(v, "name")));
    }
    if (stored != 1)
        flaw_invalid(f, AT(at_spec, "versions"), versions_text(f->a, spec),
                     "must have exactly one version marked as storage version");
    if (list_len(list))
        check_label_1035(f, AT(at_spec, "version"), tree_str(tree_get(&list->items[0], "name")));
}

static void check_names(struct flaws *f, const struct tree *names)
{
    static const char *const needed[] = {"plural", "singular", "kind", "listKind"};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (tree_str(tree_get(names, needed[i])).n == 0)
            flaw_required(f, AT_STR(AT(at_spec, "names"), str_c(needed[i])), "%s", "");
}

static void check_stored(struct flaws *f, const struct tree *obj)
{
    const struct tree *list = tree_at(obj, "status", "storedVersions", NULL),
                      *versions = tree_at(obj, "spec", "versions", NULL);
    const struct at *at = AT(AT(NULL, "status"), "storedVersions");
    const struct tree *last = NULL;
    bool found = false;

    if (list_len(list) == 0) {
        flaw_invalid(f, at, STR("null"), "must have at least one stored version");
        return;
    }
    for (uint32_t i = 0; i < list_len(versions); i++)
        if (tree_is_true(tree_get(&versions->items[i], "storage")))
            last = tree_get(&versions->items[i], "name");
    for (uint32_t i = 0; last && i < list->n; i++)
        found |= tree_equal(&list->items[i], last);
    str name = tree_str(last);
    if (last && !found)
        flaw_invalid(f, at, json_sorted_text(f->a, list), "must have the storage version " STR_FMT, STR_ARG(name));
}

static void crd_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *was = tree_get(old, "spec"), *names = tree_get(spec, "names");
    str plural = tree_str(tree_get(names, "plural")), group = tree_str(tree_get(spec, "group")),
        name = object_name(obj);
    str want = arena_printf(c->a, STR_FMT "." STR_FMT, STR_ARG(plural), STR_ARG(group));

    if (c->sub)
        return;
    if (!str_eq(name, want))
        flaw_invalid(f, AT(AT(NULL, "metadata"), "name"), json_quoted(c->a, name),
                     "must be spec.names.plural+\".\"+spec.group");
    if (group.n == 0)
        flaw_required(f, AT(at_spec, "group"), "%s", "");
    if (is_empty(tree_get(spec, "scope")))
        flaw_required(f, AT(at_spec, "scope"), "%s", "");
    check_word(f, AT(at_spec, "scope"), tree_get(spec, "scope"), scopes);
    check_versions(f, obj);
    check_names(f, names);
    check_stored(f, obj);
    if (!old || !str_is(tree_str(tree_get(condition(old, STR("Established")), "status")), "True"))
        return;
    check_immutable(f, AT(at_spec, "scope"), tree_get(spec, "scope"), tree_get(was, "scope"));
    check_immutable(f, AT(AT(at_spec, "names"), "kind"), tree_get(names, "kind"), tree_at(was, "names", "kind", NULL));
}

const struct kind_rules rules_crd = {crd_defaults, crd_on_create, crd_on_update, crd_validate, NULL};
