/* karpenter controller: the autoscaler, in a pod or beside a kubeconfig, until a signal or the loss of the lease. */
#include "control/autoscaler.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/daemon.h"
#include "k8s/election.h"
#include "model/duration.h"
#include "model/sym.h"
#include "obs/process.h"
#include "plan/plan.h"

#define MAX_OUTPUTS 8
#define TRIM_EVERY_US (60 * 1000000ll)
#define LOOK_EVERY_US (5 * 1000000ll) /* where memory has a limit */
#define LIMIT_SHARE 0.9               /* of it may be in use before anything is given back for its sake */

struct outputs { /* of the log */
    int fd[MAX_OUTPUTS];
    uint32_t n;
};

struct controller_run {
    struct arena *arena;
    struct syms *syms;
    struct options options;
    struct cli_daemon daemon;
    struct outputs outputs, complaints; /* of the log; of what becomes of it */
    struct autoscaler *op;
    struct timer trim;
    int64_t trimmed_us;
    bool tight; /* memory was near its limit when it was last looked at */
};

static void print_help(const struct cli_env *env)
{
    (void)printf(
        "usage: karpenter controller [FLAGS]\n"
        "\n"
        "Runs the autoscaler: pending pods become NodeClaims, NodeClaims become nodes, deleted ones are drained and go.\n"
        "In a pod it uses the pod's service account, elsewhere a kubeconfig. A flag wins over its environment variable.\n"
        "SIGTERM and Ctrl-C end it: what is under way is finished and the lease given back.\n"
        "\n"
        "Providers of machines:");
    for (uint32_t i = 0; i < env->n_providers; i++)
        (void)printf(" %s", env->providers[i].name);
    (void)printf("\n\n");
    flags_print(options_table());
}

/* ---- log ---- */

static bool write_all(int fd, str line)
{
    while (line.n) {
        ssize_t n = write(fd, line.p, line.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        line = str_sub(line, (size_t)n, line.n);
    }
    return true;
}

static void complain(const struct controller_run *c, int why)
{
    struct sb b = {0};

    time_print_rfc3339(&b, world_now_ms(c->daemon.world));
    sb_printf(&b, " write error: %s\n", strerror(why));
    for (uint32_t i = 0; i < c->complaints.n; i++)
        (void)write_all(c->complaints.fd[i], sb_view(&b)); /* nobody is left to tell */
    sb_fini(&b);
}

static void write_line(void *ctx, str line)
{
    const struct controller_run *c = ctx;

    for (uint32_t i = 0; i < c->outputs.n; i++)
        if (!write_all(c->outputs.fd[i], line))
            complain(c, errno);
}

static bool open_outputs(struct controller_run *c, const char *flag, const char *paths, struct outputs *o,
                         struct err *e)
{
    str rest = str_c(paths), one;

    while (rest.n) {
        (void)str_cut(rest, ',', &one, &rest);
        one = str_trim(one);
        if (one.n == 0)
            continue;
        if (o->n == MAX_OUTPUTS)
            return err_set(e, ERR_INVALID, "%s names more than %d files", flag, MAX_OUTPUTS);
        int fd = str_is(one, "stdout")   ? STDOUT_FILENO
                 : str_is(one, "stderr") ? STDERR_FILENO
                                         : open(arena_printf(c->arena, STR_FMT "%c", STR_ARG(one), 0).p,
                                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0)
            return err_set(e, ERR_IO, "%s: cannot open " STR_FMT ": %s", flag, STR_ARG(one), strerror(errno));
        o->fd[o->n++] = fd;
    }
    return true;
}

/* ---- memory ---- */

/* Near its limit, what planning remembers goes: it is worked out again when somebody asks. Says so once. */
static bool is_tight(struct controller_run *c)
{
    double limit = (double)c->options.memory_limit, used = limit > 0 ? process_resident_bytes() : 0;
    bool was = c->tight;

    c->tight = limit > 0 && used > LIMIT_SHARE * limit;
    if (!c->tight)
        return false;
    frame_reset(autoscaler_control(c->op)->frame);
    if (!was)
        log_error(c->daemon.log, "memory is near its limit", NULL, LOG_I64("bytes", (int64_t)used),
                  LOG_I64("limit", c->options.memory_limit));
    return true;
}

/* Lists and passes leave holes between what stays. Whole pages of them go back to the system; that takes a millisecond. */
static void on_trim(void *ctx)
{
    struct controller_run *c = ctx;
    int64_t now_us = world_mono_us(c->daemon.world);

    if (is_tight(c) || now_us - c->trimmed_us >= TRIM_EVERY_US) {
        c->trimmed_us = now_us;
#ifdef __GLIBC__
        (void)malloc_trim(0);
#endif
    }
    timer_set(c->daemon.world, &c->trim, c->options.memory_limit > 0 ? LOOK_EVERY_US : TRIM_EVERY_US);
}

/* Large blocks are mappings of their own, which are gone when they are freed. Left to itself the C library takes ever larger ones from
 * the heap, once some have come and gone. */
static void keep_memory_small(struct controller_run *c)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
    c->trim = (struct timer){.fn = on_trim, .ctx = c};
    on_trim(c);
}

