#include "cli/simulate/trace.h"

#include "base/sb.h"

#include "support/check.h"

#define MINUTE INT64_C(60000000)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static bool read_trace(struct arena *a, const char *text, struct trace *t, struct err *e)
{
    *e = (struct err){0};
    return trace_read(t, a, "t.yaml", str_c(text), /* dir= */ NULL, e);
}

static const struct {
    const char *text;
    int64_t us; /* -1: none */
} durations[] = {
    {"0", 0},
    {"30d", 30 * DAY},
    {"1w2d", 9 * DAY},
    {"2h30m", 150 * MINUTE},
    {"1d12h", 36 * HOUR},
    {"90s", 90 * MINUTE / 60},
    {"1.5h", 90 * MINUTE},
    {"", -1},
    {"d", -1},
    {"-1d", -1},
    {"+1d", -1},
    {"1d-2h", -1},
    {"2h1d", -1},
    {"1.5d", -1},
    {"99999999d", -1},
    {"-5m", -1},
    {"1dd", -1},
    {"later", -1},
};

static void duration_texts(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
        int64_t us = -1;
        bool ok = trace_duration(str_c(durations[i].text), &us);

        check_true(durations[i].text, ok == (durations[i].us >= 0));
        if (ok)
            check_i64(durations[i].text, us, durations[i].us);
    }
}

/* The first five times, in minutes. */
static const struct {
    const char *name, *event, *want;
} times[] = {
    {"once", "at: 90m, delete: pod/a", "90"},
    {"at the beginning", "at: 0, delete: pod/a", "0"},
    {"every day", "at: '08:00', delete: pod/a", "480 1920 3360 4800 6240"},
    {"midnight is the beginning", "at: '00:00', delete: pod/a", "0 1440 2880 4320 5760"},
    {"every day for a while", "at: '08:00', delete: pod/a, until: 2d", "480 1920"},
    {"cron", "at: '30 6 * * 2-3', delete: pod/a", "1830 3270 11910 13350 21990"},
    {"cron at the beginning", "at: '@daily', delete: pod/a", "0 1440 2880 4320 5760"},
    {"a curve begins at once", "curve: deployment/a, min: 1, max: 2", "0 15 30 45 60"},
    {"a curve begins later", "at: 1h, curve: deployment/a, min: 1, max: 2, every: 10m, until: 80m", "60 70 80"},
};

static void when(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sb got = {0};
        struct trace t;
        struct err e;
        int64_t us = -1;

        check_ok(times[i].name, read_trace(a, arena_printf(a, "events: [{%s}]%c", times[i].event, 0).p, &t, &e), &e);
        for (int n = 0; n < 5 && trace_next(&t, &t.events[0], us, &us); n++)
            sb_printf(&got, "%s%lld", n ? " " : "", (long long)(us / MINUTE));
        check_str(times[i].name, sb_view(&got), times[i].want);
        sb_fini(&got);
    }
}

static void the_day_begins_with_the_clock(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct trace t;
    struct err e;
    int64_t us;

    check_ok("read",
             read_trace(
                 a, "start: 2026-01-05T06:30:00Z\nevents: [{at: '08:00', delete: pod/a}, {at: '06:00', delete: pod/a}]",
                 &t, &e),
             &e);
    check_true("today", trace_next(&t, &t.events[0], -1, &us));
    check_i64("today", us, 90 * MINUTE);
    check_true("tomorrow", trace_next(&t, &t.events[1], -1, &us));
    check_i64("tomorrow", us, 23 * HOUR + 30 * MINUTE);
}

static void curves(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct trace t;
    struct err e;
    struct rng rng;

    check_ok("read",
             read_trace(a,
                        "events: [{curve: deployment/a, min: 10, max: 50, peak: '12:00', weekend: 50%},"
                        " {curve: deployment/a, min: 100, max: 100, jitter: 10%}]",
                        &t, &e),
             &e);
    rng_init(&rng, 1);
    const struct trace_curve *c = &t.events[0].curve, *noisy = &t.events[1].curve;
    check_i64("night", trace_curve_at(&t, c, 0, &rng), 10);
    check_i64("morning", trace_curve_at(&t, c, 6 * HOUR, &rng), 30);
    check_i64("noon", trace_curve_at(&t, c, 12 * HOUR, &rng), 50);
    check_i64("evening", trace_curve_at(&t, c, 18 * HOUR, &rng), 30);
    check_i64("Saturday noon", trace_curve_at(&t, c, 5 * DAY + 12 * HOUR, &rng), 25);
    check_i64("Monday noon", trace_curve_at(&t, c, 7 * DAY + 12 * HOUR, &rng), 50);
    bool differs = false;
    int64_t first = trace_curve_at(&t, noisy, 0, &rng);
    for (int i = 0; i < 100; i++) {
        int64_t v = trace_curve_at(&t, noisy, 0, &rng);

        check_true("jitter stays within its share", v >= 90 && v <= 110);
        differs = differs || v != first;
    }
    check_true("jitter jitters", differs);
}

