/* Cells that many kinds share. */
#include "sim/kube/rules/cells.h"

#include "base/sb.h"
#include "base/vec.h"
#include "model/duration.h"
#include "sim/kube/age.h"
#include "sim/kube/rules/rule.h"

void cell_str(struct cells *c, str s)
{
    tree_push(c->a, c->out, tree_of_str(s));
}

void cell_c(struct cells *c, const char *s)
{
    cell_str(c, str_c(s));
}

void cell_i64(struct cells *c, int64_t v)
{
    tree_push(c->a, c->out, tree_of_i64(c->a, v));
}

void cell_count(struct cells *c, const struct tree *v)
{
    cell_i64(c, number_of(v));
}

void cell_bool(struct cells *c, bool v)
{
    tree_push(c->a, c->out, tree_of_bool(v));
}

void cell_or(struct cells *c, str s, const char *otherwise)
{
    cell_str(c, s.n ? s : str_c(otherwise));
}

void cell_name(struct cells *c, const struct tree *obj)
{
    cell_str(c, object_name(obj));
}

bool time_of(const struct tree *t, int64_t *ret_ms)
{
    struct err e;
    str s = tree_str(t);

    return s.n && time_parse_rfc3339(s, ret_ms, &e);
}

str age_text(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    age_print(&b, 0, ms);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

void cell_since(struct cells *c, const struct tree *time)
{
    int64_t since;

    if (time_of(time, &since))
        cell_str(c, age_text(c->a, sat_sub(c->now_ms, since)));
    else
        cell_c(c, "<unknown>");
}

void cell_age(struct cells *c, const struct tree *obj)
{
    cell_since(c, tree_at(obj, "metadata", "creationTimestamp", NULL));
}

void cell_created(struct cells *c, const struct tree *obj)
{
    cell_str(c, tree_str(tree_at(obj, "metadata", "creationTimestamp", NULL)));
}

void cell_containers(struct cells *c, const struct tree *podspec)
{
    static const char *const fields[] = {"name", "image"};
    const struct tree *list = tree_get(podspec, "containers");

    for (size_t f = 0; f < ARRAY_LEN(fields); f++) {
        struct sb b = {0};

        for (uint32_t i = 0; i < list_len(list); i++) {
            sb_c(&b, i ? "," : "");
            sb_str(&b, tree_str(tree_get(&list->items[i], fields[f])));
        }
        cell_str(c, sb_dup(&b, c->a));
        sb_fini(&b);
    }
}

struct parts {
    VEC(str) v;
};

static void add_labels(struct arena *a, struct parts *parts, const struct tree *map)
{
    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        str value = tree_str(&map->items[i]);

        vec_push(&parts->v, arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(map->keys[i]), STR_ARG(value)));
    }
}

/* In the order of their text; takes the parts apart. */
static str joined(struct arena *a, struct parts *parts)
{
    struct sb b = {0};

    sort_stable(parts->v.v, parts->v.n, sizeof(*parts->v.v), by_text, NULL);
    for (uint32_t i = 0; i < parts->v.n; i++) {
        sb_c(&b, i ? "," : "");
        sb_str(&b, parts->v.v[i]);
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    vec_fini(&parts->v);
    return s;
}

void cell_labels(struct cells *c, const struct tree *map)
{
    struct parts parts = {0};

    add_labels(c->a, &parts, map);
    cell_or(c, joined(c->a, &parts), "<none>");
}

void cell_of_pods(struct cells *c, const struct tree *obj)
{
    const struct tree *spec = tree_get(obj, "spec"), *selector = tree_get(spec, "selector");
    bool plain = selector && !has(selector, "matchLabels") && !has(selector, "matchExpressions");

    cell_age(c, obj);
    cell_containers(c, tree_at(spec, "template", "spec", NULL));
    if (plain)
        cell_labels(c, selector);
    else
        cell_selector(c, selector);
}

str load_balancer_text(struct arena *a, const struct tree *obj)
{
    const struct tree *list = tree_at(obj, "status", "loadBalancer", "ingress", NULL);
    struct parts parts = {0};

    for (uint32_t i = 0; i < list_len(list); i++) {
        str ip = tree_str(tree_get(&list->items[i], "ip"));

        vec_push(&parts.v, ip.n ? ip : tree_str(tree_get(&list->items[i], "hostname")));
    }
    return joined(a, &parts);
}

static str value_set(struct arena *a, const struct tree *values)
{
    struct parts parts = {0};

    for (uint32_t i = 0; i < list_len(values); i++)
        vec_push(&parts.v, tree_str(&values->items[i]));
    return joined(a, &parts);
}

static str term_text(struct arena *a, const struct tree *x)
{
    str key = tree_str(tree_get(x, "key")), op = tree_str(tree_get(x, "operator"));

    if (str_is(op, "Exists"))
        return key;
    if (str_is(op, "DoesNotExist"))
        return arena_printf(a, "!" STR_FMT, STR_ARG(key));
    str set = value_set(a, tree_get(x, "values"));
    return arena_printf(a, STR_FMT " %s (" STR_FMT ")", STR_ARG(key), str_is(op, "In") ? "in" : "notin", STR_ARG(set));
}

void cell_selector(struct cells *c, const struct tree *selector)
{
    const struct tree *terms = tree_get(selector, "matchExpressions");
    struct parts parts = {0};

    add_labels(c->a, &parts, tree_get(selector, "matchLabels"));
    for (uint32_t i = 0; i < list_len(terms); i++)
        vec_push(&parts.v, term_text(c->a, &terms->items[i]));
    cell_or(c, joined(c->a, &parts), "<none>");
}

str lower_case(struct arena *a, str s)
{
    char *p = arena_alloc(a, s.n + 1, 1);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] - 'A' + 'a' : s.p[i]);
    return (str){p, s.n};
}
