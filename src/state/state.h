/* state - builds a snapshot from decoded objects (scheduling 7, 8.2, 8.3, 8.6).
 *
 * The snapshot refers to the objects and their symbols, which must outlive it. Replicas that workloads want and the
 * objects do not contain are added to the objects as pending pods, and notes about what was left out.
 */
#pragma once

#include "model/objects.h"
#include "model/snapshot.h"

/* More pods than this are refused rather than planned. */
#define STATE_MAX_PODS 8000000u

struct snapshot *state_build(struct arena *a, struct objects *o, const struct catalog *c, const struct settings *st,
                             int64_t now_ms, struct err *e);
