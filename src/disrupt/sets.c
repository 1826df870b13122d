/* Sets of candidates that can go together: finding them, and making commands of them.
 *
 * Many nodes are asked about together as long as the answer is yes, fewer after a no: the number of questions grows
 * with what changes, not with the number of nodes. */
#include <math.h>

#include "disrupt/methods.h"

bool is_free(const struct run *r, const struct candidate *c)
{
    return r->command_of[c->node] == NO_INDEX && !whatif_took(r->w, c->node);
}

/* Company does not make a node worth disrupting that would not be so alone. */
static bool is_worth_it(struct run *r, enum disrupt_method m, const struct candidate *c)
{
    if (m != METHOD_MULTI || balance_may_approve(&r->balance, &r->c, c))
        return true;
    r->found[c->node] = BLOCK_BALANCE;
    return false;
}

void free_candidates(struct run *r, enum disrupt_method m, candidate_list *out)
{
    uint32_t n;
    struct candidate **v = candidates_of(&r->c, r->a, m, &n);

    for (uint32_t i = 0; i < n; i++)
        if (is_free(r, v[i]) && is_worth_it(r, m, v[i]))
            vec_push(out, v[i]);
}

bool take_if_allowed(struct run *r, const struct candidate *c)
{
    if (!budget_allows(r, c)) {
        r->found[c->node] = BLOCK_BUDGET;
        return false;
    }
    budget_take(r, c);
    return true;
}

void return_all(struct run *r, const candidate_list *v)
{
    for (uint32_t i = 0; i < v->n; i++)
        r->taken[v->v[i]->pool]--;
}

/* --- asking --------------------------------------------------------------------------------------------------------------------- */

static double price_of(const candidate_list *v)
{
    double sum = 0;

    for (uint32_t i = 0; i < v->n; i++)
        sum += v->v[i]->price;
    return sum;
}

uint32_t claims_allowed(const struct run *r, uint32_t n)
{
    return n > 1 ? MIN(r->s->settings.max_replacements, n - 1) : 1;
}

/* A bound says that it cannot work out, without asking. */
static bool is_hopeless(struct run *r, const candidate_list *v, bool replace, double *ret_least)
{
    uint32_t few[16] = {0}, *nodes = v->n <= ARRAY_LEN(few) ? few : xmalloc(v->n * sizeof(*nodes));

    for (uint32_t i = 0; i < v->n; i++)
        nodes[i] = v->v[i]->node;
    double least = whatif_least(r->w, nodes, v->n);
    if (nodes != few)
        free(nodes);
    *ret_least = least;
    return replace ? least >= price_of(v) && least > 0 : least > 0;
}

void next_chunk(struct run *r, const candidate_list *all, uint32_t *at, uint32_t size, candidate_list *out)
{
    out->n = 0;
    for (; *at < all->n && out->n < size; (*at)++)
        if (is_free(r, all->v[*at]) && take_if_allowed(r, all->v[*at]))
            vec_push(out, all->v[*at]);
}

/* --- commands ------------------------------------------------------------------------------------------------------------------- */

static void add_and_keep(struct run *r, const candidate_list *v, const struct decision *d)
{
    add_command(r, v->n > 1 ? METHOD_MULTI : METHOD_SINGLE, v->v, v->n, d);
    whatif_keep(r->w);
}

/* The moves of the open question, those of pods on the given nodes. */
static void moves_from(struct run *r, const candidate_list *v, move_list *out)
{
    uint64_t *here = xcalloc(BITS_WORDS(r->s->n_pods) + 1, sizeof(*here));
    uint32_t kept = 0;

    for (uint32_t i = 0; i < v->n; i++)
        for (uint32_t k = 0; k < r->s->nodes[v->v[i]->node].n_pods; k++)
            bit_set(here, r->s->nodes[v->v[i]->node].pods[k]);
    whatif_moves(r->w, out);
    for (uint32_t i = 0; i < out->n; i++)
        if (bit_test(here, out->v[i].pod))
            out->v[kept++] = out->v[i];
    out->n = kept;
    free(here);
}

