/* Two replicas and a server, each in a process of its own: whatever happens, never do both lead at the same moment. */
#include "k8s/election.h"

#include <stdio.h>

#include "data/edit.h"
#include "net/fiber.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define SECOND_US INT64_C(1000000)
#define N_SEEDS 60

static const struct kube_options options = {.version = "v1.36.3"};

/* Each replica has its own way to the server, so that one of them can be cut off. */
static const char *const bases[] = {"https://kube-a", "https://kube-b"};

struct replica {
    struct world *world;
    struct kube_config *config;
    struct api *api;
    struct election *election;
    uint32_t n_lead, n_lost, n_events;
    char event[128], last_log[128];
    bool resigned;
};

struct duel {
    struct kube_bench b;
    struct replica r[2];
    uint32_t n_both, n_none; /* steps with two leaders; seconds with none */
    char name[64];
};

static void on_lead(void *ctx)
{
    ((struct replica *)ctx)->n_lead++;
}

static void on_lost(void *ctx)
{
    ((struct replica *)ctx)->n_lost++;
}

static void on_event(void *ctx, str message, const struct tree *lease)
{
    struct replica *r = ctx;

    r->n_events++;
    (void)snprintf(r->event, sizeof(r->event), STR_FMT, STR_ARG(message));
    assert(str_is(tree_str(tree_at(lease, "metadata", "name", NULL)), "karpenter-leader-election"));
}

static void on_log(void *ctx, const char *message, const struct err *e)
{
    struct replica *r = ctx;

    (void)snprintf(r->last_log, sizeof(r->last_log), "%s%s", message, e ? "!" : "");
}

static void replica_start(struct duel *d, uint32_t i)
{
    struct replica *r = &d->r[i];

    *r = (struct replica){.world = sim_process(d->b.sim, i ? "b" : "a")};
    r->config = kube_config_fixed(str_c(bases[i]), (str){0}, NULL);
    r->api = api_new(r->world, r->config, &(struct api_options){.timeout_us = ELECTION_TIMEOUT_US});
    struct election_options o = {.ns = STR("default"),
                                 .name = STR("karpenter-leader-election"),
                                 .identity = i ? STR("b") : STR("a"),
                                 .ctx = r,
                                 .on_lead = on_lead,
                                 .on_lost = on_lost,
                                 .on_event = on_event,
                                 .on_log = on_log};
    r->election = election_new(r->api, &o);
}

/* The election itself may be gone. */
static void replica_end(struct duel *d, uint32_t i)
{
    struct replica *r = &d->r[i];

    sim_kill(r->world);
    bench_run(&d->b, 1);
    election_free(r->election);
    api_free(r->api);
    kube_config_free(r->config);
    r->election = NULL;
    r->api = NULL;
}

static bool leads(const struct duel *d, uint32_t i)
{
    return d->r[i].election && !world_dead(d->r[i].world) && election_leads(d->r[i].election);
}

static void on_step(void *ctx, uint64_t step)
{
    struct duel *d = ctx;

    (void)step;
    d->n_both += leads(d, 0) && leads(d, 1);
}

static void duel_init(struct duel *d, uint64_t seed)
{
    memset(d, 0, sizeof(*d));
    (void)snprintf(d->name, sizeof(d->name), "seed %llu", (unsigned long long)seed);
    bench_init(&d->b, seed, &options, NULL);
    for (uint32_t i = 0; i < 2; i++)
        sim_mount(d->b.sim, bases[i], d->b.server, kube_serve, d->b.kube);
    sim_on_step(d->b.sim, on_step, d);
}

static void duel_fini(struct duel *d)
{
    for (uint32_t i = 0; i < 2; i++)
        if (d->r[i].api)
            replica_end(d, i);
    bench_fini(&d->b);
}

static void run_s(struct duel *d, uint32_t s)
{
    for (uint32_t i = 0; i < s; i++) {
        bench_run(&d->b, 1000);
        d->n_none += !leads(d, 0) && !leads(d, 1);
        check_u64(d->name, d->n_both, 0);
    }
}

