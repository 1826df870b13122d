/* autoscaler - the whole controller: client, watches, store, provider, controllers, election, probes, metrics (lifecycle 9).
 *
 * The same in a pod, on a laptop, inside the demo and in the simulated world: it gets a world and a way to the API server. It starts its watches at once, acts from the
 * moment it leads, and ends when it is told to or has lost the lease.
 */
#pragma once

#include "control/control.h"
#include "net/http.h"

struct autoscaler;

/* Makes the provider. The control's api is there; its store will be by the time the provider is called. */
typedef struct cloud *(*cloud_make_fn)(struct control *c, struct err *e);

struct provider_source {
    const char *name;
    cloud_make_fn make;
    /* Controllers of the provider's own, registered after all others; NULL: it has none. */
    void *(*attach)(struct control *c);
    void (*detach)(void *controllers);
};

struct autoscaler_setup {
    struct world *world;
    struct kube_config *config; /* outlives the autoscaler, as do the next three, and the provider */
    const struct options *options;
    struct syms *syms;
    struct log *log;
    const struct provider_source *provider;
    str identity; /* of this replica: host name and something unique */
    /* It is over: status 0 after autoscaler_stop(), 1 when the lease was lost. The autoscaler may be freed from here on, not inside. */
    void (*on_end)(void *ctx, int status);
    void *ctx;
};

struct autoscaler *autoscaler_new(const struct autoscaler_setup *s, struct err *e);
/* Ends what is under way, gives the lease back, sends what is still to be said; at most 10 s. */
void autoscaler_stop(struct autoscaler *o);
void autoscaler_free(struct autoscaler *o);
AUTO_DEFINE(autoscaler)

bool autoscaler_leads(const struct autoscaler *o);
bool autoscaler_synced(const struct autoscaler *o); /* every watch has been listed */
struct control *autoscaler_control(struct autoscaler *o);

void autoscaler_metrics(struct autoscaler *o, struct sb *out); /* as Prometheus reads them */
struct metrics *autoscaler_registry(struct autoscaler *o);     /* for families that only the process around it knows */

/* Servers: /metrics; /healthz and /readyz with their checks. `o` is the autoscaler. */
void autoscaler_serve_metrics(void *o, struct exchange *x);
void autoscaler_serve_probes(void *o, struct exchange *x);
