/* Clients that list and watch end up with exactly the server's state, whatever goes wrong on the way; and what was written was
 * written once. A run is two hours of faults and writes and then some quiet. Everything is drawn from a seed that is printed when a
 * run fails. */
#include <stdio.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "net/fiber.h"
#include "support/bad_day.h"
#include "support/check.h"
#include "support/reflector.h"

#define CM_URL BENCH_URL "/api/v1/namespaces/default/configmaps"
#define SECOND_US INT64_C(1000000)
#define MINUTE_MS 60000
#define FAULTY_MS (120 * MINUTE_MS)
#define QUIET_MS (12 * MINUTE_MS) /* what is under way ends; stalled streams time out */
#define N_SEEDS 200
#define N_WRITERS 3
#define N_NAMES 12u

/* Watches last longer here: writers pause for minutes. */
static struct kube_faults long_day(void)
{
    struct kube_faults f = bad_day;

    f.conflict = f.throttle = f.error = 3000;
    f.gone = 10000;
    f.duplicate = 6000;
    f.drop_watch = 40000;
    f.drop_after_us[1] = 90 * SECOND_US;
    return f;
}

static struct sim_faults long_net(void)
{
    struct sim_faults f = bad_day_net;

    f.cut_stream = 4000;
    f.cut_after_us[1] = 60 * SECOND_US;
    return f;
}

/* ---- writers ---- */

struct writer {
    struct kube_bench *b;
    struct rng rng;
    bool *stop;
    uint32_t n_done, n_late; /* n_late: in the second hour */
};

static bool call(struct writer *w, const char *method, const char *name, const char *type, const char *body,
                 int *ret_status, struct arena *a, str *ret_body)
{
    struct http_header h = {STR("Content-Type"), str_c(type)};
    struct http_response r;
    struct err e;
    struct http_request q = {.method = method,
                             .url = arena_printf(a, CM_URL "%s%s", name[0] ? "/" : "", name),
                             .headers = &h,
                             .n_headers = type ? 1 : 0,
                             .body = str_c(body),
                             .timeout_us = 30 * SECOND_US};

    if (!http_fetch(w->b->client, &q, a, &r, &e))
        return false;
    *ret_status = r.status;
    *ret_body = r.body;
    return true;
}

/* Reads, changes, writes with the version it has read. */
static void read_and_update(struct writer *w, const char *name, struct arena *a)
{
    const struct tree *t;
    struct sb b = {0};
    struct jw out = {.out = &b};
    struct err e;
    int status;
    str body;

    if (!call(w, "GET", name, NULL, NULL, &status, a, &body) || status != 200 ||
        !tree_parse_json(a, "object", body, &t, &e))
        return;
    struct tree *obj = tree_copy(a, t);
    tree_set_str(a, tree_sub(a, obj, "data"), "k", arena_printf(a, "%u", rng_below(&w->rng, 1000)));
    jw_tree(&out, obj);
    w->n_done += call(w, "PUT", name, "application/json", sb_cstr(&b), &status, a, &body) && status == 200;
    sb_fini(&b);
}

static void write_once(struct writer *w)
{
    AUTO(arena) struct arena *a = arena_new(0);
    char name[16], text[128];
    int status;
    str body;

    (void)snprintf(name, sizeof(name), "n%u", rng_below(&w->rng, N_NAMES));
    switch (rng_below(&w->rng, 6)) {
    case 0:
    case 1:
        (void)snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%u\"}}}", name,
                       rng_below(&w->rng, 2));
        w->n_done += call(w, "POST", "", "application/json", text, &status, a, &body) && status == 201;
        break;
    case 2:
    case 3:
        (void)snprintf(text, sizeof(text), "{\"metadata\":{\"labels\":{\"l\":\"%u\"}}}", rng_below(&w->rng, 2));
        w->n_done += call(w, "PATCH", name, "application/merge-patch+json", text, &status, a, &body) && status == 200;
        break;
    case 4:
        read_and_update(w, name, a);
        break;
    default:
        w->n_done += call(w, "DELETE", name, NULL, NULL, &status, a, &body) && status == 200;
    }
}

/* Writers are busy for a while and then pause, for longer than the window of the server reaches at times. */
static int64_t pause_us(struct writer *w)
{
    switch (rng_below(&w->rng, 24)) {
    case 0:
        return (int64_t)rng_below(&w->rng, 400) * SECOND_US;
    case 1:
    case 2:
    case 3:
        return 0;
    default:
        return (int64_t)rng_below(&w->rng, 2000000);
    }
}

static void writer_run(void *arg)
{
    struct writer *w = arg;

    while (!*w->stop && !world_dead(w->b->client)) {
        uint32_t before = w->n_done;

        write_once(w);
        if (sim_now_us(w->b->sim) > FAULTY_MS / 2 * INT64_C(1000))
            w->n_late += w->n_done - before;
        fiber_sleep_us(w->b->client, pause_us(w));
    }
}

/* ---- comparing ---- */

struct comparing {
    const struct reflector *r;
    const char *label; /* of which objects; NULL: all */
    uint32_t n;
    bool equal;
};

