/* Many calls on one connection: what HTTP/2 adds to the ways in which a call can go wrong. What every call promises is in
 * http_test.c, which runs over HTTP/2 as well.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/vec.h"
#include "net/http.h"
#include "support/check.h"
#include "support/place.h"

#define MS 1000ll

#define WATCHES 24u
#define CALLS 40u
#define ROUNDS 60u

/* ---- watches and calls together ---- */

struct feed {
    struct cluster *c;
    struct exchange *x; /* NULL: nobody watches */
    uint64_t said, heard;
    bool ended;
};

struct cluster {
    struct place *p;
    struct rng rng;
    struct feed feeds[WATCHES];
    uint32_t n_feeds;
    uint32_t asked, answered, failed;
    char *text;
};

#define TEXT 300000u

static void feed_over(struct exchange *x)
{
    struct feed *f = x->ctx;

    f->x = NULL;
}

static void serve(void *server, struct exchange *x)
{
    struct cluster *c = server;

    if (str_starts(x->path, STR("/watch"))) {
        struct feed *f = &c->feeds[c->n_feeds++];

        f->x = x;
        x->ctx = f;
        x->on_over = feed_over;
        reply_begin(x, 200, NULL, 0);
        return;
    }
    /* Whoever writes sees an event, and gets the object as its answer. */
    struct feed *f = &c->feeds[rng_below(&c->rng, WATCHES)];
    size_t n = 1 + rng_below(&c->rng, 6000);

    if (f->x) {
        f->said += n;
        reply_data(f->x, (str){c->text, n});
    }
    reply_all(x, 201, "application/json", (str){c->text, 1 + rng_below(&c->rng, 9000)});
}

static void on_feed_data(void *ctx, str bytes)
{
    ((struct feed *)ctx)->heard += bytes.n;
}

static void on_feed_end(void *ctx, const struct err *e)
{
    (void)e;
    ((struct feed *)ctx)->ended = true;
}

static void call_data(void *ctx, str bytes)
{
    (void)ctx;
    (void)bytes;
}

static void call_end(void *ctx, const struct err *e)
{
    struct cluster *c = ctx;

    c->answered++;
    c->failed += e != NULL;
}

static bool all_heard(const struct cluster *c)
{
    for (uint32_t i = 0; i < WATCHES; i++)
        if (c->feeds[i].heard != c->feeds[i].said)
            return false;
    return c->answered == c->asked;
}

static void burst(struct cluster *c)
{
    static const char body[3000] = {0};

    for (uint32_t i = 0; i < CALLS; i++) {
        struct http_request r = place_request(c->p, "POST", "/objects", "");
        struct http_events ev = {.ctx = c, .on_data = call_data, .on_end = call_end};

        r.body = (str){body, rng_below(&c->rng, sizeof(body))};
        c->asked++;
        assert_non_null(http_start(c->p->client, &r, &ev));
    }
    for (uint32_t i = 0; i < WATCHES; i++)
        if (c->feeds[i].x && rng_below(&c->rng, 4) == 0) {
            size_t n = 1 + rng_below(&c->rng, rng_below(&c->rng, 8) ? 5000 : TEXT - 1);

            c->feeds[i].said += n;
            reply_data(c->feeds[i].x, (str){c->text, n});
        }
}

static void everything_arrives_fiber(void *arg)
{
    struct cluster *c = arg;

    for (uint32_t i = 0; i < WATCHES; i++) {
        struct http_request r = place_request(c->p, "GET", "/watch", "");
        struct http_events ev = {.ctx = &c->feeds[i], .on_data = on_feed_data, .on_end = on_feed_end};

        assert_non_null(http_start(c->p->client, &r, &ev));
        while (c->n_feeds <= i) /* so that the i-th is the i-th at the server too */
            fiber_sleep_us(c->p->client, MS);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        burst(c);
        for (int ms = 0; ms < 10000 && !all_heard(c); ms++)
            fiber_sleep_us(c->p->client, MS);
        for (uint32_t i = 0; i < WATCHES; i++)
            check_u64("bytes of a watch", c->feeds[i].heard, c->feeds[i].said);
        check_u64("answers", c->answered, c->asked);
    }
    check_u64("failed", c->failed, 0);
    for (uint32_t i = 0; i < WATCHES; i++)
        reply_end(c->feeds[i].x);
    for (int ms = 0; ms < 10000 && !c->feeds[WATCHES - 1].ended; ms++)
        fiber_sleep_us(c->p->client, MS);
}

static void everything_arrives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct cluster c = {.text = calloc(1, TEXT)};

        rng_init(&c.rng, seed);
        c.p = place_new(PLACE_H2, NULL, serve, &c);
        place_run(c.p, everything_arrives_fiber, &c);
        check_u64("connections", h2_server_connections(c.p->h2), 1);
        place_free(c.p);
        free(c.text);
    }
}

/* ---- one connection, and when it is not enough ---- */

struct site {
    struct place *p;
    VEC(struct exchange *) open; /* that wait for an answer */
};

static void site_over(struct exchange *x)
{
    struct site *t = x->ctx;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->open.n; i++)
        if (t->open.v[i] != x)
            t->open.v[kept++] = t->open.v[i];
    t->open.n = kept;
}

static void site_serve(void *server, struct exchange *x)
{
    static char block[2 << 20];
    struct site *t = server;

    if (str_is(x->path, "/now")) {
        reply_all(x, 200, "text/plain", STR("at once"));
        return;
    }
    x->ctx = t;
    x->on_over = site_over;
    vec_push(&t->open, x);
    if (str_is(x->path, "/never"))
        return;
    reply_begin(x, 200, NULL, 0);
    if (str_is(x->path, "/flood"))
        for (int i = 0; i < 4; i++)
            reply_piece(x, (str){block, sizeof(block)}, NULL, NULL);
}

