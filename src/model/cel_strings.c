/* Texts: the standard's, those of Kubernetes' string library, regular expressions. Places are counted in characters. */
#include "base/utf8.h"
#include "base/vec.h"
#include "model/cel_impl.h"

static bool all_texts(const struct cel_value *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i].kind != CEL_STRING)
            return false;
    return true;
}

static bool give_text(struct cel_run *r, struct sb *b, struct cel_value *ret)
{
    bool ok = cel_charge(r, b->n / 8);

    if (ok)
        *ret = cel_str(sb_dup(b, r->a));
    sb_fini(b);
    return ok;
}

/* Bytes to the character at this place; the length when it is the end; false beyond. */
static bool offset_of(str s, int64_t place, size_t *ret)
{
    size_t at = 0;
    uint32_t c;

    for (; place > 0 && at < s.n; place--)
        at += utf8_step(s, at, &c);
    *ret = at;
    return place == 0;
}

static bool find_from(str s, str part, size_t from, size_t *ret)
{
    if (part.n == 0) {
        *ret = from;
        return from <= s.n;
    }
    const char *hit = from <= s.n ? memmem(s.p + from, s.n - from, part.p, part.n) : NULL;
    if (!hit)
        return false;
    *ret = (size_t)(hit - s.p);
    return true;
}

/* ---- questions ---- */

static bool ask(struct cel_run *r, const struct cel_value *args, bool (*question)(str, str), struct cel_value *ret)
{
    if (!all_texts(args, 2))
        return cel_no_overload(r);
    *ret = cel_bool(question(args[0].s, args[1].s));
    return cel_charge(r, args[0].s.n / 8);
}

static bool fn_contains(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return ask(r, args, str_contains, ret);
}

static bool fn_starts(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return ask(r, args, str_starts, ret);
}

static bool fn_ends(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return ask(r, args, str_ends, ret);
}

static bool fn_char_at(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    size_t at;
    uint32_t c;

    if (args[0].kind != CEL_STRING || args[1].kind != CEL_INT)
        return cel_no_overload(r);
    str s = args[0].s;
    if (args[1].i < 0 || !offset_of(s, args[1].i, &at))
        return cel_fail(r, "index out of range: %lld", (long long)args[1].i);
    *ret = cel_str(at < s.n ? str_sub(s, at, at + utf8_step(s, at, &c)) : STR(""));
    return cel_charge(r, s.n / 16);
}

/* ---- regular expressions ---- */

static const struct regex *pattern_of(struct cel_run *r, str pattern)
{
    struct err e;

    if (r->regex)
        return r->regex;
    if (!cel_charge(r, pattern.n))
        return NULL;
    const struct regex *re = regex_compile(r->a, pattern, &e);
    if (!re)
        (void)cel_fail(r, "error parsing regexp: %s", e.msg);
    return re;
}

/* The pattern of a call on a text, its work counted. */
static const struct regex *prepare(struct cel_run *r, const struct cel_value *args)
{
    if (!all_texts(args, 2)) {
        (void)cel_no_overload(r);
        return NULL;
    }
    const struct regex *re = pattern_of(r, args[1].s);
    return re && cel_charge(r, regex_cost(re, args[0].s.n) / 32) ? re : NULL;
}

static bool fn_matches(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    const struct regex *re = prepare(r, args);

    if (!re)
        return false;
    *ret = cel_bool(regex_matches(re, args[0].s));
    return true;
}

static bool fn_find(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    const struct regex *re = prepare(r, args);
    size_t start = 0, end = 0;

    if (!re)
        return false;
    if (!regex_find(re, args[0].s, 0, &start, &end))
        start = end = 0;
    *ret = cel_str(str_sub(args[0].s, start, end));
    return true;
}

