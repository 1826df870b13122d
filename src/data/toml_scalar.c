/* Numbers, dates and times of TOML, checked and written the one way that is written. */
#include "data/toml_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers ---- */

static bool is_digit(char c, int base)
{
    if (base == 16)
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    return c >= '0' && c < '0' + base;
}

/* Digits at the front, underscores between them dropped; how much of the word they take, 0: none or badly written. */
static size_t take_digits(str s, int base, struct sb *b)
{
    size_t at = 0;

    while (at < s.n && (is_digit(s.p[at], base) || s.p[at] == '_')) {
        bool between = at > 0 && s.p[at - 1] != '_' && at + 1 < s.n && is_digit(s.p[at + 1], base);

        if (s.p[at] == '_' && !between)
            return 0;
        if (s.p[at] != '_')
            sb_char(b, s.p[at]);
        at++;
    }
    return at;
}

static bool read_prefixed(str word, int64_t *ret)
{
    int base = str_starts(word, STR("0x")) ? 16 : str_starts(word, STR("0o")) ? 8 : str_starts(word, STR("0b")) ? 2 : 0;
    str rest = str_sub(word, 2, word.n);
    struct sb b = {0};
    uint64_t v = 0;
    bool ok = base && rest.n && take_digits(rest, base, &b) == rest.n;

    for (size_t i = 0; ok && i < b.n; i++) {
        char c = b.p[i];
        unsigned digit = (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);

        ok = !__builtin_mul_overflow(v, (uint64_t)base, &v) && !__builtin_add_overflow(v, digit, &v) && v <= INT64_MAX;
    }
    sb_fini(&b);
    *ret = (int64_t)v;
    return ok;
}

/* "1_000.5e-3" as "1000.5e-3"; *ret_float: it has a fraction or an exponent. */
static bool read_decimal(str word, struct sb *b, bool *ret_float)
{
    bool sign = word.n && (word.p[0] == '-' || word.p[0] == '+');
    str rest = str_sub(word, sign, word.n);

    if (sign && word.p[0] == '-')
        sb_char(b, '-');
    *ret_float = false;
    size_t n = take_digits(rest, 10, b);
    if (n == 0 || (n > 1 && rest.p[0] == '0'))
        return false;
    rest = str_sub(rest, n, rest.n);
    if (rest.n && rest.p[0] == '.') {
        *ret_float = true;
        sb_char(b, '.');
        n = take_digits(str_sub(rest, 1, rest.n), 10, b);
        if (n == 0)
            return false;
        rest = str_sub(rest, n + 1, rest.n);
    }
    if (rest.n && (rest.p[0] == 'e' || rest.p[0] == 'E')) {
        bool minus = rest.n > 1 && rest.p[1] == '-', plus = rest.n > 1 && rest.p[1] == '+';

        *ret_float = true;
        sb_c(b, minus ? "e-" : "e");
        rest = str_sub(rest, (size_t)1 + minus + plus, rest.n);
        n = take_digits(rest, 10, b);
        rest = str_sub(rest, n, rest.n);
        return n != 0 && rest.n == 0;
    }
    return rest.n == 0;
}

/* Never with an exponent; as many digits as tell it from its neighbours. */
static str float_text(struct arena *a, double v)
{
    char text[40];
    int64_t exponent;
    int n = 1;

    if (v == trunc(v))
        return arena_printf(a, "%.1f", v);
    for (; n < 17; n++) {
        (void)snprintf(text, sizeof(text), "%.*e", n - 1, v);
        if (strtod(text, NULL) == v)
            break;
    }
    (void)snprintf(text, sizeof(text), "%.*e", n - 1, v);
    (void)str_to_i64(str_c(strchr(text, 'e') + 1), &exponent);
    return arena_printf(a, "%.*f", (int)(n - 1 - exponent), v);
}

