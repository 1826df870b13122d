/* How many nodes may go at once (lifecycle 8.6; checklist CA-6 and BU). It is noon of a Thursday. */
#include "base/sb.h"
#include "disrupt/candidate.h"
#include "support/check.h"
#include "support/scenario.h"

#define MAX_INT 2147483647

static struct pool_budget first_pool(struct scene *s, const char *text, enum budget_reason reason)
{
    scene_open(s, text);
    return budgets_of(s->a, s->snap, reason)[0];
}

/* Ten nodes, unless a line takes some of them away. */
static str ten_nodes(struct sb *b, const char *pool, const char *last, const char *more)
{
    sb_reset(b);
    sb_printf(b, "pool default %s\n", pool);
    for (unsigned i = 0; i < 8; i++)
        sb_printf(b, "node n%u\n", i);
    sb_printf(b, "node n8 %s\nnode n9 %s\n%s\n", last, last, more);
    (void)sb_cstr(b);
    return sb_view(b);
}

/* ---- which nodes count --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *last, *more;
    uint32_t nodes, disrupting;
    int64_t left; /* of budget 100% */
} countings[] = {
    {"CA-6 ten nodes", "", "", 10, 0, 10},
    {"CA-6 nodes of others", "", "node x unmanaged", 10, 0, 10},
    {"CA-6 uninitialized nodes", "", "node x registered", 10, 0, 10},
    {"CA-6 claims without a node", "", "node x inflight", 10, 0, 10},
    {"CA-6 nodes whose instance is terminating", "", "node x terminating", 10, 0, 10},
    {"CA-6 nodes of another pool", "", "pool other\nnode x pool=other", 10, 0, 10},
    {"CA-6 nodes of no pool that is known", "", "node x pool=gone", 10, 0, 10},
    {"CA-6 deleting nodes are in use", "deleting", "", 10, 2, 8},
    {"CA-6 and so are those that are not ready", "notready", "", 10, 2, 8},
    {"a node counts once", "notready deleting", "", 10, 2, 8},
};

static void counting(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(countings); i++) {
        struct scene s;
        struct pool_budget p =
            first_pool(&s, ten_nodes(&b, "budget=100%", countings[i].last, countings[i].more).p, BUDGET_EMPTY);

        check_u64(countings[i].name, p.nodes, countings[i].nodes);
        check_u64(countings[i].name, p.disrupting, countings[i].disrupting);
        check_i64(countings[i].name, p.left, countings[i].left);
        scene_close(&s);
    }
    sb_fini(&b);
}

static void never_negative(void **state)
{
    struct sb b = {0};
    struct scene s;
    struct pool_budget p = first_pool(&s, ten_nodes(&b, "budget=1", "deleting", "").p, BUDGET_EMPTY);

    (void)state;
    check_i64("CA-6 one is allowed", p.allowed, 1);
    check_i64("CA-6 two are on their way: none is left", p.left, 0);
    scene_close(&s);
    sb_fini(&b);
}

