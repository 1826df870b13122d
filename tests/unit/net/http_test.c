/* Calls and replies, the same in every place: simulated, over a socket, over TLS. */
#include "net/http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "support/check.h"
#include "support/place.h"

#define MS 1000ll

/* ---- a server with something of everything ---- */

struct bench {
    struct place *p;
    uint32_t n_served, n_over, n_done;
    VEC(struct exchange *) open;
    char *block; /* what /big is made of */
};

static void count_over(struct exchange *x)
{
    struct bench *b = x->ctx;
    uint32_t kept = 0;

    b->n_over++;
    for (uint32_t i = 0; i < b->open.n; i++)
        if (b->open.v[i] != x)
            b->open.v[kept++] = b->open.v[i];
    b->open.n = kept;
}

static void count_done(void *arg)
{
    ((struct bench *)arg)->n_done++;
}

struct later {
    struct bench *b;
    struct exchange *x;
};

/* Answers from a fiber, and does not care whether anybody is left to hear it. */
static void answer_later(void *arg)
{
    struct later *l = arg;

    fiber_sleep_us(l->b->p->server, 5 * MS);
    reply_all(l->x, 200, "text/plain", STR("late"));
    free(l);
}

static void count_to_ten(void *arg)
{
    struct later *l = arg;
    char line[32];

    reply_begin(l->x, 200, NULL, 0);
    for (int i = 0; i < 10; i++) {
        fiber_sleep_us(l->b->p->server, 2 * MS);
        (void)snprintf(line, sizeof(line), "line %d\n", i);
        reply_data(l->x, str_c(line));
    }
    reply_end(l->x);
    free(l);
}

static void in_fiber(struct bench *b, struct exchange *x, void (*fn)(void *arg))
{
    struct later *l = malloc(sizeof(*l));

    *l = (struct later){b, x};
    fiber_go(b->p->server, "answer", fn, l);
}

/* Names of headers have no case, and travel without one in HTTP/2. */
static str as_usual(struct arena *a, str name)
{
    char *p = (char *)(uintptr_t)arena_strdup(a, name).p;

    for (size_t i = 0; i < name.n; i++) {
        bool first = i == 0 || p[i - 1] == '-';

        p[i] = (char)(first ? toupper((unsigned char)p[i]) : tolower((unsigned char)p[i]));
    }
    return (str){p, name.n};
}

static void echo(struct exchange *x)
{
    struct sb out = {0};

    sb_printf(&out, "%s " STR_FMT " ? " STR_FMT "\n", x->method, STR_ARG(x->path), STR_ARG(x->query));
    for (uint32_t i = 0; i < x->n_headers; i++) {
        str name = as_usual(x->arena, x->headers[i].name);

        if (str_starts(name, STR("X-")) || str_is(name, "Accept") || str_is(name, "Content-Type") ||
            str_is(name, "Expect"))
            sb_printf(&out, STR_FMT ": " STR_FMT "\n", STR_ARG(name), STR_ARG(x->headers[i].value));
    }
    sb_str(&out, x->body);
    reply_all(x, 200, "text/plain", sb_view(&out));
    sb_fini(&out);
}

#define BLOCK 100000u
#define BLOCKS 50u

static void big(struct bench *b, struct exchange *x)
{
    reply_begin(x, 200, NULL, 0);
    for (uint32_t i = 0; i < BLOCKS; i++)
        reply_piece(x, (str){b->block, BLOCK}, count_done, b);
    if (str_is(x->path, "/big"))
        reply_end(x);
}

static void serve(void *server, struct exchange *x)
{
    struct bench *b = server;

    b->n_served++;
    x->ctx = b;
    x->on_over = count_over;
    if (str_is(x->path, "/later")) {
        x->on_over = NULL; /* the exchange waits for its answer */
        in_fiber(b, x, answer_later);
    } else if (str_is(x->path, "/lines")) {
        x->on_over = NULL;
        in_fiber(b, x, count_to_ten);
    } else if (str_is(x->path, "/watch")) {
        struct http_header h = {STR("Content-Type"), STR("application/json;stream=watch")};

        vec_push(&b->open, x);
        reply_begin(x, 200, &h, 1);
    } else if (str_is(x->path, "/never")) {
        vec_push(&b->open, x);
    } else if (str_is(x->path, "/drop")) {
        reply_abort(x);
    } else if (str_is(x->path, "/break")) {
        reply_begin(x, 200, NULL, 0);
        reply_data(x, STR("so far"));
        reply_abort(x);
    } else if (str_is(x->path, "/big") || str_is(x->path, "/big-open")) {
        big(b, x);
    } else if (str_is(x->path, "/secret")) {
        bool known = str_is(http_header_get(x->headers, x->n_headers, "authorization"), "Bearer t0ken");

        reply_all(x, known ? 200 : 401, "text/plain", known ? STR("welcome") : STR("who are you?"));
    } else if (str_is(x->path, "/nothing")) {
        reply_begin(x, 204, NULL, 0);
        reply_end(x);
    } else if (str_is(x->path, "/away")) {
        struct http_header h = {STR("Location"), STR("/echo")};

        reply_begin(x, 302, &h, 1);
        reply_end(x);
    } else {
        echo(x);
    }
}

