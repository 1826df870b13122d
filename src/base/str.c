#include "base/str.h"

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