/* Nodes with a pod on a new node, in the open question, and the others. */
static void split(struct run *r, const candidate_list *v, candidate_list *replaced, candidate_list *deleted)
{
    uint64_t *on_claim = xcalloc(BITS_WORDS(r->s->n_pods) + 1, sizeof(*on_claim));
    move_list moves = {0};

    whatif_moves(r->w, &moves);
    for (uint32_t i = 0; i < moves.n; i++)
        if (moves.v[i].node == NO_INDEX)
            bit_set(on_claim, moves.v[i].pod);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct state_node *n = &r->s->nodes[v->v[i]->node];
        bool any = false;

        for (uint32_t k = 0; k < n->n_pods; k++)
            any |= bit_test(on_claim, n->pods[k]);
        vec_push(any ? replaced : deleted, v->v[i]);
    }
    free(on_claim);
    vec_fini(&moves);
}

/* A command of a part of the nodes that the open question is about. */
static void add_part(struct run *r, const candidate_list *v, uint32_t n_claims)
{
    struct decision d = {.n_claims = n_claims};

    r->moves.n = 0;
    moves_from(r, v, &r->moves);
    d.n_pods = r->moves.n;
    d.price = price_of(v);
    d.savings = d.price - replacements_price(r, n_claims);
    struct disrupt_command *c = add_removal(r, v->n > 1 ? METHOD_MULTI : METHOD_SINGLE, v->v, v->n, &d);
    c->n_claims = n_claims;
    if (n_claims)
        c->claims = whatif_claims(r->w, r->a);
}

void accept(struct run *r, const candidate_list *v, const struct decision *d)
{
    candidate_list replaced = {0}, deleted = {0};

    if (d->n_claims)
        split(r, v, &replaced, &deleted);
    if (replaced.n == 0 || deleted.n == 0) {
        add_and_keep(r, v, d);
    } else if (d->n_claims <= claims_allowed(r, replaced.n) &&
               judge_replacements(r, replaced.v, replaced.n, d->n_claims) == BLOCK_NONE) {
        add_part(r, &deleted, 0);
        add_part(r, &replaced, d->n_claims);
        whatif_keep(r->w);
    } else {
        whatif_undo(r->w);
        return_all(r, &replaced);
        struct decision rest = consolidate(r, deleted.v, deleted.n, 0, /* tell= */ false);
        if (rest.why == BLOCK_NONE) {
            add_and_keep(r, &deleted, &rest);
        } else {
            whatif_undo(r->w);
            return_all(r, &deleted);
        }
    }
    vec_fini(&replaced);
    vec_fini(&deleted);
}

/* --- ways of looking ---------------------------------------------------------------------------------------------------------- */

void sweep(struct run *r, bool replace, bool all_first)
{
    candidate_list all = {0}, chunk = {0};
    uint32_t at = 0;

    free_candidates(r, METHOD_MULTI, &all);
    uint32_t size = all_first ? MAX(all.n, 1u) : 1;
    while (at < all.n) {
        uint32_t before = at;

        next_chunk(r, &all, &at, size, &chunk);
        if (chunk.n == 0)
            continue;
        struct decision d = {.why = BLOCK_PODS};
        double least;
        bool asked = chunk.n > 1 || (!is_held(r, chunk.v[0]) && !is_hopeless(r, &chunk, /* replace= */ false, &least));
        if (asked)
            d = consolidate(r, chunk.v, chunk.n, chunk.n > 1 && replace ? claims_allowed(r, chunk.n) : 0,
                            /* tell= */ false);
        if (d.why == BLOCK_NONE) {
            size = chunk.n * 2;
            accept(r, &chunk, &d);
            continue;
        }
        if (asked)
            whatif_undo(r->w);
        return_all(r, &chunk);
        if (chunk.n > 1)
            at = before; /* the same again, in smaller pieces */
        size = MAX(chunk.n / 2, 1u);
    }
    vec_fini(&all);
    vec_fini(&chunk);
}

