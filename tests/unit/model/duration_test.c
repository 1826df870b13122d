#include "model/duration.h"

#include "support/check.h"

#define SEC 1000000000ll
#define MINUTE (60 * SEC)
#define HOUR (60 * MINUTE)

static const struct {
    const char *name, *text;
    int64_t want;
    const char *printed;
} good[] = {
    {"zero", "0", 0, "0s"},
    {"minus zero", "-0", 0, "0s"},
    {"zero with a unit", "0s", 0, "0s"},
    {"seconds", "30s", 30 * SEC, "30s"},
    {"minutes", "5m", 5 * MINUTE, "5m0s"},
    {"hours", "720h", 720 * HOUR, "720h0m0s"},
    {"60m prints as an hour", "60m", HOUR, "1h0m0s"},
    {"all together", "1h30m5s", HOUR + 30 * MINUTE + 5 * SEC, "1h30m5s"},
    {"any order", "5s1h", HOUR + 5 * SEC, "1h0m5s"},
    {"the same unit twice", "1s1s", 2 * SEC, "2s"},
    {"milliseconds", "300ms", 300000000, "300ms"},
    {"microseconds", "15us", 15000, "15µs"},
    {"micro sign", "15\xc2\xb5s", 15000, "15µs"},
    {"Greek mu", "15\xce\xbcs", 15000, "15µs"},
    {"nanoseconds", "7ns", 7, "7ns"},
    {"a fraction", "1.5h", 90 * MINUTE, "1h30m0s"},
    {"a negative fraction", "-1.5h", -90 * MINUTE, "-1h30m0s"},
    {"a plus sign", "+5s", 5 * SEC, "5s"},
    {"no digits before the point", ".5s", SEC / 2, "500ms"},
    {"no digits after the point", "5.s", 5 * SEC, "5s"},
    {"a small fraction", "1.004s", 1004000000, "1.004s"},
    {"printed fraction", "1m1.000000001s", MINUTE + SEC + 1, "1m1.000000001s"},
    {"a fraction of a microsecond", "1.5us", 1500, "1.5µs"},
    {"a fraction of a nanosecond is cut", "1.9ns", 1, "1ns"},
    {"long fractions, as Go rounds them", "0.3333333333333333333h", 20 * MINUTE, "20m0s"},
    {"long fractions, one digit less", "0.333333333333333333h", 1199999999999, "19m59.999999999s"},
    {"digits past 63 bits are forgotten", "0.100000000000000000000h", 6 * MINUTE, "6m0s"},
    {"and so are zeros", "0.830103483285477580700h", 2988372539827, "49m48.372539827s"},
    {"the largest", "9223372036854775807ns", INT64_MAX, "2562047h47m16.854775807s"},
    {"the smallest", "-9223372036854775808ns", INT64_MIN, "-2562047h47m16.854775808s"},
    {"the smallest, in microseconds", "-9223372036854775.808us", INT64_MIN, "-2562047h47m16.854775808s"},
};

static void parsing(void **state UNUSED)
{
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct err e;
        int64_t ns;

        check_ok(good[i].name, duration_parse(str_c(good[i].text), &ns, &e), &e);
        check_i64(good[i].name, ns, good[i].want);
        sb_reset(&b);
        duration_print(&b, ns);
        check_str(good[i].name, sb_view(&b), good[i].printed);
        check_ok(good[i].name, duration_parse(sb_view(&b), &ns, &e), &e);
        check_i64(good[i].name, ns, good[i].want);
    }
    sb_fini(&b);
}

#define UNKNOWN "unknown unit (use ns, us, ms, s, m, h)"

