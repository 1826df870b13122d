/* What only a socket can show: bytes that are not quite HTTP, limits, TLS, proxies. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/vec.h"
#include "net/loop.h"
#include "support/check.h"
#include "support/place.h"

#define MS 1000ll
#define SECOND (1000 * MS)

struct site {
    struct place *p;
    VEC(struct exchange *) open;
    uint32_t n_served, n_over;
    bool close_inside;
};

static void over(struct exchange *x)
{
    struct site *s = x->ctx;
    uint32_t kept = 0;

    s->n_over++;
    for (uint32_t i = 0; i < s->open.n; i++)
        if (s->open.v[i] != x)
            s->open.v[kept++] = s->open.v[i];
    s->open.n = kept;
}

static void serve(void *server, struct exchange *x)
{
    struct site *s = server;

    s->n_served++;
    x->ctx = s;
    x->on_over = over;
    if (s->close_inside)
        httpd_close(s->p->httpd);
    if (str_is(x->path, "/never")) {
        vec_push(&s->open, x);
    } else if (str_is(x->path, "/stream")) {
        reply_begin(x, 200, NULL, 0);
        reply_data(x, STR("begin"));
        vec_push(&s->open, x);
    } else {
        struct sb out = {0};

        sb_printf(&out, "%s " STR_FMT " at " STR_FMT ": %zu bytes", x->method, STR_ARG(x->path),
                  STR_ARG(http_header_get(x->headers, x->n_headers, "Host")), x->body.n);
        reply_all(x, 200, "text/plain", sb_view(&out));
        sb_fini(&out);
    }
}

static struct site *site_new(enum place_kind kind, const struct httpd_options *o)
{
    struct site *s = calloc(1, sizeof(*s));

    s->p = place_new(kind, o, serve, s);
    return s;
}

static void site_free(struct site *s)
{
    place_free(s->p);
    check_u64("nobody is left", s->open.n, 0);
    check_u64("every exchange is over", s->n_over, s->n_served);
    vec_fini(&s->open);
    free(s);
}

/* ---- raw bytes, from a thread of its own ---- */

struct raw {
    struct site *s;
    const char *send;
    size_t n;
    bool leave; /* without waiting for an answer */
    char *got;
    size_t n_got;
};

static void raw_done(void *ctx)
{
    world_quit(((struct raw *)ctx)->s->p->client);
}

static void *raw_thread(void *arg)
{
    struct raw *r = arg;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(httpd_port(r->s->p->httpd))};
    struct timeval patience = {.tv_sec = 20};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ssize_t n;

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
        for (size_t at = 0; at < r->n && (n = send(fd, r->send + at, r->n - at, MSG_NOSIGNAL)) > 0;)
            at += (size_t)n;
        while (!r->leave && (n = recv(fd, r->got + r->n_got, 65536 - r->n_got, 0)) > 0)
            r->n_got += (size_t)n;
    }
    (void)close(fd);
    loop_post(r->s->p->client, raw_done, r);
    return NULL;
}

/* What comes back until the server closes the connection. */
static str raw_talk(struct site *s, str bytes, bool leave)
{
    struct raw r = {.s = s, .send = bytes.p, .n = bytes.n, .leave = leave, .got = arena_alloc(s->p->arena, 65536, 1)};
    pthread_t thread;

    check_i64("thread", pthread_create(&thread, NULL, raw_thread, &r), 0);
    world_run(s->p->client);
    (void)pthread_join(thread, NULL);
    return (str){r.got, r.n_got};
}

static uint32_t count_of(str s, const char *part)
{
    uint32_t n = 0;

    for (size_t i = 0; i + strlen(part) <= s.n; i++)
        n += memcmp(s.p + i, part, strlen(part)) == 0;
    return n;
}

