#include "model/cron.h"

#include "base/sb.h"
#include "model/duration.h"
#include "support/check.h"

static const struct {
    const char *name, *schedule, *after, *want; /* want: "" for never */
} cases[] = {
    {"every minute", "* * * * *", "2026-01-15T12:00:00Z", "2026-01-15T12:01:00Z"},
    {"within a minute", "* * * * *", "2026-01-15T12:00:59.999Z", "2026-01-15T12:01:00Z"},
    {"strictly after", "0 12 * * *", "2026-01-15T12:00:00Z", "2026-01-16T12:00:00Z"},
    {"a millisecond before", "0 12 * * *", "2026-01-15T11:59:59.999Z", "2026-01-15T12:00:00Z"},
    {"next hour", "15 * * * *", "2026-01-15T12:15:00Z", "2026-01-15T13:15:00Z"},
    {"same hour", "15,45 * * * *", "2026-01-15T12:15:00Z", "2026-01-15T12:45:00Z"},
    {"over midnight", "5 0 * * *", "2026-01-15T23:59:00Z", "2026-01-16T00:05:00Z"},
    {"over the year", "0 0 1 1 *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
    {"steps", "*/15 * * * *", "2026-01-15T12:31:00Z", "2026-01-15T12:45:00Z"},
    {"steps in a range", "10-30/10 * * * *", "2026-01-15T12:21:00Z", "2026-01-15T12:30:00Z"},
    {"steps from a start", "50/5 * * * *", "2026-01-15T12:51:00Z", "2026-01-15T12:55:00Z"},
    {"a step beyond the field", "7/1000 * * * *", "2026-01-15T12:07:00Z", "2026-01-15T13:07:00Z"},
    {"a list with holes", "1,,2, * * * *", "2026-01-15T12:01:00Z", "2026-01-15T12:02:00Z"},
    {"hours", "0 9-17 * * *", "2026-01-15T17:00:00Z", "2026-01-16T09:00:00Z"},
    {"working days", "0 9 * * mon-fri", "2026-01-16T09:00:00Z", "2026-01-19T09:00:00Z"},
    {"names in capitals", "0 9 * JAN Mon", "2026-01-26T09:00:00Z", "2027-01-04T09:00:00Z"},
    {"Sunday is 0", "0 0 * * 0", "2026-01-15T00:00:00Z", "2026-01-18T00:00:00Z"},
    {"day and month", "30 6 24 12 *", "2026-12-24T06:30:00Z", "2027-12-24T06:30:00Z"},
    {"the 31st skips short months", "0 0 31 * *", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
    {"a leap day", "0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"2100 is no leap year: none within five years", "0 0 29 2 *", "2096-02-29T00:00:00Z", ""},
    {"found in the fifth year", "0 0 29 2 *", "2099-01-01T00:00:00Z", "2104-02-29T00:00:00Z"},
    {"but not in the sixth", "0 0 29 2 *", "2098-12-31T23:59:58Z", ""},
    {"a second more is enough", "0 0 29 2 *", "2098-12-31T23:59:59Z", "2104-02-29T00:00:00Z"},
    {"never", "0 0 31 2 *", "2026-01-01T00:00:00Z", ""},
    {"an empty list never", ", * * * *", "2026-01-01T00:00:00Z", ""},
    {"either day when both are given", "0 0 13 * fri", "2026-01-10T00:00:00Z", "2026-01-13T00:00:00Z"},
    {"either day, the weekday first", "0 0 13 * fri", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"},
    {"both days when one is a star", "0 0 13 * *", "2026-01-13T00:00:00Z", "2026-02-13T00:00:00Z"},
    {"a question mark is a star", "0 0 ? * fri", "2026-01-13T00:00:00Z", "2026-01-16T00:00:00Z"},
    {"a star with a step is not: either day", "0 0 */10 * fri", "2026-01-10T00:00:00Z", "2026-01-11T00:00:00Z"},
    {"a step of one leaves it a star", "0 0 */1 * fri", "2026-01-10T00:00:00Z", "2026-01-16T00:00:00Z"},
    {"a star in a list counts", "0 0 5,* * fri", "2026-01-10T00:00:00Z", "2026-01-16T00:00:00Z"},
    {"what follows a star and a dash is ignored", "*-zzz 3 * * *", "2026-01-10T03:07:00Z", "2026-01-10T03:08:00Z"},
    {"white space of any kind", " \t0\t0  1 1\n* ", "2026-01-10T00:00:00Z", "2027-01-01T00:00:00Z"},
    {"hourly", "@hourly", "2026-01-15T12:30:00Z", "2026-01-15T13:00:00Z"},
    {"daily", "@daily", "2026-01-15T12:30:00Z", "2026-01-16T00:00:00Z"},
    {"midnight", "@midnight", "2026-01-15T12:30:00Z", "2026-01-16T00:00:00Z"},
    {"weekly", "@weekly", "2026-01-15T12:30:00Z", "2026-01-18T00:00:00Z"},
    {"monthly", "@monthly", "2026-01-15T12:30:00Z", "2026-02-01T00:00:00Z"},
    {"yearly", "@yearly", "2026-01-15T12:30:00Z", "2027-01-01T00:00:00Z"},
    {"annually", "@annually", "2026-01-15T12:30:00Z", "2027-01-01T00:00:00Z"},
    {"before 1970", "0 0 * * 4", "1969-12-30T00:00:00Z", "1970-01-01T00:00:00Z"},
};

static void next_hit(void **state UNUSED)
{
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cron c;
        struct err e;
        int64_t after, next;

        check_ok(cases[i].name, cron_parse(str_c(cases[i].schedule), &c, &e), &e);
        check_ok(cases[i].name, time_parse_rfc3339(str_c(cases[i].after), &after, &e), &e);
        sb_reset(&b);
        if (cron_next(&c, after, &next))
            time_print_rfc3339(&b, next);
        check_str(cases[i].name, sb_view(&b), cases[i].want);
    }
    sb_fini(&b);
}

/* Every hit of three years, found one by one, against a count made by hand. */
static void hits_are_complete(void **state UNUSED)
{
    static const struct {
        const char *name, *schedule;
        int64_t want;
    } counts[] = {
        {"daily", "0 3 * * *", 365 + 365 + 366},
        {"every six hours", "0 */6 * * *", 4 * (365 + 365 + 366)},
        {"first of the month", "0 0 1 * *", 36},
        {"Mondays", "0 0 * * 1", 156},
    };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct cron c;
        struct err e;
        int64_t at = 1767225600000 - 1, n = -1; /* 2026-01-01 */

        check_ok(counts[i].name, cron_parse(str_c(counts[i].schedule), &c, &e), &e);
        for (; at < 1861920000000; n++) /* 2029-01-01 */
            check_true(counts[i].name, cron_next(&c, at, &at));
        check_i64(counts[i].name, n, counts[i].want);
    }
}

static void the_ends_of_time(void **state UNUSED)
{
    struct cron c;
    struct err e;
    int64_t next;

    check_ok("parse", cron_parse(STR("* * * * *"), &c, &e), &e);
    check_true("the last minute has no next", !cron_next(&c, INT64_MAX, &next));
    check_true("the first has", cron_next(&c, INT64_MIN, &next));
    check_true("and it is later", next > INT64_MIN);
}

static const struct {
    const char *name, *schedule, *want;
} bad[] = {
    {"empty", "", "schedule \"\" has 0 fields, not 5"},
    {"four fields", "* * * *", "schedule \"* * * *\" has 4 fields, not 5"},
    {"six fields", "0 0 0 * * *", "schedule \"0 0 0 * * *\" has 6 fields, not 5"},
    {"garbage", "a b c d e", "schedule \"a b c d e\": minute \"a\" is not a number, a name or a range"},
    {"minute 60", "60 * * * *", "schedule \"60 * * * *\": minute \"60\" is out of range"},
    {"hour 24", "0 24 * * *", "schedule \"0 24 * * *\": hour \"24\" is out of range"},
    {"day 0", "0 0 0 * *", "schedule \"0 0 0 * *\": day of month \"0\" is out of range"},
    {"day 32", "0 0 32 * *", "schedule \"0 0 32 * *\": day of month \"32\" is out of range"},
    {"month 13", "0 0 1 13 *", "schedule \"0 0 1 13 *\": month \"13\" is out of range"},
    {"Sunday is not 7", "0 0 * * 7", "schedule \"0 0 * * 7\": day of week \"7\" is out of range"},
    {"backwards", "30-10 * * * *", "schedule \"30-10 * * * *\": minute \"30-10\" starts after its end"},
    {"step 0", "*/0 * * * *", "schedule \"*/0 * * * *\": minute \"*/0\" has a step that is not a positive number"},
    {"step below 0", "*/-1 * * * *",
     "schedule \"*/-1 * * * *\": minute \"*/-1\" has a step that is not a positive number"},
    {"no step", "*/ * * * *", "schedule \"*/ * * * *\": minute \"*/\" has a step that is not a positive number"},
    {"two steps", "*/2/3 * * * *",
     "schedule \"*/2/3 * * * *\": minute \"*/2/3\" has a step that is not a positive number"},
    {"two dashes", "1-2-3 * * * *", "schedule \"1-2-3 * * * *\": minute \"1-2-3\" is not a number, a name or a range"},
    {"a dash alone", "- * * * *", "schedule \"- * * * *\": minute \"-\" is not a number, a name or a range"},
    {"a long name", "0 0 * january *",
     "schedule \"0 0 * january *\": month \"january\" is not a number, a name or a range"},
    {"a name in the wrong field", "0 0 * mon *",
     "schedule \"0 0 * mon *\": month \"mon\" is not a number, a name or a range"},
    {"names have no value in the hours", "0 mon * * *",
     "schedule \"0 mon * * *\": hour \"mon\" is not a number, a name or a range"},
    {"an unknown word", "@fortnightly", "unknown schedule \"@fortnightly\""},
    {"no intervals", "@every 1h", "unknown schedule \"@every 1h\""},
    {"no zones", "TZ=UTC 0 0 * * *", "schedule \"TZ=UTC 0 0 * * *\" has 6 fields, not 5"},
};

static void refusals(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct cron c;
        struct err e = {0};

        check_true(bad[i].name, !cron_parse(str_c(bad[i].schedule), &c, &e));
        check_str(bad[i].name, str_c(e.msg), bad[i].want);
        check_i64(bad[i].name, e.kind, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_hit),
        cmocka_unit_test(hits_are_complete),
        cmocka_unit_test(the_ends_of_time),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
