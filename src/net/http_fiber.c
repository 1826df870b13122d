/* Calls that read top to bottom: a fiber starts one and sleeps until its callbacks have brought what it waits for. */
#include <stdlib.h>

#include "base/arena.h"
#include "net/world_int.h"

#define SLACK 16u
#define STREAM_AHEAD ((size_t)1 << 20) /* what a stream holds for a reader that does not keep up */

struct http_stream {
    struct arena *arena; /* of the answer's head */
    struct http_response *head;
    struct http_call *call; /* NULL: it has ended */
    struct fiber *waiting;
    struct sb in, out; /* what has come, and what the reader has been handed */
    size_t max_body;   /* 0: unbounded, with back-pressure instead */
    bool has_head, failed;
    struct err err;
};

static void rouse(struct http_stream *s)
{
    struct fiber *f = s->waiting;

    s->waiting = NULL;
    if (f)
        fiber_unblock(f);
}

static void on_head(void *ctx, int status, const struct http_header *headers, uint32_t n)
{
    struct http_stream *s = ctx;
    struct http_header *copy = arena_new_array(s->arena, struct http_header, n);

    for (uint32_t i = 0; i < n; i++)
        copy[i] =
            (struct http_header){arena_strdup(s->arena, headers[i].name), arena_strdup(s->arena, headers[i].value)};
    *s->head = (struct http_response){.status = status, .headers = copy, .n_headers = n};
    s->has_head = true;
    if (!s->max_body)
        rouse(s);
}

static void on_data(void *ctx, str bytes)
{
    struct http_stream *s = ctx;

    if (s->max_body && bytes.n > s->max_body - s->in.n) {
        http_cancel(s->call);
        s->call = NULL;
        s->failed = true;
        (void)err_set(&s->err, ERR_INVALID, "the answer is longer than %zu bytes", s->max_body);
        rouse(s);
        return;
    }
    sb_str(&s->in, bytes);
    if (s->max_body)
        return;
    if (s->in.n >= STREAM_AHEAD)
        http_call_pause(s->call, true);
    rouse(s);
}

static void on_end(void *ctx, const struct err *e)
{
    struct http_stream *s = ctx;

    s->call = NULL;
    if (e) {
        s->failed = true;
        s->err = *e;
    }
    rouse(s);
}

static void await(struct http_stream *s)
{
    s->waiting = fiber_self();
    fiber_block();
}

static void stream_start(struct http_stream *s, struct world *w, const struct http_request *r)
{
    struct http_events ev = {.ctx = s, .on_head = on_head, .on_data = on_data, .on_end = on_end};

    assert(fiber_self());
    s->call = http_start(w, r, &ev);
}

/* Which call it was; a query may hold what nobody should read in a log. */
static bool call_failed(const struct http_request *r, const struct err *why, struct err *e)
{
    str url, query;

    (void)str_cut(r->url, '?', &url, &query);
    url = str_sub(url, 0, 200);
    *e = *why;
    return err_wrap(e, "%s " STR_FMT, r->method ? r->method : "GET", STR_ARG(url));
}

bool http_fetch(struct world *w, const struct http_request *r, struct arena *a, struct http_response *ret,
                struct err *e)
{
    struct http_response head = {0};
    struct http_stream s = {.arena = a, .head = &head, .max_body = r->max_body ? r->max_body : HTTP_MAX_BODY};

    stream_start(&s, w, r);
    while (s.call)
        await(&s);
    if (s.failed) {
        sb_fini(&s.in);
        return call_failed(r, &s.err, e);
    }
    char *body = arena_alloc(a, s.in.n + SLACK, 1);
    if (s.in.n)
        memcpy(body, s.in.p, s.in.n);
    head.body = (str){body, s.in.n};
    sb_fini(&s.in);
    *ret = head;
    return true;
}

struct http_stream *http_open(struct world *w, const struct http_request *r, struct arena *a,
                              struct http_response *ret_head, struct err *e)
{
    struct http_stream *s = xcalloc(1, sizeof(*s));

    s->arena = a;
    s->head = ret_head;
    stream_start(s, w, r);
    while (s->call && !s->has_head)
        await(s);
    if (s->has_head)
        return s;
    (void)call_failed(r, &s->err, e);
    http_close(s);
    return NULL;
}

bool http_read(struct http_stream *s, str *ret_bytes, struct err *e)
{
    while (s->call && s->in.n == 0)
        await(s);
    if (s->in.n == 0 && s->failed) {
        *e = s->err;
        return false;
    }
    struct sb taken = s->in;

    s->in = s->out;
    s->out = taken;
    sb_reset(&s->in);
    if (s->call)
        http_call_pause(s->call, false);
    *ret_bytes = sb_view(&s->out);
    return true;
}

void http_close(struct http_stream *s)
{
    if (!s)
        return;
    if (s->call)
        http_cancel(s->call);
    sb_fini(&s->in);
    sb_fini(&s->out);
    free(s);
}
