/* Questions about removing nodes: where pods go, what is told of it, and what is left afterwards. Random ones are asked by
 * tests/property/prop_whatif.c; here is what they once found. */
#include "plan/whatif.h"

#include "disrupt/candidate.h"
#include "model/change.h"
#include "support/check.h"
#include "support/scenario.h"

#define POOL "pool p after=300s\n"
#define SETTLING "node young cpu=8 mem=8Gi pods=9 pool=p lastpod=11:59:50\n"
#define GOING "node going cpu=4 mem=8Gi pods=9 pool=p\n"

/* In each the node `going` goes, and nodes inside the consolidateAfter window take no pods that run. */
static const struct scenario cases[] = {
    {"a pod that runs needs a settled node", POOL SETTLING GOING "pod runs cpu=1 node=going", "where=runs existing=0"},
    {"one that waits goes before it", POOL SETTLING GOING "pod waits cpu=1\npod runs cpu=1 node=going",
     "node.young=waits where=runs"},
    {"one that waits goes after it", POOL SETTLING GOING "pod runs cpu=1 node=going\npod waits cpu=1",
     "node.young=waits where=runs"},
    {"one without a place says nothing of one that waits",
     "pool p after=300s limit=cpu=0\n" SETTLING GOING "pod runs cpu=1 node=going\npod waits cpu=1",
     "node.young=waits lost=runs"},
    {"one that waits without a place says it of one that runs",
     "pool p after=300s limit=cpu=0\n" SETTLING GOING "pod waits cpu=9\npod runs cpu=9 node=going", "lost=runs,waits"},
};

static uint32_t node_named(const struct snapshot *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (str_is(s->nodes[i].name, name))
            return i;
    fail_msg("there is no node %s", name);
    return 0;
}

static void questions(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct whatif_outcome out;
        struct candidates c;
        struct scene s;

        scene_open(&s, cases[i].text);
        candidates_init(&c, a, s.snap);
        uint32_t node = node_named(s.snap, "going");
        struct whatif *w = whatif_new(s.snap, c.movable);
        whatif_remove(w, &node, 1, /* settled_only= */ true, UINT32_MAX, &out);
        check_str(cases[i].name, scene_facts(&s, whatif_plan(w, a), str_c(cases[i].want), a), cases[i].want);
        whatif_undo(w);
        whatif_free(w);
        candidates_fini(&c);
        scene_close(&s);
    }
}

/* The node `other` lacks the label that `wants` asks for, until `excludes` has come to it (scheduling 10). */
static void least_knows_of_loose_labels(void **state UNUSED)
{
    static const char text[] =
        "pool p\nnode going cpu=4 mem=8Gi pods=9 pool=p label=team=b\n"
        "node other cpu=8 mem=8Gi pods=9 pool=p\n"
        "pod excludes cpu=2 need='team NotIn a' node=going\npod wants cpu=1 sel=team=b node=going";
    AUTO(arena) struct arena *a = arena_new(0);
    struct whatif_outcome out;
    struct candidates c;
    struct scene s;

    scene_open(&s, text);
    candidates_init(&c, a, s.snap);
    uint32_t node = node_named(s.snap, "going");
    struct whatif *w = whatif_new(s.snap, c.movable);
    double least = whatif_least(w, &node, 1);
    whatif_remove(w, &node, 1, /* settled_only= */ true, UINT32_MAX, &out);
    check_true("both go to the other node", out.n_claims == 0 && out.n_failed == 0);
    check_true("so there is no bound", least == 0);
    whatif_undo(w);
    whatif_free(w);
    candidates_fini(&c);
    scene_close(&s);
}

/* --- events ----------------------------------------------------------------------------------------------------------- */

/* A pod leaves its node and comes to another, which has pods of the same kind. */
static const struct {
    const char *name, *text;
} moves[] = {
    {"room", "pod moves cpu=1 node=from\npod stays cpu=2 node=to"},
    {"the order of the queue", "pod moves cpu=1 node=from\npod stays x3 cpu=1 node=to\npod large cpu=2 node=to"},
    {"zone spread",
     "pod moves cpu=1 node=from label=app=a spread='zone 1 app=a'\npod stays x2 cpu=1 node=to label=app=a spread='zone 1 app=a'"},
    {"one pod a node", "pod moves cpu=1 node=from label=app=a anti='host app=a'\n"
                       "pod stays cpu=1 node=far label=app=a anti='host app=a'"},
    {"the last with a term", "pod moves cpu=1 node=from label=app=a anti='zone app=b'\n"
                             "pod stays cpu=1 node=to label=app=b"},
    {"a host port", "pod moves cpu=1 node=from port=80\npod stays cpu=1 node=far port=80"},
};

static str census(struct whatif *w, struct arena *a)
{
    struct sb b = {0};

    whatif_census(w, &b);
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

/* What is compiled is as if it had been compiled now. */
static void check_census(const char *name, const struct snapshot *s, const struct candidates *c, struct whatif *w,
                         struct arena *a)
{
    struct whatif *fresh = whatif_new(s, c->movable);

    check_true(name, str_eq(census(w, a), census(fresh, a)));
    whatif_free(fresh);
}

static void events(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct candidates c;
        struct scene s;

        scene_open(&s, arena_printf(a,
                                    "pool p\nnode from cpu=4 mem=8Gi pods=9 pool=p label=zone=z1\n"
                                    "node to cpu=8 mem=8Gi pods=9 pool=p label=zone=z2\n"
                                    "node far cpu=8 mem=8Gi pods=9 pool=p label=zone=z3\n%s",
                                    moves[i].text)
                           .p);
        candidates_init(&c, a, s.snap);
        uint32_t from = node_named(s.snap, "from"), to = node_named(s.snap, "to"), pod = s.snap->nodes[from].pods[0];
        struct whatif *w = whatif_new(s.snap, c.movable);
        snapshot_pod_left(s.snap, s.a, pod, from);
        check_true(moves[i].name, whatif_pod_left(w, pod, from));
        check_census(moves[i].name, s.snap, &c, w, a);
        s.snap->pods[pod].phase = PHASE_RUNNING;
        snapshot_pod_came(s.snap, s.a, pod, to);
        check_true(moves[i].name, whatif_pod_came(w, pod, to));
        check_census(moves[i].name, s.snap, &c, w, a);
        whatif_free(w);
        candidates_fini(&c);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions),
        cmocka_unit_test(events),
        cmocka_unit_test(least_knows_of_loose_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
