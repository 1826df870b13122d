/* A live pass of every method, in both modes: what it may never do, that it finds what a plan finds, and that this is still
 * good when nothing has changed. */
#include <stdio.h>

#include "base/sb.h"
#include "disrupt/pass.h"
#include "prop.h"

struct passing {
    struct tally *t;
    const struct cluster *k;
    const struct snapshot *s;
    struct arena *a;
    struct pass_options o;
};

static const char *title(const struct passing *x)
{
    static const char *const names[2][N_METHODS] = {
        {"emptiness", "static drift", "drift", "multi", "single"},
        {"Karpenter's emptiness", "Karpenter's static drift", "Karpenter's drift", "Karpenter's multi",
         "Karpenter's single"},
    };

    return names[x->o.compat][x->o.method];
}

/* --- what a pass may not do ------------------------------------------------------------------------------------------------ */

static void check_pass(struct passing *x, const struct pass *p)
{
    uint64_t *gone = arena_new_array(x->a, uint64_t, BITS_WORDS(x->s->n_nodes));
    int64_t *taken = arena_new_array(x->a, int64_t, x->s->n_pools);

    for (uint32_t i = 0; i < p->n_commands; i++)
        for (uint32_t k = 0; k < p->commands[i].n_nodes; k++) {
            uint32_t node = p->commands[i].nodes[k];

            check(x->t, PROP_PASS, !bit_test(gone, node), "%s: node %u goes twice", title(x), node);
            bit_set(gone, node);
            for (uint32_t pool = 0; pool < x->s->n_pools; pool++)
                taken[pool] += sym_eq(x->s->pools[pool].name_sym, x->s->nodes[node].pool);
        }
    for (uint32_t i = 0; i < p->n_commands; i++)
        for (uint32_t k = 0; k < p->commands[i].n_moves; k++) {
            uint32_t to = p->commands[i].moves[k].node;

            check(x->t, PROP_PASS, to == UINT32_MAX || !bit_test(gone, to), "%s: a pod moves to node %u, which goes",
                  title(x), to);
        }
    for (uint32_t pool = 0; p->budgets && pool < x->s->n_pools; pool++)
        check(x->t, PROP_PASS, taken[pool] <= p->budgets[pool].left, "%s: pool %u gives up %lld nodes", title(x), pool,
              (long long)taken[pool]);
    check(x->t, PROP_PASS, p->n_candidates || p->n_commands == 0, "%s: commands without candidates", title(x));
    check(x->t, PROP_PASS, !x->o.compat || x->o.method == METHOD_STATIC_DRIFT || p->n_commands <= 1, "%s: %u commands",
          title(x), p->n_commands);
}

/* What a plan of the same method would be. None for drift outside of compat, where a plan finds out about drift itself. */
static bool plan_options(const struct passing *x, struct disrupt_options *ret)
{
    *ret = (struct disrupt_options){.methods = 1u << x->o.method, .compat = x->o.compat};
    if (!x->o.compat && x->o.method == METHOD_MULTI)
        ret->methods |= 1u << METHOD_SINGLE;
    return x->o.method != METHOD_STATIC_DRIFT && (x->o.compat || x->o.method != METHOD_DRIFT);
}

/* A pass finds what a plan finds, also when nobody hears why nodes stay. Proofs stand in for questions then, outside of
 * compat also in METHOD_MULTI, and METHOD_SINGLE has nothing left to do. */
static void check_plan(struct passing *x, const struct pass *p)
{
    struct disrupt_options o;

    if (!plan_options(x, &o))
        return;
    const struct disruption *d = disrupt_plan(x->a, x->s, &o);
    str want = commands_text(x->a, x->k->syms, d->commands, d->n_commands);
    check_same(x->t, PROP_PASS, title(x), commands_text(x->a, x->k->syms, p->commands, p->n_commands), want);
    if (!x->o.compat && x->o.method == METHOD_SINGLE)
        return;
    uint64_t *told = arena_new_array(x->a, uint64_t, BITS_WORDS(x->s->n_nodes));
    struct pass_options deaf = x->o;
    memset(told, 0xff, BITS_WORDS(x->s->n_nodes) * sizeof(*told));
    deaf.told = told;
    p = disrupt_pass(x->a, x->s, &deaf);
    check_same(x->t, PROP_PASS, title(x), commands_text(x->a, x->k->syms, p->commands, p->n_commands), want);
}

/* --- looking again --------------------------------------------------------------------------------------------------------- */

static enum recheck recheck(struct passing *x, const struct snapshot *s, const struct disrupt_command *c)
{
    const uint32_t **types = arena_new_array(x->a, const uint32_t *, c->n_claims);
    uint32_t *n_types = arena_new_array(x->a, uint32_t, c->n_claims), failed;
    struct earlier e = {
        .nodes = arena_new_array(x->a, uint32_t, c->n_nodes),
        .n_nodes = c->n_nodes,
        .n_claims = c->n_claims,
        .types = types,
        .n_types = n_types,
    };

    memcpy(e.nodes, c->nodes, c->n_nodes * sizeof(*e.nodes));
    for (uint32_t i = 0; i < c->n_claims; i++) {
        types[i] = c->claims[i].types;
        n_types[i] = c->claims[i].n_types;
    }
    enum recheck v = disrupt_recheck(x->a, s, &x->o, &e, &failed);
    return v == RECHECK_GOOD && e.n_nodes < c->n_nodes ? RECHECK_CHURN : v;
}

