/* Flaws and edits that the rules of all kinds share. */
#include "sim/kube/rules/rule.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sb.h"

/* ---- places ---- */

static void write_place(struct sb *b, const struct at *at)
{
    if (!at)
        return;
    write_place(b, at->up);
    if (at->bracket)
        sb_printf(b, "[" STR_FMT "]", STR_ARG(at->key));
    else if (at->key.n)
        sb_printf(b, "%s" STR_FMT, b->n ? "." : "", STR_ARG(at->key));
    else
        sb_printf(b, "[%lld]", (long long)at->ix);
}

str at_text(struct arena *a, const struct at *at)
{
    struct sb b = {0};

    write_place(&b, at);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* ---- flaws ---- */

#define DETAIL(buf)                                                                                                    \
    char buf[1024];                                                                                                    \
    va_list ap;                                                                                                        \
    va_start(ap, fmt);                                                                                                 \
    (void)vsnprintf(buf, sizeof(buf), fmt, ap);                                                                        \
    va_end(ap)

void flaw_required(struct flaws *f, const struct at *at, const char *fmt, ...)
{
    DETAIL(detail);
    cause_required(f->out, at_text(f->a, at), "%s", detail);
}

void flaw_invalid(struct flaws *f, const struct at *at, str value, const char *fmt, ...)
{
    DETAIL(detail);
    cause_invalid(f->out, at_text(f->a, at), value, "%s", detail);
}

void flaw_forbidden(struct flaws *f, const struct at *at, const char *fmt, ...)
{
    DETAIL(detail);
    cause_forbidden(f->out, at_text(f->a, at), "%s", detail);
}

void flaw_unsupported(struct flaws *f, const struct at *at, str value, const char *supported)
{
    cause_not_supported(f->out, at_text(f->a, at), value, "supported values: %s", supported);
}

void flaw_duplicate(struct flaws *f, const struct at *at, str value)
{
    cause_duplicate(f->out, at_text(f->a, at), value);
}

void flaw_add(struct flaws *f, const char *reason, const struct at *at, str message)
{
    vec_push(&f->out->list, (struct cause){str_c(reason), message, at_text(f->a, at)});
}

void flaw_not_found(struct flaws *f, const struct at *at, str value)
{
    flaw_add(f, "FieldValueNotFound", at, arena_printf(f->a, "Not found: " STR_FMT, STR_ARG(value)));
}

int by_text(const void *x, const void *y, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)x, *(const str *)y);
}

int by_key(const void *x, const void *y, void *map)
{
    const struct tree *m = map;

    return str_cmp(m->keys[*(const uint32_t *)x], m->keys[*(const uint32_t *)y]);
}

void json_sorted(struct jw *w, const struct tree *t)
{
    if (!t || (t->kind != TREE_LIST && t->kind != TREE_MAP)) {
        jw_tree(w, t);
        return;
    }
    if (t->kind == TREE_LIST) {
        jw_list(w);
        for (uint32_t i = 0; i < t->n; i++)
            json_sorted(w, &t->items[i]);
        jw_end(w);
        return;
    }
    VEC(uint32_t) order = {0};
    for (uint32_t i = 0; i < t->n; i++)
        vec_push(&order, i);
    sort_stable(order.v, order.n, sizeof(*order.v), by_key, (void *)t);
    jw_map(w);
    for (uint32_t i = 0; i < order.n; i++) {
        jw_key_str(w, t->keys[order.v[i]]);
        json_sorted(w, &t->items[order.v[i]]);
    }
    jw_end(w);
    vec_fini(&order);
}

