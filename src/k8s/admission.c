#include "k8s/admission.h"

#define MAX_KEY 316
#define MAX_ITEMS 100

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool is_dns_label(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_lower(s.p[i]) && !is_digit(s.p[i]) && (s.p[i] != '-' || i == 0 || i == s.n - 1))
            return false;
    return s.n != 0;
}

static bool is_dns_domain(str s)
{
    str label, rest = s;
    bool more;

    do {
        more = str_cut(rest, '.', &label, &rest);
        if (!is_dns_label(label))
            return false;
    } while (more);
    return true;
}

/* A qualified name without limits on its length: "example.com/some_Name.1" or "name". */
static bool has_key_shape(str s)
{
    str domain, name;

    if (!str_cut(s, '/', &domain, &name))
        name = s;
    else if (!is_dns_domain(domain))
        return false;
    if (name.n == 0 || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!is_alnum(name.p[i]) && name.p[i] != '-' && name.p[i] != '_' && name.p[i] != '.')
            return false;
    return true;
}

static bool admit_key(struct decoder *d, const struct tree *at, str key, enum admission who, struct err *e)
{
    str domain, rest;

    if (key.n > MAX_KEY || !has_key_shape(key))
        return dec_fail(d, at, NULL, e, "\"" STR_FMT "\" is not a label key", STR_ARG(key));
    (void)str_cut(key, '/', &domain, &rest);
    bool is_pool = str_is(key, "karpenter.sh/nodepool");
    if (str_ends(domain, STR("karpenter.sh")) && !str_is(key, "karpenter.sh/capacity-type") && !is_pool)
        return dec_fail(d, at, NULL, e, "label domain \"karpenter.sh\" is restricted, \"" STR_FMT "\" cannot be used",
                        STR_ARG(key));
    if (str_is(key, "kubernetes.io/hostname") || (is_pool && who == ADMIT_NODEPOOL))
        return dec_fail(d, at, NULL, e, "label \"" STR_FMT "\" is restricted", STR_ARG(key));
    return true;
}

static bool is_count(str s)
{
    int64_t v;

    return str_to_i64(s, &v) && v >= 0;
}

static bool admit_values(struct decoder *d, const struct tree *t, const struct req_expr *x, struct err *e)
{
    switch (x->op) {
    case OP_IN:
        if (x->n_vals == 0)
            return dec_fail(d, t, "values", e, "operator In needs at least one value");
        if ((uint32_t)x->min_values > x->n_vals)
            return dec_fail(d, t, "minValues", e, "is %d, but there are only %u values", x->min_values, x->n_vals);
        return true;
    case OP_GT:
    case OP_LT:
    case OP_GTE:
    case OP_LTE:
        if (x->n_vals != 1 || !is_count(sym_str(d->o->syms, x->vals[0])))
            return dec_fail(d, t, "values", e, "operator %s needs exactly one value, an integer that is not negative",
                            req_op_name(x->op));
        return true;
    case OP_NOT_IN:
    case OP_EXISTS:
    case OP_DOES_NOT_EXIST:
        return true;
    }
    return true;
}

bool admit_reqs(struct decoder *d, const struct tree *list, const struct req_expr *reqs, enum admission who,
                struct err *e)
{
    if (list && list->n > MAX_ITEMS)
        return dec_fail(d, list, NULL, e, "must have at most %d items", MAX_ITEMS);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *key = tree_get(&list->items[i], "key");

        if (!admit_key(d, key, key->text, who, e) || !admit_values(d, &list->items[i], &reqs[i], e))
            return false;
    }
    return true;
}

bool admit_labels(struct decoder *d, const struct tree *labels, struct err *e)
{
    if (labels && labels->n > MAX_ITEMS)
        return dec_fail(d, labels, NULL, e, "must have at most %d entries", MAX_ITEMS);
    for (uint32_t i = 0; labels && i < labels->n; i++) {
        if (!admit_key(d, &labels->items[i], labels->keys[i], ADMIT_NODEPOOL, e))
            return false;
        if (!label_is_value(labels->items[i].text))
            return dec_fail(d, &labels->items[i], NULL, e, "\"" STR_FMT "\" is not a label value",
                            STR_ARG(labels->items[i].text));
    }
    return true;
}