/* The command has started: its nodes are on their way out, and their pods look for places. */
static void start(struct passing *x, struct snapshot *s, const struct disrupt_command *c)
{
    for (uint32_t i = 0; i < c->n_nodes; i++)
        s->nodes[c->nodes[i]].deleting = true;
    for (uint32_t i = 0; i < c->n_moves; i++, s->n_moving++)
        s->pending[s->n_pending++] = c->moves[i].pod;
    x->t->started++;
}

/* Each is looked at when those before it have started. Their replacements have not been made here, so their pods may go
 * elsewhere than they were to: only the first is sure to be good. */
static void check_again(struct passing *x, const struct pass *p)
{
    struct snapshot s = *x->s;

    s.nodes = arena_new_array(x->a, struct state_node, s.n_nodes);
    s.pending = arena_new_array(x->a, uint32_t, s.n_pods);
    memcpy(s.nodes, x->s->nodes, s.n_nodes * sizeof(*s.nodes));
    memcpy(s.pending, x->s->pending, s.n_pending * sizeof(*s.pending));
    for (uint32_t i = 0; i < p->n_commands; i++) {
        enum recheck v = recheck(x, &s, &p->commands[i]);

        if (i == 0)
            check(x->t, PROP_RECHECK, v == RECHECK_GOOD, "%s: found, and not good any more (%d)", title(x), (int)v);
        x->t->refused += v != RECHECK_GOOD;
        if (v == RECHECK_GOOD)
            start(x, &s, &p->commands[i]);
        if (v != RECHECK_GOOD && x->t->verbose)
            (void)printf("# seed %llu: %s: command %u of %u is not good (%d)\n", (unsigned long long)x->t->seed,
                         title(x), i + 1, p->n_commands, (int)v);
    }
}

/* --- */

static str bytes_of(struct arena *a, const struct snapshot *s)
{
    struct sb b = {0};

    sb_bytes(&b, s, sizeof(*s));
    sb_bytes(&b, s->nodes, s->n_nodes * sizeof(*s->nodes));
    sb_bytes(&b, s->pods, s->n_pods * sizeof(*s->pods));
    sb_bytes(&b, s->pools, s->n_pools * sizeof(*s->pools));
    sb_bytes(&b, s->pending, s->n_pending * sizeof(*s->pending));
    for (uint32_t i = 0; i < s->n_nodes; i++)
        sb_bytes(&b, s->nodes[i].pods, s->nodes[i].n_pods * sizeof(*s->nodes[i].pods));
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

/* Methods that share what is known of the nodes find and say what they would alone; so they do with what plans before them have left in a frame. */
static void check_shared(struct passing *x, const struct pass *p, const struct candidates *known)
{
    struct pass_options o = x->o;

    o.known = known;
    o.frame = NULL;
    const struct pass *q = disrupt_pass(x->a, x->s, &o);
    bool same = p->n_candidates == q->n_candidates && p->n_commands == q->n_commands && p->n_remarks == q->n_remarks;
    for (uint32_t i = 0; same && i < p->n_commands; i++)
        same = p->commands[i].n_nodes == q->commands[i].n_nodes && p->commands[i].n_claims == q->commands[i].n_claims &&
               memcmp(p->commands[i].nodes, q->commands[i].nodes, p->commands[i].n_nodes * sizeof(uint32_t)) == 0;
    for (uint32_t i = 0; same && i < p->n_remarks; i++)
        same = p->remarks[i].node == q->remarks[i].node && str_eq(p->remarks[i].text, q->remarks[i].text);
    check(x->t, PROP_PASS, same, "%s: another outcome with what was known", title(x));
}

static void pass_all(struct passing *x)
{
    struct candidates *known = pass_candidates_new(x->a, x->s);
    struct frame *frame = frame_new();
    int64_t *room = arena_new_array(x->a, int64_t, x->s->n_pools);
    str before = bytes_of(x->a, x->s);

    for (uint32_t i = 0; i < x->s->n_pools; i++)
        room[i] = 2;
    for (unsigned m = 0; m < 2 * N_METHODS; m++) {
        x->o = (struct pass_options){
            .method = (enum disrupt_method)(m / 2), .compat = m % 2, .frame = frame, .static_room = room};
        const struct pass *p = disrupt_pass(x->a, x->s, &x->o);

        x->t->passes++;
        x->t->commands += p->n_commands;
        check_pass(x, p);
        check_shared(x, p, known);
        check_plan(x, p);
        check_again(x, p);
    }
    frame_free(frame);
    pass_candidates_free(known);
    check(x->t, PROP_PASS, str_eq(bytes_of(x->a, x->s), before), "the snapshot was written to");
}

void prop_pass(struct tally *t)
{
    static const char *const kinds[] = {"--steady", "--crowd"};

    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
        struct cluster k;

        cluster_open(&k, t->seed, kinds[i], "--types");
        pass_all(&(struct passing){.t = t, .k = &k, .s = k.snap, .a = k.pass});
        cluster_close(&k);
    }
}
