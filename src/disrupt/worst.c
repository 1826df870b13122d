/* The nodes that are used worst, packed anew together.
 *
 * What a node's pods are worth is their part of the price of a new node that is full of such pods, of the type that suits
 * them best. Where pods are worth half of what their node costs, the rest is paid for nothing: for room that nobody asks
 * for, or that is of no use because another resource is used up. Such nodes seldom go one by one, as each has pods that fit
 * nowhere else; a few of them together become fewer and fuller ones. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "disrupt/methods.h"

#define NODES_PER_CLAIM 2 /* to begin with; sets that did well say how many the next ones have */
#define QUESTIONS_A_SET 10
#define MISSES 24 /* sets in a row of which nothing came; those that follow are used better yet */

struct ranked {
    struct candidate *c;
    double worth; /* of its pods, as a part of its price */
};

static int cmp_worths(const void *a, const void *b, void *ctx UNUSED)
{
    double x = ((const struct ranked *)a)->worth, y = ((const struct ranked *)b)->worth;

    return x < y ? -1 : x > y;
}

/* Nodes whose pods are worth the smallest part of the price come first. */
static void worst_first(struct run *r, candidate_list *v)
{
    struct ranked *x = xmalloc((v->n + 1) * sizeof(*x));

    for (uint32_t i = 0; i < v->n; i++) {
        double price = v->v[i]->price;

        x[i] = (struct ranked){v->v[i], price > 0 ? whatif_worth(r->w, v->v[i]->node) / price : INFINITY};
    }
    sort_stable(x, v->n, sizeof(*x), cmp_worths, NULL);
    for (uint32_t i = 0; i < v->n; i++)
        v->v[i] = x[i].c;
    free(x);
}

/* Sets that begin with the same nodes; n is 0: none was any good. */
struct attempt {
    uint32_t n;
    double price, savings;
};

/* Nodes that one set has and the other has not are there if they save enough of their own price. */
static bool is_better(const struct attempt *x, const struct attempt *best)
{
    double more = x->savings - best->savings, price = SEVERAL_SAVE * (x->price - best->price);

    return best->n == 0 || (x->n > best->n ? more > price : more >= price);
}

static bool try_set(struct run *r, const candidate_list *all, uint32_t at, uint32_t size, candidate_list *set,
                    struct attempt *ret)
{
    next_chunk(r, all, &at, size, set);
    *ret = (struct attempt){.n = set->n};
    if (set->n > 1) {
        struct decision d = consolidate(r, set->v, set->n, claims_allowed(r, set->n), /* tell= */ false);

        whatif_undo(r->w);
        ret->price = d.price;
        ret->savings = d.why == BLOCK_NONE ? d.savings : 0;
    }
    return_all(r, set);
    return ret->savings > 0;
}

static uint32_t a_quarter(uint32_t n)
{
    return MAX(n / 4, 1u);
}

/* Looks for the number of nodes, from `at` on, that is best: fewer until some will do, then more; if more are no better, fewer yet. The set is left with these, its budgets taken. */
static bool find_set(struct run *r, const candidate_list *all, uint32_t at, uint32_t *size, candidate_list *set,
                     uint32_t *ret_next)
{
    struct attempt best = {0}, x;
    uint32_t try = *size, first = 0;
    bool grows = true;

    for (uint32_t i = 0; i < QUESTIONS_A_SET && try > 1; i++) {
        bool good = try_set(r, all, at, try, set, &x) && x.n != best.n && is_better(&x, &best);

        if (good) {
            first = best.n ? first : x.n;
            best = x;
        } else if (best.n && grows && best.n == first) {
            grows = false;
        } else if (best.n || x.n < 2) {
            break;
        }
        uint32_t from = best.n ? best.n : x.n;
        try = best.n && grows ? from + a_quarter(from) : from - a_quarter(from);
    }
    *ret_next = at;
    next_chunk(r, all, ret_next, best.n, set);
    if (best.n)
        *size = best.n;
    return best.n > 0;
}

void replace_worst(struct run *r)
{
    uint32_t at = 0, misses = 0, size = NODES_PER_CLAIM * claims_allowed(r, UINT32_MAX);
    candidate_list all = {0}, set = {0};

    free_candidates(r, METHOD_MULTI, &all);
    worst_first(r, &all);
    r->repacks = true;
    while (at < all.n && misses < MISSES) {
        uint32_t before = r->commands.n, next;

        if (find_set(r, &all, at, &size, &set, &next)) {
            struct decision d = consolidate(r, set.v, set.n, claims_allowed(r, set.n), /* tell= */ false);

            accept(r, &set, &d);
        }
        misses = r->commands.n > before ? 0 : misses + 1;
        at = r->commands.n > before ? next : at + 1;
    }
    r->repacks = false;
    vec_fini(&all);
    vec_fini(&set);
}
