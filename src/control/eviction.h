/* eviction - the queue of pods that are to be evicted: controller eviction-queue (lifecycle 6.6).
 *
 * A pod that was put in is evicted as soon as its disruption budgets let it go, however long that takes: tries come ever more slowly, up to one in ten seconds. A pod of the same name
 * that has come since is another pod and is left alone.
 */
#pragma once

#include "control/control.h"

struct evictions;

struct evictions *evictions_new(
    struct control *c); /* adds the controller to the manager, which ends before evictions_free() */
void evictions_free(struct evictions *q);
AUTO_DEFINE(evictions)

/* Fine when it is in already; else it is evicted after so long. */
void evictions_add(struct evictions *q, str ns, str name, str uid, int64_t wait_ms);
bool evictions_has(struct evictions *q, str ns, str name, str uid);
uint32_t evictions_count(const struct evictions *q);
