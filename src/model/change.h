/* change - a snapshot follows its cluster, one pod at a time.
 *
 * For whoever keeps a snapshot and what was compiled from it across events. Numbers of pods and nodes stay what they
 * are: a pod that has gone leaves a gap, which counts nowhere and may be given to another pod.
 */
#pragma once

#include "model/snapshot.h"

/* What the pods of the node ask for together, from `pods` alone. */
void node_sum_requests(struct arena *a, const struct snapshot *s, struct state_node *n);

/* A pod of the node is gone or has finished. Its number is free, but its struct stays readable until it is reused.
 * `node` UINT32_MAX: it waited for a place. */
void snapshot_pod_left(struct snapshot *s, struct arena *a, uint32_t pod, uint32_t node);
/* The pod, whose struct is in place, runs on the node from now on, or waits for a place. */
void snapshot_pod_came(struct snapshot *s, struct arena *a, uint32_t pod, uint32_t node);
