/* Whether a decision of a while ago still holds (lifecycle 8.11): the nodes are still candidates, budgets have room for
 * them, and their pods would end up in as many new nodes, of the types that were chosen. */
#include "base/sb.h"
#include "disrupt/methods.h"

struct check {
    struct run r;
    const struct pass_options *o;
    struct earlier *c;
};

static bool is_candidate(const struct check *k, uint32_t node)
{
    return node != NO_INDEX && candidate_obstacle(&k->r.c, node, k->o->method) == BLOCK_NONE;
}

/* --- emptiness ------------------------------------------------------------------------------------------------------------- */

static void keep_candidates(struct check *k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->c->n_nodes; i++)
        if (is_candidate(k, k->c->nodes[i]))
            k->c->nodes[n++] = k->c->nodes[i];
    k->c->n_nodes = n;
}

static void keep_allowed(struct check *k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->c->n_nodes; i++) {
        const struct candidate *x = &k->r.c.all[k->c->nodes[i]];

        if (!budget_allows(&k->r, x))
            continue;
        budget_take(&k->r, x);
        k->c->nodes[n++] = k->c->nodes[i];
    }
    k->c->n_nodes = n;
}

/* Karpenter does not look where pods go that cost nothing to evict, nor whether the node is wanted by pods that wait. */
static bool has_questions(const struct check *k)
{
    bool any = k->r.s->n_pending > 0;

    for (uint32_t i = 0; i < k->c->n_nodes; i++)
        any |= k->r.c.all[k->c->nodes[i]].n_pods > 0;
    return any && !k->o->compat;
}

static void keep_unwanted(struct check *k)
{
    struct whatif_outcome out;
    uint32_t n = 0;

    run_compile(&k->r);
    whatif_settle(k->r.w);
    for (uint32_t i = 0; i < k->c->n_nodes; i++) {
        uint32_t node = k->c->nodes[i];

        if (whatif_took(k->r.w, node))
            continue;
        whatif_remove(k->r.w, &node, 1, /* settled_only= */ true, 0, &out);
        if (out.n_failed || out.n_claims) {
            whatif_undo(k->r.w);
            continue;
        }
        whatif_keep(k->r.w);
        k->c->nodes[n++] = node;
    }
    k->c->n_nodes = n;
}

static enum recheck check_empty(struct check *k, uint32_t *ret_failed)
{
    uint32_t had = k->c->n_nodes;

    keep_candidates(k);
    if (k->c->n_nodes == 0) {
        *ret_failed = had;
        return RECHECK_CHURN;
    }
    had = k->c->n_nodes;
    keep_allowed(k);
    *ret_failed = had - k->c->n_nodes;
    if (k->c->n_nodes == 0)
        return RECHECK_BUDGET;
    if (has_questions(k))
        keep_unwanted(k);
    *ret_failed = had - k->c->n_nodes;
    return k->c->n_nodes ? RECHECK_GOOD : RECHECK_SCHEDULING;
}

/* --- consolidation --------------------------------------------------------------------------------------------------------- */

static enum recheck check_nodes(struct check *k)
{
    for (uint32_t i = 0; i < k->c->n_nodes; i++)
        if (!is_candidate(k, k->c->nodes[i]))
            return RECHECK_CHURN;
    for (uint32_t i = 0; i < k->c->n_nodes; i++) {
        const struct candidate *x = &k->r.c.all[k->c->nodes[i]];

        if (!budget_allows(&k->r, x))
            return RECHECK_BUDGET;
        budget_take(&k->r, x);
    }
    return RECHECK_GOOD;
}

static bool are_among(const uint32_t *types, uint32_t n, const struct plan_claim *c)
{
    for (uint32_t i = 0; i < n; i++) {
        bool found = false;

        for (uint32_t t = 0; t < c->n_types && !found; t++)
            found = c->types[t] == types[i];
        if (!found)
            return false;
    }
    return true;
}

/* Claims of the open question that are for pods of the nodes. Outside of compat those for pods that wait are no part of
 * the command. */
static void mark_claims(struct check *k, uint64_t *used)
{
    move_list moves = {0};

    whatif_moves(k->r.w, &moves);
    for (uint32_t i = 0; i < moves.n; i++)
        if (moves.v[i].claim != NO_INDEX)
            bit_set(used, moves.v[i].claim);
    vec_fini(&moves);
}

