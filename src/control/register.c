/* Every controller, in the order in which they hear of changes. */
#include "control/register.h"

#include <stdlib.h>

#include "control/claims.h"
#include "control/disruption.h"
#include "control/metrics_objects.h"
#include "control/nodes.h"
#include "control/overlays.h"
#include "control/provision.h"
#include "control/status_metrics.h"

struct controllers {
    struct control *c;
    struct claims *claims;
    struct nodes *nodes;
    struct provisioner *provisioner;
    struct disruptor *disruptor;
    /* NULL before anybody acts, and when nobody wants to see single objects. */
    struct object_metrics *objects;
    struct status_watch *conditions;
};

struct controllers *controllers_register(struct control *c)
{
    struct controllers *s = xcalloc(1, sizeof(*s));

    s->c = c;
    /* First: whoever plans hears of a change when the catalogue is out of date already. */
    if (c->overlays)
        overlays_register(c->overlays);
    s->claims = claims_new(c);
    s->nodes = nodes_new(c);
    s->provisioner = provision_register(c);
    s->disruptor = disruptor_new(c);
    return s;
}

void controllers_start(struct controllers *s)
{
    if (!s->c->options->disable_cluster_state_observability) {
        s->objects = object_metrics_new(s->c, provisioner_book(s->provisioner));
        s->conditions = status_watch_new(s->c);
    }
    manager_start(s->c->manager);
}

void controllers_free(struct controllers *s)
{
    if (!s)
        return;
    status_watch_free(s->conditions);
    object_metrics_free(s->objects);
    disruptor_free(s->disruptor);
    provisioner_free(s->provisioner);
    nodes_free(s->nodes);
    claims_free(s->claims);
    free(s);
}
