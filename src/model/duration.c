/* Durations and times are read and written exactly as Go does it, because their text is compared with Go's: in
 * annotations, in events, and in objects that are written back.
 */
#include "model/duration.h"

#include "model/civil.h"

#define NS_PER_S 1000000000ull
#define MS_PER_DAY 86400000

static const struct {
    str name;
    uint64_t ns;
} units[] = {
    {STR_INIT("ns"), 1},
    {STR_INIT("us"), 1000},
    {STR_INIT("\xc2\xb5s"), 1000}, /* U+00B5, the micro sign */
    {STR_INIT("\xce\xbcs"), 1000}, /* U+03BC, the Greek letter mu */
    {STR_INIT("ms"), 1000000},
    {STR_INIT("s"), NS_PER_S},
    {STR_INIT("m"), 60 * NS_PER_S},
    {STR_INIT("h"), 3600 * NS_PER_S},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum wrong { WRONG_RANGE, WRONG_NUMBER, WRONG_NO_UNIT, WRONG_UNIT };

static bool invalid_duration(str s, enum wrong why, struct err *e)
{
    static const char *const texts[] = {
        [WRONG_RANGE] = "out of range",
        [WRONG_NUMBER] = "a number is missing",
        [WRONG_NO_UNIT] = "the unit is missing (ns, us, ms, s, m, h)",
        [WRONG_UNIT] = "unknown unit (use ns, us, ms, s, m, h)",
    };

    return err_set(e, ERR_INVALID, "invalid duration \"%.*s\": %s", (int)MIN(s.n, (size_t)80), s.p, texts[why]);
}

/* Takes the digits off the front of *s; false when they pass 2^63. */
static bool take_whole(str *s, uint64_t *ret)
{
    uint64_t v = 0;
    size_t i = 0;

    for (; i < s->n && is_digit(s->p[i]); i++) {
        if (v > (1ull << 63) / 10)
            return false;
        v = v * 10 + (uint64_t)(s->p[i] - '0');
        if (v > 1ull << 63)
            return false;
    }
    *s = str_sub(*s, i, s->n);
    *ret = v;
    return true;
}

/* The digits after the point as value / scale; digits that no longer fit are read and forgotten. */
static void take_fraction(str *s, uint64_t *ret, double *ret_scale)
{
    uint64_t v = 0;
    double scale = 1;
    bool full = false;
    size_t i = 0;

    for (; i < s->n && is_digit(s->p[i]); i++) {
        if (full)
            continue;
        if (v > ((1ull << 63) - 1) / 10) {
            full = true;
            continue;
        }
        uint64_t next = v * 10 + (uint64_t)(s->p[i] - '0');
        if (next > 1ull << 63) {
            full = true;
            continue;
        }
        v = next;
        scale *= 10;
    }
    *s = str_sub(*s, i, s->n);
    *ret = v;
    *ret_scale = scale;
}

/* It ends where a digit or a point starts the next part. */
static str unit_at(str s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '.' && !is_digit(s.p[n]))
        n++;
    return str_sub(s, 0, n);
}

/* Zero when there is none or it is unknown: then *s is left where it is. */
static uint64_t take_unit(str *s)
{
    str name = unit_at(*s);

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq(name, units[i].name)) {
            *s = str_sub(*s, name.n, s->n);
            return units[i].ns;
        }
    return 0;
}

/* One number with its unit, "1.5h", off the front of *s. */
static bool take_part(str *s, uint64_t *ret_ns, enum wrong *ret_why)
{
    uint64_t whole, fraction = 0, unit;
    double scale = 1;
    size_t before = s->n;
    bool digits;

    *ret_why = WRONG_RANGE;
    if (!take_whole(s, &whole))
        return false;
    digits = s->n != before;
    if (s->n && s->p[0] == '.') {
        *s = str_sub(*s, 1, s->n);
        before = s->n;
        take_fraction(s, &fraction, &scale);
        digits |= s->n != before;
    }
    if (!digits) {
        *ret_why = WRONG_NUMBER;
        return false;
    }
    bool at_end = s->n == 0;
    unit = take_unit(s);
    if (unit == 0) {
        *ret_why = at_end ? WRONG_NO_UNIT : WRONG_UNIT;
        return false;
    }
    if (whole > (1ull << 63) / unit)
        return false;
    whole *= unit;
    /* Floating point as in Go, which loses the last digits of a long fraction: "0.3333333333333333333h". */
    if (fraction > 0)
        whole += (uint64_t)((double)fraction * ((double)unit / scale));
    *ret_ns = whole;
    return whole <= 1ull << 63;
}