static const struct {
    const char *name, *send, *want; /* what the answer holds */
    uint32_t n;                     /* … so many times */
} raw_cases[] = {
    {"one request", "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET /a at h: 0 bytes", 1},
    {"two on one connection",
     "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK", 2},
    {"HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", "GET /a at : 0 bytes", 1},
    {"as a proxy is asked", "GET http://h/a?b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET /a at h", 1},
    {"as a proxy is asked, for nothing", "GET http://h HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET / at h",
     1},
    {"a body in chunks",
     "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
     "POST /a at h: 5 bytes", 1},
    {"a client that waits for leave to send",
     "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab",
     "POST /a at h: 2 bytes", 1},
    {"not HTTP", "hello\r\n\r\n", "200", 0},
    {"a length that is no number", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: abc\r\n\r\n", " 200 ", 0},
    {"too long a body by its length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\n", "HTTP/1.1 413 ",
     1},
};

static void raw_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(raw_cases); i++) {
        struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.max_body = 1000});
        str got = raw_talk(s, str_c(raw_cases[i].send), /* leave= */ false);

        check_u64(raw_cases[i].name, count_of(got, raw_cases[i].want), raw_cases[i].n);
        site_free(s);
    }
}

/* Wherever the bytes stop, nothing is left behind. */
static void requests_that_stop_short(void **state)
{
    static const str whole = STR_INIT("POST /never HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n0123456789");
    struct site *s = site_new(PLACE_LOOP, NULL);

    (void)state;
    for (size_t n = 0; n <= whole.n; n += 3)
        (void)raw_talk(s, str_sub(whole, 0, n), /* leave= */ true);
    (void)raw_talk(s, whole, /* leave= */ true);
    site_free(s);
}

static void long_heads(void **state)
{
    struct site *s = site_new(PLACE_LOOP, NULL);
    struct sb b = {0};

    (void)state;
    sb_c(&b, "GET / HTTP/1.1\r\nConnection: close\r\nX: ");
    sb_fill(&b, 'x', 50000);
    sb_c(&b, "\r\n\r\n");
    check_u64("within the limit", count_of(raw_talk(s, sb_view(&b), false), " 200 "), 1);
    sb_reset(&b);
    sb_c(&b, "GET / HTTP/1.1\r\nConnection: close\r\nX: ");
    sb_fill(&b, 'x', 70000);
    sb_c(&b, "\r\n\r\n");
    check_u64("beyond it", count_of(raw_talk(s, sb_view(&b), false), " 200 "), 0);
    check_u64("the server saw one", s->n_served, 1);
    sb_fini(&b);
    site_free(s);
}

static void shorter_heads(void **state)
{
    struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.max_head = 2000});
    struct sb b = {0};

    (void)state;
    sb_c(&b, "GET / HTTP/1.1\r\nConnection: close\r\nX: ");
    sb_fill(&b, 'x', 1900);
    sb_c(&b, "\r\n\r\n");
    check_u64("within the limit", count_of(raw_talk(s, sb_view(&b), false), " 200 "), 1);
    sb_reset(&b);
    sb_c(&b, "GET / HTTP/1.1\r\nConnection: close\r\nX: ");
    sb_fill(&b, 'x', 2100);
    sb_c(&b, "\r\n\r\n");
    check_u64("beyond it", count_of(raw_talk(s, sb_view(&b), false), " 431 "), 1);
    check_u64("the server saw one", s->n_served, 1);
    sb_fini(&b);
    site_free(s);
}

