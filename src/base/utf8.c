/* UTF-8 as RFC 3629 has it. */
#include "base/utf8.h"

int utf8_char(const unsigned char *p, size_t n, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? -1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : -1;

    if (len <= 1) {
        *ret = p[0];
        return len;
    }
    uint32_t v = p[0] & (0x7fu >> len);
    for (int i = 1; i < len; i++) {
        if ((size_t)i == n)
            return 0;
        if ((p[i] & 0xc0) != 0x80)
            return -1;
        v = v << 6 | (p[i] & 0x3f);
    }
    *ret = v;
    return v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? -1 : len;
}

size_t utf8_step(str s, size_t at, uint32_t *ret)
{
    int len = utf8_char((const unsigned char *)s.p + at, s.n - at, ret);

    if (len > 0)
        return (size_t)len;
    *ret = 0xfffd;
    return 1;
}

size_t utf8_count(str s)
{
    size_t n = 0;
    uint32_t c;

    for (size_t at = 0; at < s.n; n++)
        at += utf8_step(s, at, &c);
    return n;
}

bool utf8_valid(str s)
{
    uint32_t c;

    for (size_t at = 0; at < s.n;) {
        int len = utf8_char((const unsigned char *)s.p + at, s.n - at, &c);

        if (len <= 0)
            return false;
        at += (size_t)len;
    }
    return true;
}

void utf8_put(struct sb *b, uint32_t c)
{
    if (c < 0x80)
        sb_char(b, (char)c);
    else if (c < 0x800)
        sb_bytes(b, (const char[]){(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))}, 2);
    else if (c < 0x10000)
        sb_bytes(b, (const char[]){(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f))},
                 3);
    else
        sb_bytes(b,
                 (const char[]){(char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)), (char)(0x80 | (c >> 6 & 0x3f)),
                                (char)(0x80 | (c & 0x3f))},
                 4);
}

bool utf8_yaml_printable(uint32_t c)
{
    if (c < 0x80)
        return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f);
    return c == 0x85 || (c >= 0xa0 && c != 0xfeff && c != 0xfffe && c != 0xffff);
}