/* ---- what budgets allow -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *pool;
    int64_t empty, drifted, underutilized;
} cases[] = {
    {"the default is a tenth", "", 1, 1, 1},
    {"BU-2 a number", "budget=3", 3, 3, 3},
    {"BU-2 more than there are", "budget=30", 30, 30, 30},
    {"BU-2 a percentage", "budget=30%", 3, 3, 3},
    {"BU-2 rounded up", "budget=31%", 4, 4, 4},
    {"no budget at all", "budget=", MAX_INT, MAX_INT, MAX_INT},
    {"BU-1 the smallest counts", "budget='5 | 20% | 9'", 2, 2, 2},
    {"BU-1 nothing may go", "budget='5 | 0'", 0, 0, 0},
    {"BU-1 0% is the same", "budget='5 | 0%'", 0, 0, 0},
    {"BU-1 by reason", "budget='5 reasons=Empty | 3 reasons=Drifted,Underutilized'", 5, 3, 3},
    {"BU-1 the smallest for each reason", "budget='5 reasons=Empty | 3 reasons=Empty | 4'", 3, 4, 4},
    {"BU-1 no reasons: for all", "budget='5 | 9 reasons=Empty'", 5, 5, 5},
    {"BU-1 a reason that nobody limits", "budget='5 reasons=Empty'", 5, MAX_INT, MAX_INT},
    {"quirk: an empty list matches nothing", "budget='0 reasons='", MAX_INT, MAX_INT, MAX_INT},

    {"BU-3 inside the window", "budget='2 for=1h at=30 11 * * *'", 2, 2, 2},
    {"BU-3 before it", "budget='2 for=1h at=30 12 * * *'", MAX_INT, MAX_INT, MAX_INT},
    {"BU-3 after it", "budget='2 for=1h at=30 10 * * *'", MAX_INT, MAX_INT, MAX_INT},
    {"BU-3 at its first instant", "budget='2 for=1h at=0 12 * * *'", 2, 2, 2},
    {"BU-3 no longer at its end", "budget='2 for=1h at=0 11 * * *'", MAX_INT, MAX_INT, MAX_INT},
    {"BU-3 a window longer than its period", "budget='2 for=48h at=@daily'", 2, 2, 2},
    {"BU-3 by the day of the week", "budget='2 for=24h at=0 0 * * thu'", 2, 2, 2},
    {"BU-3 another day", "budget='2 for=24h at=0 0 * * fri'", MAX_INT, MAX_INT, MAX_INT},
    {"BU-1 what is not active does not count", "budget='5 | 0 for=1h at=30 12 * * *'", 5, 5, 5},
    {"BU-1 inactive for one reason", "budget='5 | 0 reasons=Empty for=1h at=30 12 * * *'", 5, 5, 5},
    {"BU-1 active for one reason", "budget='5 | 0 reasons=Empty for=1h at=30 11 * * *'", 0, 5, 5},
    {"quirk: a schedule that never fires is active", "budget='2 for=1h at=0 0 31 2 *'", 2, 2, 2},
    {"BU-2 an error closes the pool", "budget='5 | 9 for=1h at=0 0 * * tue-mon'", 0, 0, 0},
    {"BU-2 also in a budget for another reason", "budget='5 | 9 reasons=Empty for=1h at=0 0 * * tue-mon'", 0, 0, 0},
};

static void allowed(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene s;

        scene_open(&s, ten_nodes(&b, cases[i].pool, "", "").p);
        check_i64(cases[i].name, budgets_of(s.a, s.snap, BUDGET_EMPTY)->allowed, cases[i].empty);
        check_i64(cases[i].name, budgets_of(s.a, s.snap, BUDGET_DRIFTED)->allowed, cases[i].drifted);
        check_i64(cases[i].name, budgets_of(s.a, s.snap, BUDGET_UNDERUTILIZED)->allowed, cases[i].underutilized);
        scene_close(&s);
    }
    sb_fini(&b);
}

static void errors(void **state)
{
    struct scene s;
    struct pool_budget p = first_pool(&s, "pool default budget='5 | 9 for=1h at=0 0 * * tue-mon'", BUDGET_EMPTY);

    (void)state;
    check_str("BU-3 a bad range", p.error,
              "budget 2: schedule \"0 0 * * tue-mon\": day of week \"tue-mon\" starts after its end");
    scene_close(&s);

    /* The decoder lets no such number through. */
    scene_open(&s, "pool default budget=5");
    s.snap->pools[0].budgets[0].nodes = STR("many");
    p = *budgets_of(s.a, s.snap, BUDGET_EMPTY);
    check_i64("BU-2 nodes that are no number: none", p.allowed, 0);
    check_str("BU-2 and why", p.error, "budget 1: nodes \"many\" is neither a number nor a percentage");
    scene_close(&s);
}

static void reasons_of_methods(void **state)
{
    (void)state;
    check_u64("emptiness", method_budget(METHOD_EMPTINESS), BUDGET_EMPTY);
    check_u64("drift", method_budget(METHOD_DRIFT), BUDGET_DRIFTED);
    check_u64("multi", method_budget(METHOD_MULTI), BUDGET_UNDERUTILIZED);
    check_u64("single", method_budget(METHOD_SINGLE), BUDGET_UNDERUTILIZED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting), cmocka_unit_test(never_negative),     cmocka_unit_test(allowed),
        cmocka_unit_test(errors),   cmocka_unit_test(reasons_of_methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