static void long_bodies(void **state)
{
    struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.max_body = 1000});
    struct sb b = {0};

    (void)state;
    sb_c(&b, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n");
    sb_fill(&b, 'x', 1000);
    check_u64("just as long", count_of(raw_talk(s, sb_view(&b), false), ": 1000 bytes"), 1);
    sb_reset(&b);
    sb_c(&b, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1001\r\n\r\n");
    sb_fill(&b, 'x', 1001);
    check_u64("a byte too long", count_of(raw_talk(s, sb_view(&b), false), " 413 "), 1);
    sb_reset(&b);
    sb_c(&b, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5dc\r\n");
    sb_fill(&b, 'x', 1500);
    sb_c(&b, "\r\n0\r\n\r\n");
    check_u64("in chunks", count_of(raw_talk(s, sb_view(&b), false), " 413 "), 1);
    sb_reset(&b);
    sb_c(&b, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n");
    sb_fill(&b, 'x', 65536);
    check_u64("without end", count_of(raw_talk(s, sb_view(&b), false), " 200 "), 0);
    check_u64("the server saw one", s->n_served, 1);
    sb_fini(&b);
    site_free(s);
}

static void silent_peers_are_dropped(void **state)
{
    struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.idle_timeout_us = 1});

    (void)state;
    check_u64("no request", raw_talk(s, STR(""), false).n, 0); /* returns when the server closes */
    (void)raw_talk(s, STR("GET / HTTP/1.1\r\nHo"), false);
    check_u64("half a request", s->n_served, 0);
    check_u64("between requests", count_of(raw_talk(s, STR("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), false), " 200 "), 1);
    site_free(s);
}

/* ---- limits of time and number ---- */

static void patient_fiber(void *arg)
{
    struct site *s = arg;
    struct http_request r = place_request(s->p, "GET", "/stream", "");
    struct http_response head;
    struct err e = {0};
    str piece;
    struct http_stream *st = http_open(s->p->client, &r, s->p->arena, &head, &e);

    check_ok("open", st != NULL, &e);
    check_ok("read", http_read(st, &piece, &e), &e);
    fiber_sleep_us(s->p->client, 2500 * MS);
    reply_data(s->open.v[0], STR("end"));
    reply_end(s->open.v[0]);
    check_ok("a reply under way has no timeout", http_read(st, &piece, &e), &e);
    check_str("piece", piece, "end");
    http_close(st);
}

static void replies_may_take_their_time(void **state)
{
    struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.idle_timeout_us = SECOND});

    (void)state;
    place_run(s->p, patient_fiber, s);
    site_free(s);
}

static void crowded_fiber(void *arg)
{
    struct site *s = arg;
    struct http_request never = place_request(s->p, "GET", "/never", ""), r = place_request(s->p, "GET", "/", "");
    struct http_events ev = {0};
    struct http_call *held[2];
    struct http_response got;
    struct err e = {0};

    for (int i = 0; i < 2; i++)
        held[i] = http_start(s->p->client, &never, &ev);
    for (int i = 0; i < 10000 && s->open.n < 2; i++)
        fiber_sleep_us(s->p->client, MS);
    check_u64("both are in", s->open.n, 2);
    r.timeout_us = 50 * MS;
    check_true("no room for a third", !http_fetch(s->p->client, &r, s->p->arena, &got, &e));
    http_cancel(held[0]);
    http_cancel(held[1]);
    r.timeout_us = 10 * SECOND;
    check_ok("now there is", http_fetch(s->p->client, &r, s->p->arena, &got, &e), &e);
}

static void connections_are_counted(void **state)
{
    struct site *s = site_new(PLACE_LOOP, &(struct httpd_options){.max_connections = 2});

    (void)state;
    place_run(s->p, crowded_fiber, s);
    site_free(s);
}

/* ---- starting and stopping ---- */

static void listening_fails_with_words(void **state)
{
    struct world *w = loop_new();
    struct err e = {0};
    struct httpd *d = httpd_listen(w, &(struct httpd_options){0}, serve, NULL, &e);

    (void)state;
    check_ok("any port", d != NULL && httpd_port(d) != 0, &e);
    check_true("taken", !httpd_listen(w, &(struct httpd_options){.port = httpd_port(d)}, serve, NULL, &e));
    check_i64("kind", e.kind, ERR_IO);
    check_true("no address", !httpd_listen(w, &(struct httpd_options){.address = "localhost"}, serve, NULL, &e));
    check_i64("kind", e.kind, ERR_INVALID);
    check_true("no certificate",
               !httpd_listen(w, &(struct httpd_options){.cert_pem = "x", .key_pem = "y"}, serve, NULL, &e));
    check_i64("kind", e.kind, ERR_INVALID);
    struct httpd *six = httpd_listen(w, &(struct httpd_options){.address = "::1"}, serve, NULL, &e);
    check_ok("IPv6", six != NULL, &e);
    httpd_close(six);
    httpd_close(d);
    httpd_close(NULL);
    loop_free(w);
}

static bool reaches(const struct sockaddr *a, socklen_t n)
{
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = connect(fd, a, n) == 0;

    (void)close(fd);
    return ok;
}

/* Pods have an address of one family or the other. */
static void all_addresses(void **state)
{
    struct world *w = loop_new();
    struct err e = {0};
    struct httpd *d = httpd_listen(w, &(struct httpd_options){.address = "::"}, serve, NULL, &e);
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};

    (void)state;
    check_ok("all addresses", d != NULL, &e);
    v4.sin_port = v6.sin6_port = htons(httpd_port(d));
    check_true("by IPv4", reaches((struct sockaddr *)&v4, sizeof(v4)));
    check_true("by IPv6", reaches((struct sockaddr *)&v6, sizeof(v6)));
    httpd_close(d);
    loop_free(w);
}

static void close_fiber(void *arg)
{
    struct site *s = arg;
    struct http_request r = place_request(s->p, "GET", "/stream", "");
    struct http_response got;
    struct err e = {0};
    str piece;
    struct http_stream *st = http_open(s->p->client, &r, s->p->arena, &got, &e);

    check_ok("open", st != NULL, &e);
    check_ok("read", http_read(st, &piece, &e), &e);
    s->close_inside = true;
    r = place_request(s->p, "GET", "/", "");
    (void)http_fetch(s->p->client, &r, s->p->arena, &got, &e);
    check_true("the stream breaks", !http_read(st, &piece, &e));
    http_close(st);
    check_u64("all are over", s->n_over, 2);
    check_true("nobody listens", !http_fetch(s->p->client, &r, s->p->arena, &got, &e));
}

static void closing_from_inside(void **state)
{
    (void)state;
    for (int kind = PLACE_LOOP; kind <= PLACE_TLS; kind++) {
        struct site *s = site_new((enum place_kind)kind, NULL);

        place_run(s->p, close_fiber, s);
        site_free(s);
    }
}

/* ---- TLS ---- */

struct trust_case {
    struct site *s;
    const char *name;
    const char *host; /* of the url */
    struct http_trust trust;
    const char *want; /* NULL: fails */
    enum err_kind kind;
};

static void trust_fiber(void *arg)
{
    struct trust_case *c = arg;
    struct http_response got;
    struct err e = {0};
    struct http_request r = {.trust = &c->trust};
    unsigned port = httpd_port(c->s->p->httpd);

    r.url = arena_printf(c->s->p->arena, "https://%s:%u/", c->host, port);
    bool ok = http_fetch(c->s->p->client, &r, c->s->p->arena, &got, &e);
    if (!c->want) {
        check_true(c->name, !ok);
        check_i64(c->name, e.kind, c->kind);
        return;
    }
    check_ok(c->name, ok, &e);
    str want = arena_printf(c->s->p->arena, "GET / at %s:%u: 0 bytes", c->want, port);
    check_true(c->name, str_eq(got.body, want));
}

static void whom_to_trust(void **state)
{
    static const char *const names[] = {"127.0.0.1", "other.example"};
    struct site *s = site_new(PLACE_TLS, NULL);
    const char *own = s->p->trust.ca_pem, *cert, *key, *other_cert, *other_key;
    struct err e = {0};

    (void)state;
    check_ok("client certificate", tls_self_signed(s->p->arena, names, 2, world_now_ms(s->p->client), &cert, &key, &e),
             &e);
    check_ok("other authority",
             tls_self_signed(s->p->arena, names, 2, world_now_ms(s->p->client), &other_cert, &other_key, &e), &e);
    struct trust_case cases[] = {
        {s, "the address is in the certificate", "127.0.0.1", {.ca_pem = own}, "127.0.0.1", 0},
        {s, "so is the name", "localhost", {.ca_pem = own}, "localhost", 0},
        {s, "the system knows nothing of it", "127.0.0.1", {0}, NULL, ERR_IO},
        {s, "nor does another authority", "127.0.0.1", {.ca_pem = other_cert}, NULL, ERR_IO},
        {s, "not looked at", "127.0.0.1", {.insecure = true}, "127.0.0.1", 0},
        {s, "checked against another name", "127.0.0.1", {.ca_pem = own, .server_name = "localhost"}, "127.0.0.1", 0},
        {s, "checked against a wrong name", "127.0.0.1", {.ca_pem = own, .server_name = "wrong.example"}, NULL, ERR_IO},
        {s, "an authority that is none", "127.0.0.1", {.ca_pem = "nonsense"}, NULL, ERR_INVALID},
        {s,
         "with a certificate of our own",
         "127.0.0.1",
         {.ca_pem = own, .cert_pem = cert, .key_pem = key},
         "127.0.0.1",
         0},
        {s,
         "a key that does not fit",
         "127.0.0.1",
         {.ca_pem = own, .cert_pem = other_cert, .key_pem = key},
         NULL,
         ERR_INVALID},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        place_run(s->p, trust_fiber, &cases[i]);
    site_free(s);
}

static void names_of_certificates(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *bad[] = {"localhost,IP:1.2.3.4", "", "a b", "a\nb"}, *cert = NULL, *key = NULL;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        check_true(bad[i], !tls_self_signed(a, &bad[i], 1, 0, &cert, &key, &e));
        check_i64(bad[i], e.kind, ERR_INVALID);
    }
    check_true("nothing was written", !cert && !key);
}

/* ---- proxies ---- */

static void proxy_fiber(void *arg)
{
    struct site *s = arg;
    struct http_trust trust = {.proxy = (const char *)arena_printf(s->p->arena, STR_FMT, STR_ARG(s->p->base)).p};
    struct http_request r = {.url = STR("http://far.example/x"), .trust = &trust};
    struct http_response got;
    struct err e = {0};

    check_ok("through the proxy", http_fetch(s->p->client, &r, s->p->arena, &got, &e), &e);
    check_str("it was asked for the other host", got.body, "GET /x at far.example: 0 bytes");
    r = place_request(s->p, "GET", "/y", "");
    check_ok("the environment does not matter", http_fetch(s->p->client, &r, s->p->arena, &got, &e), &e);
}

static void proxies(void **state)
{
    struct site *s = site_new(PLACE_LOOP, NULL);

    (void)state;
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("no_proxy", "*", 1);
    place_run(s->p, proxy_fiber, s);
    (void)unsetenv("http_proxy");
    (void)unsetenv("no_proxy");
    site_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_requests),
        cmocka_unit_test(requests_that_stop_short),
        cmocka_unit_test(long_heads),
        cmocka_unit_test(shorter_heads),
        cmocka_unit_test(long_bodies),
        cmocka_unit_test(silent_peers_are_dropped),
        cmocka_unit_test(replies_may_take_their_time),
        cmocka_unit_test(connections_are_counted),
        cmocka_unit_test(listening_fails_with_words),
        cmocka_unit_test(all_addresses),
        cmocka_unit_test(closing_from_inside),
        cmocka_unit_test(whom_to_trust),
        cmocka_unit_test(names_of_certificates),
        cmocka_unit_test(proxies),
    };

    return cmocka_run_group_tests_name("net/httpd", tests, NULL, NULL);
}
