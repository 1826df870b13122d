/* The methods in Karpenter's order, and what is said of every node in the end. */
#include "disrupt/methods.h"

/* --- start and end --------------------------------------------------------------------------------------------------------- */

static bool is_busy(const struct run *r, uint32_t node)
{
    return r->busy && bit_test(r->busy, node);
}

/* Pods of nodes that are busy need places as well. */
static void look_at_some(struct run *r)
{
    uint32_t words = BITS_WORDS(r->s->n_nodes);
    uint64_t *nodes = arena_dup_array(r->a, uint64_t, r->only, words);

    if (r->busy)
        bits_or(nodes, r->busy, words);
    candidates_init_of(&r->c, r->a, r->s, nodes);
}

void run_begin(struct run *r)
{
    const struct snapshot *s = r->s;

    if (r->only)
        look_at_some(r);
    else if (r->known)
        candidates_borrow(&r->c, r->a, r->known);
    else
        candidates_init(&r->c, r->a, s);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (is_busy(r, i))
            r->c.all[i].obstacle = BLOCK_DELETING; /* as good as */
    if (!r->only)
        balance_init(&r->balance, &r->c);
    r->command_of = arena_new_array(r->a, uint32_t, s->n_nodes);
    memset(r->command_of, 0xff, s->n_nodes * sizeof(*r->command_of));
    r->taken = arena_new_array(r->a, int64_t, s->n_pools);
    r->found = arena_new_array(r->a, enum blocker_kind, s->n_nodes);
}

/* Commands that are under way go ahead: their nodes are no place for the pods of others, and their own pods need one. */
static void remove_busy(struct run *r)
{
    struct whatif_outcome out;
    VEC(uint32_t) nodes = {0};

    for (uint32_t i = 0; i < r->s->n_nodes; i++)
        if (is_busy(r, i) && !r->s->nodes[i].deleting)
            vec_push(&nodes, i);
    if (nodes.n) {
        whatif_remove(r->w, nodes.v, nodes.n, /* settled_only= */ false, UINT32_MAX, &out);
        whatif_keep(r->w);
        for (uint32_t i = 0; i < r->s->n_nodes; i++)
            if (whatif_took(r->w, i) && r->c.all[i].obstacle == BLOCK_NONE)
                r->c.all[i].obstacle = BLOCK_NOMINATED;
    }
    vec_fini(&nodes);
}

static void compile(struct run *r)
{
    r->w = whatif_new_in(r->frame, r->s, r->c.movable);
    if (r->o->compat)
        whatif_set_compat(r->w);
    else
        whatif_avoid_early(r->w);
}

void run_compile(struct run *r)
{
    compile(r);
    remove_busy(r);
}

void run_compile_and_prove(struct run *r, struct candidate *const *v, uint32_t n)
{
    compile(r);
    whatif_gauge(r->w);
    r->held = arena_new_array(r->a, uint64_t, BITS_WORDS(r->s->n_nodes));
    for (uint32_t i = 0; i < n; i++) {
        const struct whatif_price price = {v[i]->price, v[i]->spot, 1};
        struct whatif_hold hold;

        if (whatif_hold(r->w, v[i]->node, &price, &hold))
            bit_set(r->held, v[i]->node);
    }
    remove_busy(r);
}

bool is_held(const struct run *r, const struct candidate *c)
{
    return r->held && bit_test(r->held, c->node);
}

void run_end(struct run *r)
{
    vec_fini(&r->commands);
    vec_fini(&r->moves);
    whatif_free(r->w);
    candidates_fini(&r->c);
}

/* --- what methods share -------------------------------------------------------------------------------------------------- */

/* What the commands so far take from the budgets. */
static void count_taken(struct run *r)
{
    memset(r->taken, 0, r->s->n_pools * sizeof(*r->taken));
    for (uint32_t i = 0; r->waiting && i < r->s->n_nodes; i++)
        if (bit_test(r->waiting, i) && r->c.all[i].pool != NO_INDEX)
            r->taken[r->c.all[i].pool]++;
    for (uint32_t i = 0; i < r->commands.n; i++)
        for (uint32_t k = 0; k < r->commands.v[i].n_nodes; k++)
            r->taken[r->c.all[r->commands.v[i].nodes[k]].pool]++;
}

void method_begin(struct run *r, enum disrupt_method m)
{
    r->budgets = budgets_of(r->a, r->s, method_budget(m));
    count_taken(r);
}

bool budget_allows(const struct run *r, const struct candidate *c)
{
    return r->budgets[c->pool].left > r->taken[c->pool];
}

void budget_take(struct run *r, const struct candidate *c)
{
    r->taken[c->pool]++;
}

