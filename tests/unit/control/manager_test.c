/* Controllers in the simulated world: what is asked for is looked at, once, at the right time, and not more often than allowed. */
#include "control/manager.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "net/fiber.h"
#include "sim/world.h"
#include "support/check.h"

#define MS 1000ll
#define SECOND (1000 * MS)

/* A controller that does what its script says, and remembers when. */
struct bench {
    struct sim *sim;
    struct world *w;
    struct log *log;
    struct metrics *metrics;
    struct manager *m;
    struct queue *q;
    struct sb lines;
    VEC(int64_t) starts; /* in virtual microseconds since the start */
    uint32_t n_now, n_most, n_done;
    int64_t takes_us; /* how long a run parks */
    struct result (*script)(struct bench *b, struct reconcile *r);
    int64_t from_us;
};

static void keep_line(void *ctx, str line)
{
    sb_str(&((struct bench *)ctx)->lines, line);
}

static int64_t clock_ms(void *clock)
{
    return world_now_ms(clock);
}

static struct result run(struct reconcile *r)
{
    struct bench *b = r->ctx;
    struct result res;

    vec_push(&b->starts, sim_now_us(b->sim) - b->from_us);
    b->n_now++;
    b->n_most = MAX(b->n_most, b->n_now);
    if (b->takes_us)
        fiber_sleep_us(b->w, b->takes_us);
    res = b->script ? b->script(b, r) : RESULT_OK;
    b->n_now--;
    b->n_done++;
    return res;
}

static struct bench *bench_new(const struct controller_spec *spec)
{
    struct bench *b = xcalloc(1, sizeof(*b));
    struct controller_spec s = *spec;

    b->sim = sim_new(1, 1789463151123); /* 2026-09-15T09:05:51.123Z */
    b->w = sim_process(b->sim, "controller");
    b->log = log_new(LOG_INFO, &(struct log_sink){b, keep_line}, clock_ms, b->w);
    b->metrics = metrics_new();
    b->m = manager_new(b->w, b->log, b->metrics);
    s.name = s.name ? s.name : "test";
    s.workers = s.workers ? s.workers : 1;
    s.limit = s.limit.max_us ? s.limit : limiter_default;
    s.fn = run;
    s.ctx = b;
    b->q = manager_add(b->m, &s);
    b->from_us = sim_now_us(b->sim);
    return b;
}

static void bench_free(struct bench *b)
{
    manager_free(b->m);
    sim_free(b->sim);
    metrics_free(b->metrics);
    log_free(b->log);
    sb_fini(&b->lines);
    vec_fini(&b->starts);
    free(b);
}

#define KIND .group = "karpenter.sh", .kind = "NodeClaim"
#define BENCH(...) bench_new(&(struct controller_spec){__VA_ARGS__})

static void add(struct bench *b, const char *name)
{
    queue_add(b->q, STR(""), str_c(name));
}

static void check_starts(const char *name, const struct bench *b, const int64_t *want_ms, uint32_t n)
{
    check_u64(name, b->starts.n, n);
    for (uint32_t i = 0; i < n; i++)
        check_i64(name, b->starts.v[i], want_ms[i] * MS);
}

#define STARTS(b, ...)                                                                                                 \
    check_starts(__func__, (b), (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static double total(const struct bench *b, const char *result)
{
    struct sb out = {0}, want = {0};
    const char *at;
    double v = -1;

    metrics_text(b->metrics, world_now_ms(b->w), &out);
    sb_printf(&want, "controller_runtime_reconcile_total{controller=\"test\",result=\"%s\"} ", result);
    at = strstr(sb_cstr(&out), sb_cstr(&want));
    if (at)
        v = strtod(at + want.n, NULL);
    sb_fini(&out);
    sb_fini(&want);
    return v;
}

/* ---- what is worked on, and how often ---- */

static void asked_twice_is_worked_on_once(UNUSED void **state)
{
    struct bench *b = BENCH(KIND);

    add(b, "a");
    add(b, "a");
    sim_run_for(b->sim, SECOND);
    check_u64("nothing before the start", b->starts.n, 0);
    check_u64("one waits", queue_depth(b->q), 1);
    check_true("something is due", !manager_idle(b->m));
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, SECOND);
    STARTS(b, 1000);
    check_true("at rest", manager_idle(b->m));
    check_double("counted", total(b, "success"), 1);
    bench_free(b);
}

static void asked_while_worked_on_is_worked_on_again(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 5);

    b->takes_us = 100 * MS;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 50 * MS);
    add(b, "a");
    add(b, "a");
    queue_add_after(b->q, STR(""), STR("a"), 10 * MS); /* asked for already */
    sim_run_for(b->sim, SECOND);
    STARTS(b, 0, 100);
    check_u64("never twice at a time", b->n_most, 1);
    bench_free(b);
}

