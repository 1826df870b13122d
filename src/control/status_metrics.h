/* status_metrics - what conditions of objects have been through: counted, timed, and told in Events (lifecycle 10.4).
 *
 * Transitions are seen as the store changes. How things are at the moment is not kept: collectors read it out of the store when somebody asks.
 */
#pragma once

#include "control/control.h"

struct status_watch;

struct status_watch *status_watch_new(
    struct control *c); /* for Nodes, NodeClaims, NodePools, node classes; outlives the store's last change */
void status_watch_free(struct status_watch *s);
AUTO_DEFINE(status_watch)
