/* Consolidation policy Balanced: scores, totals, approval (lifecycle 8.12; checklist BA). */
#include <math.h>

#include "disrupt/candidate.h"
#include "support/check.h"
#include "support/scenario.h"

/* ---- scores -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    double savings, disruption, pool_cost, pool_disruption;
    bool approved;
} moves[] = {
    {"BA-1 oversized", 7.26, 4, 58.08, 90, true},
    {"BA-1 half empty", 4.84, 5, 58.08, 90, true},
    {"BA-1 well packed", 2.42, 9, 58.08, 90, false},
    {"BA-1 nothing to save", 0, 11, 58.08, 90, false},
    {"BA-2 one of many alike", 2.42, 9, 48.40, 90, true},
    {"BA-3 few pods", 4.84, 5, 58.08, 117, true},
    {"BA-3 many pods", 4.84, 32, 58.08, 117, false},
    {"BA-5 nobody is disturbed", 1, 0, 100, 100, true},
    {"BA-5 nothing is saved", 0, 1, 100, 100, false},
    {"BA-5 a pool that costs nothing", 1, 1, 0, 100, false},
    {"a pool that has nothing to disturb", 1, 1, 100, 0, false},
};

static bool passes(double score, double k)
{
    return score >= 1 / k;
}

static void approvals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(moves); i++)
        check_true(moves[i].name, passes(balance_score(moves[i].savings, moves[i].disruption, moves[i].pool_cost,
                                                       moves[i].pool_disruption),
                                         2) == moves[i].approved);
    check_double("the threshold", BALANCE_THRESHOLD, 0.5);
}

static const struct {
    const char *name;
    double savings, disruption, want;
} scores[] = {
    {"BA-10 a good move", 20, 5, 4},     {"BA-10 an even one", 10, 10, 1}, {"BA-10 a bad one", 5, 50, 0.1},
    {"BA-10 for free", 10, 0, INFINITY}, {"BA-10 for nothing", 0, 10, 0},  {"BA-10 at a loss", -5, 10, 0},
};

static void score_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scores); i++)
        check_true(
            scores[i].name,
            fabs(balance_score(scores[i].savings, scores[i].disruption, 100, 100) - scores[i].want) < 1e-12 ||
                (isinf(scores[i].want) && isinf(balance_score(scores[i].savings, scores[i].disruption, 100, 100))));
}

static void scale(void **state)
{
    double small = balance_score(7.26, 4, 58.08, 90), large = balance_score(72.6, 40, 580.8, 900);
    double marginal = balance_score(4, 10, 100, 100);

    (void)state;
    check_true("BA-4 ten times as large, the same score", fabs(small - large) < 1e-12);
    check_double("BA-4 equal shares, equal scores", balance_score(10, 20, 100, 100), balance_score(5, 7, 50, 35));
    check_true("BA-6 k=2 refuses a marginal move", !passes(marginal, 2));
    check_true("BA-6 k=3 approves of it", passes(marginal, 3));
    check_true("BA-6 k=1 refuses it", !passes(marginal, 1));
}

/* ---- totals -------------------------------------------------------------------------------------------------------- */

#define TYPES "type big offer='spot z1 4'\ntype small offer='spot z1 1'\n"
#define BALANCED TYPES "pool default policy=Balanced\n"
#define BIG(name) "node " name " label=zone=z1,ct=spot,itype=big\n"
#define SMALL(name) "node " name " label=zone=z1,ct=spot,itype=small\n"

static const struct {
    const char *name, *text;
    double cost, disruption;
} totals[] = {
    {"BA-7 all candidates", BALANCED BIG("n1") SMALL("n2") "pod p x3 node=n1\npod q node=n2", 5, 6},
    {"BA-7 nodes without a price add disruption", BALANCED BIG("n1") "node n2 label=itype=old\npod p x3 node=n2", 4, 5},
    {"nodes that are kept add theirs",
     BALANCED BIG("n1") "node n2 note=dnd=true label=zone=z1,ct=spot,itype=big\n"
                        "pod p x3 node=n2",
     8, 5},
    {"all of their pods but daemons",
     BALANCED BIG("n1") "node n2 note=dnd=true\npod m node=n2 owner=v1/Node/n2\npod t node=n2 deleting\n"
                        "pod d node=n2 owner=apps/v1/DaemonSet/d\npod c node=n2 note=cost=-1e12",
     4, 4},
    {"a node that is no candidate of the method is still one",
     BALANCED BIG("n1") "node n2 unsettled label=zone=z1,ct=spot,itype=big\npod p x3 node=n2", 8, 5},
    {"other pools do not count", BALANCED BIG("n1") "pool other\nnode n2 pool=other label=zone=z1,ct=spot,itype=big", 4,
     1},
    {"BA-8 a pool without a candidate", BALANCED "node n1 note=dnd=true label=zone=z1,ct=spot,itype=big", 0, 0},
    {"nobody is Balanced, nobody counts", TYPES "pool default\n" BIG("n1"), 0, 0},
};