static void what_is_read(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct trace t;
    struct err e;

    check_ok("read",
             read_trace(a,
                        "events:\n"
                        "- {at: 1h, scale: deployment/shop/web, replicas: 5..10}\n"
                        "- {at: 1h, run: nightly, pods: 20, for: 20m..40m, cpu: 500m, memory: 1Gi, namespace: batch}\n"
                        "- {at: 1h, apply: {apiVersion: v1, kind: Namespace, metadata: {name: x}}}\n"
                        "- {at: 1h, apply: [{apiVersion: v1, kind: Namespace}, {apiVersion: v1, kind: Pod}]}\n"
                        "- {at: 1h, delete: nodepool/a}\n",
                        &t, &e),
             &e);
    check_u64("events", t.n, 5);
    check_str("kind", t.events[0].target.kind, "deployment");
    check_str("namespace", t.events[0].target.ns, "shop");
    check_str("name", t.events[0].target.name, "web");
    check_i64("replicas from", t.events[0].replicas.from, 5);
    check_i64("replicas to", t.events[0].replicas.to, 10);
    check_i64("pods", t.events[1].job.pods.to, 20);
    check_i64("runs for", t.events[1].job.run_us.to, 40 * MINUTE);
    check_str("cpu", t.events[1].job.cpu, "500m");
    check_str("batch", t.events[1].job.ns, "batch");
    check_u64("one object", t.events[2].n_manifests, 1);
    check_u64("two objects", t.events[3].n_manifests, 2);
    check_str("no namespace", t.events[4].target.ns, "");
    check_u64("line", t.events[4].line, 6);
}

static const struct {
    const char *name, *text, *want;
} mistakes[] = {
    {"nothing", "", "t.yaml:1:1: a trace is a map with the key events, and this is null"},
    {"a list", "[]", "t.yaml:1:1: a trace is a map with the key events, and this is a list"},
    {"no events", "start: 2026-01-01T00:00:00Z", "t.yaml:1:1: a trace has a list of events"},
    {"another key", "events: []\nspeed: 3",
     "t.yaml:2:8: \"speed\" is nothing that a trace has: it has start and events"},
    {"a start that is none", "start: monday\nevents: []", "t.yaml:1:8: start: "},
    {"no event", "events: [3]", "t.yaml:1:10: an event is a map, and this is a number"},
    {"no deed", "events: [{at: 1h}]",
     "t.yaml:1:10: an event has exactly one of scale, curve, run, apply and delete; this one has none"},
    {"two deeds", "events: [{at: 1h, delete: a/b, run: x}]",
     "t.yaml:1:10: an event has exactly one of scale, curve, run, apply and delete; this one has several"},
    {"no time", "events: [{delete: a/b}]", "t.yaml:1:10: delete needs `at`: when it happens"},
    {"no such time", "events: [{at: noon, delete: a/b}]",
     "t.yaml:1:15: at: \"noon\" is neither a time since the beginning"},
    {"no such hour", "events: [{at: '25:00', delete: a/b}]", "t.yaml:1:15: at: \"25:00\" is neither"},
    {"bad cron", "events: [{at: '61 * * * *', delete: a/b}]", "t.yaml:1:15: at: \"61 * * * *\": "},
    {"a stranger", "events: [{at: 1h, delete: a/b, replicas: 3}]",
     "t.yaml:1:42: \"replicas\" is nothing that delete knows"},
    {"no target", "events: [{at: 1h, delete: web}]",
     "t.yaml:1:27: delete: \"web\" is neither KIND/NAME nor KIND/NAMESPACE/NAME"},
    {"too much of a target", "events: [{at: 1h, delete: a/b/c/d}]", "t.yaml:1:27: delete: \"a/b/c/d\" is neither"},
    {"no replicas", "events: [{at: 1h, scale: a/b}]", "t.yaml:1:10: scale needs replicas"},
    {"too many", "events: [{at: 1h, scale: a/b, replicas: 9999999}]",
     "t.yaml:1:41: replicas: \"9999999\" is neither one value nor two"},
    {"backwards", "events: [{at: 1h, scale: a/b, replicas: 9..3}]",
     "t.yaml:1:41: replicas: \"9..3\" is neither one value nor two"},
    {"no max", "events: [{curve: a/b, min: 1}]", "t.yaml:1:10: curve needs min and max"},
    {"crossed", "events: [{curve: a/b, min: 2, max: 1}]", "t.yaml:1:36: max is less than min"},
    {"a peak that is none", "events: [{curve: a/b, min: 1, max: 2, peak: 14}]",
     "t.yaml:1:45: peak: \"14\" is not a time of the day"},
    {"too much jitter", "events: [{curve: a/b, min: 1, max: 2, jitter: 101%}]",
     "t.yaml:1:47: jitter is not between 0% and 100%"},
    {"too often", "events: [{curve: a/b, min: 1, max: 2, every: 10ms}]", "t.yaml:1:46: every is less than a second"},
    {"a daily curve", "events: [{at: '08:00', curve: a/b, min: 1, max: 2}]",
     "t.yaml:1:10: curve goes on from its `at`"},
    {"a job without end", "events: [{at: 1h, run: x}]", "t.yaml:1:10: run needs `for`"},
    {"no quantity", "events: [{at: 1h, run: x, for: 5m, cpu: many}]", "t.yaml:1:41: cpu: \"many\" is not a quantity"},
    {"cpu and template", "events: [{at: 1h, run: x, for: 5m, cpu: 1, template: {}}]",
     "t.yaml:1:10: cpu and memory of a job with a template"},
    {"no object", "events: [{at: 1h, apply: {a: b}}]", "t.yaml:1: this is no Kubernetes object"},
    {"no file without a place", "events: [{at: 1h, apply: x.yaml}]", "t.yaml:1:26: apply needs an object"},
};

static void mistakes_are_named(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct trace t;
        struct err e;

        check_true(mistakes[i].name, !read_trace(a, mistakes[i].text, &t, &e));
        check_str(mistakes[i].name, str_sub(str_c(e.msg), 0, strlen(mistakes[i].want)), mistakes[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duration_texts),
        cmocka_unit_test(when),
        cmocka_unit_test(the_day_begins_with_the_clock),
        cmocka_unit_test(curves),
        cmocka_unit_test(what_is_read),
        cmocka_unit_test(mistakes_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
