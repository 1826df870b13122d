#include "control/node_drain.h"

#define STEP_MS 1000
#define STEPS 4
#define AT_ONCE 4 /* who asks for one part in so many of the node */

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

static struct drain_pod copy(struct arena *a, const struct syms *t, const struct pod *pods, uint32_t ix)
{
    const struct pod *p = &pods[ix];

    return (struct drain_pod){.ix = ix,
                              .ns = sym_str(t, p->ns),
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
            d.expiring[d.n_expiring++] = copy(a, t, pods, on_node.v[i]);
    }
    for (uint32_t i = 0; i < on_node.n; i++) {
        const struct pod *p = &pods[on_node.v[i]];

        if (!pod_is_waiting_eviction(p, t, now_ms) || group_of(p) != first || !pod_is_active(p))
            continue;
        d.asked[d.n_asked++] = on_node.v[i];
        if (pod_is_evictable(p, t, now_ms))
            d.evict[d.n_evict++] = copy(a, t, pods, on_node.v[i]);
    }
    return d;
}

/* Times two for every step, it would be that part of the resource; 0: it is already. */
static uint32_t steps_of(int64_t asked, int64_t room)
{
    uint32_t n = 0;

    for (int64_t v = sat_mul(asked, AT_ONCE); n < STEPS && v < room; v = sat_mul(v, 2))
        n++;
    return n;
}

void drain_large_first(struct drain *d, const struct pod *pods, const struct reslist *room)
{
    static const sym resources[] = {SYM(CPU), SYM(MEMORY)};

    for (uint32_t i = 0; i < d->n_evict; i++) {
        const struct podspec *spec = pods[d->evict[i].ix].spec;
        uint32_t n = STEPS;

        for (uint32_t k = 0; k < ARRAY_LEN(resources); k++) {
            const struct resq *asked = spec ? reslist_get(&spec->requests, resources[k]) : NULL,
                              *there = reslist_get(room, resources[k]);

            if (asked && there)
                n = MIN(n, steps_of(asked->v, there->v));
        }
        d->evict[i].wait_ms = n * STEP_MS;
    }
}
