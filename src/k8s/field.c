#include "k8s/field.h"

#include <stdarg.h>
#include <stdio.h>

#include "model/duration.h"

static bool is_plain(str key)
{
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return key.n != 0;
}

static void path_step(struct sb *b, str key)
{
    if (!is_plain(key)) {
        sb_printf(b, "[\"" STR_FMT "\"]", STR_ARG(key));
        return;
    }
    if (b->n)
        sb_char(b, '.');
    sb_str(b, key);
}

static bool path_to(struct sb *b, const struct tree *t, const struct tree *want)
{
    if (t == want)
        return true;
    for (uint32_t i = 0; i < t->n; i++) {
        size_t mark = b->n;

        if (t->kind == TREE_MAP)
            path_step(b, t->keys[i]);
        else
            sb_printf(b, "[%u]", i);
        if (path_to(b, &t->items[i], want))
            return true;
        b->n = mark;
    }
    return false;
}

bool dec_fail(const struct decoder *d, const struct tree *at, const char *key, struct err *e, const char *fmt, ...)
{
    struct sb b = {0};
    char what[300];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    (void)path_to(&b, d->root, at);
    if (key)
        path_step(&b, str_c(key));
    const char *path = sb_cstr(&b);
    if (at->line)
        (void)err_set(e, ERR_INVALID, "%u:%u: %s%s%s", at->line, at->col, path, *path ? ": " : "", what);
    else
        (void)err_set(e, ERR_INVALID, STR_FMT " " STR_FMT ": %s%s%s", STR_ARG(tree_str(tree_get(d->root, "kind"))),
                      STR_ARG(tree_str(tree_at(d->root, "metadata", "name", NULL))), path, *path ? ": " : "", what);
    sb_fini(&b);
    return false;
}

static bool check_kind(const struct decoder *d, const struct tree *t, enum tree_kind kind, struct err *e)
{
    if (t->kind == kind)
        return true;
    if (kind == TREE_STRING && (t->kind == TREE_NUMBER || t->kind == TREE_BOOL))
        return dec_fail(d, t, NULL, e, "must be a string, not %s: put it in quotes", tree_kind_name(t->kind));
    return dec_fail(d, t, NULL, e, "must be %s, not %s", tree_kind_name(kind), tree_kind_name(t->kind));
}

bool dec_is_map(const struct decoder *d, const struct tree *t, struct err *e)
{
    return check_kind(d, t, TREE_MAP, e);
}

bool dec_is_str(const struct decoder *d, const struct tree *t, struct err *e)
{
    return t->kind == TREE_NULL || check_kind(d, t, TREE_STRING, e);
}

static bool get_kind(const struct decoder *d, const struct tree *t, const char *key, enum tree_kind kind,
                     const struct tree **ret, struct err *e)
{
    const struct tree *f = tree_get(t, key);

    if (f && !check_kind(d, f, kind, e))
        return false;
    *ret = f;
    return true;
}

bool dec_map(const struct decoder *d, const struct tree *t, const char *key, const struct tree **ret, struct err *e)
{
    return get_kind(d, t, key, TREE_MAP, ret, e);
}

bool dec_list(const struct decoder *d, const struct tree *t, const char *key, const struct tree **ret, struct err *e)
{
    return get_kind(d, t, key, TREE_LIST, ret, e);
}

bool dec_str(const struct decoder *d, const struct tree *t, const char *key, str *ret, struct err *e)
{
    const struct tree *f;

    if (!get_kind(d, t, key, TREE_STRING, &f, e))
        return false;
    *ret = f ? f->text : (str){0};
    return true;
}

bool dec_need_str(const struct decoder *d, const struct tree *t, const char *key, str *ret, struct err *e)
{
    str s;

    if (!dec_str(d, t, key, &s, e))
        return false;
    if (s.n == 0)
        return dec_fail(d, t, key, e, "required");
    *ret = s;
    return true;
}

