#include "obs/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "obs/process.h"
#include "support/check.h"
#include "support/prom.h"

static const char *const by_pool[] = {"nodepool", "zone", "capacity_type", NULL};
static const char *const by_reason[] = {"reason", NULL};
static const double bounds[] = {0.005, 1, 2.5};

static const struct metric_spec
    counter = {.name = "b_total", .help = "Counts \\ things\nin two lines.", .kind = METRIC_COUNTER, .labels = by_pool},
    gauge = {.name = "a", .help = "A gauge.", .kind = METRIC_GAUGE},
    histogram = {.name = "c_seconds",
                 .help = "Durations.",
                 .kind = METRIC_HISTOGRAM,
                 .labels = by_reason,
                 .buckets = bounds,
                 .n_buckets = ARRAY_LEN(bounds)},
    summary = {.name = "d_seconds", .help = "Durations.", .kind = METRIC_SUMMARY},
    old = {.name = "old", .help = "As b_total, added up.", .kind = METRIC_COUNTER},
    old_time = {.name = "old_time", .help = "As d_seconds.", .kind = METRIC_SUMMARY},
    asked = {.name = "asked", .help = "Told when asked.", .kind = METRIC_GAUGE, .labels = by_reason};

static void expect(const char *name, struct metrics *m, int64_t now_ms, const char *want)
{
    struct sb out = {0};
    struct err e;

    metrics_text(m, now_ms, &out);
    check_ok(name, prom_check(sb_view(&out), &e), &e);
    check_str(name, sb_view(&out), want);
    sb_fini(&out);
}

static void text(UNUSED void **state)
{
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *b = metrics_add(m, &counter), *a = metrics_add(m, &gauge), *c = metrics_add(m, &histogram);

    expect("nothing yet", m, 0, "");
    metric_set(a, -0.5, NULL);
    metric_inc(a, 1, NULL);
    metric_inc(b, 1, METRIC_VALS(STR("z"), STR("x"), STR("spot")));
    metric_inc(b, 2, METRIC_VALS(STR("p"), STR("b\"\\\n"), STR("on-demand")));
    metric_inc(b, 2, METRIC_VALS(STR("p"), STR("b\"\\\n"), STR("on-demand")));
    metric_inc(b, 0, METRIC_VALS(STR(""), STR("x"), STR("spot")));
    metric_observe(c, 0.005, METRIC_VALS(STR("q")), 0);
    metric_observe(c, 2, METRIC_VALS(STR("q")), 0);
    metric_observe(c, 99, METRIC_VALS(STR("q")), 0);
    expect("all of it", m, 0,
           "# HELP a A gauge.\n# TYPE a gauge\na 0.5\n"
           "# HELP b_total Counts \\\\ things\\nin two lines.\n# TYPE b_total counter\n"
           "b_total{capacity_type=\"on-demand\",nodepool=\"p\",zone=\"b\\\"\\\\\\n\"} 4\n"
           "b_total{capacity_type=\"spot\",nodepool=\"\",zone=\"x\"} 0\n"
           "b_total{capacity_type=\"spot\",nodepool=\"z\",zone=\"x\"} 1\n"
           "# HELP c_seconds Durations.\n# TYPE c_seconds histogram\n"
           "c_seconds_bucket{reason=\"q\",le=\"0.005\"} 1\nc_seconds_bucket{reason=\"q\",le=\"1\"} 1\n"
           "c_seconds_bucket{reason=\"q\",le=\"2.5\"} 2\nc_seconds_bucket{reason=\"q\",le=\"+Inf\"} 3\n"
           "c_seconds_sum{reason=\"q\"} 101.005\nc_seconds_count{reason=\"q\"} 3\n");
    check_double("value", metric_value(b, METRIC_VALS(STR("p"), STR("b\"\\\n"), STR("on-demand"))), 4);
    check_double("absent", metric_value(b, METRIC_VALS(STR("p"), STR("x"), STR("on-demand"))), 0);
    check_double("count", metric_value(c, METRIC_VALS(STR("q"))), 3);
}

static void series_go(UNUSED void **state)
{
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *b = metrics_add(m, &counter);

    for (int i = 0; i < 300; i++) {
        char zone[] = {(char)('a' + i % 26), (char)('a' + i / 26), 0};

        metric_inc(b, 1, METRIC_VALS(i % 3 ? STR("p") : STR("q"), str_c(zone), STR("spot")));
    }
    check_u64("all", metric_count(b), 300);
    metric_drop(b, METRIC_VALS(STR("q"), STR("aa"), STR("spot")));
    metric_drop(b, METRIC_VALS(STR("q"), STR("aa"), STR("spot")));
    check_u64("one less", metric_count(b), 299);
    metric_drop_where(b, 0, STR("p"));
    check_u64("a third was of q", metric_count(b), 99);
    metric_drop_where(b, 0, STR("spot"));
    metric_drop_where(b, 1, STR("q"));
    check_u64("values of other labels", metric_count(b), 99);
    metric_drop_where(b, 2, STR("spot"));
    check_u64("none is left", metric_count(b), 0);
}

