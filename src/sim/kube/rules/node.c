/* Rules and columns of nodes. */
#include "base/vec.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

static void default_node_status(struct arena *a, struct tree *status)
{
    static const char *const info[] = {
        "architecture",   "bootID",    "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
        "kubeletVersion", "machineID", "operatingSystem",         "osImage",       "systemUUID",
    };
    struct tree *endpoint = tree_path(a, status, "daemonEndpoints", "kubeletEndpoint", NULL);
    struct tree *node_info = tree_sub(a, status, "nodeInfo"), *conditions = edit_list(status, "conditions");

    for (size_t i = 0; node_info && i < ARRAY_LEN(info); i++)
        default_str(a, node_info, info[i], "");
    if (endpoint)
        default_i64(a, endpoint, "Port", 0);
    if (has(status, "capacity") && !has(status, "allocatable"))
        tree_set(a, status, "allocatable", *tree_copy(a, tree_get(status, "capacity")));
    for (uint32_t i = 0; i < list_len(conditions); i++) {
        default_null(a, &conditions->items[i], "lastHeartbeatTime");
        default_null(a, &conditions->items[i], "lastTransitionTime");
    }
}

static void node_defaults(struct arena *a, struct tree *node)
{
    compact(a, node);
    struct tree *status = tree_sub(a, node, "status");
    if (status)
        default_node_status(a, status);
    struct tree *spec = tree_sub(a, node, "spec");
    str cidr = tree_str(tree_get(spec, "podCIDR"));
    if (cidr.n && !has(spec, "podCIDRs"))
        tree_push(a, tree_sublist(a, spec, "podCIDRs"), tree_of_str(cidr));
}

/* Until its kubelet reports nobody knows whether it works: the plugin TaintNodesByCondition. */
static void node_on_create(struct rule_context *c, struct tree *node, str *ret_denied)
{
    struct tree *taints = tree_sublist(c->a, tree_sub(c->a, node, "spec"), "taints");

    (void)ret_denied;
    for (uint32_t i = 0; i < list_len(taints); i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), "node.kubernetes.io/not-ready") &&
            str_is(tree_str(tree_get(&taints->items[i], "effect")), "NoSchedule"))
            return;
    if (!taints)
        return;
    struct tree *t = tree_push(c->a, taints, *tree_new_map(c->a));
    tree_set_str(c->a, t, "key", STR("node.kubernetes.io/not-ready"));
    tree_set_str(c->a, t, "effect", STR("NoSchedule"));
}

static const struct view view_taint[] = {
    {"Key", "key", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {"Effect", "effect", VIEW_STR, NULL},
    {"TimeAdded", "timeAdded", VIEW_ANY, NULL},
    {0},
};

static void check_taint(struct flaws *f, const struct at *at, const struct tree *taints, uint32_t i)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    const struct tree *t = &taints->items[i];

    check_qualified(f, AT(at, "key"), tree_str(tree_get(t, "key")));
    check_label_value(f, AT(at, "value"), tree_str(tree_get(t, "value")));
    if (is_empty(tree_get(t, "effect")))
        flaw_required(f, AT(at, "effect"), "%s", "");
    check_word(f, AT(at, "effect"), tree_get(t, "effect"), effects);
    for (uint32_t j = 0; j < i; j++) {
        const struct tree *other = &taints->items[j];

        if (!same(tree_get(t, "key"), tree_get(other, "key")) ||
            !same(tree_get(t, "effect"), tree_get(other, "effect")))
            continue;
        str value = view_text(f->a, view_taint, t);

        flaw_add(f, "FieldValueDuplicate", at,
                 arena_printf(f->a, "Duplicate value: " STR_FMT ": taints must be unique by key and effect pair",
                              STR_ARG(value)));
        return;
    }
}

static void check_amounts(struct flaws *f, const struct at *at, const struct tree *map)
{
    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++)
        check_amount_not_negative(f, AT_STR(at, map->keys[i]), &map->items[i]);
}