static struct bench *bench_new(enum place_kind kind)
{
    struct bench *b = calloc(1, sizeof(*b));

    b->block = malloc(BLOCK);
    memset(b->block, 'b', BLOCK);
    b->p = place_new(kind, NULL, serve, b);
    return b;
}

static void bench_free(struct bench *b)
{
    place_free(b->p);
    check_u64("nobody is left", b->open.n, 0);
    vec_fini(&b->open);
    free(b->block);
    free(b);
}

/* Runs a test's fiber in every place. */
static void everywhere(void (*fiber)(void *bench))
{
    for (int kind = 0; kind < PLACE_KINDS; kind++) {
        struct bench *b = bench_new((enum place_kind)kind);

        place_run(b->p, fiber, b);
        bench_free(b);
    }
}

static bool fetch(struct bench *b, const struct http_request *r, struct http_response *ret, struct err *e)
{
    return http_fetch(b->p->client, r, b->p->arena, ret, e);
}

/* Real time is nothing to rely on: sleeps until it has happened, or for so long that it never will. */
#define await(b, ...)                                                                                                  \
    for (int await_ms = 0; await_ms < 10000 && !(__VA_ARGS__); await_ms++)                                             \
    fiber_sleep_us((b)->p->client, MS)

/* ---- calls ---- */

static const struct {
    const char *name, *method, *path, *body, *want;
} echo_cases[] = {
    {"the default is GET", NULL, "/a/b", "", "GET /a/b ? \nX-One: 1\nX-Two: two words\n"},
    {"no path", NULL, "", "", "GET / ? \nX-One: 1\nX-Two: two words\n"},
    {"a query", NULL, "/a?x=1&y=%20", "", "GET /a ? x=1&y=%20\nX-One: 1\nX-Two: two words\n"},
    {"a query without a path", NULL, "?x", "", "GET / ? x\nX-One: 1\nX-Two: two words\n"},
    {"escapes and dots stay", NULL, "/a%2Fb/../%7e", "", "GET /a%2Fb/../%7e ? \nX-One: 1\nX-Two: two words\n"},
    {"a body", "POST", "/p", "text", "POST /p ? \nX-One: 1\nX-Two: two words\ntext"},
    {"an empty body", "POST", "/p", "", "POST /p ? \nX-One: 1\nX-Two: two words\n"},
    {"PUT", "PUT", "/p", "text", "PUT /p ? \nX-One: 1\nX-Two: two words\ntext"},
    {"PATCH", "PATCH", "/p", "{}", "PATCH /p ? \nX-One: 1\nX-Two: two words\n{}"},
    {"DELETE without a body", "DELETE", "/p", "", "DELETE /p ? \nX-One: 1\nX-Two: two words\n"},
    {"DELETE with one", "DELETE", "/p", "{}", "DELETE /p ? \nX-One: 1\nX-Two: two words\n{}"},
    {"GET has no body", "GET", "/p", "text", "GET /p ? \nX-One: 1\nX-Two: two words\n"},
};

static void requests_arrive_fiber(void *arg)
{
    struct bench *b = arg;
    const struct http_header headers[] = {{STR("X-One"), STR("1")}, {STR("X-Two"), STR("two words")}};

    for (size_t i = 0; i < ARRAY_LEN(echo_cases); i++) {
        struct http_request r = place_request(b->p, echo_cases[i].method, echo_cases[i].path, echo_cases[i].body);
        struct http_response got;
        struct err e = {0};

        r.headers = headers;
        r.n_headers = ARRAY_LEN(headers);
        check_ok(echo_cases[i].name, fetch(b, &r, &got, &e), &e);
        check_i64(echo_cases[i].name, got.status, 200);
        check_str(echo_cases[i].name, got.body, echo_cases[i].want);
        check_str(echo_cases[i].name, http_header_get(got.headers, got.n_headers, "content-TYPE"), "text/plain");
    }
    check_u64("each was served once", b->n_served, ARRAY_LEN(echo_cases));
}

