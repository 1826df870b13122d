/* A schedule is five bit sets. The next hit is found field by field, from the largest to the smallest: a month that is
 * not in its set is stepped over whole, and within a day the hour and the minute are looked up, not counted to.
 */
#include "model/cron.h"

#include "base/bits.h"
#include "model/civil.h"

#define LONGEST_TEXT 1000
#define YEARS_AHEAD 5

struct field {
    const char *name;
    uint32_t min, max;
    const char *names; /* three letters each, the first stands for `min`; NULL when there are none */
};

enum { MINUTE, HOUR, DOM, MONTH, DOW, N_FIELDS };

static const struct field fields[] = {
    [MINUTE] = {"minute", 0, 59, NULL},
    [HOUR] = {"hour", 0, 23, NULL},
    [DOM] = {"day of month", 1, 31, NULL},
    [MONTH] = {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    [DOW] = {"day of week", 0, 6, "sunmontuewedthufrisat"},
};

static const struct {
    str name, stands_for;
} descriptors[] = {
    {STR_INIT("@yearly"), STR_INIT("0 0 1 1 *")},  {STR_INIT("@annually"), STR_INIT("0 0 1 1 *")},
    {STR_INIT("@monthly"), STR_INIT("0 0 1 * *")}, {STR_INIT("@weekly"), STR_INIT("0 0 * * 0")},
    {STR_INIT("@daily"), STR_INIT("0 0 * * *")},   {STR_INIT("@midnight"), STR_INIT("0 0 * * *")},
    {STR_INIT("@hourly"), STR_INIT("0 * * * *")},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool refuse(const struct field *f, str text, const char *why, struct err *e)
{
    return err_set(e, ERR_INVALID, "%s \"%.*s\" %s", f->name, (int)MIN(text.n, (size_t)80), text.p, why);
}

static bool number_or_name(const struct field *f, str s, int64_t *ret)
{
    if (f->names && s.n == 3)
        for (uint32_t i = 0; i <= f->max - f->min; i++) {
            const char *name = f->names + 3 * (size_t)i;

            if (lower(s.p[0]) == name[0] && lower(s.p[1]) == name[1] && lower(s.p[2]) == name[2]) {
                *ret = f->min + i;
                return true;
            }
        }
    return str_to_i64(s, ret) && *ret >= 0;
}

/* "5", "1-5", "*", "?", each with "/step" or without. */
static bool parse_range(const struct field *f, str text, uint64_t *bits, bool *star, struct err *e)
{
    str range, step_text, low, high;
    bool stepped = str_cut(text, '/', &range, &step_text);
    bool ranged = str_cut(range, '-', &low, &high);
    bool all = str_is(low, "*") || str_is(low, "?");
    int64_t from = f->min, to = f->max, step = 1;

    /* quirk: whatever is written between "*-" and the step is not looked at, as in the usual cron library */
    if (!all) {
        if (!number_or_name(f, low, &from) || (ranged && !number_or_name(f, high, &to)))
            return refuse(f, text, "is not a number, a name or a range", e);
        if (!ranged && !stepped)
            to = from; /* but "5/10" means "5-max/10" */
    }
    if (stepped && (!str_to_i64(step_text, &step) || step <= 0))
        return refuse(f, text, "has a step that is not a positive number", e);
    if (from < f->min || to > f->max)
        return refuse(f, text, "is out of range", e);
    if (from > to)
        return refuse(f, text, "starts after its end", e);

    *star |= all && step == 1;
    for (int64_t i = from; i <= to; i += MIN(step, 64))
        *bits |= 1ull << i;
    return true;
}

/* A list of ranges. quirk: empty places between commas are skipped, and "," alone is a set that nothing matches. */
static bool parse_field(const struct field *f, str text, uint64_t *bits, bool *star, struct err *e)
{
    while (text.n) {
        str item;

        (void)str_cut(text, ',', &item, &text);
        if (item.n && !parse_range(f, item, bits, star, e))
            return false;
    }
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of *s, empty at the end. */
static str take_word(str *s)
{
    size_t from = 0, to;

    while (from < s->n && is_space(s->p[from]))
        from++;
    for (to = from; to < s->n && !is_space(s->p[to]);)
        to++;
    str word = str_sub(*s, from, to);
    *s = str_sub(*s, to, s->n);
    return word;
}

static bool descriptor_text(str s, str *ret, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(descriptors); i++)
        if (str_eq(s, descriptors[i].name)) {
            *ret = descriptors[i].stands_for;
            return true;
        }
    return err_set(e, ERR_INVALID, "unknown schedule \"%.*s\"", (int)MIN(s.n, (size_t)80), s.p);
}

bool cron_parse(str s, struct cron *ret, struct err *e)
{
    uint64_t bits[N_FIELDS] = {0};
    bool star[N_FIELDS] = {0};
    str words[N_FIELDS];
    uint32_t n = 0;

    if (s.n > LONGEST_TEXT)
        return err_set(e, ERR_INVALID, "the schedule is longer than %d characters", LONGEST_TEXT);
    s = str_trim(s);
    if (s.n && s.p[0] == '@' && !descriptor_text(s, &s, e))
        return false;

    str left = s;
    for (str word = take_word(&left); word.n; word = take_word(&left), n++)
        if (n < N_FIELDS)
            words[n] = word;
    if (n != N_FIELDS)
        return err_set(e, ERR_INVALID, "schedule \"%.*s\" has %u fields, not 5", (int)MIN(s.n, (size_t)80), s.p, n);
    for (uint32_t i = 0; i < N_FIELDS; i++)
        if (!parse_field(&fields[i], words[i], &bits[i], &star[i], e))
            return err_wrap(e, "schedule \"%.*s\"", (int)MIN(s.n, (size_t)80), s.p);

    *ret = (struct cron){.minute = bits[MINUTE],
                         .hour = bits[HOUR],
                         .dom = bits[DOM],
                         .month = bits[MONTH],
                         .dow = bits[DOW],
                         .dom_star = star[DOM],
                         .dow_star = star[DOW]};
    return true;
}

/* ---- the calendar ---- */

/* A day must be in both sets when one of them is `*`; when both were restricted, either will do. */
static bool day_matches(const struct cron *c, uint32_t day, int64_t days)
{
    int64_t weekday = days + 4 - floor_div(days + 4, 7) * 7; /* 1970-01-01 was a Thursday */
    bool dom = c->dom >> day & 1, dow = c->dow >> weekday & 1;

    return c->dom_star || c->dow_star ? dom && dow : dom || dow;
}

/* The first member that is not below `from`, or 64. */
static uint32_t first_from(uint64_t set, uint32_t from)
{
    set = from < 64 ? set & ~0ull << from : 0;
    return set ? bit_lowest(set) : 64;
}

/* The first minute of the day that is in the schedule and not before minute `from`. */
static bool minute_of_day(const struct cron *c, uint32_t from, uint32_t *ret)
{
    uint32_t hour = first_from(c->hour, from / 60);
    uint32_t minute = first_from(c->minute, hour == from / 60 ? from % 60 : 0);

    if (hour < 24 && minute > 59) { /* not in this hour any more */
        hour = first_from(c->hour, hour + 1);
        minute = first_from(c->minute, 0);
    }
    if (hour > 23 || minute > 59)
        return false;
    *ret = hour * 60 + minute;
    return true;
}

bool cron_next(const struct cron *c, int64_t after_ms, int64_t *ret_ms)
{
    int64_t minutes = floor_div(after_ms, 60000) + 1; /* the first candidate */
    int64_t days = floor_div(minutes, 1440);
    uint32_t from = (uint32_t)(minutes - days * 1440), at;
    int64_t last_year = civil_of_days(floor_div(floor_div(after_ms, 1000) + 1, 86400)).year + YEARS_AHEAD;

    for (struct civil d = civil_of_days(days); d.year <= last_year; d = civil_of_days(days), from = 0) {
        if (!(c->month >> d.month & 1)) {
            days += month_days(d.year, d.month) - d.day + 1;
            continue;
        }
        if (day_matches(c, d.day, days) && minute_of_day(c, from, &at))
            return !__builtin_mul_overflow(days * 1440 + at, 60000, ret_ms);
        days++;
    }
    return false;
}
