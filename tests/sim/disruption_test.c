/* Nodes that are not worth keeping, in a whole cluster: what is decided is carried out, in the order that nobody loses by. */
#include <stdio.h>

#include "support/check.h"
#include "support/stage.h"

static const char *const compat[] = {"CONSOLIDATION", "compat", NULL};

#define CONSOLIDATES "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '100%'}]"
#define DRIFTS_ONLY "consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: '100%'}]"

/* Recorded as 011. */
static void empty_node(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    stage_pool(s, "consolidationPolicy: WhenEmpty, consolidateAfter: 5s", "");
    stage_deploy(s, "empties", 1, "1");
    stage_wait(s, 30, 1, 1);
    lab_run(s->r->l, 12);
    check_str("it is kept", stage_events(s, "Unconsolidatable"),
              "c1: NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty\n"
              "n1: NodePool \"default\" has consolidation policy WhenEmpty, but node is not empty\n");
    (void)stage_story(s);
    lab_patch(s->r->l, "deployments", "empties", "{spec: {replicas: 0}}");
    stage_wait(s, 60, 0, 0);
    check_str("story", stage_story(s), "n1 tainted\nc1 goes: Empty\nc1 deleted\nc1 gone\n");
    check_str("events", stage_events(s, "DisruptionTerminating"),
              "c1: Disrupting NodeClaim: Empty\nn1: Disrupting Node: Empty\n");
    check_str("log", stage_logged(s, "disrupting node(s)", "decision"),
              "\"decision\":\"delete\",\"disrupted-node-count\":1,\"replacement-node-count\":0,\"pod-count\":0,"
              "\"disrupted-nodes\":[{\"Node\":{\"name\":\"n1\"},\"NodeClaim\":{\"name\":\"c1\"},\"capacity-type\":"
              "\"on-demand\",\"instance-type\":\"c-2x-amd64-linux\"}],\"replacement-nodes\":[]}\n");
    check_true("command", str_contains(stage_logged(s, "disrupting node(s)", "command"),
                                       STR(": delete: nodepools=[default]: [n1] (savings: $0.05)\"")));
    check_str("in short", stage_logged(s, "consolidation delete", "node"), "\"node\":\"n1\",\"reason\":\"empty\"}\n");
    check_u64("succeeded", stage_log_count(s, "command succeeded"), 1);
    check_double(
        "decisions",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_decisions_total{consolidation_type=\"empty\",decision=\"delete\",reason=\"empty\"}"),
        1);
    stage_free(s);
}

#define DECISIONS(labels) "karpenter_voluntary_disruption_decisions_total{" labels "}"
#define SINGLE_REPLACE "consolidation_type=\"single\",decision=\"replace\",reason=\"underutilized\""
#define QUEUE_FAILURES                                                                                                 \
    "karpenter_voluntary_disruption_queue_failures_total{consolidation_type=\"replace\",decision=\"replace\",reason="  \
    "\"underutilized\"}"

/* When the first Event of this kind came. */
static double await_event(struct stage *s, const char *reason)
{
    for (int i = 0; i < 600 && stage_events(s, reason).n == 0; i++)
        lab_run(s->r->l, 0.1);
    check_true(reason, stage_events(s, reason).n > 0);
    return rig_now(s->r);
}