static void compare_one(void *ctx, const struct object *o)
{
    struct comparing *c = ctx;
    char key[128];

    if (c->label && !str_is(object_label(o, STR("l")), c->label))
        return;
    (void)snprintf(key, sizeof(key), STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(o->name));
    if (c->n >= c->r->items.n || strcmp(c->r->items.v[c->n].key, key) != 0 || c->r->items.v[c->n].rv != o->rv)
        c->equal = false;
    c->n++;
}

static bool same_state(struct kube_bench *b, const struct reflector *r, const char *label)
{
    struct comparing c = {.r = r, .label = label, .equal = true};

    kube_each(b->kube, kube_kind(b->kube, STR(""), STR("ConfigMap")), STR("default"), compare_one, &c);
    return c.equal && c.n == r->items.n;
}

/* ---- a run ---- */

struct outcome {
    uint64_t trace, faults;
    uint32_t n_lists, n_watches, n_events, n_done, n_late;
};

static void run(uint64_t seed, const struct kube_faults *kf, const struct sim_faults *nf, struct outcome *ret)
{
    struct kube_bench b;
    struct reflector r[3];
    struct writer w[N_WRITERS];
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    bool stop = false;
    char name[64];

    (void)snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
    bench_init(&b, seed, &bad_day_server, kf);
    sim_set_faults(b.sim, BENCH_URL, nf);
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = (struct reflector){.world = b.client, .url = CM_URL, .query = "", .limit = i == 0 ? 5 : 0};
        r[i].stream_list = i == 1;
        if (i == 2)
            r[i].query = "labelSelector=l%3D1";
        reflector_go(&r[i]);
    }
    for (uint32_t i = 0; i < N_WRITERS; i++) {
        w[i] = (struct writer){.b = &b, .stop = &stop};
        rng_init(&w[i].rng, seed * N_WRITERS + i + 1);
        fiber_go(b.client, "writer", writer_run, &w[i]);
    }
    bench_run(&b, FAULTY_MS);
    stop = true;
    faults_set(b.faults, &none);
    sim_set_faults(b.sim, BENCH_URL, &quiet);
    bench_run(&b, QUIET_MS);

    *ret = (struct outcome){.trace = sim_trace(b.sim), .faults = faults_count(b.faults)};
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        check_str(name, str_c(r[i].wrong ? r[i].wrong : ""), "");
        check_true(name, same_state(&b, &r[i], i == 2 ? "1" : NULL));
        ret->n_lists += r[i].n_lists;
        ret->n_watches += r[i].n_watches;
        ret->n_events += r[i].n_events;
        r[i].stop = true;
    }
    for (uint32_t i = 0; i < N_WRITERS; i++)
        ret->n_done += w[i].n_done, ret->n_late += w[i].n_late;
    sim_kill(b.client);
    bench_run(&b, 10);
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        check_true(name, r[i].stopped);
        reflector_fini(&r[i]);
    }
    bench_fini(&b);
}

static void a_good_day(void **state)
{
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    struct outcome o;

    (void)state;
    run(1, &none, &quiet, &o);
    check_u64("one list each", o.n_lists, 2);
    check_u64("no faults", o.faults, 0);
    check_true("much was written", o.n_done > 100);
}

static void bad_days(void **state)
{
    struct kube_faults day = long_day();
    struct sim_faults net = long_net();
    struct outcome sum = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct outcome o;

        run(seed, &day, &net, &o);
        sum.faults += o.faults;
        sum.n_lists += o.n_lists;
        sum.n_done += o.n_done;
        sum.n_late += o.n_late;
    }
    check_true("much went wrong", sum.faults > 500 * N_SEEDS);
    check_true("lists were repeated", sum.n_lists > 50 * N_SEEDS);
    check_true("and still much was written", sum.n_done > 400 * N_SEEDS);
    check_true("to the end", sum.n_late > 150 * N_SEEDS);
}

static void same_seed_same_day(void **state)
{
    struct kube_faults day = long_day();
    struct sim_faults net = long_net();
    struct outcome a, b, c;

    (void)state;
    run(7, &day, &net, &a);
    run(7, &day, &net, &b);
    run(8, &day, &net, &c);
    check_u64("the same", a.trace, b.trace);
    check_true("another", a.trace != c.trace);
}

/* A write whose answer was lost has happened: exactly once. */
static void lost_replies(void **state)
{
    static const struct kube_faults always = {.lose_reply = 65536};
    struct kube_bench b;

    (void)state;
    bench_init(&b, 1, &bad_day_server, &always);
    const struct stream *s =
        bench_call(&b, "POST", "/api/v1/namespaces/default/configmaps", NULL, "{\"metadata\":{\"name\":\"a\"}}");
    check_true("no answer", s->broken && s->status == 0);
    check_i64("but done", bench_call(&b, "GET", "/api/v1/namespaces/default/configmaps/a", NULL, NULL)->status, 200);
    bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_day),
        cmocka_unit_test(bad_days),
        cmocka_unit_test(same_seed_same_day),
        cmocka_unit_test(lost_replies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