static void due_while_worked_on(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 5);

    b->takes_us = 100 * MS;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 50 * MS);
    queue_add_after(b->q, STR(""), STR("a"), 10 * MS);
    sim_run_for(b->sim, SECOND);
    STARTS(b, 0, 100);
    bench_free(b);
}

static void the_earlier_time_counts(UNUSED void **state)
{
    struct bench *b = BENCH(KIND);

    manager_start(b->m);
    queue_add_after(b->q, STR("ns"), STR("a"), 300 * MS);
    queue_add_after(b->q, STR("ns"), STR("a"), 200 * MS);
    queue_add_after(b->q, STR("ns"), STR("a"), 500 * MS);
    check_true("delayed names do not count", manager_idle(b->m));
    sim_run_for(b->sim, SECOND);
    STARTS(b, 200);
    queue_add_after(b->q, STR("ns"), STR("a"), 300 * MS);
    queue_add(b->q, STR("ns"), STR("a"));
    sim_run_for(b->sim, SECOND);
    STARTS(b, 200, 1000);
    bench_free(b);
}

static void many_delays(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 3);

    manager_start(b->m);
    for (int i = 0; i < 1000; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "n%d", i);
        queue_add_after(b->q, STR(""), str_c(name), (1 + i * 7919 % 1000) * MS);
        if (i % 3 == 0)
            queue_add_after(b->q, STR(""), str_c(name), (1 + i * 7919 % 1000) * MS / 2);
    }
    sim_run_for(b->sim, 2 * SECOND);
    check_u64("each once", b->starts.n, 1000);
    for (uint32_t i = 1; i < b->starts.n; i++)
        check_true("in order", b->starts.v[i - 1] <= b->starts.v[i]);
    bench_free(b);
}

/* ---- results ---- */

static struct result fails(UNUSED struct bench *b, struct reconcile *r)
{
    (void)err_set(&r->err, ERR_IO, "no answer");
    return result_error();
}

static void errors_back_off(UNUSED void **state)
{
    struct bench *b = BENCH(KIND);

    b->script = fails;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 320 * MS);
    STARTS(b, 0, 5, 15, 35, 75, 155, 315);
    sim_run_for(b->sim, 3600 * SECOND);
    int64_t last = vec_last(&b->starts), before = b->starts.v[b->starts.n - 2];
    check_i64("no longer than 1000 s", last - before, 1000 * SECOND);
    check_double("counted", total(b, "error"), b->starts.n);
    bench_free(b);
}

static struct result fails_thrice_then_waits(struct bench *b, struct reconcile *r)
{
    return b->starts.n % 4 ? fails(b, r) : result_after_ms(1000);
}

static void after_starts_the_back_off_anew(UNUSED void **state)
{
    struct bench *b = BENCH(KIND);

    b->script = fails_thrice_then_waits;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 1100 * MS);
    STARTS(b, 0, 5, 15, 35, 1035, 1040, 1050, 1070);
    check_double("counted", total(b, "requeue_after"), 2);
    bench_free(b);
}

static struct result fails_twice(struct bench *b, struct reconcile *r)
{
    return b->starts.n % 3 ? fails(b, r) : RESULT_OK;
}