/* Whether the list can go for one new node; the question is left open only then. */
static bool can_merge(struct run *r, candidate_list *v, struct decision *d)
{
    double least;

    if (is_hopeless(r, v, /* replace= */ true, &least))
        return false;
    *d = consolidate(r, v->v, v->n, 1, /* tell= */ false);
    if (d->why == BLOCK_NONE)
        return true;
    whatif_undo(r->w);
    return false;
}

/* Takes more candidates into a set that can be merged, as long as that works. */
static void grow(struct run *r, const candidate_list *all, uint32_t *at, candidate_list *set)
{
    uint32_t size = set->n;

    while (*at < all->n && size > 0) {
        uint32_t before = *at, had = set->n;
        candidate_list more = {0};
        struct decision d;

        next_chunk(r, all, at, size, &more);
        for (uint32_t i = 0; i < more.n; i++)
            vec_push(set, more.v[i]);
        bool ok = more.n > 0 && can_merge(r, set, &d);
        if (ok) {
            whatif_undo(r->w);
            size *= 2;
        } else {
            set->n = had;
            return_all(r, &more);
            *at = before;
            size /= 2;
        }
        if (more.n == 0)
            size = 0;
        vec_fini(&more);
    }
}

void merge_many(struct run *r)
{
    candidate_list all = {0}, set = {0};
    uint32_t at = 0;

    free_candidates(r, METHOD_MULTI, &all);
    while (at < all.n) {
        uint32_t next = at;
        struct decision d;

        next_chunk(r, &all, &next, 2, &set);
        if (set.n < 2) {
            return_all(r, &set);
            break;
        }
        if (!can_merge(r, &set, &d)) {
            return_all(r, &set);
            at++;
            continue;
        }
        whatif_undo(r->w);
        grow(r, &all, &next, &set);
        d = consolidate(r, set.v, set.n, 1, /* tell= */ false);
        accept(r, &set, &d);
        at = next;
    }
    vec_fini(&all);
    vec_fini(&set);
}

/* The same of one candidate, which is reported. */
static bool can_replace(struct run *r, candidate_list *one, struct decision *d)
{
    double least = 0;
    bool hopeless = (!r->report && is_held(r, one->v[0])) || is_hopeless(r, one, /* replace= */ true, &least);

    if (hopeless && (isfinite(least) || !r->report)) {
        *d = (struct decision){.why = BLOCK_NOT_CHEAPER, .price = one->v[0]->price, .least = least};
        report_decision(r, one->v[0], d);
        return false;
    }
    *d = consolidate_one(r, one->v[0], 1);
    if (d->why == BLOCK_NONE)
        return true;
    whatif_undo(r->w);
    return false;
}

void replace_single(struct run *r)
{
    uint32_t n;
    struct candidate **v = interleaved(r, &n);
    candidate_list one = {0};

    for (uint32_t i = 0; i < n; i++) {
        struct decision d;

        if ((r->report && !report_is_heard(r, v[i])) || !is_free(r, v[i]) || !take_if_allowed(r, v[i]))
            continue;
        one.n = 0;
        vec_push(&one, v[i]);
        if (can_replace(r, &one, &d)) {
            add_command(r, METHOD_SINGLE, &v[i], 1, &d);
            whatif_keep(r->w);
        } else {
            r->taken[v[i]->pool]--;
        }
    }
    vec_fini(&one);
}

void remove_prefix(struct run *r)
{
    candidate_list all = {0}, set = {0};
    uint32_t at = 0;

    free_candidates(r, METHOD_MULTI, &all);
    next_chunk(r, &all, &at, UINT32_MAX, &set);
    uint32_t n = best_prefix(r, set.v, set.n, /* report= */ false);
    for (uint32_t i = n; i < set.n; i++)
        r->taken[set.v[i]->pool]--;
    if (n) {
        struct decision d = consolidate(r, set.v, n, 1, /* tell= */ false);

        set.n = n;
        accept(r, &set, &d);
    }
    vec_fini(&all);
    vec_fini(&set);
}