bool dec_sym(const struct decoder *d, const struct tree *t, const char *key, sym *ret, struct err *e)
{
    str s;

    if (!dec_str(d, t, key, &s, e))
        return false;
    *ret = sym_of(d->o->syms, s);
    return true;
}

bool dec_bool(const struct decoder *d, const struct tree *t, const char *key, bool *ret, struct err *e)
{
    const struct tree *f;

    if (!get_kind(d, t, key, TREE_BOOL, &f, e))
        return false;
    *ret = tree_is_true(f);
    return true;
}

bool dec_int(const struct decoder *d, const struct tree *t, const char *key, int64_t min, int64_t max, int64_t *ret,
             struct err *e)
{
    const struct tree *f = tree_get(t, key);
    int64_t v;

    if (!f)
        return true;
    if (f->kind != TREE_NUMBER || !str_to_i64(f->text, &v))
        return dec_fail(d, f, NULL, e, "must be an integer");
    if (v < min && max >= INT32_MAX)
        return dec_fail(d, f, NULL, e, "must not be less than %lld", (long long)min);
    if (v < min || v > max)
        return dec_fail(d, f, NULL, e, "must be between %lld and %lld", (long long)min, (long long)max);
    *ret = v;
    return true;
}

bool dec_time(const struct decoder *d, const struct tree *t, const char *key, int64_t *ret_ms, struct err *e)
{
    const struct tree *f;
    struct err why;

    if (!get_kind(d, t, key, TREE_STRING, &f, e))
        return false;
    if (!f)
        return true;
    if (!time_parse_rfc3339(f->text, ret_ms, &why))
        return dec_fail(d, f, NULL, e, "%s", why.msg);
    return true;
}

bool dec_meta(const struct decoder *d, bool namespaced, struct meta *ret, struct err *e)
{
    const struct tree *m;
    struct err unread;
    str ns;

    *ret = (struct meta){.created_ms = INT64_MAX, .deleted_ms = INT64_MIN};
    if (!dec_map(d, d->root, "metadata", &m, e))
        return false;
    if (!m)
        return dec_fail(d, d->root, "metadata", e, "required");
    if (!dec_need_str(d, m, "name", &ret->name, e) || !dec_str(d, m, "uid", &ret->uid, e) ||
        !dec_str(d, m, "namespace", &ns, e) || !dec_map(d, m, "labels", &ret->labels, e) ||
        !dec_map(d, m, "annotations", &ret->annotations, e) || !dec_list(d, m, "ownerReferences", &ret->owners, e) ||
        !dec_time(d, m, "creationTimestamp", &ret->created_ms, e))
        return false;
    ret->deleting = tree_get(m, "deletionTimestamp") != NULL;
    if (ret->deleting)
        (void)time_parse_rfc3339(tree_str(tree_get(m, "deletionTimestamp")), &ret->deleted_ms, &unread);
    if (namespaced)
        ret->ns = ns.n ? sym_of(d->o->syms, ns) : SYM(DEFAULT);
    return true;
}

bool dec_object(const struct decoder *d, bool namespaced, struct meta *ret, const struct tree **ret_spec,
                const struct tree **ret_status, struct err *e)
{
    if (!dec_meta(d, namespaced, ret, e) || !dec_map(d, d->root, "spec", ret_spec, e) ||
        !dec_map(d, d->root, "status", ret_status, e))
        return false;
    return *ret_spec || dec_fail(d, d->root, "spec", e, "required");
}

str dec_keep(const struct decoder *d, str s)
{
    return s.n ? arena_strdup(d->o->arena, s) : (str){0};
}

str dec_keep_shared(const struct decoder *d, str s)
{
    return s.n ? sym_str(d->o->syms, sym_of(d->o->syms, s)) : (str){0};
}

bool dec_take_id(const struct decoder *d, enum object_kind kind, const struct meta *m, struct err *e)
{
    struct object_id id = {kind, m->ns, m->name, uid_of(m->uid)};
    struct err why;

    if (d->single)
        return true;
    if (!objects_claim_id(d->o, &id, &why))
        return dec_fail(d, d->root, NULL, e, "%s", why.msg);
    return true;
}
