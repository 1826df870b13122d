/* operator - the whole controller: client, watches, store, provider, controllers, election, probes, metrics (lifecycle 9).
 *
 * The same in a pod, on a laptop, inside the demo and in the simulated world: it gets a world and a way to the API server. It starts its watches at once, acts from the
 * moment it leads, and ends when it is told to or has lost the lease.
 */
#pragma once

#include "control/control.h"
#include "net/http.h"

struct operator;

/* Makes the provider. The control's api is there; its store will be by the time the provider is called. */
typedef struct cloud *(*cloud_make_fn)(struct control *c, struct err *e);

struct provider_source {
    const char *name;
    cloud_make_fn make;
};

struct operator_setup {
    struct world *world;
    struct kube_config *config; /* outlives the operator, as do the next three */
    const struct options *options;
    struct syms *syms;
    struct log *log;
    cloud_make_fn cloud;
    str identity; /* of this replica: host name and something unique */
    /* It is over: status 0 after operator_stop(), 1 when the lease was lost. The operator may be freed from here on, not inside. */
    void (*on_end)(void *ctx, int status);
    void *ctx;
};

struct operator* operator_new(const struct operator_setup *s, struct err *e);
/* Ends what is under way, gives the lease back, sends what is still to be said; at most 10 s. */
void operator_stop(struct operator* o);
void operator_free(struct operator* o);
AUTO_DEFINE(operator)

bool operator_leads(const struct operator* o);
bool operator_synced(const struct operator* o); /* every watch has been listed */
struct control *operator_control(struct operator* o);

void operator_metrics(struct operator *o, struct sb *out); /* as Prometheus reads them */

/* Servers: /metrics; /healthz and /readyz with their checks. `o` is the operator. */
void operator_serve_metrics(void *o, struct exchange *x);
void operator_serve_probes(void *o, struct exchange *x);