void keep_question(struct run *r)
{
    whatif_moves(r->w, &r->moves);
    whatif_keep(r->w);
}

struct disrupt_command *add_removal(struct run *r, enum disrupt_method m, struct candidate *const *v, uint32_t n,
                                    const struct decision *d)
{
    struct disrupt_command *c = vec_add(&r->commands);

    c->method = m;
    c->nodes = arena_new_array(r->a, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        c->nodes[c->n_nodes++] = v[i]->node;
        r->command_of[v[i]->node] = r->commands.n - 1;
    }
    c->price = d->price;
    c->savings = d->savings;
    c->n_pods = d->n_pods;
    c->moves = vec_to_arena(&r->moves, r->a);
    c->n_moves = r->moves.n;
    r->moves.n = 0;
    return c;
}

void add_command(struct run *r, enum disrupt_method m, struct candidate *const *v, uint32_t n, const struct decision *d)
{
    whatif_moves(r->w, &r->moves);
    struct disrupt_command *c = add_removal(r, m, v, n, d);

    c->n_claims = d->n_claims;
    if (d->n_claims)
        c->claims = whatif_claims(r->w, r->a);
}

/* --- emptiness and drift (lifecycle 8.7, 8.8) ------------------------------------------------------------------------------ */

void search_emptiness(struct run *r)
{
    uint32_t n, kept = 0;
    struct candidate **v = candidates_of(&r->c, r->a, METHOD_EMPTINESS, &n);
    struct decision d = {0};

    for (uint32_t i = 0; i < n; i++) {
        if (!budget_allows(r, v[i])) {
            r->found[v[i]->node] = BLOCK_BUDGET;
            continue;
        }
        budget_take(r, v[i]);
        d.price += v[i]->price;
        d.n_pods += v[i]->n_pods;
        v[kept++] = v[i];
    }
    d.savings = d.price;
    if (kept)
        (void)add_removal(r, METHOD_EMPTINESS, v, kept, &d);
}

struct decision drift_away(struct run *r, const struct candidate *c)
{
    struct decision d = {.price = c->price, .savings = c->price};
    struct whatif_outcome out;

    whatif_remove(r->w, &c->node, 1, /* settled_only= */ false, UINT32_MAX, &out);
    d.n_claims = out.n_claims;
    d.n_pods = out.n_pods;
    d.savings -= replacements_price(r, out.n_claims);
    d.why = out.n_failed ? BLOCK_PODS : BLOCK_NONE;
    if (out.n_failed)
        report_blocked(r, c, &d);
    return d;
}

void search_drift(struct run *r)
{
    uint32_t n;
    struct candidate **v = candidates_of(&r->c, r->a, METHOD_DRIFT, &n);
    bool done = false;

    for (uint32_t i = 0; i < n && !done; i++) {
        if (!budget_allows(r, v[i])) {
            r->found[v[i]->node] = BLOCK_BUDGET;
            continue;
        }
        struct decision d = drift_away(r, v[i]);
        done = d.why == BLOCK_NONE;
        if (done)
            add_command(r, METHOD_DRIFT, &v[i], 1, &d);
        else
            r->found[v[i]->node] = d.why;
        whatif_undo(r->w);
    }
}

/* --- one pass -------------------------------------------------------------------------------------------------------------- */

static void compat(struct run *r, unsigned methods)
{
    static void (*const search[N_METHODS])(struct run *) = {
        [METHOD_EMPTINESS] = search_emptiness,
        [METHOD_DRIFT] = search_drift,
        [METHOD_MULTI] = search_multi,
        [METHOD_SINGLE] = search_single,
    };

    for (unsigned m = 0; m < N_METHODS && r->commands.n == 0; m++) {
        if (!(methods & 1u << m))
            continue;
        /* quirk: without a pool to launch from, drift and multi-node end the pass (lifecycle 8.9) */
        if (m != METHOD_EMPTINESS && !whatif_has_pools(r->w))
            return;
        method_begin(r, (enum disrupt_method)m);
        search[m](r);
    }
}

/* --- why nodes stay ---------------------------------------------------------------------------------------------------------- */

/* Removing an empty node without making a new one for the pods that cost nothing to evict. */
static struct decision empty_out(struct run *r, const struct candidate *c)
{
    struct decision d = {.price = c->price};
    struct whatif_outcome out;

    whatif_remove(r->w, &c->node, 1, /* settled_only= */ true, UINT32_MAX, &out);
    d.n_claims = out.n_claims;
    d.n_pods = out.n_pods;
    d.why = out.n_failed || out.n_claims ? BLOCK_PODS : BLOCK_NONE;
    return d;
}

