/* Is it worth removing these nodes: the rules of lifecycle 8.10, and Karpenter's way of looking for nodes. */
#include <float.h>

#include "disrupt/methods.h"

static bool all_spot(struct candidate *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!v[i]->spot)
            return false;
    return true;
}

static enum blocker_kind blocker_of(enum cheaper c)
{
    switch (c) {
    case CHEAPER_YES:
        return BLOCK_NONE;
    case CHEAPER_MIN_VALUES:
        return BLOCK_MIN_VALUES;
    case CHEAPER_NONE:
        return BLOCK_NOT_CHEAPER;
    case CHEAPER_SPOT_OFF:
        return BLOCK_SPOT_OFF;
    case CHEAPER_SPOT_FEW:
        return BLOCK_SPOT_FEW;
    }
    return BLOCK_NOT_CHEAPER;
}

/* Replacing A, A and B by one B would only be B kept: a type that is among the nodes must become cheaper, not stay
 * (lifecycle 8.10, filterSameType). Of several new nodes this is asked of each, as only those that could be B are
 * nodes that might have been kept. Where nodes are packed anew that are used badly, it is not: if all nodes are of three
 * types, a set that has each of them could become nothing else. */
static bool differs_in_type(struct run *r, struct candidate *const *v, uint32_t n, uint32_t n_claims)
{
    for (uint32_t c = 0; c < n_claims && !(r->repacks && n_claims > 1); c++) {
        double most = DBL_MAX;

        for (uint32_t i = 0; i < n; i++)
            if (v[i]->type != NO_INDEX && whatif_offers(r->w, c, v[i]->type))
                most = MIN(most, candidate_cheapest_offering(&r->c, v[i]));
        if (!whatif_below(r->w, c, most))
            return false;
    }
    return true;
}

static bool enough_saved(const struct run *r, const struct decision *d)
{
    const struct settings *st = &r->s->settings;

    if (d->n_claims > 1 && d->savings < SEVERAL_SAVE * d->price)
        return false;
    return d->savings >= st->min_savings_usd && d->savings >= st->min_savings_share * d->price;
}

double replacements_price(struct run *r, uint32_t n_claims)
{
    double sum = 0;

    for (uint32_t i = 0; i < n_claims; i++)
        sum += whatif_price(r->w, i);
    return sum;
}

/* Whether the claims of the open question are worth having for these nodes. */
static enum blocker_kind judge_claims(struct run *r, struct candidate *const *v, uint32_t n, struct decision *d)
{
    enum blocker_kind why = blocker_of(whatif_cheaper(r->w, d->price, all_spot(v, n), n == 1, &d->n_types));

    if (why != BLOCK_NONE)
        return why;
    d->replaces = true;
    d->offered = d->savings - replacements_price(r, d->n_claims);
    if (n > 1 && !differs_in_type(r, v, n, d->n_claims))
        return BLOCK_NOT_CHEAPER;
    d->savings = n > 1 ? d->savings - replacements_price(r, d->n_claims) : d->offered;
    return BLOCK_NONE;
}

static enum blocker_kind judge_savings(struct run *r, struct candidate *const *v, uint32_t n, const struct decision *d)
{
    if (!balance_approves(&r->balance, &r->c, v, n, d->savings))
        return BLOCK_BALANCE;
    return enough_saved(r, d) ? BLOCK_NONE : BLOCK_SAVINGS;
}

enum blocker_kind judge_replacements(struct run *r, struct candidate *const *v, uint32_t n, uint32_t n_claims)
{
    struct decision d = {.n_claims = n_claims};

    for (uint32_t i = 0; i < n; i++)
        d.price += v[i]->price;
    d.savings = d.price;
    enum blocker_kind why = judge_claims(r, v, n, &d);
    return why == BLOCK_NONE ? judge_savings(r, v, n, &d) : why;
}

static enum blocker_kind judge(struct run *r, struct candidate *const *v, uint32_t n, uint32_t max_claims, bool tell,
                               struct decision *d)
{
    struct whatif_outcome out;
    uint32_t *nodes = xmalloc(n * sizeof(*nodes));

    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = v[i]->node;
        d->price += v[i]->price;
    }
    whatif_remove(r->w, nodes, n, /* settled_only= */ true, tell ? UINT32_MAX : max_claims, &out);
    free(nodes);
    d->n_claims = out.n_claims;
    d->n_pods = out.n_pods;
    d->savings = d->price;
    if (out.n_claims > max_claims && !tell)
        return BLOCK_SEVERAL;
    if (out.n_failed)
        return BLOCK_PODS;
    if (out.n_claims > max_claims)
        return BLOCK_SEVERAL;
    if (out.n_claims && tell)
        d->least = replacements_price(r, out.n_claims);
    enum blocker_kind why = out.n_claims ? judge_claims(r, v, n, d) : BLOCK_NONE;
    return why == BLOCK_NONE ? judge_savings(r, v, n, d) : why;
}