static str lease_field(struct duel *d, const char *field)
{
    const struct kind *kind = kube_kind(d->b.kube, STR("coordination.k8s.io"), STR("Lease"));
    const struct object *o = kube_get(d->b.kube, kind, STR("default"), STR("karpenter-leader-election"));

    return o ? tree_scalar(tree_at(kube_tree(d->b.a, o), "spec", field, NULL)) : STR("no lease");
}

static void cut_off(struct duel *d, uint32_t i, bool off)
{
    struct sim_faults f = {.refuse = off ? 65536 : 0};

    sim_set_faults(d->b.sim, bases[i], &f);
}

static void first_and_second(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 1);
    replica_start(&d, 0);
    run_s(&d, 1);
    check_true("the first leads", leads(&d, 0) && d.r[0].n_lead == 1);
    check_str("event", str_c(d.r[0].event), "a became leader");
    check_str("log", str_c(d.r[0].last_log), "Successfully acquired lease");
    check_str("holder", lease_field(&d, "holderIdentity"), "a");
    check_str("duration", lease_field(&d, "leaseDurationSeconds"), "15");
    check_str("transitions", lease_field(&d, "leaseTransitions"), "0");
    check_str("acquired", lease_field(&d, "acquireTime"), "2026-01-01T00:00:00.000000Z");
    replica_start(&d, 1);
    run_s(&d, 60);
    check_true("and goes on", leads(&d, 0) && d.r[0].n_lost == 0 && d.r[1].n_lead == 0);
    check_str("renewed", lease_field(&d, "renewTime"), "2026-01-01T00:01:00.000000Z");
    check_str("acquired once", lease_field(&d, "acquireTime"), "2026-01-01T00:00:00.000000Z");
    check_u64("one event", d.r[0].n_events, 1);
    duel_fini(&d);
}

static void killed(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 2);
    replica_start(&d, 0);
    run_s(&d, 5);
    replica_start(&d, 1);
    run_s(&d, 5);
    replica_end(&d, 0);
    run_s(&d, 12);
    check_true("not yet", !leads(&d, 1));
    run_s(&d, 10);
    check_true("the other has taken over", leads(&d, 1));
    check_str("transitions", lease_field(&d, "leaseTransitions"), "1");
    check_str("holder", lease_field(&d, "holderIdentity"), "b");
    duel_fini(&d);
}

static void partitioned(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 3);
    replica_start(&d, 0);
    run_s(&d, 5);
    replica_start(&d, 1);
    run_s(&d, 5);
    cut_off(&d, 0, true);
    run_s(&d, 7);
    check_true("a short while is no loss", leads(&d, 0));
    cut_off(&d, 0, false);
    run_s(&d, 10);
    check_true("a short while is no loss", leads(&d, 0) && d.r[0].n_lost == 0);
    cut_off(&d, 0, true);
    run_s(&d, 11);
    check_true("ten seconds are", !leads(&d, 0) && d.r[0].n_lost == 1);
    run_s(&d, 12);
    check_true("the other has taken over", leads(&d, 1));
    cut_off(&d, 0, false);
    run_s(&d, 30);
    check_true("who has lost does not come back", !leads(&d, 0) && d.r[0].n_lead == 1 && leads(&d, 1));
    duel_fini(&d);
}

static void clock_jumps(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 4);
    replica_start(&d, 0);
    run_s(&d, 3);
    replica_start(&d, 1);
    for (int i = 0; i < 6; i++) {
        sim_jump(d.b.sim, i % 2 ? -3600000 : 7200000);
        run_s(&d, 20);
        check_true("times of day mean nothing", leads(&d, 0) && d.r[0].n_lost == 0);
    }
    duel_fini(&d);
}

static void resign(void *arg)
{
    struct replica *r = arg;

    election_resign(r->election);
    r->resigned = true;
}

