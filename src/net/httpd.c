/* The server side on sockets: libmicrohttpd, driven by our loop through the epoll descriptor it keeps.
 *
 * A connection whose exchange waits for the server is suspended: libmicrohttpd does not look at it. The server's reply
 * resumes it in an event of its own, so that a reply that is begun and ended in one go is sent with its length. Otherwise
 * it is sent in chunks, and the connection is suspended whenever the queue of pieces is empty. While it is suspended we watch
 * the socket ourselves for a peer that leaves, which libmicrohttpd would only notice by writing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/loop_int.h"

#define DEFAULT_MAX_BODY ((size_t)16 << 20)
#define DEFAULT_CONNECTIONS 1000u
#define DEFAULT_IDLE_US (60 * 1000000ll)
#define CONNECTION_MEMORY (HTTP_MAX_HEAD + (32u << 10)) /* head of the request, head of the reply, buffers */
#define CHUNK 32768u
#define LARGE_REPLY 65536u /* may take longer than it takes to hand it to the kernel */
#define IDLE_EXCHANGES 64u
#define SLACK 16u

struct httpd {
    struct loop *l;
    struct MHD_Daemon *mhd;
    int epoll; /* libmicrohttpd's */
    uint16_t port;
    http_serve_fn serve;
    void *server;
    size_t max_body;
    unsigned max_connections;
    unsigned idle_s;
    struct timer timer;   /* libmicrohttpd wants to run */
    struct timer closing; /* httpd_close() was called from inside */
    bool inside;          /* libmicrohttpd is running */
    bool again;           /* it has something to do, whatever it says */
    bool full;            /* as many connections as there may be */
    bool stopping;        /* httpd_close() has begun */
    bool closed;          /* … and ended: only exchanges are left whose servers have not finished */
    struct hx *open;      /* exchanges, newest first */
    struct hx *idle;      /* to be used again, with their arenas */
    uint32_t n_idle;
};

/* One exchange on a connection. */
struct hx {
    struct served s;
    struct httpd *d;
    struct MHD_Connection *conn; /* NULL: libmicrohttpd is through with it */
    struct hx *prev, *next;
    struct arena *arena;
    struct sb body;
    size_t skipped; /* of a body that is too long */
    struct timer kick;
    int fd;
    bool has_head, handed_over, answered;
    bool suspended, watched;
    bool left;    /* the peer; libmicrohttpd has yet to notice */
    bool untimed; /* the connection's idle timeout is off */
};

static struct hx *hx_of(struct served *s)
{
    return (struct hx *)((char *)s - offsetof(struct hx, s));
}

/* ---- exchanges ---- */

static void hx_destroy(struct hx *h)
{
    sb_fini(&h->body);
    vec_fini(&h->s.out.list);
    arena_free(h->arena);
    free(h);
}

static void hx_release(struct served *s)
{
    struct hx *h = hx_of(s);
    struct httpd *d = h->d;

    *(h->prev ? &h->prev->next : &d->open) = h->next;
    if (h->next)
        h->next->prev = h->prev;
    timer_stop(&d->l->w, &h->kick);
    if (d->n_idle >= IDLE_EXCHANGES || d->closed) {
        hx_destroy(h);
    } else {
        sb_fini(&h->body);
        arena_reset(h->arena);
        h->next = d->idle;
        d->idle = h;
        d->n_idle++;
    }
    if (d->closed && !d->open)
        httpd_destroy(d);
}

static bool has_news(const struct hx *h)
{
    const struct served *s = &h->s;

    return s->aborted || s->ended || (s->begun && (!h->answered || s->out.bytes));
}

static bool is_broken(const struct hx *h)
{
    return h->s.aborted || h->left || h->s.w->dead;
}

static void resume(struct hx *h)
{
    h->suspended = false;
    MHD_resume_connection(h->conn);
    h->d->again = true; /* it does not wake up by itself in a loop that is not its own */
    if (!h->d->inside)
        world_soon(&h->d->l->w, &h->d->timer);
}

static void on_kick(void *ctx)
{
    struct hx *h = ctx;

    if (h->suspended && has_news(h))
        resume(h);
}

static void hx_changed(struct served *s)
{
    struct hx *h = hx_of(s);

    if (h->suspended && !timer_is_set(&h->kick))
        world_soon(s->w, &h->kick);
}

static void on_peer(void *ctx, int fd, uint32_t events)
{
    struct hx *h = ctx;

    (void)events;
    loop_fd(&h->d->l->w, fd, 0, NULL, NULL);
    h->watched = false;
    h->left = true;
    if (h->suspended)
        resume(h);
}

static void suspend(struct hx *h)
{
    MHD_suspend_connection(h->conn);
    h->suspended = true;
    if (h->watched)
        return;
    h->watched = true;
    loop_fd(&h->d->l->w, h->fd, EPOLLRDHUP, on_peer, h);
}

