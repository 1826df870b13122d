/* Questions: what would become of the pods if some nodes went.
 *
 * Every cluster is asked QUESTIONS times, by the index and bin by bin at once. Some questions are kept and change what
 * the next ones are asked of, some kept ones are taken back, and in the end all are. */
#include <stdio.h>

#include "gen.h"
#include "plan/pack.h"
#include "plan/whatif.h"
#include "prop.h"

#include "../support/plan_dump.h"

#define QUESTIONS 20
#define MAX_GONE 6

struct asking {
    struct tally *t;
    struct cluster *k;
    struct rng rng;
    struct arena *a;          /* of one question */
    struct whatif *w, *plain; /* plain: without the index */
    uint32_t nodes[MAX_GONE], n;
    uint64_t *gone;            /* bit set over nodes: of questions that were kept */
    VEC(struct sb) before;     /* digests, one for each that was kept */
    VEC(uint32_t) kept_nodes;  /* nodes of the kept questions, in order … */
    VEC(uint32_t) kept_counts; /* … and how many each has */
};

static struct sb digest(struct whatif *w)
{
    struct sb b = {0};

    whatif_digest(w, &b);
    return b;
}

static void choose_nodes(struct asking *q)
{
    const struct snapshot *s = q->k->snap;
    uint32_t wanted = 1 + rng_below(&q->rng, MAX_GONE);

    q->n = 0;
    for (uint32_t tries = 0; q->n < wanted && tries < 30; tries++) {
        uint32_t node = rng_below(&q->rng, s->n_nodes);
        bool again = false;

        for (uint32_t i = 0; i < q->n; i++)
            again |= q->nodes[i] == node;
        if (!again && s->nodes[node].node && !s->nodes[node].deleting && !bit_test(q->gone, node) &&
            !whatif_took(q->w, node))
            q->nodes[q->n++] = node;
    }
}

static str plan_of(struct asking *q, struct whatif *w, bool reasons)
{
    struct plan *p = whatif_plan(w, q->a);

    plan_sort_failures(q->k->snap, p);
    return plan_dump(q->a, q->k->syms, p, reasons);
}

/* Asks both; what they say must be the same. */
static void ask(struct asking *q, bool settled_only, struct whatif_outcome *ret)
{
    struct whatif_outcome other;

    whatif_remove(q->w, q->nodes, q->n, settled_only, UINT32_MAX, ret);
    whatif_remove(q->plain, q->nodes, q->n, settled_only, UINT32_MAX, &other);
    check_same(q->t, PROP_INDEX,
               settled_only ? "with and without the index, settled only" : "with and without the index",
               plan_of(q, q->w, /* reasons= */ true), plan_of(q, q->plain, /* reasons= */ true));
    check(q->t, PROP_INDEX,
          ret->n_claims == other.n_claims && ret->n_failed == other.n_failed && ret->n_pods == other.n_pods,
          "with and without the index: %u and %u claims, %u and %u failed", ret->n_claims, other.n_claims,
          ret->n_failed, other.n_failed);
    q->t->questions++;
}

static void take_back(struct asking *q)
{
    whatif_undo(q->w);
    whatif_undo(q->plain);
}

/* --- against a plan from scratch ---------------------------------------------------------------------------------------- */

/* The snapshot as if the nodes were on their way out. */
static struct snapshot without_nodes(struct asking *q)
{
    struct snapshot s = *q->k->snap;
    VEC(uint32_t) pending = {0};

    s.nodes = arena_dup_array(q->a, struct state_node, s.nodes, s.n_nodes);
    for (uint32_t i = 0; i < s.n_pending; i++)
        vec_push(&pending, s.pending[i]);
    for (uint32_t i = 0; i < q->n; i++) {
        struct state_node *n = &s.nodes[q->nodes[i]];

        n->deleting = true;
        for (uint32_t j = 0; j < n->n_pods; j++)
            if (bit_test(q->k->c.movable, n->pods[j]))
                vec_push(&pending, n->pods[j]);
    }
    s.n_moving += pending.n - s.n_pending;
    s.n_pending = pending.n;
    s.pending = vec_to_arena(&pending, q->a);
    vec_fini(&pending);
    return s;
}

/* Of several groups that refuse a pod a question may name another than a plan does, whose groups came to be in another
 * order: reasons are not compared. */
static str from_scratch(struct asking *q)
{
    AUTO(arena) struct arena *pass = arena_new(1u << 16);
    struct snapshot s = without_nodes(q);
    struct plan *p = arena_new_one(q->a, struct plan);
    struct packer k;

    packer_init(&k, pass, &s, NULL, s.pending, s.n_pending);
    k.fallback = true; /* as simulations of disruption have it */
    packer_run(&k);
    packer_finish(&k, p, q->a);
    explain_failures(&k, p, q->a);
    packer_fini(&k);
    plan_sort_failures(&s, p);
    return plan_dump(q->a, q->k->syms, p, /* reasons= */ false);
}

