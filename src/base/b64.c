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
void b64url_encode(struct sb *out, str bytes)
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *p = (const unsigned char *)bytes.p;
        size_t n = MIN(bytes.n - i, (size_t)3);
        uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
        for (size_t j = 0; j <= n; j++)
            sb_char(out, digits[v >> (18 - 6 * j) & 63]);
static int digit_value(char c)
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '-' || c == '+')
        return 62;
    return c == '_' || c == '/' ? 63 : -1;
bool b64url_decode(struct sb *out, str text)
    uint32_t v = 0, bits = 0;
    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    if (text.n % 4 == 1)
        int d = digit_value(text.p[i]);
        if (d < 0)
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            sb_char(out, (char)(v >> bits & 0xff));
        }
    return true;
}
