/* Affinity and anti-affinity between pods, of the pod that is to be placed and of those that are there. */
#include "sim/kube/cluster/sched_int.h"

/* Pods of a tally per domain of a topology. */
static int32_t *domain_sums(struct sched *s, const uint16_t *on_node, uint32_t topology)
{
    const struct topology *topo = &s->topologies.v[topology];
    int32_t *n = arena_new_array(s->tmp, int32_t, topo->n);

    for (uint32_t i = 0; i < s->order.n; i++) {
        uint32_t node = s->order.v[i];

        if (on_node[node] && topo->domain[node] != NONE)
            n[topo->domain[node]] += on_node[node];
    }
    return n;
}

/* ---- the filter ---- */

static void forbid(struct attempt *t, const struct holder *h)
{
    struct sched *s = t->s;
    uint32_t topology = topology_of(s, h->topology), i = 0;
    const struct topology *topo = &s->topologies.v[topology];

    while (i < t->n_forbidden && t->forbidden[i].topology != topology)
        i++;
    if (i == t->n_forbidden) {
        t->forbidden[i] = (struct forbidden){topology, arena_new_array(s->tmp, bool, topo->n)};
        t->n_forbidden++;
    }
    for (uint32_t k = 0; k < s->order.n; k++) {
        uint32_t node = s->order.v[k];

        if (h->on_node[node] && topo->domain[node] != NONE)
            t->forbidden[i].domain[topo->domain[node]] = true;
    }
}

void affinity_count(struct attempt *t)
{
    struct sched *s = t->s;
    const struct shape *p = t->p;

    t->n_forbidden = 0;
    if (s->holders.n)
        t->forbidden = arena_new_array(s->tmp, struct forbidden, s->topologies.n + s->holders.n);
    for (uint32_t i = 0; i < s->holders.n; i++) {
        struct holder *h = s->holders.v[i];

        if (h->what == HOLDS_ANTI && h->total && holder_matches(s, h, p))
            forbid(t, h);
    }
    t->affinity_anywhere = false;
    t->affinity = arena_new_array(s->tmp, int32_t *, p->n_affinity);
    for (uint32_t i = 0; i < p->n_affinity; i++) {
        t->affinity[i] = domain_sums(s, p->all_affinity->on_node, p->affinity[i].topology);
        for (uint32_t d = 0; d < s->topologies.v[p->affinity[i].topology].n; d++)
            t->affinity_anywhere |= t->affinity[i][d] > 0;
    }
    t->anti = arena_new_array(s->tmp, int32_t *, p->n_anti);
    for (uint32_t i = 0; i < p->n_anti; i++)
        t->anti[i] = domain_sums(s, p->anti[i].tally->on_node, p->anti[i].topology);
}

static bool near_others(const struct attempt *t, uint32_t node)
{
    bool all = true;

    for (uint32_t i = 0; i < t->p->n_affinity; i++) {
        uint32_t d = t->s->topologies.v[t->p->affinity[i].topology].domain[node];

        if (d == NONE)
            return false;
        all &= t->affinity[i][d] > 0;
    }
    /* The first pod of a group that wants to be together may go anywhere. */
    return all || (!t->affinity_anywhere && t->p->affine_to_itself);
}

enum why affinity_filter(const struct attempt *t, uint32_t node)
{
    const struct topology *topologies = t->s->topologies.v;

    if (t->p->n_affinity && !near_others(t, node))
        return WHY_AFFINITY;
    for (uint32_t i = 0; i < t->p->n_anti; i++) {
        uint32_t d = topologies[t->p->anti[i].topology].domain[node];

        if (d != NONE && t->anti[i][d] > 0)
            return WHY_ANTI;
    }
    for (uint32_t i = 0; i < t->n_forbidden; i++) {
        uint32_t d = topologies[t->forbidden[i].topology].domain[node];

        if (d != NONE && t->forbidden[i].domain[d])
            return WHY_EXISTING_ANTI;
    }
    return WHY_FITS;
}

/* ---- the score ---- */

static bool add_raw(struct attempt *t, int64_t *raw, const uint16_t *on_node, uint32_t topology, int32_t weight)
{
    const struct topology *topo = &t->s->topologies.v[topology];
    const int32_t *n = domain_sums(t->s, on_node, topology);

    for (uint32_t k = 0; k < t->n_feasible; k++) {
        uint32_t d = topo->domain[t->feasible[k]];

        if (d != NONE)
            raw[k] += (int64_t)n[d] * weight;
    }
    return true;
}

void affinity_score(struct attempt *t, int64_t *total, int64_t weight)
{
    struct sched *s = t->s;
    int64_t *raw = NULL, min = INT64_MAX, max = INT64_MIN;
    bool any = false;

    if (t->p->n_likes == 0 && s->holders.n == 0)
        return;
    raw = arena_new_array(s->tmp, int64_t, t->n_feasible);
    for (uint32_t i = 0; i < t->p->n_likes; i++)
        if (t->p->likes[i].tally->total)
            any |= add_raw(t, raw, t->p->likes[i].tally->on_node, t->p->likes[i].topology, t->p->likes[i].weight);
    for (uint32_t i = 0; i < s->holders.n; i++) {
        struct holder *h = s->holders.v[i];

        if (h->what != HOLDS_ANTI && h->total && holder_matches(s, h, t->p))
            any |= add_raw(t, raw, h->on_node, topology_of(s, h->topology), h->weight);
    }
    for (uint32_t k = 0; any && k < t->n_feasible; k++) {
        min = MIN(min, raw[k]);
        max = MAX(max, raw[k]);
    }
    for (uint32_t k = 0; any && max > min && k < t->n_feasible; k++)
        total[k] += weight * (100 * (raw[k] - min) / (max - min));
}