/* Recorded as 012; the golden trace of lifecycle 16.3. The replacement takes a while to come up. */
static void replaced_node(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    stage_pool(s, CONSOLIDATES, "");
    stage_deploy(s, "large", 1, "6");
    stage_deploy(s, "stays", 1, "500m");
    stage_wait(s, 30, 2, 1);
    lab_patch(s->r->l, "kwoknodeclasses", "default", "{spec: {nodeRegistrationDelay: 20s}}");
    lab_run(s->r->l, 3);
    (void)stage_story(s);
    lab_delete(s->r->l, "deployments", "large");
    double decided = await_event(s, "ConsolidationCandidate");
    lab_run(s->r->l, 14);
    check_str("step 1: decided, and nothing done yet", stage_story(s), "");
    check_str("step 1", stage_events(s, "ConsolidationCandidate"),
              "c1: Consolidation candidate: replace: [n1] -> [1 replacement] (savings: $0.19)\n"
              "n1: Consolidation candidate: replace: [n1] -> [1 replacement] (savings: $0.19)\n");
    check_double("step 1: not counted yet", stage_metric(s, DECISIONS(SINGLE_REPLACE)), -1);
    stage_until(s, 15, "c2 made");
    check_true("step 2: fifteen seconds later", rig_now(s->r) - decided > 14.5 && rig_now(s->r) - decided < 16);
    check_str("step 3: tainted, told why, replaced; in this order", stage_story(s),
              "n1 tainted\nc1 goes: Underutilized\nc2 made\n");
    check_double("step 3: counted", stage_metric(s, DECISIONS(SINGLE_REPLACE)), 1);
    lab_run(s->r->l, 15);
    check_str("step 4: waits", stage_story(s), "");
    check_str("step 4: launching", stage_events(s, "DisruptionLaunching"), "c2: Launching NodeClaim: Underutilized\n");
    check_str("step 4: waiting", stage_events(s, "DisruptionWaitingReadiness"),
              "c2: Waiting on readiness to continue disruption\n");
    check_str("step 4: not yet", stage_events(s, "DisruptionTerminating"), "");
    stage_wait(s, 60, 1, 1);
    check_str("step 5", stage_story(s), "c2 initialized\nc1 deleted\nc1 gone\n");
    check_str("step 5: events", stage_events(s, "DisruptionTerminating"),
              "c1: Disrupting NodeClaim: Underutilized\nn1: Disrupting Node: Underutilized\n");
    check_true("step 5: evicted", str_contains(stage_events(s, "Evicted"), STR("Evicted pod: Underutilized")));
    check_str("log", stage_logged(s, "disrupting node(s)", "decision"),
              "\"decision\":\"replace\",\"disrupted-node-count\":1,\"replacement-node-count\":1,\"pod-count\":1,"
              "\"disrupted-nodes\":[{\"Node\":{\"name\":\"n1\"},\"NodeClaim\":{\"name\":\"c1\"},\"capacity-type\":"
              "\"on-demand\",\"instance-type\":\"c-8x-amd64-linux\"}],\"replacement-nodes\":[{\"capacity-type\":"
              "\"on-demand\",\"instance-types\":\"c-1x-amd64-linux, s-1x-amd64-linux, m-1x-amd64-linux, "
              "c-2x-amd64-linux, s-2x-amd64-linux and 4 other(s)\"}]}\n");
    check_double(
        "made",
        stage_metric(
            s,
            "karpenter_nodeclaims_created_total{min_values_relaxed=\"false\",nodepool=\"default\",reason=\"underutilized\"}"),
        1);
    check_double(
        "disrupted",
        stage_metric(
            s,
            "karpenter_nodeclaims_disrupted_total{capacity_type=\"on-demand\",nodepool=\"default\",reason=\"underutilized\"}"),
        1);
    check_double(
        "by pool",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_decisions_by_nodepool_total{consolidation_type=\"single\",decision=\"replace\",nodepool=\"default\",reason=\"underutilized\"}"),
        1);
    lab_run(s->r->l, 120);
    check_str("and that is all", stage_story(s), "");
    check_str("the new one stays", stage_events(s, "Unconsolidatable"),
              "c2: Can't replace with a cheaper node\nn2: Can't replace with a cheaper node\n");
    stage_free(s);
}

/* Lifecycle 16.3, step 3: pods of the node that goes have a place on one that is there, and it is kept for them. The next look follows at once. */
static void replaced_in_part(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = stage_new(compat);

    stage_pool(s, CONSOLIDATES, "");
    stage_deploy(s, "keeps", 1, "700m");
    stage_wait(s, 30, 1, 1);
    lab_patch(s->r->l, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p,
              "{metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}");
    stage_deploy(s, "large", 1, "6");
    stage_deploy(s, "stays", 1, "1200m");
    stage_wait(s, 30, 3, 2);
    lab_patch(s->r->l, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p,
              "{spec: {unschedulable: true}}");
    stage_deploy(s, "moves", 1, "100m");
    stage_wait(s, 30, 4, 2);
    lab_patch(s->r->l, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p,
              "{spec: {unschedulable: null}}");
    lab_patch(s->r->l, "kwoknodeclasses", "default", "{spec: {nodeRegistrationDelay: 20s}}");
    lab_run(s->r->l, 30);
    (void)stage_story(s);
    lab_delete(s->r->l, "deployments", "large");
    stage_until(s, 60, "c3 made");
    check_str("tainted, told why, replaced", stage_story(s), "n2 tainted\nc2 goes: Underutilized\nc3 made\n");
    lab_run(s->r->l, 1);
    check_true("nominated",
               str_contains(stage_events(s, "Nominated"), STR(": Pod should schedule on: nodeclaim/c1, node/n1\n")));
    stage_until(s, 60, "c2 gone");
    stage_wait(s, 60, 3, 2);
    stage_free(s);
}

