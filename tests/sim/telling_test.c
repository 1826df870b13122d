/* What the controller says to those who look on, Events, log lines and series, where no recorded scenario shows it; and what it does when the clock is set. */
#include <stdio.h>

#include "support/check.h"
#include "support/stage.h"

#define CONSOLIDATES "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '100%'}]"
#define KEEPS "consolidationPolicy: WhenEmpty, consolidateAfter: Never"

/* ---- NodePools that nothing can be made of (lifecycle 11, scheduling 9.2) ---- */

static void no_instance_types(void **state UNUSED)
{
    static const struct {
        const char *name, *requirements, *want;
    } cases[] = {
        {"none of this kind", "{key: kubernetes.io/arch, operator: In, values: [s390x]}",
         "default: NodePool requirements filtered out all compatible available instance types\n"},
        {"too few for minValues",
         "{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux, c-8x-amd64-linux], minValues: "
         "2}, {key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ['6']}",
         "default: NodePool requirements filtered out all compatible available instance types due to minValues "
         "incompatibility\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *s = stage_new(NULL);

        stage_pool(s, KEEPS, "");
        lab_patch(
            s->r->l, "nodepools", "default",
            arena_printf(s->r->l->a, "{spec: {template: {spec: {requirements: [%s]}}}}%c", cases[i].requirements, 0).p);
        stage_deploy(s, "web", 1, "1");
        lab_run(s->r->l, 30);
        check_str(cases[i].name, stage_events(s, "NoCompatibleInstanceTypes"), cases[i].want);
        check_true(cases[i].name, str_contains(stage_events(s, "FailedScheduling"),
                                               STR("nodepool requirements filtered out all available instance types")));
        stage_free(s);
    }
}

/* What an error says of several pools or taints the log says as a list (lifecycle 9.5). */
static void errors_in_detail(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, KEEPS, "");
    lab_patch(s->r->l, "nodepools", "default",
              "{spec: {template: {spec: {taints: [{key: team, value: blue, effect: NoSchedule}, {key: gpu, effect: "
              "NoExecute}]}}}}");
    stage_deploy(s, "web", 1, "1");
    lab_run(s->r->l, 5);
    check_true("two", str_contains(stage_logged(s, "could not schedule pod", "Pod"),
                                   STR("\"taints\":[\"team=blue:NoSchedule\",\"gpu:NoExecute\"]")));
    lab_patch(s->r->l, "nodepools", "default",
              "{spec: {template: {spec: {taints: [{key: team, value: blue, effect: NoSchedule}]}}}}");
    lab_run(s->r->l, 15);
    check_true("one", str_contains(stage_logged(s, "could not schedule pod", "Pod"),
                                   STR("\"taint\":\"team=blue:NoSchedule\"")));
    stage_free(s);
}

/* ---- who tells what there is ---- */

static uint32_t count_series(struct replica *r, const char *family)
{
    struct sb b = {0};
    uint32_t n = 0;

    replica_metrics(r, &b);
    for (const char *at = sb_cstr(&b); (at = strstr(at, family)); at++)
        n += at == b.p || at[-1] == '\n';
    sb_fini(&b);
    return n;
}

#define SOLVED(controller) "karpenter_scheduler_scheduling_duration_seconds_count{controller=\"" controller "\"}"

static const char *const told[] = {"karpenter_nodes_allocatable{",
                                   "karpenter_pods_state{",
                                   "karpenter_nodepools_usage{",
                                   "karpenter_cluster_state_node_count",
                                   "karpenter_cluster_state_synced",
                                   "operator_nodeclaim_status_condition_count{",
                                   "operator_nodeclaim_status_condition_transitions_total{",
                                   "workqueue_depth{",
                                   "karpenter_pods_startup_duration_seconds_count"}; /* last: of pods that start */

/* Two that tell the same make every sum over replicas twice as large. */
static void only_the_leader_tells(void **state UNUSED)
{
    static const char *const env[] = {"LOG_LEVEL", "error", NULL};
    struct stage s = {.r = rig_new(1, env, NULL)};
    struct rig *r = s.r;

    fleet_class(r);
    rig_start(r, 0);
    rig_await_lead(r, 0, 30);
    rig_start(r, 1);
    stage_pool(&s, KEEPS, "");
    stage_deploy(&s, "web", 2, "1");
    lab_run(r->l, 30);
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        check_true(told[i], count_series(r->replicas[0], told[i]) > 0);
        check_u64(told[i], count_series(r->replicas[1], told[i]), 0);
    }
    check_u64("it says that it does not lead",
              count_series(r->replicas[1], "leader_election_master_status{name=\"karpenter-leader-election\"} 0"), 1);
    check_u64("renewals are calls like others",
              count_series(r->replicas[0],
                           "client_go_request_duration_seconds_count{group=\"coordination.k8s.io\",kind="
                           "\"leases\",subresource=\"\",verb=\"UPDATE\""),
              1);
    rig_stop(r, 0);
    rig_await_lead(r, 1, 30);
    lab_run(r->l, 5);
    for (size_t i = 0; i + 1 < ARRAY_LEN(told); i++)
        check_true(told[i], count_series(r->replicas[1], told[i]) > 0);
    rig_free(r);
}

