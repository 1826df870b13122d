/* handler - the termination handler: one process on every node, which listens to what EC2 tells its machine and gets the pods away in time.
 *
 * Two fibers. One asks the instance metadata service every other second and puts what it hears into the book (decide.h). The other looks at the book every second, and carries
 * out what handler_decide() says. Nothing is stored but labels and taints on the Node, so that a new process goes on where the last one ended.
 */
#pragma once

#include "handler/settings.h"
#include "k8s/config.h"

struct handler;

struct handler_setup {
    struct world *world;
    struct kube_config *config;              /* outlives it, as settings and log do */
    const struct handler_settings *settings; /* good ones */
    struct log *log;
    void (*on_end)(void *ctx, int status); /* it can do no more: the status of the process */
    void *ctx;
};

struct handler *handler_new(const struct handler_setup *o, struct err *e); /* begins at once */
void handler_free(struct handler *h);                                      /* when its world is dead and has unwound */

/* http_serve_fn: `server` is the handler. */
void handler_serve_metrics(void *server, struct exchange *x); /* /metrics */
void handler_serve_probes(void *server, struct exchange *x);  /* whether both fibers are alive */
