#include "support/kube_bench.h"

#include <stdlib.h>

#define MAX_HEADERS 8u
#define MAX_WAIT_MS 120000

void bench_init(struct kube_bench *b, uint64_t seed, const struct kube_options *o, const struct kube_faults *f)
{
    *b = (struct kube_bench){.sim = sim_new(seed, INT64_C(1767225600000)), .a = arena_new(0)};
    b->server = sim_process(b->sim, "server");
    b->client = sim_process(b->sim, "client");
    b->kube = kube_new(b->server, o);
    if (f)
        b->faults = faults_new(b->kube, f, 0);
    if (f)
        sim_mount(b->sim, BENCH_URL, b->server, faults_serve, b->faults);
    else
        sim_mount(b->sim, BENCH_URL, b->server, kube_serve, b->kube);
}

void bench_fini(struct kube_bench *b)
{
    sim_kill(b->client);
    bench_run(b, 1);
    faults_free(b->faults);
    kube_free(b->kube);
    sim_free(b->sim);
    arena_free(b->a);
}

void bench_run(struct kube_bench *b, int64_t ms)
{
    sim_run_for(b->sim, ms * 1000);
}

/* ---- calls ---- */

static void on_head(void *ctx, int status, const struct http_header *headers, uint32_t n)
{
    struct stream *s = ctx;

    s->status = status;
    s->n_headers = n;
    s->headers = arena_new_array(s->a, struct http_header, n);
    for (uint32_t i = 0; i < n; i++)
        s->headers[i] = (struct http_header){arena_strdup(s->a, headers[i].name), arena_strdup(s->a, headers[i].value)};
}

static void on_data(void *ctx, str bytes)
{
    sb_str(&((struct stream *)ctx)->body, bytes);
}

static void on_end(void *ctx, const struct err *e)
{
    struct stream *s = ctx;

    s->over = true;
    s->broken = e != NULL;
    s->call = NULL;
}

struct stream *bench_open(struct kube_bench *b, const char *method, const char *path, const char *headers, str body)
{
    struct http_header h[MAX_HEADERS];
    struct stream *s = arena_new_one(b->a, struct stream);
    str rest = str_c(headers), line;
    uint32_t n = 0;

    while (rest.n && n < MAX_HEADERS) {
        (void)str_cut(rest, '\n', &line, &rest);
        (void)str_cut(line, ':', &h[n].name, &h[n].value);
        h[n].value = str_trim(h[n].value);
        n++;
    }
    s->a = b->a;
    struct http_request q = {
        .method = method, .url = arena_printf(b->a, BENCH_URL "%s", path), .headers = h, .n_headers = n, .body = body};
    struct http_events ev = {.ctx = s, .on_head = on_head, .on_data = on_data, .on_end = on_end};
    s->call = http_start(b->client, &q, &ev);
    return s;
}

void bench_close(struct stream *s)
{
    if (s->call)
        http_cancel(s->call);
    s->call = NULL;
    sb_fini(&s->body);
}

const struct stream *bench_call(struct kube_bench *b, const char *method, const char *path, const char *headers,
                                const char *body)
{
    struct stream *s = bench_open(b, method, path, headers, str_c(body));

    for (int ms = 0; !s->over && ms < MAX_WAIT_MS; ms += 10)
        bench_run(b, 10);
    assert(s->over);
    struct sb heap = s->body;
    s->body.p = (char *)sb_dup(&heap, b->a).p; /* nobody frees it */
    sb_fini(&heap);
    return s;
}

str stream_header(const struct stream *s, const char *name)
{
    return http_header_get(s->headers, s->n_headers, name);
}
