/* What may change in a pod: images, one more toleration, a shorter deadline, fewer gates. */
#include "sim/kube/rules/pod.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/view.h"

#define MAY_CHANGE                                                                                                     \
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"          \
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"                        \
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

static bool same_but_seconds(const struct tree *x, const struct tree *y)
{
    static const char *const fields[] = {"key", "operator", "value", "effect"};

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!same(tree_get(x, fields[i]), tree_get(y, fields[i])))
            return false;
    return true;
}

static void check_tolerations_stay(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old)
{
    const struct tree *now = tree_get(new, "tolerations"), *was = tree_get(old, "tolerations");

    for (uint32_t i = 0; i < list_len(was); i++) {
        bool found = false;

        for (uint32_t j = 0; j < list_len(now) && !found; j++)
            found = same_but_seconds(&was->items[i], &now->items[j]);
        if (!found) {
            flaw_forbidden(f, AT(at, "tolerations"),
                           "existing toleration can not be modified except its "
                           "tolerationSeconds");
            return;
        }
    }
    tolerations_check(f, AT(at, "tolerations"), now);
}

static void check_deadline(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old)
{
    const struct tree *now = tree_get(new, "activeDeadlineSeconds");
    int64_t n, was;

    check_range(f, at, now, 0, INT32_MAX);
    if (!tree_to_i64(tree_get(old, "activeDeadlineSeconds"), &was))
        return;
    if (!tree_to_i64(now, &n))
        flaw_invalid(f, at, STR("null"), "must not update from a positive integer to nil value");
    else if (n > was)
        flaw_invalid(f, at, json_sorted_text(f->a, now), "must be less than or equal to previous value");
}

static void check_gates(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old)
{
    const struct tree *now = tree_get(new, "schedulingGates"), *was = tree_get(old, "schedulingGates");

    for (uint32_t i = 0; i < list_len(now); i++) {
        str name = tree_str(tree_get(&now->items[i], "name"));
        bool found = false;

        for (uint32_t j = 0; j < list_len(was) && !found; j++)
            found = str_eq(tree_str(tree_get(&was->items[j], "name")), name);
        if (!found)
            flaw_forbidden(f, AT(AT_IX(at, i), "name"),
                           "only deletion is allowed, but found new scheduling gate '" STR_FMT "'", STR_ARG(name));
    }
}

/* While gates hold a pod back its nodes may be narrowed down. */
static void check_node_selector(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old)
{
    const struct tree *now = tree_get(new, "nodeSelector"), *was = tree_get(old, "nodeSelector");

    for (uint32_t i = 0; was && was->kind == TREE_MAP && i < was->n; i++) {
        const struct tree *x = tree_find((struct tree *)now, was->keys[i]);

        if (x && tree_equal(x, &was->items[i]))
            continue;
        flaw_invalid(f, at, json_sorted_text(f->a, now),
                     "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
        return;
    }
}

static void copy_images(struct arena *a, struct tree *to, const struct tree *from, const char *list_name)
{
    struct tree *list = edit_list(to, list_name);
    const struct tree *images = tree_get(from, list_name);

    for (uint32_t i = 0; i < list_len(list); i++)
        keep(a, &list->items[i], &images->items[i], "image");
}

static bool same_number(struct flaws *f, const struct tree *new, const struct tree *old, const char *list_name,
                        const char *what)
{
    const struct tree *now = tree_get(new, list_name);

    if (list_len(now) != list_len(tree_get(old, list_name))) {
        flaw_forbidden(f, AT_STR(AT(NULL, "spec"), str_c(list_name)), "pod updates may not add or remove %s", what);
        return false;
    }
    for (uint32_t i = 0; i < list_len(now); i++)
        if (tree_str(tree_get(&now->items[i], "image")).n == 0)
            flaw_required(f, AT(AT_IX(AT_STR(AT(NULL, "spec"), str_c(list_name)), i), "image"), "%s", "");
    return true;
}

void pod_check_update(struct flaws *f, const struct tree *pod, const struct tree *old)
{
    const struct tree *new_spec = tree_get(pod, "spec"), *old_spec = tree_get(old, "spec");
    const struct at *spec = AT(NULL, "spec");
    bool gated = list_len(tree_get(old_spec, "schedulingGates")) > 0;
    static const char *const free_fields[] = {"activeDeadlineSeconds", "tolerations", "schedulingGates"};
    static const char *const gated_fields[] = {"nodeSelector", "affinity"};

    if (!same_number(f, new_spec, old_spec, "containers", "containers") ||
        !same_number(f, new_spec, old_spec, "initContainers", "initContainers"))
        return;
    check_deadline(f, AT(spec, "activeDeadlineSeconds"), new_spec, old_spec);
    check_tolerations_stay(f, spec, new_spec, old_spec);
    check_gates(f, AT(spec, "schedulingGates"), new_spec, old_spec);
    if (gated)
        check_node_selector(f, AT(spec, "nodeSelector"), new_spec, old_spec);

    struct tree *rest = tree_copy(f->a, new_spec);
    copy_images(f->a, rest, old_spec, "containers");
    copy_images(f->a, rest, old_spec, "initContainers");
    for (size_t i = 0; i < ARRAY_LEN(free_fields); i++)
        keep(f->a, rest, old_spec, free_fields[i]);
    for (size_t i = 0; gated && i < ARRAY_LEN(gated_fields); i++)
        keep(f->a, rest, old_spec, gated_fields[i]);
    if (tree_equal(rest, old_spec))
        return;
    str diff = view_diff(f->a, view_pod_spec, old_spec, rest);
    if (diff.n)
        flaw_add(f, "FieldValueForbidden", spec,
                 arena_printf(f->a, "Forbidden: " MAY_CHANGE "\n" STR_FMT, STR_ARG(diff)));
}
