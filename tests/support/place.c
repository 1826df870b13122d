#include "support/place.h"

#include <stdlib.h>

#include "support/check.h"

static void make_certificate(struct place *p, struct httpd_options *o)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "::1"};
    struct err e = {0};

    check_ok("certificate", tls_self_signed(p->arena, names, 3, world_now_ms(p->client), &o->cert_pem, &o->key_pem, &e),
             &e);
    p->trust.ca_pem = o->cert_pem;
}

static uint16_t listen_on_loop(struct place *p, struct httpd_options *o, http_serve_fn serve, void *server)
{
    struct err e = {0};

    if (p->kind != PLACE_LOOP)
        make_certificate(p, o);
    if (p->kind == PLACE_H2) {
        struct h2_server_options h2 = {.cert_pem = o->cert_pem, .key_pem = o->key_pem};

        p->h2 = h2_server_listen(p->server, &h2, serve, server, &e);
        check_ok("listen", p->h2 != NULL, &e);
        return h2_server_port(p->h2);
    }
    p->httpd = httpd_listen(p->server, o, serve, server, &e);
    check_ok("listen", p->httpd != NULL, &e);
    return httpd_port(p->httpd);
}

struct place *place_new(enum place_kind kind, const struct httpd_options *o, http_serve_fn serve, void *server)
{
    static const char *const names[] = {
        [PLACE_SIM] = "simulated", [PLACE_LOOP] = "loop", [PLACE_TLS] = "loop with TLS", [PLACE_H2] = "HTTP/2"};
    struct place *p = xcalloc(1, sizeof(*p));
    struct httpd_options options = o ? *o : (struct httpd_options){0};

    p->kind = kind;
    p->name = names[kind];
    p->arena = arena_new(0);
    if (kind == PLACE_SIM) {
        p->sim = sim_new(1, 1700000000000);
        p->client = sim_process(p->sim, "client");
        p->server = sim_process(p->sim, "server");
        p->base = STR("https://server");
        sim_mount(p->sim, "https://server", p->server, serve, server);
        return p;
    }
    p->client = p->server = loop_new();
    uint16_t port = listen_on_loop(p, &options, serve, server);
    p->base = arena_printf(p->arena, "%s://127.0.0.1:%u", kind == PLACE_LOOP ? "http" : "https", port);
    return p;
}

void place_free(struct place *p)
{
    h2_server_close(p->h2);
    if (p->sim)
        sim_free(p->sim);
    else
        loop_free(p->client);
    h2_server_free(p->h2);
    arena_free(p->arena);
    free(p);
}

struct job {
    struct place *p;
    void (*fn)(void *arg);
    void *arg;
};

static void run_job(void *arg)
{
    struct job *j = arg;

    j->fn(j->arg);
    world_quit(j->p->client);
}

void place_run(struct place *p, void (*fn)(void *arg), void *arg)
{
    struct job j = {p, fn, arg};

    fiber_go(p->client, "test", run_job, &j);
    world_run(p->client);
}

struct http_request place_request(struct place *p, const char *method, const char *path, const char *body)
{
    return (struct http_request){
        .method = method,
        .url = arena_printf(p->arena, STR_FMT "%s", STR_ARG(p->base), path),
        .body = str_c(body),
        .trust = &p->trust,
        .shared = p->kind == PLACE_H2,
    };
}
