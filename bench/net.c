/* How fast the two worlds are:
 *
 *   bench-net [N]      N calls of each kind (100,000)
 *
 * For sockets, a thread with 32 connections sends small GETs, one at a time on each, and reads the answers. What is reported
 * is the server thread's own time, so that a busy machine matters little. Simulated: calls from 100 fibers, and timers.
 */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "net/fiber.h"
#include "net/loop.h"
#include "sim/world.h"

#define CONNECTIONS 32
#define FIBERS 100

static double cpu_s(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void report(const char *what, uint32_t n, double seconds)
{
    (void)printf("%-34s %9u in %6.3f s of CPU: %9.0f/s\n", what, n, seconds, n / seconds);
}

static void serve(void *server, struct exchange *x)
{
    (void)server;
    reply_all(x, 200, "application/json", STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}"));
}

/* ---- sockets ---- */

struct load {
    struct world *w;
    uint16_t port;
    SSL_CTX *tls; /* NULL: plain */
    uint32_t n;
};

static void load_done(void *ctx)
{
    world_quit(((struct load *)ctx)->w);
}

static void one_round(const int *fd, SSL **ssl)
{
    static const char request[] = "GET /api/v1/namespaces/default HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n";
    char answer[4096];

    for (int i = 0; i < CONNECTIONS; i++) {
        long n = ssl[i] ? SSL_write(ssl[i], request, sizeof(request) - 1) : write(fd[i], request, sizeof(request) - 1);

        assert(n == (long)sizeof(request) - 1);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        long n = ssl[i] ? SSL_read(ssl[i], answer, sizeof(answer)) : read(fd[i], answer, sizeof(answer));

        assert(n > 0); /* head and body come in one piece */
    }
}

static void *load_thread(void *arg)
{
    struct load *l = arg;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(l->port)};
    int fd[CONNECTIONS];
    SSL *ssl[CONNECTIONS] = {0};

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < CONNECTIONS; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (fd[i] < 0 || connect(fd[i], (struct sockaddr *)&a, sizeof(a)) != 0)
            abort();
        if (l->tls) {
            ssl[i] = SSL_new(l->tls);
            if (SSL_set_fd(ssl[i], fd[i]) != 1 || SSL_connect(ssl[i]) != 1)
                abort();
        }
    }
    for (uint32_t done = 0; done < l->n; done += CONNECTIONS)
        one_round(fd, ssl);
    for (int i = 0; i < CONNECTIONS; i++) {
        SSL_free(ssl[i]);
        (void)close(fd[i]);
    }
    loop_post(l->w, load_done, l);
    return NULL;
}

static void bench_sockets(uint32_t n, bool tls)
{
    static const char *const names[] = {"localhost"};
    AUTO(arena) struct arena *a = arena_new(0);
    struct load l = {.w = loop_new(), .n = n};
    struct httpd_options o = {0};
    struct err e = {0};
    pthread_t thread;

    if (tls && !tls_self_signed(a, names, 1, world_now_ms(l.w), &o.cert_pem, &o.key_pem, &e))
        abort();
    struct httpd *d = httpd_listen(l.w, &o, serve, NULL, &e);
    if (!d)
        abort();
    l.port = httpd_port(d);
    l.tls = tls ? SSL_CTX_new(TLS_client_method()) : NULL;
    double from = cpu_s();
    if (pthread_create(&thread, NULL, load_thread, &l) != 0)
        abort();
    world_run(l.w);
    report(tls ? "requests served, TLS" : "requests served", n, cpu_s() - from);
    (void)pthread_join(thread, NULL);
    SSL_CTX_free(l.tls);
    loop_free(l.w);
}

/* ---- calls ---- */

struct caller {
    struct world *w;
    str url;
    uint32_t n, *left;
};

static void call_often(void *arg)
{
    struct caller *c = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    for (uint32_t i = 0; i < c->n; i++) {
        struct http_request r = {.url = c->url, .timeout_us = 30000000};
        struct http_response got;
        struct err e = {0};

        if (!http_fetch(c->w, &r, a, &got, &e))
            abort();
        arena_reset(a);
    }
    if (--*c->left == 0)
        world_quit(c->w);
}

static void run_callers(struct world *w, str url, uint32_t n, const char *what)
{
    uint32_t left = FIBERS;
    struct caller c = {w, url, n / FIBERS, &left};

    for (int i = 0; i < FIBERS; i++)
        fiber_go(w, "caller", call_often, &c);
    double from = cpu_s();
    world_run(w);
    report(what, n, cpu_s() - from);
}

static void bench_client(uint32_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct world *w = loop_new();
    struct err e = {0};
    struct httpd *d = httpd_listen(w, &(struct httpd_options){0}, serve, NULL, &e);

    if (!d)
        abort();
    run_callers(w, arena_printf(a, "http://127.0.0.1:%u/", httpd_port(d)), n, "calls made and served in one loop");
    loop_free(w);
}

static void bench_sim(uint32_t n)
{
    struct sim *s = sim_new(1, 0);
    struct world *server = sim_process(s, "server"), *client = sim_process(s, "client");

    sim_mount(s, "https://kube", server, serve, NULL);
    sim_set_faults(s, "https://kube", &(struct sim_faults){.delay_us = {500, 2000}});
    run_callers(client, STR("https://kube/api/v1/namespaces/default"), n, "simulated calls");
    sim_free(s);
}

struct clocked {
    struct world *w;
    struct timer t;
    uint32_t left;
};

static void tick(void *ctx)
{
    struct clocked *c = ctx;

    if (--c->left)
        timer_set(c->w, &c->t, (int64_t)(world_random(c->w) % 1000000));
}

static void bench_timers(uint32_t n)
{
    struct sim *s = sim_new(1, 0);
    struct world *w = sim_process(s, "p");
    struct clocked *c = xcalloc(1000, sizeof(*c));

    for (uint32_t i = 0; i < 1000; i++) {
        c[i] = (struct clocked){.w = w, .t = {.fn = tick, .ctx = &c[i]}, .left = n / 1000};
        timer_set(w, &c[i].t, i);
    }
    double from = cpu_s();
    world_run(w);
    report("simulated timers, 1,000 at a time", n, cpu_s() - from);
    sim_free(s);
    free(c);
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;

    bench_sockets(n, /* tls= */ false);
    bench_sockets(n, /* tls= */ true);
    bench_client(n);
    bench_sim(n * 10);
    bench_timers(n * 10);
    return 0;
}
