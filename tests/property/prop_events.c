/* Events: pods leave and come, and a standing scan follows.
 *
 * After every few events the scan is compared with everything made anew from the snapshot as it is by then: what is
 * compiled, the verdict on every node, and the command. Places are chosen at random, so nodes end up with more pods than
 * they have room for, with host ports taken twice and with spreads broken, as clusters do. */
#include "disrupt/methods.h"
#include "disrupt/standing.h"
#include "prop.h"

#define ROUNDS 15
#define SPARE 6 /* numbers for pods that come before others have gone */

struct watching {
    struct tally *t;
    struct cluster *k;
    struct rng rng;
    struct arena *a; /* of one comparison */
    struct snapshot *s;
    struct standing *standing;
    bool compat;
    VEC(struct pod) gone; /* that may come back */
    uint64_t n_new;
    const char *what; /* the last event */
};

/* --- events --------------------------------------------------------------------------------------------------------------- */

static void watch(struct watching *x)
{
    if (x->standing) {
        struct standing_work work = standing_work(x->standing);

        x->t->judged += work.judged;
        x->t->asked += work.asked;
    }
    standing_free(x->standing);
    x->standing = standing_new(x->s, x->k->pass, x->compat);
}

static uint32_t some_node(struct watching *x)
{
    for (uint32_t tries = 0; tries < 30; tries++) {
        uint32_t node = rng_below(&x->rng, x->s->n_nodes);

        if (x->s->nodes[node].node && !x->s->nodes[node].deleting)
            return node;
    }
    return NO_INDEX;
}

static void leave(struct watching *x, uint32_t pod, uint32_t node)
{
    vec_push(&x->gone, x->s->pods[pod]);
    x->t->events++;
    if (!standing_pod_left(x->standing, pod, node)) {
        x->t->recompiled++;
        watch(x);
    }
}

/* The scan may have no number for it, and it may be like no other pod: then it does not come, or with a new scan. */
static void come(struct watching *x, const struct pod *pod, uint32_t node)
{
    uint32_t ix = NO_INDEX;

    x->t->events++;
    if (standing_pod_came(x->standing, pod, node, &ix))
        return;
    x->t->recompiled++;
    watch(x);
}

/* As it was, or as another pod of its workload. */
static struct pod pod_again(struct watching *x)
{
    uint32_t ix = rng_below(&x->rng, x->gone.n);
    struct pod p = x->gone.v[ix];

    p.phase = PHASE_RUNNING;
    if (rng_below(&x->rng, 2) && x->gone.n > 1) { /* no two of them have the same uid */
        x->gone.v[ix] = vec_last(&x->gone);
        x->gone.n--;
        return p;
    }
    p.name = arena_printf(x->k->arena, "%08x-new-%llu", rng_below(&x->rng, 1u << 16), (unsigned long long)x->n_new++);
    p.uid = uid_of(p.name);
    p.created_ms = x->s->now_ms - (int64_t)rng_below(&x->rng, 1000000);
    return p;
}

static void remove_from(struct watching *x, uint32_t node)
{
    const struct state_node *n = &x->s->nodes[node];

    if (n->n_pods)
        leave(x, n->pods[rng_below(&x->rng, n->n_pods)], node);
}

/* A pod that is about to leave: nothing counts it, and nothing moves it. */
static void terminate(struct watching *x, uint32_t node)
{
    const struct state_node *n = &x->s->nodes[node];

    if (n->n_pods == 0)
        return;
    uint32_t pod = n->pods[rng_below(&x->rng, n->n_pods)];
    struct pod p = x->s->pods[pod];
    leave(x, pod, node);
    x->gone.n--;
    p.terminating = true;
    come(x, &p, node);
}

static void stop_waiting(struct watching *x, bool bind)
{
    uint32_t n = x->s->n_pending - x->s->n_moving, node = some_node(x);

    if (n == 0 || node == NO_INDEX)
        return;
    uint32_t pod = x->s->pending[rng_below(&x->rng, n)];
    struct pod p = x->s->pods[pod];
    leave(x, pod, NO_INDEX);
    if (!bind)
        return;
    x->gone.n--;
    p.phase = PHASE_RUNNING;
    p.node = sym_of(x->k->syms, x->s->nodes[node].node->name);
    come(x, &p, node);
}

static void start_waiting(struct watching *x)
{
    struct pod p = pod_again(x);

    p.phase = PHASE_PENDING;
    p.node = SYM(NONE);
    p.terminating = false;
    if (pod_is_reschedulable(&p))
        come(x, &p, NO_INDEX);
}

