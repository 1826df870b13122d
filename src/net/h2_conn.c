/* One connection of HTTP/2: nghttp2 makes frames of requests and answers of frames, OpenSSL carries them.
 *
 * nghttp2 must not be left from inside its callbacks in another state than it expects, and from our callbacks people start and cancel
 * calls; as everywhere in net/ that only makes notes. A connection is freed by the functions that the loop calls, never by
 * what nghttp2 calls.
 *
 * Back-pressure is per stream: the connection's window opens again as soon as bytes are here, a stream's only when somebody has
 * taken them. So a reader that stands still holds up nobody else, and at most WINDOW bytes of its own.
 *
 * A peer that is gone without a word would hold up every call, and with one connection for all there is no second one to notice.
 * So a connection that was silent for a while is asked for a sign of life.
 */
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/h2_int.h"

#define SECOND_US 1000000ll
#define WINDOW (1 << 20)       /* bytes on the way of a stream */
#define CONN_WINDOW (16 << 20) /* … of all */
#define RECORD 16384           /* the most that TLS takes at once */
#define FIRST_STREAMS 100u     /* before the peer has said how many it takes */
#define QUIET_US (30 * SECOND_US)
#define PING_US (15 * SECOND_US) /* for the answer to it */
#define IDLE_US (90 * SECOND_US) /* without calls */

struct h2_conn {
    struct h2_origin *origin;
    struct h2_conn *prev, *next;
    SSL *ssl;
    int fd;
    nghttp2_session *session;
    struct h2_stream *streams;
    uint32_t n_streams, max_streams; /* that there are; that the peer allows */
    struct timer clock;
    int64_t heard_us, used_us; /* the peer was last heard; there was last a call */
    bool pinged;
    bool retired; /* the peer takes no new calls */
    uint32_t events;
    struct sb out; /* that the socket has not taken yet: from out_sent on */
    size_t out_sent;
};

static struct world *world_of(const struct h2_conn *c)
{
    return &c->origin->h2->l->w;
}

/* ---- its end ---- */

void h2_conn_free(struct h2_conn *c)
{
    struct h2_origin *o = c->origin;

    assert(!c->streams);
    *(c->prev ? &c->prev->next : &o->h2->conns) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    timer_stop(world_of(c), &c->clock);
    loop_fd(world_of(c), c->fd, 0, NULL, NULL);
    nghttp2_session_del(c->session);
    (void)SSL_shutdown(c->ssl);
    ERR_clear_error();
    SSL_free(c->ssl);
    (void)close(c->fd);
    sb_fini(&c->out);
    free(c);
    h2_origin_release(o);
}

static void detach(struct h2_stream *s)
{
    struct h2_conn *c = s->conn;

    *(s->prev ? &s->prev->next : &c->streams) = s->next;
    if (s->next)
        s->next->prev = s->prev;
    s->prev = s->next = NULL;
    s->conn = NULL;
    c->n_streams--;
    c->used_us = world_mono_us(world_of(c));
}

/* All of its calls end with it, but for those that may be sent again. */
static void conn_broke(struct h2_conn *c, const struct err *e)
{
    c->retired = true;
    while (c->streams) {
        struct h2_stream *s = c->streams;

        detach(s);
        if (h2_stream_may_repeat(s))
            h2_stream_again(s);
        else
            h2_stream_over(s, e);
    }
    h2_conn_free(c);
}

static void conn_lost(struct h2_conn *c, const char *why)
{
    struct err e = {0};

    (void)err_set(&e, ERR_IO, "lost the connection to %s port %s: %s", c->origin->host, c->origin->port, why);
    conn_broke(c, &e);
}

/* ---- what nghttp2 calls ---- */

static struct h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *conn)
{
    struct h2_stream *s = stream_of(session, f->hd.stream_id);
    str n = {(const char *)name, name_n}, v = {(const char *)value, value_n};
    int64_t status;