/* Every claim of the command has one of its own that could be any of its types. */
static bool claims_match(struct check *k, uint32_t n_claims)
{
    const struct plan_claim *v = whatif_claims(k->r.w, k->r.a);
    uint64_t *left = arena_new_array(k->r.a, uint64_t, BITS_WORDS(n_claims));

    for (uint32_t i = 0; i < n_claims && k->o->compat; i++)
        bit_set(left, i);
    if (!k->o->compat)
        mark_claims(k, left);
    if (bits_count(left, BITS_WORDS(n_claims)) != k->c->n_claims)
        return false;
    for (uint32_t i = 0; i < k->c->n_claims; i++) {
        uint32_t at = 0;

        while (at < n_claims && !(bit_test(left, at) && are_among(k->c->types[i], k->c->n_types[i], &v[at])))
            at++;
        if (at == n_claims)
            return false;
        bit_clear(left, at);
    }
    return true;
}

static bool any_took(const struct check *k)
{
    for (uint32_t i = 0; i < k->c->n_nodes; i++)
        if (whatif_took(k->r.w, k->c->nodes[i]))
            return true;
    return false;
}

/* Pods that wait get their places first, as when the decision was made, unless they want one of these very nodes. */
static void settle(struct check *k)
{
    uint32_t before = whatif_kept(k->r.w);

    whatif_settle(k->r.w);
    if (any_took(k) && whatif_kept(k->r.w) > before)
        whatif_undo(k->r.w);
}

static enum recheck check_places(struct check *k)
{
    struct whatif_outcome out;

    run_compile(&k->r);
    if (k->o->compat && !whatif_has_pools(k->r.w))
        return RECHECK_SCHEDULING;
    if (!k->o->compat)
        settle(k);
    if (any_took(k))
        return RECHECK_SCHEDULING;
    whatif_remove(k->r.w, k->c->nodes, k->c->n_nodes, /* settled_only= */ true, UINT32_MAX, &out);
    bool good = out.n_failed == 0 && claims_match(k, out.n_claims);
    whatif_undo(k->r.w);
    return good ? RECHECK_GOOD : RECHECK_SCHEDULING;
}

static enum recheck check_consolidation(struct check *k, uint32_t *ret_failed)
{
    enum recheck v = check_nodes(k);

    *ret_failed = v == RECHECK_GOOD ? 0 : k->c->n_nodes;
    return v == RECHECK_GOOD ? check_places(k) : v;
}

/* --- */

/* Nodes of other commands that are under way. */
static const uint64_t *others(struct arena *a, const struct snapshot *s, const struct pass_options *o,
                              const struct earlier *c)
{
    uint32_t words = BITS_WORDS(s->n_nodes);
    uint64_t *busy = arena_new_array(a, uint64_t, words);

    if (!o->busy)
        return NULL;
    bits_copy(busy, o->busy, words);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (c->nodes[i] != NO_INDEX)
            bit_clear(busy, c->nodes[i]);
    return busy;
}

static const uint64_t *own(struct arena *a, const struct snapshot *s, const struct earlier *c)
{
    uint64_t *nodes = arena_new_array(a, uint64_t, BITS_WORDS(s->n_nodes));

    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (c->nodes[i] != NO_INDEX)
            bit_set(nodes, c->nodes[i]);
    return nodes;
}

/* Only pods that would move take part: what would become of all the others is not asked, and they are most of the work of compiling. */
enum recheck disrupt_recheck(struct arena *a, const struct snapshot *s, const struct pass_options *o, struct earlier *c,
                             uint32_t *ret_failed)
{
    const struct disrupt_options options = {.methods = 1u << o->method, .compat = o->compat};
    struct check k = {
        .r = {.a = a, .s = s, .o = &options, .busy = others(a, s, o, c), .frame = o->frame, .only = own(a, s, c)},
        .o = o,
        .c = c};
    enum recheck v = RECHECK_GOOD;

    *ret_failed = 0;
    if (o->method == METHOD_DRIFT || o->method == METHOD_STATIC_DRIFT)
        return v; /* out of date stays out of date */
    run_begin(&k.r);
    method_begin(&k.r, o->method);
    v = o->method == METHOD_EMPTINESS ? check_empty(&k, ret_failed) : check_consolidation(&k, ret_failed);
    run_end(&k.r);
    return v;
}