str json_sorted_text(struct arena *a, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    json_sorted(&w, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* ---- checks ---- */

void check_word(struct flaws *f, const struct at *at, const struct tree *v, const char *const *words)
{
    struct sb b = {0};
    str s = tree_str(v);

    if (s.n == 0)
        return;
    for (uint32_t i = 0; words[i]; i++)
        if (str_is(s, words[i]))
            return;
    for (uint32_t i = 0; words[i]; i++)
        sb_printf(&b, "%s\"%s\"", i ? ", " : "", words[i]);
    flaw_unsupported(f, at, json_quoted(f->a, s), sb_cstr(&b));
    sb_fini(&b);
}

void check_not_negative(struct flaws *f, const struct at *at, const struct tree *v)
{
    int64_t i;

    if (tree_to_i64(v, &i) && i < 0)
        flaw_invalid(f, at, json_sorted_text(f->a, v), "must be greater than or equal to 0");
}

void check_range(struct flaws *f, const struct at *at, const struct tree *v, int64_t from, int64_t to)
{
    int64_t i;

    if (tree_to_i64(v, &i) && (i < from || i > to))
        flaw_invalid(f, at, json_sorted_text(f->a, v), "must be between %lld and %lld, inclusive", (long long)from,
                     (long long)to);
}

void check_port(struct flaws *f, const struct at *at, const struct tree *v)
{
    check_range(f, at, v, 1, 65535);
}

void check_port_or_name(struct flaws *f, const struct at *at, const struct tree *v)
{
    if (v && v->kind == TREE_STRING)
        check_port_name(f, at, v->text);
    else if (v)
        check_port(f, at, v);
    else
        flaw_invalid(f, at, STR("0"), "must be between 1 and 65535, inclusive");
}

bool is_empty(const struct tree *t)
{
    if (!t || t->kind == TREE_NULL)
        return true;
    return t->kind == TREE_STRING ? t->text.n == 0 : (t->kind == TREE_LIST || t->kind == TREE_MAP) && t->n == 0;
}

bool same(const struct tree *a, const struct tree *b)
{
    if (is_empty(a) || is_empty(b))
        return is_empty(a) && is_empty(b);
    return tree_equal(a, b);
}

void check_immutable(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old)
{
    if (!same(new, old))
        flaw_invalid(f, at, json_sorted_text(f->a, new), "field is immutable");
}

static bool is_percent(str s, int64_t *ret)
{
    for (size_t i = 0; i + 1 < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 1 && s.p[s.n - 1] == '%' && str_to_i64(str_sub(s, 0, s.n - 1), ret);
}

void check_int_or_percent(struct flaws *f, const struct at *at, const struct tree *v)
{
    int64_t i;

    if (v && v->kind == TREE_STRING && !is_percent(v->text, &i))
        flaw_invalid(f, at, json_sorted_text(f->a, v),
                     "a valid percent string must be a numeric string followed by an ending '%%' (e.g. '1%%',  or "
                     "'93%%', regex used for validation is '[0-9]+%%')");
    check_not_negative(f, at, v);
}

void check_at_most_all(struct flaws *f, const struct at *at, const struct tree *v)
{
    int64_t i;

    if (is_percent(tree_str(v), &i) && i > 100)
        flaw_invalid(f, at, json_sorted_text(f->a, v), "must not be greater than 100%%");
}

/* ---- editing ---- */

int64_t number_of(const struct tree *t)
{
    int64_t n = 0;

    (void)tree_to_i64(t, &n);
    return n;
}

uint32_t list_len(const struct tree *t)
{
    return t && t->kind == TREE_LIST ? t->n : 0;
}

bool has(const struct tree *map, const char *key)
{
    return tree_get(map, key) != NULL;
}

static struct tree *edit(struct tree *t, const char *key, enum tree_kind kind)
{
    struct tree *x = (struct tree *)tree_get(t, key);

    return x && x->kind == kind ? x : NULL;
}

struct tree *edit_map(struct tree *t, const char *key)
{
    return edit(t, key, TREE_MAP);
}

struct tree *edit_list(struct tree *t, const char *key)
{
    return edit(t, key, TREE_LIST);
}

/* A map without the key; something else, which validation has refused or will refuse, is left alone. */
static bool lacks(const struct tree *map, const char *key)
{
    return map && map->kind == TREE_MAP && !has(map, key);
}

void default_str(struct arena *a, struct tree *map, const char *key, const char *value)
{
    const struct tree *now = tree_get(map, key);

    if (lacks(map, key) || (now && now->kind == TREE_STRING && now->text.n == 0))
        tree_set_str(a, map, key, str_c(value));
}

void default_i64(struct arena *a, struct tree *map, const char *key, int64_t value)
{
    if (lacks(map, key))
        tree_set_i64(a, map, key, value);
}

void default_count(struct arena *a, struct tree *map, const char *key, int64_t value)
{
    int64_t now = 1;

    if (lacks(map, key) || (tree_to_i64(tree_get(map, key), &now) && now == 0))
        tree_set_i64(a, map, key, value);
}

void default_bool(struct arena *a, struct tree *map, const char *key, bool value)
{
    if (lacks(map, key))
        tree_set_bool(a, map, key, value);
}

void default_null(struct arena *a, struct tree *map, const char *key)
{
    if (lacks(map, key))
        tree_set(a, map, key, tree_of_null());
}

void keep(struct arena *a, struct tree *obj, const struct tree *old, const char *key)
{
    const struct tree *was = tree_get(old, key);

    if (!obj || obj->kind != TREE_MAP)
        return;
    if (was)
        tree_set(a, obj, key, *tree_copy(a, was));
    else
        tree_drop(obj, str_c(key));
}

static bool is_common(str key)
{
    return str_is(key, "apiVersion") || str_is(key, "kind") || str_is(key, "metadata") || str_is(key, "status");
}

/* Everything but status and metadata as it was. */
static void keep_all_but_status(struct arena *a, struct tree *obj, const struct tree *old)
{
    for (uint32_t i = obj->n; i-- > 0;)
        if (!is_common(obj->keys[i]))
            tree_drop(obj, obj->keys[i]);
    for (uint32_t i = 0; i < old->n; i++)
        if (!is_common(old->keys[i]))
            *tree_put(a, obj, old->keys[i]) = *tree_copy(a, &old->items[i]);
}

void keep_other_half(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied)
{
    (void)ret_denied;
    if (!c->sub)
        keep(c->a, obj, old, "status");
    else if (strcmp(c->sub, "status") == 0)
        keep_all_but_status(c->a, obj, old);
}

void status_none(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    (void)c, (void)ret_denied;
    tree_drop(obj, STR("status"));
}

void status_empty(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    (void)ret_denied;
    tree_set(c->a, obj, "status", *tree_new_map(c->a));
}

str object_name(const struct tree *obj)
{
    return tree_str(tree_at(obj, "metadata", "name", NULL));
}

str object_namespace(const struct tree *obj)
{
    return tree_str(tree_at(obj, "metadata", "namespace", NULL));
}

const struct tree *condition(const struct tree *obj, str type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; i < list_len(list); i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}
