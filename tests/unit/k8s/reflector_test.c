/* Whatever goes wrong between a server and its clients, the copies of those who watch become the server's state, and no object in
 * them ever goes back in time. Everything is drawn from a seed that is printed when a run fails. */
#include "k8s/reflector.h"

#include <stdio.h>

#include "net/fiber.h"
#include "support/bad_day.h"
#include "support/check.h"
#include "support/copy.h"

#define MINUTE_MS 60000
#define N_SEEDS 120
#define N_NAMES 12u

/* ---- the server's state ---- */

struct comparing {
    struct copy *c;
    const char *only; /* the name; NULL: all */
    uint32_t n;
    bool equal;
};

static void compare_one(void *ctx, const struct object *o)
{
    struct comparing *c = ctx;

    if (c->only && !str_is(o->name, c->only))
        return;
    c->n++;
    for (uint32_t i = 0; i < c->c->n; i++)
        if (str_is(o->name, c->c->v[i].name) && c->c->v[i].there && c->c->v[i].rv == o->rv)
            return;
    c->equal = false;
}

static bool same_state(struct kube_bench *b, struct copy *copy, const char *only)
{
    struct comparing c = {.c = copy, .only = only, .equal = true};
    uint32_t n = 0;

    kube_each(b->kube, kube_kind(b->kube, STR(""), STR("ConfigMap")), (str){0}, compare_one, &c);
    for (uint32_t i = 0; i < copy->n; i++)
        n += copy->v[i].there;
    return c.equal && c.n == n;
}

/* ---- writing, from inside the server: what is tested is the other side ---- */

struct writer {
    struct kube_bench *b;
    struct rng rng;
    struct timer timer;
    bool stop;
    uint32_t n_done;
};

static void write_once(struct writer *w)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "n%u", rng_below(&w->rng, N_NAMES));
    w->n_done += bad_day_write(w->b, &w->rng,
                               &(struct bad_day_write){.kind = kube_kind(w->b->kube, STR(""), STR("ConfigMap")),
                                                       .ns = STR("default"),
                                                       .name = str_c(name),
                                                       .body = "{}",
                                                       .deaths = 4});
}

static void writer_fires(void *ctx)
{
    struct writer *w = ctx;

    if (w->stop)
        return;
    write_once(w);
    timer_set(w->b->server, &w->timer, rng_below(&w->rng, 8) == 0 ? 0 : (int64_t)rng_below(&w->rng, 700000));
}

static void writer_go(struct writer *w, struct kube_bench *b, uint64_t seed)
{
    *w = (struct writer){.b = b, .timer = {.fn = writer_fires, .ctx = w}};
    rng_init(&w->rng, seed + 1);
    timer_set(b->server, &w->timer, 0);
}

/* ---- runs ---- */

struct outcome {
    uint64_t trace, faults;
    uint32_t n_lists, n_events, n_errors, n_done;
};

static void run(uint64_t seed, const struct kube_faults *kf, const struct sim_faults *nf, struct outcome *ret)
{
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    static const struct reflector_options how[3] = {
        {.no_streamed_lists = false}, {.no_streamed_lists = true}, {.field_selector = STR_INIT("metadata.name=n3")}};
    struct copy copies[3] = {0};
    struct reflector *r[3];
    struct kube_bench b;
    struct writer w;
    char name[64];

    (void)snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
    bench_init(&b, seed, &bad_day_server, kf);
    sim_set_faults(b.sim, BENCH_URL, nf);
    AUTO(kube_config) struct kube_config *config = kube_config_fixed(STR(BENCH_URL), (str){0}, NULL);
    AUTO(api) struct api *api = api_new(b.client, config, &(struct api_options){0});
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        struct reflector_events ev = copy_events(&copies[i]);

        r[i] = reflector_new(api, &copied_kind, &how[i], &ev);
    }
    writer_go(&w, &b, seed);
    bench_run(&b, 4 * MINUTE_MS);
    w.stop = true;
    faults_set(b.faults, &none);
    sim_set_faults(b.sim, BENCH_URL, &quiet);
    bench_run(&b, 4 * MINUTE_MS); /* stalled streams time out */

    *ret = (struct outcome){.trace = sim_trace(b.sim), .faults = faults_count(b.faults), .n_done = w.n_done};
    for (uint32_t i = 0; i < ARRAY_LEN(r); i++) {
        check_str(name, str_c(copies[i].wrong ? copies[i].wrong : ""), "");
        check_true(name, reflector_synced(r[i]));
        check_true(name, same_state(&b, &copies[i], i == 2 ? "n3" : NULL));
        ret->n_lists += copies[i].n_lists;
        ret->n_events += copies[i].n_events;
        ret->n_errors += copies[i].n_errors;
    }
    reflector_free(r[0]); /* before and after the end of its world */
    bench_run(&b, 1);
    sim_kill(b.client);
    bench_run(&b, 10);
    check_u64(name, fiber_count(b.client), 0);
    for (uint32_t i = 1; i < ARRAY_LEN(r); i++)
        reflector_free(r[i]);
    bench_fini(&b);
}

static void a_good_day(void **state)
{
    static const struct kube_faults none;
    static const struct sim_faults quiet;
    struct outcome o;

    (void)state;
    run(1, &none, &quiet, &o);
    check_u64("one list each", o.n_lists, 3);
    check_u64("no errors", o.n_errors, 0);
    check_true("much was written", o.n_done > 300);
}

static void bad_days(void **state)
{
    struct outcome sum = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct outcome o;

        run(seed, &bad_day, &bad_day_net, &o);
        sum.faults += o.faults;
        sum.n_lists += o.n_lists;
        sum.n_errors += o.n_errors;
    }
    check_true("much went wrong", sum.faults > 40 * N_SEEDS);
    check_true("lists were repeated", sum.n_lists > 6 * N_SEEDS);
    check_true("errors were reported", sum.n_errors > 10 * N_SEEDS);
}

static void same_seed_same_day(void **state)
{
    struct outcome a, b;

    (void)state;
    run(7, &bad_day, &bad_day_net, &a);
    run(7, &bad_day, &bad_day_net, &b);
    check_u64("the same", a.trace, b.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_day),
        cmocka_unit_test(bad_days),
        cmocka_unit_test(same_seed_same_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
