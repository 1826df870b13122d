/* Rules and columns of roles and their bindings. */
#include "base/sb.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- roles ---- */

static void role_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_null(a, obj, "rules");
}

static void check_rule(struct flaws *f, const struct at *at, const struct tree *rule, bool namespaced)
{
    const struct tree *urls = tree_get(rule, "nonResourceURLs"), *resources = tree_get(rule, "resources");
    const struct tree *groups = tree_get(rule, "apiGroups");

    if (list_len(tree_get(rule, "verbs")) == 0)
        flaw_required(f, AT(at, "verbs"), "verbs must contain at least one value");
    if (list_len(urls)) {
        if (namespaced)
            flaw_invalid(f, AT(at, "nonResourceURLs"), json_sorted_text(f->a, urls),
                         "namespaced rules cannot apply to non-resource URLs");
        if (list_len(groups) || list_len(resources) || list_len(tree_get(rule, "resourceNames")))
            flaw_invalid(f, AT(at, "nonResourceURLs"), json_sorted_text(f->a, urls),
                         "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (list_len(groups) == 0)
        flaw_required(f, AT(at, "apiGroups"), "resource rules must supply at least one api group");
    if (list_len(resources) == 0)
        flaw_required(f, AT(at, "resources"), "resource rules must supply at least one resource");
}

static void check_rules(struct rule_context *c, const struct tree *obj, bool namespaced, struct causes *out)
{
    const struct tree *rules = tree_get(obj, "rules");

    for (uint32_t i = 0; i < list_len(rules); i++)
        check_rule(FLAWS(c, out), AT_IX(AT(NULL, "rules"), i), &rules->items[i], namespaced);
}

static void role_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    (void)old;
    check_rules(c, obj, /* namespaced= */ true, out);
}

static void cluster_role_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                  struct causes *out)
{
    (void)old;
    check_rules(c, obj, /* namespaced= */ false, out);
}

const struct kind_rules rules_role = {role_defaults, NULL, NULL, role_validate, NULL};
const struct kind_rules rules_cluster_role = {role_defaults, NULL, NULL, cluster_role_validate, NULL};

/* ---- bindings ---- */

static void binding_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *ref = tree_sub(a, obj, "roleRef"), *subjects = edit_list(obj, "subjects");
    if (ref)
        default_str(a, ref, "apiGroup", GROUP);
    for (uint32_t i = 0; i < list_len(subjects); i++) {
        str kind = tree_str(tree_get(&subjects->items[i], "kind"));

        if (str_is(kind, "User") || str_is(kind, "Group"))
            default_str(a, &subjects->items[i], "apiGroup", GROUP);
    }
}

static void check_subject(struct flaws *f, const struct at *at, const struct tree *s, bool namespaced)
{
    str kind = tree_str(tree_get(s, "kind")), name = tree_str(tree_get(s, "name"));
    str group = tree_str(tree_get(s, "apiGroup"));
    bool account = str_is(kind, "ServiceAccount");

    if (name.n == 0)
        flaw_required(f, AT(at, "name"), "%s", "");
    if (account) {
        if (name.n)
            check_subdomain(f, AT(at, "name"), name);
        if (group.n)
            flaw_unsupported(f, AT(at, "apiGroup"), json_quoted(f->a, group), "\"\"");
        if (!namespaced && tree_str(tree_get(s, "namespace")).n == 0)
            flaw_required(f, AT(at, "namespace"), "%s", "");
    } else if (str_is(kind, "User") || str_is(kind, "Group")) {
        if (!str_is(group, GROUP))
            flaw_unsupported(f, AT(at, "apiGroup"), json_quoted(f->a, group), "\"" GROUP "\"");
    } else {
        flaw_unsupported(f, AT(at, "kind"), json_quoted(f->a, kind), "\"ServiceAccount\", \"User\", \"Group\"");
    }
}

static const struct view view_role_ref[] = {
    {"APIGroup", "apiGroup", VIEW_STR, NULL},
    {"Kind", "kind", VIEW_STR, NULL},
    {"Name", "name", VIEW_STR, NULL},
    {0},
};

static void check_binding(struct rule_context *c, const struct tree *obj, const struct tree *old, bool namespaced,
                          struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *ref = tree_get(obj, "roleRef"), *subjects = tree_get(obj, "subjects");
    const struct at *at = AT(NULL, "roleRef");
    str kind = tree_str(tree_get(ref, "kind")), group = tree_str(tree_get(ref, "apiGroup"));

    if (!str_is(group, GROUP))
        flaw_unsupported(f, AT(at, "apiGroup"), json_quoted(c->a, group), "\"" GROUP "\"");
    if (!str_is(kind, "ClusterRole") && !(namespaced && str_is(kind, "Role")))
        flaw_unsupported(f, AT(at, "kind"), json_quoted(c->a, kind),
                         namespaced ? "\"Role\", \"ClusterRole\"" : "\"ClusterRole\"");
    if (tree_str(tree_get(ref, "name")).n == 0)
        flaw_required(f, AT(at, "name"), "%s", "");
    for (uint32_t i = 0; i < list_len(subjects); i++)
        check_subject(f, AT_IX(AT(NULL, "subjects"), i), &subjects->items[i], namespaced);
    if (old && !same(ref, tree_get(old, "roleRef")))
        flaw_invalid(f, at, view_text(c->a, view_role_ref, ref), "cannot change roleRef");
}

static void role_binding_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                  struct causes *out)
{
    check_binding(c, obj, old, /* namespaced= */ true, out);
}

static void cluster_role_binding_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                          struct causes *out)
{
    check_binding(c, obj, old, /* namespaced= */ false, out);
}

const struct kind_rules rules_role_binding = {binding_defaults, NULL, NULL, role_binding_validate, NULL};
const struct kind_rules rules_cluster_role_binding = {binding_defaults, NULL, NULL, cluster_role_binding_validate,
                                                      NULL};

static const struct column binding_columns[] = {
    COLUMN_NAME,
    {"Role", "string", "", "Role that it gives", 0},
    COLUMN_AGE,
    {"Users", "string", "", "Users who get it", 1},
    {"Groups", "string", "", "Groups that get it", 1},
    {"ServiceAccounts", "string", "", "Service accounts that get it", 1},
};

static void cell_subjects(struct cells *c, const struct tree *subjects, const char *kind)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < list_len(subjects); i++) {
        const struct tree *s = &subjects->items[i];
        str name = tree_str(tree_get(s, "name")), ns = tree_str(tree_get(s, "namespace"));

        if (!str_is(tree_str(tree_get(s, "kind")), kind))
            continue;
        sb_c(&b, b.n ? ", " : "");
        if (strcmp(kind, "ServiceAccount") == 0)
            sb_printf(&b, STR_FMT "/", STR_ARG(ns));
        sb_str(&b, name);
    }
    cell_str(c, sb_dup(&b, c->a));
    sb_fini(&b);
}

static void binding_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *ref = tree_get(obj, "roleRef"), *subjects = tree_get(obj, "subjects");
    str kind = tree_str(tree_get(ref, "kind")), name = tree_str(tree_get(ref, "name"));

    cell_name(c, obj);
    cell_str(c, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name)));
    cell_age(c, obj);
    cell_subjects(c, subjects, "User");
    cell_subjects(c, subjects, "Group");
    cell_subjects(c, subjects, "ServiceAccount");
}

KIND_COLUMNS(binding);