/* Lifecycle 16.3, the branch that fails: what was done is taken back, counted, and the node is a candidate again. */
static void replaced_in_vain(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = stage_new(compat);

    stage_pool(s, CONSOLIDATES, "");
    stage_deploy(s, "large", 1, "6");
    stage_deploy(s, "stays", 1, "500m");
    stage_wait(s, 30, 2, 1);
    lab_patch(s->r->l, "kwoknodeclasses", "default", "{spec: {nodeRegistrationDelay: 14m}}");
    lab_run(s->r->l, 3);
    lab_delete(s->r->l, "deployments", "large");
    stage_until(s, 60, "c2 made");
    lab_run(s->r->l, 4);
    (void)stage_story(s);
    lab_delete(s->r->l, "nodeclaims", arena_printf(a, STR_FMT "%c", STR_ARG(stage_claim(s, 2)), 0).p);
    stage_until(s, 5, "c1 stays");
    check_str("the replacement is gone", stage_story(s), "c2 deleted\nc2 gone\nn1 untainted\nc1 stays\n");
    check_double("counted", stage_metric(s, QUEUE_FAILURES), 1);
    stage_until(s, 60, "c3 made");
    check_str("tried again", stage_story(s), "n1 tainted\nc1 goes: Underutilized\nc3 made\n");
    lab_run(s->r->l, 9 * 60 + 50);
    check_str("waits for ten minutes", stage_story(s), "");
    lab_run(s->r->l, 15);
    check_true("not longer", str_starts(stage_story(s), STR("n1 untainted\nc1 stays\n")));
    check_double("counted", stage_metric(s, QUEUE_FAILURES), 2);
    check_str("the node was never told that it ends", stage_events(s, "DisruptionTerminating"), "");
    lab_patch(s->r->l, "kwoknodeclasses", "default", "{spec: {nodeRegistrationDelay: 0s}}");
    stage_until(s, 20 * 60, "c1 gone");
    stage_wait(s, 60, 1, 1);
    stage_free(s);
}

/* A small pod on each of three nodes. */
static void put_small_ones(struct stage *s, uint32_t first)
{
    for (uint32_t i = first; i < first + 3; i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        str node = stage_node(s, i);

        stage_deploy_with(
            s, arena_printf(a, "small-%u%c", i, 0).p, 1, "500m",
            arena_printf(a,
                         "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, "
                         "preference: {matchFields: [{key: metadata.name, operator: In, values: [" STR_FMT
                         "]}]}}]}},%c",
                         STR_ARG(node), 0)
                .p);
    }
}

#define APART                                                                                                          \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "                     \
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: empties}}}]}},"

/* CA-14: decisions that other tests here do not count. */
static void decisions_are_counted(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    stage_pool(s, DRIFTS_ONLY, "");
    stage_deploy_with(s, "empties", 3, "6", APART);
    stage_wait(s, 30, 3, 3);
    lab_delete(s->r->l, "deployments", "empties");
    lab_run(s->r->l, 5);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {template: {metadata: {labels: {revision: two}}}}}");
    stage_wait(s, 120, 0, 0);
    check_double("CA-14: drift, delete",
                 stage_metric(s, DECISIONS("consolidation_type=\"\",decision=\"delete\",reason=\"drifted\"")), 3);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {" CONSOLIDATES "}}}");
    stage_deploy_with(s, "empties", 3, "6", APART);
    stage_wait(s, 60, 3, 3);
    put_small_ones(s, 4);
    stage_wait(s, 60, 6, 3);
    lab_delete(s->r->l, "deployments", "empties");
    stage_wait(s, 240, 3, 1);
    check_true(
        "CA-14: multi, replace",
        stage_metric(s, DECISIONS("consolidation_type=\"multi\",decision=\"replace\",reason=\"underutilized\"")) >= 1);
    stage_deploy_with(s, "empties", 3, "7", APART);
    stage_wait(s, 60, 6, 4);
    lab_delete(s->r->l, "deployments", "empties");
    stage_wait(s, 240, 3, 1);
    check_true("CA-14: several empty ones at once",
               stage_metric(s, DECISIONS("consolidation_type=\"empty\",decision=\"delete\",reason=\"empty\"")) >= 1);
    stage_free(s);
}