/* Compiled with the pods of these nodes alone, as a decision is looked at again: the others stay where they are in any case. */
static void check_few(struct asking *q)
{
    const struct snapshot *s = q->k->snap;
    uint64_t *few = arena_new_array(q->a, uint64_t, BITS_WORDS(s->n_pods));
    struct whatif_outcome all, some;

    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t k = 0; k < s->nodes[q->nodes[i]].n_pods; k++)
            if (bit_test(q->k->c.movable, s->nodes[q->nodes[i]].pods[k]))
                bit_set(few, s->nodes[q->nodes[i]].pods[k]);
    struct whatif *w = whatif_new(s, few);
    whatif_remove(q->w, q->nodes, q->n, /* settled_only= */ true, UINT32_MAX, &all);
    whatif_remove(w, q->nodes, q->n, /* settled_only= */ true, UINT32_MAX, &some);
    check_same(q->t, PROP_FEW, "compiled with all pods, and with those that move",
               plan_of(q, q->w, /* reasons= */ false), plan_of(q, w, /* reasons= */ false));
    check(q->t, PROP_FEW, all.n_claims == some.n_claims && all.n_failed == some.n_failed && all.n_pods == some.n_pods,
          "compiled with all pods: %u claims, %u failed; with those that move %u and %u", all.n_claims, all.n_failed,
          some.n_claims, some.n_failed);
    whatif_undo(q->w);
    whatif_free(w);
}

/* --- one question --------------------------------------------------------------------------------------------------------- */

static void check_least(struct asking *q, double least, const struct whatif_outcome *out)
{
    if (!(least > 0))
        return;
    check(q->t, PROP_LEAST, out->n_failed || out->n_claims, "the bound says $%g, and no new node is needed", least);
    if (out->n_failed == 0 && out->n_claims == 1) {
        double price = whatif_price(q->w, 0);

        check(q->t, PROP_LEAST, price >= least, "the bound says $%g, and a node for $%g does", least, price);
    }
}

static void check_early(struct asking *q, const struct whatif_outcome *full)
{
    uint32_t most = rng_below(&q->rng, 3);
    struct whatif_outcome out;

    whatif_remove(q->w, q->nodes, q->n, /* settled_only= */ true, most, &out);
    bool same = out.n_claims == full->n_claims && out.n_failed == full->n_failed;
    check(q->t, PROP_EARLY, full->n_claims > most ? out.n_claims > most : same,
          "at most %u: %u claims, %u failed; without end %u and %u", most, out.n_claims, out.n_failed, full->n_claims,
          full->n_failed);
    whatif_undo(q->w);
}

static void print_question(const struct asking *q, uint32_t ix)
{
    (void)printf("# question %u, %u kept:", ix, q->before.n);
    for (uint32_t i = 0; i < q->n; i++)
        (void)printf(" %u", q->nodes[i]);
    (void)printf("\n");
}

static void keep(struct asking *q, struct sb before)
{
    whatif_keep(q->w);
    whatif_keep(q->plain);
    vec_push(&q->before, before);
    vec_push(&q->kept_counts, q->n);
    for (uint32_t i = 0; i < q->n; i++) {
        bit_set(q->gone, q->nodes[i]);
        vec_push(&q->kept_nodes, q->nodes[i]);
    }
}

static void take_back_kept(struct asking *q)
{
    struct sb before = vec_last(&q->before);

    take_back(q);
    for (uint32_t i = 0; i < vec_last(&q->kept_counts); i++)
        bit_clear(q->gone, q->kept_nodes.v[--q->kept_nodes.n]);
    q->kept_counts.n--;
    q->before.n--;
    struct sb after = digest(q->w);
    check_same(q->t, PROP_UNDO, "after taking back a question that was kept", sb_view(&after), sb_view(&before));
    sb_fini(&before);
    sb_fini(&after);
}

static void question(struct asking *q, uint32_t ix)
{
    struct whatif_outcome out;
    struct sb before = digest(q->w);

    choose_nodes(q);
    if (q->t->verbose)
        print_question(q, ix);
    double least = whatif_least(q->w, q->nodes, q->n);
    ask(q, /* settled_only= */ true, &out);
    check_least(q, least, &out);
    take_back(q);
    check_early(q, &out);
    if (q->before.n == 0)
        check_few(q);
    ask(q, /* settled_only= */ false, &out);
    if (q->before.n == 0)
        check_same(q->t, PROP_ORACLE, "against a plan from scratch", plan_of(q, q->w, /* reasons= */ false),
                   from_scratch(q));
    if (rng_below(&q->rng, 100) < 25) {
        keep(q, before);
    } else {
        take_back(q);
        struct sb after = digest(q->w);
        check_same(q->t, PROP_UNDO, "after undoing a question", sb_view(&after), sb_view(&before));
        sb_fini(&before);
        sb_fini(&after);
    }
    while (q->before.n && rng_below(&q->rng, 100) < 25)
        take_back_kept(q);
    arena_reset(q->a);
}

static void check_fresh(struct asking *q)
{
    struct whatif *fresh = whatif_new(q->k->snap, q->k->c.movable);
    struct sb got = digest(q->w), want = digest(fresh);

    check_same(q->t, PROP_UNDO, "after undoing everything, against one that was never asked", sb_view(&got),
               sb_view(&want));
    sb_fini(&got);
    sb_fini(&want);
    whatif_free(fresh);
}

void prop_whatif(struct tally *t)
{
    struct cluster k;
    struct asking q = {.t = t, .k = &k, .a = arena_new(1u << 16)};

    cluster_open(&k, t->seed, "--crowd", "--crowd-types");
    rng_init(&q.rng, t->seed);
    q.w = whatif_new(k.snap, k.c.movable);
    q.plain = whatif_new(k.snap, k.c.movable);
    whatif_search_all(q.plain);
    q.gone = arena_new_array(k.arena, uint64_t, BITS_WORDS(k.snap->n_nodes));
    for (uint32_t i = 0; i < QUESTIONS; i++)
        question(&q, i);
    while (q.before.n)
        take_back_kept(&q);
    check_fresh(&q);
    whatif_free(q.w);
    whatif_free(q.plain);
    vec_fini(&q.before);
    vec_fini(&q.kept_nodes);
    vec_fini(&q.kept_counts);
    arena_free(q.a);
    cluster_close(&k);
}
