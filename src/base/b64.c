#include "base/b64.h"

static void encode(struct sb *out, str bytes, const char *digits, bool padded)
{
    const unsigned char *p = (const unsigned char *)bytes.p;

    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = MIN(bytes.n - i, (size_t)3);
        uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);

        for (size_t j = 0; j <= n; j++)
            sb_char(out, digits[v >> (18 - 6 * j) & 63]);
        if (padded)
            sb_fill(out, '=', 3 - n);
    }
}

void b64_encode(struct sb *out, str bytes)
{
    encode(out, bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true);
}

void b64url_encode(struct sb *out, str bytes)
{
    encode(out, bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false);
}

static int digit_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '-' || c == '+')
        return 62;
    return c == '_' || c == '/' ? 63 : -1;
}

bool b64url_decode(struct sb *out, str text)
{
    uint32_t v = 0, bits = 0;

    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    if (text.n % 4 == 1)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit_value(text.p[i]);

        if (d < 0)
            return false;
        v = v << 6 | (uint32_t)d;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            sb_char(out, (char)(v >> bits & 0xff));
        }
    }
    return true;
}
