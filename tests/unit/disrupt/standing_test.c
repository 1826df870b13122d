/* A scan that stays: what events do to its answers, what it proves instead of asking, and when it gives up. Random
 * clusters and events are in tests/property/prop_events.c. */
#include "disrupt/standing.h"

#include "machines.h"
#include "support/check.h"
#include "support/scenario.h"

/* `full` has no room for the pod of `n`, as long as it keeps its own. */
#define PAIR TYPES POOL SMALL("n") "\n" SMALL("full") " unmanaged\npod p node=n cpu=1\npod q node=full cpu=2\n"
#define SPOT_TYPES                                                                                                     \
    "type small cpu=2 mem=8Gi pods=20 offer='spot z1 0.1'\n"                                                           \
    "type big cpu=8 mem=32Gi pods=20 offer='spot z1 0.4'\n"

struct watching {
    struct scene s;
    struct arena *a;
    struct standing *t;
};

static void open_scene(struct watching *w, const char *text)
{
    scene_open(&w->s, text);
    w->a = arena_new(0);
    w->t = standing_new(w->s.snap, w->s.a, /* compat= */ true);
}

static void close_scene(struct watching *w)
{
    standing_free(w->t);
    arena_free(w->a);
    scene_close(&w->s);
}

static uint32_t node_named(const struct watching *w, const char *name)
{
    for (uint32_t i = 0; i < w->s.snap->n_nodes; i++)
        if (str_is(w->s.snap->nodes[i].name, name))
            return i;
    fail_msg("there is no node %s", name);
    return 0;
}

static uint32_t pod_named(const struct watching *w, const char *name)
{
    for (uint32_t i = 0; i < w->s.snap->n_pods; i++)
        if (str_is(w->s.snap->pods[i].name, name))
            return i;
    fail_msg("there is no pod %s", name);
    return 0;
}

static enum standing_verdict verdict(struct watching *w, const char *node)
{
    double savings;

    return standing_verdict(w->t, node_named(w, node), &savings);
}

static void room_comes_and_goes(void **state UNUSED)
{
    struct watching w;
    uint32_t again;

    open_scene(&w, PAIR);
    uint32_t full = node_named(&w, "full"), q = pod_named(&w, "q");
    struct pod back = w.s.snap->pods[q];
    assert_int_equal(verdict(&w, "n"), STANDING_STAYS);
    assert_int_equal(verdict(&w, "full"), STANDING_INELIGIBLE);
    assert_null(standing_next(w.t, w.a));

    assert_true(standing_pod_left(w.t, q, full));
    assert_int_equal(verdict(&w, "n"), STANDING_GOES);
    const struct disrupt_command *c = standing_next(w.t, w.a);
    assert_non_null(c);
    assert_int_equal(c->nodes[0], node_named(&w, "n"));
    assert_int_equal(c->n_claims, 0);
    assert_int_equal(c->moves[0].node, full);

    assert_true(standing_pod_came(w.t, &back, full, &again));
    assert_int_equal(verdict(&w, "n"), STANDING_STAYS);
    assert_null(standing_next(w.t, w.a));
    close_scene(&w);
}

/* The last pod leaves: an empty node is another method's. */
static void a_node_runs_empty(void **state UNUSED)
{
    struct watching w;

    open_scene(&w, PAIR);
    assert_int_equal(verdict(&w, "n"), STANDING_STAYS);
    assert_true(standing_pod_left(w.t, pod_named(&w, "p"), node_named(&w, "n")));
    assert_int_equal(verdict(&w, "n"), STANDING_INELIGIBLE);
    close_scene(&w);
}

/* A pod that waits takes the room that another would have moved to. */
static void pods_that_wait(void **state UNUSED)
{
    struct watching w;
    uint32_t waits;

    open_scene(&w,
               TYPES POOL SMALL("n") "\n" SMALL("room") " unmanaged\npod p x2 node=n cpu=1\npod q node=room cpu=1\n");
    struct pod other = w.s.snap->pods[pod_named(&w, "p-1")];
    assert_true(standing_pod_left(w.t, pod_named(&w, "p-1"), node_named(&w, "n")));
    assert_int_equal(verdict(&w, "n"), STANDING_GOES);
    other.node = SYM(NONE);
    other.phase = PHASE_PENDING;
    other.created_ms = 0;
    assert_true(standing_pod_came(w.t, &other, UINT32_MAX, &waits));
    assert_int_equal(verdict(&w, "n"), STANDING_STAYS);
    assert_true(standing_pod_left(w.t, waits, UINT32_MAX));
    assert_int_equal(verdict(&w, "n"), STANDING_GOES);
    close_scene(&w);
}

/* Spot is not replaced with spot: one pod without another place is proof enough, and nothing is simulated. */
static void proofs_instead_of_questions(void **state UNUSED)
{
    struct watching w;

    open_scene(&w, SPOT_TYPES "pool default budget=100%\n"
                              "node n x20 cpu=8 mem=32Gi pods=20 label=itype=big,ct=spot,zone=z1\n"
                              "pod p x20 node=n-# cpu=1\npod q x20 node=n-# cpu=6900m\n");
    assert_null(standing_next(w.t, w.a));
    struct standing_work work = standing_work(w.t);
    assert_int_equal(work.held, 20);
    assert_int_equal(work.asked, 0);
    assert_true(standing_pod_left(w.t, pod_named(&w, "p-3"), node_named(&w, "n-3")));
    assert_null(standing_next(w.t, w.a));
    assert_int_equal(standing_work(w.t).asked, 0);
    assert_int_equal(standing_work(w.t).judged - work.judged, 1); /* its own node; the others have a second pod */
    close_scene(&w);
}

static void what_it_cannot_follow(void **state UNUSED)
{
    struct watching w;
    uint32_t ix;

    open_scene(&w, PAIR);
    uint32_t n = node_named(&w, "n"), p = pod_named(&w, "p");
    struct pod back = w.s.snap->pods[p];
    assert_false(standing_pod_came(w.t, &back, n, &ix)); /* no number is free */
    assert_true(standing_pod_left(w.t, p, n));
    struct podspec other = *back.spec;
    back.spec = &other; /* nobody had this one */
    assert_false(standing_pod_came(w.t, &back, n, &ix));
    close_scene(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_comes_and_goes),   cmocka_unit_test(a_node_runs_empty),
        cmocka_unit_test(pods_that_wait),        cmocka_unit_test(proofs_instead_of_questions),
        cmocka_unit_test(what_it_cannot_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
