#include "support/prom.h"

#include <math.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/utf8.h"

struct reader {
    struct arena *a;
    struct strmap families, series;
    str family, type;
    /* the buckets of the series at hand */
    str bucket_labels;
    double last_le, last_n;
};

static bool name_char(char c, bool first, bool colon)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':') ||
           (!first && c >= '0' && c <= '9');
}

static str take_name(str *rest, bool colon)
{
    size_t n = 0;

    while (n < rest->n && name_char(rest->p[n], n == 0, colon))
        n++;
    str name = str_sub(*rest, 0, n);
    *rest = str_sub(*rest, n, rest->n);
    return name;
}

static bool eat(str *rest, const char *what)
{
    if (!str_starts(*rest, str_c(what)))
        return false;
    *rest = str_sub(*rest, strlen(what), rest->n);
    return true;
}

/* {a="b",…} into labels without le or quantile, which go to special. */
static bool take_labels(struct reader *r, str *rest, str *ret_labels, str *ret_special, struct err *e)
{
    struct sb b = {0};
    const char *before = "";
    str special = {0}, last = {0};

    for (bool first = true; !eat(rest, "}"); first = false) {
        if (!first && !eat(rest, ","))
            return err_set(e, ERR_INVALID, "no comma between labels");
        str name = take_name(rest, false);
        size_t n = 0;

        if (name.n == 0 || !eat(rest, "=\""))
            return err_set(e, ERR_INVALID, "no label");
        for (; n < rest->n && rest->p[n] != '"'; n++)
            if (rest->p[n] == '\\' && (n++, n == rest->n || !strchr("\\\"n", rest->p[n])))
                return err_set(e, ERR_INVALID, "bad escape");
        str value = str_sub(*rest, 0, n);
        *rest = str_sub(*rest, n, rest->n);
        if (!eat(rest, "\""))
            return err_set(e, ERR_INVALID, "value without an end");
        if (str_is(name, "le") || str_is(name, "quantile")) {
            special = value;
            continue;
        }
        if (last.n && str_cmp(last, name) >= 0)
            return err_set(e, ERR_INVALID, "labels are not in order");
        last = name;
        sb_printf(&b, "%s" STR_FMT "=" STR_FMT, before, STR_ARG(name), STR_ARG(value));
        before = ",";
    }
    *ret_labels = sb_dup(&b, r->a);
    *ret_special = special;
    sb_fini(&b);
    return true;
}

static bool to_number(str s, double *ret)
{
    return s.n > 0 && str_to_double(s, ret);
}

static bool check_bucket(struct reader *r, str labels, str le, double v, struct err *e)
{
    double bound;

    if (!to_number(le, &bound))
        return err_set(e, ERR_INVALID, "bad le");
    if (!str_eq(labels, r->bucket_labels) || isnan(r->last_le) || isinf(r->last_le)) {
        r->bucket_labels = labels;
        r->last_n = 0;
    } else if (bound <= r->last_le || v < r->last_n) {
        return err_set(e, ERR_INVALID, "buckets do not rise");
    }
    r->last_le = bound;
    r->last_n = v;
    return true;
}

static bool check_sample(struct reader *r, str line, struct err *e)
{
    str rest = line, name = take_name(&rest, true), labels = {0}, special = {0}, suffix;
    bool counted = str_is(r->type, "histogram") || str_is(r->type, "summary");
    double v;

    if (eat(&rest, "{") && !take_labels(r, &rest, &labels, &special, e))
        return false;
    if (!eat(&rest, " ") || !to_number(rest, &v))
        return err_set(e, ERR_INVALID, "no value");
    if (r->family.n == 0 || !str_starts(name, r->family))
        return err_set(e, ERR_INVALID, "not of this family");
    suffix = str_sub(name, r->family.n, name.n);
    if (suffix.n && !(counted && (str_is(suffix, "_sum") || str_is(suffix, "_count"))) &&
        !(str_is(r->type, "histogram") && str_is(suffix, "_bucket")))
        return err_set(e, ERR_INVALID, "not of this family");
    if (str_is(r->type, "counter") && !(v >= 0))
        return err_set(e, ERR_INVALID, "a counter below zero");
    if (str_is(suffix, "_bucket") && !check_bucket(r, labels, special, v, e))
        return false;
    if (str_is(r->type, "histogram") && str_is(suffix, "_count") && (v != r->last_n || !isinf(r->last_le)))
        return err_set(e, ERR_INVALID, "the last bucket is not the count");
    str key = arena_printf(r->a, STR_FMT "{" STR_FMT "}" STR_FMT, STR_ARG(name), STR_ARG(labels), STR_ARG(special));
    if (strmap_get(&r->series, key) != MAP_NONE)
        return err_set(e, ERR_INVALID, "the series comes twice");
    strmap_put(&r->series, key, 0);
    return true;
}

static bool check_line(struct reader *r, str line, struct err *e)
{
    str rest = line;

    if (!utf8_valid(line))
        return err_set(e, ERR_INVALID, "not UTF-8");
    if (eat(&rest, "# HELP ")) {
        r->family = take_name(&rest, true);
        r->type = STR("");
        r->last_le = (double)NAN;
        if (r->family.n == 0 || !eat(&rest, " ") || strmap_get(&r->families, r->family) != MAP_NONE)
            return err_set(e, ERR_INVALID, "bad family");
        strmap_put(&r->families, r->family, 0);
        return true;
    }
    if (eat(&rest, "# TYPE ")) {
        if (!str_eq(take_name(&rest, true), r->family) || !eat(&rest, " ") || r->type.n)
            return err_set(e, ERR_INVALID, "a type without its help");
        r->type = rest;
        if (!str_is(rest, "counter") && !str_is(rest, "gauge") && !str_is(rest, "histogram") &&
            !str_is(rest, "summary"))
            return err_set(e, ERR_INVALID, "no such type");
        return true;
    }
    return check_sample(r, line, e);
}

bool prom_check(str text, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct reader r = {.a = a, .last_le = (double)NAN};
    bool ok = true;

    while (ok && text.n > 0) {
        str line, rest;

        if (!str_cut(text, '\n', &line, &rest))
            ok = err_set(e, ERR_INVALID, "no line feed at the end");
        else if (!check_line(&r, line, e))
            ok = err_wrap(e, "\"" STR_FMT "\"", STR_ARG(line));
        text = rest;
    }
    strmap_fini(&r.families);
    strmap_fini(&r.series);
    return ok;
}
