/* Which pods may be moved, what keeps them, what moving them costs (lifecycle 1.2 to 1.4). */
#include "model/evict.h"

#include <math.h>

#include "base/sb.h"
#include "support/check.h"
#include "support/scenario.h"

static const struct pod *pod_called(const struct scene *s, str name)
{
    for (uint32_t i = 0; i < s->snap->n_pods; i++)
        if (str_eq(s->snap->pods[i].name, name))
            return &s->snap->pods[i];
    fail_msg("no pod %.*s", STR_ARG(name));
    return NULL;
}

/* ---- do-not-disrupt ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *line;
    bool protected;
    int64_t left_s; /* -1: for ever */
} protections[] = {
    {"no annotation", "pod p node=n", false, 0},
    {"true", "pod p node=n note=dnd=true", true, -1},
    {"DF-4 false is no duration", "pod p node=n note=dnd=false", false, 0},
    {"DF-4 words are no duration", "pod p node=n note=dnd=soon start=11:59:00", false, 0},
    {"zero", "pod p node=n note=dnd=0s start=11:59:00", false, 0},
    {"negative", "pod p node=n note=dnd=-5m start=11:59:00", false, 0},
    {"DF-4 a duration that runs", "pod p node=n note=dnd=3m start=11:58:00", true, 60},
    {"DF-4 one that is over", "pod p node=n note=dnd=3m start=11:57:00", false, 0},
    {"less than a millisecond left", "pod p node=n note=dnd=180000000001ns start=11:57:00", true, 1},
    {"a pod that has not started is safe", "pod p node=n note=dnd=3m", true, -1},
};

static void do_not_disrupt(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(protections); i++) {
        const char *name = protections[i].name;
        struct scene s;

        scene_open(&s, protections[i].line);
        const struct pod *p = pod_called(&s, STR("p"));
        check_true(name, pod_is_protected(p, s.snap->now_ms) == protections[i].protected);
        if (protections[i].left_s > 0)
            check_i64(name, (pod_protected_until(p) - s.snap->now_ms + 999) / 1000, protections[i].left_s);
        if (protections[i].left_s < 0)
            check_i64(name, pod_protected_until(p), INT64_MAX);
        scene_close(&s);
    }
}

/* ---- kinds of pods ------------------------------------------------------------------------------------------------- */

#define DAEMON " owner=apps/v1/DaemonSet/d"
#define MIRROR " owner=v1/Node/n"
#define STATEFUL " owner=apps/v1/StatefulSet/s"
#define TOLERATES " tol=karpenter.sh/disrupted:NoSchedule"

static const struct {
    const char *name, *line;
    bool evictable, reschedulable, undisruptable;
} kinds[] = {
    {"an ordinary pod", "pod p node=n", true, true, false},
    {"finished", "pod p node=n phase=Succeeded", false, false, false},
    {"failed, with the annotation", "pod p node=n phase=Failed note=dnd=true", false, false, false},
    {"terminating", "pod p node=n deleting", false, false, false},
    {"CA-10 terminating, with the annotation", "pod p node=n deleting note=dnd=true", false, false, false},
    {"EM-5 terminating, of a StatefulSet", "pod p node=n deleting" STATEFUL, false, true, false},
    {"of a DaemonSet", "pod p node=n" DAEMON, true, false, false},
    {"CA-8 of a DaemonSet, with the annotation", "pod p node=n note=dnd=true" DAEMON, false, false, true},
    {"a mirror pod", "pod p node=n" MIRROR, false, false, false},
    {"CA-8 a mirror pod with the annotation", "pod p node=n note=dnd=true" MIRROR, false, false, true},
    {"an owner that is not the controller counts", "pod p node=n loose" DAEMON, true, false, false},
    {"protected", "pod p node=n note=dnd=true", false, true, true},
    {"tolerates the disruption taint", "pod p node=n" TOLERATES, false, true, false},
    {"tolerates everything", "pod p node=n tol=*", false, true, false},
    {"tolerates another effect", "pod p node=n tol=karpenter.sh/disrupted:NoExecute", true, true, false},
};