    (void)flags;
    (void)conn;
    if (!s || s->head.done) /* trailers */
        return 0;
    if (str_is(n, ":status")) {
        answer_begin(&s->head, str_to_i64(v, &status) ? (int)status : 0);
        return 0;
    }
    s->too_long = !answer_add(&s->head, n, v);
    return s->too_long ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n, void *conn)
{
    struct h2_stream *s = stream_of(session, id);

    (void)flags;
    (void)conn;
    (void)nghttp2_session_consume_connection(session, n);
    if (!s)
        return 0;
    if (!s->paused)
        (void)nghttp2_session_consume_stream(session, id, n);
    h2_stream_data(s, (str){(const char *)p, n});
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *conn)
{
    struct h2_conn *c = conn;

    if (f->hd.type == NGHTTP2_GOAWAY)
        c->retired = true;
    if (f->hd.type == NGHTTP2_SETTINGS && !(f->hd.flags & NGHTTP2_FLAG_ACK))
        c->max_streams = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    if (f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA)
        return 0;
    struct h2_stream *s = stream_of(session, f->hd.stream_id);
    if (!s)
        return 0;
    if (f->hd.type == NGHTTP2_HEADERS && !s->head.done && s->head.status >= 200)
        h2_stream_head(s);
    if (f->hd.flags & NGHTTP2_FLAG_END_STREAM)
        s->complete = true;
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *conn)
{
    struct h2_stream *s = stream_of(session, id);
    struct err e = {0};

    (void)conn;
    if (!s)
        return 0;
    detach(s);
    if (!s->complete && code == NGHTTP2_REFUSED_STREAM)
        h2_stream_again(s);
    else if (!s->complete && code == NGHTTP2_HTTP_1_1_REQUIRED)
        h2_stream_use_http1(s);
    else if (s->complete)
        h2_stream_over(s, &e);
    else {
        (void)err_set(&e, ERR_IO, "the server broke the call off: %s", nghttp2_http2_strerror(code));
        h2_stream_over(s, &e);
    }
    return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *buf, size_t max, uint32_t *flags,
                         nghttp2_data_source *source, void *conn)
{
    struct h2_stream *s = stream_of(session, id); /* NULL: it was cancelled before all was sent */
    size_t part = s ? MIN(max, s->request.body.n - s->body_sent) : 0;

    (void)source;
    (void)conn;
    if (!s)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    memcpy(buf, s->request.body.p + s->body_sent, part);
    s->body_sent += part;
    if (s->body_sent == s->request.body.n)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)part;
}

/* ---- bytes in and out ---- */

static bool would_block(struct h2_conn *c, int result)
{
    int why = SSL_get_error(c->ssl, result);

    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

/* Once, or as long as OpenSSL has something already: what is still in the socket makes the loop call again. NULL, or why it is
 * over. */
static const char *take_in(struct h2_conn *c)
{
    uint8_t buf[RECORD];
    int n;

    do {
        n = SSL_read(c->ssl, buf, sizeof(buf));
        if (n <= 0)
            return would_block(c, n) ? NULL : "the server closed it";
        c->heard_us = world_mono_us(world_of(c));
        c->pinged = false;
        ssize_t took = nghttp2_session_mem_recv(c->session, buf, (size_t)n);
        if (took < 0)
            return nghttp2_strerror((int)took);
    } while (SSL_has_pending(c->ssl));
    return NULL;
}

/* Frames are gathered into records: forty calls at once are a few system calls. */
static const char *send_out(struct h2_conn *c)
{
    for (;;) {
        const uint8_t *p;
        ssize_t n = 0;

        while (c->out.n - c->out_sent < RECORD && (n = nghttp2_session_mem_send(c->session, &p)) > 0)
            sb_bytes(&c->out, p, (size_t)n);
        if (n < 0)
            return nghttp2_strerror((int)n);
        if (c->out.n == c->out_sent)
            return nghttp2_session_want_read(c->session) ? NULL : "it is used up";
        int sent = SSL_write(c->ssl, c->out.p + c->out_sent, (int)MIN(c->out.n - c->out_sent, RECORD));
        if (sent <= 0)
            return would_block(c, sent) ? NULL : "the server closed it";
        c->out_sent += (size_t)sent;
        if (c->out_sent == c->out.n) {
            sb_reset(&c->out);
            c->out_sent = 0;
        }
    }
}

static void on_socket(void *ctx, int fd, uint32_t events);

/* Sends what there is to send. The connection may be no more afterwards. */
static void flush(struct h2_conn *c)
{
    const char *why = send_out(c);

    if (why) {
        conn_lost(c, why);
        return;
    }
    if (c->retired && !c->streams && c->out.n == 0) {
        h2_conn_free(c);
        return;
    }
    uint32_t events = EPOLLIN | (c->out.n ? EPOLLOUT : 0u);
    if (events != c->events)
        loop_fd(world_of(c), c->fd, events, on_socket, c);
    c->events = events;
}

static void on_socket(void *ctx, int fd, uint32_t events)
{
    struct h2_conn *c = ctx;

    (void)fd;
    if (events & ~(uint32_t)EPOLLOUT) {
        const char *why = take_in(c);

        if (why) {
            conn_lost(c, why);
            return;
        }
    }
    flush(c);
}

void h2_conn_flush_all(struct h2 *h2)
{
    for (struct h2_conn *c = h2->conns, *next; c; c = next) {
        next = c->next;
        flush(c);
    }
}

static void on_clock(void *ctx)
{
    struct h2_conn *c = ctx;
    int64_t now = world_mono_us(world_of(c)), quiet = now - c->heard_us;

    if (!c->streams && now - c->used_us >= IDLE_US) {
        h2_conn_free(c);
        return;
    }
    if (c->pinged) {
        struct err e = {0};

        (void)err_set(&e, ERR_TIMEOUT, "no sign of life from %s port %s", c->origin->host, c->origin->port);
        conn_broke(c, &e);
        return;
    }
    c->pinged = quiet >= QUIET_US;
    if (!c->pinged) {
        world_inner_timer(world_of(c), &c->clock, QUIET_US - quiet);
        return;
    }
    (void)nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL);
    world_inner_timer(world_of(c), &c->clock, PING_US);
    flush(c);
}

