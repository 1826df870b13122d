/* Rules and columns of webhook configurations. They are kept, but nobody is called. */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

static void default_webhooks(struct arena *a, struct tree *obj, bool mutating)
{
    struct tree *list = edit_list(obj, "webhooks");

    for (uint32_t i = 0; i < list_len(list); i++) {
        struct tree *w = &list->items[i], *rules = edit_list(w, "rules");
        struct tree *service = edit_map(edit_map(w, "clientConfig"), "service");

        if (w->kind != TREE_MAP)
            continue;
        for (uint32_t j = 0; j < list_len(rules); j++)
            default_str(a, &rules->items[j], "scope", "*");
        if (service)
            default_i64(a, service, "port", 443);
        default_str(a, w, "failurePolicy", "Fail");
        default_str(a, w, "matchPolicy", "Equivalent");
        tree_sub(a, w, "namespaceSelector");
        tree_sub(a, w, "objectSelector");
        default_i64(a, w, "timeoutSeconds", 10);
        if (mutating)
            default_str(a, w, "reinvocationPolicy", "Never");
        if (list_len(tree_get(w, "rules")) == 0)
            tree_drop(w, STR("rules"));
    }
}

static void validating_webhook_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_webhooks(a, obj, /* mutating= */ false);
}

static void mutating_webhook_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_webhooks(a, obj, /* mutating= */ true);
}

static uint32_t n_dots(str s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '.';
    return n;
}

static void webhook_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    static const char *const failure[] = {"Fail", "Ignore", NULL};
    static const char *const match[] = {"Equivalent", "Exact", NULL};
    static const char *const effects[] = {"None", "NoneOnDryRun", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *list = tree_get(obj, "webhooks");

    (void)old;
    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct at *at = AT_IX(AT(NULL, "webhooks"), i);
        const struct tree *w = &list->items[i], *client = tree_get(w, "clientConfig");
        str name = tree_str(tree_get(w, "name"));

        if (name.n == 0)
            flaw_required(f, AT(at, "name"), "%s", "");
        else if (n_dots(name) < 2)
            flaw_invalid(f, AT(at, "name"), json_quoted(c->a, name),
                         "should be a domain with at least three segments separated by dots");
        check_word(f, AT(at, "failurePolicy"), tree_get(w, "failurePolicy"), failure);
        check_word(f, AT(at, "matchPolicy"), tree_get(w, "matchPolicy"), match);
        if (!has(w, "sideEffects"))
            flaw_required(f, AT(at, "sideEffects"), "must specify one of None, NoneOnDryRun");
        check_word(f, AT(at, "sideEffects"), tree_get(w, "sideEffects"), effects);
        if (has(client, "url") == has(client, "service"))
            flaw_required(f, AT(at, "clientConfig"), "exactly one of url or service is required");
        if (list_len(tree_get(w, "admissionReviewVersions")) == 0)
            flaw_required(f, AT(at, "admissionReviewVersions"), "must specify one of v1, v1beta1");
    }
}

const struct kind_rules rules_validating_webhook = {validating_webhook_defaults, NULL, NULL, webhook_validate, NULL};
const struct kind_rules rules_mutating_webhook = {mutating_webhook_defaults, NULL, NULL, webhook_validate, NULL};

static const struct column webhooks_columns[] = {
    COLUMN_NAME,
    {"Webhooks", "integer", "", "How many webhooks it has", 0},
    COLUMN_AGE,
};

static void webhooks_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_i64(c, list_len(tree_get(obj, "webhooks")));
    cell_age(c, obj);
}

KIND_COLUMNS(webhooks);
