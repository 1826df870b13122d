/* Consolidation policy Balanced: a move must save a larger part of its pool's cost than it disrupts of its pods, or at
 * least half as much. */
#include <math.h>

#include "disrupt/candidate.h"

/* What a node that cannot be touched adds to the disruption of its pool: 1, and the pods that are not daemons. */
static double untouched_cost(const struct snapshot *s, const struct state_node *n)
{
    double sum = 1;

    for (uint32_t i = 0; i < n->n_pods; i++) {
        const struct pod *p = &s->pods[n->pods[i]];
        double cost = pod_eviction_cost(p);

        if (p->owner != OWNER_DAEMONSET && cost > 0)
            sum += cost;
    }
    return sum;
}

static bool any_balanced(const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (s->pools[i].policy == CONSOLIDATE_BALANCED)
            return true;
    return false;
}

void balance_init(struct balance *b, const struct candidates *c)
{
    b->cost = arena_new_array(c->a, double, c->s->n_pools);
    b->disruption = arena_new_array(c->a, double, c->s->n_pools);
    b->has_candidate = arena_new_array(c->a, uint64_t, BITS_WORDS(c->s->n_pools));
    if (any_balanced(c->s))
        balance_count(b, c);
}

void balance_count(struct balance *b, const struct candidates *c)
{
    const struct snapshot *s = c->s;

    memset(b->cost, 0, s->n_pools * sizeof(*b->cost));
    memset(b->disruption, 0, s->n_pools * sizeof(*b->disruption));
    bits_zero(b->has_candidate, BITS_WORDS(s->n_pools));
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct candidate *x = &c->all[i];

        if (x->pool == NO_INDEX)
            continue;
        /* Karpenter keeps books on the price of every NodeClaim, and those are what it has in mind. */
        if (s->nodes[i].claim)
            b->cost[x->pool] += x->price;
        if (candidate_is_constructible(c, i, /* eventual= */ false)) {
            bit_set(b->has_candidate, x->pool);
            b->disruption[x->pool] += x->reschedule_cost;
        } else {
            b->disruption[x->pool] += untouched_cost(s, &s->nodes[i]);
        }
    }
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (!bit_test(b->has_candidate, i))
            b->cost[i] = b->disruption[i] = 0;
}

double balance_score(double savings, double disruption, double pool_cost, double pool_disruption)
{
    if (!(pool_cost > 0) || !(pool_disruption > 0))
        return 0;
    double saved = savings / pool_cost, disrupted = disruption / pool_disruption;
    if (saved <= 0)
        return 0;
    return disrupted == 0 ? INFINITY : saved / disrupted;
}

static bool is_balanced(const struct candidates *c, const struct candidate *x)
{
    return c->s->pools[x->pool].policy == CONSOLIDATE_BALANCED;
}

struct weight balance_weigh(const struct balance *b, uint32_t pool, struct candidate *const *v, uint32_t n,
                            double savings)
{
    double price = 0, total = 0, disruption = 0, cost = b->cost[pool], all = b->disruption[pool];
    bool several = false;

    for (uint32_t i = 0; i < n; i++) {
        total += v[i]->price;
        several |= v[i]->pool != pool;
        if (v[i]->pool != pool)
            continue;
        price += v[i]->price;
        disruption += v[i]->reschedule_cost;
    }
    if (several && total > 0)
        savings *= price / total;
    return (struct weight){
        .savings = savings,
        .disruption = disruption,
        .saved = cost > 0 ? savings / cost : 0,
        .disrupted = all > 0 ? disruption / all : 0,
        .score = balance_score(savings, disruption, cost, all),
    };
}

str balance_text(struct arena *a, const struct weight *w)
{
    return arena_printf(a, "score %.2f %s threshold %.2f (k: 2, savings %.1f%%, disruption %.1f%%)", w->score,
                        w->score >= BALANCE_THRESHOLD ? ">=" : "<", BALANCE_THRESHOLD, 100 * w->saved,
                        100 * w->disrupted);
}

bool balance_approves(const struct balance *b, const struct candidates *c, struct candidate *const *v, uint32_t n,
                      double savings)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_balanced(c, v[i]) && !(balance_weigh(b, v[i]->pool, v, n, savings).score >= BALANCE_THRESHOLD))
            return false;
    return n > 0;
}

bool balance_may_approve(const struct balance *b, const struct candidates *c, const struct candidate *v)
{
    if (!is_balanced(c, v) || !(b->cost[v->pool] > 0))
        return true;
    return balance_score(v->price, v->reschedule_cost, b->cost[v->pool], b->disruption[v->pool]) >= BALANCE_THRESHOLD;
}
