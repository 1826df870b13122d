#include "cli/simulate/sandbox_controller.h"

#include "control/autoscaler.h"
#include "model/sym.h"

struct sandbox_controller {
    struct sandbox_controller_setup s;
    struct arena *arena;
    struct syms *syms;
    struct options options;
    struct kube_config *config;
    struct log *log;
    struct autoscaler *op;
};

static int64_t clock_of(void *world)
{
    return world_now_ms(world);
}

static void on_end(void *ctx UNUSED, int status UNUSED) {}

static void drop_line(void *ctx UNUSED, str line UNUSED) {}

/* What the world does not have is not asked for: another replica, a port. */
static const char *const env_of_sandbox[] = {
    "DISABLE_LEADER_ELECTION", "true", "METRICS_PORT", "0", "HEALTH_PROBE_PORT", "0", NULL,
};

static const struct option_doc *find_setting(str key)
{
    uint32_t n;
    const struct option_doc *docs = options_docs(&n);

    for (uint32_t i = 0; i < n; i++)
        if (docs[i].env && str_is(key, docs[i].env))
            return &docs[i];
    return NULL;
}

/* Settings become flags, so that a value that cannot be is refused. */
static bool parse_settings(struct sandbox_controller *r, struct err *e)
{
    VEC(char *) argv = {0};
    bool ok = true;

    vec_push(&argv, (char *)(uintptr_t) "controller");
    if (!r->s.on_line)
        vec_push(&argv, (char *)(uintptr_t) "--log-level=error");
    for (uint32_t i = 0; i < r->s.n_settings && ok; i++) {
        str key, value;
        const struct option_doc *d = NULL;

        if (!str_cut(str_c(r->s.settings[i]), '=', &key, &value))
            ok = err_set(e, ERR_INVALID, "%s: this is not KEY=VALUE", r->s.settings[i]);
        else if (!(d = find_setting(key)))
            ok = err_set(e, ERR_INVALID, "%s: there is no setting " STR_FMT, r->s.settings[i], STR_ARG(key));
        else
            vec_push(&argv,
                     (char *)(uintptr_t)arena_printf(r->arena, "--%s=" STR_FMT "%c", d->flag, STR_ARG(value), 0).p);
    }
    vec_push(&argv, NULL);
    ok = ok && options_parse(&r->options, r->arena, r->syms, (int)argv.n - 1, argv.v, env_of_sandbox, e);
    vec_fini(&argv);
    return ok;
}

struct sandbox_controller *sandbox_controller_new(const struct sandbox_controller_setup *s, struct err *e)
{
    struct sandbox_controller *r = xcalloc(1, sizeof(*r));

    r->s = *s;
    r->arena = arena_new(0);
    r->syms = syms_new();
    r->config = kube_config_fixed(str_c(s->server), STR(""), NULL);
    const struct provider_source *kwok = cli_provider(s->env, "kwok", e); /* whose machines this cluster has */
    if (kwok && parse_settings(r, e)) {
        r->log = log_new(r->options.log_level, &(struct log_sink){s->ctx, s->on_line ? s->on_line : drop_line},
                         clock_of, s->world);
        r->op = autoscaler_new(&(struct autoscaler_setup){.world = s->world,
                                                          .config = r->config,
                                                          .options = &r->options,
                                                          .syms = r->syms,
                                                          .log = r->log,
                                                          .provider = kwok,
                                                          .identity = STR("simulate"),
                                                          .on_end = on_end,
                                                          .ctx = r},
                               e);
    }
    if (r->op)
        return r;
    sandbox_controller_free(r); /* nothing has been started in it */
    return NULL;
}

void sandbox_controller_free(struct sandbox_controller *r)
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

bool sandbox_controller_acts(const struct sandbox_controller *r)
{
    return autoscaler_leads(r->op) && autoscaler_synced(r->op);
}
