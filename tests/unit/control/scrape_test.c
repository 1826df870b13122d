/* /metrics over HTTP, in a simulated world and on a socket: whatever its size, the text is the one that is made in one go. */
#include "control/scrape.h"

#include <stdio.h>

#include "net/fiber.h"
#include "net/loop.h"
#include "sim/world.h"
#include "support/check.h"

#define MANY 20000u

static const char *const by_name[] = {"name", NULL};
static const struct metric_spec things = {.name = "things", .help = "Things.", .kind = METRIC_GAUGE, .labels = by_name},
                                after = {.name = "u", .help = "What follows.", .kind = METRIC_GAUGE};

struct bench {
    struct world *w;
    struct metrics *m;
    struct scrapes *s;
    const char *url;
    uint32_t n; /* things */
    uint64_t seen;
};

static bool collect(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    const struct bench *b = ctx;
    char name[32];

    if (i >= b->n)
        return false;
    (void)snprintf(name, sizeof(name), "thing-%u", i);
    if (i % 3) /* the others have none */
        metric_emit(out, f, i, METRIC_VALS(str_c(name)));
    return true;
}

static void serve(void *server, struct exchange *x)
{
    scrapes_reply(((struct bench *)server)->s, x);
}

static void bench_init(struct bench *b, struct world *w)
{
    *b = (struct bench){.w = w, .m = metrics_new(), .url = "http://metrics/metrics"};
    struct metric *f = metrics_add(b->m, &things);

    metrics_collector_by_one(&f, 1, collect, b);
    metric_set(metrics_add(b->m, &after), 1, NULL);
    b->s = scrapes_new(w, b->m);
}

static void bench_fini(struct bench *b)
{
    scrapes_free(b->s);
    metrics_free(b->m);
}

static void ask(void *arg)
{
    static const uint32_t sizes[] = {0, 1, 2, 100, 1000, MANY};
    struct bench *b = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct http_request q = {.url = str_c(b->url), .max_body = 8 << 20};
        struct http_response r;
        struct sb want = {0};
        struct err e = {0};

        b->n = sizes[i];
        metrics_text(b->m, 0, &want);
        check_ok("asked", http_fetch(b->w, &q, a, &r, &e), &e);
        check_i64("status", r.status, 200);
        check_true("the same text", str_eq(r.body, sb_view(&want)));
        sb_fini(&want);
    }
    world_quit(b->w);
}

static void in_a_simulated_world(UNUSED void **state)
{
    struct sim *s = sim_new(1, 0);
    struct bench b;

    bench_init(&b, sim_process(s, "test"));
    sim_mount(s, "http://metrics", b.w, serve, &b);
    fiber_go(b.w, "ask", ask, &b);
    world_run(b.w);
    bench_fini(&b);
    sim_free(s);
}

static void on_a_socket(UNUSED void **state)
{
    struct world *w = loop_new();
    struct err e = {0};
    struct bench b;
    char url[64];

    bench_init(&b, w);
    struct httpd *d = httpd_listen(w, &(struct httpd_options){0}, serve, &b, &e);
    check_ok("listen", d != NULL, &e);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/metrics", httpd_port(d));
    b.url = url;
    fiber_go(w, "ask", ask, &b);
    world_run(w);
    httpd_close(d);
    bench_fini(&b);
    loop_free(w);
}

static void on_data(void *ctx, str bytes)
{
    ((struct bench *)ctx)->seen += bytes.n;
}

static void on_end(void *ctx, const struct err *e)
{
    struct bench *b = ctx;

    check_true("it has broken off", e != NULL);
    b->seen = UINT64_MAX;
}

static void on_head(void *ctx, int status, const struct http_header *headers, uint32_t n)
{
    (void)ctx;
    (void)headers;
    (void)n;
    check_i64("status", status, 200);
}

/* Until some of the text has come, and by far not all of it. */
static struct http_call *begin(struct sim *s, struct bench *b)
{
    struct http_events ev = {.ctx = b, .on_head = on_head, .on_data = on_data, .on_end = on_end};

    b->n = MANY;
    struct http_call *call = http_start(b->w, &(struct http_request){.url = str_c(b->url), .max_body = 8 << 20}, &ev);
    while (b->seen == 0 && sim_step(s)) {}
    check_true("some of it", b->seen > 0 && b->seen < 4 * METRICS_PART);
    return call;
}

static void those_who_leave(UNUSED void **state)
{
    struct sim *s = sim_new(1, 0);
    struct bench b;

    bench_init(&b, sim_process(s, "test"));
    sim_mount(s, "http://metrics", b.w, serve, &b);
    http_cancel(begin(s, &b));
    sim_run_for(s, 1000000);
    b.seen = 0;
    (void)begin(s, &b);
    bench_fini(&b); /* with a scrape under way */
    sim_run_for(s, 1000000);
    check_true("the other side hears of it", b.seen == UINT64_MAX);
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_simulated_world),
        cmocka_unit_test(on_a_socket),
        cmocka_unit_test(those_who_leave),
    };

    return cmocka_run_group_tests_name("control/scrape", tests, NULL, NULL);
}
