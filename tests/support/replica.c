#include "support/replica.h"

#include <stdlib.h>
#include <string.h>

#include "app/providers.h"
#include "aws/config.h"
#include "base/vec.h"
#include "control/autoscaler.h"
#include "sim/world.h"
#include "support/check.h"

struct replica {
    struct arena *a;
    struct syms *t;
    struct options o;
    struct kube_config *config;
    struct log *log;
    struct world *world;
    struct autoscaler *op;
    bool ended;
};

static int64_t clock_of(void *world)
{
    return world_now_ms(world);
}

static void keep_line(void *ctx, str line)
{
    sb_str(ctx, line);
}

static void on_end(void *ctx, int status UNUSED)
{
    struct replica *r = ctx;

    r->ended = true;
    sim_kill(r->world); /* nothing of a process goes on after its end */
}

/* ---- the provider aws ---- */

static bool no_file(void *ctx UNUSED, struct arena *a UNUSED, const char *path, str *ret UNUSED, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, "%s: No such file or directory", path);
}

static struct aws_environment
    making; /* of the replica that is being made: a provider is made inside autoscaler_new() */

static struct cloud *make_aws(struct control *c, struct err *e)
{
    return provider_aws_in(c, &making, e);
}

static struct aws_environment environment_of(struct replica *r, const char *const *env,
                                             const struct replica_files *files)
{
    VEC(const char *) vars = {0};

    for (const char *const *p = env; p && *p; p += 2)
        if (strncmp(p[0], "AWS_", 4) == 0)
            vec_push(&vars, arena_printf(r->a, "%s=%s%c", p[0], p[1], 0).p);
    vec_push(&vars, NULL);
    const char **kept = arena_new_array(r->a, const char *, vars.n);
    memcpy(kept, vars.v, vars.n * sizeof(*kept));
    vec_fini(&vars);
    return (struct aws_environment){kept, files->read ? files->read : no_file, files->ctx};
}

static const struct provider_source kwok_source = {"kwok", provider_kwok, NULL, NULL};
static const struct provider_source aws_source = {"aws", make_aws, provider_aws_attach, provider_aws_detach};

struct replica *replica_new(struct world *w, const char *server, const char *identity, const char *const *env,
                            const struct replica_files *files, struct sb *log)
{
    struct replica *r = xcalloc(1, sizeof(*r));
    char *argv[] = {(char *)(uintptr_t) "controller", NULL};
    VEC(const char *) all = {0};
    struct err e = {0};

    r->a = arena_new(0);
    r->t = syms_new();
    r->world = w;
    for (const char *const *p = env; p && *p; p++)
        vec_push(&all, *p);
    vec_push(&all, "LEADER_ELECTION_NAMESPACE");
    vec_push(&all, "default");
    vec_push(&all, NULL);
    check_ok("options", options_parse(&r->o, r->a, r->t, 1, argv, all.v, &e), &e);
    vec_fini(&all);
    making = environment_of(r, env, files);
    r->config = kube_config_fixed(str_c(server), STR(""), NULL);
    r->log = log_new(r->o.log_level, &(struct log_sink){log, keep_line}, clock_of, w);
    r->op = autoscaler_new(
        &(struct autoscaler_setup){.world = w,
                                   .config = r->config,
                                   .options = &r->o,
                                   .syms = r->t,
                                   .log = r->log,
                                   .provider = strcmp(r->o.provider, "aws") == 0 ? &aws_source : &kwok_source,
                                   .identity = str_c(identity),
                                   .on_end = on_end,
                                   .ctx = r},
        &e);
    check_ok("autoscaler", r->op != NULL, &e);
    return r;
}

void replica_stop(struct replica *r)
{
    autoscaler_stop(r->op);
}

void replica_free(struct replica *r)
{
    if (!r)
        return;
    autoscaler_free(r->op);
    log_free(r->log);
    kube_config_free(r->config);
    syms_free(r->t);
    arena_free(r->a);
    free(r);
}

bool replica_ended(const struct replica *r)
{
    return r->ended;
}

bool replica_leads(const struct replica *r)
{
    return autoscaler_leads(r->op);
}

bool replica_synced(const struct replica *r)
{
    return autoscaler_synced(r->op);
}

uint32_t replica_waiting(const struct replica *r)
{
    return recorder_waiting(autoscaler_control(r->op)->recorder);
}

void replica_metrics(struct replica *r, struct sb *out)
{
    autoscaler_metrics(r->op, out);
}
