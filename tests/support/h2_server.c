/* nghttp2 makes frames of replies and requests of frames; OpenSSL carries them. A connection reads all there is, lets nghttp2 call
 * us back, and then sends all that nghttp2 wants to send. Replies that change while nothing comes in are sent in an event of the
 * connection's own (`kick`), because reply_*() may be called from anywhere.
 */
#include "support/h2_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/world_int.h"

#define SLACK 16u
#define RECORD 16384

/* One stream. */
struct h2x {
    struct served s;
    struct h2_server *h2;
    struct h2_peer *conn; /* NULL: it is closed */
    int32_t id;
    struct h2x *prev, *next;
    VEC(struct http_header) headers;
    struct sb body;
    bool answered;
};

struct h2_peer {
    struct h2_server *h2;
    struct h2_peer *next;
    int fd;
    SSL *ssl;
    nghttp2_session *session;
    struct timer kick;
    struct sb out; /* not taken by the socket yet */
    size_t out_sent;
    bool shaken;
};

struct h2_server {
    struct world *w;
    http_serve_fn serve;
    void *server;
    SSL_CTX *tls;
    uint32_t max_streams, n_connections;
    int fd;
    uint16_t port;
    struct h2_peer *conns;
    struct h2x *open; /* exchanges, newest first */
};

static struct h2x *h2x_of(struct served *s)
{
    return (struct h2x *)((char *)s - offsetof(struct h2x, s));
}

/* ---- exchanges ---- */

static void h2x_free(struct h2x *x)
{
    *(x->prev ? &x->prev->next : &x->h2->open) = x->next;
    if (x->next)
        x->next->prev = x->prev;
    sb_fini(&x->body);
    vec_fini(&x->headers);
    vec_fini(&x->s.out.list);
    arena_free(x->s.x.arena);
    free(x);
}

static void on_changed(struct served *s)
{
    struct h2x *x = h2x_of(s);

    if (x->conn && !timer_is_set(&x->conn->kick))
        world_soon(x->h2->w, &x->conn->kick);
}

static void on_release(struct served *s)
{
    h2x_free(h2x_of(s));
}

static struct h2x *h2x_new(struct h2_peer *c, int32_t id)
{
    static const struct served_ops ops = {.changed = on_changed, .release = on_release};
    struct h2x *x = xcalloc(1, sizeof(*x));

    *x = (struct h2x){.h2 = c->h2, .conn = c, .id = id, .next = c->h2->open};
    x->s = (struct served){.x.arena = arena_new(0), .w = c->h2->w, .ops = &ops};
    if (x->next)
        x->next->prev = x;
    return c->h2->open = x;
}

static void stream_is_over(struct h2x *x)
{
    x->conn = NULL;
    if (!x->s.x.method)
        x->s.aborted = true; /* the server never heard of it */
    served_over(&x->s);
}

/* ---- replies ---- */

static ssize_t read_pieces(nghttp2_session *session, int32_t id, uint8_t *buf, size_t max, uint32_t *flags,
                           nghttp2_data_source *source, void *conn)
{
    struct h2x *x = source->ptr;
    struct pieces *p = &x->s.out;
    size_t n = 0;

    (void)session;
    (void)id;
    (void)conn;
    while (n < max && p->bytes) {
        str first = p->list.v[p->from].bytes;
        size_t part = MIN(first.n, max - n);

        memcpy(buf + n, first.p, part);
        n += part;
        pieces_take(p, part);
    }
    if (x->s.ended && p->bytes == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (n == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)n;
}

static nghttp2_nv pair(str name, str value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name.p, (uint8_t *)(uintptr_t)value.p, name.n, value.n,
                        NGHTTP2_NV_FLAG_NONE};
}

static str lower(struct arena *a, str s)
{
    char *p = (char *)(uintptr_t)arena_strdup(a, s).p;

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + ('a' - 'A') : p[i]);
    return (str){p, s.n};
}

static void answer(struct h2x *x)
{
    struct arena *a = x->s.x.arena;
    nghttp2_nv *head = arena_new_array(a, nghttp2_nv, x->s.n_headers + 1);
    nghttp2_data_provider body = {.source.ptr = x, .read_callback = read_pieces};

    head[0] = pair(STR(":status"), arena_printf(a, "%d", x->s.status));
    for (uint32_t i = 0; i < x->s.n_headers; i++)
        head[i + 1] = pair(lower(a, x->s.headers[i].name), x->s.headers[i].value);
    (void)nghttp2_submit_response(x->conn->session, x->id, head, x->s.n_headers + 1, &body);
    x->answered = true;
}