static void requests_arrive(void **state)
{
    (void)state;
    everywhere(requests_arrive_fiber);
}

static const struct {
    const char *name, *method, *path;
    int status;
    const char *body;
} reply_cases[] = {
    {"an answer from a fiber", "GET", "/later", 200, "late"},
    {"a stream to its end", "GET", "/lines", 200,
     "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n"},
    {"the application wants a token", "GET", "/secret", 401, "who are you?"},
    {"no content", "GET", "/nothing", 204, ""},
    {"redirects are not followed", "GET", "/away", 302, ""},
    {"HEAD has no body", "HEAD", "/echo", 200, ""},
    {"nor when it is a stream", "HEAD", "/lines", 200, ""},
};

static void replies_arrive_fiber(void *arg)
{
    struct bench *b = arg;

    for (size_t i = 0; i < ARRAY_LEN(reply_cases); i++) {
        struct http_request r = place_request(b->p, reply_cases[i].method, reply_cases[i].path, "");
        struct http_response got;
        struct err e = {0};

        check_ok(reply_cases[i].name, fetch(b, &r, &got, &e), &e);
        check_i64(reply_cases[i].name, got.status, reply_cases[i].status);
        check_str(reply_cases[i].name, got.body, reply_cases[i].body);
    }
}

static void replies_arrive(void **state)
{
    (void)state;
    everywhere(replies_arrive_fiber);
}

static const struct {
    const char *name, *method, *path;
    int64_t timeout_us, idle_us;
    size_t max_body;
    enum err_kind want;
} failure_cases[] = {
    {"dropped before the head", "GET", "/drop", 0, 0, 0, ERR_IO},
    {"broken after some data", "GET", "/break", 0, 0, 0, ERR_IO},
    {"no answer in time", "GET", "/never", 20 * MS, 0, 0, ERR_TIMEOUT},
    {"no end in time", "GET", "/watch", 20 * MS, 0, 0, ERR_TIMEOUT},
    {"no head in a while", "GET", "/never", 0, 20 * MS, 0, ERR_TIMEOUT},
    {"no data in a while", "GET", "/watch", 0, 20 * MS, 0, ERR_TIMEOUT},
    {"longer than allowed", "GET", "/big", 0, 0, 1000, ERR_INVALID},
    {"an odd method", "G T", "/", 0, 0, 0, ERR_INVALID},
    {"a bad url", "GET", "/a b", 0, 0, 0, ERR_INVALID},
    {"a line feed in the url", "GET", "/a\nX: y", 0, 0, 0, ERR_INVALID},
};

static void calls_fail_fiber(void *arg)
{
    struct bench *b = arg;

    for (size_t i = 0; i < ARRAY_LEN(failure_cases); i++) {
        struct http_request r = place_request(b->p, failure_cases[i].method, failure_cases[i].path, "");
        struct http_response got = {.status = -1};
        struct err e = {0};

        r.timeout_us = failure_cases[i].timeout_us;
        r.idle_timeout_us = failure_cases[i].idle_us;
        r.max_body = failure_cases[i].max_body;
        check_true(failure_cases[i].name, !fetch(b, &r, &got, &e));
        check_i64(failure_cases[i].name, e.kind, failure_cases[i].want);
        check_i64("the answer is untouched", got.status, -1);
        check_true("it says which call", str_starts(str_c(e.msg), str_c(failure_cases[i].method)));
    }
}

static void calls_fail(void **state)
{
    (void)state;
    everywhere(calls_fail_fiber);
}

static void bad_headers_fiber(void *arg)
{
    struct bench *b = arg;
    static const struct http_header bad[] = {
        {STR_INIT("X-Evil"), STR_INIT("a\r\nX-More: b")},
        {STR_INIT("X Evil"), STR_INIT("a")},
        {STR_INIT(""), STR_INIT("a")},
        {STR_INIT("X-Evil"), STR_INIT("a\0b")},
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct http_request r = place_request(b->p, "GET", "/", "");
        struct http_response got;
        struct err e = {0};

        r.headers = &bad[i];
        r.n_headers = 1;
        check_true("refused", !fetch(b, &r, &got, &e));
        check_i64("for good", e.kind, ERR_INVALID);
    }
    check_u64("nothing was sent", b->n_served, 0);
}