/* Three nodes of the only type there is, with little on them; as 013. */
static void three_nodes(struct stage *s)
{
    static const char *const spread =
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, minDomains: 3, "
        "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: filler}}}],";

    stage_pool(s, CONSOLIDATES, "");
    lab_patch(s->r->l, "nodepools", "default",
              "{spec: {template: {spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: "
              "[c-8x-amd64-linux]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}}");
    stage_deploy_with(s, "filler", 3, "6", spread);
    stage_wait(s, 30, 3, 3);
    put_small_ones(s, 1);
    stage_wait(s, 30, 6, 3);
    lab_delete(s->r->l, "deployments", "filler");
    (void)stage_story(s);
}

static void several_at_once(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    three_nodes(s);
    stage_wait(s, 90, 3, 1);
    check_true("one command", stage_log_count(s, "disrupting node(s)") >= 1);
    check_true("of several nodes",
               str_contains(stage_logged(s, "disrupting node(s)", "decision"), STR("\"disrupted-node-count\":2")));
    check_true("their pods have a place", stage_events(s, "Nominated").n > 0);
    check_double(
        "multi",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_decisions_total{consolidation_type=\"multi\",decision=\"delete\",reason=\"underutilized\"}"),
        1);
    stage_free(s);
}

/* Outside of compat nodes that are empty and nodes that are not worth their price wait for the same second look. */
static void empty_ones_along_with_others(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    three_nodes(s);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '0'}]}}}");
    stage_deploy(s, "leaves", 1, "7500m");
    stage_wait(s, 60, 4, 4);
    lab_delete(s->r->l, "deployments", "leaves");
    lab_run(s->r->l, 40);
    check_u64("the budget is closed", stage_log_count(s, "disrupting node(s)"), 0);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '100%'}]}}}");
    for (int i = 0; i < 400 && stage_log_count(s, "disrupting node(s)") == 0; i++)
        lab_run(s->r->l, 0.1);
    lab_run(s->r->l, 1);
    check_double(
        "empty",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_decisions_total{consolidation_type=\"empty\",decision=\"delete\",reason=\"empty\"}"),
        1);
    check_true("and underutilized", stage_log_count(s, "disrupting node(s)") > 1);
    stage_wait(s, 120, 3, 1);
    stage_free(s);
}

/* CL-15: several nodes are no good any more, one of them alone is. */
static void one_instead_of_several(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = stage_new(compat);

    three_nodes(s);
    for (int i = 0; i < 300 && stage_metric(s, "karpenter_consolidation_moves_total{decision=\"approved\",nodepool="
                                               "\"default\",policy=\"WhenEmptyOrUnderutilized\"}") < 1;
         i++)
        lab_run(s->r->l, 0.1);
    lab_patch(s->r->l, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(stage_node(s, 1)), 0).p,
              "{metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}");
    lab_run(s->r->l, 15);
    check_double(
        "two nodes failed",
        stage_metric(s, "karpenter_voluntary_disruption_failed_validations_total{consolidation_type=\"multi\"}"), 2);
    check_str("which nobody is told of", stage_events(s, "ConsolidationRejected"), "");
    lab_run(s->r->l, 60);
    check_true("another goes", stage_log_count(s, "disrupting node(s)") > 0);
    check_true("not the one that must not", !stage_saw(s, "n1 tainted"));
    stage_free(s);
}

/* Recorded as 014. */
static void drifted_node(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    stage_pool(s, DRIFTS_ONLY, "");
    stage_deploy(s, "drifts", 1, "1");
    stage_wait(s, 30, 1, 1);
    lab_run(s->r->l, 12);
    (void)stage_story(s);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {template: {metadata: {labels: {revision: two}}}}}");
    stage_wait(s, 30, 1, 1);
    stage_until(s, 30, "c1 gone");
    check_str("no second look", stage_story(s),
              "n1 tainted\nc1 goes: Drifted\nc2 made\nc2 initialized\nc1 deleted\nc1 gone\n");
    check_true("log", str_contains(stage_logged(s, "disrupting node(s)", "command"),
                                   STR(": replace: nodepools=[default]: [n1] -> [1 replacement] (savings: $0.00)\"")));
    check_double(
        "drifted",
        stage_metric(
            s,
            "karpenter_voluntary_disruption_decisions_total{consolidation_type=\"\",decision=\"replace\",reason=\"drifted\"}"),
        1);
    stage_free(s);
}