static void say_news(struct h2x *x)
{
    if (x->s.aborted)
        (void)nghttp2_submit_rst_stream(x->conn->session, NGHTTP2_FLAG_NONE, x->id, NGHTTP2_INTERNAL_ERROR);
    else if (x->s.begun && !x->answered)
        answer(x);
    else if (x->answered)
        (void)nghttp2_session_resume_data(x->conn->session, x->id);
}

/* ---- requests ---- */

static struct h2x *stream(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

static int on_begin(nghttp2_session *session, const nghttp2_frame *f, void *conn)
{
    if (f->hd.type == NGHTTP2_HEADERS && f->headers.cat == NGHTTP2_HCAT_REQUEST)
        (void)nghttp2_session_set_stream_user_data(session, f->hd.stream_id, h2x_new(conn, f->hd.stream_id));
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *f, const uint8_t *name, size_t name_n,
                     const uint8_t *value, size_t value_n, uint8_t flags, void *conn)
{
    struct h2x *x = stream(session, f->hd.stream_id);
    struct arena *a = x->s.x.arena;
    str n = arena_strdup(a, (str){(const char *)name, name_n}),
        v = arena_strdup(a, (str){(const char *)value, value_n});

    (void)flags;
    (void)conn;
    if (str_is(n, ":method"))
        x->s.x.method = arena_printf(a, STR_FMT, STR_ARG(v)).p;
    else if (str_is(n, ":path"))
        (void)str_cut(v, '?', &x->s.x.path, &x->s.x.query);
    else if (!str_starts(n, STR(":")))
        vec_push(&x->headers, (struct http_header){n, v});
    return 0;
}

static int on_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n, void *conn)
{
    struct h2x *x = stream(session, id);

    (void)flags;
    (void)conn;
    if (x)
        sb_bytes(&x->body, p, n);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *f, void *conn)
{
    struct h2x *x;

    (void)conn;
    if ((f->hd.type != NGHTTP2_HEADERS && f->hd.type != NGHTTP2_DATA) || !(f->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
        !(x = stream(session, f->hd.stream_id)))
        return 0;
    sb_fill(&x->body, '\0', SLACK);
    x->s.x.body = (str){x->body.p, x->body.n - SLACK};
    x->s.x.headers = x->headers.v;
    x->s.x.n_headers = x->headers.n;
    x->h2->serve(x->h2->server, &x->s.x);
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *conn)
{
    struct h2x *x = stream(session, id);

    (void)code;
    (void)conn;
    if (x)
        stream_is_over(x);
    return 0;
}

/* ---- connections ---- */

static void conn_free(struct h2_peer *c)
{
    struct h2_server *h2 = c->h2;

    for (struct h2_peer **at = &h2->conns; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    for (struct h2x *x = h2->open, *next; x; x = next) {
        next = x->next;
        if (x->conn == c)
            stream_is_over(x);
    }
    timer_stop(h2->w, &c->kick);
    loop_fd(h2->w, c->fd, 0, NULL, NULL);
    nghttp2_session_del(c->session);
    SSL_free(c->ssl);
    (void)close(c->fd);
    sb_fini(&c->out);
    free(c);
}

static bool would_block(struct h2_peer *c, int result)
{
    int why = SSL_get_error(c->ssl, result);

    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static bool take_in(struct h2_peer *c)
{
    uint8_t buf[RECORD];
    int n;

    while ((n = SSL_read(c->ssl, buf, sizeof(buf))) > 0)
        if (nghttp2_session_mem_recv(c->session, buf, (size_t)n) < 0)
            return false;
    return would_block(c, n);
}

/* Frames are gathered, so that a record has many of them. */
static bool send_out(struct h2_peer *c)
{
    for (;;) {
        const uint8_t *p;
        ssize_t n = 0;

        while (c->out.n - c->out_sent < RECORD && (n = nghttp2_session_mem_send(c->session, &p)) > 0)
            sb_bytes(&c->out, p, (size_t)n);
        if (n < 0)
            return false;
        if (c->out.n == c->out_sent)
            return nghttp2_session_want_read(c->session) || nghttp2_session_want_write(c->session);
        int sent = SSL_write(c->ssl, c->out.p + c->out_sent, (int)MIN(c->out.n - c->out_sent, RECORD));
        if (sent <= 0)
            return would_block(c, sent);
        c->out_sent += (size_t)sent;
        if (c->out_sent == c->out.n) {
            sb_reset(&c->out);
            c->out_sent = 0;
        }
    }
}

static void on_conn(void *ctx, int fd, uint32_t events)
{
    struct h2_peer *c = ctx;

    (void)events;
    if (!c->shaken) {
        int r = SSL_accept(c->ssl);

        if (r <= 0) {
            if (!would_block(c, r))
                conn_free(c);
            return;
        }
        c->shaken = true;
    }
    if (!take_in(c) || !send_out(c)) {
        conn_free(c);
        return;
    }
    loop_fd(c->h2->w, fd, EPOLLIN | (c->out.n ? EPOLLOUT : 0u), on_conn, c);
}

static void on_kick(void *ctx)
{
    struct h2_peer *c = ctx;

    for (struct h2x *x = c->h2->open; x; x = x->next)
        if (x->conn == c)
            say_news(x);
    on_conn(c, c->fd, 0);
}

static nghttp2_session *session_new(struct h2_peer *c)
{
    nghttp2_session_callbacks *cb;
    nghttp2_session *session = NULL;
    nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, c->h2->max_streams};

    (void)nghttp2_session_callbacks_new(&cb);
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_stream_close);
    (void)nghttp2_session_server_new(&session, cb, c);
    nghttp2_session_callbacks_del(cb);
    (void)nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &settings, 1);
    return session;
}