static const struct {
    const char *name, *text, *want;
} bad[] = {
    {"empty", "", "invalid duration \"\": a number is missing"},
    {"a sign alone", "-", "invalid duration \"-\": a number is missing"},
    {"a point alone", ".", "invalid duration \".\": a number is missing"},
    {"a point and a unit", ".s", "invalid duration \".s\": a number is missing"},
    {"a unit alone", "s", "invalid duration \"s\": a number is missing"},
    {"no unit", "3", "invalid duration \"3\": the unit is missing (ns, us, ms, s, m, h)"},
    {"no unit at the end", "1h3", "invalid duration \"1h3\": the unit is missing (ns, us, ms, s, m, h)"},
    {"zero twice", "00", "invalid duration \"00\": the unit is missing (ns, us, ms, s, m, h)"},
    {"hr", "1hr", "invalid duration \"1hr\": " UNKNOWN},
    {"days", "1d", "invalid duration \"1d\": " UNKNOWN},
    {"upper case", "1H", "invalid duration \"1H\": " UNKNOWN},
    {"a blank", "1 h", "invalid duration \"1 h\": " UNKNOWN},
    {"half a micro sign", "1\xc2s", "invalid duration \"1\xc2s\": " UNKNOWN},
    {"a sign within", "1h-5m", "invalid duration \"1h-5m\": " UNKNOWN},
    {"Never is for the other function", "Never", "invalid duration \"Never\": a number is missing"},
    {"too large", "9223372036854775808ns", "invalid duration \"9223372036854775808ns\": out of range"},
    {"too large by its unit", "2562048h", "invalid duration \"2562048h\": out of range"},
    {"too large in sum", "2562047h48m", "invalid duration \"2562047h48m\": out of range"},
    {"too small", "-9223372036854775809ns", "invalid duration \"-9223372036854775809ns\": out of range"},
    {"a sum past 64 bits", "-9223372036854775808ns9223372036854775808ns",
     "invalid duration \"-9223372036854775808ns9223372036854775808ns\": out of range"},
    {"too many digits", "99999999999999999999999999s",
     "invalid duration \"99999999999999999999999999s\": out of range"},
};

static void refusals(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = {0};
        int64_t ns = 42;

        check_true(bad[i].name, !duration_parse(str_c(bad[i].text), &ns, &e));
        check_str(bad[i].name, str_c(e.msg), bad[i].want);
        check_i64(bad[i].name, e.kind, ERR_INVALID);
        check_i64("the result is not touched", ns, 42);
    }
}

static void in_words_of_go(void **state UNUSED)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"yes", "time: invalid duration \"yes\""},
        {"", "time: invalid duration \"\""},
        {"10", "time: missing unit in duration \"10\""},
        {"1h30", "time: missing unit in duration \"1h30\""},
        {"10 min", "time: unknown unit \" min\" in duration \"10 min\""},
        {"1d12h", "time: unknown unit \"d\" in duration \"1d12h\""},
        {"2562048h", "time: invalid duration \"2562048h\""},
        {"10m", ""},
    };
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sb_reset(&b);
        duration_go_error(&b, str_c(cases[i].text));
        check_str(cases[i].text, sb_view(&b), cases[i].want);
    }
    sb_fini(&b);
}

static void never(void **state UNUSED)
{
    struct err e;
    int64_t ns;

    check_ok("Never", duration_parse_nillable(STR("Never"), &ns, &e), &e);
    check_i64("Never", ns, DURATION_NEVER);
    check_ok("a duration", duration_parse_nillable(STR("10m"), &ns, &e), &e);
    check_i64("a duration", ns, 10 * MINUTE);
    check_true("lower case", !duration_parse_nillable(STR("never"), &ns, &e));
    check_true("something before it", !duration_parse_nillable(STR("FooNever"), &ns, &e));
}

static const struct {
    const char *name, *text;
    int64_t want;
    const char *printed;
} times[] = {
    {"the epoch", "1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"},
    {"a moment", "2026-01-15T12:00:00Z", 1768478400000, "2026-01-15T12:00:00Z"},
    {"milliseconds", "2026-01-15T12:00:00.250Z", 1768478400250, "2026-01-15T12:00:00Z"},
    {"microseconds are cut", "2026-01-15T12:00:00.123999Z", 1768478400123, "2026-01-15T12:00:00Z"},
    {"one digit", "2026-01-15T12:00:00.5Z", 1768478400500, "2026-01-15T12:00:00Z"},
    {"east", "2026-01-15T13:30:00+01:30", 1768478400000, "2026-01-15T12:00:00Z"},
    {"west", "2026-01-15T04:00:00-08:00", 1768478400000, "2026-01-15T12:00:00Z"},
    {"west over midnight", "2025-12-31T20:00:00-08:00", 1767240000000, "2026-01-01T04:00:00Z"},
    {"a fraction and a zone", "2026-01-15T13:00:00.001+01:00", 1768478400001, "2026-01-15T12:00:00Z"},
    {"a leap day", "2024-02-29T00:00:00Z", 1709164800000, "2024-02-29T00:00:00Z"},
    {"a leap day of a century", "2000-02-29T23:59:59Z", 951868799000, "2000-02-29T23:59:59Z"},
    {"before the epoch", "1969-12-31T23:59:59.5Z", -500, "1969-12-31T23:59:59Z"},
    {"the first year", "0001-01-01T00:00:00Z", -62135596800000, "0001-01-01T00:00:00Z"},
    {"the year 0", "0000-03-01T00:00:00Z", -62162035200000, "0000-03-01T00:00:00Z"},
    {"the last", "9999-12-31T23:59:59Z", 253402300799000, "9999-12-31T23:59:59Z"},
};