static void run_site(enum place_kind kind, uint32_t max_streams, void (*fiber)(void *site))
{
    struct site t = {0};

    t.p = place_new(kind, NULL, site_serve, &t);
    if (max_streams)
        h2_server_limit(t.p->h2, max_streams);
    place_run(t.p, fiber, &t);
    place_free(t.p);
    vec_fini(&t.open);
}

static void ask_now(struct site *t, const char *name)
{
    struct http_request r = place_request(t->p, "GET", "/now", "");
    struct http_response answer = {0};
    struct err e = {0};

    r.shared = true;
    r.timeout_us = 10000 * MS;
    check_ok(name, http_fetch(t->p->client, &r, t->p->arena, &answer, &e), &e);
    check_str(name, answer.body, "at once");
}

static struct http_call *start(struct site *t, const char *path, struct feed *f)
{
    struct http_request r = place_request(t->p, "GET", path, "");
    struct http_events ev = {.ctx = f, .on_data = on_feed_data, .on_end = on_feed_end};

    return http_start(t->p->client, &r, &ev);
}

#define await(t, ...)                                                                                                  \
    for (int await_ms = 0; await_ms < 10000 && !(__VA_ARGS__); await_ms++)                                             \
    fiber_sleep_us((t)->p->client, MS)

static void more_calls_fiber(void *arg)
{
    struct site *t = arg;
    struct feed feeds[5] = {0};
    struct http_call *calls[5];

    ask_now(t, "the first call");
    for (int i = 0; i < 5; i++)
        calls[i] = start(t, "/never", &feeds[i]);
    await(t, t->open.n == 5);
    ask_now(t, "a call behind calls without an answer");
    check_u64("connections", h2_server_connections(t->p->h2), 2);
    for (int i = 0; i < 5; i++)
        http_cancel(calls[i]);
    await(t, t->open.n == 0);
    ask_now(t, "a call after them");
    check_u64("connections", h2_server_connections(t->p->h2), 2);
}

/* A server takes so many calls on a connection; a lease must be renewed even if they all hang. */
static void more_calls_than_a_connection_takes(void **state)
{
    (void)state;
    run_site(PLACE_H2, 4, more_calls_fiber);
}

static void retired_fiber(void *arg)
{
    struct site *t = arg;
    struct feed watch = {0};

    assert_non_null(start(t, "/watch", &watch));
    await(t, t->open.n == 1);
    h2_server_retire(t->p->h2);
    fiber_sleep_us(t->p->client, 20 * MS);
    ask_now(t, "a call after the goodbye");
    check_u64("connections", h2_server_connections(t->p->h2), 2);
    reply_data(t->open.v[0], STR("still here"));
    await(t, watch.heard == 10);
    check_u64("of the watch", watch.heard, 10);
    reply_end(t->open.v[0]);
    await(t, watch.ended);
    assert_true(watch.ended);
}

static void servers_say_goodbye(void **state)
{
    (void)state;
    run_site(PLACE_H2, 0, retired_fiber);
}

static void dropped_fiber(void *arg)
{
    struct site *t = arg;
    struct feed watch = {0};

    assert_non_null(start(t, "/watch", &watch));
    await(t, t->open.n == 1);
    fiber_sleep_us(t->p->client, 20 * MS); /* its head is here */
    h2_server_drop(t->p->h2);
    await(t, watch.ended);
    assert_true(watch.ended);
    ask_now(t, "a call after the end");
    check_u64("connections", h2_server_connections(t->p->h2), 2);
}

static void connections_break(void **state)
{
    (void)state;
    run_site(PLACE_H2, 0, dropped_fiber);
}

static void nobody_reads_fiber(void *arg)
{
    struct site *t = arg;
    struct http_request r = place_request(t->p, "GET", "/flood", "");
    struct http_response head;
    struct err e = {0};
    struct http_stream *s = http_open(t->p->client, &r, t->p->arena, &head, &e);
    size_t got = 0;

    check_ok("open", s != NULL, &e);
    for (int i = 0; i < 20; i++)
        ask_now(t, "a call beside a stream that nobody reads");
    assert_true(reply_queued(t->open.v[0]) > (4u << 20)); /* it was told to wait */
    reply_end(t->open.v[0]);
    for (str bytes = STR("x"); bytes.n; got += bytes.n)
        check_ok("read", http_read(s, &bytes, &e), &e);
    check_u64("all of it", got, 8u << 20);
    check_u64("connections", h2_server_connections(t->p->h2), 1);
    http_close(s);
}

static void slow_readers_hold_up_nobody(void **state)
{
    (void)state;
    run_site(PLACE_H2, 0, nobody_reads_fiber);
}

static void old_server_fiber(void *arg)
{
    struct site *t = arg;

    ask_now(t, "the first call");
    ask_now(t, "another");
}

static void servers_without_it(void **state)
{
    (void)state;
    run_site(PLACE_TLS, 0, old_server_fiber);
    run_site(PLACE_LOOP, 0, old_server_fiber);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives),          cmocka_unit_test(more_calls_than_a_connection_takes),
        cmocka_unit_test(servers_say_goodbye),         cmocka_unit_test(connections_break),
        cmocka_unit_test(slow_readers_hold_up_nobody), cmocka_unit_test(servers_without_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
