/* Rules of what keeps pods running: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, PodTemplate. */
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

static const struct at *const at_spec = &(const struct at){.key = STR_INIT("spec")};

static struct tree *spec_with_template(struct arena *a, struct tree *obj)
{
    struct tree *spec;

    compact(a, obj);
    spec = tree_sub(a, obj, "spec");
    if (spec)
        template_defaults(a, tree_sub(a, spec, "template"));
    return spec;
}

static void default_condition_times(struct arena *a, struct tree *obj, const char *first, const char *second)
{
    struct tree *list = edit_list(edit_map(obj, "status"), "conditions");

    for (uint32_t i = 0; i < list_len(list); i++) {
        default_null(a, &list->items[i], first);
        if (second)
            default_null(a, &list->items[i], second);
    }
}

/* Counters that are written even when they are 0. */
static void default_counters(struct arena *a, struct tree *obj, const char *const *names)
{
    struct tree *status = tree_sub(a, obj, "status");

    for (; status && *names; names++)
        default_i64(a, status, *names, 0);
}

/* Counters that are left out when they are 0. */
static void drop_zero(struct tree *obj, const char *key)
{
    struct tree *status = edit_map(obj, "status");
    int64_t n;

    if (tree_to_i64(tree_get(status, key), &n) && n == 0)
        tree_drop(status, str_c(key));
}

/* ---- checks that they share ---- */

static void check_template_of(struct flaws *f, const struct tree *spec)
{
    const struct at *tmpl = AT(at_spec, "template"), *pod = AT(tmpl, "spec");
    const struct tree *t = tree_get(spec, "template"), *policy = tree_at(t, "spec", "restartPolicy", NULL);

    template_check(f, tmpl, t);
    if (!str_is(tree_str(policy), "Always"))
        flaw_unsupported(f, AT(pod, "restartPolicy"), json_sorted_text(f->a, policy), "\"Always\"");
    if (has(tree_get(t, "spec"), "activeDeadlineSeconds"))
        flaw_forbidden(f, AT(pod, "activeDeadlineSeconds"), "activeDeadlineSeconds in %s is not Supported",
                       "ReplicaSet");
}

static void check_selected(struct flaws *f, const struct tree *spec)
{
    const struct tree *labels = tree_at(spec, "template", "metadata", "labels", NULL);

    if (!selector_selects(tree_get(spec, "selector"), labels))
        flaw_invalid(f, AT(AT(AT(at_spec, "template"), "metadata"), "labels"), json_sorted_text(f->a, labels),
                     "`selector` does not match template `labels`");
}

/* The selector and whether it selects the template. */
static void check_selector(struct flaws *f, const struct tree *spec, const char *kind)
{
    const struct tree *s = tree_get(spec, "selector");
    const struct at *at = AT(at_spec, "selector");
    bool ok = selector_check(f, at, s);

    if (s && is_empty(tree_get(s, "matchLabels")) && is_empty(tree_get(s, "matchExpressions")))
        flaw_invalid(f, at, STR("{}"), "empty selector is invalid for %s", kind);
    if (!ok)
        flaw_invalid(f, at, view_text(f->a, view_label_selector, s), "invalid label selector");
    else
        check_selected(f, spec);
}

static void check_selector_stays(struct flaws *f, const struct tree *obj, const struct tree *old)
{
    const struct tree *s = tree_at(obj, "spec", "selector", NULL);

    if (!same(s, tree_at(old, "spec", "selector", NULL)))
        flaw_invalid(f, AT(at_spec, "selector"), view_text(f->a, view_label_selector, s), "field is immutable");
}

static void check_counters(struct flaws *f, const struct tree *obj, const char *const *names)
{
    const struct tree *status = tree_get(obj, "status");

    for (; *names; names++)
        check_not_negative(f, AT_STR(AT(NULL, "status"), str_c(*names)), tree_get(status, *names));
}

/* None of these may be larger than status.replicas. */
static void check_parts_of_replicas(struct flaws *f, const struct tree *obj, const char *const *names)
{
    const struct tree *status = tree_get(obj, "status");
    const struct tree *available = tree_get(status, "availableReplicas");
    int64_t all = 0, ready = 0, n;

    (void)tree_to_i64(tree_get(status, "replicas"), &all);
    (void)tree_to_i64(tree_get(status, "readyReplicas"), &ready);
    for (; *names; names++)
        if (tree_to_i64(tree_get(status, *names), &n) && n > all)
            flaw_invalid(f, AT_STR(AT(NULL, "status"), str_c(*names)), json_sorted_text(f->a, tree_get(status, *names)),
                         "cannot be greater than status.replicas");
    if (tree_to_i64(available, &n) && n > ready)
        flaw_invalid(f, AT(AT(NULL, "status"), "availableReplicas"), json_sorted_text(f->a, available),
                     "cannot be greater than readyReplicas");
}

