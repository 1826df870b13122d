/* Rules and columns of small kinds: PodDisruptionBudget, PriorityClass, Lease, HorizontalPodAutoscaler. */
#include "base/sb.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

static const struct at *const at_spec = &(const struct at){.key = STR_INIT("spec")};

/* ---- PodDisruptionBudget ---- */

static void default_budget_status(struct arena *a, struct tree *obj)
{
    static const char *const counters[] = {"currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"};
    struct tree *status = tree_sub(a, obj, "status");

    for (size_t i = 0; status && i < ARRAY_LEN(counters); i++)
        default_i64(a, status, counters[i], 0);
}

static void pdb_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    tree_sub(a, obj, "spec");
    default_budget_status(a, obj);
}

static void pdb_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    status_none(c, obj, ret_denied);
    default_budget_status(c->a, obj);
}

static const struct view view_budget[] = {
    {"MinAvailable", "minAvailable", VIEW_ANY, NULL},
    {"Selector", "selector", VIEW_PTR, view_label_selector},
    {"MaxUnavailable", "maxUnavailable", VIEW_ANY, NULL},
    {"UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy", VIEW_ANY, NULL},
    {0},
};

static void pdb_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    static const char *const limits[] = {"minAvailable", "maxUnavailable"};
    static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec");

    (void)old;
    if (c->sub)
        return;
    if (has(spec, "minAvailable") && has(spec, "maxUnavailable"))
        flaw_invalid(f, at_spec, view_text(c->a, view_budget, spec),
                     "minAvailable and maxUnavailable cannot be both set");
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        check_int_or_percent(f, AT_STR(at_spec, str_c(limits[i])), tree_get(spec, limits[i]));
        check_at_most_all(f, AT_STR(at_spec, str_c(limits[i])), tree_get(spec, limits[i]));
    }
    selector_check(f, AT(at_spec, "selector"), tree_get(spec, "selector"));
    check_word(f, AT(at_spec, "unhealthyPodEvictionPolicy"), tree_get(spec, "unhealthyPodEvictionPolicy"), policies);
}

const struct kind_rules rules_pdb = {pdb_defaults, pdb_on_create, keep_other_half, pdb_validate, NULL};

static const struct column pdb_columns[] = {
    COLUMN_NAME,
    {"Min Available", "string", "", "Pods that must stay available", 0},
    {"Max Unavailable", "string", "", "Pods that may be unavailable", 0},
    {"Allowed Disruptions", "integer", "", "Pods that may be evicted now", 0},
    COLUMN_AGE,
};

static void pdb_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec");

    cell_name(c, obj);
    cell_or(c, tree_scalar(tree_get(spec, "minAvailable")), "N/A");
    cell_or(c, tree_scalar(tree_get(spec, "maxUnavailable")), "N/A");
    cell_count(c, tree_at(obj, "status", "disruptionsAllowed", NULL));
    cell_age(c, obj);
}

KIND_COLUMNS(pdb);

/* ---- PriorityClass ---- */

#define HIGHEST_USER_PRIORITY 1000000000

static void priority_class_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_str(a, obj, "preemptionPolicy", "PreemptLowerPriority");
    default_i64(a, obj, "value", 0);
}

static bool is_system_class(str name, int64_t value)
{
    return (str_is(name, "system-node-critical") && value == 2000001000) ||
           (str_is(name, "system-cluster-critical") && value == 2000000000);
}

