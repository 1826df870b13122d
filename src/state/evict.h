/* evict - which pods may be moved off their node, and what keeps them there (scheduling 8.6).
 *
 * Pure functions on a snapshot's pods and disruption budgets.
 */
#pragma once

#include "model/snapshot.h"

bool pod_is_finished(const struct pod *p); /* Succeeded or Failed */
bool pod_is_active(const struct pod *p);   /* neither finished nor terminating */

/* Annotation karpenter.sh/do-not-disrupt is in force: `true`, or a positive duration that has not passed since the pod
 * started. A pod whose start is unknown stays protected. Values that are neither have no effect. */
bool pod_is_protected(const struct pod *p, int64_t now_ms);
/* Eviction is what would remove it: active, not static, not protected, and not tolerating the disruption taint. */
bool pod_is_evictable(const struct pod *p, struct syms *syms, int64_t now_ms);
/* Wants a new place when its node goes: active, or leaving as part of a StatefulSet, and not tied to the node. */
bool pod_is_reschedulable(const struct pod *p);
/* The same, and nothing keeps it where it is: no do-not-disrupt, no disruption budget that never allows an eviction. */
bool pod_is_movable(const struct snapshot *s, const struct pod *p);
