#include "base/b64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void b64_encode(struct sb *out, str bytes)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        const unsigned char *p = (const unsigned char *)bytes.p + i;
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

        sb_char(out, alphabet[v >> 18]);
        sb_char(out, alphabet[v >> 12 & 63]);
        sb_char(out, left > 1 ? alphabet[v >> 6 & 63] : '=');
        sb_char(out, left > 2 ? alphabet[v & 63] : '=');
    }
}

static int value_of(char c)
{
    const char *p = c ? strchr(alphabet, c) : NULL;

    return p ? (int)(p - alphabet) : -1;
}

bool b64_decode(struct arena *a, str text, str *ret)
{
    char *out = arena_alloc(a, text.n / 4 * 3 + 3, 1);
    size_t n = 0;
    uint32_t v = 0, digits = 0, padding = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\n' || c == '\r')
            continue;
        int d = c == '=' ? 0 : value_of(c);
        if (d < 0 || (c != '=' && padding) || (c == '=' && digits < 2))
            return false;
        padding += c == '=';
        v = v << 6 | (uint32_t)d;
        if (++digits < 4)
            continue;
        out[n++] = (char)(v >> 16);
        if (padding < 2)
            out[n++] = (char)(v >> 8);
        if (padding < 1)
            out[n++] = (char)v;
        if (padding && str_trim(str_sub(text, i + 1, text.n)).n)
            return false;
        v = digits = 0;
    }
    if (digits)
        return false;
    *ret = (str){out, n};
    return true;
}