/* Series that are there before anything has happened, and EM-1. */
static void figures(void **state UNUSED)
{
    struct stage *s = stage_new(compat);

    check_double(
        "timeouts",
        stage_metric(s, "karpenter_voluntary_disruption_consolidation_timeouts_total{consolidation_type=\"multi\"}"),
        0);
    check_double(
        "timeouts",
        stage_metric(s, "karpenter_voluntary_disruption_consolidation_timeouts_total{consolidation_type=\"single\"}"),
        0);
    stage_pool(s, "consolidationPolicy: WhenEmpty, consolidateAfter: 5s, budgets: [{nodes: '0'}]", "");
    stage_deploy(s, "web", 1, "1");
    stage_wait(s, 30, 1, 1);
    lab_run(s->r->l, 20);
    check_double("EM-1: none", stage_metric(s, "karpenter_voluntary_disruption_eligible_nodes{reason=\"empty\"}"), 0);
    lab_delete(s->r->l, "deployments", "web");
    lab_run(s->r->l, 40);
    check_double("EM-1: one", stage_metric(s, "karpenter_voluntary_disruption_eligible_nodes{reason=\"empty\"}"), 1);
    check_double("EM-2: none allowed",
                 stage_metric(s, "karpenter_nodepools_allowed_disruptions{nodepool=\"default\",reason=\"Empty\"}"), 0);
    check_true("EM-2: nothing happens", !stage_saw(s, "n1 tainted"));
    lab_delete(s->r->l, "nodepools", "default");
    stage_wait(s, 60, 0, 0);
    check_double("gone with the pool",
                 stage_metric(s, "karpenter_nodepools_allowed_disruptions{nodepool=\"default\",reason=\"Empty\"}"), -1);
    stage_free(s);
}

/* A budget that cannot be read closes its pool. */
static void unreadable_budget(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, "consolidateAfter: 0s, budgets: [{nodes: '1', schedule: 'x x x x x', duration: 1h}]", "");
    stage_deploy(s, "web", 1, "1");
    stage_wait(s, 30, 1, 1);
    lab_delete(s->r->l, "deployments", "web");
    lab_run(s->r->l, 60);
    check_true("nothing happens", !stage_saw(s, "n1 tainted"));
    check_true("somebody is told", str_contains(stage_logged(s, "detected disruption budget errors", "error"),
                                                STR("invalid disruption budgets in nodepool default, budget 1: ")));
    stage_free(s);
}

/* Recorded in 022: what becomes of a pod's wish not to be disrupted. */
static void wishes_of_pods(void **state UNUSED)
{
    static const char pods[] =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: wrong, annotations: {karpenter.sh/do-not-disrupt: 'yes'}}\n"
        "spec: {containers: [{name: c, image: c, resources: {requests: {cpu: '1'}}}]}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: timed, annotations: {karpenter.sh/do-not-disrupt: 2m}}\n"
        "spec: {containers: [{name: c, image: c, resources: {requests: {cpu: '1'}}}]}\n";
    struct stage *s = stage_new(NULL);

    stage_pool(s, CONSOLIDATES, "");
    lab_apply(s->r->l, pods);
    stage_wait(s, 30, 2, 1);
    lab_run(s->r->l, 45);
    check_true("until", str_starts(stage_events(s, "DoNotDisruptUntil"),
                                   STR("timed: The karpenter.sh/do-not-disrupt grace period will elapse at ")));
    check_str("kept", stage_events(s, "DisruptionBlocked"),
              "c1: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/timed)\n"
              "n1: Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=default/timed)\n");
    lab_run(s->r->l, 120);
    check_str("over", stage_events(s, "DoNotDisruptGracePeriodElapsed"),
              "timed: The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable\n");
    check_str(
        "no wish at all", stage_events(s, "InvalidDoNotDisruptAnnotation"),
        "wrong: Invalid karpenter.sh/do-not-disrupt annotation: failed to parse \"yes\" as a duration: time: invalid "
        "duration \"yes\", ignoring annotation\n");
    stage_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_node),
        cmocka_unit_test(replaced_node),
        cmocka_unit_test(replaced_in_part),
        cmocka_unit_test(replaced_in_vain),
        cmocka_unit_test(decisions_are_counted),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(one_instead_of_several),
        cmocka_unit_test(empty_ones_along_with_others),
        cmocka_unit_test(drifted_node),
        cmocka_unit_test(figures),
        cmocka_unit_test(unreadable_budget),
        cmocka_unit_test(wishes_of_pods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