static const struct served_ops hx_ops = {.changed = hx_changed, .release = hx_release};

static struct hx *hx_new(struct httpd *d)
{
    struct hx *h = d->idle;

    if (h) {
        d->idle = h->next;
        d->n_idle--;
    } else {
        h = xcalloc(1, sizeof(*h));
        h->arena = arena_new(0);
    }
    struct pieces out = h->s.out; /* empty, with its memory */

    *h = (struct hx){.d = d, .arena = h->arena, .next = d->open, .kick = {.fn = on_kick, .ctx = h}};
    h->s = (struct served){.x.arena = h->arena, .w = &d->l->w, .ops = &hx_ops, .out = out};
    if (h->next)
        h->next->prev = h;
    d->open = h;
    return h;
}

/* ---- requests ---- */

/* libmicrohttpd shows the target before it takes it apart. What we return is the handler's *con_cls. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
    struct hx *h = hx_new(cls);
    str target = arena_strdup(h->arena, str_c(uri));

    h->conn = conn;
    if (str_starts(target, STR("http://")) || str_starts(target, STR("https://"))) { /* what a proxy is sent */
        const char *slash = memchr(target.p + 8, '/', target.n - MIN(target.n, 8));

        target = slash ? str_sub(target, (size_t)(slash - target.p), target.n) : STR("/");
    }
    (void)str_cut(target, '?', &h->s.x.path, &h->s.x.query);
    return h;
}

struct head_copy {
    struct http_header *list;
    uint32_t n;
    size_t bytes;
};

static enum MHD_Result copy_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_n,
                                   const char *value, size_t value_n)
{
    struct head_copy *c = cls;

    (void)kind;
    if (c->list)
        c->list[c->n] = (struct http_header){{name, name_n}, {value, value_n}};
    c->n++;
    c->bytes += name_n + value_n + 4;
    return MHD_YES;
}

static enum MHD_Result answer_plainly(struct hx *h, unsigned status, const char *text)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

    if (!r)
        return MHD_NO;
    (void)MHD_add_response_header(r, "Content-Type", "text/plain");
    enum MHD_Result ok = MHD_queue_response(h->conn, status, r);
    MHD_destroy_response(r);
    h->s.ended = h->answered = true;
    return ok;
}

static enum MHD_Result too_large(struct hx *h)
{
    return answer_plainly(h, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n");
}

/* A body that is not much too long is read to its end, because many clients look at the answer only then. */
static bool is_hopeless(const struct hx *h, uint64_t length)
{
    return length / 4 > h->d->max_body;
}

static enum MHD_Result take_head(struct hx *h, const char *method)
{
    struct exchange *x = &h->s.x;
    struct head_copy c = {.bytes = x->path.n + x->query.n};
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(h->conn, MHD_CONNECTION_INFO_CONNECTION_FD);