static struct decision decide(struct run *r, struct candidate *c, enum disrupt_method m)
{
    switch (m) {
    case METHOD_EMPTINESS:
        return empty_out(r, c);
    case METHOD_DRIFT:
        return drift_away(r, c);
    case METHOD_STATIC_DRIFT:
    case METHOD_MULTI:
    case METHOD_SINGLE:
    case N_METHODS:
        break;
    }
    return consolidate(r, &c, 1, 1, /* tell= */ true);
}

/* A candidate that no command took: what its own simulation says. A budget is to blame only for nodes that would go
 * without it; Karpenter does not look any further, so one pass of it does not either. */
static struct blocker undecided(struct run *r, struct candidate *c, enum disrupt_method m)
{
    bool over = r->found[c->node] == BLOCK_BUDGET;
    struct blocker b = over ? budget_blocker(r, c, m) : later_blocker(r);

    if (over && (r->o->compat || !r->o->explain || whatif_took(r->w, c->node)))
        return b;
    if (whatif_took(r->w, c->node))
        return taker_blocker();
    if (!whatif_has_pools(r->w))
        return no_pool_blocker();
    if (!r->o->explain || (m == METHOD_EMPTINESS && r->o->compat))
        return b;
    struct decision d = decide(r, c, m);
    if (d.why != BLOCK_NONE)
        b = decision_blocker(r, c, &d);
    whatif_undo(r->w);
    return b;
}

/* Of all methods that were asked for, the one whose answer tells most: the one it is a candidate of, else the one that
 * would be its own. */
static enum disrupt_method telling_method(const struct run *r, uint32_t node, unsigned methods)
{
    static const enum disrupt_method order[] = {METHOD_DRIFT, METHOD_SINGLE, METHOD_MULTI, METHOD_EMPTINESS};
    const struct candidate *c = &r->c.all[node];

    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        if ((methods & 1u << order[i]) && candidate_obstacle(&r->c, node, order[i]) == BLOCK_NONE)
            return order[i];
    if ((methods & 1u << METHOD_EMPTINESS) && c->empty)
        return METHOD_EMPTINESS;
    for (unsigned i = 1; i < ARRAY_LEN(order); i++)
        if (methods & 1u << order[i])
            return order[i];
    return METHOD_DRIFT;
}

static void describe_nodes(struct run *r, unsigned methods, struct disruption *out)
{
    out->nodes = arena_new_array(r->a, struct disrupt_node, r->s->n_nodes);
    count_taken(r);
    for (uint32_t i = 0; i < r->s->n_nodes; i++) {
        struct disrupt_node *n = &out->nodes[i];
        enum disrupt_method m = telling_method(r, i, methods);
        bool eligible = candidate_obstacle(&r->c, i, m) == BLOCK_NONE;

        n->eligible = eligible;
        n->command = r->command_of[i];
        n->price = r->c.all[i].price;
        out->n_candidates += eligible;
        out->cost_before += n->price;
        if (n->command != NO_INDEX)
            continue;
        n->why = eligible ? undecided(r, &r->c.all[i], m) : candidate_blocker(&r->c, i, m);
    }
    out->cost_after = out->cost_before;
    for (uint32_t i = 0; i < r->commands.n; i++)
        out->cost_after -= r->commands.v[i].savings;
}

/* A claim that a controller has made, not one that somebody wrote down in part. */
static bool is_complete(const struct nodeclaim *c)
{
    return c && annotation_value(c->annotations, c->n_annotations, "karpenter.sh/nodepool-hash").n;
}

/* The controller that writes Drifted conditions looks every few minutes, and never at manifests that are yet to be
 * applied: what it would find counts too, after what it has found. */
static void find_drift(struct run *r)
{
    AUTO(drift) struct drift *d = drift_new(r->s);

    for (uint32_t i = 0; i < r->s->n_nodes; i++)
        if (r->c.all[i].drifted_ms == INT64_MAX && is_complete(r->s->nodes[i].claim) && drift_reason(d, i).n)
            r->c.all[i].drifted_ms = r->s->now_ms;
}

struct disruption *disrupt_plan(struct arena *a, const struct snapshot *s, const struct disrupt_options *o)
{
    struct disruption *out = arena_new_one(a, struct disruption);
    struct run r = {.a = a, .s = s, .o = o};
    unsigned methods = o->methods ? o->methods : PLANNED_METHODS;

    assert((methods & ~PLANNED_METHODS) == 0);
    run_begin(&r);
    run_compile(&r);
    if (o->compat) {
        compat(&r, methods);
    } else {
        find_drift(&r);
        thorough(&r, methods);
    }
    describe_nodes(&r, methods, out);
    out->commands = vec_to_arena(&r.commands, a);
    out->n_commands = r.commands.n;
    run_end(&r);
    return out;
}