static void priority_class_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                    struct causes *out)
{
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    struct flaws *f = FLAWS(c, out);
    str name = object_name(obj);
    int64_t value = 0;

    (void)tree_to_i64(tree_get(obj, "value"), &value);
    if (str_starts(name, STR("system-"))) {
        if (!is_system_class(name, value))
            flaw_forbidden(
                f, AT(AT(NULL, "metadata"), "name"),
                "priority class names with 'system-' prefix are reserved for system use only. error: " STR_FMT
                " is not a known system priority class",
                STR_ARG(name));
    } else if (value > HIGHEST_USER_PRIORITY) {
        flaw_forbidden(f, AT(NULL, "value"), "maximum allowed value of a user defined priority is %d",
                       HIGHEST_USER_PRIORITY);
    }
    check_word(f, AT(NULL, "preemptionPolicy"), tree_get(obj, "preemptionPolicy"), policies);
    if (!old)
        return;
    if (!same(tree_get(obj, "value"), tree_get(old, "value")))
        flaw_forbidden(f, AT(NULL, "value"), "may not be changed in an update.");
    check_immutable(f, AT(NULL, "preemptionPolicy"), tree_get(obj, "preemptionPolicy"),
                    tree_get(old, "preemptionPolicy"));
}

const struct kind_rules rules_priority_class = {priority_class_defaults, NULL, NULL, priority_class_validate, NULL};

static const struct column priority_class_columns[] = {
    COLUMN_NAME,
    {"Value", "integer", "", "Priority of its pods", 0},
    {"Global-Default", "boolean", "", "Whether pods without a class get this one", 0},
    COLUMN_AGE,
    {"PreemptionPolicy", "string", "", "Whether its pods may push out others", 0},
};

static void priority_class_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_count(c, tree_get(obj, "value"));
    cell_bool(c, tree_is_true(tree_get(obj, "globalDefault")));
    cell_age(c, obj);
    cell_str(c, tree_str(tree_get(obj, "preemptionPolicy")));
}

KIND_COLUMNS(priority_class);

/* ---- Lease ---- */

static void lease_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    tree_sub(a, obj, "spec");
}

static void lease_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *seconds = tree_get(spec, "leaseDurationSeconds");
    int64_t n;

    (void)old;
    if (tree_to_i64(seconds, &n) && n <= 0)
        flaw_invalid(f, AT(at_spec, "leaseDurationSeconds"), json_sorted_text(c->a, seconds), "must be greater than 0");
    check_not_negative(f, AT(at_spec, "leaseTransitions"), tree_get(spec, "leaseTransitions"));
}

const struct kind_rules rules_lease = {lease_defaults, NULL, NULL, lease_validate, NULL};

static const struct column lease_columns[] = {
    COLUMN_NAME,
    {"Holder", "string", "", "Who holds it", 0},
    COLUMN_AGE,
};

static void lease_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_str(c, tree_str(tree_at(obj, "spec", "holderIdentity", NULL)));
    cell_age(c, obj);
}

KIND_COLUMNS(lease);

/* ---- HorizontalPodAutoscaler ---- */

static void hpa_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec");
    if (!spec)
        return;
    default_i64(a, spec, "minReplicas", 1);
    if (!has(spec, "metrics")) {
        struct tree *m = tree_push(a, tree_sublist(a, spec, "metrics"), *tree_new_map(a));
        tree_set_str(a, m, "type", STR("Resource"));
        struct tree *resource = tree_sub(a, m, "resource");
        tree_set_str(a, resource, "name", STR("cpu"));
        struct tree *target = tree_sub(a, resource, "target");
        tree_set_str(a, target, "type", STR("Utilization"));
        tree_set_i64(a, target, "averageUtilization", 80);
    }
    struct tree *status = tree_sub(a, obj, "status");
    if (!status)
        return;
    default_null(a, status, "currentMetrics");
    default_i64(a, status, "desiredReplicas", 0);
}

static void hpa_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    status_empty(c, obj, ret_denied);
    hpa_defaults(c->a, obj);
}

