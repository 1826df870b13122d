#include "model/change.h"

#define ONE 1000 /* a whole pod */

static void forget_values(struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        l->q[i].v = 0;
}

void node_sum_requests(struct arena *a, const struct snapshot *s, struct state_node *n)
{
    int64_t daemons = 0;

    forget_values(&n->requests);
    forget_values(&n->daemon_requests);
    for (uint32_t i = 0; i < n->n_pods; i++) {
        const struct pod *p = &s->pods[n->pods[i]];

        reslist_add(a, &n->requests, &p->spec->requests);
        if (p->owner != OWNER_DAEMONSET)
            continue;
        reslist_add(a, &n->daemon_requests, &p->spec->requests);
        daemons++;
    }
    reslist_set(a, &n->requests, SYM(PODS), (int64_t)n->n_pods * ONE, /* binary= */ false);
    if (daemons || n->daemon_requests.n)
        reslist_set(a, &n->daemon_requests, SYM(PODS), daemons * ONE, /* binary= */ false);
}

/* Where the pod is in the list, which ascends, or belongs. */
static uint32_t place_of(const struct state_node *n, uint32_t pod)
{
    uint32_t lo = 0, hi = n->n_pods;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (n->pods[mid] < pod)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* A list that has no more room than it holds moves to where it has. */
static uint32_t *with_room(struct arena *a, uint32_t *v, uint32_t n, uint32_t *cap)
{
    if (n < *cap)
        return v;
    *cap = n + n / 2 + 4;
    uint32_t *more = arena_new_array(a, uint32_t, *cap);
    if (n)
        memcpy(more, v, n * sizeof(*more));
    return more;
}

static void stop_waiting(struct snapshot *s, uint32_t pod)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n_pending; i++)
        if (s->pending[i] != pod)
            s->pending[kept++] = s->pending[i];
    s->n_pending = kept;
}

/* Before those that move off deleting nodes. */
static void start_waiting(struct snapshot *s, struct arena *a, uint32_t pod)
{
    uint32_t at = s->n_pending - s->n_moving;

    s->pending = with_room(a, s->pending, s->n_pending, &s->cap_pending);
    memmove(s->pending + at + 1, s->pending + at, s->n_moving * sizeof(*s->pending));
    s->pending[at] = pod;
    s->n_pending++;
}

void snapshot_pod_left(struct snapshot *s, struct arena *a, uint32_t pod, uint32_t node)
{
    struct state_node *n = node == UINT32_MAX ? NULL : &s->nodes[node];
    uint32_t at = n ? place_of(n, pod) : 0;

    s->pods[pod].phase = PHASE_SUCCEEDED; /* counts nowhere, not even in disruption budgets */
    if (!n) {
        stop_waiting(s, pod);
        return;
    }
    assert(at < n->n_pods && n->pods[at] == pod);
    n->n_pods--;
    memmove(n->pods + at, n->pods + at + 1, (n->n_pods - at) * sizeof(*n->pods));
    node_sum_requests(a, s, n);
}

void snapshot_pod_came(struct snapshot *s, struct arena *a, uint32_t pod, uint32_t node)
{
    struct state_node *n = node == UINT32_MAX ? NULL : &s->nodes[node];

    if (!n) {
        start_waiting(s, a, pod);
        return;
    }
    uint32_t at = place_of(n, pod);
    assert(at == n->n_pods || n->pods[at] != pod);
    n->pods = with_room(a, n->pods, n->n_pods, &n->cap_pods);
    memmove(n->pods + at + 1, n->pods + at, (n->n_pods - at) * sizeof(*n->pods));
    n->pods[at] = pod;
    n->n_pods++;
    node_sum_requests(a, s, n);
}
