/* How many nodes of a pool may go at once, by its disruption budgets. */
#include "disrupt/candidate.h"
#include "model/cron.h"

enum budget_reason method_budget(enum disrupt_method m)
{
    static const enum budget_reason reasons[N_METHODS] = {
        BUDGET_EMPTY, BUDGET_DRIFTED, BUDGET_DRIFTED, BUDGET_UNDERUTILIZED, BUDGET_UNDERUTILIZED,
    };

    return reasons[m];
}

static bool is_active(const struct budget *b, int64_t now_ms, bool *ret, struct err *e)
{
    struct cron schedule;
    int64_t hit_ms;

    *ret = true;
    if (b->schedule.n == 0 && !b->has_duration)
        return true;
    if (!cron_parse(b->schedule, &schedule, e))
        return false;
    /* quirk: a schedule that never fires is always active (lifecycle 8.6) */
    if (cron_next(&schedule, sat_sub(now_ms, b->duration_ns / 1000000), &hit_ms))
        *ret = hit_ms <= now_ms;
    return true;
}

/* "3", or "30%" of the nodes, rounded up. */
static bool value_of(const struct budget *b, uint32_t nodes, int64_t now_ms, int64_t *ret, struct err *e)
{
    bool percent = str_ends(b->nodes, STR("%")), active;
    int64_t v;

    if (!is_active(b, now_ms, &active, e))
        return false;
    if (!str_to_i64(percent ? str_sub(b->nodes, 0, b->nodes.n - 1) : b->nodes, &v))
        return err_set(e, ERR_INVALID, "nodes \"" STR_FMT "\" is neither a number nor a percentage", STR_ARG(b->nodes));
    if (percent)
        v = sat_add(sat_mul(v, nodes), 99) / 100;
    *ret = active ? v : INT32_MAX;
    return true;
}

/* quirk: an empty list of reasons is not an absent one, and matches nothing (lifecycle 8.6) */
static bool applies(const struct budget *b, enum budget_reason reason)
{
    return b->all_reasons || (b->reasons & reason) != 0;
}

static void evaluate(struct arena *a, const struct nodepool *p, int64_t now_ms, enum budget_reason reason,
                     struct pool_budget *ret)
{
    ret->allowed = INT32_MAX;
    for (uint32_t i = 0; i < p->n_budgets; i++) {
        struct err e = {0};
        int64_t v = 0; /* gcc cannot see that a true answer sets it */

        /* One that cannot be read closes the pool for every reason. */
        if (!value_of(&p->budgets[i], ret->nodes, now_ms, &v, &e)) {
            ret->allowed = 0;
            ret->error = arena_printf(a, "budget %u: %s", i + 1, e.msg);
            return;
        }
        if (applies(&p->budgets[i], reason))
            ret->allowed = MIN(ret->allowed, v);
    }
}

static bool counts(const struct state_node *n)
{
    return n->claim && n->node && n->initialized && n->claim->instance_terminating != COND_TRUE;
}

struct pool_budget *budgets_of(struct arena *a, const struct snapshot *s, enum budget_reason reason)
{
    struct pool_budget *v = arena_new_array(a, struct pool_budget, s->n_pools);
    struct u64map pool_of_sym = {0};

    for (uint32_t i = 0; i < s->n_pools; i++)
        u64map_put(&pool_of_sym, s->pools[i].name_sym.v, i);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct state_node *n = &s->nodes[i];
        uint32_t pool = counts(n) ? u64map_get(&pool_of_sym, n->pool.v) : MAP_NONE;

        if (pool == MAP_NONE)
            continue;
        v[pool].nodes++;
        v[pool].disrupting += !n->node->ready || n->deleting;
    }
    u64map_fini(&pool_of_sym);
    for (uint32_t i = 0; i < s->n_pools; i++) {
        evaluate(a, &s->pools[i], s->now_ms, reason, &v[i]);
        v[i].left = MAX(v[i].allowed - v[i].disrupting, 0);
    }
    return v;
}