/* ---- calls ---- */

static nghttp2_nv pair(const char *name, str value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value.p, strlen(name), value.n,
                        NGHTTP2_NV_FLAG_NONE};
}

/* Headers that are about a connection, which is not the call's own. */
static bool is_of_connection(str name)
{
    static const char *const names[] = {"connection",        "host", "keep-alive", "proxy-connection",
                                        "transfer-encoding", "te",   "upgrade",    "content-length"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static const char *lower(struct arena *a, str s)
{
    char *p = (char *)(uintptr_t)arena_printf(a, STR_FMT, STR_ARG(s)).p;

    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] + ('a' - 'A'));
    return p;
}

/* The oldest, so that others may be closed when they are not needed any more. */
struct h2_conn *h2_conn_with_room(const struct h2_origin *o)
{
    struct h2_conn *found = NULL;

    for (struct h2_conn *c = o->h2->conns; c; c = c->next)
        if (c->origin == o && !c->retired && c->n_streams < c->max_streams)
            found = c;
    return found;
}

bool h2_conn_submit(struct h2_conn *c, struct h2_stream *s, struct err *e)
{
    const struct http_request *r = &s->request;
    bool has_body = http_method_has_body(r->method) && (r->body.n || strcmp(r->method, "DELETE") != 0);
    nghttp2_data_provider body = {.read_callback = read_body};
    VEC(nghttp2_nv) head = {0};

    vec_push(&head, pair(":method", str_c(r->method)));
    vec_push(&head, pair(":scheme", STR("https")));
    vec_push(&head, pair(":authority", s->authority));
    vec_push(&head, pair(":path", s->path));
    for (uint32_t i = 0; i < r->n_headers; i++) {
        const char *name = lower(s->arena, r->headers[i].name);

        if (!is_of_connection(str_c(name)))
            vec_push(&head, pair(name, r->headers[i].value));
    }
    if (has_body)
        vec_push(&head, pair("content-length", arena_printf(s->arena, "%zu", r->body.n)));
    s->id = nghttp2_submit_request(c->session, NULL, head.v, head.n, has_body && r->body.n ? &body : NULL, s);
    vec_fini(&head);
    if (s->id < 0)
        return err_set(e, ERR_IO, "cannot send the request: %s", nghttp2_strerror(s->id));
    s->conn = c;
    s->next = c->streams;
    if (s->next)
        s->next->prev = s;
    c->streams = s;
    c->n_streams++;
    return true;
}

void h2_conn_cancel(struct h2_stream *s)
{
    struct h2_conn *c = s->conn;

    (void)nghttp2_session_set_stream_user_data(c->session, s->id, NULL);
    (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    detach(s);
}

void h2_conn_taken(struct h2_stream *s, size_t n)
{
    (void)nghttp2_session_consume_stream(s->conn->session, s->id, n);
}

/* ---- its beginning ---- */

static nghttp2_session *session_new(struct h2_conn *c)
{
    const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                               {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
                                               {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP_MAX_HEAD}};
    nghttp2_session_callbacks *cb;
    nghttp2_option *option;
    nghttp2_session *session;

    if (nghttp2_session_callbacks_new(&cb) != 0 || nghttp2_option_new(&option) != 0)
        abort();
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    nghttp2_option_set_no_auto_window_update(option, 1);
    if (nghttp2_session_client_new2(&session, cb, c, option) != 0)
        abort();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(cb);
    (void)nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, ARRAY_LEN(settings));
    (void)nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW);
    return session;
}

struct h2_conn *h2_conn_new(struct h2_origin *o, SSL *ssl, int fd)
{
    struct h2_conn *c = xcalloc(1, sizeof(*c));

    *c = (struct h2_conn){.origin = o, .next = o->h2->conns, .ssl = ssl, .fd = fd, .max_streams = FIRST_STREAMS};
    if (c->next)
        c->next->prev = c;
    o->h2->conns = c;
    c->session = session_new(c);
    c->heard_us = c->used_us = world_mono_us(world_of(c));
    c->clock = (struct timer){.fn = on_clock, .ctx = c};
    world_inner_timer(world_of(c), &c->clock, QUIET_US);
    c->events = EPOLLIN;
    loop_fd(world_of(c), fd, EPOLLIN, on_socket, c);
    return c;
}
