/* Rules and columns of what is kept as it is: ConfigMaps, Secrets, ControllerRevisions, quotas. */
#include "base/b64.h"
#include "base/sb.h"
#include "base/vec.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

#define LARGEST_DATA (1u << 20)

static uint32_t members(const struct tree *map)
{
    return map && map->kind == TREE_MAP ? map->n : 0;
}

/* Immutability that an object asks for itself. */
static void check_frozen(struct flaws *f, const struct tree *obj, const struct tree *old, const char *const *fields)
{
    if (!tree_is_true(tree_get(old, "immutable")))
        return;
    if (!tree_is_true(tree_get(obj, "immutable")))
        flaw_forbidden(f, AT(NULL, "immutable"), "field is immutable when `immutable` is set");
    for (; *fields; fields++)
        if (!same(tree_get(obj, *fields), tree_get(old, *fields)))
            flaw_forbidden(f, AT_STR(NULL, str_c(*fields)), "field is immutable when `immutable` is set");
}

/* ---- ConfigMap ---- */

static void config_map_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *data = tree_get(obj, "data"), *binary = tree_get(obj, "binaryData");
    static const char *const fields[] = {"data", "binaryData", NULL};
    size_t size = 0;

    for (uint32_t i = 0; i < members(data); i++) {
        const struct at *at = AT_IN(AT(NULL, "data"), data->keys[i]);

        check_config_key(f, at, data->keys[i]);
        if (tree_find((struct tree *)binary, data->keys[i]))
            flaw_invalid(f, at, json_quoted(c->a, data->keys[i]), "duplicate of key present in binaryData");
        size += tree_str(&data->items[i]).n;
    }
    for (uint32_t i = 0; i < members(binary); i++) {
        check_config_key(f, AT_IN(AT(NULL, "binaryData"), binary->keys[i]), binary->keys[i]);
        size += tree_str(&binary->items[i]).n / 4 * 3;
    }
    if (size > LARGEST_DATA)
        cause_too_long(out, (str){0}, LARGEST_DATA);
    if (old)
        check_frozen(f, obj, old, fields);
}

const struct kind_rules rules_config_map = {compact, NULL, NULL, config_map_validate, NULL};

static const struct column config_map_columns[] = {
    COLUMN_NAME,
    {"Data", "string", "", "How many keys it has", 0},
    COLUMN_AGE,
};

static void config_map_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_i64(c, (int64_t)members(tree_get(obj, "data")) + members(tree_get(obj, "binaryData")));
    cell_age(c, obj);
}

KIND_COLUMNS(config_map);

/* ---- Secret ---- */

static str base64(struct arena *a, str s)
{
    struct sb b = {0};

    b64_encode(&b, s);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static void secret_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    const struct tree *text = tree_get(obj, "stringData");
    for (uint32_t i = 0; i < members(text); i++) {
        struct tree *data = tree_sub(a, obj, "data");

        if (data)
            *tree_put(a, data, text->keys[i]) = tree_of_str(base64(a, tree_str(&text->items[i])));
    }
    tree_drop(obj, STR("stringData"));
    default_str(a, obj, "type", "Opaque");
}

/* Keys that a type promises. */
static void check_secret_type(struct flaws *f, const struct tree *obj, const struct tree *data)
{
    static const struct {
        const char *type, *keys[2];
    } types[] = {
        {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
        {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
        {"kubernetes.io/dockercfg", {".dockercfg"}},
        {"kubernetes.io/ssh-auth", {"ssh-privatekey"}},
    };
    str type = tree_str(tree_get(obj, "type"));

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        for (size_t k = 0; str_is(type, types[i].type) && k < 2 && types[i].keys[k]; k++)
            if (!tree_get(data, types[i].keys[k]))
                flaw_required(f, AT_IN(AT(NULL, "data"), str_c(types[i].keys[k])), "%s", "");
    if (str_is(type, "kubernetes.io/basic-auth") && !has(data, "username") && !has(data, "password")) {
        flaw_required(f, AT_IN(AT(NULL, "data"), STR("username")), "%s", "");
        flaw_required(f, AT_IN(AT(NULL, "data"), STR("password")), "%s", "");
    }
    if (str_is(type, "kubernetes.io/service-account-token") &&
        is_empty(tree_at(obj, "metadata", "annotations", "kubernetes.io/service-account.name", NULL)))
        flaw_required(f, AT_IN(AT(AT(NULL, "metadata"), "annotations"), STR("kubernetes.io/service-account.name")),
                      "%s", "");
}

static void secret_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *data = tree_get(obj, "data");
    static const char *const fields[] = {"data", "stringData", NULL};
    size_t size = 0;

    if (old)
        check_immutable(f, AT(NULL, "type"), tree_get(obj, "type"), tree_get(old, "type"));
    if (old)
        check_frozen(f, obj, old, fields);
    for (uint32_t i = 0; i < members(data); i++) {
        check_config_key(f, AT_IN(AT(NULL, "data"), data->keys[i]), data->keys[i]);
        size += tree_str(&data->items[i]).n / 4 * 3;
    }
    if (size > LARGEST_DATA)
        cause_too_long(out, STR("data"), LARGEST_DATA);
    check_secret_type(f, obj, data);
}

static const char *const secret_selectable[] = {"type", NULL};

const struct kind_rules rules_secret = {secret_defaults, NULL, NULL, secret_validate, secret_selectable};

static const struct column secret_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", "What it is for", 0},
    {"Data", "string", "", "How many keys it has", 0},
    COLUMN_AGE,
};

