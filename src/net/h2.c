/* Calls that share connections: HTTP/2 with servers that speak it, which an API server does. Its watches and calls are streams of one
 * connection, so that forty writes at once are forty frames and not forty handshakes.
 *
 * It is ours and not libcurl's because watches stand still and calls fail with libcurl 7.88 when they share a connection, and because it
 * takes less CPU (docs/design/001-network-libraries.md).
 *
 * A server says how many calls it takes on a connection; for more there is another one. Waiting for others to end would not do: a lease
 * that is not renewed in time is lost, however many events are to be written.
 *
 * Whether a server speaks HTTP/2 is known when a connection is there; calls wait for it. With one that does not they go to libcurl,
 * now and later. So do calls through a proxy, and those that are not https. h2_start() and cutting a wire only make notes; an event of
 * the loop carries them out.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/h2_int.h"

#define CONNECT_US (30 * 1000000ll)
#define MAX_TRIES 3u    /* of a call that servers refuse to look at */
#define MAX_ORIGINS 16u /* that nobody uses and we remember */

static struct h2 *h2_of(const struct http_call *c)
{
    return loop_of(c->w)->h2;
}

static void work_soon(struct h2 *h2)
{
    world_soon(&h2->l->w, &h2->work);
}

/* ---- servers ---- */

void h2_origin_release(struct h2_origin *o)
{
    struct h2 *h2 = o->h2;
    uint32_t kept = 0;

    o->users--;
    if (o->users || (o->http1 && h2->origins.n <= MAX_ORIGINS))
        return;
    for (uint32_t i = 0; i < h2->origins.n; i++)
        if (h2->origins.v[i] != o)
            h2->origins.v[kept++] = h2->origins.v[i];
    h2->origins.n = kept;
    SSL_CTX_free(o->tls);
    vec_fini(&o->waiting);
    arena_free_wiped(o->arena);
    free(o);
}

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_printf(a, "%s", text).p : NULL;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_for(const struct h2_origin *o, str host, str port, const struct http_trust *t)
{
    const struct http_trust *have = &o->trust;

    return str_is(host, o->host) && str_is(port, o->port) && have->insecure == t->insecure &&
           same(have->server_name, t->server_name) && same(have->ca_pem, t->ca_pem) &&
           same(have->cert_pem, t->cert_pem) && same(have->key_pem, t->key_pem);
}

static struct h2_origin *origin_new(struct h2 *h2, str host, str port, const struct http_trust *t, struct err *e)
{
    SSL_CTX *tls = dial_tls(t, STR("\x02h2\x08http/1.1"), e);

    if (!tls)
        return NULL;
    struct h2_origin *o = xcalloc(1, sizeof(*o));

    *o = (struct h2_origin){.h2 = h2, .arena = arena_new(0), .tls = tls};
    o->host = arena_printf(o->arena, STR_FMT, STR_ARG(host)).p;
    o->port = arena_printf(o->arena, STR_FMT, STR_ARG(port)).p;
    o->trust = (struct http_trust){.ca_pem = copy(o->arena, t->ca_pem),
                                   .cert_pem = copy(o->arena, t->cert_pem),
                                   .key_pem = copy(o->arena, t->key_pem),
                                   .server_name = copy(o->arena, t->server_name),
                                   .insecure = t->insecure};
    vec_push(&h2->origins, o);
    return o;
}

static struct h2_origin *origin_get(struct h2 *h2, str host, str port, const struct http_trust *t, struct err *e)
{
    static const struct http_trust nothing_special;
    const struct http_trust *trust = t ? t : &nothing_special;

    for (uint32_t i = 0; i < h2->origins.n; i++)
        if (is_for(h2->origins.v[i], host, port, trust))
            return h2->origins.v[i];
    return origin_new(h2, host, port, trust, e);
}

/* ---- how calls end ---- */

static void forget(struct h2_stream **list, uint32_t n, const struct h2_stream *s)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == s)
            list[i] = NULL;
}

static void stream_free(struct h2_stream *s)
{
    struct h2_origin *o = s->origin;

    forget(o->h2->waking.v, o->h2->waking.n, s);
    forget(o->waiting.v, o->waiting.n, s);
    if (s->conn)
        h2_conn_cancel(s);
    answer_fini(&s->head);
    sb_fini(&s->held);
    arena_free_wiped(s->arena);
    free(s);
    h2_origin_release(o);
}

static void stream_end(struct h2_stream *s)
{
    struct http_call *c = s->call;
    struct err e = s->fate;

    if (!c)
        return; /* it is dying; its turn comes */
    if (s->too_long)
        (void)answer_too_long(&e);
    else if (!e.kind && !s->head.done)
        (void)err_set(&e, ERR_IO, "the server closed the connection without an answer");
    stream_free(s);
    c->wire = NULL;
    http_call_end(c, e.kind ? &e : NULL);
}

