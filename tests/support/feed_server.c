#include "support/feed_server.h"

#include <stdlib.h>

#include "sim/kube/crds.h"
#include "support/bad_day.h"
#include "support/check.h"

static const struct kube_faults good_day;

#define CLASS "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"

static const struct written {
    const char *group, *name, *ns;
    const char *body; /* beside its name */
} kinds[FEED_SERVER_KINDS] = {
    {"", "Pod", "default", "{spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}}"},
    {"", "Node", "", "{spec: {providerID: x}}"},
    {"karpenter.sh", "NodePool", "", "{spec: {template: {spec: {requirements: [], " CLASS "}}}}"},
    {"karpenter.sh", "NodeClaim", "", "{spec: {requirements: [], " CLASS "}}"},
    {"karpenter.kwok.sh", "KWOKNodeClass", "", "{spec: {}}"},
    {"", "PersistentVolumeClaim", "default",
     "{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"},
};

struct feed_server {
    struct kube_bench b;
    struct rng rng;
    struct timer timer;
    bool stop;
    uint32_t n_written;
};

static const struct kind *kind_at(struct feed_server *s, uint32_t i)
{
    return kube_kind(s->b.kube, str_c(kinds[i].group), str_c(kinds[i].name));
}

static void write_once(struct feed_server *s)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t which = rng_below(&s->rng, FEED_SERVER_KINDS);

    s->n_written += bad_day_write(&s->b, &s->rng,
                                  &(struct bad_day_write){.kind = kind_at(s, which),
                                                          .ns = str_c(kinds[which].ns),
                                                          .name = arena_printf(a, "n%u", rng_below(&s->rng, 8)),
                                                          .body = kinds[which].body,
                                                          .labels = true,
                                                          .deaths = 3});
}

static void writer_fires(void *ctx)
{
    struct feed_server *s = ctx;

    if (s->stop)
        return;
    write_once(s);
    timer_set(s->b.server, &s->timer, (int64_t)rng_below(&s->rng, 400000));
}

struct feed_server *feed_server_new(uint64_t seed, bool bad)
{
    struct feed_server *s = xcalloc(1, sizeof(*s));
    struct err e;

    s->timer = (struct timer){.fn = writer_fires, .ctx = s};
    rng_init(&s->rng, seed);
    bench_init(&s->b, seed, &bad_day_server, bad ? &bad_day : &good_day);
    check_ok("definitions", kube_load_crds(s->b.kube, &e), &e);
    bench_run(&s->b, 100);
    timer_set(s->b.server, &s->timer, 0);
    return s;
}

void feed_server_free(struct feed_server *s)
{
    bench_fini(&s->b);
    free(s);
}

struct world *feed_server_client(struct feed_server *s)
{
    return s->b.client;
}

void feed_server_run(struct feed_server *s, int64_t ms)
{
    bench_run(&s->b, ms);
}

void feed_server_heal(struct feed_server *s)
{
    s->stop = true;
    faults_set(s->b.faults, &good_day);
}

void feed_server_kill_client(struct feed_server *s)
{
    sim_kill(s->b.client);
    bench_run(&s->b, 10);
}

uint32_t feed_server_written(const struct feed_server *s)
{
    return s->n_written;
}

const char *feed_server_kind(uint32_t kind, const char **ret_group, const char **ret_ns)
{
    *ret_group = kinds[kind].group;
    *ret_ns = kinds[kind].ns;
    return kinds[kind].name;
}

struct telling {
    void (*fn)(void *ctx, str name, uint64_t version);
    void *ctx;
};

static void tell_one(void *ctx, const struct object *o)
{
    struct telling *t = ctx;

    t->fn(t->ctx, o->name, o->rv);
}

void feed_server_each(struct feed_server *s, uint32_t kind, void (*fn)(void *ctx, str name, uint64_t version),
                      void *ctx)
{
    kube_each(s->b.kube, kind_at(s, kind), (str){0}, tell_one, &(struct telling){fn, ctx});
}
