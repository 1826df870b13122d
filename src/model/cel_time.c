/* Timestamps and durations. Time zones are offsets: "+01:00", "UTC". */
#include "model/cel_impl.h"
#include "model/civil.h"
#include "model/duration.h"

bool cel_time_of(struct cel_run *r, str text, struct cel_value *ret)
{
    struct err e;
    int64_t ms;
    uint32_t nanos = 0, place = 100000000;

    if (!time_parse_rfc3339(text, &ms, &e))
        return cel_fail(r, "invalid timestamp: '%.*s'", (int)MIN(text.n, (size_t)100), text.p);
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '.')
            for (i++; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++, place /= 10)
                nanos += place * (uint32_t)(text.p[i] - '0');
    *ret = (struct cel_value){.kind = CEL_TIMESTAMP, .i = floor_div(ms, 1000), .n = nanos};
    return true;
}

void cel_time_print(struct sb *b, const struct cel_value *t)
{
    struct sb whole = {0};

    time_print_rfc3339(&whole, t->i * 1000);
    sb_str(b, str_sub(sb_view(&whole), 0, whole.n - 1)); /* without the Z */
    sb_fini(&whole);
    if (t->n) {
        uint32_t fraction = t->n;
        int digits = 9;

        for (; fraction % 10 == 0; fraction /= 10)
            digits--;
        sb_printf(b, ".%0*u", digits, fraction);
    }
    sb_char(b, 'Z');
}

static bool fn_timestamp(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    if (args[0].kind == CEL_STRING)
        return cel_time_of(r, args[0].s, ret);
    if (args[0].kind == CEL_INT) {
        if (args[0].i < -62135596800 || args[0].i > 253402300799)
            return cel_fail(r, "timestamp overflow");
        *ret = (struct cel_value){.kind = CEL_TIMESTAMP, .i = args[0].i};
        return true;
    }
    *ret = args[0];
    return args[0].kind == CEL_TIMESTAMP || cel_no_overload(r);
}

static bool fn_duration(struct cel_run *r, const struct cel_value *args, uint32_t n UNUSED, struct cel_value *ret)
{
    struct err e;
    int64_t ns;

    if (args[0].kind == CEL_STRING) {
        if (!duration_parse(args[0].s, &ns, &e))
            return cel_fail(r, "invalid duration: '%.*s'", (int)MIN(args[0].s.n, (size_t)100), args[0].s.p);
        *ret = (struct cel_value){.kind = CEL_DURATION, .i = ns};
        return true;
    }
    *ret = args[0];
    return args[0].kind == CEL_DURATION || cel_no_overload(r);
}

/* "UTC", "", "+01:30", "-08:00", "01:30". */
static bool zone_offset(str zone, int64_t *ret_s)
{
    bool west = zone.n && zone.p[0] == '-';
    str hours, minutes;
    int64_t h, m;

    *ret_s = 0;
    if (zone.n == 0 || str_is(zone, "UTC"))
        return true;
    if (west || zone.p[0] == '+')
        zone = str_sub(zone, 1, zone.n);
    if (!str_cut(zone, ':', &hours, &minutes) || hours.n != 2 || minutes.n != 2 || !str_to_i64(hours, &h) ||
        !str_to_i64(minutes, &m) || h < 0 || h > 23 || m < 0 || m > 59)
        return false;
    *ret_s = (west ? -1 : 1) * (h * 3600 + m * 60);
    return true;
}

/* The parts of a timestamp in a zone. */
struct moment {
    struct civil date;
    int64_t days, second_of_day;
};

static bool moment_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct moment *ret)
{
    int64_t offset = 0;

    if (args[0].kind != CEL_TIMESTAMP || (n == 2 && args[1].kind != CEL_STRING))
        return cel_no_overload(r);
    if (n == 2 && !zone_offset(args[1].s, &offset))
        return cel_fail(r, "unknown time zone %.*s", (int)MIN(args[1].s.n, (size_t)100), args[1].s.p);
    ret->days = floor_div(args[0].i + offset, 86400);
    ret->second_of_day = args[0].i + offset - ret->days * 86400;
    ret->date = civil_of_days(ret->days);
    return true;
}

#define PART(name, expression)                                                                                         \
    static bool name(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)               \
    {                                                                                                                  \
        struct moment m;                                                                                               \
                                                                                                                       \
        if (!moment_of(r, args, n, &m))                                                                                \
            return false;                                                                                              \
        *ret = cel_int(expression);                                                                                    \
        return true;                                                                                                   \
    }

PART(fn_year, m.date.year)
PART(fn_month, (int64_t)m.date.month - 1)
PART(fn_day_of_month, (int64_t)m.date.day - 1)
PART(fn_date, (int64_t)m.date.day)
PART(fn_day_of_year, m.days - days_of_civil(m.date.year, 1, 1))
PART(fn_day_of_week, (m.days + 4) - floor_div(m.days + 4, 7) * 7)

/* Of a time the part of the day, of a duration all of it in that unit. */
#define PART_OR_ALL(name, part, all)                                                                                   \
    PART(name##_part, part)                                                                                            \
    static bool name(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret)               \
    {                                                                                                                  \
        if (args[0].kind != CEL_DURATION || n != 1)                                                                    \
            return name##_part(r, args, n, ret);                                                                       \
        *ret = cel_int(all);                                                                                           \
        return true;                                                                                                   \
    }

PART_OR_ALL(fn_hours, m.second_of_day / 3600, args[0].i / 3600000000000)
PART_OR_ALL(fn_minutes, m.second_of_day / 60 % 60, args[0].i / 60000000000)
PART_OR_ALL(fn_seconds, m.second_of_day % 60, args[0].i / 1000000000)
PART_OR_ALL(fn_millis, args[0].n / 1000000, args[0].i / 1000000)

const struct cel_fn cel_fns_time[] = {
    {"timestamp", 1, 1, false, fn_timestamp},
    {"duration", 1, 1, false, fn_duration},
    {"getFullYear", 1, 2, true, fn_year},
    {"getMonth", 1, 2, true, fn_month},
    {"getDate", 1, 2, true, fn_date},
    {"getDayOfMonth", 1, 2, true, fn_day_of_month},
    {"getDayOfYear", 1, 2, true, fn_day_of_year},
    {"getDayOfWeek", 1, 2, true, fn_day_of_week},
    {"getHours", 1, 2, true, fn_hours},
    {"getMinutes", 1, 2, true, fn_minutes},
    {"getSeconds", 1, 2, true, fn_seconds},
    {"getMilliseconds", 1, 2, true, fn_millis},
    {0},
};
