/* Typing of plain scalars. quirk: `y` and `n` are booleans, `08` is eight but `010` is eight too: Go's YAML reader
 * (the one behind kubectl) decides so, and manifests must mean the same here and there. */
#include "data/yaml_scalar.h"

#define NO_DIGIT 99u

static const struct {
    str word;
    enum yaml_meaning means;
} words[] = {
    {STR_INIT("~"), YAML_NULL},           {STR_INIT("null"), YAML_NULL},        {STR_INIT("Null"), YAML_NULL},
    {STR_INIT("NULL"), YAML_NULL},        {STR_INIT("y"), YAML_TRUE},           {STR_INIT("Y"), YAML_TRUE},
    {STR_INIT("yes"), YAML_TRUE},         {STR_INIT("Yes"), YAML_TRUE},         {STR_INIT("YES"), YAML_TRUE},
    {STR_INIT("true"), YAML_TRUE},        {STR_INIT("True"), YAML_TRUE},        {STR_INIT("TRUE"), YAML_TRUE},
    {STR_INIT("on"), YAML_TRUE},          {STR_INIT("On"), YAML_TRUE},          {STR_INIT("ON"), YAML_TRUE},
    {STR_INIT("n"), YAML_FALSE},          {STR_INIT("N"), YAML_FALSE},          {STR_INIT("no"), YAML_FALSE},
    {STR_INIT("No"), YAML_FALSE},         {STR_INIT("NO"), YAML_FALSE},         {STR_INIT("false"), YAML_FALSE},
    {STR_INIT("False"), YAML_FALSE},      {STR_INIT("FALSE"), YAML_FALSE},      {STR_INIT("off"), YAML_FALSE},
    {STR_INIT("Off"), YAML_FALSE},        {STR_INIT("OFF"), YAML_FALSE},        {STR_INIT(".nan"), YAML_NOT_FINITE},
    {STR_INIT(".NaN"), YAML_NOT_FINITE},  {STR_INIT(".NAN"), YAML_NOT_FINITE},  {STR_INIT(".inf"), YAML_NOT_FINITE},
    {STR_INIT(".Inf"), YAML_NOT_FINITE},  {STR_INIT(".INF"), YAML_NOT_FINITE},  {STR_INIT("+.inf"), YAML_NOT_FINITE},
    {STR_INIT("+.Inf"), YAML_NOT_FINITE}, {STR_INIT("+.INF"), YAML_NOT_FINITE}, {STR_INIT("-.inf"), YAML_NOT_FINITE},
    {STR_INIT("-.Inf"), YAML_NOT_FINITE}, {STR_INIT("-.INF"), YAML_NOT_FINITE},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The n digits from `at`, and where they end. */
static size_t digits_end(str s, size_t at)
{
    while (at < s.n && is_digit(s.p[at]))
        at++;
    return at;
}

/* [eE][+-]?digits, or nothing. */
static bool exponent_to_end(str s, size_t at)
{
    if (at == s.n)
        return true;
    if (s.p[at] != 'e' && s.p[at] != 'E')
        return false;
    at++;
    if (at < s.n && (s.p[at] == '+' || s.p[at] == '-'))
        at++;
    return at < s.n && digits_end(s, at) == s.n;
}

bool json_is_number(str s)
{
    size_t at = s.n && s.p[0] == '-', from = at;

    at = digits_end(s, at);
    if (at == from || (s.p[from] == '0' && at > from + 1))
        return false;
    if (at < s.n && s.p[at] == '.') {
        from = ++at;
        at = digits_end(s, at);
        if (at == from)
            return false;
    }
    return exponent_to_end(s, at);
}

static unsigned digit_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return NO_DIGIT;
}

/* 0x1f, 0o17, 0b1, 017, with a sign before and underscores anywhere after the first character. Only what needs
 * another base: decimal numbers are floats() business as well. Must fit 64 bits. */
static bool based_integer(str s, bool *ret_negative, uint64_t *ret)
{
    char lean[80]; /* the longest 64-bit number in base 2 with its prefix, without underscores */
    size_t n = 0, at = 0;
    unsigned base = 8;
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '_')
            continue;
        if (n == sizeof(lean))
            return false;
        lean[n++] = s.p[i];
    }
    *ret_negative = n && lean[0] == '-';
    if (n && (lean[0] == '-' || lean[0] == '+'))
        at++;
    if (n < at + 2 || lean[at] != '0')
        return false;
    at++;
    char mark = (char)(lean[at] | 0x20);
    if (mark == 'x' || mark == 'o' || mark == 'b') {
        base = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
        if (++at == n)
            return false;
    }
    for (; at < n; at++) {
        unsigned d = digit_value(lean[at]);

        if (d >= base || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v))
            return false;
    }
    if (*ret_negative && v > (uint64_t)INT64_MAX + 1)
        return false;
    *ret = v;
    return true;
}

/* [+-]?(.digits | digits[.digits])[exponent]: what is a number in decimal. `s` has no underscores. */
static bool decimal(str s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+'), from = at;

    at = digits_end(s, at);
    size_t whole = at - from, part = 0;
    if (at < s.n && s.p[at] == '.') {
        from = ++at;
        at = digits_end(s, at);
        part = at - from;
        if (whole == 0 && part == 0)
            return false;
    }
    return (whole || part) && exponent_to_end(s, at);
}

/* decimal() with underscores, which are passed over anywhere but in front. */
static bool decimal_with_underscores(str s)
{
    char lean[256];
    size_t n = 0;

    if (!memchr(s.p, '_', s.n))
        return decimal(s);
    if (s.p[0] == '.')
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '_')
            continue;
        if (n == sizeof(lean))
            return false; /* nobody writes underscores into a number of that length */
        lean[n++] = s.p[i];
    }
    return decimal((str){lean, n});
}

enum yaml_meaning yaml_resolve(str s)
{
    bool negative;
    uint64_t v;

    if (s.n == 0)
        return YAML_NULL;
    if (s.n <= 5)
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (str_eq(words[i].word, s))
                return words[i].means;
    if (!is_digit(s.p[0]) && s.p[0] != '+' && s.p[0] != '-' && s.p[0] != '.')
        return YAML_STRING;
    if (based_integer(s, &negative, &v) || decimal_with_underscores(s))
        return YAML_NUMBER;
    return YAML_STRING;
}

str yaml_number_text(struct arena *a, str s)
{
    bool negative;
    uint64_t v;

    if (json_is_number(s))
        return s;
    if (based_integer(s, &negative, &v))
        return arena_printf(a, "%s%llu", negative && v ? "-" : "", (unsigned long long)v);

    /* A decimal that JSON spells differently: no plus, one zero in front at most, no bare point. */
    char *out = arena_alloc(a, s.n + 2, 1);
    size_t n = 0, at = 0;
    if (s.p[0] == '-')
        out[n++] = '-';
    while (at < s.n && (s.p[at] == '-' || s.p[at] == '+' || s.p[at] == '_' || s.p[at] == '0'))
        at++;
    if (at == s.n || !is_digit(s.p[at]))
        out[n++] = '0';
    for (; at < s.n; at++) {
        if (s.p[at] == '_')
            continue;
        if (s.p[at] == '.') {
            size_t next = at + 1;

            while (next < s.n && s.p[next] == '_')
                next++;
            if (next == s.n || !is_digit(s.p[next]))
                continue;
        }
        out[n++] = s.p[at];
    }
    return (str){out, n};
}