static const struct view view_strategy[] = {
    {"Type", "type", VIEW_STR, NULL},
    {"RollingUpdate", "rollingUpdate", VIEW_ANY, NULL},
    {0},
};

/* ---- Deployment ---- */

static void deployment_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec = spec_with_template(a, obj);
    if (!spec)
        return;
    default_i64(a, spec, "replicas", 1);
    default_i64(a, spec, "revisionHistoryLimit", 10);
    default_i64(a, spec, "progressDeadlineSeconds", 600);
    struct tree *strategy = tree_sub(a, spec, "strategy");
    if (!strategy)
        return;
    default_str(a, strategy, "type", "RollingUpdate");
    if (str_is(tree_str(tree_get(strategy, "type")), "RollingUpdate")) {
        struct tree *rolling = tree_sub(a, strategy, "rollingUpdate");

        default_str(a, rolling, "maxUnavailable", "25%");
        default_str(a, rolling, "maxSurge", "25%");
    }
    tree_sub(a, obj, "status");
    drop_zero(obj, "replicas");
    drop_zero(obj, "availableReplicas");
    default_condition_times(a, obj, "lastUpdateTime", "lastTransitionTime");
}

static bool is_nothing(const struct tree *v)
{
    int64_t n = 1;

    return str_is(tree_str(v), "0%") || (tree_to_i64(v, &n) && n == 0);
}

static void check_rolling(struct flaws *f, const struct at *at, const struct tree *r)
{
    const struct tree *unavailable = tree_get(r, "maxUnavailable"), *surge = tree_get(r, "maxSurge");

    check_int_or_percent(f, AT(at, "maxUnavailable"), unavailable);
    check_int_or_percent(f, AT(at, "maxSurge"), surge);
    if (is_nothing(unavailable) && is_nothing(surge))
        flaw_invalid(f, AT(at, "maxUnavailable"), json_sorted_text(f->a, unavailable),
                     "may not be 0 when `maxSurge` is 0");
    check_at_most_all(f, AT(at, "maxUnavailable"), unavailable);
}

static void check_strategy(struct flaws *f, const struct at *at, const struct tree *s)
{
    str type = tree_str(tree_get(s, "type"));

    if (str_is(type, "Recreate")) {
        if (has(s, "rollingUpdate"))
            flaw_forbidden(f, AT(at, "rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'");
    } else if (str_is(type, "RollingUpdate")) {
        check_rolling(f, AT(at, "rollingUpdate"), tree_get(s, "rollingUpdate"));
    } else {
        flaw_unsupported(f, at, view_text(f->a, view_strategy, s), "\"Recreate\", \"RollingUpdate\"");
    }
}

static void check_progress(struct flaws *f, const struct tree *spec)
{
    const struct tree *deadline = tree_get(spec, "progressDeadlineSeconds");
    int64_t n = 0, ready = 0;

    (void)tree_to_i64(tree_get(spec, "minReadySeconds"), &ready);
    check_not_negative(f, AT(at_spec, "progressDeadlineSeconds"), deadline);
    if (tree_to_i64(deadline, &n) && n <= ready)
        flaw_invalid(f, AT(at_spec, "progressDeadlineSeconds"), json_sorted_text(f->a, deadline),
                     "must be greater than minReadySeconds");
}

static void deployment_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                struct causes *out)
{
    static const char *const counters[] = {
        "observedGeneration",  "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", NULL};
    static const char *const parts[] = {"updatedReplicas", "readyReplicas", "availableReplicas", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec");

    if (c->sub) {
        check_counters(f, obj, counters);
        check_parts_of_replicas(f, obj, parts);
        return;
    }
    check_not_negative(f, AT(at_spec, "replicas"), tree_get(spec, "replicas"));
    if (!has(spec, "selector"))
        flaw_required(f, AT(at_spec, "selector"), "%s", "");
    check_selector(f, spec, "deployment");
    check_template_of(f, spec);
    check_strategy(f, AT(at_spec, "strategy"), tree_get(spec, "strategy"));
    check_not_negative(f, AT(at_spec, "minReadySeconds"), tree_get(spec, "minReadySeconds"));
    check_not_negative(f, AT(at_spec, "revisionHistoryLimit"), tree_get(spec, "revisionHistoryLimit"));
    check_progress(f, spec);
    if (old)
        check_selector_stays(f, obj, old);
}

const struct kind_rules rules_deployment = {deployment_defaults, status_empty, keep_other_half, deployment_validate,
                                            NULL};

/* ---- ReplicaSet, ReplicationController ---- */

static const char *const only_replicas[] = {"replicas", NULL};

static void replica_set_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec = spec_with_template(a, obj);

    if (spec)
        default_i64(a, spec, "replicas", 1);
    default_counters(a, obj, only_replicas);
    drop_zero(obj, "availableReplicas");
    default_condition_times(a, obj, "lastTransitionTime", NULL);
}

