/* Removals under way: they wait, they end, they are put back; budgets and limits hold at every instant, and a process that dies leaves nothing behind. */
#include <stdio.h>

#include "support/check.h"
#include "support/stage.h"

static const char *const compat[] = {"CONSOLIDATION", "compat", NULL};
static const char *const with_static[] = {"FEATURE_GATES", "StaticCapacity=true", NULL};

#define CONSOLIDATES "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '100%'}]"
#define DRIFTS_ONLY "consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: '100%'}]"
#define NEW_LABEL "{spec: {template: {metadata: {labels: {revision: two}}}}}"
#define APART                                                                                                          \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, minDomains: 9, "                    \
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}],"

/* So many nodes with a pod each, of a pool whose nodes drift when `NEW_LABEL` is put on it. */
static struct stage *drifting(const char *const *env, const char *disruption, uint32_t n)
{
    struct stage *s = stage_new(env);

    stage_pool(s, disruption, "");
    stage_deploy_with(s, "web", n, "1", APART);
    stage_wait(s, 60, n, n);
    (void)stage_story(s);
    return s;
}

static void slow_nodes(struct stage *s, const char *delay)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_patch(s->r->l, "kwoknodeclasses", "default",
              arena_printf(a, "{spec: {nodeRegistrationDelay: %s}}%c", delay, 0).p);
    lab_run(s->r->l, 1);
}

/* QU-1, QU-2, QU-3 */
static void takes_too_long(void **state UNUSED)
{
    struct stage *s = drifting(compat, DRIFTS_ONLY, 1);

    slow_nodes(s, "14m");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 15, "c2 made");
    (void)stage_story(s);
    lab_run(s->r->l, 9 * 60 + 50);
    check_str("QU-2: waits", stage_story(s), "");
    lab_run(s->r->l, 15);
    check_true("QU-3: put back", str_starts(stage_story(s), STR("n1 untainted\nc1 stays\n")));
    check_true("says so",
               str_contains(stage_logged(s, "failed terminating nodes while executing a disruption command", "error"),
                            STR("command reached timeout")));
    check_double(
        "counted",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_queue_failures_total{consolidation_type=\"replace\",decision=\"replace\",reason=\"drifted\"}"),
        1);
    slow_nodes(s, "0s");
    stage_until(s, 20 * 60, "c1 gone");
    stage_wait(s, 60, 1, 1);
    stage_free(s);
}

/* Recorded as 032; CA-5, DF-5 */
static void replacement_deleted(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = drifting(compat, DRIFTS_ONLY, 1);

    slow_nodes(s, "25s");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 15, "c2 made");
    lab_run(s->r->l, 4);
    (void)stage_story(s);
    lab_delete(s->r->l, "nodeclaims", arena_printf(a, STR_FMT "%c", STR_ARG(stage_claim(s, 2)), 0).p);
    stage_until(s, 5, "c1 stays");
    check_str("put back", stage_story(s), "c2 deleted\nc2 gone\nn1 untainted\nc1 stays\n");
    check_true("says so",
               str_contains(stage_logged(s, "failed terminating nodes while executing a disruption command", "error"),
                            STR("\"error\":\"replacement was deleted, NodeClaim.karpenter.sh \\\"c2\\\" not found\"")));
    stage_until(s, 60, "c1 gone");
    check_str("tried again", stage_story(s),
              "n1 tainted\nc1 goes: Drifted\nc3 made\nc3 initialized\nc1 deleted\nc1 gone\n");
    stage_free(s);
}

static bool refuse_claims(void *ctx, uint32_t replica, const struct exchange *x)
{
    (void)replica;
    return !*(const bool *)ctx || strcmp(x->method, "POST") != 0 || !str_ends(x->path, STR("/nodeclaims"));
}

/* DF-5: no replacement can be made. */
static void not_made(void **state UNUSED)
{
    struct stage *s = drifting(compat, DRIFTS_ONLY, 1);
    bool closed = true;

    s->r->watch_ctx = &closed;
    s->r->before = refuse_claims;
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 60, "c1 stays");
    check_true("put back", str_starts(stage_story(s), STR("n1 tainted\nc1 goes: Drifted\nn1 untainted\nc1 stays\n")));
    check_true("says so",
               str_contains(stage_logged(s, "Reconciler error", "error"), STR("launching replacement nodeclaim")));
    closed = false;
    stage_until(s, 60, "c1 gone");
    stage_wait(s, 30, 1, 1);
    check_u64("one was made", s->claims.n, 2);
    stage_free(s);
}