static bool fn_find_all(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    const struct regex *re = prepare(r, args);
    VEC(struct cel_value) found = {0};
    str s = args[0].s;
    size_t start, end, from = 0, last_end = SIZE_MAX;
    bool ok = true;

    if (!re)
        return false;
    if (n == 3 && args[2].kind != CEL_INT)
        return cel_no_overload(r);
    int64_t limit = n == 3 && args[2].i >= 0 ? args[2].i : INT64_MAX;
    while (ok && found.n < limit && regex_find(re, s, from, &start, &end)) {
        if (end > start || start != last_end) /* nothing, right behind a match, is no match */
            vec_push(&found, cel_str(str_sub(s, start, end)));
        last_end = end;
        uint32_t c;
        from = end > start ? end : end < s.n ? end + utf8_step(s, end, &c) : s.n + 1;
        ok = cel_charge(r, 1 + regex_cost(re, s.n - MIN(from, s.n)) / 32);
    }
    if (ok)
        *ret = cel_list(vec_to_arena(&found, r->a), found.n);
    vec_fini(&found);
    return ok;
}

/* ---- places ---- */

bool cel_text_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    size_t from = 0, at;

    if (!all_texts(args, 2) || (n == 3 && args[2].kind != CEL_INT))
        return cel_no_overload(r);
    str s = args[0].s;
    if (n == 3 && (args[2].i < 0 || !offset_of(s, args[2].i, &from)))
        return cel_fail(r, "index out of range: %lld", (long long)args[2].i);
    *ret = cel_int(find_from(s, args[1].s, from, &at) ? (int64_t)utf8_count(str_sub(s, 0, at)) : -1);
    return cel_charge(r, s.n / 8);
}

bool cel_text_last_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    if (!all_texts(args, 2) || (n == 3 && args[2].kind != CEL_INT))
        return cel_no_overload(r);
    str s = args[0].s, part = args[1].s;
    size_t upto = s.n;
    if (n == 3 && (args[2].i < 0 || !offset_of(s, args[2].i, &upto)))
        return cel_fail(r, "index out of range: %lld", (long long)args[2].i);
    *ret = cel_int(-1);
    if (part.n > s.n)
        return true;
    for (size_t at = MIN(upto, s.n - part.n) + 1; at-- > 0;)
        if (str_starts(str_sub(s, at, s.n), part)) {
            *ret = cel_int((int64_t)utf8_count(str_sub(s, 0, at)));
            break;
        }
    return cel_charge(r, s.n);
}

static bool fn_substring(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    size_t from, to;

    if (args[0].kind != CEL_STRING || args[1].kind != CEL_INT || (n == 3 && args[2].kind != CEL_INT))
        return cel_no_overload(r);
    str s = args[0].s;
    to = s.n;
    if (args[1].i < 0 || !offset_of(s, args[1].i, &from))
        return cel_fail(r, "index out of range: %lld", (long long)args[1].i);
    if (n == 3 && (args[2].i < 0 || !offset_of(s, args[2].i, &to)))
        return cel_fail(r, "index out of range: %lld", (long long)args[2].i);
    if (from > to)
        return cel_fail(r, "invalid substring range. start: %lld, end: %lld", (long long)args[1].i,
                        (long long)args[2].i);
    *ret = cel_str(str_sub(s, from, to));
    return cel_charge(r, s.n / 16);
}

/* ---- new texts ---- */

static bool ascii_case(struct cel_run *r, const struct cel_value *args, char first, struct cel_value *ret)
{
    struct sb b = {0};

    if (args[0].kind != CEL_STRING)
        return cel_no_overload(r);
    for (size_t i = 0; i < args[0].s.n; i++) {
        char c = args[0].s.p[i];

        sb_char(&b, c >= first && c <= first + 25 ? (char)(c ^ 32) : c);
    }
    return give_text(r, &b, ret);
}

static bool fn_lower(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return ascii_case(r, args, 'A', ret);
}

static bool fn_upper(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    return ascii_case(r, args, 'a', ret);
}

static bool fn_trim(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind != CEL_STRING)
        return cel_no_overload(r);
    *ret = cel_str(str_trim(args[0].s));
    return true;
}