static void odd_values(UNUSED void **state)
{
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *b = metrics_add(m, &counter);
    static char huge[10000];

    memset(huge, 'x', sizeof(huge));
    metric_inc(b, 1, METRIC_VALS(STR("a\xff"), STR("b\0c"), STR("\1")));
    metric_inc(b, 1, METRIC_VALS((str){huge, sizeof(huge)}, (str){huge, sizeof(huge)}, STR("s")));
    check_u64("both are there", metric_count(b), 2);
    struct sb out = {0};
    struct err e;
    metrics_text(m, 0, &out);
    check_ok("text that can be read", prom_check(sb_view(&out), &e), &e);
    check_true("not UTF-8", strstr(sb_cstr(&out), "{capacity_type=\"?\",nodepool=\"a\xef\xbf\xbd\",zone=\"b?c\"} 1\n"));
    sb_fini(&out);
}

static void collect(UNUSED void *ctx, const struct metric *f, struct sb *out)
{
    metric_emit(out, f, 1e7, METRIC_VALS(STR("x\"y")));
}

#define MANY 10000u

static bool collect_one(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    char name[16];

    (void)ctx;
    (void)snprintf(name, sizeof(name), "%u", i);
    if (i % 2 == 0)
        metric_emit(out, f, i, METRIC_VALS(str_c(name)));
    return i < MANY;
}

static bool collect_none(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    (void)ctx;
    (void)f;
    (void)out;
    return i < MANY;
}

/* However the text is parted, it is the same; a part is not much larger than it should be. */
static void parts(UNUSED void **state)
{
    static const struct metric_spec empty = {
        .name = "empty", .help = "Nothing.", .kind = METRIC_GAUGE, .labels = by_reason};
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *q = metrics_add(m, &asked), *none = metrics_add(m, &empty), *a = metrics_add(m, &gauge);
    struct metrics_place at = {0};
    struct sb whole = {0}, out = {0};
    uint32_t n = 1;
    struct err e;

    metrics_collector_by_one(&q, 1, collect_one, NULL);
    metrics_collector_by_one(&none, 1, collect_none, NULL);
    metric_set(a, 1, NULL);
    metric_set(metrics_add(m, &(struct metric_spec){.name = "z", .help = "Last.", .kind = METRIC_GAUGE}), 1, NULL);
    metrics_text(m, 0, &whole);
    for (size_t before = 0; metrics_text_part(m, &at, 0, &out); before = out.n, n++)
        check_true("size", out.n - before >= METRICS_PART && out.n - before < METRICS_PART + 100);
    check_true("several", n > 2);
    check_true("the same", str_eq(sb_view(&out), sb_view(&whole)));
    check_ok("well formed", prom_check(sb_view(&out), &e), &e);
    check_true("families without series are left out", strstr(sb_cstr(&out), "empty") == NULL);
    sb_fini(&whole);
    sb_fini(&out);
}

static void summaries_aliases_collectors(UNUSED void **state)
{
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *d = metrics_add(m, &summary), *b = metrics_add(m, &counter), *q = metrics_add(m, &asked);

    metrics_alias(m, &old, b);
    metrics_alias(m, &old_time, d);
    metrics_collector(&q, 1, collect, NULL);
    expect("sums are there from the start", m, 0,
           "# HELP asked Told when asked.\n# TYPE asked gauge\nasked{reason=\"x\\\"y\"} 1e+07\n"
           "# HELP old As b_total, added up.\n# TYPE old counter\nold 0\n");
    metric_observe(d, 3, NULL, 1);
    metric_observe(d, 4.5, NULL, 1);
    metric_inc(b, 2, METRIC_VALS(STR("a"), STR("b"), STR("c")));
    metric_inc(b, 3, METRIC_VALS(STR("d"), STR("b"), STR("c")));
    expect(
        "with values", m, 2,
        "# HELP asked Told when asked.\n# TYPE asked gauge\nasked{reason=\"x\\\"y\"} 1e+07\n"
        "# HELP b_total Counts \\\\ things\\nin two lines.\n# TYPE b_total counter\n"
        "b_total{capacity_type=\"c\",nodepool=\"a\",zone=\"b\"} 2\nb_total{capacity_type=\"c\",nodepool=\"d\",zone=\"b\"} 3\n"
        "# HELP d_seconds Durations.\n# TYPE d_seconds summary\nd_seconds{quantile=\"0\"} 3\nd_seconds{quantile=\"0.5\"} 3\n"
        "d_seconds{quantile=\"0.9\"} 4.5\nd_seconds{quantile=\"0.99\"} 4.5\nd_seconds{quantile=\"1\"} 4.5\nd_seconds_sum 7.5\nd_seconds_count 2\n"
        "# HELP old As b_total, added up.\n# TYPE old counter\nold 5\n"
        "# HELP old_time As d_seconds.\n# TYPE old_time summary\nold_time{quantile=\"0\"} 3\nold_time{quantile=\"0.5\"} 3\n"
        "old_time{quantile=\"0.9\"} 4.5\nold_time{quantile=\"0.99\"} 4.5\nold_time{quantile=\"1\"} 4.5\nold_time_sum 7.5\nold_time_count 2\n");
    metric_drop_where(b, 2, STR("c"));
    struct sb out = {0};
    metrics_text(m, 3600000, &out);
    check_true("quantiles forget, sums do not",
               strstr(sb_cstr(&out), "d_seconds{quantile=\"1\"} NaN\nd_seconds_sum 7.5\n"));
    sb_fini(&out);
}

