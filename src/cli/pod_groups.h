/* pod_groups - pods by what they belong to: web-0, web-1 and web-2 become "web ×3".
 *
 * Works for one snapshot, in the caller's arena; counting a pod takes no allocation once its workload is known.
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/snapshot.h"

struct pod_share { /* some pods of one workload */
    uint32_t workload, n;
    uint32_t pod; /* one of them */
};

struct pod_groups {
    const struct snapshot *s;
    struct arena *a;
    struct strmap names;     /* workload name -> number */
    struct u64map workloads; /* (namespace, name) -> number */
    VEC(str) labels;         /* of workloads, as printed: the namespace is left out when it is "default" */
    VEC(uint32_t) slot;      /* scratch, per workload: index of its share + 1 */
    VEC(struct pod_share) shares;
};

void pod_groups_fini(struct pod_groups *g);

/* Appends the pods to `shares`, one entry a workload: most pods first, then by name. Says where they start. */
uint32_t pod_groups_count(struct pod_groups *g, const uint32_t *pods, uint32_t n);

/* The shares from `first` to the end, as text: "web ×3", "db-0", …; after a handful only a count. A single pod is
 * called by its own name, or by its workload's if many nodes share the line (`one_node` is false). */
const str *pod_groups_items(struct pod_groups *g, uint32_t first, uint32_t n, bool one_node, uint32_t *ret_n);