static void resigned(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 5);
    replica_start(&d, 0);
    run_s(&d, 5);
    replica_start(&d, 1);
    run_s(&d, 5);
    fiber_go(d.r[0].world, "resign", resign, &d.r[0]);
    bench_run(&d.b, 10);
    check_true("given back", d.r[0].resigned && !leads(&d, 0) && d.r[0].n_lost == 0);
    check_str("nobody's", lease_field(&d, "holderIdentity"), "");
    check_str("for a second", lease_field(&d, "leaseDurationSeconds"), "1");
    run_s(&d, 5);
    check_true("taken at the next try", leads(&d, 1));
    election_free(d.r[0].election); /* in a world that goes on */
    d.r[0].election = NULL;
    run_s(&d, 5);
    d.r[0].election = election_new(d.r[0].api, &(struct election_options){.name = STR("other"),
                                                                          .ns = STR("default"),
                                                                          .identity = STR("a"),
                                                                          .ctx = &d.r[0],
                                                                          .on_lead = on_lead,
                                                                          .on_lost = on_lost});
    election_free(d.r[0].election); /* before its first try */
    d.r[0].election = NULL;
    run_s(&d, 1);
    fiber_go(d.r[1].world, "resign", resign, &d.r[1]);
    fiber_go(d.r[1].world, "resign", resign, &d.r[1]);
    run_s(&d, 1);
    check_true("twice is fine", d.r[1].resigned && !leads(&d, 1));
    duel_fini(&d);
}

/* Somebody writes another holder into the lease by hand. */
static void usurped(void **state)
{
    struct duel d;

    (void)state;
    duel_init(&d, 6);
    replica_start(&d, 0);
    run_s(&d, 5);
    const struct kind *kind = kube_kind(d.b.kube, STR("coordination.k8s.io"), STR("Lease"));
    struct tree *t = kube_tree(d.b.a, kube_get(d.b.kube, kind, STR("default"), STR("karpenter-leader-election")));
    struct status st;
    tree_set_str(d.b.a, tree_sub(d.b.a, t, "spec"), "holderIdentity", STR("c"));
    check_true("written", kube_update(d.b.kube, d.b.a, kind, NULL, t, NULL, &st));
    run_s(&d, 3);
    check_true("obeyed at once", !leads(&d, 0) && d.r[0].n_lost == 1);
    duel_fini(&d);
}

/* Deaths, partitions, slow networks, lost answers, clocks that jump. */
static void bad_days(void **state)
{
    uint32_t n_lead = 0, n_none = 0;

    (void)state;
    for (uint64_t seed = 100; seed < 100 + N_SEEDS; seed++) {
        struct duel d;
        struct rng rng;

        rng_init(&rng, seed);
        duel_init(&d, seed);
        for (uint32_t round = 0; round < 40; round++) {
            uint32_t i = rng_below(&rng, 2);

            if (d.r[i].election && (d.r[i].n_lost || rng_below(&rng, 6) == 0)) {
                n_lead += d.r[i].n_lead;
                replica_end(&d, i);
            } else if (!d.r[i].election) {
                replica_start(&d, i);
            } else {
                struct sim_faults f = {.refuse = rng_below(&rng, 3) ? 0 : 65536,
                                       .lose_reply = rng_below(&rng, 2) ? 0 : 30000,
                                       .slow = rng_below(&rng, 2) ? 0 : 30000,
                                       .delay_us = {0, (int64_t)rng_below(&rng, 200000)},
                                       .stall_stream = rng_below(&rng, 2) ? 0 : 30000,
                                       .stall_us = {0, 12 * SECOND_US}};

                sim_set_faults(d.b.sim, bases[i], &f);
            }
            if (rng_below(&rng, 8) == 0)
                sim_jump(d.b.sim, (int64_t)rng_below(&rng, 100000) - 50000);
            run_s(&d, rng_below(&rng, 12));
        }
        n_none += d.n_none;
        duel_fini(&d);
    }
    check_true("many have led", n_lead > 2 * N_SEEDS);
    check_true("there were times without a leader", n_none > 0);
}

static void identity(void **state)
{
    struct sim *s = sim_new(1, 0);
    AUTO(arena) struct arena *a = arena_new(0);
    str id = election_identity(a, sim_process(s, "p"), "host");

    (void)state;
    check_u64("host_uuid", id.n, 5 + 36);
    check_str("host", str_sub(id, 0, 5), "host_");
    check_true("of version 4", id.p[5 + 14] == '4' && strchr("89ab", id.p[5 + 19]));
    sim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_and_second), cmocka_unit_test(killed),   cmocka_unit_test(partitioned),
        cmocka_unit_test(clock_jumps),      cmocka_unit_test(resigned), cmocka_unit_test(usurped),
        cmocka_unit_test(bad_days),         cmocka_unit_test(identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