static void pool_totals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(totals); i++) {
        struct candidates c;
        struct balance b;
        struct scene s;

        scene_open(&s, totals[i].text);
        candidates_init(&c, s.a, s.snap);
        balance_init(&b, &c);
        check_double(totals[i].name, b.cost[0], totals[i].cost);
        check_double(totals[i].name, b.disruption[0], totals[i].disruption);
        candidates_fini(&c);
        scene_close(&s);
    }
}

/* ---- approval ------------------------------------------------------------------------------------------------------ */

/* Pool default: n1 dear with one pod, n2 cheap with nine. Cost 5, disruption 12. */
#define PAIR BIG("n1") SMALL("n2") "pod p node=n1\npod q x9 node=n2\n"
#define OTHER(policy)                                                                                                  \
    "pool other policy=" policy "\nnode n3 pool=other label=zone=z1,ct=spot,itype=big\npod r node=n3\n"

static const struct {
    const char *name, *text;
    const char *nodes; /* a bit for each */
    double savings;
    bool want;
} commands[] = {
    {"BA-8 nothing to remove", BALANCED PAIR, "000", 1, false},
    {"BA-8 the dear node", BALANCED PAIR, "100", 4, true},
    {"the full one", BALANCED PAIR, "010", 1, false},
    {"BA-8 the whole pool scores 1", BALANCED PAIR, "110", 5, true},
    {"replaced by one that costs nearly as much", BALANCED PAIR, "100", 0.4, false},
    {"BA-8 others approve of everything", TYPES "pool default policy=WhenEmptyOrUnderutilized\n" PAIR, "010", 0, true},
    {"BA-8 a pool beside it that does not ask", BALANCED PAIR OTHER("WhenEmptyOrUnderutilized"), "101", 8, true},
    {"BA-8 it gets its part of the savings", BALANCED PAIR OTHER("WhenEmptyOrUnderutilized"), "101", 1.2, true},
    {"BA-8 which may be too little", BALANCED PAIR OTHER("WhenEmptyOrUnderutilized"), "101", 0.8, false},
    {"BA-8 both must approve", BALANCED PAIR OTHER("Balanced"), "101", 8, true},
    {"BA-8 one of them does not", BALANCED PAIR OTHER("Balanced"), "011", 5, false},
};

static void approval(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct candidate *v[3];
        struct candidates c;
        struct balance b;
        struct scene s;
        uint32_t n = 0;

        scene_open(&s, commands[i].text);
        candidates_init(&c, s.a, s.snap);
        balance_init(&b, &c);
        for (uint32_t k = 0; commands[i].nodes[k]; k++)
            if (commands[i].nodes[k] == '1')
                v[n++] = &c.all[k];
        check_true(commands[i].name, balance_approves(&b, &c, v, n, commands[i].savings) == commands[i].want);
        candidates_fini(&c);
        scene_close(&s);
    }
}

static void first_look(void **state)
{
    struct candidates c;
    struct balance b;
    struct scene s;

    (void)state;
    scene_open(&s, BALANCED PAIR OTHER("WhenEmptyOrUnderutilized"));
    candidates_init(&c, s.a, s.snap);
    balance_init(&b, &c);
    check_true("deleting it would be worth it", balance_may_approve(&b, &c, &c.all[0]));
    check_true("not even deleting it would", !balance_may_approve(&b, &c, &c.all[1]));
    check_true("nobody asks", balance_may_approve(&b, &c, &c.all[2]));
    b.cost[0] = 0;
    check_true("a pool without cost: the simulation decides", balance_may_approve(&b, &c, &c.all[1]));
    candidates_fini(&c);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(approvals),   cmocka_unit_test(score_table), cmocka_unit_test(scale),
        cmocka_unit_test(pool_totals), cmocka_unit_test(approval),    cmocka_unit_test(first_look),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