static void bad_headers_are_not_sent(void **state)
{
    (void)state;
    everywhere(bad_headers_fiber);
}

static void nobody_listens_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = {.url = b->p->sim ? STR("https://nobody/") : STR("http://127.0.0.1:1/")};
    struct http_response got;
    struct err e = {0};

    check_true("refused", !fetch(b, &r, &got, &e));
    check_i64("it may work later", e.kind, ERR_IO);
}

static void nobody_listens(void **state)
{
    (void)state;
    everywhere(nobody_listens_fiber);
}

static void large_bodies_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/big", "");
    struct http_response got;
    struct err e = {0};

    check_ok("answer", fetch(b, &r, &got, &e), &e);
    check_u64("its length", got.body.n, (uint64_t)BLOCK * BLOCKS);
    check_true("its end", got.body.p[got.body.n - 1] == 'b');

    char *body = malloc(8000000);
    memset(body, 'x', 8000000);
    r = place_request(b->p, "POST", "/echo", "");
    r.body = (str){body, 8000000};
    check_ok("request", fetch(b, &r, &got, &e), &e);
    check_u64("it comes back", got.body.n, 8000000 + strlen("POST /echo ? \n"));
    free(body);
    await(b, b->n_done == BLOCKS);
    check_u64("every piece was given back", b->n_done, BLOCKS);
}

static void large_bodies(void **state)
{
    (void)state;
    everywhere(large_bodies_fiber);
}

/* ---- streams ---- */

static void say(struct bench *b, const char *text)
{
    for (uint32_t i = 0; i < b->open.n; i++)
        reply_data(b->open.v[i], str_c(text));
}

static void watching_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/watch", "");
    struct http_response head;
    struct err e = {0};
    str piece;
    struct http_stream *s = http_open(b->p->client, &r, b->p->arena, &head, &e);

    check_ok("open", s != NULL, &e);
    check_i64("status", head.status, 200);
    check_str("headers", http_header_get(head.headers, head.n_headers, "Content-Type"),
              "application/json;stream=watch");
    for (int i = 0; i < 5; i++) {
        say(b, "event\n");
        check_ok("read", http_read(s, &piece, &e), &e);
        check_str("event", piece, "event\n");
    }
    say(b, "last\n");
    reply_end(b->open.v[0]);
    check_ok("read", http_read(s, &piece, &e), &e);
    check_str("last event", piece, "last\n");
    check_ok("read", http_read(s, &piece, &e), &e);
    check_u64("end", piece.n, 0);
    check_ok("read on", http_read(s, &piece, &e), &e);
    check_u64("still the end", piece.n, 0);
    http_close(s);
    await(b, b->n_over == 1);
    check_u64("over", b->n_over, 1);
}

static void watching(void **state)
{
    (void)state;
    everywhere(watching_fiber);
}

static void leaving_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/watch", "");
    struct http_response head;
    struct err e = {0};
    struct http_stream *s = http_open(b->p->client, &r, b->p->arena, &head, &e);

    check_ok("open", s != NULL, &e);
    check_u64("under way", b->open.n, 1);
    http_close(s);
    await(b, b->n_over == 1);
    check_u64("the server learns that the reader has left, without writing", b->n_over, 1);
}

static void readers_leave(void **state)
{
    (void)state;
    everywhere(leaving_fiber);
}

static void broken_stream_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/watch", "");
    struct http_response head;
    struct err e = {0};
    str piece;
    struct http_stream *s = http_open(b->p->client, &r, b->p->arena, &head, &e);

    check_ok("open", s != NULL, &e);
    say(b, "half a li");
    check_ok("read", http_read(s, &piece, &e), &e);
    check_str("what came", piece, "half a li");
    reply_abort(b->open.v[0]);
    check_true("then it broke", !http_read(s, &piece, &e));
    check_i64("how", e.kind, ERR_IO);
    http_close(s);
}

static void streams_break(void **state)
{
    (void)state;
    everywhere(broken_stream_fiber);
}

