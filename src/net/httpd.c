/* The server side on sockets: libmicrohttpd, driven by our loop through the epoll descriptor it keeps. Here is how it listens,
 * when it runs and how it ends; what happens on its connections is in httpd_exchange.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/httpd_int.h"

#define DEFAULT_MAX_BODY ((size_t)16 << 20)
#define DEFAULT_CONNECTIONS 1000u
#define DEFAULT_IDLE_US (60 * 1000000ll)
#define BUFFERS (16u << 10) /* of a connection, besides the head of the request: head of the reply, a chunk of it */

/* At its limit libmicrohttpd stops to accept, and begins again only the next time it runs after somebody has left. */
static bool was_full_and_has_room(struct httpd *d)
{
    bool was_full = d->full;

    d->full =
        d->api->get_daemon_info(d->mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections >= d->max_connections;
    return was_full && !d->full;
}

static void run(struct httpd *d)
{
    MHD_UNSIGNED_LONG_LONG ms;

    d->inside = true;
    d->again = false;
    (void)d->api->run(d->mhd);
    d->inside = false;
    if (was_full_and_has_room(d) || d->again)
        world_soon(&d->l->w, &d->timer);
    else if (d->api->get_timeout(d->mhd, &ms) == MHD_YES)
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
    int on = 1, off = 0;

    if (!parse_address(text, port, &addr, &n, e))
        return -1;
    int fd = socket(addr.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && addr.any.sa_family == AF_INET6) /* whatever the system's default is */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
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

    return d->api->start_daemon(flags, 0, NULL, NULL, exchange_goes_on, d, MHD_OPTION_LISTEN_SOCKET, fd,
                                MHD_OPTION_NOTIFY_COMPLETED, exchange_is_over, d, MHD_OPTION_URI_LOG_CALLBACK,
                                exchange_begins, d, MHD_OPTION_CONNECTION_LIMIT, d->max_connections,
                                MHD_OPTION_CONNECTION_TIMEOUT, d->idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                d->max_head + BUFFERS, MHD_OPTION_ARRAY, o->cert_pem ? tls : &tls[2], MHD_OPTION_END);
}

struct httpd *httpd_listen(struct world *w, const struct httpd_options *o, http_serve_fn serve, void *server,
                           struct err *e)
{
    int64_t idle_us = o->idle_timeout_us > 0 ? o->idle_timeout_us : DEFAULT_IDLE_US;
    uint16_t port;

    assert(!o->cert_pem == !o->key_pem && o->max_head <= HTTP_MAX_HEAD && !w->dead);
    const struct mhd *api = mhd_get(/* with_tls= */ o->cert_pem, e);
    int fd = api ? listen_on(o->address ? o->address : "127.0.0.1", o->port, &port, e) : -1;
    if (fd < 0)
        return NULL;
    struct httpd *d = xcalloc(1, sizeof(*d));

    d->l = loop_of(w);
    d->api = api;
    d->port = port;
    d->serve = serve;
    d->server = server;
    d->max_connections = o->max_connections ? o->max_connections : DEFAULT_CONNECTIONS;
    d->max_head = o->max_head ? o->max_head : HTTP_MAX_HEAD;
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
    d->epoll = d->api->get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
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
        exchange_destroy(h);
    }
    for (struct hx *h = d->idle, *next; h; h = next) {
        next = h->next;
        exchange_destroy(h);
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
            exchange_resume(h);
    }
    (void)d->api->run(d->mhd);
    stop_events(d);
    d->api->stop_daemon(d->mhd); /* ends every exchange */
    d->closed = true;
    if (!d->open)
        httpd_destroy(d);
}
