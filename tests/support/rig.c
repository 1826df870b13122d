#include "support/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kube/crds.h"
#include "support/check.h"

#define SERVER "https://kube"
#define STEP_S 0.05

static const char system_node[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: system, annotations: {kwok.x-k8s.io/node: fake}, "
    "labels: {kubernetes.io/hostname: system}}\n"
    "spec: {taints: [{key: CriticalAddonsOnly, effect: NoSchedule}]}\n"
    "status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}, allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n";

/* Between the replicas and the server: notes who changes what. */
static void serve(void *ctx, struct exchange *x)
{
    struct rig *r = ctx;
    bool writes = strcmp(x->method, "GET") != 0;
    uint64_t before = kube_rv(r->l->s->k);
    struct rig_write w = {.t = rig_now(r)};

    if (writes) {
        w.method = arena_strdup(r->l->a, str_c(x->method));
        w.path = arena_strdup(r->l->a, x->path);
        w.body = arena_strdup(r->l->a, x->body);
    }
    kube_serve(r->l->s->k, x);
    if (!writes)
        return;
    w.changed = kube_rv(r->l->s->k) != before;
    vec_push(&r->writes, w);
}

struct rig *rig_new(uint64_t seed, const char *const *env, const struct cluster_options *o)
{
    struct rig *r = xcalloc(1, sizeof(*r));
    struct err e = {0};

    r->l = lab_new(seed, o ? o : &(struct cluster_options){0});
    r->env = env;
    r->began_us = sim_now_us(r->l->s->sim);
    check_ok("definitions", kube_load_crds(r->l->s->k, &e), &e);
    sim_mount(r->l->s->sim, SERVER, r->l->s->world, serve, r);
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
    vec_fini(&r->writes);
    lab_free(r->l);
    free(r);
}

void rig_start(struct rig *r, uint32_t i)
{
    char name[32];

    assert(i < RIG_REPLICAS && !r->replicas[i]);
    (void)snprintf(name, sizeof(name), "replica-%u_%u", i, r->n_started++);
    r->worlds[i] = sim_process(r->l->s->sim, name);
    r->replicas[i] = replica_new(r->worlds[i], SERVER, name, r->env, &r->logs[i]);
}

void rig_stop(struct rig *r, uint32_t i)
{
    replica_stop(r->replicas[i]);
    for (int k = 0; k < 400 && !replica_ended(r->replicas[i]); k++)
        lab_run(r->l, STEP_S);
    check_true("a replica that is told to ends", replica_ended(r->replicas[i]));
    forget(r, i);
}

void rig_kill(struct rig *r, uint32_t i)
{
    forget(r, i);
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