static void replica_set_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    status_empty(c, obj, ret_denied);
    default_counters(c->a, obj, only_replicas);
}

static void check_replica_status(struct flaws *f, const struct tree *obj)
{
    static const char *const counters[] = {"replicas",          "fullyLabeledReplicas", "readyReplicas",
                                           "availableReplicas", "observedGeneration",   NULL};
    static const char *const parts[] = {"fullyLabeledReplicas", "readyReplicas", "availableReplicas", NULL};

    check_counters(f, obj, counters);
    check_parts_of_replicas(f, obj, parts);
}

static void replica_set_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                 struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec");

    if (c->sub) {
        check_replica_status(f, obj);
        return;
    }
    check_not_negative(f, AT(at_spec, "replicas"), tree_get(spec, "replicas"));
    check_not_negative(f, AT(at_spec, "minReadySeconds"), tree_get(spec, "minReadySeconds"));
    if (!has(spec, "selector"))
        flaw_required(f, AT(at_spec, "selector"), "%s", "");
    check_selector(f, spec, "deployment"); /* quirk: the words are those for deployments */
    check_template_of(f, spec);
    if (old)
        check_selector_stays(f, obj, old);
}

static const char *const replica_selectable[] = {"status.replicas", NULL};

const struct kind_rules rules_replica_set = {replica_set_defaults, replica_set_on_create, keep_other_half,
                                             replica_set_validate, replica_selectable};

static void replication_controller_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec;
    const struct tree *labels;

    compact(a, obj);
    default_counters(a, obj, only_replicas);
    drop_zero(obj, "availableReplicas");
    spec = tree_sub(a, obj, "spec");
    if (!spec)
        return;
    default_i64(a, spec, "replicas", 1);
    if (!has(spec, "template"))
        return;
    template_defaults(a, edit_map(spec, "template"));
    labels = tree_at(spec, "template", "metadata", "labels", NULL);
    if (labels && !has(spec, "selector"))
        tree_set(a, spec, "selector", *tree_copy(a, labels));
    struct tree *meta = tree_sub(a, obj, "metadata");
    if (labels && meta && !has(meta, "labels"))
        tree_set(a, meta, "labels", *tree_copy(a, labels));
}

static void replication_controller_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                            struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *selector = tree_get(spec, "selector");
    const struct tree *labels = tree_at(spec, "template", "metadata", "labels", NULL);
    struct tree as_labels = {.kind = TREE_MAP};

    (void)old;
    if (c->sub) {
        check_replica_status(f, obj);
        return;
    }
    check_not_negative(f, AT(at_spec, "minReadySeconds"), tree_get(spec, "minReadySeconds"));
    check_labels(f, AT(at_spec, "selector"), selector);
    if (is_empty(selector))
        flaw_required(f, AT(at_spec, "selector"), "%s", "");
    check_not_negative(f, AT(at_spec, "replicas"), tree_get(spec, "replicas"));
    if (!has(spec, "template")) {
        flaw_required(f, AT(at_spec, "template"), "%s", "");
        return;
    }
    if (selector)
        tree_set(c->a, &as_labels, "matchLabels", *selector);
    if (!selector_selects(&as_labels, labels))
        flaw_invalid(f, AT(AT(AT(at_spec, "template"), "metadata"), "labels"), json_sorted_text(c->a, labels),
                     "`selector` does not match template `labels`");
    check_template_of(f, spec);
}

const struct kind_rules rules_replication_controller = {replication_controller_defaults, replica_set_on_create,
                                                        keep_other_half, replication_controller_validate,
                                                        replica_selectable};

/* ---- StatefulSet ---- */

static const char *const stateful_counters[] = {"replicas", "availableReplicas", NULL};