/* The queue at the server grows when the reader stops reading, and drains when it goes on. */
static void slow_reader_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/watch", "");
    struct http_response head;
    struct err e = {0};
    str piece;
    uint64_t total = 0, want = 0;
    struct http_stream *s = http_open(b->p->client, &r, b->p->arena, &head, &e);

    check_ok("open", s != NULL, &e);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 3; i++, want += BLOCK)
            reply_piece(b->open.v[0], (str){b->block, BLOCK}, count_done, b);
        fiber_sleep_us(b->p->client, MS);
    }
    check_true("the server sees the queue", reply_queued(b->open.v[0]) > want / 4);
    while (total < want) {
        check_ok("read", http_read(s, &piece, &e), &e);
        check_true("it goes on", piece.n > 0);
        total += piece.n;
    }
    check_u64("nothing is lost", total, want);
    check_u64("the queue is empty", reply_queued(b->open.v[0]), 0);
    check_u64("pieces were given back", b->n_done, 600);
    http_close(s);
}

static void slow_readers(void **state)
{
    (void)state;
    everywhere(slow_reader_fiber);
}

static void open_ended_fiber(void *arg)
{
    struct bench *b = arg;
    struct http_request r = place_request(b->p, "GET", "/big-open", "");
    struct http_response head;
    struct err e = {0};
    struct http_stream *s = http_open(b->p->client, &r, b->p->arena, &head, &e);

    check_ok("open", s != NULL, &e);
    http_close(s); /* with most of it still to come */
    await(b, b->n_over == 1);
    check_u64("over", b->n_over, 1);
    check_u64("pieces that nobody read were given back", b->n_done, BLOCKS);
}

static void leaving_in_the_middle(void **state)
{
    (void)state;
    everywhere(open_ended_fiber);
}

/* ---- callbacks ---- */

struct probe {
    struct bench *b;
    struct http_call *call;
    int cancel_in; /* 1: on_head, 2: on_data */
    int heads, ends;
    size_t bytes;
    enum err_kind kind;
    struct fiber *waiter;
};

static void probe_head(void *ctx, int status, const struct http_header *h, uint32_t n)
{
    struct probe *p = ctx;

    (void)h;
    (void)n;
    check_i64("status", status, 200);
    check_i64("one head", p->heads++, 0);
    if (p->cancel_in == 1)
        http_cancel(p->call);
}

static void probe_data(void *ctx, str bytes)
{
    struct probe *p = ctx;

    check_i64("after the head", p->heads, 1);
    p->bytes += bytes.n;
    if (p->cancel_in == 2)
        http_cancel(p->call);
}

static void probe_end(void *ctx, const struct err *e)
{
    struct probe *p = ctx;

    p->ends++;
    p->kind = e ? e->kind : ERR_NONE;
    if (p->waiter)
        fiber_wake(p->waiter);
}

static void probe_start(struct probe *p, struct bench *b, const char *path)
{
    struct http_request r = place_request(b->p, "GET", path, "");
    struct http_events ev = {.ctx = p, .on_head = probe_head, .on_data = probe_data, .on_end = probe_end};

    p->b = b;
    p->call = http_start(b->p->client, &r, &ev);
    check_i64("nothing happens inside", p->heads + p->ends, 0);
}

static void cancelling_fiber(void *arg)
{
    struct bench *b = arg;
    struct probe p = {0};

    probe_start(&p, b, "/echo");
    http_cancel(p.call);             /* at once */
    for (int ms = 0; ms < 6; ms++) { /* at any time later */
        probe_start(&p, b, ms % 2 ? "/never" : "/watch");
        fiber_sleep_us(b->p->client, ms * MS);
        http_cancel(p.call);
        check_i64("no end", p.ends, 0);
        p = (struct probe){0};
    }
    for (int where = 1; where <= 2; where++) {
        p = (struct probe){.cancel_in = where};
        probe_start(&p, b, "/big");
        await(b, where == 1 ? p.heads : p.bytes > 0);
        fiber_sleep_us(b->p->client, 5 * MS);
        check_i64("head", p.heads, 1);
        check_true("data", (p.bytes > 0) == (where == 2));
        check_i64("no end", p.ends, 0);
    }
    await(b, b->open.n == 0);
    check_u64("no exchange is left", b->open.n, 0);
}

static void cancelling(void **state)
{
    (void)state;
    everywhere(cancelling_fiber);
}

/* From inside a callback of one call others are started and cancelled. */
static void chain_end(void *ctx, const struct err *e)
{
    struct probe *p = ctx;

    check_true("complete", e == NULL);
    if (++p->ends < 20) {
        struct http_request r = place_request(p->b->p, "GET", "/echo", "");
        struct http_events ev = {.ctx = p, .on_end = chain_end};
        struct probe gone = {0};

        (void)http_start(p->b->p->client, &r, &ev);
        probe_start(&gone, p->b, "/watch");
        http_cancel(gone.call);
        return;
    }
    fiber_wake(p->waiter);
}

