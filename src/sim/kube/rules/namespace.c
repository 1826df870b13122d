/* Rules and columns of namespaces. */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

static void namespace_defaults(struct arena *a, struct tree *ns)
{
    struct tree *meta;

    compact(a, ns);
    meta = tree_sub(a, ns, "metadata");
    if (!meta || object_name(ns).n == 0)
        return;
    struct tree *labels = tree_sub(a, meta, "labels");
    if (labels)
        tree_set_str(a, labels, "kubernetes.io/metadata.name", object_name(ns));
    tree_sub(a, ns, "spec");
    struct tree *status = tree_sub(a, ns, "status");
    if (status)
        default_str(a, status, "phase", "Active");
}

static void namespace_on_create(struct rule_context *c, struct tree *ns, str *ret_denied)
{
    struct tree *finalizers = tree_sublist(c->a, tree_sub(c->a, ns, "spec"), "finalizers");
    bool there = false;

    (void)ret_denied;
    for (uint32_t i = 0; i < list_len(finalizers); i++)
        there |= str_is(tree_str(&finalizers->items[i]), "kubernetes");
    if (finalizers && !there)
        tree_push(c->a, finalizers, tree_of_str(STR("kubernetes")));
    struct tree *status = tree_new_map(c->a);
    tree_set_str(c->a, status, "phase", STR("Active"));
    tree_set(c->a, ns, "status", *status);
}

/* spec.finalizers go through the subresource finalize. */
static void namespace_on_update(struct rule_context *c, struct tree *ns, const struct tree *old, str *ret_denied)
{
    keep_other_half(c, ns, old, ret_denied);
    if (!c->sub)
        keep(c->a, ns, old, "spec");
    else if (strcmp(c->sub, "finalize") == 0)
        keep(c->a, ns, old, "status");
}

static const char *const namespace_selectable[] = {"status.phase", NULL};

const struct kind_rules rules_namespace = {namespace_defaults, namespace_on_create, namespace_on_update, NULL,
                                           namespace_selectable};

static const struct column namespace_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Active or Terminating", 0},
    COLUMN_AGE,
};

static void namespace_cells(struct arena *a, const struct tree *ns, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, ns);
    cell_str(c, tree_str(tree_at(ns, "status", "phase", NULL)));
    cell_age(c, ns);
}

KIND_COLUMNS(namespace);
