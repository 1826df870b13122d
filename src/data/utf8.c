/* UTF-8 as RFC 3629 has it. */
#include "data/utf8.h"

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

bool utf8_yaml_printable(uint32_t c)
{
    if (c < 0x80)
        return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f);
    return c == 0x85 || (c >= 0xa0 && c != 0xfeff && c != 0xfffe && c != 0xffff);
}