/* QU-4, DF-5: all of several replacements are waited for. */
static void several_replacements(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    stage_pool(s, DRIFTS_ONLY, "");
    stage_deploy(s, "web", 2, "3");
    stage_wait(s, 30, 2, 1);
    lab_run(s->r->l, 12);
    (void)stage_story(s);
    lab_patch(
        s->r->l, "nodepools", "default",
        "{spec: {template: {spec: {requirements: [{key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['5']},"
        "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}}");
    stage_until(s, 60, "c1 gone");
    check_str("story", stage_story(s),
              "n1 tainted\nc1 goes: Drifted\nc2 made\nc3 made\nc2 initialized\nc3 initialized\nc1 deleted\nc1 gone\n");
    check_true("log",
               str_contains(
                   stage_logged(s, "disrupting node(s)", "decision"),
                   STR("\"replacement-nodes\":[{\"capacity-type\":\"on-demand\"},{\"capacity-type\":\"on-demand\"}]")));
    stage_wait(s, 30, 2, 2);
    stage_free(s);
}

/* QU-4, DF-1, CA-2: side by side as far as the budget goes, and never further. */
static void within_budget(void **state UNUSED)
{
    struct stage *s =
        drifting(NULL, "consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: '3'}]", 8);

    slow_nodes(s, "40s");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    lab_run(s->r->l, 30);
    check_u64("three at once", s->n_going, 3);
    check_u64("and three replacements, no more", s->claims.n, 11);
    check_double("allowed",
                 stage_metric(s, "karpenter_nodepools_allowed_disruptions{nodepool=\"default\",reason=\"Drifted\"}"),
                 3);
    check_double(
        "consumed",
        stage_metric(s, "karpenter_nodepools_nodes_consuming_budgets{nodepool=\"default\",reason=\"Drifted\"}"), 3);
    lab_run(s->r->l, 15 * 60);
    stage_wait(s, 60, 8, 8);
    check_u64("never more than three", s->max_going, 3);
    check_u64("each replaced once", s->claims.n, 16);
    check_double("none are left", stage_metric(s, "karpenter_voluntary_disruption_eligible_nodes{reason=\"drifted\"}"),
                 0);
    stage_free(s);
}

/* CA-5: a process that died in the middle. */
static void left_over(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = drifting(compat, DRIFTS_ONLY, 1);
    const char *node = arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p;
    const char *claim = arena_printf(a, STR_FMT "%c", STR_ARG(stage_claim(s, 1)), 0).p;

    lab_patch(s->r->l, "nodes", node,
              "{spec: {taints: [{key: mine, effect: NoSchedule}, {key: karpenter.sh/disrupted, effect: NoSchedule}]}}");
    lab_patch_status(
        s->r->l, "nodeclaims", claim,
        "{status: {conditions: [{type: Launched, status: 'True', reason: Launched, message: '', lastTransitionTime: '2023-11-14T22:13:24Z'},"
        "{type: Registered, status: 'True', reason: Registered, message: '', lastTransitionTime: '2023-11-14T22:13:24Z'},"
        "{type: Initialized, status: 'True', reason: Initialized, message: '', lastTransitionTime: '2023-11-14T22:13:24Z'},"
        "{type: DisruptionReason, status: 'True', reason: Drifted, message: Drifted, lastTransitionTime: '2023-11-14T22:13:24Z'},"
        "{type: Ready, status: 'True', reason: Ready, message: '', lastTransitionTime: '2023-11-14T22:13:24Z'}]}}");
    stage_until(s, 15, "c1 stays");
    check_str("both are taken off", stage_story(s), "n1 tainted\nc1 goes: Drifted\nn1 untainted\nc1 stays\n");
    check_str("others' taints stay", lab_get(s->r->l, "nodes", node, "spec.taints"),
              "[{\"key\":\"mine\",\"effect\":\"NoSchedule\"}]");
    stage_free(s);
}

/* A node that may be replaced by a cheaper one, up to the moment in which that was found out. */
static struct stage *decided(const char *const *env)
{
    struct stage *s = stage_new(env);