/* ---- life ---- */

static void on_end(void *ctx, int status)
{
    struct controller_run *c = ctx;

    cli_daemon_end(&c->daemon, status);
}

static void on_signal(void *ctx, int signo UNUSED)
{
    struct controller_run *c = ctx;

    autoscaler_stop(c->op);
}

static bool serve(struct controller_run *c, int64_t port, http_serve_fn fn, struct err *e)
{
    return port == 0 || cli_daemon_listen(&c->daemon, port, fn, c->op, e);
}

static bool begin(struct controller_run *c, const struct cli_env *env, struct err *e)
{
    const struct provider_source *p = cli_provider(env, c->options.provider, e);
    struct cli_daemon *s = &c->daemon;
    char host[256] = "karpenter";

    if (!p || !open_outputs(c, "log-output-paths", c->options.log_output_paths, &c->outputs, e) ||
        !open_outputs(c, "log-error-output-paths", c->options.log_error_output_paths, &c->complaints, e) ||
        !cli_daemon_begin(s, c->options.log_level, &(struct log_sink){c, write_line}, c->options.kubeconfig,
                          c->options.context, e))
        return false;
    (void)gethostname(host, sizeof(host) - 1);
    c->op = autoscaler_new(&(struct autoscaler_setup){.world = s->world,
                                                      .config = s->config,
                                                      .options = &c->options,
                                                      .syms = c->syms,
                                                      .log = s->log,
                                                      .provider = p,
                                                      .identity = election_identity(c->arena, s->world, host),
                                                      .on_end = on_end,
                                                      .ctx = c},
                           e);
    if (!c->op)
        return false;
    process_metrics(autoscaler_registry(c->op));
    keep_memory_small(c);
    cli_daemon_on_signal(s, on_signal, c);
    return serve(c, c->options.metrics_port, autoscaler_serve_metrics, e) &&
           serve(c, c->options.health_probe_port, autoscaler_serve_probes, e);
}

static void close_outputs(const struct outputs *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (o->fd[i] > STDERR_FILENO)
            (void)close(o->fd[i]);
}

static void finish(struct controller_run *c)
{
    cli_daemon_stop(&c->daemon);
    autoscaler_free(c->op);
    cli_daemon_free(&c->daemon);
    close_outputs(&c->outputs);
    close_outputs(&c->complaints);
    syms_free(c->syms);
    arena_free(c->arena);
}

int cli_controller(const struct cli_env *env, int argc, char **argv)
{
    struct controller_run c = {.arena = arena_new(0), .syms = syms_new()};
    struct err e;
    int status = 0;

    if (!options_parse(&c.options, c.arena, c.syms, argc, argv, NULL, &e)) {
        status = cli_fail("%s; try: karpenter controller --help", e.msg);
    } else if (c.options.help) {
        print_help(env);
    } else if (!begin(&c, env, &e)) {
        status = cli_fail("%s", e.msg);
    } else {
        status = cli_daemon_run(&c.daemon);
    }
    finish(&c);
    return status;
}