struct decision consolidate(struct run *r, struct candidate *const *v, uint32_t n, uint32_t max_claims, bool tell)
{
    struct decision d = {0};

    d.why = judge(r, v, n, max_claims, tell, &d);
    return d;
}

struct decision consolidate_one(struct run *r, struct candidate *c, uint32_t max_claims)
{
    struct decision d = consolidate(r, &c, 1, max_claims, /* tell= */ false);

    if (d.why == BLOCK_SEVERAL && report_is_heard(r, c)) {
        whatif_undo(r->w);
        d = consolidate(r, &c, 1, max_claims, /* tell= */ true);
    }
    report_decision(r, c, &d);
    return d;
}

/* --- Karpenter's search --------------------------------------------------------------------------------------------------- */

#define PREFIX_MAX 100 /* bisection never looks beyond 101 candidates (quirk, lifecycle 8.10) */

/* Drops candidates beyond the budgets of their pools. */
static uint32_t within_budgets(struct run *r, struct candidate **v, uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!budget_allows(r, v[i])) {
            r->found[v[i]->node] = BLOCK_BUDGET;
            continue;
        }
        budget_take(r, v[i]);
        v[kept++] = v[i];
    }
    return kept;
}

uint32_t best_prefix(struct run *r, struct candidate *const *v, uint32_t n, bool report)
{
    int64_t lo = 1, hi = (int64_t)n - 1, best = 0, refused = 0;
    struct decision last = {0};

    while (lo <= hi) {
        int64_t mid = (lo + hi) / 2;
        struct decision d = consolidate(r, v, (uint32_t)mid + 1, 1, /* tell= */ false);

        if (report && d.replaces)
            report_replace(r, v, (uint32_t)mid + 1, &d);
        whatif_undo(r->w);
        if (d.why == BLOCK_BALANCE)
            refused = mid + 1;
        if (d.why == BLOCK_NONE || d.why == BLOCK_BALANCE)
            last = d;
        if (d.why == BLOCK_NONE) {
            best = mid + 1;
            lo = mid + 1;
        } else {
            hi = mid - 1;
        }
    }
    if (report && best == 0 && refused)
        report_move(r, v, (uint32_t)refused, &last, /* approved= */ false);
    return (uint32_t)best;
}

void search_multi(struct run *r)
{
    uint32_t n;
    struct candidate **v = candidates_of(&r->c, r->a, METHOD_MULTI, &n);

    n = within_budgets(r, v, n);
    uint32_t best = best_prefix(r, v, MIN(n, PREFIX_MAX + 1u), /* report= */ true);
    if (best == 0)
        return;
    struct decision d = consolidate(r, v, best, 1, /* tell= */ false);
    report_move(r, v, best, &d, /* approved= */ true);
    add_command(r, METHOD_MULTI, v, best, &d);
    whatif_undo(r->w);
}

struct candidate **interleaved(struct run *r, uint32_t *ret_n)
{
    uint32_t n, n_pools = r->s->n_pools, out = 0;
    struct candidate **v = candidates_of(&r->c, r->a, METHOD_SINGLE, &n);
    struct candidate **in_turn = arena_new_array(r->a, struct candidate *, n);
    uint32_t *first = xcalloc(n_pools + 1, sizeof(*first)), *next = xmalloc((n + 1) * sizeof(*next)),
             *last = xcalloc(n_pools + 1, sizeof(*last));

    memset(first, 0xff, (n_pools + 1) * sizeof(*first));
    for (uint32_t i = 0; i < n; i++) { /* a list for every pool */
        uint32_t pool = v[i]->pool;

        next[i] = NO_INDEX;
        if (first[pool] == NO_INDEX)
            first[pool] = i;
        else
            next[last[pool]] = i;
        last[pool] = i;
    }
    while (out < n)
        for (uint32_t pool = 0; pool < n_pools; pool++)
            if (first[pool] != NO_INDEX) {
                in_turn[out++] = v[first[pool]];
                first[pool] = next[first[pool]];
            }
    free(first);
    free(next);
    free(last);
    *ret_n = n;
    return in_turn;
}

void search_single(struct run *r)
{
    uint32_t n;
    struct candidate **v = interleaved(r, &n);
    bool done = false;

    for (uint32_t i = 0; i < n && !done; i++) {
        if (!budget_allows(r, v[i])) {
            r->found[v[i]->node] = BLOCK_BUDGET;
            continue;
        }
        if (!balance_may_approve(&r->balance, &r->c, v[i])) {
            r->found[v[i]->node] = BLOCK_BALANCE;
            continue;
        }
        if (is_held(r, v[i]) && !report_is_heard(r, v[i]))
            continue; /* a no that nobody hears */
        struct decision d = consolidate_one(r, v[i], 1);
        if (d.why == BLOCK_NONE) {
            add_command(r, METHOD_SINGLE, &v[i], 1, &d);
            done = true;
        }
        whatif_undo(r->w);
    }
}
