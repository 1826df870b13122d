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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_arrives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
