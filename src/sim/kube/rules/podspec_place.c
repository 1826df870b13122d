/* What decides where pods may run: selectors, affinity, tolerations, spreading. */
#include "sim/kube/rules/podspec.h"

/* ---- label selectors ---- */

static void check_selector_term(struct flaws *f, const struct at *at, const struct tree *x)
{
    str op = tree_str(tree_get(x, "operator"));
    const struct tree *values = tree_get(x, "values");

    if (str_is(op, "In") || str_is(op, "NotIn")) {
        if (list_len(values) == 0)
            flaw_required(f, AT(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_is(op, "Exists") || str_is(op, "DoesNotExist")) {
        if (list_len(values) > 0)
            flaw_forbidden(f, AT(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        flaw_invalid(f, AT(at, "operator"), json_quoted(f->a, op), "not a valid selector operator");
    }
    check_qualified(f, AT(at, "key"), tree_str(tree_get(x, "key")));
    for (uint32_t i = 0; i < list_len(values); i++)
        check_label_value(f, AT_IX(AT(at, "values"), i), tree_str(&values->items[i]));
}

bool selector_check(struct flaws *f, const struct at *at, const struct tree *selector)
{
    const struct tree *terms = tree_get(selector, "matchExpressions");
    uint32_t flaws = f->out->list.n;

    check_labels(f, AT(at, "matchLabels"), tree_get(selector, "matchLabels"));
    for (uint32_t i = 0; i < list_len(terms); i++)
        check_selector_term(f, AT_IX(AT(at, "matchExpressions"), i), &terms->items[i]);
    return f->out->list.n == flaws;
}

static const struct tree *label_of(const struct tree *labels, str key)
{
    return tree_find((struct tree *)labels, key);
}

static bool term_selects(const struct tree *x, const struct tree *labels)
{
    str op = tree_str(tree_get(x, "operator"));
    const struct tree *label = label_of(labels, tree_str(tree_get(x, "key")));
    const struct tree *values = tree_get(x, "values");
    bool in = false;

    if (str_is(op, "Exists") || str_is(op, "DoesNotExist"))
        return (label != NULL) == str_is(op, "Exists");
    for (uint32_t i = 0; label && i < list_len(values); i++)
        in |= str_eq(tree_str(&values->items[i]), tree_str(label));
    return in == str_is(op, "In");
}

bool selector_selects(const struct tree *selector, const struct tree *labels)
{
    const struct tree *exact = tree_get(selector, "matchLabels"), *terms = tree_get(selector, "matchExpressions");

    if (!selector)
        return false;
    for (uint32_t i = 0; exact && exact->kind == TREE_MAP && i < exact->n; i++) {
        const struct tree *label = label_of(labels, exact->keys[i]);

        if (!label || !str_eq(tree_str(label), tree_str(&exact->items[i])))
            return false;
    }
    for (uint32_t i = 0; i < list_len(terms); i++)
        if (!term_selects(&terms->items[i], labels))
            return false;
    return true;
}

/* ---- node affinity ---- */

static void check_node_expr(struct flaws *f, const struct at *at, const struct tree *x)
{
    str op = tree_str(tree_get(x, "operator"));
    const struct tree *values = tree_get(x, "values");

    if (str_is(op, "In") || str_is(op, "NotIn")) {
        if (list_len(values) == 0)
            flaw_required(f, AT(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_is(op, "Exists") || str_is(op, "DoesNotExist")) {
        if (list_len(values) > 0)
            flaw_forbidden(f, AT(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (str_is(op, "Gt") || str_is(op, "Lt")) {
        if (list_len(values) != 1)
            flaw_required(f, AT(at, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        flaw_invalid(f, AT(at, "operator"), json_quoted(f->a, op), "not a valid selector operator");
    }
    check_qualified(f, AT(at, "key"), tree_str(tree_get(x, "key")));
    for (uint32_t i = 0; i < list_len(values); i++)
        check_label_value(f, AT_IX(AT(at, "values"), i), tree_str(&values->items[i]));
}

static void check_node_field(struct flaws *f, const struct at *at, const struct tree *x)
{
    str op = tree_str(tree_get(x, "operator")), key = tree_str(tree_get(x, "key"));
    const struct tree *values = tree_get(x, "values");

    if (!str_is(op, "In") && !str_is(op, "NotIn"))
        flaw_invalid(f, AT(at, "operator"), json_quoted(f->a, op), "not a valid selector operator");
    else if (list_len(values) != 1)
        flaw_required(f, AT(at, "values"),
                      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
    if (!str_is(key, "metadata.name")) {
        flaw_invalid(f, AT(at, "key"), json_quoted(f->a, key), "not a valid field selector key");
        return;
    }
    for (uint32_t i = 0; i < list_len(values); i++)
        check_subdomain(f, AT_IX(AT(at, "values"), i), tree_str(&values->items[i]));
}

static void check_node_term(struct flaws *f, const struct at *at, const struct tree *term)
{
    const struct tree *exprs = tree_get(term, "matchExpressions"), *fields = tree_get(term, "matchFields");

    for (uint32_t i = 0; i < list_len(exprs); i++)
        check_node_expr(f, AT_IX(AT(at, "matchExpressions"), i), &exprs->items[i]);
    for (uint32_t i = 0; i < list_len(fields); i++)
        check_node_field(f, AT_IX(AT(at, "matchFields"), i), &fields->items[i]);
}

void node_selector_check(struct flaws *f, const struct at *at, const struct tree *selector)
{
    const struct tree *terms = tree_get(selector, "nodeSelectorTerms");

    if (list_len(terms) == 0)
        flaw_required(f, AT(at, "nodeSelectorTerms"), "must have at least one node selector term");
    for (uint32_t i = 0; i < list_len(terms); i++)
        check_node_term(f, AT_IX(AT(at, "nodeSelectorTerms"), i), &terms->items[i]);
}

static void check_weight(struct flaws *f, const struct at *at, const struct tree *preferred)
{
    const struct tree *weight = tree_get(preferred, "weight");
    int64_t w = 0;

    (void)tree_to_i64(weight, &w);
    if (w < 1 || w > 100)
        flaw_invalid(f, AT(at, "weight"), arena_printf(f->a, "%lld", (long long)w), "must be in the range 1-100");
}

static void check_node_affinity(struct flaws *f, const struct at *at, const struct tree *x)
{
    const struct tree *required = tree_get(x, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct tree *preferred = tree_get(x, "preferredDuringSchedulingIgnoredDuringExecution");

    if (required)
        node_selector_check(f, AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), required);
    for (uint32_t i = 0; i < list_len(preferred); i++) {
        const struct at *here = AT_IX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i);

        check_weight(f, here, &preferred->items[i]);
        check_node_term(f, AT(here, "preference"), tree_get(&preferred->items[i], "preference"));
    }
}

/* ---- pod affinity ---- */

static void check_pod_term(struct flaws *f, const struct at *at, const struct tree *term)
{
    const struct tree *namespaces = tree_get(term, "namespaces");
    str key = tree_str(tree_get(term, "topologyKey"));

    selector_check(f, AT(at, "labelSelector"), tree_get(term, "labelSelector"));
    selector_check(f, AT(at, "namespaceSelector"), tree_get(term, "namespaceSelector"));
    for (uint32_t i = 0; i < list_len(namespaces); i++)
        check_label_name(f, AT(at, "namespace"), tree_str(&namespaces->items[i]));
    if (key.n == 0)
        flaw_required(f, AT(at, "topologyKey"), "can not be empty");
    check_qualified(f, AT(at, "topologyKey"), key);
}

static void check_pod_affinity(struct flaws *f, const struct at *at, const struct tree *x)
{
    const struct tree *required = tree_get(x, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct tree *preferred = tree_get(x, "preferredDuringSchedulingIgnoredDuringExecution");

    for (uint32_t i = 0; i < list_len(required); i++)
        check_pod_term(f, AT_IX(AT(at, "requiredDuringSchedulingIgnoredDuringExecution"), i), &required->items[i]);
    for (uint32_t i = 0; i < list_len(preferred); i++) {
        const struct at *here = AT_IX(AT(at, "preferredDuringSchedulingIgnoredDuringExecution"), i);

        check_weight(f, here, &preferred->items[i]);
        check_pod_term(f, AT(here, "podAffinityTerm"), tree_get(&preferred->items[i], "podAffinityTerm"));
    }
}

/* ---- tolerations ---- */

static void check_toleration(struct flaws *f, const struct at *at, const struct tree *x)
{
    str key = tree_str(tree_get(x, "key")), op = tree_str(tree_get(x, "operator"));
    str value = tree_str(tree_get(x, "value")), effect = tree_str(tree_get(x, "effect"));
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

    if (key.n)
        check_qualified(f, AT(at, "key"), key);
    if (key.n == 0 && !str_is(op, "Exists"))
        flaw_invalid(f, AT(at, "operator"), json_quoted(f->a, op),
                     "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    if (has(x, "tolerationSeconds") && !str_is(effect, "NoExecute"))
        flaw_invalid(f, AT(at, "effect"), json_quoted(f->a, effect),
                     "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (op.n == 0 || str_is(op, "Equal"))
        check_label_value(f, AT(at, "operator"), value);
    else if (!str_is(op, "Exists"))
        flaw_unsupported(f, AT(at, "operator"), json_quoted(f->a, op), "\"Equal\", \"Exists\"");
    else if (value.n)
        flaw_invalid(f, AT(at, "operator"), json_quoted(f->a, value),
                     "value must be empty when `operator` is 'Exists'");
    check_word(f, AT(at, "effect"), tree_get(x, "effect"), effects);
}

void tolerations_check(struct flaws *f, const struct at *at, const struct tree *tolerations)
{
    for (uint32_t i = 0; i < list_len(tolerations); i++)
        check_toleration(f, AT_IX(at, i), &tolerations->items[i]);
}

/* ---- topology spread ---- */

static void check_positive(struct flaws *f, const struct at *at, const struct tree *v)
{
    int64_t n = 0;

    (void)tree_to_i64(v, &n);
    if (n <= 0)
        flaw_invalid(f, at, arena_printf(f->a, "%lld", (long long)n), "must be greater than zero");
}

static void check_spread(struct flaws *f, const struct at *at, const struct tree *x)
{
    static const char *const policies[] = {"Honor", "Ignore", NULL};
    str key = tree_str(tree_get(x, "topologyKey")), when = tree_str(tree_get(x, "whenUnsatisfiable"));
    const struct tree *domains = tree_get(x, "minDomains"), *keys = tree_get(x, "matchLabelKeys");

    check_positive(f, AT(at, "maxSkew"), tree_get(x, "maxSkew"));
    if (key.n == 0)
        flaw_required(f, AT(at, "topologyKey"), "can not be empty");
    if (!str_is(when, "DoNotSchedule") && !str_is(when, "ScheduleAnyway"))
        flaw_unsupported(f, AT(at, "whenUnsatisfiable"), json_quoted(f->a, when),
                         "\"DoNotSchedule\", \"ScheduleAnyway\"");
    if (domains) {
        check_positive(f, AT(at, "minDomains"), domains);
        if (!str_is(when, "DoNotSchedule"))
            flaw_invalid(f, AT(at, "minDomains"), json_sorted_text(f->a, domains),
                         "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " STR_FMT, STR_ARG(when));
    }
    check_word(f, AT(at, "nodeAffinityPolicy"), tree_get(x, "nodeAffinityPolicy"), policies);
    check_word(f, AT(at, "nodeTaintsPolicy"), tree_get(x, "nodeTaintsPolicy"), policies);
    if (list_len(keys) && !has(x, "labelSelector"))
        flaw_forbidden(f, AT(at, "matchLabelKeys"), "must not be specified when labelSelector is not set");
    selector_check(f, AT(at, "labelSelector"), tree_get(x, "labelSelector"));
}

static bool same_spread(const struct tree *x, const struct tree *y)
{
    return same(tree_get(x, "topologyKey"), tree_get(y, "topologyKey")) &&
           same(tree_get(x, "whenUnsatisfiable"), tree_get(y, "whenUnsatisfiable"));
}

static void check_spreads(struct flaws *f, const struct at *at, const struct tree *list)
{
    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct tree *x = &list->items[i];

        check_spread(f, AT_IX(at, i), x);
        for (uint32_t j = i + 1; j < list->n; j++) {
            if (!same_spread(x, &list->items[j]))
                continue;
            str key = tree_str(tree_get(x, "topologyKey")), when = tree_str(tree_get(x, "whenUnsatisfiable"));
            str pair = arena_printf(f->a, "\"{" STR_FMT ", " STR_FMT "}\"", STR_ARG(key), STR_ARG(when));

            flaw_duplicate(f, AT(AT_IX(at, i), "{topologyKey, whenUnsatisfiable}"), pair);
            break;
        }
    }
}

void podspec_check_placing(struct flaws *f, const struct at *at, const struct tree *spec)
{
    const struct tree *affinity = tree_get(spec, "affinity");

    check_node_affinity(f, AT(AT(at, "affinity"), "nodeAffinity"), tree_get(affinity, "nodeAffinity"));
    check_pod_affinity(f, AT(AT(at, "affinity"), "podAffinity"), tree_get(affinity, "podAffinity"));
    check_pod_affinity(f, AT(AT(at, "affinity"), "podAntiAffinity"), tree_get(affinity, "podAntiAffinity"));
    tolerations_check(f, AT(at, "tolerations"), tree_get(spec, "tolerations"));
    check_spreads(f, AT(at, "topologySpreadConstraints"), tree_get(spec, "topologySpreadConstraints"));
}
