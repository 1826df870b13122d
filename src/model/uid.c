#include "model/uid.h"

#include "base/map.h"

#define GROUPS "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct uid uid_of(str text)
{
    uint64_t half[2] = {0};
    uint32_t n = 0;

    for (size_t i = 0; i < UID_TEXT && text.n == UID_TEXT; i++) {
        bool dash = GROUPS[i] == '-';
        int digit = dash ? 0 : digit_of(text.p[i]);

        if (digit < 0 || (dash && text.p[i] != '-'))
            break;
        if (!dash)
            half[n / 16] = half[n / 16] << 4 | (uint64_t)digit;
        n += !dash;
    }
    struct uid u = {half[0], half[1]};
    if (n == 32 && uid_is_number(u))
        return u;
    assert(text.n >> 62 == 0);
    return (struct uid){text.n ? (uintptr_t)text.p : 0, text.n};
}

/* The digits of 32 bits as text, the first in the highest byte: every half of a byte gets a byte of its own, and ten and more
 * are letters. */
static uint64_t digits_of(uint64_t v)
{
    const uint64_t ones = 0x0101010101010101u;

    v = (v << 16 & 0x0000ffff00000000u) | (v & 0xffff);
    v = (v << 8 | v) & 0x00ff00ff00ff00ffu;
    v = (v << 4 | v) & 0x0f0f0f0f0f0f0f0fu;
    return v + ones * '0' + ((v + ones * 6) >> 4 & ones) * ('a' - 10 - '0');
}

str uid_text(struct uid u, char room[UID_TEXT])
{
    uint64_t parts[4] = {digits_of(u.hi >> 32), digits_of(u.hi & UINT32_MAX), digits_of(u.lo >> 32),
                         digits_of(u.lo & UINT32_MAX)};
    char digits[32];

    if (!uid_is_number(u))
        return (str){(const char *)(uintptr_t)u.hi, u.lo};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        parts[i] = __builtin_bswap64(parts[i]); /* the first digit has the highest byte */
        memcpy(digits + 8 * i, &parts[i], 8);
    }
    memset(room, '-', UID_TEXT);
    memcpy(room, digits, 8);
    memcpy(room + 9, digits + 8, 4);
    memcpy(room + 14, digits + 12, 4);
    memcpy(room + 19, digits + 16, 4);
    memcpy(room + 24, digits + 20, 12);
    return (str){room, UID_TEXT};
}

bool uid_eq(struct uid a, struct uid b)
{
    if (uid_is_number(a) || uid_is_number(b))
        return a.hi == b.hi && a.lo == b.lo;
    return str_eq(UID_STR(a), UID_STR(b));
}

int uid_cmp(struct uid a, struct uid b)
{
    if (!uid_is_number(a) || !uid_is_number(b))
        return str_cmp(UID_STR(a), UID_STR(b));
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

uint64_t uid_key(struct uid u)
{
    uint64_t v = 0;

    if (uid_is_number(u))
        return digits_of(u.hi >> 32);
    str text = UID_STR(u);
    for (size_t i = 0; i < sizeof(v); i++)
        v = v << 8 | (i < text.n ? (unsigned char)text.p[i] : 0);
    return v;
}

uint64_t uid_hash(struct uid u, uint64_t seed)
{
    str text = UID_STR(u);

    return uid_is_number(u) ? hash_mix(hash_mix(seed, u.hi), u.lo) : hash_bytes(text.p, text.n, seed);
}
