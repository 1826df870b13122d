/* drain - gets the pods off a node as `kubectl drain --force` does: through the eviction API, so that disruption budgets hold.
 *
 * Every second the pods of the node are listed; who is there and not on his way out is asked to go, and again five seconds after a budget has said no, until nobody is left or
 * the time is over. Mirror pods stay, and pods of DaemonSets.
 */
#pragma once

#include "control/recorder.h"
#include "handler/settings.h"
#include "k8s/api.h"

struct leaver {
    str ns, name, uid;
    bool leaving; /* is on its way out already */
};

struct leavers {
    struct leaver *v;
    uint32_t n;
    str refusal; /* why the node is not to be drained at all; empty: it is */
};

/* Pure: of a PodList, who has to go. Strings belong to the tree, the refusal to the arena. */
struct leavers leavers_of(struct arena *a, const struct tree *pods, const struct handler_settings *s);

struct drain_job {
    struct api *api;
    const struct handler_settings *settings;
    struct log *log;
    struct recorder *recorder; /* NULL: no Events */
    str node;
};

/* From a fiber. ERR_TIMEOUT names who is still there. In a dry run it only says whom it would evict. */
bool drain_node(const struct drain_job *d, struct err *e);