/* Lifecycle 9.1: single objects are not told of; the state of the whole is. */
static void without_single_objects(void **state UNUSED)
{
    static const char *const env[] = {"DISABLE_CLUSTER_STATE_OBSERVABILITY", "true", NULL};
    static const char *const gone[] = {"karpenter_nodes_allocatable{", "karpenter_pods_state{",
                                       "karpenter_nodepools_usage{", "operator_"};
    struct stage *s = stage_new(env);

    stage_pool(s, KEEPS, "");
    stage_deploy(s, "web", 1, "1");
    stage_wait(s, 60, 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        check_u64(gone[i], count_series(s->r->replicas[0], gone[i]), 0);
    check_double("nodes", stage_metric(s, "karpenter_cluster_state_node_count"), 2);
    check_double("all of them", stage_metric(s, "karpenter_cluster_state_synced"), 1);
    stage_free(s);
}

/* Scheduling 24.5: whoever looks for places is named. */
static void searches_are_timed(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, CONSOLIDATES, "");
    stage_deploy(s, "web", 1, "1");
    stage_wait(s, 60, 1, 1);
    lab_run(s->r->l, 30);
    check_true("rounds", stage_metric(s, SOLVED("provisioner")) > 0);
    check_true("and removals", stage_metric(s, SOLVED("disruption")) > 0);
    check_u64("which leave nobody in the queue",
              count_series(s->r->replicas[0], "karpenter_scheduler_queue_depth{controller=\"disruption\""), 1);
    stage_free(s);
}

/* ---- nothing can be known ---- */

#define UNKNOWN "nothing is planned or disrupted, the cluster is not known"

/* Lifecycle 2.5: a claim that cannot be launched holds everything up until it is given up. */
static void told_what_holds_everything_up(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, KEEPS, "");
    lab_apply(s->r->l, "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: no-type}\nspec: {expireAfter: "
                       "Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
                       "requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]}\n");
    lab_run(s->r->l, 30);
    check_u64("not at once", stage_log_count(s, UNKNOWN), 0);
    lab_run(s->r->l, 25);
    check_u64("every ten seconds", stage_log_count(s, UNKNOWN), 2);
    check_true("and since when", stage_metric(s, "karpenter_cluster_state_unsynced_time_seconds") > 40);
    check_true("and by whom", str_contains(stage_logged(s, UNKNOWN, "NodeClaim"), STR("c1")));
    lab_delete(s->r->l, "nodeclaims", "no-type");
    lab_run(s->r->l, 60);
    check_u64("no more", stage_log_count(s, UNKNOWN), 2);
    stage_free(s);
}

/* ---- the clock is set ---- */

#define FOUND "karpenter_voluntary_disruption_eligible_nodes{reason=\"empty\"}"

/* What was decided is looked at again fifteen seconds later, whatever the clock on the wall says. */
static void a_decision_outlives_the_clock(void **state UNUSED)
{
    static const int64_t jumps_s[] = {-3600, 3600};

    for (size_t i = 0; i < ARRAY_LEN(jumps_s); i++) {
        struct stage *s = stage_new(NULL);

        stage_pool(s, CONSOLIDATES, "");
        stage_deploy(s, "web", 1, "1");
        stage_wait(s, 60, 1, 1);
        lab_patch(s->r->l, "deployments", "web", "{spec: {replicas: 0}}");
        for (int k = 0; k < 60 && stage_metric(s, FOUND) != 1; k++)
            lab_run(s->r->l, 1);
        check_double("it was found", stage_metric(s, FOUND), 1);
        check_true("and waits", !stage_saw(s, "n1 tainted"));
        sim_jump(s->r->l->s->sim, jumps_s[i] * 1000);
        stage_until(s, 20, "n1 tainted");
        stage_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_instance_types),
        cmocka_unit_test(errors_in_detail),
        cmocka_unit_test(only_the_leader_tells),
        cmocka_unit_test(without_single_objects),
        cmocka_unit_test(searches_are_timed),
        cmocka_unit_test(told_what_holds_everything_up),
        cmocka_unit_test(a_decision_outlives_the_clock),
    };

    return cmocka_run_group_tests_name("sim/telling", tests, NULL, NULL);
}