    h->has_head = true;
    h->fd = info->connect_fd;
    x->method = method;
    (void)MHD_get_connection_values_n(h->conn, MHD_HEADER_KIND, copy_header, &c);
    if (c.bytes > HTTP_MAX_HEAD)
        return answer_plainly(h, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large\n");
    c.list = arena_new_array(h->arena, struct http_header, c.n);
    c.n = 0;
    (void)MHD_get_connection_values_n(h->conn, MHD_HEADER_KIND, copy_header, &c);
    x->headers = c.list;
    x->n_headers = c.n;

    int64_t length;
    if (str_to_i64(http_header_get(x->headers, x->n_headers, "Content-Length"), &length) && length > 0 &&
        is_hopeless(h, (uint64_t)length))
        return too_large(h);
    return MHD_YES;
}

static enum MHD_Result take_body(struct hx *h, str part)
{
    if (h->skipped || part.n > h->d->max_body - h->body.n) {
        h->skipped += part.n;
        return is_hopeless(h, h->body.n + h->skipped) ? MHD_NO : MHD_YES;
    }
    sb_str(&h->body, part);
    return MHD_YES;
}

static void hand_over(struct hx *h)
{
    h->handed_over = true;
    sb_fill(&h->body, '\0', SLACK);
    h->s.x.body = (str){h->body.p, h->body.n - SLACK};
    h->d->serve(h->d->server, &h->s.x);
}

/* ---- replies ---- */

static void add_headers(const struct hx *h, struct MHD_Response *r)
{
    struct sb name = {0}, value = {0};

    for (uint32_t i = 0; i < h->s.n_headers; i++) {
        sb_reset(&name);
        sb_reset(&value);
        sb_str(&name, h->s.headers[i].name);
        sb_str(&value, h->s.headers[i].value);
        if (strcasecmp(sb_cstr(&name), "Content-Length") == 0 || strcasecmp(sb_cstr(&name), "Transfer-Encoding") == 0)
            continue; /* ours to say */
        (void)MHD_add_response_header(r, sb_cstr(&name), sb_cstr(&value));
    }
    sb_fini(&name);
    sb_fini(&value);
}

static ssize_t read_pieces(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct hx *h = cls;
    struct pieces *p = &h->s.out;
    size_t n = 0;

    (void)pos;
    if (is_broken(h))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    while (n < max && p->bytes) {
        str first = p->list.v[p->from].bytes;
        size_t part = MIN(first.n, max - n);

        memcpy(buf + n, first.p, part);
        n += part;
        pieces_take(p, part);
    }
    if (n)
        return (ssize_t)n;
    if (h->s.ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    suspend(h);
    return 0;
}

/* All of it is there: no copy, and the length is known. */
static struct MHD_Response *whole_response(struct hx *h)
{
    const struct pieces *p = &h->s.out;
    uint32_t n = p->list.n - p->from;

    if (n <= 1) {
        str all = n ? p->list.v[p->from].bytes : STR("");

        return MHD_create_response_from_buffer(all.n, (void *)(uintptr_t)all.p, MHD_RESPMEM_PERSISTENT);
    }
    struct MHD_IoVec *iov = xmalloc(n * sizeof(*iov));

    for (uint32_t i = 0; i < n; i++)
        iov[i] = (struct MHD_IoVec){p->list.v[p->from + i].bytes.p, p->list.v[p->from + i].bytes.n};
    struct MHD_Response *r = MHD_create_response_from_iovec(iov, n, NULL, NULL);
    free(iov); /* libmicrohttpd has copied the list, not the bytes */
    return r;
}

static enum MHD_Result answer(struct hx *h)
{
    if (is_broken(h))
        return MHD_NO;
    if (!h->s.begun) {
        suspend(h);
        return MHD_YES;
    }
    struct MHD_Response *r = h->s.ended
                                 ? whole_response(h)
                                 : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CHUNK, read_pieces, h, NULL);

    if (!r)
        return MHD_NO;
    add_headers(h, r);
    h->untimed = !h->s.ended || h->s.out.bytes > LARGE_REPLY;
    if (h->untimed)
        (void)MHD_set_connection_option(h->conn, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    enum MHD_Result ok = MHD_queue_response(h->conn, (unsigned)h->s.status, r);
    MHD_destroy_response(r);
    h->answered = true;
    return ok;
}

/* Called with the head, with each part of the body, at its end, and again after each time it was suspended there. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_n, void **con_cls)
{
    struct hx *h = *con_cls;

    (void)cls;
    (void)conn;
    (void)url;
    (void)version;
    if (!h->has_head)
        return take_head(h, method);
    if (*upload_n) {
        str part = {upload, *upload_n};

        *upload_n = 0;
        return take_body(h, part);
    }
    if (h->skipped)
        return too_large(h);
    if (!h->handed_over)
        hand_over(h);
    return answer(h);
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls, enum MHD_RequestTerminationCode why)
{
    struct hx *h = *con_cls;

    (void)why;
    if (!h)
        return;
    *con_cls = NULL;
    if (h->watched)
        loop_fd(&h->d->l->w, h->fd, 0, NULL, NULL);
    if (h->untimed)
        (void)MHD_set_connection_option(conn, MHD_CONNECTION_OPTION_TIMEOUT, ((struct httpd *)cls)->idle_s);
    h->conn = NULL;
    h->suspended = h->watched = false;
    if (!h->handed_over) /* the server never heard of it */
        h->s.aborted = true;
    served_over(&h->s);
}

/* ---- the daemon ---- */

/* At its limit libmicrohttpd stops to accept, and begins again only the next time it runs after somebody has left. */
static bool was_full_and_has_room(struct httpd *d)
{
    bool was_full = d->full;

    d->full = MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections >= d->max_connections;
    return was_full && !d->full;
}

static void run(struct httpd *d)
{
    MHD_UNSIGNED_LONG_LONG ms;

    d->inside = true;
    d->again = false;
    (void)MHD_run(d->mhd);
    d->inside = false;
    if (was_full_and_has_room(d) || d->again)
        world_soon(&d->l->w, &d->timer);
    else if (MHD_get_timeout(d->mhd, &ms) == MHD_YES)
        world_inner_timer(&d->l->w, &d->timer, (int64_t)MIN(ms, 3600000u) * 1000);
    else
        timer_stop(&d->l->w, &d->timer);
}

static void on_timer(void *ctx)
{
    run(ctx);
}

static void on_ready(void *ctx, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    run(ctx);
}

static void on_closing(void *ctx)
{
    httpd_close(ctx);
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool parse_address(const char *text, uint16_t port, union address *ret, socklen_t *ret_n, struct err *e)
{
    *ret = (union address){0};
    if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons(port);
        *ret_n = sizeof(ret->v4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons(port);
        *ret_n = sizeof(ret->v6);
        return true;
    }
    return err_set(e, ERR_INVALID, "not an IP address to listen on: \"%.100s\"", text);
}

/* The socket; its port, if any would do, is in *ret_port. */
static int listen_on(const char *text, uint16_t port, uint16_t *ret_port, struct err *e)
{
    union address addr;
    socklen_t n;
    int on = 1;

    if (!parse_address(text, port, &addr, &n, e))
        return -1;
    int fd = socket(addr.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 || bind(fd, &addr.any, n) != 0 ||
        listen(fd, SOMAXCONN) != 0 || getsockname(fd, &addr.any, &n) != 0) {
        (void)err_set(e, ERR_IO, "listen on %s, port %u: %s", text, port, strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    *ret_port = ntohs(addr.any.sa_family == AF_INET ? addr.v4.sin_port : addr.v6.sin6_port);
    return fd;
}

static struct MHD_Daemon *daemon_start(struct httpd *d, const struct httpd_options *o, int fd)
{
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (o->cert_pem ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->cert_pem},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key_pem},
        {MHD_OPTION_END, 0, NULL},
    };

    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, d, MHD_OPTION_LISTEN_SOCKET, fd,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, d, MHD_OPTION_URI_LOG_CALLBACK, on_uri, d,
                            MHD_OPTION_CONNECTION_LIMIT, d->max_connections, MHD_OPTION_CONNECTION_TIMEOUT, d->idle_s,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_ARRAY,
                            o->cert_pem ? tls : &tls[2], MHD_OPTION_END);
}

struct httpd *httpd_listen(struct world *w, const struct httpd_options *o, http_serve_fn serve, void *server,
                           struct err *e)
{
    int64_t idle_us = o->idle_timeout_us > 0 ? o->idle_timeout_us : DEFAULT_IDLE_US;
    uint16_t port;