    stage_pool(s, CONSOLIDATES, "");
    stage_deploy(s, "large", 1, "6");
    stage_deploy(s, "stays", 1, "500m");
    stage_wait(s, 30, 2, 1);
    lab_delete(s->r->l, "deployments", "large");
    for (int i = 0; i < 300 && stage_events(s, "ConsolidationCandidate").n == 0; i++)
        lab_run(s->r->l, 0.1);
    (void)stage_story(s);
    return s;
}

/* Recorded as 033; CL-2, CL-14, EM-6 */
static void no_longer_good(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = decided(compat);

    lab_patch(s->r->l, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p,
              "{metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}");
    lab_run(s->r->l, 20);
    check_str("nothing was done", stage_story(s), "");
    check_str("said", stage_events(s, "ConsolidationRejected"),
              "c1: Consolidation rejected: replace: [n1] -> [1 replacement], reason: churn (savings: $0.19)\n"
              "n1: Consolidation rejected: replace: [n1] -> [1 replacement], reason: churn (savings: $0.19)\n");
    check_double(
        "counted",
        stage_metric(s, "karpenter_voluntary_disruption_failed_validations_total{consolidation_type=\"single\"}"), 1);
    stage_free(s);
}

static void budget_closed_meanwhile(void **state UNUSED)
{
    struct stage *s = decided(compat);

    lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '0'}]}}}");
    lab_run(s->r->l, 20);
    check_str("nothing was done", stage_story(s), "");
    check_true("said", str_contains(stage_events(s, "ConsolidationRejected"), STR("reason: budget")));
    lab_run(s->r->l, 10);
    check_str("of the pool", stage_events(s, "DisruptionBlocked"),
              "default: No allowed disruptions for disruption reason Underutilized due to blocking budget\n");
    lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '1'}]}}}");
    stage_until(s, 60, "c1 gone"); /* CL-4: it was not forgotten */
    stage_free(s);
}

static void pod_came_meanwhile(void **state UNUSED)
{
    struct stage *s = decided(compat);

    stage_deploy(s, "comes", 1, "5");
    lab_run(s->r->l, 20);
    check_str("nothing was done", stage_story(s), "");
    check_true("said", str_contains(stage_events(s, "ConsolidationRejected"), STR("reason: scheduling")) ||
                           str_contains(stage_events(s, "ConsolidationRejected"), STR("reason: churn")));
    stage_free(s);
}

/* CL-18, CA-4: while the replacement is on its way nobody makes another, and pods that come use it. */
static void pods_use_the_replacement(void **state UNUSED)
{
    struct stage *s = decided(compat);

    slow_nodes(s, "30s");
    stage_until(s, 20, "c2 made");
    stage_deploy(s, "comes", 1, "300m");
    stage_wait(s, 120, 2, 1);
    check_u64("two machines in all", s->claims.n, 2);
    stage_free(s);
}

/* The first of its nodes goes without our doing: the rest is carried on with. */
static void first_one_vanishes(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = drifting(NULL, DRIFTS_ONLY, 2);

    slow_nodes(s, "30s");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 15, "c4 made");
    lab_delete(s->r->l, "nodeclaims", arena_printf(a, STR_FMT "%c", STR_ARG(stage_claim(s, 1)), 0).p);
    stage_until(s, 120, "c2 gone");
    stage_wait(s, 60, 2, 2);
    lab_run(s->r->l, 60);
    check_u64("nothing is left under way", stage_log_count(s, "command succeeded"), 2);
    stage_free(s);
}

