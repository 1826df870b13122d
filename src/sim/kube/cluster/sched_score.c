/* Which of the nodes that fit is best: kube-scheduler's default scores with their weights, each from 0 to 100. */
#include <math.h>

#include "sim/kube/cluster/sched_int.h"

/* How much stays free, with what does not ask taken to need a little. */
static int64_t least_allocated(const struct snode *n, const struct shape *p)
{
    int64_t sum = 0, weights = 0;

    for (int i = 0; i < 2; i++) {
        int64_t have = n->alloc.v[i], used = sat_add(n->scored[i], p->scored[i]);

        if (have == 0)
            continue;
        sum += used > have ? 0 : (have - used) * 100 / have;
        weights++;
    }
    return weights ? sum / weights : 0;
}

/* How alike the shares of cpu and memory are that are used. */
static int64_t balance(const struct snode *n, const int64_t *more)
{
    double share[2];
    uint32_t k = 0;

    for (int i = 0; i < 2; i++)
        if (n->alloc.v[i])
            share[k++] = fmin((double)(n->used.v[i] + (more ? more[i] : 0)) / (double)n->alloc.v[i], 1);
    return (int64_t)((1 - (k == 2 ? fabs(share[0] - share[1]) / 2 : 0)) * 100);
}

/* Whether the pod makes the node more balanced than it was: 75 when it makes no difference. */
static int64_t balanced(const struct snode *n, const struct shape *p)
{
    return 50 + (50 + balance(n, p->asks.v) - balance(n, NULL)) / 2;
}

static int64_t disliked_taints(const struct sched *s, const struct snode *n, const struct shape *p)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < n->taints.n; i++) {
        const struct taint *t = &n->taints.v[i];
        bool ok = t->effect != EFFECT_PREFER_NO_SCHEDULE;

        for (uint32_t k = 0; !ok && k < p->tolerations.n; k++)
            ok = toleration_tolerates(&p->tolerations.v[k], t, s->syms);
        count += !ok;
    }
    return count;
}

static int64_t liked_labels(const struct sched *s, const struct snode *n, const struct shape *p)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < p->n_preferred; i++)
        if (node_terms_match(s, &p->preferred[i], 1, n))
            sum += p->preferred[i].weight;
    return sum;
}

/* Raw numbers become 0 … 100 of the highest; reversed: the highest gets nothing. */
static void add_normalised(struct attempt *t, const int64_t *raw, int64_t weight, bool reversed)
{
    int64_t max = 0;

    for (uint32_t k = 0; k < t->n_feasible; k++)
        max = MAX(max, raw[k]);
    for (uint32_t k = 0; k < t->n_feasible; k++) {
        int64_t score = max ? raw[k] * 100 / max : 0;

        t->scores[k] += weight * (reversed ? 100 - score : score);
    }
}

void score_all(struct attempt *t)
{
    struct sched *s = t->s;
    int64_t *raw = arena_new_array(s->tmp, int64_t, t->n_feasible);

    t->scores = arena_new_array(s->tmp, int64_t, t->n_feasible);
    for (uint32_t k = 0; k < t->n_feasible; k++) {
        const struct snode *n = &s->nodes.v[t->feasible[k]];

        t->scores[k] = least_allocated(n, t->p) + (t->p->best_effort ? 0 : balanced(n, t->p));
        raw[k] = disliked_taints(s, n, t->p);
    }
    add_normalised(t, raw, 3, true);
    if (t->p->n_preferred) {
        for (uint32_t k = 0; k < t->n_feasible; k++)
            raw[k] = liked_labels(s, &s->nodes.v[t->feasible[k]], t->p);
        add_normalised(t, raw, 2, false);
    }
    spread_score(t, t->scores, 2);
    affinity_score(t, t->scores, 2);
}