bool admit_taints(struct decoder *d, const struct tree *list, struct err *e)
{
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *key = tree_get(&list->items[i], "key"), *value = tree_get(&list->items[i], "value");

        if (!has_key_shape(key->text))
            return dec_fail(d, key, NULL, e, "\"" STR_FMT "\" is not a taint key", STR_ARG(key->text));
        if (value && value->text.n && !has_key_shape(value->text))
            return dec_fail(d, value, NULL, e, "\"" STR_FMT "\" is not a taint value", STR_ARG(value->text));
    }
    return true;
}

static bool has_duration_shape(str s, const char *units)
{
    bool digits = false;

    for (size_t i = 0; i < s.n; i++) {
        if (is_digit(s.p[i])) {
            digits = true;
            continue;
        }
        if (!digits || !strchr(units, s.p[i]))
            return false;
        digits = false;
    }
    return s.n != 0 && !digits;
}

bool dec_duration(struct decoder *d, const struct tree *t, const char *key, bool never, int64_t *ret_ns, struct err *e)
{
    const struct tree *f = tree_get(t, key);
    struct err why;
    str s;

    if (!dec_str(d, t, key, &s, e))
        return false;
    if (!f)
        return true;
    if (never && str_is(s, "Never")) {
        *ret_ns = DURATION_NEVER;
        return true;
    }
    if (!has_duration_shape(s, "smh"))
        return dec_fail(d, f, NULL, e, "\"" STR_FMT "\" is not a duration like 30s, 5m or 1h30m%s", STR_ARG(s),
                        never ? ", nor Never" : "");
    if (!duration_parse(s, ret_ns, &why))
        return dec_fail(d, f, NULL, e, "%s", why.msg);
    return true;
}

/* ^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$ */
static bool has_budget_shape(str s)
{
    size_t i = 0, parts = 0;
    char last = 0;

    if (s.n > 2 && str_ends(s, STR("0s")) && !is_digit(s.p[s.n - 3]))
        s = str_sub(s, 0, s.n - 2);
    while (i < s.n) {
        size_t from = i;

        while (i < s.n && is_digit(s.p[i]))
            i++;
        if (i == from || i == s.n || (s.p[i] != 'h' && s.p[i] != 'm') || (parts && (last != 'h' || s.p[i] != 'm')))
            return false;
        last = s.p[i++];
        parts++;
    }
    return parts != 0;
}

bool dec_budget_duration(struct decoder *d, const struct tree *t, const char *key, int64_t *ret_ns, struct err *e)
{
    const struct tree *f = tree_get(t, key);
    struct err why;
    str s;

    if (!dec_str(d, t, key, &s, e))
        return false;
    if (!f)
        return true;
    if (!has_budget_shape(s))
        return dec_fail(d, f, NULL, e, "\"" STR_FMT "\" is not a duration in hours and minutes like 8h, 30m or 1h30m",
                        STR_ARG(s));
    if (!duration_parse(s, ret_ns, &why))
        return dec_fail(d, f, NULL, e, "%s", why.msg);
    return true;
}

bool budget_nodes_is_valid(str s)
{
    bool percent = str_ends(s, STR("%"));
    str digits = percent ? str_sub(s, 0, s.n - 1) : s;

    for (size_t i = 0; i < digits.n; i++)
        if (!is_digit(digits.p[i]))
            return false;
    if (digits.n == 0)
        return false;
    return !percent || digits.n <= 2 || str_is(digits, "100");
}

bool budget_schedule_is_valid(str s)
{
    static const char *const names[] = {"@annually", "@yearly",   "@monthly", "@weekly",
                                        "@daily",    "@midnight", "@hourly"};
    unsigned fields = 0;
    bool inside = false;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(s, names[i]))
            return true;
    for (size_t i = 0; i < s.n; i++) {
        bool space = s.p[i] == ' ' || s.p[i] == '\t';

        if (!space && !inside)
            fields++;
        inside = !space;
    }
    return fields >= 5;
}