static void on_accept(void *ctx, int fd, uint32_t events)
{
    struct h2_server *h2 = ctx;
    int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    if (peer < 0)
        return;
    struct h2_peer *c = xcalloc(1, sizeof(*c));
    *c = (struct h2_peer){.h2 = h2, .next = h2->conns, .fd = peer, .ssl = SSL_new(h2->tls)};
    c->kick = (struct timer){.fn = on_kick, .ctx = c};
    c->session = session_new(c);
    (void)SSL_set_fd(c->ssl, peer);
    SSL_set_mode(c->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    h2->conns = c;
    h2->n_connections++;
    loop_fd(h2->w, peer, EPOLLIN, on_conn, c);
}

/* ---- the server ---- */

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *out_n, const unsigned char *in, unsigned in_n,
                     void *arg)
{
    (void)ssl;
    (void)arg;
    return nghttp2_select_next_protocol((unsigned char **)(uintptr_t)out, out_n, in, in_n) == 1
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool make_tls(struct h2_server *h2, const struct h2_server_options *o)
{
    BIO *cert_bio = BIO_new_mem_buf(o->cert_pem, -1), *key_bio = BIO_new_mem_buf(o->key_pem, -1);
    X509 *cert = PEM_read_bio_X509(cert_bio, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);

    h2->tls = SSL_CTX_new(TLS_server_method());
    bool ok = SSL_CTX_use_certificate(h2->tls, cert) == 1 && SSL_CTX_use_PrivateKey(h2->tls, key) == 1;
    SSL_CTX_set_alpn_select_cb(h2->tls, choose_h2, NULL);
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    return ok;
}

struct h2_server *h2_server_listen(struct world *w, const struct h2_server_options *o, http_serve_fn serve,
                                   void *server, struct err *e)
{
    struct h2_server *h2 = xcalloc(1, sizeof(*h2));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);

    *h2 = (struct h2_server){.w = w, .serve = serve, .server = server, .max_streams = 100};
    h2->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (h2->fd < 0 || bind(h2->fd, (struct sockaddr *)&at, n) != 0 || listen(h2->fd, 64) != 0 ||
        getsockname(h2->fd, (struct sockaddr *)&at, &n) != 0 || !make_tls(h2, o)) {
        (void)err_set(e, ERR_IO, "cannot listen");
        h2_server_close(h2);
        h2_server_free(h2);
        return NULL;
    }
    h2->port = ntohs(at.sin_port);
    loop_fd(w, h2->fd, EPOLLIN, on_accept, h2);
    return h2;
}

void h2_server_limit(struct h2_server *s, uint32_t max_streams)
{
    s->max_streams = max_streams;
}

uint16_t h2_server_port(const struct h2_server *s)
{
    return s->port;
}

uint32_t h2_server_connections(const struct h2_server *s)
{
    return s->n_connections;
}

void h2_server_drop(struct h2_server *s)
{
    while (s->conns)
        conn_free(s->conns);
}

void h2_server_retire(struct h2_server *s)
{
    for (struct h2_peer *c = s->conns; c; c = c->next) {
        (void)nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(c->session),
                                    NGHTTP2_NO_ERROR, NULL, 0);
        if (!timer_is_set(&c->kick))
            world_soon(s->w, &c->kick);
    }
}

void h2_server_close(struct h2_server *s)
{
    if (!s)
        return;
    h2_server_drop(s);
    if (s->fd >= 0) {
        loop_fd(s->w, s->fd, 0, NULL, NULL);
        (void)close(s->fd);
        s->fd = -1;
    }
}

void h2_server_free(struct h2_server *s)
{
    if (!s)
        return;
    while (s->open)
        h2x_free(s->open);
    SSL_CTX_free(s->tls);
    free(s);
}
