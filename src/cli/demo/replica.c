#include "cli/demo/replica.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "control/autoscaler.h"
#include "model/sym.h"
#include "net/loop.h"

struct demo_replica {
    struct demo_replica_setup s;
    struct world *world; /* a process in the demo's loop */
    struct arena *arena;
    struct syms *syms;
    struct options options;
    struct kube_config *config;
    struct log *log;
    struct autoscaler *op;
    bool ended;
};

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
    r->world = loop_process(s->loop);
    r->arena = arena_new(0);
    r->syms = syms_new();
    r->config = kube_config_fixed(s->server, s->token, s->ca_pem);
    if (!options_parse(&r->options, r->arena, r->syms, 1, argv, s->environment, e))
        goto fail;
    const struct provider_source *provider = cli_provider(s->env, r->options.provider, e);
    if (!provider)
        goto fail;
    r->log = log_new(r->options.log_level, &(struct log_sink){s->ctx, s->on_line}, wall_clock, r->world);
    r->op = autoscaler_new(&(struct autoscaler_setup){.world = r->world,
                                                      .config = r->config,
                                                      .options = &r->options,
                                                      .syms = r->syms,
                                                      .log = r->log,
                                                      .provider = provider,
                                                      .identity = arena_strdup(r->arena, s->pod),
                                                      .on_end = on_end,
                                                      .ctx = r},
                           e);
    if (r->op)
        return r;
fail:
    (void)demo_replica_bury(r); /* nothing has been started in it */
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

bool demo_replica_bury(struct demo_replica *r)
{
    if (!r)
        return true;
    loop_kill(r->world);
    if (!loop_unwound(r->world))
        return false;
    autoscaler_free(r->op);
    log_free(r->log);
    kube_config_free(r->config);
    syms_free(r->syms);
    arena_free(r->arena);
    loop_reap(r->world);
    free(r);
    return true;
}

void demo_replica_free(struct demo_replica *r)
{
    if (!r)
        return;
    loop_kill(r->world);
    loop_unwind(r->world);
    (void)demo_replica_bury(r);
}