static const struct {
    double v;
    const char *want;
} numbers[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1, "-1"},
    {0.1, "0.1"},
    {100, "100"},
    {864000, "864000"},
    {999999, "999999"},
    {1e6, "1e+06"},
    {1296000, "1.296e+06"},
    {1234567.5, "1.2345675e+06"},
    {123456.75, "123456.75"},
    {0.0001, "0.0001"},
    {9.999999999999999e-05, "9.999999999999999e-05"},
    {1e-08, "1e-08"},
    {0.0022500000000000003, "0.0022500000000000003"},
    {2.2168378200531005, "2.2168378200531005"},
    {1.0 / 3, "0.3333333333333333"},
    {1e300, "1e+300"},
    {1789462751.123, "1.789462751123e+09"},
    {5e-324, "5e-324"},
    {(double)INFINITY, "+Inf"},
    {-(double)INFINITY, "-Inf"},
    {(double)NAN, "NaN"},
};

static void numbers_as_go_prints_them(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        AUTO(metrics) struct metrics *m = metrics_new();
        struct sb want = {0};

        metric_set(metrics_add(m, &gauge), numbers[i].v, NULL);
        sb_printf(&want, "# HELP a A gauge.\n# TYPE a gauge\na %s\n", numbers[i].want);
        expect(numbers[i].want, m, 0, sb_cstr(&want));
        sb_fini(&want);
    }
}

static void series_that_are_held(UNUSED void **state)
{
    static const char *const labels[] = {"b", "a", NULL};
    static const double steps[] = {1, 2};
    AUTO(metrics) struct metrics *m = metrics_new();
    struct metric *c = metrics_add(
        m, &(struct metric_spec){.name = "c", .help = "A counter.", .kind = METRIC_COUNTER, .labels = labels});
    struct metric *h = metrics_add(
        m, &(struct metric_spec){
               .name = "h", .help = "A histogram.", .kind = METRIC_HISTOGRAM, .buckets = steps, .n_buckets = 2});
    struct series *one = metric_series(c, METRIC_VALS(STR("x"), STR("y"))), *all = metric_series(h, NULL);

    check_u64("there from now on", metric_count(c), 1);
    series_inc(one, 2);
    metric_inc(c, 3, METRIC_VALS(STR("x"), STR("y")));
    check_true("one and the same", one == metric_series(c, METRIC_VALS(STR("x"), STR("y"))));
    series_observe(h, all, 1.5, 0);
    metric_observe(h, 3, NULL, 0);
    expect("both ways count", m, 0,
           "# HELP c A counter.\n# TYPE c counter\nc{a=\"y\",b=\"x\"} 5\n"
           "# HELP h A histogram.\n# TYPE h histogram\nh_bucket{le=\"1\"} 0\nh_bucket{le=\"2\"} 1\n"
           "h_bucket{le=\"+Inf\"} 2\nh_sum 4.5\nh_count 2\n");
}

static void the_process_itself(UNUSED void **state)
{
    static const char *const names[] = {"process_cpu_seconds_total",  "process_max_fds",
                                        "process_open_fds",           "process_resident_memory_bytes",
                                        "process_start_time_seconds", "process_virtual_memory_bytes"};
    AUTO(metrics) struct metrics *m = metrics_new();
    struct sb out = {0};
    struct err e;

    process_metrics(m);
    metrics_text(m, 0, &out);
    check_ok("readable", prom_check(sb_view(&out), &e), &e);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct sb want = {0};
        const char *at;

        sb_printf(&want, "\n%s ", names[i]);
        at = strstr(sb_cstr(&out), sb_cstr(&want));
        check_true(names[i], at && strtod(at + want.n, NULL) >= 0);
        sb_fini(&want);
    }
    check_true("this century", strtod(strstr(sb_cstr(&out), "\nprocess_start_time_seconds ") + 28, NULL) > 1e9);
    sb_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(series_go),
        cmocka_unit_test(odd_values),
        cmocka_unit_test(parts),
        cmocka_unit_test(summaries_aliases_collectors),
        cmocka_unit_test(numbers_as_go_prints_them),
        cmocka_unit_test(series_that_are_held),
        cmocka_unit_test(the_process_itself),
    };

    return cmocka_run_group_tests_name("obs/metrics", tests, NULL, NULL);
}
