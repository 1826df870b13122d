/* Topology spread: as a filter for constraints that must hold, as a score for those that should, and for pods of a set that ask for
 * nothing. */
#include <math.h>

#include "sim/kube/cluster/sched_int.h"

/* ---- the filter ---- */

static bool counts_node(const struct attempt *t, const struct spread *x, const struct snode *n)
{
    if (x->honor_affinity && !shape_fits_labels(t->s, t->p, n))
        return false;
    return !x->honor_taints || !untolerated(t->s, t->p, n, false);
}

static bool has_all_keys(const struct attempt *t, uint32_t node, bool hard)
{
    for (uint32_t i = 0; i < t->p->n_spreads; i++)
        if (t->p->spreads[i].hard == hard && t->s->topologies.v[t->p->spreads[i].topology].domain[node] == NONE)
            return false;
    return true;
}

static int32_t lowest(const struct domain_counts *d, const struct topology *topo, int32_t min_domains)
{
    int32_t min = INT32_MAX, domains = 0;

    for (uint32_t i = 0; i < topo->n; i++)
        if (d->eligible[i]) {
            domains++;
            min = MIN(min, d->n[i]);
        }
    return domains < min_domains || min == INT32_MAX ? 0 : min;
}

void spread_count(struct attempt *t)
{
    struct sched *s = t->s;

    if (t->p->n_hard == 0)
        return;
    t->spread = arena_new_array(s->tmp, struct domain_counts, t->p->n_spreads);
    for (uint32_t i = 0; i < t->p->n_spreads; i++) {
        uint32_t n = s->topologies.v[t->p->spreads[i].topology].n;

        t->spread[i].n = arena_new_array(s->tmp, int32_t, n);
        t->spread[i].eligible = arena_new_array(s->tmp, bool, n);
    }
    for (uint32_t k = 0; k < s->order.n; k++) {
        uint32_t node = s->order.v[k];

        if (!has_all_keys(t, node, true))
            continue;
        for (uint32_t i = 0; i < t->p->n_spreads; i++) {
            const struct spread *x = &t->p->spreads[i];

            if (!x->hard || !counts_node(t, x, &s->nodes.v[node]))
                continue;
            uint32_t d = s->topologies.v[x->topology].domain[node];
            t->spread[i].eligible[d] = true;
            t->spread[i].n[d] += x->tally->on_node[node];
        }
    }
    for (uint32_t i = 0; i < t->p->n_spreads; i++)
        t->spread[i].min =
            lowest(&t->spread[i], &s->topologies.v[t->p->spreads[i].topology], t->p->spreads[i].min_domains);
}

enum why spread_filter(const struct attempt *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->p->n_spreads; i++) {
        const struct spread *x = &t->p->spreads[i];
        uint32_t d = t->s->topologies.v[x->topology].domain[node];

        if (!x->hard)
            continue;
        if (d == NONE)
            return WHY_SPREAD_LABEL;
        if (t->spread[i].n[d] + x->self - t->spread[i].min > x->max_skew)
            return WHY_SPREAD;
    }
    return WHY_FITS;
}

/* ---- the score ---- */

struct soft { /* one constraint that should hold */
    uint32_t topology;
    int32_t max_skew;
    const uint16_t *on_node;
    const struct spread *asked; /* NULL: by default */
    bool host;                  /* every node is a domain */
    bool *seen;                 /* [domain]: of a feasible node */
    int32_t *n;
    double weight;
};

static uint32_t soft_constraints(struct attempt *t, struct soft *out)
{
    struct sched *s = t->s;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->p->n_spreads; i++) {
        const struct spread *x = &t->p->spreads[i];

        if (!x->hard)
            out[n++] = (struct soft){.topology = x->topology,
                                     .max_skew = x->max_skew,
                                     .on_node = x->tally->on_node,
                                     .asked = x,
                                     .host = sym_eq(x->key, SYM(HOST))};
    }
    if (t->p->n_spreads == 0 && t->pod->owner) {
        uint32_t host = topology_of(s, SYM(HOST)), zone = topology_of(s, SYM(ZONE));

        out[n++] = (struct soft){.topology = host, .max_skew = 3, .on_node = t->pod->owner->on_node, .host = true};
        out[n++] = (struct soft){.topology = zone, .max_skew = 5, .on_node = t->pod->owner->on_node};
    }
    return n;
}

/* Nodes without the label of a constraint that the pod itself asks for are at the end. */
static bool left_out(const struct attempt *t, uint32_t node)
{
    return t->p->n_spreads && !has_all_keys(t, node, false);
}

static void soft_weights(struct attempt *t, struct soft *soft, uint32_t n)
{
    struct sched *s = t->s;
    uint32_t hosts = 0;

    for (uint32_t i = 0; i < n; i++) {
        soft[i].seen = arena_new_array(s->tmp, bool, s->topologies.v[soft[i].topology].n);
        soft[i].n = arena_new_array(s->tmp, int32_t, s->topologies.v[soft[i].topology].n);
    }
    for (uint32_t k = 0; k < t->n_feasible; k++) {
        uint32_t node = t->feasible[k];

        if (left_out(t, node))
            continue;
        hosts++;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = s->topologies.v[soft[i].topology].domain[node];

            if (d != NONE)
                soft[i].seen[d] = true;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t size = 0;

        for (uint32_t d = 0; d < s->topologies.v[soft[i].topology].n; d++)
            size += soft[i].seen[d];
        soft[i].weight = log((double)(soft[i].host ? hosts : size) + 2);
    }
}

static void soft_counts(struct attempt *t, struct soft *soft, uint32_t n)
{
    struct sched *s = t->s;

    for (uint32_t i = 0; i < n; i++) {
        const struct topology *topo = &s->topologies.v[soft[i].topology];

        for (uint32_t k = 0; !soft[i].host && k < s->order.n; k++) {
            uint32_t node = s->order.v[k], d = topo->domain[node];

            if (d == NONE || !soft[i].seen[d] || soft[i].on_node[node] == 0 || left_out(t, node))
                continue;
            if (soft[i].asked ? counts_node(t, soft[i].asked, &s->nodes.v[node])
                              : shape_fits_labels(s, t->p, &s->nodes.v[node]))
                soft[i].n[d] += soft[i].on_node[node];
        }
    }
}

void spread_score(struct attempt *t, int64_t *total, int64_t weight)
{
    struct sched *s = t->s;
    struct soft *soft = arena_new_array(s->tmp, struct soft, t->p->n_spreads + 2);
    uint32_t n = soft_constraints(t, soft);

    if (n == 0)
        return;
    soft_weights(t, soft, n);
    soft_counts(t, soft, n);
    int64_t *raw = arena_new_array(s->tmp, int64_t, t->n_feasible), min = INT64_MAX, max = 0;
    for (uint32_t k = 0; k < t->n_feasible; k++) {
        uint32_t node = t->feasible[k];
        double sum = 0;

        raw[k] = -1;
        if (left_out(t, node))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t d = s->topologies.v[soft[i].topology].domain[node];
            int32_t count = d == NONE ? 0 : soft[i].host ? soft[i].on_node[node] : soft[i].n[d];

            if (d != NONE)
                sum += count * soft[i].weight + (double)(soft[i].max_skew - 1);
        }
        raw[k] = (int64_t)round(sum);
        min = MIN(min, raw[k]);
        max = MAX(max, raw[k]);
    }
    for (uint32_t k = 0; k < t->n_feasible; k++)
        if (raw[k] >= 0)
            total[k] += weight * (max == 0 ? 100 : 100 * (max + min - raw[k]) / max);
}