static void event(struct watching *x)
{
    uint32_t node = some_node(x), dice = rng_below(&x->rng, 100);

    if (node == NO_INDEX)
        return;
    if (dice < 40 || x->gone.n == 0) {
        x->what = "after a pod left";
        remove_from(x, node);
    } else if (dice < 80) {
        struct pod p = pod_again(x);

        x->what = "after a pod came";
        p.node = sym_of(x->k->syms, x->s->nodes[node].node->name);
        come(x, &p, node);
    } else if (dice < 86) {
        x->what = "after a pod began to terminate";
        terminate(x, node);
    } else if (dice < 92) {
        x->what = "after a pod began to wait";
        start_waiting(x);
    } else {
        x->what = dice < 96 ? "after a pod that waited was bound" : "after a pod that waited had gone";
        stop_waiting(x, dice < 96);
    }
}

/* --- against everything made anew ----------------------------------------------------------------------------------------- */

static void compare_verdict(struct watching *x, struct run *r, uint32_t node)
{
    struct candidate *c = &r->c.all[node];
    enum standing_verdict want = STANDING_INELIGIBLE;
    double savings, want_savings = 0;

    if (candidate_obstacle(&r->c, node, METHOD_SINGLE) == BLOCK_NONE) {
        struct decision d = consolidate(r, &c, 1, x->compat ? 1 : claims_allowed(r, 1), /* tell= */ false);

        whatif_undo(r->w);
        want = d.why == BLOCK_NONE ? STANDING_GOES : STANDING_STAYS;
        want_savings = d.why == BLOCK_NONE ? d.savings : 0;
    }
    enum standing_verdict got = standing_verdict(x->standing, node, &savings);
    check(x->t, PROP_STANDING, got == want && !(savings < want_savings) && !(savings > want_savings),
          "%s: node %u: got %d saving %g, want %d saving %g", x->what, node, (int)got, savings, (int)want,
          want_savings);
}

static void compare_command(struct watching *x)
{
    const struct disrupt_options o = {.methods = 1u << METHOD_SINGLE, .compat = true};
    const struct disrupt_command *c = standing_next(x->standing, x->a);
    const struct disruption *d = disrupt_plan(x->a, x->s, &o);

    check_same(x->t, PROP_STANDING, x->what, commands_text(x->a, x->k->syms, c, c != NULL),
               commands_text(x->a, x->k->syms, d->commands, d->n_commands));
}

static void compare(struct watching *x)
{
    const struct disrupt_options o = {.compat = x->compat};
    bool verdicts = rng_below(&x->rng, 2); /* else only what the command takes is looked at */
    struct run r = {.a = x->a, .s = x->s, .o = &o};
    struct sb got = {0}, want = {0};

    run_begin(&r);
    run_compile(&r);
    standing_census(x->standing, &got);
    whatif_census(r.w, &want);
    check_same(x->t, PROP_EVENTS, x->what, sb_view(&got), sb_view(&want));
    if (x->compat)
        compare_command(x);
    for (uint32_t i = 0; i < x->s->n_nodes && (verdicts || !x->compat); i++)
        compare_verdict(x, &r, i);
    sb_fini(&got);
    sb_fini(&want);
    run_end(&r);
    arena_reset(x->a);
}

/* Room for pods that come before others have gone. */
static void add_spare(struct watching *x)
{
    struct snapshot *s = x->s;
    struct pod *pods = arena_new_array(x->k->pass, struct pod, s->n_pods + SPARE);

    for (uint32_t i = 0; i < s->n_pods; i++)
        pods[i] = s->pods[i];
    for (uint32_t i = 0; i < s->n_daemons; i++)
        if (s->daemon_pods[i] >= s->pods && s->daemon_pods[i] < s->pods + s->n_pods)
            s->daemon_pods[i] = pods + (s->daemon_pods[i] - s->pods);
    for (uint32_t i = 0; i < SPARE; i++)
        pods[s->n_pods++].phase = PHASE_FAILED;
    s->pods = pods;
}

static void watch_cluster(struct tally *t, const char *part, const char *types)
{
    struct cluster k;
    struct watching x = {.t = t, .k = &k, .a = arena_new(1u << 16), .what = "at the start"};

    cluster_open(&k, t->seed, part, types);
    rng_init(&x.rng, t->seed ^ 0xe7e47);
    x.s = k.snap;
    x.compat = rng_below(&x.rng, 2);
    add_spare(&x);
    watch(&x);
    compare(&x);
    for (uint32_t i = 0; i < ROUNDS && x.s->n_nodes; i++) {
        for (uint32_t n = 1 + rng_below(&x.rng, 3); n > 0; n--)
            event(&x);
        compare(&x);
    }
    struct standing_work work = standing_work(x.standing);
    t->judged += work.judged;
    t->asked += work.asked;
    standing_free(x.standing);
    vec_fini(&x.gone);
    arena_free(x.a);
    cluster_close(&k);
}

void prop_events(struct tally *t)
{
    watch_cluster(t, "--crowd", "--crowd-types");
    watch_cluster(t, "--steady", "--types");
}
