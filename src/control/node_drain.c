#include "control/node_drain.h"

/* Critical pods go last, and daemons after those they may serve. */
static uint32_t group_of(const struct pod *p)
{
    return (p->critical ? 2u : 0u) + (p->owner == OWNER_DAEMONSET ? 1u : 0u);
}

/* quirk: a pod that is being deleted already is deleted again when its own time ends after the node's. */
static bool expires(const struct pod *p, int64_t deadline_ms, int64_t now_ms)
{
    if (deadline_ms == NO_DEADLINE || (p->terminating && moment_ms(p->deleted) <= deadline_ms))
        return false;
    return now_ms > deadline_ms - (int64_t)MAX(p->grace_s, 0) * 1000;
}

static struct drain_pod copy(struct arena *a, const struct syms *t, const struct pod *p)
{
    return (struct drain_pod){.ns = sym_str(t, p->ns),
                              .name = arena_strdup(a, p->name),
                              .uid = arena_strdup(a, UID_STR(p->uid)),
                              .grace_s = p->grace_s};
}

int64_t drain_grace_s(int64_t deadline_ms, int64_t now_ms)
{
    return MAX((deadline_ms - now_ms) / 1000, 1);
}

struct drain drain_decide(struct arena *a, const struct syms *t, const struct pod *pods, struct pod_list on_node,
                          int64_t deadline_ms, int64_t now_ms)
{
    uint32_t first = UINT32_MAX;
    struct drain d = {
        .expiring = arena_new_array(a, struct drain_pod, on_node.n),
        .evict = arena_new_array(a, struct drain_pod, on_node.n),
        .asked = arena_new_array(a, uint32_t, on_node.n),
    };

    for (uint32_t i = 0; i < on_node.n; i++) {
        const struct pod *p = &pods[on_node.v[i]];

        if (!pod_is_waiting_eviction(p, t, now_ms))
            continue;
        d.n_waiting++;
        first = MIN(first, group_of(p));
        if (expires(p, deadline_ms, now_ms))
            d.expiring[d.n_expiring++] = copy(a, t, p);
    }
    for (uint32_t i = 0; i < on_node.n; i++) {
        const struct pod *p = &pods[on_node.v[i]];

        if (!pod_is_waiting_eviction(p, t, now_ms) || group_of(p) != first || !pod_is_active(p))
            continue;
        d.asked[d.n_asked++] = on_node.v[i];
        if (pod_is_evictable(p, t, now_ms))
            d.evict[d.n_evict++] = copy(a, t, p);
    }
    return d;
}
