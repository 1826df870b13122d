/* Functions: the tables put together, and what belongs to the language itself: sizes, types, conversions. */
#include <math.h>

#include "base/utf8.h"
#include "model/cel_impl.h"
#include "model/duration.h"

const struct cel_fn *cel_fn_find(str name, bool member, uint32_t n_args, bool *ret_known)
{
    static const struct cel_fn *const tables[] = {cel_fns_std, cel_fns_strings, cel_fns_lists, cel_fns_time,
                                                  cel_fns_more};

    *ret_known = false;
    for (size_t t = 0; t < ARRAY_LEN(tables); t++)
        for (const struct cel_fn *f = tables[t]; f->name; f++) {
            if (f->member != member || !str_is(name, f->name))
                continue;
            if (n_args >= f->min_args && n_args <= f->max_args)
                return f;
            *ret_known = true;
        }
    return NULL;
}

static bool fn_size(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind == CEL_STRING) {
        *ret = cel_int((int64_t)utf8_count(args[0].s));
        return cel_charge(r, args[0].s.n / 16);
    }
    if (args[0].kind == CEL_BYTES)
        *ret = cel_int((int64_t)args[0].s.n);
    else if (args[0].kind == CEL_LIST || args[0].kind == CEL_MAP)
        *ret = cel_int(args[0].n);
    else
        return cel_no_overload(r);
    return true;
}

static bool fn_type(struct cel_run *r UNUSED, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    *ret = (struct cel_value){.kind = CEL_TYPE, .s = str_c(cel_kind_name(args[0].kind))};
    return true;
}

static bool fn_dyn(struct cel_run *r UNUSED, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    *ret = args[0];
    return true;
}

static bool conversion_error(struct cel_run *r, const struct cel_value *v, const char *to)
{
    if (v->kind == CEL_STRING)
        return cel_fail(r, "type conversion error from 'string' to '%s'", to);
    return cel_no_overload(r);
}

static bool fn_int(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    int64_t i;

    switch (args[0].kind) {
    case CEL_INT:
        *ret = args[0];
        return true;
    case CEL_UINT:
        *ret = cel_int(args[0].i);
        return args[0].u <= INT64_MAX || cel_fail(r, "integer overflow");
    case CEL_DOUBLE:
        if (!(args[0].d > -9223372036854775808.0 && args[0].d < 9223372036854775808.0))
            return cel_fail(r, "integer overflow");
        *ret = cel_int((int64_t)args[0].d);
        return true;
    case CEL_TIMESTAMP:
        *ret = cel_int(args[0].i);
        return true;
    case CEL_STRING:
        if (!str_to_i64(args[0].s, &i))
            return conversion_error(r, &args[0], "int");
        *ret = cel_int(i);
        return true;
    default:
        return cel_no_overload(r);
    }
}

static bool uint_of_text(str s, uint64_t *ret)
{
    uint64_t v = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    *ret = v;
    return true;
}

static bool fn_uint(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    uint64_t u = args[0].u;

    switch (args[0].kind) {
    case CEL_UINT:
        break;
    case CEL_INT:
        if (args[0].i < 0)
            return cel_fail(r, "unsigned integer overflow");
        break;
    case CEL_DOUBLE:
        if (!(args[0].d > -1 && args[0].d < 18446744073709551616.0))
            return cel_fail(r, "unsigned integer overflow");
        u = (uint64_t)args[0].d;
        break;
    case CEL_STRING:
        if (!uint_of_text(args[0].s, &u))
            return conversion_error(r, &args[0], "uint");
        break;
    default:
        return cel_no_overload(r);
    }
    *ret = (struct cel_value){.kind = CEL_UINT, .u = u};
    return true;
}

