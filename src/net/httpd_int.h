/* httpd_int - what the two halves of the server side on sockets share: httpd.c has the daemon, httpd_exchange.c what happens on its
 * connections.
 */
#pragma once

#include "net/loop_int.h"
#include "net/mhd.h"

struct httpd {
    struct loop *l;
    const struct mhd *api;
    struct MHD_Daemon *mhd;
    int epoll; /* libmicrohttpd's */
    uint16_t port;
    http_serve_fn serve;
    void *server;
    size_t max_head, max_body;
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

/* What the daemon calls. */
void *exchange_begins(void *httpd, const char *uri, struct MHD_Connection *conn);
enum MHD_Result exchange_goes_on(void *httpd, struct MHD_Connection *conn, const char *url, const char *method,
                                 const char *version, const char *upload, size_t *upload_n, void **hx);
void exchange_is_over(void *httpd, struct MHD_Connection *conn, void **hx, enum MHD_RequestTerminationCode why);

void exchange_resume(struct hx *h); /* a suspended one */
void exchange_destroy(struct hx *h);
