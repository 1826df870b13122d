#include "support/feed_server.h"

#include <stdlib.h>

#include "base/rng.h"
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/crds.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define SECOND_US INT64_C(1000000)

static const struct kube_options options = {.version = "v1.36.3", .window = 300};
static const struct kube_faults bad_day = {
    .gone = 20000,
    .throttle = 6000,
    .error = 6000,
    .lose_reply = 4000,
    .delay = 8000,
    .delay_us = {1000, 3 * SECOND_US},
    .duplicate = 10000,
    .drop_watch = 60000,
    .drop_after_us = {1000, 10 * SECOND_US},
    .restart = 300,
    .restart_us = {SECOND_US, 20 * SECOND_US},
};
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
    const struct written *k = &kinds[which];
    str name = arena_printf(a, "n%u", rng_below(&s->rng, 8));
    const struct kind *kind = kind_at(s, which);
    const struct object *o = kube_get(s->b.kube, kind, str_c(k->ns), name);
    const struct tree *body;
    struct status st;
    struct err e;

    if (o && rng_below(&s->rng, 3) == 0) {
        s->n_written +=
            kube_delete(s->b.kube, a, kind, str_c(k->ns), name, &(struct delete_options){.grace_s = 0}, &st);
        return;
    }
    check_ok("body", tree_parse_yaml(a, "body", str_c(k->body), &body, &e), &e);
    struct tree *t = o ? kube_tree(a, o) : tree_copy(a, body), *meta = tree_sub(a, t, "metadata");
    tree_set_str(a, meta, "name", name);
    if (*k->ns)
        tree_set_str(a, meta, "namespace", str_c(k->ns));
    tree_set_str(a, tree_sub(a, meta, "labels"), "k", arena_printf(a, "v%u", rng_below(&s->rng, 1000)));
    s->n_written +=
        o ? kube_update(s->b.kube, a, kind, NULL, t, NULL, &st) : kube_create(s->b.kube, a, kind, t, NULL, &st);
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
    bench_init(&s->b, seed, &options, bad ? &bad_day : &good_day);
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