static void hpa_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *target = tree_get(spec, "scaleTargetRef");
    const struct tree *max = tree_get(spec, "maxReplicas");
    const struct at *at = AT(at_spec, "scaleTargetRef");
    int64_t least = 0, most = 0;

    (void)old;
    if (c->sub)
        return;
    (void)tree_to_i64(tree_get(spec, "minReplicas"), &least);
    (void)tree_to_i64(max, &most);
    if (least < 1)
        flaw_invalid(f, AT(at_spec, "minReplicas"), json_sorted_text(c->a, tree_get(spec, "minReplicas")),
                     "must be greater than or equal to 1");
    if (most < 1)
        flaw_invalid(f, AT(at_spec, "maxReplicas"), arena_printf(c->a, "%lld", (long long)most),
                     "must be greater than 0");
    if (most < least)
        flaw_invalid(f, AT(at_spec, "maxReplicas"), arena_printf(c->a, "%lld", (long long)most),
                     "must be greater than or equal to `minReplicas`");
    if (tree_str(tree_get(target, "kind")).n == 0)
        flaw_required(f, AT(at, "kind"), "%s", "");
    if (tree_str(tree_get(target, "name")).n == 0)
        flaw_required(f, AT(at, "name"), "%s", "");
    str version = tree_str(tree_get(target, "apiVersion"));
    if (version.n == 0)
        flaw_invalid(f, AT(at, "apiVersion"), json_quoted(c->a, version), "apiVersion must specify API group");
}

const struct kind_rules rules_hpa = {hpa_defaults, hpa_on_create, keep_other_half, hpa_validate, NULL};

static const struct column hpa_columns[] = {
    COLUMN_NAME,
    {"Reference", "string", "", "What it scales", 0},
    {"Targets", "string", "", "What is measured, and what it should be", 0},
    {"MinPods", "string", "", "Fewest pods", 0},
    {"MaxPods", "string", "", "Most pods", 0},
    {"Replicas", "string", "", "Pods there are", 0},
    COLUMN_AGE,
};

/* "cpu: 12%/50%" for a resource; other sources are named by their kind. */
static void add_metric(struct sb *b, const struct tree *spec, const struct tree *now)
{
    const struct tree *r = tree_get(spec, "resource"), *target = tree_get(r, "target");
    const struct tree *current = tree_at(now, "resource", "current", NULL);
    str name = tree_str(tree_get(r, "name"));
    str percent = tree_scalar(tree_get(target, "averageUtilization"));
    str value = tree_scalar(tree_get(target, "averageValue"));
    str got = tree_scalar(tree_get(current, percent.n ? "averageUtilization" : "averageValue"));

    if (!r) {
        str type = tree_str(tree_get(spec, "type"));

        sb_printf(b, "<unknown>/" STR_FMT, STR_ARG(type));
        return;
    }
    sb_printf(b, STR_FMT ": ", STR_ARG(name));
    sb_str(b, got.n ? got : STR("<unknown>"));
    if (got.n && percent.n)
        sb_char(b, '%');
    sb_char(b, '/');
    sb_str(b, percent.n ? percent : value);
    if (percent.n)
        sb_char(b, '%');
}

static void hpa_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec"), *target = tree_get(spec, "scaleTargetRef");
    const struct tree *metrics = tree_get(spec, "metrics"), *now = tree_at(obj, "status", "currentMetrics", NULL);
    str kind = tree_str(tree_get(target, "kind")), name = tree_str(tree_get(target, "name"));
    struct sb b = {0};

    cell_name(c, obj);
    cell_str(c, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kind), STR_ARG(name)));
    for (uint32_t i = 0; i < list_len(metrics) && i < 2; i++) {
        sb_c(&b, i ? ", " : "");
        add_metric(&b, &metrics->items[i], i < list_len(now) ? &now->items[i] : NULL);
    }
    if (list_len(metrics) > 2)
        sb_printf(&b, " + %u more...", list_len(metrics) - 2);
    cell_or(c, sb_dup(&b, a), "<none>");
    cell_or(c, tree_scalar(tree_get(spec, "minReplicas")), "<unset>");
    cell_count(c, tree_get(spec, "maxReplicas"));
    cell_count(c, tree_at(obj, "status", "currentReplicas", NULL));
    cell_age(c, obj);
    sb_fini(&b);
}

KIND_COLUMNS(hpa);