    assert(!o->cert_pem == !o->key_pem && !w->dead);
    int fd = listen_on(o->address ? o->address : "127.0.0.1", o->port, &port, e);
    if (fd < 0)
        return NULL;
    struct httpd *d = xcalloc(1, sizeof(*d));

    d->l = loop_of(w);
    d->port = port;
    d->serve = serve;
    d->server = server;
    d->max_connections = o->max_connections ? o->max_connections : DEFAULT_CONNECTIONS;
    d->max_body = o->max_body ? o->max_body : DEFAULT_MAX_BODY;
    d->idle_s = (unsigned)MIN(idle_us / 1000000 + (idle_us % 1000000 != 0), 86400);
    d->timer = (struct timer){.fn = on_timer, .ctx = d};
    d->closing = (struct timer){.fn = on_closing, .ctx = d};
    d->mhd = daemon_start(d, o, fd);
    if (!d->mhd) {
        (void)close(fd);
        free(d);
        (void)err_set(e, ERR_INVALID, "cannot serve: %s",
                      o->cert_pem ? "unusable certificate or key" : "libmicrohttpd refused to start");
        return NULL;
    }
    d->epoll = MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    loop_fd(w, d->epoll, EPOLLIN, on_ready, d);
    vec_push(&d->l->servers, d);
    return d;
}

uint16_t httpd_port(const struct httpd *d)
{
    return d->port;
}

static void stop_events(struct httpd *d)
{
    timer_stop(&d->l->w, &d->timer);
    timer_stop(&d->l->w, &d->closing);
    loop_fd(&d->l->w, d->epoll, 0, NULL, NULL);
}

void httpd_destroy(struct httpd *d)
{
    struct loop *l = d->l;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < l->servers.n; i++)
        if (l->servers.v[i] != d)
            l->servers.v[kept++] = l->servers.v[i];
    l->servers.n = kept;
    for (struct hx *h = d->open, *next; h; h = next) {
        next = h->next;
        hx_destroy(h);
    }
    for (struct hx *h = d->idle, *next; h; h = next) {
        next = h->next;
        hx_destroy(h);
    }
    free(d);
}

void httpd_close(struct httpd *d)
{
    if (!d || d->closed)
        return;
    if (d->inside) {
        world_soon(&d->l->w, &d->closing);
        return;
    }
    d->inside = true;                              /* whatever servers do now, it does not run once more */
    for (struct hx *h = d->open; h; h = h->next) { /* suspended connections may not be there when it stops */
        h->left = true;
        if (h->suspended)
            resume(h);
    }
    (void)MHD_run(d->mhd);
    stop_events(d);
    MHD_stop_daemon(d->mhd); /* ends every exchange */
    d->closed = true;
    if (!d->open)
        httpd_destroy(d);
}