static void predicates(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct scene s;

        scene_open(&s, kinds[i].line);
        const struct pod *p = pod_called(&s, STR("p"));
        check_true(kinds[i].name, pod_is_evictable(p, s.t, s.snap->now_ms) == kinds[i].evictable);
        check_true(kinds[i].name, pod_is_reschedulable(p) == kinds[i].reschedulable);
        check_true(kinds[i].name, pod_is_undisruptable(p, s.snap->now_ms) == kinds[i].undisruptable);
        scene_close(&s);
    }
}

/* What a node that goes away waits for: at the time of the deletion, and a minute and a half after it should be over. */
static const struct {
    const char *name, *line;
    bool drainable, waiting, later;
} drains[] = {
    {"an ordinary pod", "pod p node=n", true, true, true},
    {"protected", "pod p node=n note=dnd=true", true, true, true},
    {"finished", "pod p node=n phase=Succeeded", true, false, false},
    {"a mirror pod", "pod p node=n" MIRROR, false, false, false},
    {"of a DaemonSet", "pod p node=n" DAEMON, true, true, true},
    {"tolerates the disruption taint", "pod p node=n" TOLERATES, false, false, false},
    {"terminating", "pod p node=n deleting", true, true, false},
};

static void draining(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(drains); i++) {
        struct scene s;

        scene_open(&s, drains[i].line);
        struct pod p = *pod_called(&s, STR("p"));
        int64_t now = s.snap->now_ms;
        if (p.terminating)
            p.deleted = moment_of_ms(now);
        check_true(drains[i].name, pod_is_drainable(&p, s.t, now) == drains[i].drainable);
        check_true(drains[i].name, pod_is_waiting_eviction(&p, s.t, now + 60000) == drains[i].waiting);
        check_true(drains[i].name, pod_is_waiting_eviction(&p, s.t, now + 90000) == drains[i].later);
        scene_close(&s);
    }
}

/* ---- cost ---------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *line;
    double want;
} costs[] = {
    {"CA-7 nothing said", "pod p", 1},
    {"CA-7 a deletion cost of 2^27", "pod p note=cost=134217728", 2},
    {"CA-7 a negative one", "pod p note=cost=-134217728", 0},
    {"CA-7 a priority of 2^25", "pod p prio=33554432", 2},
    {"CA-7 a negative priority", "pod p prio=-67108864", -1},
    {"CA-7 both", "pod p prio=33554432 note=cost=67108864", 2.5},
    {"never above 10", "pod p prio=2000001000", 10},
    {"never below -10", "pod p note=cost=-1e12", -10},
    {"infinite", "pod p note=cost=Inf", 10},
    {"no number is no cost", "pod p note=cost=much", 1},
    {"hexadecimal, as Go reads it", "pod p note=cost=0x1p27", 2},
    {"hexadecimal needs an exponent", "pod p note=cost=0x10", 1},
    {"too large for a number", "pod p note=cost=1e999", 1},
};

static void eviction_cost(void **state)
{
    struct scene s;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(costs); i++) {
        scene_open(&s, costs[i].line);
        check_double(costs[i].name, pod_eviction_cost(pod_called(&s, STR("p"))), costs[i].want);
        scene_close(&s);
    }
    scene_open(&s, "pod p note=cost=NaN");
    check_true("hazard: NaN stays NaN", isnan(pod_eviction_cost(pod_called(&s, STR("p")))));
    scene_close(&s);
}

/* ---- disruption budgets -------------------------------------------------------------------------------------------- */

#define WEB "pod p node=n label=app=web,tier=front"

