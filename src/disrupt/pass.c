/* One method at work on a live cluster: who is a candidate, what is said of the others, and the search, Karpenter's or our own.
 * Nothing is compiled before there is a candidate that a budget would let go. */
#include "disrupt/pass.h"

#include "base/sb.h"
#include "disrupt/methods.h"

/* --- drift of static pools (lifecycle 8.8.1) ------------------------------------------------------------------------------- */

/* The replacement is the template as it is: no pods, no types, and nothing that is known to be saved or spent. */
static void replace_by_template(struct run *r, struct candidate *c)
{
    struct decision d = {.price = c->price, .savings = c->price, .n_pods = c->n_pods};
    struct disrupt_command *x = add_removal(r, METHOD_STATIC_DRIFT, &c, 1, &d);

    x->n_claims = 1;
    x->claims = arena_new_one(r->a, struct plan_claim);
    *x->claims = (struct plan_claim){.pool = c->pool, .type = NO_INDEX, .price_usd_per_h = -1};
}

static void search_static(struct run *r, struct candidate *const *v, uint32_t n, const int64_t *room)
{
    int64_t *made = arena_new_array(r->a, int64_t, r->s->n_pools);

    for (uint32_t i = 0; i < n; i++) {
        if (made[v[i]->pool] >= room[v[i]->pool] || !take_if_allowed(r, v[i]))
            continue;
        made[v[i]->pool]++;
        replace_by_template(r, v[i]);
    }
}

/* --- the other methods ----------------------------------------------------------------------------------------------------- */

/* Candidates that are worth a question. */
static uint32_t count_askable(struct run *r, const struct pass_options *o, struct candidate *const *v, uint32_t n)
{
    bool all = o->compat || o->method != METHOD_SINGLE;
    uint32_t askable = 0;

    for (uint32_t i = 0; i < n; i++)
        if (budget_allows(r, v[i]))
            askable += all || report_is_heard(r, v[i]);
        else
            r->found[v[i]->node] = BLOCK_BUDGET;
    return askable;
}

static void search_as_karpenter(struct run *r, enum disrupt_method m, uint32_t n, struct pass *out)
{
    /* quirk: drift and multi-node end the pass where there is no pool to launch from, single-node passes over every
     * candidate (lifecycle 8.9) */
    if (!whatif_has_pools(r->w)) {
        if (m == METHOD_DRIFT || (m == METHOD_MULTI && n > 1))
            out->error = STR("creating scheduler, no nodepools found");
        return;
    }
    if (m == METHOD_DRIFT)
        search_drift(r);
    else if (m == METHOD_MULTI)
        search_multi(r);
    else
        search_single(r);
}

/* Commands of several nodes are found by trying: what counts is what is there in the end. */
static void report_commands(struct run *r)
{
    for (uint32_t i = 0; i < r->commands.n; i++) {
        const struct disrupt_command *c = &r->commands.v[i];
        struct decision d = {.n_claims = c->n_claims, .offered = c->savings, .savings = c->savings};
        candidate_list v = {0};

        for (uint32_t k = 0; k < c->n_nodes; k++)
            vec_push(&v, &r->c.all[c->nodes[k]]);
        if (c->n_claims)
            report_replace(r, v.v, v.n, &d);
        report_move(r, v.v, v.n, &d, /* approved= */ true);
        vec_fini(&v);
    }
}

/* What several nodes and single ones have to offer is weighed up together. */
static void search_thoroughly(struct run *r, enum disrupt_method m)
{
    struct report *listener = r->report;

    if (m != METHOD_MULTI) {
        thorough(r, 1u << m);
        return;
    }
    r->report = NULL;
    thorough(r, 1u << METHOD_MULTI | 1u << METHOD_SINGLE);
    r->report = listener;
    report_commands(r);
}

static void search(struct run *r, const struct pass_options *o, struct candidate *const *v, struct pass *out)
{
    if (o->method == METHOD_STATIC_DRIFT) {
        search_static(r, v, out->n_candidates, o->static_room);
        return;
    }
    if (o->method == METHOD_EMPTINESS && o->compat) {
        search_emptiness(r);
        return;
    }
    uint32_t askable = count_askable(r, o, v, out->n_candidates);
    if (askable == 0)
        return;
    if (o->method == METHOD_SINGLE || (o->method == METHOD_MULTI && !o->compat))
        run_compile_and_prove(r, v, out->n_candidates);
    else
        run_compile(r);
    if (o->compat)
        search_as_karpenter(r, o->method, askable, out);
    else
        search_thoroughly(r, o->method);
}

/* Karpenter remembers every candidate that was beyond a budget. Our own search goes on to the next ones, so only those
 * were not looked at whose pools give up none. */
static bool is_constrained(const struct run *r, const struct pass_options *o, struct candidate *const *v,
                           const struct pass *p)
{
    bool own = !o->compat && o->method != METHOD_STATIC_DRIFT, any = false;

    for (uint32_t i = 0; i < p->n_candidates && !o->unchanged; i++)
        any |= own ? p->budgets[v[i]->pool].left == 0 : r->found[v[i]->node] == BLOCK_BUDGET;
    return any;
}

struct candidates *pass_candidates_new(struct arena *a, const struct snapshot *s)
{
    struct candidates *c = arena_new_one(a, struct candidates);

    candidates_init(c, a, s);
    return c;
}

void pass_candidates_free(struct candidates *c)
{
    candidates_fini(c);
}

struct pass *disrupt_pass(struct arena *a, const struct snapshot *s, const struct pass_options *o)
{
    struct pass *out = arena_new_one(a, struct pass);
    const struct disrupt_options options = {.methods = 1u << o->method, .compat = o->compat};
    struct report report = {.told = o->told};
    struct run r = {.a = a,
                    .s = s,
                    .o = &options,
                    .busy = o->busy,
                    .waiting = o->waiting,
                    .known = o->known,
                    .frame = o->frame,
                    .report = &report,
                    .live = true};

    run_begin(&r);
    report_candidates(&r, o->method);
    struct candidate **v = candidates_of(&r.c, a, o->method, &out->n_candidates);
    if (out->n_candidates) {
        method_begin(&r, o->method);
        out->budgets = r.budgets;
        report_budgets(&r, o->method);
    }
    if (out->n_candidates && !o->unchanged)
        search(&r, o, v, out);
    out->constrained = is_constrained(&r, o, v, out);
    out->commands = vec_to_arena(&r.commands, a);
    out->n_commands = r.commands.n;
    out->remarks = vec_to_arena(&report.remarks, a);
    out->n_remarks = report.remarks.n;
    out->moves = vec_to_arena(&report.moves, a);
    out->n_moves = report.moves.n;
    vec_fini(&report.remarks);
    vec_fini(&report.moves);
    run_end(&r);
    return out;
}