static void secret_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_str(c, tree_str(tree_get(obj, "type")));
    cell_i64(c, members(tree_get(obj, "data")));
    cell_age(c, obj);
}

KIND_COLUMNS(secret);

/* ---- ControllerRevision ---- */

static void revision_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                              struct causes *out)
{
    struct flaws *f = FLAWS(c, out);

    check_not_negative(f, AT(NULL, "revision"), tree_get(obj, "revision"));
    if (old)
        check_immutable(f, AT(NULL, "data"), tree_get(obj, "data"), tree_get(old, "data"));
}

const struct kind_rules rules_controller_revision = {compact, NULL, NULL, revision_validate, NULL};

static const struct column controller_revision_columns[] = {
    COLUMN_NAME,
    {"Controller", "string", "", "Whose revision it is", 0},
    {"Revision", "string", "", "Number of the revision", 0},
    COLUMN_AGE,
};

/* "daemonset.apps/name" of the owner that controls the object. */
static str controller_of(struct arena *a, const struct tree *obj)
{
    const struct tree *owners = tree_at(obj, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; i < list_len(owners); i++) {
        const struct tree *o = &owners->items[i];
        str group = {0}, version, name = tree_str(tree_get(o, "name"));
        str kind = lower_case(a, tree_str(tree_get(o, "kind")));

        if (!tree_is_true(tree_get(o, "controller")))
            continue;
        if (!str_cut(tree_str(tree_get(o, "apiVersion")), '/', &group, &version))
            group = (str){0};
        return arena_printf(a, STR_FMT "%s" STR_FMT "/" STR_FMT, STR_ARG(kind), group.n ? "." : "", STR_ARG(group),
                            STR_ARG(name));
    }
    return STR("<none>");
}

static void controller_revision_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_str(c, controller_of(a, obj));
    cell_count(c, tree_get(obj, "revision"));
    cell_age(c, obj);
}

KIND_COLUMNS(controller_revision);

/* ---- ResourceQuota, LimitRange ---- */

const struct kind_rules rules_resource_quota = {compact, status_empty, keep_other_half, NULL, NULL};

static const struct column resource_quota_columns[] = {
    COLUMN_NAME,
    {"Request", "string", "", "Requests: used and allowed", 0},
    {"Limit", "string", "", "Limits: used and allowed", 0},
    COLUMN_AGE,
};

/* What the controller has counted so far; limits apart from the rest. */
static void cell_quota(struct cells *c, const struct tree *obj, bool limits)
{
    const struct tree *hard = tree_at(obj, "status", "hard", NULL), *used = tree_at(obj, "status", "used", NULL);
    VEC(uint32_t) order = {0};
    struct sb b = {0};

    for (uint32_t i = 0; i < members(hard); i++)
        if (str_starts(hard->keys[i], STR("limits.")) == limits)
            vec_push(&order, i);
    sort_stable(order.v, order.n, sizeof(*order.v), by_key, (void *)hard);
    for (uint32_t i = 0; i < order.n; i++) {
        str key = hard->keys[order.v[i]], most = tree_scalar(&hard->items[order.v[i]]);
        str now = tree_scalar(tree_find((struct tree *)used, key));

        sb_printf(&b, "%s" STR_FMT ": " STR_FMT "/" STR_FMT, i ? ", " : "", STR_ARG(key), STR_ARG(now), STR_ARG(most));
    }
    cell_str(c, sb_dup(&b, c->a));
    sb_fini(&b);
    vec_fini(&order);
}

static void resource_quota_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_quota(c, obj, /* limits= */ false);
    cell_quota(c, obj, /* limits= */ true);
    cell_age(c, obj);
}

KIND_COLUMNS(resource_quota);

/* Values that are absent in `to` are taken from `from`. */
static void fill(struct arena *a, struct tree *limit, const char *to, const char *from)
{
    const struct tree *source = tree_get(limit, from);

    for (uint32_t i = 0; i < members(source); i++) {
        struct tree *map = tree_sub(a, limit, to), *x = map ? tree_put(a, map, source->keys[i]) : NULL;

        if (x && x->kind == TREE_NULL)
            *x = source->items[i];
    }
}

static void limit_range_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *limits = edit_list(edit_map(obj, "spec"), "limits");
    for (uint32_t i = 0; i < list_len(limits); i++) {
        struct tree *limit = &limits->items[i];

        if (!str_is(tree_str(tree_get(limit, "type")), "Container"))
            continue;
        fill(a, limit, "default", "max");
        fill(a, limit, "defaultRequest", "default");
        fill(a, limit, "defaultRequest", "min");
    }
}

const struct kind_rules rules_limit_range = {limit_range_defaults, NULL, NULL, NULL, NULL};