static const struct {
    const char *name, *text;
    const char *now, *ever; /* names of the budgets that refuse pod p */
} budgets[] = {
    {"none", WEB, "", ""},
    {"one that allows", WEB "\npdb b sel=app=web min=1 allowed=1", "", ""},
    {"one that allows nothing now", WEB "\npdb b sel=app=web min=1 allowed=0", "b", ""},
    {"maxUnavailable 0", WEB "\npdb b sel=app=web max=0 allowed=0", "b", "b"},
    {"maxUnavailable 0%", WEB "\npdb b sel=app=web max=0% allowed=0", "b", "b"},
    {"minAvailable 100%", WEB "\npdb b sel=app=web min=100% allowed=0", "b", "b"},
    {"minAvailable of all replicas may change", WEB "\npdb b sel=app=web min=1 allowed=0", "b", ""},
    {"never, though the status lags", WEB "\npdb b sel=app=web max=0 allowed=1", "", "b"},
    {"another namespace", WEB "\npdb b ns=other sel=app=web max=0 allowed=0", "", ""},
    {"other labels", WEB "\npdb b sel=app=db max=0 allowed=0", "", ""},
    {"every label must match", WEB "\npdb b sel=app=web,tier=back max=0 allowed=0", "", ""},
    {"found by its first label, matched by all", WEB "\npdb b sel=tier=front,app=web max=0 allowed=0", "b", "b"},
    {"an empty selector covers all", WEB "\npdb b sel=all max=0 allowed=0", "b", "b"},
    {"no selector covers nothing", WEB "\npdb b sel=nil max=0 allowed=0", "", ""},
    {"expressions", WEB "\npdb b sel=?app:In:web,db max=0 allowed=0", "b", "b"},
    {"CA-11 several, by name", WEB "\npdb z sel=tier=front min=0 allowed=9\npdb a sel=app=web min=0 allowed=9", "a z",
     "a z"},
    {"an unhealthy pod is not kept", WEB " notready\npdb b sel=app=web max=0 allowed=0 policy=AlwaysAllow", "", ""},
    {"unless the policy says so", WEB " notready\npdb b sel=app=web max=0 allowed=0 policy=IfHealthyBudget", "b", "b"},
    {"a healthy one is", WEB "\npdb b sel=app=web max=0 allowed=0 policy=AlwaysAllow", "b", "b"},
    {"several keep an unhealthy one too",
     WEB " notready\npdb a sel=app=web policy=AlwaysAllow\npdb b sel=app=web policy=AlwaysAllow", "a b", "a b"},
    {"CA-11 daemons are evicted", WEB DAEMON "\npdb b sel=app=web max=0 allowed=0", "b", "b"},
    {"CA-11 mirror pods are not", WEB MIRROR "\npdb b sel=app=web max=0 allowed=0", "", ""},
    {"CA-11 finished ones are not", WEB " phase=Succeeded\npdb b sel=app=web max=0 allowed=0", "", ""},
    {"CA-11 terminating ones are not", WEB " deleting\npdb b sel=app=web max=0 allowed=0", "", ""},
    {"what tolerates disruption is not", WEB TOLERATES "\npdb b sel=app=web max=0 allowed=0", "", ""},
    {"what is protected is not", WEB " note=dnd=true\npdb b sel=app=web max=0 allowed=0", "", ""},
};

static str names_of(struct sb *b, const struct scene *s, struct pdb_list l)
{
    sb_reset(b);
    for (uint32_t i = 0; i < l.n; i++) {
        if (i)
            sb_char(b, ' ');
        sb_str(b, s->snap->pdbs[l.v[i]].name);
    }
    return sb_view(b);
}

static void refusing_budgets(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
        struct scene s;

        scene_open(&s, budgets[i].text);
        const struct pod *p = pod_called(&s, STR("p"));
        struct pdb_index *x = pdb_index_new(s.snap);
        for (int again = 0; again < 2; again++) { /* the second answer is remembered */
            check_str(budgets[i].name, names_of(&b, &s, pdb_refusing(x, p, PDB_NOW)), budgets[i].now);
            check_str(budgets[i].name, names_of(&b, &s, pdb_refusing(x, p, PDB_EVER)), budgets[i].ever);
        }
        check_true(budgets[i].name,
                   pod_is_movable(x, p) ==
                       (pod_is_reschedulable(p) && !pod_is_undisruptable(p, s.snap->now_ms) && !*budgets[i].ever));
        pdb_index_free(x);
        scene_close(&s);
    }
    sb_fini(&b);
}

