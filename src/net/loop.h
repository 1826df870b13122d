/* loop - the real world: epoll, a heap of timers, signals, libcurl for calls, libmicrohttpd for servers. */
#pragma once

#include "base/err.h"
#include "net/http.h"
#include "net/world.h"

/* Also lifts the limit on open files as far as the system allows. */
struct world *loop_new(void);
/* After world_run() has returned. The world dies, servers that listen are closed, and fibers unwind. */
void loop_free(struct world *w);
bool loop_is(const struct world *w); /* whether it is a real one */

/* A world of its own inside the loop: it shares clock, sockets and turns with it, and can die alone, as a process does. It has no
 * world_run(). What it was doing unwinds in the turns of the loop after its death; once nothing is left (loop_unwound()) what lived
 * in it may be freed, and then the world itself. */
struct world *loop_process(struct world *loop);
void loop_kill(struct world *process);
bool loop_unwound(const struct world *process);
void loop_unwind(struct world *process); /* lets it come to that here; not from inside world_run() */
void loop_reap(struct world *process);

/* Called from world_run() when one of the signals arrives. SIGPIPE is ignored from loop_new() on. */
void loop_on_signal(struct world *w, int signo, void (*fn)(void *ctx, int signo), void *ctx);

/* Watches a file descriptor. `events` is EPOLLIN, EPOLLOUT or both; 0 stops it. */
void loop_fd(struct world *w, int fd, uint32_t events, void (*fn)(void *ctx, int fd, uint32_t events), void *ctx);

/* From any thread: fn(ctx) runs on the loop. */
void loop_post(struct world *w, void (*fn)(void *ctx), void *ctx);

/* ---- serving sockets ---- */

struct httpd;

struct httpd_options {
    const char *address;            /* NULL: 127.0.0.1; "::": all, of IPv4 too */
    uint16_t port;                  /* 0: any free one */
    const char *cert_pem, *key_pem; /* both: TLS */
    size_t max_body;                /* 0: 16 MiB; a longer request gets 413 */
    size_t max_head;                /* 0: HTTP_MAX_HEAD, which is the most there can be; a longer one gets 431 */
    uint32_t max_connections;       /* 0: 1000 */
    int64_t idle_timeout_us; /* between requests and while one comes in; in whole seconds; 0: 60 s; replies have none */
};

struct httpd *httpd_listen(struct world *w, const struct httpd_options *o, http_serve_fn serve, void *server,
                           struct err *e);
uint16_t httpd_port(const struct httpd *d);
void httpd_close(struct httpd *d); /* breaks what is under way; fine from inside its http_serve_fn */

/* A key, and a certificate for it that is its own authority, for `names` (host names and addresses). For loopback servers. */
bool tls_self_signed(struct arena *a, const char *const *names, uint32_t n_names, int64_t now_ms,
                     const char **ret_cert_pem, const char **ret_key_pem, struct err *e);
