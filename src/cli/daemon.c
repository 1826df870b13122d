#include "cli/daemon.h"

#include <assert.h>
#include <signal.h>

static int64_t wall_clock(void *world)
{
    return world_now_ms(world);
}

bool cli_daemon_begin(struct cli_daemon *s, enum log_level level, const struct log_sink *sink, const char *kubeconfig,
                      const char *context, struct err *e)
{
    const struct kube_config_source source = {kubeconfig[0] ? kubeconfig : NULL, context[0] ? context : NULL};

    s->loop = loop_new();
    s->world = loop_process(s->loop);
    s->log = log_new(level, sink, wall_clock, s->world);
    s->config = kube_config_load(s->world, &source, e);
    return s->config != NULL;
}

bool cli_daemon_listen(struct cli_daemon *s, int64_t port, http_serve_fn fn, void *ctx, struct err *e)
{
    assert(s->n_ports < DAEMON_PORTS);
    struct httpd *h =
        httpd_listen(s->loop, &(struct httpd_options){.address = "0.0.0.0", .port = (uint16_t)port}, fn, ctx, e);
    if (h)
        s->ports[s->n_ports++] = h;
    return h != NULL;
}

void cli_daemon_on_signal(struct cli_daemon *s, void (*fn)(void *ctx, int signo), void *ctx)
{
    loop_on_signal(s->loop, SIGTERM, fn, ctx);
    loop_on_signal(s->loop, SIGINT, fn, ctx);
}

void cli_daemon_end(struct cli_daemon *s, int status)
{
    s->status = status;
    world_quit(s->loop);
}

int cli_daemon_run(struct cli_daemon *s)
{
    world_run(s->loop);
    return s->status;
}

void cli_daemon_stop(struct cli_daemon *s)
{
    while (s->n_ports)
        httpd_close(s->ports[--s->n_ports]);
    if (!s->world)
        return;
    loop_kill(s->world);
    loop_unwind(s->world);
}

void cli_daemon_free(struct cli_daemon *s)
{
    loop_free(s->loop);
    kube_config_free(s->config);
    log_free(s->log);
}
