#include "model/buffer.h"

#define PERCENT 100

bool buffer_ref_is_known(str group, str kind)
{
    return (group.n == 0 || str_is(group, "apps")) &&
           (str_is(kind, "Deployment") || str_is(kind, "StatefulSet") || str_is(kind, "ReplicaSet"));
}

/* Rounded up; a share of something is at least one. */
static int64_t share(int64_t of, int64_t percentage)
{
    if (of <= 0 || percentage <= 0)
        return 0;
    return MAX(sat_add(sat_mul(of, percentage), PERCENT - 1) / PERCENT, 1);
}

/* Thousandths of whatever the resource is counted in. */
static int64_t milli(const struct resq *q)
{
    const int64_t nano_per_milli = 1000000;

    return sym_eq(q->name, SYM(CPU)) ? sat_add(q->v, nano_per_milli - 1) / nano_per_milli : q->v;
}

/* How often the pod fits into the limits; false: they have nothing that it asks for. */
static bool fits_times(const struct reslist *limits, const struct reslist *requests, int64_t *ret)
{
    bool any = false;

    for (uint32_t i = 0; i < limits->n; i++) {
        const struct resq *asks = reslist_get(requests, limits->q[i].name);

        if (!asks || asks->v <= 0)
            continue;
        int64_t n = milli(&limits->q[i]) / milli(asks);
        *ret = any ? MIN(*ret, n) : n;
        any = true;
    }
    return any;
}

int64_t buffer_replicas(const struct buffer *b, int64_t scale, const struct reslist *requests)
{
    bool asked = false;
    int64_t n = 0, limit;

    if (b->ref == BUFFER_REF_SCALABLE && b->has_percentage && scale > 0) {
        n = share(scale, b->percentage);
        asked = true;
    }
    if (b->has_replicas) {
        n = MAX(n, b->replicas);
        asked = true;
    }
    if (b->has_limits && fits_times(&b->limits, requests, &limit))
        n = asked ? MIN(n, limit) : limit;
    return MIN(n, INT32_MAX);
}

str buffer_pod_name(struct arena *a, str buffer, uint32_t i)
{
    return arena_printf(a, "capacity-buffer-" STR_FMT "-%u", STR_ARG(buffer), i);
}

str buffer_pod_uid(struct arena *a, str buffer_uid, uint32_t i)
{
    return arena_printf(a, STR_FMT "-%u", STR_ARG(buffer_uid), i);
}

struct pod buffer_pod(const struct podspec *spec, lset_id labels, sym ns, sym buffer, str name, str uid)
{
    return (struct pod){
        .ns = ns,
        .name = name,
        .uid = uid_of(uid),
        .created_ms = INT64_MAX, /* of equals it is the last */
        .started_ms = INT64_MIN,
        .spec = spec->base ? spec->base : spec,
        .labels = labels,
        .owner_name = buffer,
        .priority = INT32_MIN,
        .of_buffer = true,
    };
}

struct buffer_verdict buffer_judge(struct arena *a, const struct buffer *b, const struct buffer_places *p)
{
    uint32_t n = p->n_there + p->n_new + p->n_failed;

    if (b->ready != COND_TRUE)
        return (struct buffer_verdict){"NotReadyForProvisioning", false, STR("Buffer is not ready for provisioning")};
    if (!b->has_status_replicas || b->status_replicas == 0)
        return (struct buffer_verdict){"BufferEmpty", false, STR("Buffer has no replicas")};
    if (p->n_new || p->n_failed)
        return (struct buffer_verdict){
            "RequiresNewCapacity", false,
            arena_printf(a, "%u/%u virtual pods required new capacity, %u failed", p->n_new, n, p->n_failed)};
    if (n && n == b->status_replicas)
        return (struct buffer_verdict){"FitsExistingCapacity", true,
                                       arena_printf(a, "All %u virtual pods fit on existing capacity", n)};
    return (struct buffer_verdict){0};
}