static void stateful_set_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec = spec_with_template(a, obj), *claims = edit_list(spec, "volumeClaimTemplates");
    if (!spec)
        return;
    default_i64(a, spec, "replicas", 1);
    default_i64(a, spec, "revisionHistoryLimit", 10);
    default_str(a, spec, "podManagementPolicy", "OrderedReady");
    struct tree *strategy = tree_sub(a, spec, "updateStrategy");
    default_str(a, strategy, "type", "RollingUpdate");
    if (str_is(tree_str(tree_get(strategy, "type")), "RollingUpdate"))
        default_i64(a, tree_sub(a, strategy, "rollingUpdate"), "partition", 0);
    struct tree *retention = tree_sub(a, spec, "persistentVolumeClaimRetentionPolicy");
    default_str(a, retention, "whenDeleted", "Retain");
    default_str(a, retention, "whenScaled", "Retain");
    for (uint32_t i = 0; i < list_len(claims); i++) {
        struct tree *claim = &claims->items[i];

        if (claim->kind != TREE_MAP)
            continue;
        tree_set_str(a, claim, "apiVersion", STR("v1"));
        tree_set_str(a, claim, "kind", STR("PersistentVolumeClaim"));
        claim_spec_defaults(a, tree_sub(a, claim, "spec"));
        default_str(a, tree_sub(a, claim, "status"), "phase", "Pending");
    }
    default_counters(a, obj, stateful_counters);
    default_condition_times(a, obj, "lastTransitionTime", NULL);
}

static void stateful_set_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    status_empty(c, obj, ret_denied);
    default_counters(c->a, obj, stateful_counters);
}

static void check_stateful_stays(struct flaws *f, const struct tree *spec, const struct tree *was)
{
    static const char *const free_fields[] = {"replicas",
                                              "ordinals",
                                              "template",
                                              "updateStrategy",
                                              "revisionHistoryLimit",
                                              "persistentVolumeClaimRetentionPolicy",
                                              "minReadySeconds"};
    struct tree *rest = tree_copy(f->a, spec);

    for (size_t i = 0; i < ARRAY_LEN(free_fields); i++)
        keep(f->a, rest, was, free_fields[i]);
    if (!tree_equal(rest, was))
        flaw_forbidden(f, at_spec,
                       "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                       "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                       "'minReadySeconds' are forbidden");
}

static void stateful_set_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                  struct causes *out)
{
    static const char *const counters[] = {"replicas",        "readyReplicas",     "currentReplicas",
                                           "updatedReplicas", "availableReplicas", NULL};
    static const char *const parts[] = {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                                        NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *strategy = tree_get(spec, "updateStrategy");
    str policy = tree_str(tree_get(spec, "podManagementPolicy")), type = tree_str(tree_get(strategy, "type"));

    if (c->sub) {
        check_counters(f, obj, counters);
        check_parts_of_replicas(f, obj, parts);
        return;
    }
    if (!str_is(policy, "OrderedReady") && !str_is(policy, "Parallel"))
        flaw_invalid(f, AT(at_spec, "podManagementPolicy"), json_quoted(c->a, policy),
                     "must be 'OrderedReady' or 'Parallel'");
    if (!str_is(type, "RollingUpdate") && !str_is(type, "OnDelete"))
        flaw_invalid(f, AT(at_spec, "updateStrategy"), view_text(c->a, view_strategy, strategy),
                     "must be 'RollingUpdate' or 'OnDelete'");
    check_not_negative(f, AT(at_spec, "replicas"), tree_get(spec, "replicas"));
    check_not_negative(f, AT(at_spec, "minReadySeconds"), tree_get(spec, "minReadySeconds"));
    if (!has(spec, "selector"))
        flaw_required(f, AT(at_spec, "selector"), "%s", "");
    check_selector(f, spec, "statefulset");
    check_template_of(f, spec);
    if (old)
        check_stateful_stays(f, spec, tree_get(old, "spec"));
}

const struct kind_rules rules_stateful_set = {stateful_set_defaults, stateful_set_on_create, keep_other_half,
                                              stateful_set_validate, NULL};

/* ---- DaemonSet ---- */

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

static const char *const daemon_counters[] = {"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled",
                                              "numberReady", NULL};

static void daemon_set_defaults(struct arena *a, struct tree *obj)
{
    struct tree *spec = spec_with_template(a, obj);
    if (!spec)
        return;
    default_i64(a, spec, "revisionHistoryLimit", 10);
    struct tree *strategy = tree_sub(a, spec, "updateStrategy");
    default_str(a, strategy, "type", "RollingUpdate");
    if (str_is(tree_str(tree_get(strategy, "type")), "RollingUpdate")) {
        struct tree *rolling = tree_sub(a, strategy, "rollingUpdate");

        default_i64(a, rolling, "maxUnavailable", 1);
        default_i64(a, rolling, "maxSurge", 0);
    }
    default_counters(a, obj, daemon_counters);
    default_condition_times(a, obj, "lastTransitionTime", NULL);
}

static void set_template_generation(struct arena *a, struct tree *obj, int64_t n)
{
    struct tree *notes = tree_path(a, obj, "metadata", "annotations", NULL);

    if (notes)
        tree_set_str(a, notes, TEMPLATE_GENERATION, arena_printf(a, "%lld", (long long)n));
}

static void daemon_set_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    status_empty(c, obj, ret_denied);
    default_counters(c->a, obj, daemon_counters);
    set_template_generation(c->a, obj, 1);
}