static void points_in_time(void **state UNUSED)
{
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        struct err e;
        int64_t ms;

        check_ok(times[i].name, time_parse_rfc3339(str_c(times[i].text), &ms, &e), &e);
        check_i64(times[i].name, ms, times[i].want);
        sb_reset(&b);
        time_print_rfc3339(&b, ms);
        check_str(times[i].name, sb_view(&b), times[i].printed);
    }
    sb_fini(&b);
}

static void every_day_comes_back(void **state UNUSED)
{
    struct sb b = {0};

    for (int64_t day = -719162; day < 2932896; day += 97) { /* 0001-01-01 … 9999-12-31 */
        struct err e;
        int64_t ms;

        sb_reset(&b);
        time_print_rfc3339(&b, day * 86400000);
        check_ok(sb_cstr(&b), time_parse_rfc3339(sb_view(&b), &ms, &e), &e);
        check_i64(sb_cstr(&b), ms, day * 86400000);
    }
    sb_fini(&b);
}

static void the_ends_of_time(void **state UNUSED)
{
    struct sb b = {0};

    time_print_rfc3339(&b, INT64_MAX);
    check_str("last", sb_view(&b), "292278994-08-17T07:12:55Z");
    sb_reset(&b);
    time_print_rfc3339(&b, INT64_MIN);
    check_str("first", sb_view(&b), "-292275055-05-16T16:47:04Z");
    sb_fini(&b);
}

static const struct {
    const char *name, *text;
} no_times[] = {
    {"empty", ""},
    {"a date", "2026-01-15"},
    {"no zone", "2026-01-15T12:00:00"},
    {"month 0", "2026-00-15T12:00:00Z"},
    {"month 13", "2026-13-15T12:00:00Z"},
    {"day 0", "2026-01-00T12:00:00Z"},
    {"April 31", "2026-04-31T12:00:00Z"},
    {"no leap day in 2026", "2026-02-29T12:00:00Z"},
    {"nor in 1900", "1900-02-29T12:00:00Z"},
    {"hour 24", "2026-01-15T24:00:00Z"},
    {"minute 60", "2026-01-15T12:60:00Z"},
    {"second 60", "2026-01-15T12:00:60Z"},
    {"a blank for the T", "2026-01-15 12:00:00Z"},
    {"lower-case z", "2026-01-15T12:00:00z"},
    {"two digits a year", "26-01-15T12:00:00Z"},
    {"one digit a month", "2026-1-15T12:00:00Z"},
    {"a point without digits", "2026-01-15T12:00:00.Z"},
    {"something after", "2026-01-15T12:00:00Zx"},
    {"zone without colon", "2026-01-15T12:00:00+0100"},
    {"zone without minutes", "2026-01-15T12:00:00+01"},
    {"zone of 24 hours", "2026-01-15T12:00:00+24:00"},
    {"zone minutes", "2026-01-15T12:00:00+01:60"},
    {"signs in numbers", "2026-01-15T12:00:+1Z"},
    {"letters", "yyyy-mm-ddThh:mm:ssZ"},
};

static void no_points_in_time(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(no_times); i++) {
        struct err e = {0};
        int64_t ms;

        check_true(no_times[i].name, !time_parse_rfc3339(str_c(no_times[i].text), &ms, &e));
        check_i64(no_times[i].name, e.kind, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parsing),          cmocka_unit_test(refusals),
        cmocka_unit_test(in_words_of_go),   cmocka_unit_test(never),
        cmocka_unit_test(points_in_time),   cmocka_unit_test(every_day_comes_back),
        cmocka_unit_test(the_ends_of_time), cmocka_unit_test(no_points_in_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
