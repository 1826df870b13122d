/* Status objects. The sentences are those of a Kubernetes API server: clients show them, scripts match them. */
#include "sim/kube/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "data/json.h"
#include "sim/kube/kind.h"

void causes_fini(struct causes *c)
{
    vec_fini(&c->list);
}

static void add(struct causes *c, const char *reason, str field, str message)
{
    vec_push(&c->list, (struct cause){str_c(reason), message, arena_strdup(c->a, field)});
}

PRINTF(2, 0) static str vformat(struct arena *a, const char *fmt, va_list ap)
{
    char buf[2048];
    int n = vsnprintf(buf, sizeof(buf), fmt, ap);

    return arena_strdup(a, (str){buf, n < 0 ? 0 : MIN((size_t)n, sizeof(buf) - 1)});
}

/* "Invalid value: 5: must be …"; each part is left out when it is empty. */
static str sentence(struct arena *a, const char *what, str value, str detail)
{
    if (value.n && detail.n)
        return arena_printf(a, "%s: " STR_FMT ": " STR_FMT, what, STR_ARG(value), STR_ARG(detail));
    if (value.n || detail.n) {
        str one = value.n ? value : detail;

        return arena_printf(a, "%s: " STR_FMT, what, STR_ARG(one));
    }
    return str_c(what);
}

#define DETAIL(ret)                                                                                                    \
    va_list ap;                                                                                                        \
    va_start(ap, fmt);                                                                                                 \
    str ret = vformat(c->a, fmt, ap);                                                                                  \
    va_end(ap)

void cause_required(struct causes *c, str field, const char *fmt, ...)
{
    DETAIL(detail);
    add(c, "FieldValueRequired", field, sentence(c->a, "Required value", (str){0}, detail));
}

void cause_invalid(struct causes *c, str field, str json_value, const char *fmt, ...)
{
    DETAIL(detail);
    add(c, "FieldValueInvalid", field, sentence(c->a, "Invalid value", json_value, detail));
}

void cause_type_invalid(struct causes *c, str field, str json_value, const char *fmt, ...)
{
    DETAIL(detail);
    add(c, "FieldValueTypeInvalid", field, sentence(c->a, "Invalid value", json_value, detail));
}

void cause_forbidden(struct causes *c, str field, const char *fmt, ...)
{
    DETAIL(detail);
    add(c, "FieldValueForbidden", field, sentence(c->a, "Forbidden", (str){0}, detail));
}

void cause_not_supported(struct causes *c, str field, str json_value, const char *fmt, ...)
{
    DETAIL(detail);
    add(c, "FieldValueNotSupported", field, sentence(c->a, "Unsupported value", json_value, detail));
}

void cause_duplicate(struct causes *c, str field, str json_value)
{
    add(c, "FieldValueDuplicate", field, sentence(c->a, "Duplicate value", json_value, (str){0}));
}

void cause_too_long(struct causes *c, str field, uint32_t max)
{
    add(c, "FieldValueTooLong", field, arena_printf(c->a, "Too long: may not be more than %u bytes", max));
}

void cause_too_many(struct causes *c, str field, uint32_t actual, uint32_t max)
{
    add(c, "FieldValueTooMany", field, arena_printf(c->a, "Too many: %u: must have at most %u items", actual, max));
}

static bool fail(struct status *st, const struct kind *k, str name, int code, const char *reason, str message)
{
    *st = (struct status){.code = code, .reason = reason, .message = message, .name = name};
    if (k) {
        st->group = k->group;
        st->kind = k->plural;
    }
    return false;
}

bool status_not_found(struct arena *a, struct status *st, const struct kind *k, str name)
{
    str r = kind_resource(a, k);

    return fail(st, k, name, 404, "NotFound",
                arena_printf(a, STR_FMT " \"" STR_FMT "\" not found", STR_ARG(r), STR_ARG(name)));
}

bool status_exists(struct arena *a, struct status *st, const struct kind *k, str name)
{
    str r = kind_resource(a, k);

    return fail(st, k, name, 409, "AlreadyExists",
                arena_printf(a, STR_FMT " \"" STR_FMT "\" already exists", STR_ARG(r), STR_ARG(name)));
}

bool status_conflict(struct arena *a, struct status *st, const struct kind *k, str name, const char *why)
{
    str r = kind_resource(a, k);

    return fail(st, k, name, 409, "Conflict",
                arena_printf(a, "Operation cannot be fulfilled on " STR_FMT " \"" STR_FMT "\": %s", STR_ARG(r),
                             STR_ARG(name), why));
}

/* Kind.group "name" is invalid: one cause, or [several, separated by commas]. Repeated sentences appear once. */
bool status_invalid(struct arena *a, struct status *st, const struct kind *k, str name, const struct causes *c)
{
    struct sb b = {0};
    uint32_t said = 0;
    VEC(str) seen = {0};

    for (uint32_t i = 0; i < c->list.n; i++) {
        const struct cause *x = &c->list.v[i];
        str s = arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(x->field), STR_ARG(x->message));
        bool known = false;

        for (uint32_t j = 0; j < seen.n && !known; j++)
            known = str_eq(seen.v[j], s);
        if (known)
            continue;
        vec_push(&seen, s);
        sb_c(&b, said++ ? ", " : "");
        sb_str(&b, s);
    }
    str list = sb_dup(&b, a);
    const char *dot = k->group.n ? "." : "";
    fail(st, k, name, 422, "Invalid",
         arena_printf(a, STR_FMT "%s" STR_FMT " \"" STR_FMT "\" is invalid: %s" STR_FMT "%s", STR_ARG(k->name), dot,
                      STR_ARG(k->group), STR_ARG(name), said > 1 ? "[" : "", STR_ARG(list), said > 1 ? "]" : ""));
    st->kind = k->name; /* quirk: this answer alone names the kind, not the resource */
    st->causes = arena_dup_array(a, struct cause, c->list.v, c->list.n);
    st->n_causes = c->list.n;
    vec_fini(&seen);
    sb_fini(&b);
    return false;
}