/* Ten pods, of which some are not ready, in a file that nobody's controller has seen. */
static const struct {
    const char *name, *budget, *more;
    int64_t want;
} unseen[] = {
    {"a number that must stay", "pdb b sel=app=web min=7", "", 3},
    {"a percentage that must stay, rounded up", "pdb b sel=app=web min=75%", "", 2},
    {"a number that may go", "pdb b sel=app=web max=4", "", 4},
    {"a percentage that may go, rounded up", "pdb b sel=app=web max=25%", "", 3},
    {"more than there are", "pdb b sel=app=web min=11", "", 0},
    {"all may go", "pdb b sel=app=web max=100%", "", 10},
    {"nothing said: all must stay", "pdb b sel=app=web", "", 0},
    {"a status wins", "pdb b sel=app=web min=7 allowed=1", "", 1},
    {"pods that are not ready count as gone", "pdb b sel=app=web max=4", "pod sick x2 node=n label=app=web notready",
     2},
    {"pods that are not running too", "pdb b sel=app=web max=4", "pod new x3 label=app=web", 1},
    {"finished pods do not count", "pdb b sel=app=web min=50%", "pod done x5 node=n label=app=web phase=Succeeded", 5},
};

static void allowances(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(unseen); i++) {
        struct scene s;

        sb_reset(&b);
        sb_printf(&b, "pod web x10 node=n label=app=web\n%s\n%s\n", unseen[i].budget, unseen[i].more);
        scene_open(&s, sb_cstr(&b));
        struct pdb_index *x = pdb_index_new(s.snap);
        check_i64(unseen[i].name, pdb_allowed(x, 0), unseen[i].want);
        pdb_index_free(x);
        scene_close(&s);
    }
    sb_fini(&b);
}

static void counts(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s,
               "pod web x4 node=n label=app=web\npod sick node=n label=app=web notready\npdb b sel=app=web max=20%");
    struct pdb_index *x = pdb_index_new(s.snap);
    struct pdb_counts c = pdb_count(x, 0);
    check_i64("expected", c.expected, 5);
    check_i64("healthy", c.healthy, 4);
    check_i64("desired", c.desired, 4);
    check_i64("allowed", pdb_allowed(x, 0), 0);
    pdb_index_free(x);
    scene_close(&s);
}

/* Many budgets and label sets: what the index answers is what looking at every budget would. */
static void index_agrees(void **state)
{
    static const char *const selectors[] = {"all",           "app=a1", "app=a2,tier=t1", "tier=t0",
                                            "?app:In:a1,a3", "nil",    "app=a8"};
    struct sb b = {0};
    struct scene s;

    (void)state;
    for (unsigned i = 0; i < 60; i++)
        sb_printf(&b, "pdb b%02u ns=ns%u sel=%s max=0 allowed=0\n", i, i % 3, selectors[i % ARRAY_LEN(selectors)]);
    for (unsigned i = 0; i < 200; i++)
        sb_printf(&b, "pod p%u ns=ns%u label=app=a%u,tier=t%u node=n\n", i, i % 4, i % 9, i % 2);
    scene_open(&s, sb_cstr(&b));
    struct pdb_index *x = pdb_index_new(s.snap);
    for (uint32_t i = 0; i < s.snap->n_pods; i++) {
        const struct pod *p = &s.snap->pods[i];
        uint32_t n = 0;

        for (uint32_t k = 0; k < s.snap->n_pdbs; k++)
            n += sym_eq(s.snap->pdbs[k].ns, p->ns) && selector_matches(&s.snap->pdbs[k].selector, s.t, p->labels);
        check_u64("as many as by looking at all", pdb_refusing(x, p, PDB_NOW).n, n);
    }
    pdb_index_free(x);
    scene_close(&s);
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(do_not_disrupt), cmocka_unit_test(predicates),       cmocka_unit_test(draining),
        cmocka_unit_test(eviction_cost),  cmocka_unit_test(refusing_budgets), cmocka_unit_test(allowances),
        cmocka_unit_test(counts),         cmocka_unit_test(index_agrees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
