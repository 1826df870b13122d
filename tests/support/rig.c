#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kube/crds.h"
#include "support/check.h"

#define STEP_S 0.05

static const char *const servers[RIG_REPLICAS] = {"https://kube-0", "https://kube-1", "https://kube-2"};

static const char system_node[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: system, annotations: {kwok.x-k8s.io/node: fake}, "
    "labels: {kubernetes.io/hostname: system}}\n"
    "spec: {taints: [{key: CriticalAddonsOnly, effect: NoSchedule}]}\n"
    "status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}, allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n";

struct write_under_way {
    struct rig *r;
    uint32_t ix; /* of rig.writes */
};

static void on_answered(struct exchange *x)
{
    const struct write_under_way *u = x->ctx;

    u->r->writes.v[u->ix].status = reply_code(x);
}

/* Before the server has it: it may be answered, and gone, when the server returns. */
static uint32_t note(struct rig *r, uint32_t replica, struct exchange *x)
{
    struct write_under_way *u = arena_new_one(x->arena, struct write_under_way);
    struct arena *a = r->l->a;
    struct rig_write w = {.t = rig_now(r), .replica = replica};

    w.method = arena_strdup(a, str_c(x->method));
    w.path = arena_strdup(a, x->path);
    w.body = arena_strdup(a, x->body);
    w.type = arena_strdup(a, http_header_get(x->headers, x->n_headers, "Content-Type"));
    *u = (struct write_under_way){r, r->writes.n};
    x->ctx = u;
    x->on_over = on_answered;
    vec_push(&r->writes, w);
    return u->ix;
}

/* Between a replica and the server: notes who changes what. What a process sends after its end is not sent. */
static void serve(void *ctx, struct exchange *x)
{
    const struct rig_door *d = ctx;
    struct rig *r = d->r;
    bool keeps = !r->forgetful && strcmp(x->method, "GET") != 0;
    uint64_t before = kube_rv(r->l->s->k);
    uint32_t ix = 0;

    if (!r->replicas[d->i] || replica_ended(r->replicas[d->i]) || (r->before && !r->before(r->watch_ctx, d->i, x))) {
        reply_abort(x);
        return;
    }
    if (keeps)
        ix = note(r, d->i, x);
    r->server(r->server_ctx, x);
    if (keeps)
        r->writes.v[ix].changed = kube_rv(r->l->s->k) != before;
    if (r->after)
        r->after(r->watch_ctx, d->i);
}

struct rig *rig_new(uint64_t seed, const char *const *env, const struct cluster_options *o)
{
    struct rig *r = xcalloc(1, sizeof(*r));
    struct err e = {0};

    r->l = lab_new(seed, o ? o : &(struct cluster_options){0});
    r->env = env;
    r->began_us = sim_now_us(r->l->s->sim);
    check_ok("definitions", kube_load_crds(r->l->s->k, &e), &e);
    r->server = kube_serve;
    r->server_ctx = r->l->s->k;
    for (uint32_t i = 0; i < RIG_REPLICAS; i++) {
        r->doors[i] = (struct rig_door){r, i};
        sim_mount(r->l->s->sim, servers[i], r->l->s->world, serve, &r->doors[i]);
    }
    lab_apply(r->l, system_node);
    lab_run(r->l, 2);
    return r;
}

static void forget(struct rig *r, uint32_t i)
{
    if (!r->replicas[i])
        return;
    sim_kill(r->worlds[i]);
    lab_run(r->l, 0.001); /* what was under way unwinds */
    replica_free(r->replicas[i]);
    (void)sim_reap(r->worlds[i]);
    r->replicas[i] = NULL;
    r->worlds[i] = NULL;
}

void rig_free(struct rig *r)
{
    for (uint32_t i = 0; i < RIG_REPLICAS; i++) {
        forget(r, i);
        sb_fini(&r->logs[i]);
    }
    lab_free(r->l); /* calls that are under way are answered first */
    vec_fini(&r->writes);
    free(r);
}

void rig_start(struct rig *r, uint32_t i)
{
    char *name = r->names[i];

    assert(i < RIG_REPLICAS && !r->replicas[i]);
    (void)snprintf(name, sizeof(r->names[i]), "replica-%u_%u", i, r->n_started++);
    r->worlds[i] = sim_process(r->l->s->sim, name);
    r->replicas[i] = replica_new(r->worlds[i], servers[i], name, r->env, &r->files, &r->logs[i]);
}

void rig_stop(struct rig *r, uint32_t i)
{
    replica_stop(r->replicas[i]);
    for (int k = 0; k < 400 && !replica_ended(r->replicas[i]) && !world_dead(r->worlds[i]); k++)
        lab_run(r->l, STEP_S);
    check_true("a replica that is told to ends", replica_ended(r->replicas[i]) || world_dead(r->worlds[i]));
    forget(r, i);
}

void rig_kill(struct rig *r, uint32_t i)
{
    forget(r, i);
}

void rig_strike(struct rig *r, uint32_t i)
{
    sim_kill(r->worlds[i]);
}

void rig_net_faults(struct rig *r, const struct sim_faults *f)
{
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        sim_set_faults(r->l->s->sim, servers[i], f);
}

double rig_now(const struct rig *r)
{
    return (double)(sim_now_us(r->l->s->sim) - r->began_us) / 1e6;
}

bool rig_until(struct rig *r, double seconds, bool (*holds)(struct rig *r, const void *arg), const void *arg)
{
    double end = rig_now(r) + seconds;

    while (!holds(r, arg)) {
        if (rig_now(r) >= end)
            return false;
        lab_run(r->l, STEP_S);
    }
    return true;
}

static bool leads(struct rig *r, const void *arg)
{
    uint32_t i = *(const uint32_t *)arg;

    return r->replicas[i] && replica_leads(r->replicas[i]) && replica_synced(r->replicas[i]);
}

void rig_await_lead(struct rig *r, uint32_t i, double seconds)
{
    check_true("leads", rig_until(r, seconds, leads, &i));
}
