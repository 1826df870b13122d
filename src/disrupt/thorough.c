/* Our own search: every candidate is looked at, nodes that cannot move are passed over, and whatever can go at once goes
 * in one pass. Each question is asked of the cluster as it will be after the commands before it, so that they never
 * count on the same room; a node that takes pods stays. */
#include "disrupt/methods.h"

/* --- emptiness --------------------------------------------------------------------------------------------------------------- */

/* Nodes whose pods cost nothing to evict count as empty for Karpenter. Here their pods must have a place. */
static bool remove_cheap(struct run *r, struct candidate *c)
{
    struct whatif_outcome out;

    whatif_remove(r->w, &c->node, 1, /* settled_only= */ true, 0, &out);
    if (out.n_failed == 0 && out.n_claims == 0) {
        keep_question(r);
        return true;
    }
    if (out.n_pods) /* else a capacity buffer has a use for it, and says so by itself */
        report_decision(r, c, &(struct decision){.why = BLOCK_PODS, .n_pods = out.n_pods});
    whatif_undo(r->w);
    r->found[c->node] = BLOCK_PODS;
    return false;
}

static void remove_empty(struct run *r)
{
    candidate_list all = {0}, go = {0};
    struct decision d = {0};

    free_candidates(r, METHOD_EMPTINESS, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        struct candidate *c = all.v[i];

        if (!is_free(r, c) || !take_if_allowed(r, c))
            continue;
        if (!remove_cheap(r, c)) {
            r->taken[c->pool]--;
            continue;
        }
        d.price += c->price;
        d.n_pods += c->n_pods;
        vec_push(&go, c);
    }
    d.savings = d.price;
    if (go.n)
        (void)add_removal(r, METHOD_EMPTINESS, go.v, go.n, &d);
    vec_fini(&all);
    vec_fini(&go);
}

/* --- drift ------------------------------------------------------------------------------------------------------------------- */

static void replace_drifted(struct run *r)
{
    candidate_list all = {0};

    free_candidates(r, METHOD_DRIFT, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        if (!is_free(r, all.v[i]) || !take_if_allowed(r, all.v[i]))
            continue;
        struct decision d = drift_away(r, all.v[i]);
        if (d.why == BLOCK_NONE) {
            add_command(r, METHOD_DRIFT, &all.v[i], 1, &d);
            whatif_keep(r->w);
            continue;
        }
        r->found[all.v[i]->node] = d.why;
        r->taken[all.v[i]->pool]--;
        whatif_undo(r->w);
    }
    vec_fini(&all);
}

/* --- consolidation ------------------------------------------------------------------------------------------------------------ */

/* There is no best order to ask in: what goes first takes the room that others would have needed. Each way is tried,
 * and the one that saves most is taken. */
enum way { LARGE_SETS_FIRST, WORST_FIRST, DELETES_FIRST, MERGES_FIRST, PREFIX_FIRST, N_WAYS };

/* Candidates; beyond that two ways have to do, and the next pass finds what is left. A controller waits for the answer
 * and asks again soon. */
#define ALL_WAYS_UP_TO 1000
#define ALL_WAYS_LIVE 100

static void consolidate_many(struct run *r, enum way way)
{
    uint32_t before = r->commands.n;

    method_begin(r, METHOD_MULTI);
    if (way == LARGE_SETS_FIRST)
        sweep(r, /* replace= */ true, /* all_first= */ true);
    if (way == MERGES_FIRST)
        merge_many(r);
    if (way == PREFIX_FIRST)
        remove_prefix(r);
    if (way == WORST_FIRST) {
        sweep(r, /* replace= */ false, /* all_first= */ true);
        replace_worst(r);
    }
    /* What found nothing finds nothing a second time; a sweep with replacements asks about every node without, too. */
    bool changed = r->commands.n > before;
    if (way != LARGE_SETS_FIRST || changed)
        sweep(r, /* replace= */ false, way == DELETES_FIRST);
    changed = r->commands.n > before;
    if (way != MERGES_FIRST || changed)
        merge_many(r);
}

static void consolidate_by(struct run *r, unsigned methods, enum way way)
{
    if (methods & 1u << METHOD_MULTI)
        consolidate_many(r, way);
    if (methods & 1u << METHOD_SINGLE) {
        method_begin(r, METHOD_SINGLE);
        replace_single(r);
    }
}

static double saved(const struct run *r)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->commands.n; i++)
        sum += r->commands.v[i].savings;
    return sum;
}

/* Everything that was decided since there were `commands`. */
static void take_back(struct run *r, uint32_t questions, uint32_t commands)
{
    while (whatif_kept(r->w) > questions)
        whatif_undo(r->w);
    while (r->commands.n > commands) {
        const struct disrupt_command *c = &r->commands.v[--r->commands.n];

        for (uint32_t i = 0; i < c->n_nodes; i++)
            r->command_of[c->nodes[i]] = NO_INDEX;
    }
}

/* Nothing goes, pair by pair or alone. Then no other order of these questions finds anything; only a larger set might. */
static void consolidate_rest(struct run *r, unsigned methods)
{
    uint32_t before = r->commands.n;

    if (methods & 1u << METHOD_MULTI) {
        method_begin(r, METHOD_MULTI);
        remove_prefix(r);
        if (r->commands.n == before)
            replace_worst(r);
    }
    if (r->commands.n > before)
        consolidate_by(r, methods, LARGE_SETS_FIRST);
}

static void consolidate_all(struct run *r, unsigned methods)
{
    uint32_t questions = whatif_kept(r->w), commands = r->commands.n, n;
    (void)candidates_of(&r->c, r->a, METHOD_MULTI, &n);
    struct arena_mark mark = arena_mark(r->a);
    enum way best = LARGE_SETS_FIRST, last = n <= (r->live ? ALL_WAYS_LIVE : ALL_WAYS_UP_TO) ? N_WAYS - 1 : WORST_FIRST;

    consolidate_by(r, methods, best);
    if (r->commands.n == commands) {
        consolidate_rest(r, methods);
        return;
    }
    if (!(methods & 1u << METHOD_MULTI))
        return; /* single nodes know one way only */
    double most = saved(r);
    for (enum way way = LARGE_SETS_FIRST + 1; way <= last; way++) {
        take_back(r, questions, commands);
        arena_rewind(r->a, mark);
        consolidate_by(r, methods, way);
        if (saved(r) > most) {
            most = saved(r);
            best = way;
        }
    }
    if (best == last)
        return;
    take_back(r, questions, commands);
    arena_rewind(r->a, mark);
    consolidate_by(r, methods, best);
}

void thorough(struct run *r, unsigned methods)
{
    whatif_settle(r->w); /* nodes that take a pod that waits are nominated */
    if (methods & 1u << METHOD_EMPTINESS) {
        method_begin(r, METHOD_EMPTINESS);
        remove_empty(r);
    }
    if (methods & 1u << METHOD_DRIFT) {
        method_begin(r, METHOD_DRIFT);
        replace_drifted(r);
    }
    consolidate_all(r, methods);
}