static void chains_fiber(void *arg)
{
    struct bench *b = arg;
    struct probe p = {.b = b, .waiter = fiber_self()};
    struct http_request r = place_request(b->p, "GET", "/echo", "");
    struct http_events ev = {.ctx = &p, .on_end = chain_end};

    (void)http_start(b->p->client, &r, &ev);
    fiber_park();
    check_i64("all of them", p.ends, 20);
    fiber_sleep_us(b->p->client, 20 * MS);
}

static void calls_from_callbacks(void **state)
{
    (void)state;
    everywhere(chains_fiber);
}

struct crowd {
    struct bench *b;
    struct fiber *waiter;
    uint32_t left, failed;
};

static void one_of_many(void *arg)
{
    struct crowd *c = arg;
    AUTO(arena) struct arena *a = arena_new(0);
    struct http_response got;
    struct err e = {0};
    struct http_request r = place_request(c->b->p, "GET", "/later", "");

    if (!http_fetch(c->b->p->client, &r, a, &got, &e) || !str_is(got.body, "late"))
        c->failed++;
    if (--c->left == 0)
        fiber_wake(c->waiter);
}

static void crowd_fiber(void *arg)
{
    struct bench *b = arg;
    struct crowd c = {.b = b, .waiter = fiber_self(), .left = b->p->kind == PLACE_TLS ? 100 : 1000};

    for (uint32_t i = c.left; i > 0; i--)
        fiber_go(b->p->client, "caller", one_of_many, &c);
    fiber_park();
    check_u64("nobody failed", c.failed, 0);
}

static void a_thousand_calls_at_once(void **state)
{
    (void)state;
    everywhere(crowd_fiber);
}

/* ---- the end of a world ---- */

struct survivor {
    struct bench *b;
    const char *path;
    bool done;
};

static void until_death(void *arg)
{
    struct survivor *s = arg;
    AUTO(arena) struct arena *a = arena_new(0);
    struct world *w = s->b->p->client;
    int rounds = 0;

    while (!world_dead(w)) {
        struct http_request r = place_request(s->b->p, "GET", s->path, "");
        struct http_response got;
        struct err e = {0};

        if (!http_fetch(w, &r, a, &got, &e))
            check_i64("how a call ends", e.kind, ERR_IO);
        check_true("no spinning", ++rounds < 100000);
    }
    uint32_t served = s->b->n_served;
    struct http_request r = place_request(s->b->p, "GET", "/echo", "");
    struct http_response got;
    struct err e = {0};

    check_true("a dead world makes no calls", !http_fetch(w, &r, a, &got, &e));
    check_i64("it says why", e.kind, ERR_IO);
    check_u64("nothing was sent", s->b->n_served, served);
    fiber_sleep_us(w, 3600 * 1000 * MS);
    s->done = true;
}

static void death_fiber(void *arg)
{
    struct bench *b = arg;

    fiber_sleep_us(b->p->client, 30 * MS); /* then the test ends with all of it under way */
}

static void death_under_way(void **state)
{
    static const char *const paths[] = {"/echo", "/later", "/lines", "/watch", "/never", "/big", "/drop"};

    (void)state;
    for (int kind = 0; kind < PLACE_KINDS; kind++) {
        struct bench *b = bench_new((enum place_kind)kind);
        struct survivor s[ARRAY_LEN(paths)];

        if (b->p->sim) /* or the fiber that only makes calls would never let the clock move */
            sim_set_faults(b->p->sim, "https://server", &(struct sim_faults){.delay_us = {100, 900}});
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            s[i] = (struct survivor){b, paths[i], false};
            fiber_go(b->p->client, "survivor", until_death, &s[i]);
        }
        place_run(b->p, death_fiber, b);
        bench_free(b);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++)
            check_true(paths[i], s[i].done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_arrive),
        cmocka_unit_test(replies_arrive),
        cmocka_unit_test(calls_fail),
        cmocka_unit_test(bad_headers_are_not_sent),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(large_bodies),
        cmocka_unit_test(watching),
        cmocka_unit_test(readers_leave),
        cmocka_unit_test(streams_break),
        cmocka_unit_test(slow_readers),
        cmocka_unit_test(leaving_in_the_middle),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(calls_from_callbacks),
        cmocka_unit_test(a_thousand_calls_at_once),
        cmocka_unit_test(death_under_way),
    };

    return cmocka_run_group_tests_name("net/http", tests, NULL, NULL);
}