static const char *reason_of(int code)
{
    static const struct {
        int code;
        const char *reason;
    } table[] = {
        {400, "BadRequest"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "NotFound"},
        {405, "MethodNotAllowed"},
        {406, "NotAcceptable"},
        {409, "Conflict"},
        {410, "Expired"},
        {413, "RequestEntityTooLarge"},
        {415, "UnsupportedMediaType"},
        {422, "Invalid"},
        {429, "TooManyRequests"},
        {500, "InternalError"},
        {503, "ServiceUnavailable"},
        {504, "Timeout"},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].code == code)
            return table[i].reason;
    return "";
}

bool status_bad_request(struct arena *a, struct status *st, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str message = vformat(a, fmt, ap);
    va_end(ap);
    return fail(st, NULL, (str){0}, code, reason_of(code), message);
}

bool status_blank(struct arena *a, struct status *st, int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)fail(st, NULL, (str){0}, code, reason_of(code), vformat(a, fmt, ap));
    va_end(ap);
    st->blank = true;
    return false;
}

bool status_forbidden(struct arena *a, struct status *st, const struct kind *k, str name, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str why = vformat(a, fmt, ap), r = kind_resource(a, k);
    va_end(ap);
    return fail(
        st, k, name, 403, "Forbidden",
        arena_printf(a, STR_FMT " \"" STR_FMT "\" is forbidden: " STR_FMT, STR_ARG(r), STR_ARG(name), STR_ARG(why)));
}

bool status_gone(struct arena *a, struct status *st, const char *message)
{
    return fail(st, NULL, (str){0}, 410, "Expired", arena_strdup(a, str_c(message)));
}

bool status_too_large_rv(struct arena *a, struct status *st, uint64_t rv, uint64_t now)
{
    static const struct cause why = {STR_INIT("ResourceVersionTooLarge"), STR_INIT("Too large resource version"), {0}};

    (void)status_bad_request(a, st, 504, "Timeout: Too large resource version: %llu, current: %llu",
                             (unsigned long long)rv, (unsigned long long)now);
    st->causes = &why;
    st->n_causes = 1;
    st->retry_after_s = 1;
    return false;
}

bool status_too_many(struct arena *a, struct status *st, int retry_after_s, const char *message)
{
    (void)fail(st, NULL, (str){0}, 429, "TooManyRequests", arena_strdup(a, str_c(message)));
    st->retry_after_s = retry_after_s;
    return false;
}

bool status_internal(struct arena *a, struct status *st, const char *message)
{
    return fail(st, NULL, (str){0}, 500, "InternalError", arena_strdup(a, str_c(message)));
}

const char *go_json_kind(const struct tree *t)
{
    static const char *const names[] = {
        [TREE_NULL] = "null",     [TREE_BOOL] = "bool",  [TREE_NUMBER] = "number",
        [TREE_STRING] = "string", [TREE_LIST] = "array", [TREE_MAP] = "object",
    };

    return names[t->kind];
}

static void details(struct jw *w, const struct status *st)
{
    if (!st->name.n && !st->kind.n && !st->uid.n && !st->n_causes && !st->retry_after_s && !st->blank)
        return;
    jw_key(w, "details");
    jw_map(w);
    if (st->name.n)
        jw_key(w, "name"), jw_str(w, st->name);
    if (st->group.n)
        jw_key(w, "group"), jw_str(w, st->group);
    if (st->kind.n)
        jw_key(w, "kind"), jw_str(w, st->kind);
    if (st->uid.n)
        jw_key(w, "uid"), jw_str(w, st->uid);
    if (st->n_causes) {
        jw_key(w, "causes");
        jw_list(w);
        for (uint32_t i = 0; i < st->n_causes; i++) {
            jw_map(w);
            jw_key(w, "reason"), jw_str(w, st->causes[i].reason);
            jw_key(w, "message"), jw_str(w, st->causes[i].message);
            if (st->causes[i].field.n)
                jw_key(w, "field"), jw_str(w, st->causes[i].field);
            jw_end(w);
        }
        jw_end(w);
    }
    if (st->retry_after_s)
        jw_key(w, "retryAfterSeconds"), jw_i64(w, st->retry_after_s);
    jw_end(w);
}

void status_json(struct sb *out, const struct status *st)
{
    struct jw w = {.out = out};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "Status");
    jw_key(&w, "apiVersion"), jw_c(&w, "v1");
    jw_key(&w, "metadata"), jw_map(&w), jw_end(&w);
    jw_key(&w, "status"), jw_c(&w, "Failure");
    jw_key(&w, "message"), jw_str(&w, st->message);
    if (st->reason[0])
        jw_key(&w, "reason"), jw_c(&w, st->reason);
    details(&w, st);
    jw_key(&w, "code"), jw_i64(&w, st->code);
    jw_end(&w);
}
