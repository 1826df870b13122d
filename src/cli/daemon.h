/* daemon - what the commands have in common that run until a signal: a loop, a process in it, a log, the way to the API server, ports. */
#pragma once

#include "k8s/config.h"
#include "net/loop.h"
#include "obs/log.h"

#define DAEMON_PORTS 2

struct cli_daemon {
    struct world *loop, *world; /* the program has a process of its own in the loop, which dies before the rest goes */
    struct kube_config *config;
    struct log *log;
    struct httpd *ports[DAEMON_PORTS];
    uint32_t n_ports;
    int status; /* to end with */
};

/* Empty kubeconfig and context: where such programs look. */
bool cli_daemon_begin(struct cli_daemon *s, enum log_level level, const struct log_sink *sink, const char *kubeconfig,
                      const char *context, struct err *e);
/* Plain HTTP on all addresses. */
bool cli_daemon_listen(struct cli_daemon *s, int64_t port, http_serve_fn fn, void *ctx, struct err *e);
/* SIGTERM and SIGINT. */
void cli_daemon_on_signal(struct cli_daemon *s, void (*fn)(void *ctx, int signo), void *ctx);
void cli_daemon_end(struct cli_daemon *s, int status); /* cli_daemon_run() returns */
int cli_daemon_run(struct cli_daemon *s);

/* Nothing runs any more, and what ran in it can be freed. Then the rest. */
void cli_daemon_stop(struct cli_daemon *s);
void cli_daemon_free(struct cli_daemon *s);
