/* Questions about removing nodes: where pods go, what is told of it, and what is left afterwards. Random ones are asked by
 * tests/property/prop_whatif.c; here is what they once found. */
#include "plan/whatif.h"

#include "disrupt/candidate.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions),
        cmocka_unit_test(least_knows_of_loose_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