/* kwok wants to be told of one type where no pods ask for anything. */
static const char static_pool[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
    "  replicas: 5\n  limits: {nodes: 6}\n  disruption: {consolidateAfter: Never, budgets: [{nodes: '100%'}]}\n"
    "  template: {spec: {expireAfter: Never,\n"
    "    nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [\n"
    "    {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux]},\n"
    "    {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}\n";

/* Recorded as 026; SF-1, SF-2 */
static void static_drift(void **state UNUSED)
{
    struct stage *s = stage_new(with_static);
    uint32_t most = 0;

    lab_apply(s->r->l, static_pool);
    stage_wait(s, 60, 0, 5);
    (void)stage_story(s);
    slow_nodes(s, "10s");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    for (int i = 0; i < 4000 && !stage_saw(s, "c10 initialized"); i++) {
        struct fleet f;

        lab_run(s->r->l, 0.1);
        fleet_look(s->r, &f);
        most = MAX(most, f.n_claims);
    }
    stage_wait(s, 120, 0, 5);
    lab_run(s->r->l, 120);
    stage_wait(s, 1, 0, 5);
    check_u64("never more than the limit", most, 6);
    check_u64("each replaced once", s->claims.n, 10);
    check_true("log",
               str_contains(stage_logged(s, "disrupting node(s)", "decision"),
                            STR("\"replacement-nodes\":[{\"capacity-type\":\"on-demand\",\"instance-types\":\"\"}]")));
    check_double(
        "counted",
        stage_metric(
            s,
            "karpenter_nodeclaims_created_total{min_values_relaxed=\"false\",nodepool=\"default\",reason=\"drifted\"}"),
        5);
    stage_free(s);
}

/* Without a limit: those that are replaced do not count as too many while their replacements come up. */
static void static_drift_at_once(void **state UNUSED)
{
    struct stage *s = stage_new(with_static);

    lab_apply(s->r->l, static_pool);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {limits: null}}");
    stage_wait(s, 60, 0, 5);
    slow_nodes(s, "10s");
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 60, "c10 initialized");
    stage_wait(s, 60, 0, 5);
    lab_run(s->r->l, 180);
    stage_wait(s, 1, 0, 5);
    check_u64("all at once", s->max_going, 5);
    check_u64("each replaced once", s->claims.n, 10);
    stage_free(s);
}

/* Nodes that can each be replaced by a cheaper one: several removals of one look, which is repeated for each. */
static void side_by_side(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '3'}]", "");
    stage_deploy_with(s, "web", 6, "500m", APART);
    stage_deploy_with(s, "large", 6, "6",
                      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
                      "kubernetes.io/hostname, labelSelector: {matchLabels: {app: large}}}]}},");
    stage_wait(s, 60, 12, 6);
    slow_nodes(s, "60s");
    lab_delete(s->r->l, "deployments", "large");
    lab_run(s->r->l, 60);
    check_u64("three are under way", s->n_going, 3);
    check_u64("each by itself", stage_log_count(s, "disrupting node(s)"), 3);
    lab_run(s->r->l, 600);
    stage_wait(s, 60, 6, 6);
    check_u64("never more than the budget", s->max_going, 3);
    check_u64("each replaced once", s->claims.n, 12);
    stage_free(s);
}

/* SIGTERM between decision and second look does not wait for it; SIGTERM while a replacement comes up leaves it to the next process. */
static void stopped_in_between(void **state UNUSED)
{
    struct stage *s = decided(NULL);
    double t = rig_now(s->r);

    rig_stop(s->r, 0);
    check_true("ends at once", rig_now(s->r) - t < 1);
    rig_start(s->r, 0);
    slow_nodes(s, "30s");
    stage_until(s, 60, "c2 made");
    (void)stage_story(s);
    rig_stop(s->r, 0);
    rig_start(s->r, 0);
    stage_until(s, 30, "c1 stays");
    check_true("the marks of the first are taken off", str_starts(stage_story(s), STR("n1 untainted\nc1 stays\n")));
    stage_wait(s, 180, 1, 1);
    stage_until(s, 180, "c1 gone");
    stage_wait(s, 60, 1, 1);
    check_true("at most one too many", s->claims.n <= 3);
    stage_free(s);
}

/* Nothing to do means that nothing is written. */
static void stays_quiet(void **state UNUSED)
{
    struct stage *s = drifting(NULL, CONSOLIDATES, 3);

    lab_run(s->r->l, 600);
    uint32_t before = s->r->writes.n, n = 0;
    lab_run(s->r->l, 3600);
    for (uint32_t i = before; i < s->r->writes.n; i++)
        n += !str_contains(s->r->writes.v[i].path, STR("/events"));
    check_u64("writes in an hour", n, 0);
    check_str("story", stage_story(s), "");
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_too_long),
        cmocka_unit_test(replacement_deleted),
        cmocka_unit_test(not_made),
        cmocka_unit_test(several_replacements),
        cmocka_unit_test(within_budget),
        cmocka_unit_test(left_over),
        cmocka_unit_test(no_longer_good),
        cmocka_unit_test(budget_closed_meanwhile),
        cmocka_unit_test(pod_came_meanwhile),
        cmocka_unit_test(pods_use_the_replacement),
        cmocka_unit_test(first_one_vanishes),
        cmocka_unit_test(static_drift),
        cmocka_unit_test(static_drift_at_once),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(stopped_in_between),
        cmocka_unit_test(stays_quiet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