static bool fn_double(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    double d = args[0].d;

    if (args[0].kind == CEL_INT)
        d = (double)args[0].i;
    else if (args[0].kind == CEL_UINT)
        d = (double)args[0].u;
    else if (args[0].kind != CEL_DOUBLE && (args[0].kind != CEL_STRING || !str_to_double(args[0].s, &d)))
        return conversion_error(r, &args[0], "double");
    *ret = cel_double(d);
    return true;
}

static bool fn_bool(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    static const char *const yes[] = {"true", "True", "TRUE", "t", "1"}, *const no[] = {"false", "False", "FALSE", "f",
                                                                                        "0"};

    if (args[0].kind == CEL_BOOL) {
        *ret = args[0];
        return true;
    }
    for (size_t i = 0; args[0].kind == CEL_STRING && i < ARRAY_LEN(yes); i++)
        if (str_is(args[0].s, yes[i]) || str_is(args[0].s, no[i])) {
            *ret = cel_bool(str_is(args[0].s, yes[i]));
            return true;
        }
    return conversion_error(r, &args[0], "bool");
}

/* Seconds with as many decimals as there are: "90s", "0.5s". */
static void print_seconds(struct sb *b, int64_t ns)
{
    uint64_t all = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, fraction = all % 1000000000;

    sb_printf(b, "%s%llu", ns < 0 ? "-" : "", (unsigned long long)(all / 1000000000));
    if (fraction) {
        int digits = 9;

        for (; fraction % 10 == 0; fraction /= 10)
            digits--;
        sb_printf(b, ".%0*llu", digits, (unsigned long long)fraction);
    }
    sb_char(b, 's');
}

static bool print_value(struct cel_run *r, const struct cel_value *v, struct sb *b)
{
    switch (v->kind) {
    case CEL_STRING:
    case CEL_TYPE:
    case CEL_QUANTITY:
        sb_str(b, v->s);
        return true;
    case CEL_BYTES:
        sb_str(b, v->s);
        return utf8_valid(v->s) || cel_fail(r, "invalid UTF-8 in bytes, cannot convert to string");
    case CEL_BOOL:
        sb_c(b, v->b ? "true" : "false");
        return true;
    case CEL_INT:
        sb_i64(b, v->i);
        return true;
    case CEL_UINT:
        sb_u64(b, v->u);
        return true;
    case CEL_DOUBLE:
        if (isfinite(v->d))
            sb_double(b, v->d);
        else
            sb_c(b, isnan(v->d) ? "NaN" : v->d > 0 ? "+Inf" : "-Inf");
        return true;
    case CEL_DURATION:
        print_seconds(b, v->i);
        return true;
    case CEL_TIMESTAMP:
        cel_time_print(b, v);
        return true;
    case CEL_NULL:
    case CEL_LIST:
    case CEL_MAP:
    case CEL_OPTIONAL:
        break;
    }
    return cel_no_overload(r);
}

bool cel_to_string(struct cel_run *r, const struct cel_value *v, struct cel_value *ret)
{
    struct sb b = {0};
    bool ok = print_value(r, v, &b);

    if (ok)
        *ret = cel_str(v->kind == CEL_STRING ? v->s : sb_dup(&b, r->a));
    sb_fini(&b);
    return ok;
}

static bool fn_string(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return cel_to_string(r, &args[0], ret);
}

static bool fn_bytes(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_STRING && args[0].kind != CEL_BYTES)
        return cel_no_overload(r);
    *ret = (struct cel_value){.kind = CEL_BYTES, .s = args[0].s};
    return true;
}

const struct cel_fn cel_fns_std[] = {
    {"size", 1, 1, false, fn_size},
    {"size", 1, 1, true, fn_size},
    {"type", 1, 1, false, fn_type},
    {"dyn", 1, 1, false, fn_dyn},
    {"int", 1, 1, false, fn_int},
    {"uint", 1, 1, false, fn_uint},
    {"double", 1, 1, false, fn_double},
    {"bool", 1, 1, false, fn_bool},
    {"string", 1, 1, false, fn_string},
    {"bytes", 1, 1, false, fn_bytes},
    {0},
};
