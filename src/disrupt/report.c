/* What a live pass says of nodes and pools, and when: Karpenter's events and the moves it counts. */
#include "base/sb.h"
#include "disrupt/methods.h"

static void say(struct run *r, enum remark_kind kind, uint32_t node, str text)
{
    vec_push(&r->report->remarks,
             (struct remark){.kind = kind, .node = node, .pool = r->c.all[node].pool, .text = text});
}

static void say_of_pool(struct run *r, enum remark_kind kind, uint32_t pool, str text)
{
    vec_push(&r->report->remarks, (struct remark){.kind = kind, .node = NO_INDEX, .pool = pool, .text = text});
}

static bool is_in(const uint64_t *set, uint32_t i)
{
    return set && bit_test(set, i);
}

bool report_is_heard(const struct run *r, const struct candidate *c)
{
    return r->report && !is_in(r->report->told, c->node);
}

/* --- before a decision ------------------------------------------------------------------------------------------------- */

/* Rows 3 to 11 of lifecycle 8.3. Nobody is told of nodes without a NodeClaim. */
static bool is_of_construction(enum blocker_kind k)
{
    return k > BLOCK_UNMANAGED && k <= BLOCK_PDBS;
}

/* Those that filters do not pass over in silence (lifecycle 8.4). */
static bool is_of_filter(enum blocker_kind k)
{
    return k == BLOCK_UNKNOWN_TYPE || k == BLOCK_NO_CAPACITY_TYPE || k == BLOCK_NO_ZONE || k == BLOCK_NEVER ||
           k == BLOCK_BUFFERED || k == BLOCK_POLICY;
}

void report_candidates(struct run *r, enum disrupt_method m)
{
    for (uint32_t i = 0; i < r->s->n_nodes; i++)
        if (is_of_construction(candidate_obstacle(&r->c, i, m)) && !is_in(r->busy, i))
            say(r, REMARK_BLOCKED, i, candidate_blocker(&r->c, i, m).text);
    for (uint32_t i = 0; i < r->s->n_nodes; i++)
        if (is_of_filter(candidate_obstacle(&r->c, i, m)) && !is_in(r->report->told, i))
            say(r, REMARK_UNCONSOLIDATABLE, i, candidate_blocker(&r->c, i, m).text);
}

void report_budgets(struct run *r, enum disrupt_method m)
{
    for (uint32_t i = 0; i < r->s->n_pools; i++)
        if (r->budgets[i].nodes && r->budgets[i].allowed == 0)
            say_of_pool(r, REMARK_BLOCKED, i, closed_text(r->a, m));
}

/* --- decisions --------------------------------------------------------------------------------------------------------- */

void report_blocked(struct run *r, const struct candidate *c, const struct decision *d)
{
    if (r->report)
        say(r, REMARK_BLOCKED, c->node, decision_blocker(r, c, d).text);
}

void report_decision(struct run *r, struct candidate *c, const struct decision *d)
{
    if (!r->report)
        return;
    if (d->replaces)
        report_replace(r, &c, 1, d);
    if (d->why == BLOCK_NONE || d->why == BLOCK_BALANCE)
        report_move(r, &c, 1, d, d->why == BLOCK_NONE);
    else if (report_is_heard(r, c))
        say(r, REMARK_UNCONSOLIDATABLE, c->node, decision_blocker(r, c, d).text);
}

/* quirk: said of every replacement that is worked out, and of no deletion (lifecycle 11) */
void report_replace(struct run *r, struct candidate *const *v, uint32_t n, const struct decision *d)
{
    struct sb b = {0};

    for (uint32_t i = 0; r->report && i < n; i++) {
        struct disrupt_command c = {.n_nodes = 1, .n_claims = d->n_claims};
        str name = node_title(&r->s->nodes[v[i]->node]);

        sb_reset(&b);
        if (n == 1)
            command_text(&b, r->s, &c, &v[i]->node);
        else
            sb_printf(&b, "%s: [" STR_FMT "] (part of %u-node consolidation)", command_decision(&c), STR_ARG(name), n);
        say(r, REMARK_CANDIDATE, v[i]->node, sb_dup(&b, r->a));
        vec_last(&r->report->remarks).savings = d->offered;
    }
    sb_fini(&b);
}

/* A pool counts where its first node is. */
static bool is_first_of_pool(struct candidate *const *v, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (v[k]->pool == v[i]->pool)
            return false;
    return true;
}

static struct pass_move scored_move(const struct run *r, uint32_t pool, const struct weight *w)
{
    return (struct pass_move){
        .scored = true,
        .score = w->score,
        .savings = w->savings,
        .disruption = w->disruption,
        .saved = w->saved,
        .disrupted = w->disrupted,
        .pool_cost = r->balance.cost[pool],
        .pool_disruption = r->balance.disruption[pool],
    };
}

static uint32_t *nodes_of(struct run *r, struct candidate *const *v, uint32_t n)
{
    uint32_t *nodes = arena_new_array(r->a, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        nodes[i] = v[i]->node;
    return nodes;
}

void report_move(struct run *r, struct candidate *const *v, uint32_t n, const struct decision *d, bool approved)
{
    const uint32_t *nodes = r->report ? nodes_of(r, v, n) : NULL;

    for (uint32_t i = 0; r->report && i < n; i++) {
        uint32_t pool = v[i]->pool;
        bool scored = r->s->pools[pool].policy == CONSOLIDATE_BALANCED;

        if (!is_first_of_pool(v, i))
            continue;
        struct weight w = balance_weigh(&r->balance, pool, v, n, d->savings);
        struct pass_move m = scored ? scored_move(r, pool, &w) : (struct pass_move){0};
        m.pool = pool;
        m.approved = approved;
        m.replaces = d->n_claims > 0;
        m.nodes = nodes;
        m.n_nodes = n;
        vec_push(&r->report->moves, m);
        if (!scored || !(w.score >= BALANCE_THRESHOLD))
            continue;
        if (n == 1)
            say(r, REMARK_APPROVED, v[i]->node, balance_text(r->a, &w));
        else
            say_of_pool(r, REMARK_APPROVED, pool, balance_text(r->a, &w));
    }
}