static void success_starts_the_back_off_anew(UNUSED void **state)
{
    struct bench *b = BENCH(KIND);

    b->script = fails_twice;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 100 * MS);
    add(b, "a");
    sim_run_for(b->sim, 100 * MS);
    STARTS(b, 0, 5, 15, 100, 105, 115);
    bench_free(b);
}

static struct result again(UNUSED struct bench *b, UNUSED struct reconcile *r)
{
    return result_requeue();
}

static void an_event_cuts_the_back_off_short(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .limit = {100 * MS, 10 * SECOND, 0, 0});

    b->script = again;
    manager_start(b->m);
    add(b, "a");
    sim_run_for(b->sim, 400 * MS);
    STARTS(b, 0, 100, 300);
    add(b, "a"); /* not at 700; and the next wait is as long as if it had been */
    sim_run_for(b->sim, 1000 * MS);
    STARTS(b, 0, 100, 300, 400, 1200);
    check_double("counted", total(b, "requeue"), 5);
    bench_free(b);
}

static void all_names_share_the_bucket(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 10, .limit = {1 * MS, 1 * MS, 10, 2});

    b->script = again;
    manager_start(b->m);
    for (int i = 0; i < 4; i++)
        add(b, (const char *[]){"a", "b", "c", "d"}[i]);
    sim_run_for(b->sim, 250 * MS);
    /* Two tokens are there: a and b come back after their own 1 ms; c and d wait for theirs, and so on. */
    STARTS(b, 0, 0, 0, 0, 1, 1, 100, 200);
    bench_free(b);
}

static void singletons_run_by_themselves(UNUSED void **state)
{
    struct bench *b = BENCH(.workers = 1);

    b->script = fails_thrice_then_waits;
    manager_start(b->m);
    sim_run_for(b->sim, 10 * MS);
    STARTS(b, 0, 5);
    bench_free(b);
    b = BENCH(.in_memory = true);
    manager_start(b->m);
    sim_run_for(b->sim, 10 * MS);
    check_u64("a queue in memory does not", b->starts.n, 0);
    bench_free(b);
}

/* ---- logs ---- */

static struct result fails_in_detail(UNUSED struct bench *b, struct reconcile *r)
{
    static struct log_field more[2];

    more[0] = LOG_OBJ("nodeclaim", STR(""), STR("n"));
    more[1] = LOG_STR("nodepool", STR("default"));
    r->err_fields = more;
    r->n_err_fields = 2;
    (void)err_set(&r->err, ERR_NOT_FOUND, "NodePool.karpenter.sh \"default\" not found");
    return result_error();
}

static void check_log(const char *name, struct bench *b, const char *want)
{
    str line = sb_view(&b->lines), head, id;
    size_t at = (size_t)(strstr(sb_cstr(&b->lines), "\"reconcileID\":\"") - line.p) + sizeof("\"reconcileID\":\"") - 1;
    struct sb got = {0};

    head = str_sub(line, 0, at);
    id = str_sub(line, at, at + 36);
    check_true(name, id.n == 36 && id.p[8] == '-' && id.p[14] == '4' && strchr("89ab", id.p[19]));
    sb_str(&got, head);
    sb_c(&got, "<id>");
    sb_str(&got, str_sub(line, at + 36, line.n));
    check_str(name, sb_view(&got), want);
    sb_fini(&got);
}

static void errors_are_logged(UNUSED void **state)
{
    struct bench *b = BENCH(.name = "state.nodeclaim", KIND);

    b->script = fails_in_detail;
    manager_start(b->m);
    add(b, "n");
    sim_run_for(b->sim, 1 * MS);
    check_log(
        "as recorded", b,
        "{\"level\":\"ERROR\",\"time\":\"2026-09-15T09:05:51.123Z\",\"logger\":\"controller\",\"message\":\"Reconciler error\","
        "\"controller\":\"state.nodeclaim\",\"controllerGroup\":\"karpenter.sh\",\"controllerKind\":\"NodeClaim\","
        "\"NodeClaim\":{\"name\":\"n\"},\"namespace\":\"\",\"name\":\"n\",\"reconcileID\":\"<id>\","
        "\"nodeclaim\":{\"name\":\"n\"},\"nodepool\":\"default\","
        "\"error\":\"NodePool.karpenter.sh \\\"default\\\" not found\"}\n");
    bench_free(b);

    b = BENCH(.name = "provisioner");
    b->script = fails;
    manager_start(b->m);
    sim_run_for(b->sim, 1 * MS);
    check_log(
        "a singleton", b,
        "{\"level\":\"ERROR\",\"time\":\"2026-09-15T09:05:51.123Z\",\"logger\":\"controller\",\"message\":\"Reconciler error\","
        "\"controller\":\"provisioner\",\"namespace\":\"\",\"name\":\"\",\"reconcileID\":\"<id>\",\"error\":\"no answer\"}\n");
    bench_free(b);
}