/* *ret_at: where the part that is wrong stands. */
static bool take_duration(str s, int64_t *ret_ns, enum wrong *ret_why, str *ret_at)
{
    bool negative = s.n && s.p[0] == '-';
    str left = str_sub(s, negative || (s.n && s.p[0] == '+'), s.n);
    uint64_t sum = 0, part;

    *ret_at = left;
    *ret_why = WRONG_NUMBER;
    if (left.n == 0)
        return false;
    if (str_is(left, "0")) {
        *ret_ns = 0;
        return true;
    }
    while (left.n) {
        bool ok = take_part(&left, &part, ret_why);

        *ret_at = left;
        if (!ok)
            return false;
        *ret_why = WRONG_RANGE;
        if (part > (1ull << 63) - sum)
            return false;
        sum += part;
    }
    if (!negative && sum > INT64_MAX)
        return false;
    *ret_ns = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool duration_parse(str s, int64_t *ret_ns, struct err *e)
{
    enum wrong why;
    str at;

    return take_duration(s, ret_ns, &why, &at) || invalid_duration(s, why, e);
}

void duration_go_error(struct sb *b, str s)
{
    enum wrong why;
    int64_t ns;
    str at;

    if (take_duration(s, &ns, &why, &at))
        return;
    sb_c(b, "time: ");
    if (why == WRONG_NO_UNIT)
        sb_c(b, "missing unit in duration ");
    else if (why == WRONG_UNIT)
        sb_printf(b, "unknown unit \"" STR_FMT "\" in duration ", STR_ARG(unit_at(at)));
    else
        sb_c(b, "invalid duration ");
    sb_printf(b, "\"" STR_FMT "\"", STR_ARG(s));
}

bool duration_parse_nillable(str s, int64_t *ret_ns, struct err *e)
{
    if (str_is(s, "Never")) {
        *ret_ns = DURATION_NEVER;
        return true;
    }
    return duration_parse(s, ret_ns, e);
}

/* "v / 10^digits" without trailing zeros: 1500, 3 -> "1.5". */
static void print_scaled(struct sb *b, uint64_t v, unsigned digits)
{
    uint64_t scale = 1;

    for (unsigned i = 0; i < digits; i++)
        scale *= 10;
    sb_u64(b, v / scale);
    v %= scale;
    if (v == 0)
        return;
    sb_char(b, '.');
    for (; v; v %= scale) {
        scale /= 10;
        sb_char(b, (char)('0' + v / scale));
    }
}

void duration_print(struct sb *b, int64_t ns)
{
    uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

    if (v == 0) {
        sb_c(b, "0s");
        return;
    }
    if (ns < 0)
        sb_char(b, '-');
    if (v < NS_PER_S) {
        unsigned digits = v < 1000 ? 0 : v < 1000000 ? 3 : 6;

        print_scaled(b, v, digits);
        sb_c(b, digits == 0 ? "ns" : digits == 3 ? "\xc2\xb5s" : "ms");
        return;
    }
    uint64_t minutes = v / (60 * NS_PER_S);
    if (minutes >= 60)
        sb_printf(b, "%lluh", (unsigned long long)(minutes / 60));
    if (minutes > 0)
        sb_printf(b, "%llum", (unsigned long long)(minutes % 60));
    print_scaled(b, v % (60 * NS_PER_S), 9);
    sb_char(b, 's');
}

/* ---- points in time ---- */

/* Exactly n digits at s[at …]; -1 when they are not there. */
static int32_t number_at(str s, size_t at, size_t n)
{
    int32_t v = 0;

    if (at + n > s.n)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!is_digit(s.p[i]))
            return -1;
        v = v * 10 + (s.p[i] - '0');
    }
    return v;
}

