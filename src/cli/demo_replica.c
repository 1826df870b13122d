#include "cli/demo_replica.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "control/autoscaler.h"
#include "model/sym.h"

struct demo_replica {
    struct demo_replica_setup s;
    struct arena *arena;
    struct syms *syms;
    struct options options;
    struct kube_config *config;
    struct log *log;
    struct autoscaler *op;
    bool ended;
};

/* What the pod's manifest would set; the rest is as people have it in their clusters. */
static const char *pod_env(const char *name)
{
    if (strcmp(name, "LEADER_ELECTION_NAMESPACE") == 0)
        return "karpenter";
    return NULL;
}

static int64_t wall_clock(void *world)
{
    return world_now_ms(world);
}

static void on_end(void *ctx, int status UNUSED)
{
    struct demo_replica *r = ctx;

    r->ended = true;
}

struct demo_replica *demo_replica_new(const struct demo_replica_setup *s, struct err *e)
{
    struct demo_replica *r = xcalloc(1, sizeof(*r));
    char *argv[] = {(char *)(uintptr_t) "controller", NULL};

    r->s = *s;
    r->arena = arena_new(0);
    r->syms = syms_new();
    r->config = kube_config_fixed(s->server, s->token, s->ca_pem);
    if (!options_parse(&r->options, r->arena, r->syms, 1, argv, pod_env, e))
        goto fail;
    r->log = log_new(r->options.log_level, &(struct log_sink){s->ctx, s->on_line}, wall_clock, s->world);
    r->op = autoscaler_new(&(struct autoscaler_setup){.world = s->world,
                                                  .config = r->config,
                                                  .options = &r->options,
                                                  .syms = r->syms,
                                                  .log = r->log,
                                                  .cloud = s->env->providers[0].make,
                                                  .identity = arena_strdup(r->arena, s->pod),
                                                  .on_end = on_end,
                                                  .ctx = r},
                         e);
    if (r->op)
        return r;
fail:
    demo_replica_free(r);
    return NULL;
}

void demo_replica_stop(struct demo_replica *r)
{
    autoscaler_stop(r->op);
}

bool demo_replica_ended(const struct demo_replica *r)
{
    return r->ended;
}

bool demo_replica_leads(const struct demo_replica *r)
{
    return autoscaler_leads(r->op);
}

void demo_replica_free(struct demo_replica *r)
{
    if (!r)
        return;
    autoscaler_free(r->op);
    log_free(r->log);
    kube_config_free(r->config);
    syms_free(r->syms);
    arena_free(r->arena);
    free(r);
}