void h2_stream_over(struct h2_stream *s, const struct err *e)
{
    s->over = true;
    s->fate = *e;
    if (!s->paused || s->held.n == 0)
        stream_end(s);
}

void h2_stream_head(struct h2_stream *s)
{
    if (s->call)
        answer_complete(&s->head, s->call);
}

void h2_stream_data(struct h2_stream *s, str bytes)
{
    if (!s->call)
        return;
    if (s->paused)
        sb_str(&s->held, bytes);
    else
        http_call_data(s->call, bytes);
}

/* ---- how they begin ---- */

/* A body may have done its work although we never heard of it; what has none may be sent twice. */
bool h2_stream_may_repeat(const struct h2_stream *s)
{
    return s->call && !s->head.done && !http_method_has_body(s->request.method) && s->tries == 1;
}

void h2_stream_again(struct h2_stream *s)
{
    struct err e = {0};

    if (!s->call)
        return; /* it is dying */
    if (s->tries >= MAX_TRIES) {
        (void)err_set(&e, ERR_IO, "the server takes no calls");
        h2_stream_over(s, &e);
        return;
    }
    s->body_sent = 0;
    answer_begin(&s->head, 0);
    vec_push(&s->origin->h2->starting, s);
    work_soon(s->origin->h2);
}

/* libcurl takes the call over. */
void h2_stream_use_http1(struct h2_stream *s)
{
    struct http_call *c = s->call;
    struct err e = {0};

    if (!c)
        return;
    c->wire = NULL;
    bool ok = client_start(c, &s->request, &e);
    stream_free(s);
    if (!ok)
        http_call_end(c, &e);
    else if (c->paused)
        c->w->ops->call_pause(c, true);
}

static void on_dialed(void *ctx, SSL *ssl, int fd, const struct err *e);

static void place(struct h2_stream *s)
{
    struct h2_origin *o = s->origin;
    struct h2_conn *conn = h2_conn_with_room(o);
    struct err e = {0};

    if (o->http1) {
        h2_stream_use_http1(s);
    } else if (conn) {
        s->tries++;
        if (!h2_conn_submit(conn, s, &e))
            h2_stream_over(s, &e);
    } else {
        vec_push(&o->waiting, s);
        if (o->dial)
            return;
        o->users++;
        o->dial = dial_start(&o->h2->l->w, &(struct dial_options){.tls = o->tls,
                                                                  .host = o->host,
                                                                  .port = o->port,
                                                                  .server_name = o->trust.server_name,
                                                                  .timeout_us = CONNECT_US,
                                                                  .done = on_dialed,
                                                                  .ctx = o});
    }
}

static bool speaks_h2(const SSL *ssl)
{
    const unsigned char *name;
    unsigned n;

    SSL_get0_alpn_selected(ssl, &name, &n);
    return n == 2 && memcmp(name, "h2", 2) == 0;
}

/* Those who waited go on, or hear why not. */
static void on_dialed(void *ctx, SSL *ssl, int fd, const struct err *e)
{
    struct h2_origin *o = ctx;
    struct h2 *h2 = o->h2;
    uint32_t n = o->waiting.n, kept = 0;

    o->dial = NULL;
    if (ssl && speaks_h2(ssl)) {
        o->users++;
        (void)h2_conn_new(o, ssl, fd);
    } else if (ssl) {
        o->http1 = true;
        SSL_free(ssl);
        (void)close(fd);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct h2_stream *s = o->waiting.v[i];

        o->waiting.v[i] = NULL;
        if (s && e && !h2_conn_with_room(o)) /* another connection may have room by now */
            h2_stream_over(s, e);
        else if (s)
            place(s); /* which may put it at the end of the list again: there is more than a connection takes */
    }
    for (uint32_t i = n; i < o->waiting.n; i++)
        o->waiting.v[kept++] = o->waiting.v[i];
    o->waiting.n = kept;
    h2_conn_flush_all(h2);
    h2_origin_release(o);
}

/* ---- notes, carried out ---- */

static void hand_over_held(struct h2_stream *s)
{
    struct sb held = s->held;

    if (s->paused || !s->call)
        return;
    s->held = (struct sb){0};
    if (s->conn && held.n)
        h2_conn_taken(s, held.n);
    if (held.n)
        http_call_data(s->call, sb_view(&held));
    sb_fini(&held);
    if (s->over && s->held.n == 0)
        stream_end(s);
}