bool toml_number_text(struct arena *a, str word, str *ret)
{
    static const char *const special[][2] = {{"inf", "inf"}, {"+inf", "inf"}, {"-inf", "-inf"},
                                             {"nan", "nan"}, {"+nan", "nan"}, {"-nan", "nan"}};
    struct sb b = {0};
    bool is_float = false;
    int64_t whole = 0;
    double v;

    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (str_is(word, special[i][0])) {
            *ret = str_c(special[i][1]);
            return true;
        }
    bool ok = read_prefixed(word, &whole) ||
              (read_decimal(word, &b, &is_float) && (is_float || str_to_i64(sb_view(&b), &whole)));
    if (ok && is_float) {
        v = strtod(sb_cstr(&b), NULL);
        ok = isfinite(v);
        *ret = ok ? float_text(a, v) : (str){0};
    } else if (ok) {
        *ret = arena_printf(a, "%lld", (long long)whole);
    }
    sb_fini(&b);
    return ok;
}

/* ---- dates and times ---- */

/* "12" at the front, between two bounds. */
static bool take_two(str *s, int min, int max, int *ret)
{
    if (s->n < 2 || !is_digit(s->p[0], 10) || !is_digit(s->p[1], 10))
        return false;
    *ret = (s->p[0] - '0') * 10 + (s->p[1] - '0');
    *s = str_sub(*s, 2, s->n);
    return *ret >= min && *ret <= max;
}

static bool take_char(str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_sub(*s, 1, s->n);
    return true;
}

static bool take_date(str *s)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century, year, month, day;

    if (!take_two(s, 0, 99, &century) || !take_two(s, 0, 99, &year) || !take_char(s, '-') ||
        !take_two(s, 1, 12, &month) || !take_char(s, '-') || !take_two(s, 1, 31, &day))
        return false;
    year += century * 100;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] && (month != 2 || day < 29 || leap);
}

bool toml_is_date(str s)
{
    return take_date(&s) && s.n == 0;
}

/* 07:32:00.5; the fraction goes to *ret_fraction without the zeros at its end, nine digits at most. */
static bool take_time(str *s, str *ret_fraction)
{
    int hour, minute, second;
    size_t n = 0;

    if (!take_two(s, 0, 23, &hour) || !take_char(s, ':') || !take_two(s, 0, 59, &minute) || !take_char(s, ':') ||
        !take_two(s, 0, 60, &second))
        return false;
    *ret_fraction = (str){0};
    if (!take_char(s, '.'))
        return true;
    while (n < s->n && is_digit(s->p[n], 10))
        n++;
    *ret_fraction = str_sub(*s, 0, MIN(n, (size_t)9));
    *s = str_sub(*s, n, s->n);
    while (ret_fraction->n && ret_fraction->p[ret_fraction->n - 1] == '0')
        ret_fraction->n--;
    return n != 0;
}

static bool take_zone(str *s, struct sb *b)
{
    str zone = *s;
    int hours, minutes;

    if (take_char(s, 'Z') || take_char(s, 'z')) {
        sb_char(b, 'Z');
        return true;
    }
    if (!(take_char(s, '+') || take_char(s, '-')) || !take_two(s, 0, 23, &hours) || !take_char(s, ':') ||
        !take_two(s, 0, 59, &minutes))
        return false;
    if (hours || minutes)
        sb_str(b, str_sub(zone, 0, zone.n - s->n));
    else
        sb_char(b, 'Z');
    return true;
}

static bool read_time(str word, struct sb *b)
{
    str rest = word, fraction, from;
    bool date = take_date(&rest);

    if (!date)
        rest = word;
    sb_str(b, str_sub(word, 0, word.n - rest.n));
    if (date && rest.n == 0)
        return true;
    if (date && !take_char(&rest, 'T') && !take_char(&rest, 't') && !take_char(&rest, ' '))
        return false;
    from = rest;
    if (!take_time(&rest, &fraction))
        return false;
    sb_printf(b, "%s%.8s", date ? "T" : "", from.p);
    if (fraction.n)
        sb_printf(b, "." STR_FMT, STR_ARG(fraction));
    return rest.n == 0 || (date && take_zone(&rest, b) && rest.n == 0);
}

bool toml_time_text(struct arena *a, str word, str *ret)
{
    struct sb b = {0};
    bool ok = read_time(word, &b);

    if (ok)
        *ret = sb_dup(&b, a);
    sb_fini(&b);
    return ok;
}