static void daemon_set_on_update(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied)
{
    int64_t n = 0;

    keep_other_half(c, obj, old, ret_denied);
    if (c->sub)
        return;
    (void)str_to_i64(tree_str(tree_at(old, "metadata", "annotations", TEMPLATE_GENERATION, NULL)), &n);
    if (!same(tree_at(obj, "spec", "template", NULL), tree_at(old, "spec", "template", NULL)))
        n++;
    set_template_generation(c->a, obj, n);
}

static void check_daemon_selector(struct flaws *f, const struct tree *spec)
{
    const struct tree *s = tree_get(spec, "selector");
    const struct at *at = AT(at_spec, "selector");

    if (selector_check(f, at, s))
        check_selected(f, spec);
    if (s && s->n == 0)
        flaw_invalid(f, at, STR("{}"), "empty selector is invalid for daemonset");
}

static void check_daemon_rolling(struct flaws *f, const struct at *at, const struct tree *r)
{
    const struct tree *unavailable = tree_get(r, "maxUnavailable"), *surge = tree_get(r, "maxSurge");

    check_int_or_percent(f, AT(at, "maxUnavailable"), unavailable);
    check_int_or_percent(f, AT(at, "maxSurge"), surge);
    if (is_nothing(unavailable) && is_nothing(surge))
        flaw_required(f, AT(at, "maxUnavailable"), "cannot be 0 when maxSurge is 0");
    else if (!is_nothing(unavailable) && !is_nothing(surge))
        flaw_invalid(f, AT(at, "maxSurge"), json_sorted_text(f->a, surge),
                     "may not be set when maxUnavailable is non-zero");
}

static void daemon_set_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                struct causes *out)
{
    static const char *const counters[] = {
        "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
        "updatedNumberScheduled", "numberAvailable",    "numberUnavailable",      NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *strategy = tree_get(spec, "updateStrategy");
    str type = tree_str(tree_get(strategy, "type"));

    if (c->sub) {
        check_counters(f, obj, counters);
        return;
    }
    check_daemon_selector(f, spec);
    check_template_of(f, spec);
    check_not_negative(f, AT(at_spec, "minReadySeconds"), tree_get(spec, "minReadySeconds"));
    if (!str_is(type, "RollingUpdate") && !str_is(type, "OnDelete"))
        flaw_unsupported(f, AT(at_spec, "updateStrategy"), view_text(c->a, view_strategy, strategy),
                         "\"RollingUpdate\", \"OnDelete\"");
    else if (str_is(type, "RollingUpdate"))
        check_daemon_rolling(f, AT(AT(at_spec, "updateStrategy"), "rollingUpdate"),
                             tree_get(strategy, "rollingUpdate"));
    check_not_negative(f, AT(at_spec, "revisionHistoryLimit"), tree_get(spec, "revisionHistoryLimit"));
    if (old)
        check_selector_stays(f, obj, old);
}

const struct kind_rules rules_daemon_set = {daemon_set_defaults, daemon_set_on_create, daemon_set_on_update,
                                            daemon_set_validate, NULL};

/* ---- PodTemplate ---- */

static void pod_template_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    template_defaults(a, tree_sub(a, obj, "template"));
}

static void pod_template_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                  struct causes *out)
{
    (void)old;
    template_check(FLAWS(c, out), AT(NULL, "template"), tree_get(obj, "template"));
}

const struct kind_rules rules_pod_template = {pod_template_defaults, NULL, NULL, pod_template_validate, NULL};