/* ---- many, and the end ---- */

static void add_many(struct bench *b, int n)
{
    for (int i = 0; i < n; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "n%d", i);
        queue_add(b->q, STR("default"), str_c(name));
    }
}

static void ten_thousand_names(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 100);

    b->takes_us = 10 * MS;
    add_many(b, 10000);
    manager_start(b->m);
    sim_run_for(b->sim, 990 * MS - 1);
    check_u64("a hundred at a time", b->n_done, 9800);
    sim_run_for(b->sim, SECOND);
    check_u64("all", b->n_done, 10000);
    check_u64("workers", b->n_most, 100);
    check_true("at rest", manager_idle(b->m));
    check_u64("no fiber is kept", fiber_count(b->w), 0);
    bench_free(b);
}

static struct result no_more_than_one_fiber(struct bench *b, UNUSED struct reconcile *r)
{
    check_u64("fibers", fiber_count(b->w), 1);
    return RESULT_OK;
}

static void names_that_never_park_share_a_fiber(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 1000);

    b->script = no_more_than_one_fiber;
    add_many(b, 1000);
    manager_start(b->m);
    sim_run_for(b->sim, 0);
    check_u64("all", b->n_done, 1000);
    bench_free(b);
}

static void the_world_dies(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 20);

    b->takes_us = 10 * MS;
    b->script = fails;
    add_many(b, 100);
    manager_start(b->m);
    sim_run_for(b->sim, 15 * MS);
    sb_reset(&b->lines);
    sim_kill(b->w);
    sim_run_for(b->sim, SECOND);
    check_u64("what was under way has ended", b->n_done, b->starts.n);
    check_u64("the second twenty, and nobody after them", b->n_done, 40);
    check_u64("nothing is said", b->lines.n, 0);
    check_u64("no fiber is left", fiber_count(b->w), 0);
    bench_free(b);
}

struct killer {
    struct bench *b;
    uint64_t at;
};

static void maybe_kill(void *ctx, uint64_t step)
{
    struct killer *k = ctx;

    if (step == k->at)
        sim_kill(k->b->w);
}

static void killed_between_any_two_steps(UNUSED void **state)
{
    bool survived = false;

    for (uint64_t at = 1; !survived; at++) {
        struct bench *b = BENCH(KIND, .workers = 3);
        struct killer k = {b, at};

        sim_on_step(b->sim, maybe_kill, &k);
        b->takes_us = 3 * MS;
        b->script = fails_twice;
        add_many(b, 7);
        manager_start(b->m);
        sim_run_for(b->sim, SECOND);
        survived = !world_dead(b->w);
        check_u64("whoever began has ended", b->n_done, b->starts.n);
        check_u64("no fiber is left", fiber_count(b->w), 0);
        bench_free(b);
    }
}

static void freed_while_at_work(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 20);

    b->takes_us = 10 * MS;
    add_many(b, 100);
    manager_start(b->m);
    sim_run_for(b->sim, 5 * MS);
    manager_free(b->m); /* goes with the last run */
    b->m = NULL;
    sim_run_for(b->sim, SECOND);
    check_u64("what was under way has ended", b->n_done, 20);
    bench_free(b);
}