static bool fn_reverse(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    VEC(uint32_t) chars = {0};
    struct sb b = {0};

    if (args[0].kind != CEL_STRING)
        return cel_no_overload(r);
    for (size_t at = 0; at < args[0].s.n;) {
        uint32_t c;

        at += utf8_step(args[0].s, at, &c);
        vec_push(&chars, c);
    }
    while (chars.n > 0)
        utf8_put(&b, chars.v[--chars.n]);
    vec_fini(&chars);
    return give_text(r, &b, ret);
}

static bool fn_replace(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    struct sb b = {0};
    size_t from = 0, at;
    bool ok = true;

    if (!all_texts(args, 3) || (n == 4 && args[3].kind != CEL_INT))
        return cel_no_overload(r);
    str s = args[0].s, old = args[1].s;
    int64_t left = n == 4 && args[3].i >= 0 ? args[3].i : INT64_MAX;
    for (; ok && left > 0 && find_from(s, old, from, &at); left--) {
        uint32_t c;

        sb_str(&b, str_sub(s, from, at));
        sb_str(&b, args[2].s);
        from = at + old.n;
        if (old.n == 0) { /* nothing stands before every character and at the end */
            if (from == s.n) {
                from++;
                break;
            }
            size_t step = utf8_step(s, from, &c);
            sb_str(&b, str_sub(s, from, from + step));
            from += step;
        }
        ok = cel_charge(r, 1 + args[2].s.n / 8);
    }
    sb_str(&b, str_sub(s, from, s.n));
    if (ok)
        return give_text(r, &b, ret);
    sb_fini(&b);
    return false;
}

static bool fn_split(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    VEC(struct cel_value) parts = {0};

    if (!all_texts(args, 2) || (n == 3 && args[2].kind != CEL_INT))
        return cel_no_overload(r);
    str s = args[0].s, sep = args[1].s;
    int64_t limit = n == 3 && args[2].i >= 0 ? args[2].i : INT64_MAX;
    size_t from = 0, at;
    while (parts.n + 1 < limit) {
        uint32_t c;

        if (sep.n == 0) {
            if (from >= s.n)
                break;
            at = from + utf8_step(s, from, &c);
            if (at >= s.n)
                break;
        } else if (!find_from(s, sep, from, &at))
            break;
        vec_push(&parts, cel_str(str_sub(s, from, at)));
        from = at + sep.n;
    }
    if (limit > 0 && (sep.n > 0 || s.n > 0))
        vec_push(&parts, cel_str(str_sub(s, from, s.n)));
    *ret = cel_list(vec_to_arena(&parts, r->a), parts.n);
    uint32_t made = parts.n;
    vec_fini(&parts);
    return cel_charge(r, made + s.n / 8);
}

static bool fn_join(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)
{
    struct sb b = {0};

    if (args[0].kind != CEL_LIST || (n == 2 && args[1].kind != CEL_STRING) || !all_texts(args[0].items, args[0].n))
        return cel_no_overload(r);
    for (uint32_t i = 0; i < args[0].n; i++) {
        if (i && n == 2)
            sb_str(&b, args[1].s);
        sb_str(&b, args[0].items[i].s);
        if (!cel_charge(r, 1 + b.n / 1024)) {
            sb_fini(&b);
            return false;
        }
    }
    return give_text(r, &b, ret);
}

const struct cel_fn cel_fns_strings[] = {
    {"contains", 2, 2, true, fn_contains},
    {"startsWith", 2, 2, true, fn_starts},
    {"endsWith", 2, 2, true, fn_ends},
    {"charAt", 2, 2, true, fn_char_at},
    {"matches", 2, 2, true, fn_matches},
    {"matches", 2, 2, false, fn_matches},
    {"find", 2, 2, true, fn_find},
    {"findAll", 2, 3, true, fn_find_all},
    {"substring", 2, 3, true, fn_substring},
    {"lowerAscii", 1, 1, true, fn_lower},
    {"upperAscii", 1, 1, true, fn_upper},
    {"trim", 1, 1, true, fn_trim},
    {"reverse", 1, 1, true, fn_reverse},
    {"replace", 3, 4, true, fn_replace},
    {"split", 2, 3, true, fn_split},
    {"join", 1, 2, true, fn_join},
    {0},
};
