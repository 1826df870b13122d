/* Rules for pods: what a new one gets, and the little that may change later. */
#include "sim/kube/rules/pod.h"

#include "base/sb.h"
#include "model/duration.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"

/* ---- defaults ---- */

static void default_state(struct arena *a, struct tree *state)
{
    struct tree *running = edit_map(state, "running"), *terminated = edit_map(state, "terminated");

    if (running)
        default_null(a, running, "startedAt");
    if (!terminated)
        return;
    default_i64(a, terminated, "exitCode", 0);
    default_null(a, terminated, "startedAt");
    default_null(a, terminated, "finishedAt");
}

static void default_container_statuses(struct arena *a, struct tree *list)
{
    for (uint32_t i = 0; i < list_len(list); i++) {
        struct tree *s = &list->items[i];

        if (s->kind != TREE_MAP)
            continue;
        default_str(a, s, "image", "");
        default_str(a, s, "imageID", "");
        default_str(a, s, "name", "");
        default_bool(a, s, "ready", false);
        default_i64(a, s, "restartCount", 0);
        default_state(a, tree_sub(a, s, "lastState"));
        default_state(a, tree_sub(a, s, "state"));
    }
}

static void default_status(struct arena *a, struct tree *status)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"};
    struct tree *conditions = edit_list(status, "conditions");
    str ip = tree_str(tree_get(status, "podIP"));

    if (!status)
        return;
    for (uint32_t i = 0; i < list_len(conditions); i++) {
        default_null(a, &conditions->items[i], "lastProbeTime");
        default_null(a, &conditions->items[i], "lastTransitionTime");
    }
    if (ip.n && !has(status, "podIPs"))
        tree_set_str(a, tree_push(a, tree_sublist(a, status, "podIPs"), *tree_new_map(a)), "ip", ip);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        default_container_statuses(a, edit_list(status, lists[i]));
}

static void pod_defaults(struct arena *a, struct tree *pod)
{
    compact(a, pod);
    struct tree *spec = tree_sub(a, pod, "spec");
    if (!spec)
        return;
    podspec_defaults(a, spec);
    podspec_requests(a, spec);
    default_bool(a, spec, "enableServiceLinks", true);
    default_status(a, edit_map(pod, "status"));
}

/* ---- creation ---- */

struct quality {
    bool any;        /* some container asks for cpu or memory */
    bool guaranteed; /* all of them have limits for both, and ask for as much */
};

static void look_at_container(struct quality *q, const struct tree *c)
{
    static const char *const names[] = {"cpu", "memory"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        amount limit = 0, request = 0;
        bool limited = amount_of(tree_at(c, "resources", "limits", names[i], NULL), &limit) && limit > 0;
        bool asked = amount_of(tree_at(c, "resources", "requests", names[i], NULL), &request) && request > 0;

        q->any |= limited || asked;
        q->guaranteed &= limited && asked && limit == request;
    }
}

static const char *qos_class(const struct tree *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct quality q = {.guaranteed = true};

    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const struct tree *list = tree_get(spec, lists[l]);

        for (uint32_t i = 0; i < list_len(list); i++)
            look_at_container(&q, &list->items[i]);
    }
    return !q.any ? "BestEffort" : q.guaranteed ? "Guaranteed" : "Burstable";
}

static void add_gated_condition(struct rule_context *c, struct tree *status)
{
    struct tree *x = tree_push(c->a, tree_sublist(c->a, status, "conditions"), *tree_new_map(c->a));
    struct sb b = {0};

    time_print_rfc3339(&b, c->now_ms);
    tree_set_str(c->a, x, "type", STR("PodScheduled"));
    tree_set_str(c->a, x, "status", STR("False"));
    tree_set(c->a, x, "lastProbeTime", tree_of_null());
    tree_set_str(c->a, x, "lastTransitionTime", sb_dup(&b, c->a));
    tree_set_str(c->a, x, "reason", STR("SchedulingGated"));
    tree_set_str(c->a, x, "message", STR("Scheduling is blocked due to non-empty scheduling gates"));
    sb_fini(&b);
}

static void pod_on_create(struct rule_context *c, struct tree *pod, str *ret_denied)
{
    pod_admit(c, pod, ret_denied);
    struct tree *status = tree_new_map(c->a);
    tree_set_str(c->a, status, "phase", STR("Pending"));
    tree_set_str(c->a, status, "qosClass", str_c(qos_class(tree_get(pod, "spec"))));
    if (list_len(tree_at(pod, "spec", "schedulingGates", NULL)))
        add_gated_condition(c, status);
    tree_set(c->a, pod, "status", *status);
}

/* ---- updates ---- */

static void pod_on_update(struct rule_context *c, struct tree *pod, const struct tree *old, str *ret_denied)
{
    static const char *const once[] = {"priority", "preemptionPolicy"};
    const struct tree *old_spec = tree_get(old, "spec");

    keep_other_half(c, pod, old, ret_denied);
    struct tree *spec = edit_map(pod, "spec");
    for (size_t i = 0; spec && !c->sub && i < ARRAY_LEN(once); i++)
        if (!has(spec, once[i]))
            keep(c->a, spec, old_spec, once[i]);
    struct tree *status = edit_map(pod, "status");
    if (status && !has(status, "qosClass"))
        keep(c->a, status, tree_get(old, "status"), "qosClass");
}

static void pod_validate(struct rule_context *c, const struct tree *pod, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(pod, "spec");
    static const char *const lists[] = {"containers", "initContainers"};

    if (old) {
        if (!c->sub)
            pod_check_update(f, pod, old);
        return;
    }
    podspec_check(f, AT(NULL, "spec"), spec);
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const struct tree *list = tree_get(spec, lists[l]);

        for (uint32_t i = 0; i < list_len(list); i++) {
            str image = tree_str(tree_get(&list->items[i], "image"));

            if (str_trim(image).n != image.n)
                flaw_invalid(f, AT(AT_IX(AT_STR(AT(NULL, "spec"), str_c(lists[l])), i), "image"),
                             json_quoted(c->a, image), "must not have leading or trailing whitespace");
        }
    }
}

static const char *const pod_selectable[] = {
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",  "spec.hostNetwork",
    "status.phase",  "status.podIP",       "status.podIPs",      "status.nominatedNodeName", NULL,
};

const struct kind_rules rules_pod = {pod_defaults, pod_on_create, pod_on_update, pod_validate, pod_selectable};