static void on_work(void *ctx)
{
    struct h2 *h2 = ctx;

    for (uint32_t i = 0; i < h2->waking.n; i++)
        if (h2->waking.v[i])
            hand_over_held(h2->waking.v[i]);
    h2->waking.n = 0;
    while (h2->dying.n)
        stream_free(h2->dying.v[--h2->dying.n]);
    for (uint32_t i = 0; i < h2->starting.n; i++)
        if (h2->starting.v[i])
            place(h2->starting.v[i]);
    h2->starting.n = 0;
    h2_conn_flush_all(h2);
}

/* ---- the world's operations ---- */

static void h2_cut(struct http_call *c)
{
    struct h2_stream *s = c->wire;

    s->call = NULL;
    forget(s->origin->h2->starting.v, s->origin->h2->starting.n, s);
    vec_push(&s->origin->h2->dying, s);
    work_soon(s->origin->h2);
}

static void h2_pause(struct http_call *c, bool on)
{
    struct h2_stream *s = c->wire;

    s->paused = on;
    if (on)
        return;
    vec_push(&s->origin->h2->waking, s);
    work_soon(s->origin->h2);
}

/* "host", "port" and the rest of a url that can be asked for over HTTP/2. */
static bool take_apart(str url, str *ret_authority, str *ret_host, str *ret_port, str *ret_path)
{
    str rest = str_sub(url, strlen("https://"), url.n);
    size_t n = 0, colon = SIZE_MAX;

    if (!str_starts(url, STR("https://")))
        return false;
    while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '?') {
        if (rest.p[n] == '@')
            return false; /* a user and a password: libcurl knows what to do */
        if (rest.p[n] == ':')
            colon = n;
        else if (rest.p[n] == ']')
            colon = SIZE_MAX;
        n++;
    }
    str authority = str_sub(rest, 0, n), host = str_sub(rest, 0, MIN(n, colon));
    if (str_starts(host, STR("[")))
        host = str_sub(host, 1, host.n - MIN(host.n, 2));
    *ret_authority = authority;
    *ret_host = host;
    *ret_port = colon == SIZE_MAX || colon + 1 == n ? STR("443") : str_sub(authority, colon + 1, n);
    *ret_path = str_sub(rest, n, rest.n);
    return host.n > 0;
}

static void copy_request(struct h2_stream *s, const struct http_request *r, str authority, str path)
{
    struct arena *a = s->arena;
    struct http_header *h = arena_new_array(a, struct http_header, r->n_headers);
    str host = http_header_get(r->headers, r->n_headers, "Host");

    for (uint32_t i = 0; i < r->n_headers; i++)
        h[i] = (struct http_header){arena_strdup(a, r->headers[i].name), arena_strdup(a, r->headers[i].value)};
    s->request = *r;
    s->request.method = copy(a, r->method ? r->method : "GET");
    s->request.url = arena_strdup(a, r->url);
    s->request.headers = h;
    s->request.body = arena_strdup(a, r->body);
    s->authority = arena_strdup(a, host.n ? host : authority);
    s->path = str_starts(path, STR("/")) ? arena_strdup(a, path) : arena_printf(a, "/" STR_FMT, STR_ARG(path));
}

static const struct wire_ops h2_wire = {.cut = h2_cut, .pause = h2_pause};

bool h2_start(struct http_call *c, const struct http_request *r, struct err *e)
{
    struct h2 *h2 = h2_of(c);
    str authority, host, port, path;

    if ((r->trust && r->trust->proxy) || !take_apart(r->url, &authority, &host, &port, &path))
        return client_start(c, r, e);
    struct h2_origin *o = origin_get(h2, host, port, r->trust, e);
    if (!o)
        return false;
    if (o->http1)
        return client_start(c, r, e);
    struct h2_stream *s = xcalloc(1, sizeof(*s));

    *s = (struct h2_stream){.ops = &h2_wire, .call = c, .origin = o, .arena = arena_new(0)};
    copy_request(s, r, authority, path);
    o->users++;
    c->wire = s;
    vec_push(&h2->starting, s);
    work_soon(h2);
    return true;
}

struct h2 *h2_new(struct loop *l)
{
    struct h2 *h2 = xcalloc(1, sizeof(*h2));

    h2->l = l;
    h2->work = (struct timer){.fn = on_work, .ctx = h2};
    return h2;
}

void h2_free(struct h2 *h2)
{
    on_work(h2); /* what is dying */
    timer_stop(&h2->l->w, &h2->work);
    while (h2->conns)
        h2_conn_free(h2->conns);
    while (h2->origins.n) {
        struct h2_origin *o = h2->origins.v[0];

        dial_cancel(o->dial);
        o->users = 1;
        o->http1 = false;
        h2_origin_release(o);
    }
    vec_fini(&h2->starting);
    vec_fini(&h2->dying);
    vec_fini(&h2->waking);
    vec_fini(&h2->origins);
    free(h2);
}
