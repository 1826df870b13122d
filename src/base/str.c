#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

int str_cmp(str a, str b)
{
    size_t n = MIN(a.n, b.n);
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c != 0)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool str_starts(str s, str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool str_ends(str s, str suffix)
{
    return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

bool str_contains(str s, str part)
{
    return part.n == 0 || (s.n >= part.n && memmem(s.p, s.n, part.p, part.n) != NULL);
}

str str_sub(str s, size_t from, size_t to)
{
    to = MIN(to, s.n);
    from = MIN(from, to);
    return (str){from ? s.p + from : s.p, to - from}; /* a null pointer has nothing added to it, not even 0 */
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

str str_trim(str s)
{
    while (s.n && is_space(s.p[0]))
        s.p++, s.n--;
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_cut(str s, char c, str *ret_head, str *ret_tail)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    if (!at) {
        *ret_head = s;
        *ret_tail = str_sub(s, s.n, s.n);
        return false;
    }
    *ret_head = (str){s.p, (size_t)(at - s.p)};
    *ret_tail = (str){at + 1, s.n - ret_head->n - 1};
    return true;
}

bool str_to_i64(str s, int64_t *ret)
{
    bool neg = s.n && s.p[0] == '-';
    int64_t v = 0;

    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int digit = s.p[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
            return false; /* collected as a negative number: that side reaches one further */
    }
    if (!neg && v == INT64_MIN)
        return false;
    *ret = neg ? v : -v;
    return true;
}

static bool is_ignoring_case(str s, str word)
{
    return s.n == word.n && strncasecmp(s.p, word.p, s.n) == 0;
}

static size_t digits_end(str s, size_t at, bool hex)
{
    while (at < s.n && (hex ? isxdigit((unsigned char)s.p[at]) : isdigit((unsigned char)s.p[at])))
        at++;
    return at;
}

/* Digits with at most one point among them, then an exponent, which hexadecimal numbers must have. */
static bool is_float(str s)
{
    bool hex = s.n > 1 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x';
    size_t from = hex ? 2 : 0, at = digits_end(s, from, hex), n = at - from;

    if (at < s.n && s.p[at] == '.') {
        from = at + 1;
        at = digits_end(s, from, hex);
        n += at - from;
    }
    if (n == 0)
        return false;
    if (at == s.n)
        return !hex;
    if ((s.p[at] | 0x20) != (hex ? 'p' : 'e'))
        return false;
    at++;
    if (at < s.n && (s.p[at] == '+' || s.p[at] == '-'))
        at++;
    return at < s.n && digits_end(s, at, false) == s.n;
}

bool str_to_double(str s, double *ret)
{
    bool sign = s.n && (s.p[0] == '+' || s.p[0] == '-');
    str body = str_sub(s, sign, s.n);
    char text[100 + 1];

    if (is_ignoring_case(s, STR("nan"))) {
        *ret = NAN;
        return true;
    }
    if (is_ignoring_case(body, STR("inf")) || is_ignoring_case(body, STR("infinity"))) {
        *ret = s.p[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (s.n >= sizeof(text) || !is_float(body))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    double v = strtod(text, NULL);
    if (isinf(v))
        return false;
    *ret = v;
    return true;
}