static bool in_range(int32_t v, int32_t from, int32_t to)
{
    return v >= from && v <= to;
}

/* ".123456" off the front of *s, in milliseconds. */
static bool take_millis(str *s, int64_t *ret_ms)
{
    int64_t ms = 0, weight = 100;
    size_t i = 1;

    *ret_ms = 0;
    if (s->n == 0 || s->p[0] != '.')
        return true;
    for (; i < s->n && is_digit(s->p[i]); i++, weight /= 10)
        ms += weight * (s->p[i] - '0');
    *s = str_sub(*s, i, s->n);
    *ret_ms = ms;
    return i > 1;
}

/* "Z" or "+01:30", all of s. */
static bool zone_minutes(str s, int64_t *ret)
{
    int32_t h = number_at(s, 1, 2), m = number_at(s, 4, 2);

    *ret = 0;
    if (str_is(s, "Z"))
        return true;
    if (s.n != 6 || (s.p[0] != '+' && s.p[0] != '-') || s.p[3] != ':' || !in_range(h, 0, 23) || !in_range(m, 0, 59))
        return false;
    *ret = (s.p[0] == '-' ? -1 : 1) * (h * 60 + m);
    return true;
}

bool time_parse_rfc3339(str s, int64_t *ret_ms, struct err *e)
{
    int32_t year = number_at(s, 0, 4), month = number_at(s, 5, 2), day = number_at(s, 8, 2);
    int32_t h = number_at(s, 11, 2), m = number_at(s, 14, 2), sec = number_at(s, 17, 2);
    int64_t millis, zone;

    bool shape = s.n >= 20 && s.p[4] == '-' && s.p[7] == '-' && s.p[10] == 'T' && s.p[13] == ':' && s.p[16] == ':';
    if (!shape || year < 0 || !in_range(month, 1, 12) || day < 1 || day > (int32_t)month_days(year, (uint32_t)month) ||
        !in_range(h, 0, 23) || !in_range(m, 0, 59) || !in_range(sec, 0, 59))
        goto invalid;

    str rest = str_sub(s, 19, s.n);
    if (!take_millis(&rest, &millis) || !zone_minutes(rest, &zone))
        goto invalid;
    int64_t days = days_of_civil(year, (uint32_t)month, (uint32_t)day);
    *ret_ms = days * MS_PER_DAY + ((h * 60 + m - zone) * 60 + sec) * 1000 + millis;
    return true;

invalid:
    return err_set(e, ERR_INVALID, "invalid time \"%.*s\": want the form 2026-01-15T12:00:00Z",
                   (int)MIN(s.n, (size_t)80), s.p);
}

void time_print_rfc3339(struct sb *b, int64_t ms)
{
    int64_t days = floor_div(ms, MS_PER_DAY);
    int64_t sec = (ms % MS_PER_DAY + MS_PER_DAY) % MS_PER_DAY / 1000; /* no product, which might not fit */
    struct civil c = civil_of_days(days);

    if (c.year < 0 || c.year > 9999) {
        sb_printf(b, "%04lld-%02u-%02uT%02d:%02d:%02dZ", (long long)c.year, c.month, c.day, (int)(sec / 3600),
                  (int)(sec / 60 % 60), (int)(sec % 60));
        return;
    }
    /* Simulations write times all the time: digit by digit costs a tenth. */
    const unsigned parts[] = {(unsigned)c.year / 100,    (unsigned)c.year % 100, c.month, c.day, (unsigned)(sec / 3600),
                              (unsigned)(sec / 60 % 60), (unsigned)(sec % 60)};
    char text[] = "0000-00-00T00:00:00Z";
    static const unsigned char at[] = {0, 2, 5, 8, 11, 14, 17};

    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        text[at[i]] = (char)('0' + parts[i] / 10);
        text[at[i] + 1] = (char)('0' + parts[i] % 10);
    }
    sb_bytes(b, text, sizeof(text) - 1);
}