static void stopped(UNUSED void **state)
{
    struct bench *b = BENCH(KIND, .workers = 2);

    b->takes_us = 10 * MS;
    add_many(b, 10);
    manager_start(b->m);
    sim_run_for(b->sim, 15 * MS);
    manager_stop(b->m);
    check_true("two are under way", !manager_idle(b->m));
    sim_run_for(b->sim, SECOND);
    check_true("at rest, though names are left", manager_idle(b->m) && queue_depth(b->q) == 6);
    check_u64("what was under way has ended", b->n_done, 4);
    check_double("and is counted", total(b, "success"), 4);
    bench_free(b);
}

/* ---- numbers ---- */

static void results_meet(UNUSED void **state)
{
    struct result done = RESULT_OK, soon = result_after_ms(1), late = result_after_ms(9), now = result_requeue(),
                  bad = result_error();

    check_i64("nothing says nothing", result_min(done, late).after_us, 9 * MS);
    check_i64("nothing says nothing", result_min(late, done).after_us, 9 * MS);
    check_i64("the sooner", result_min(late, soon).after_us, 1 * MS);
    check_i64("a requeue counts as at once", result_min(soon, now).kind, RESULT_REQUEUE);
    check_i64("an error wins", result_min(now, bad).kind, RESULT_ERROR);
    check_i64("an error wins", result_min(bad, done).kind, RESULT_ERROR);
    check_i64("nothing", result_min(done, done).kind, RESULT_DONE);
}

/* UT-1 */
static void sizes(UNUSED void **state)
{
    static const struct {
        uint32_t qps, per_workers, workers, want_qps;
    } buckets[] = {{10, 10, 10, 10}, {10, 10, 20, 20}, {10, 100, 100, 10}, {10, 100, 200, 20}, {25, 100, 150, 38}};

    for (size_t i = 0; i < ARRAY_LEN(buckets); i++) {
        struct limiter_spec b =
            limiter_scaled(SECOND, 60 * SECOND, buckets[i].qps, buckets[i].per_workers, buckets[i].workers);

        check_double("UT-1: calls a second", b.qps, buckets[i].want_qps);
        check_u64("UT-1: at once", b.burst, 10 * buckets[i].want_qps);
    }
    check_u64("half a core", workers_linear(10, 1000, 500), 10);
    check_u64("one core", workers_linear(10, 1000, 1000), 10);
    check_u64("1.5 cores", workers_linear(10, 1000, 1500), 26);
    check_u64("15 cores", workers_linear(10, 1000, 15000), 244);
    check_u64("60 cores", workers_linear(10, 1000, 60000), 1000);
    check_u64("more", workers_linear(10, 1000, 1000000), 1000);
    check_u64("unknown", workers_linear(10, 1000, 0), 10);
    struct limiter_spec s = limiter_scaled(SECOND, 60 * SECOND, 10, 1000, 1001);
    check_double("rounded up", s.qps, 11);
    check_u64("burst", s.burst, 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_twice_is_worked_on_once),
        cmocka_unit_test(asked_while_worked_on_is_worked_on_again),
        cmocka_unit_test(due_while_worked_on),
        cmocka_unit_test(the_earlier_time_counts),
        cmocka_unit_test(many_delays),
        cmocka_unit_test(errors_back_off),
        cmocka_unit_test(after_starts_the_back_off_anew),
        cmocka_unit_test(success_starts_the_back_off_anew),
        cmocka_unit_test(an_event_cuts_the_back_off_short),
        cmocka_unit_test(all_names_share_the_bucket),
        cmocka_unit_test(singletons_run_by_themselves),
        cmocka_unit_test(errors_are_logged),
        cmocka_unit_test(ten_thousand_names),
        cmocka_unit_test(names_that_never_park_share_a_fiber),
        cmocka_unit_test(the_world_dies),
        cmocka_unit_test(killed_between_any_two_steps),
        cmocka_unit_test(freed_while_at_work),
        cmocka_unit_test(stopped),
        cmocka_unit_test(results_meet),
        cmocka_unit_test(sizes),
    };

    return cmocka_run_group_tests_name("control/manager", tests, NULL, NULL);
}
