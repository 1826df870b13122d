/* Percent-encoding (RFC 3986) and the queries of HTML forms. */
#include "base/arena.h"
#include "net/http.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* As most are. */
static bool is_decoded(str s, bool query)
{
    return s.n == 0 || (!memchr(s.p, '%', s.n) && !memchr(s.p, '\0', s.n) && !(query && memchr(s.p, '+', s.n)));
}

bool url_decode(struct arena *a, str s, bool query, str *ret)
{
    if (is_decoded(s, query)) {
        *ret = arena_strdup(a, s);
        return true;
    }
    char *out = arena_alloc(a, s.n, 1);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '%') {
            int hi = i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1, lo = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;

            if (hi < 0 || lo < 0)
                return false;
            c = (char)(hi << 4 | lo);
            i += 2;
        } else if (c == '+' && query) {
            c = ' ';
        }
        if (c == '\0')
            return false;
        out[n++] = c;
    }
    *ret = (str){out, n};
    return true;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

void url_encode(struct sb *out, str s)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_unreserved(s.p[i])) {
            sb_char(out, s.p[i]);
            continue;
        }
        sb_char(out, '%');
        sb_char(out, hex[c >> 4]);
        sb_char(out, hex[c & 15]);
    }
}

bool query_next(struct arena *a, str *rest, str *ret_name, str *ret_value, bool *ret_bad)
{
    *ret_bad = false;
    while (rest->n > 0) {
        str pair, name, value, tail;

        (void)str_cut(*rest, '&', &pair, &tail);
        *rest = tail;
        if (pair.n == 0)
            continue;
        (void)str_cut(pair, '=', &name, &value);
        *ret_bad = !url_decode(a, name, true, ret_name) || !url_decode(a, value, true, ret_value);
        return !*ret_bad;
    }
    return false;
}