static void node_validate(struct rule_context *c, const struct tree *node, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(node, "spec"), *was = tree_get(old, "spec");
    const struct tree *taints = tree_get(spec, "taints"), *status = tree_get(node, "status");
    const struct at *at = AT(NULL, "spec");

    for (uint32_t i = 0; i < list_len(taints); i++)
        check_taint(f, AT_IX(AT(AT(NULL, "metadata"), "taints"), i), taints, i); /* quirk: not where they are */
    check_amounts(f, AT(AT(NULL, "status"), "capacity"), tree_get(status, "capacity"));
    check_amounts(f, AT(AT(NULL, "status"), "allocatable"), tree_get(status, "allocatable"));
    if (!old)
        return;
    if (has(was, "podCIDR") && !same(tree_get(spec, "podCIDR"), tree_get(was, "podCIDR")))
        flaw_forbidden(f, AT(at, "podCIDRs"), "node updates may not change podCIDR except from \"\" to valid");
    if (has(was, "providerID") && !same(tree_get(spec, "providerID"), tree_get(was, "providerID")))
        flaw_forbidden(f, AT(at, "providerID"), "node updates may not change providerID except from \"\" to valid");
}

static const char *const node_selectable[] = {"spec.unschedulable", NULL};

const struct kind_rules rules_node = {node_defaults, node_on_create, keep_other_half, node_validate, node_selectable};

/* ---- columns ---- */

static const struct column node_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Whether it is ready, and whether pods may come", 0},
    {"Roles", "string", "", "Roles, from its labels", 0},
    COLUMN_AGE,
    {"Version", "string", "", "Version of the kubelet", 0},
    {"Internal-IP", "string", "", "Address inside the cluster", 1},
    {"External-IP", "string", "", "Address outside the cluster", 1},
    {"OS-Image", "string", "", "Operating system", 1},
    {"Kernel-Version", "string", "", "Kernel", 1},
    {"Container-Runtime", "string", "", "Container runtime and its version", 1},
};

static void cell_roles(struct cells *c, const struct tree *labels)
{
    const str prefix = STR("node-role.kubernetes.io/");
    VEC(str) roles = {0};
    struct sb b = {0};

    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++) {
        str key = labels->keys[i], role = {0};

        if (str_starts(key, prefix))
            role = str_sub(key, prefix.n, key.n);
        else if (str_is(key, "kubernetes.io/role"))
            role = tree_str(&labels->items[i]);
        if (role.n)
            vec_push(&roles, role);
    }
    sort_stable(roles.v, roles.n, sizeof(*roles.v), by_text, NULL);
    for (uint32_t i = 0; i < roles.n; i++)
        if (i == 0 || !str_eq(roles.v[i], roles.v[i - 1])) {
            sb_c(&b, i ? "," : "");
            sb_str(&b, roles.v[i]);
        }
    cell_or(c, sb_dup(&b, c->a), "<none>");
    sb_fini(&b);
    vec_fini(&roles);
}

static void cell_address(struct cells *c, const struct tree *node, const char *type)
{
    const struct tree *list = tree_at(node, "status", "addresses", NULL);

    for (uint32_t i = 0; i < list_len(list); i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type)) {
            cell_str(c, tree_str(tree_get(&list->items[i], "address")));
            return;
        }
    cell_c(c, "<none>");
}

static void node_cells(struct arena *a, const struct tree *node, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *ready = condition(node, STR("Ready")), *info = tree_at(node, "status", "nodeInfo", NULL);
    const char *word = !ready ? "Unknown" : str_is(tree_str(tree_get(ready, "status")), "True") ? "Ready" : "NotReady";
    bool cordoned = tree_is_true(tree_at(node, "spec", "unschedulable", NULL));

    cell_name(c, node);
    cell_str(c, arena_printf(a, "%s%s", word, cordoned ? ",SchedulingDisabled" : ""));
    cell_roles(c, tree_at(node, "metadata", "labels", NULL));
    cell_age(c, node);
    cell_str(c, tree_str(tree_get(info, "kubeletVersion")));
    cell_address(c, node, "InternalIP");
    cell_address(c, node, "ExternalIP");
    cell_or(c, tree_str(tree_get(info, "osImage")), "<unknown>");
    cell_or(c, tree_str(tree_get(info, "kernelVersion")), "<unknown>");
    cell_or(c, tree_str(tree_get(info, "containerRuntimeVersion")), "<unknown>");
}

KIND_COLUMNS(node);
