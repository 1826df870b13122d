/* What a scrape says about Nodes, pods, NodePools and conditions (lifecycle 10.2 to 10.4). */
#include "sim/world.h"
#include "support/check.h"
#include "support/node_lab.h"

#define CONTROL(x) ((x)->l->c.metrics)

/* The lines of the scrape that begin like this, up to a bound. */
static str scrape(struct node_lab *x, const char *start)
{
    struct sb text = {0}, b = {0};
    str rest, line;

    metrics_text(x->l->registry, world_now_ms(x->l->c.world), &text);
    rest = sb_view(&text);
    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (str_starts(line, str_c(start)))
            sb_printf(&b, "%s" STR_FMT, b.n ? "\n" : "", STR_ARG(line));
    }
    str s = sb_dup(&b, x->f->a);
    sb_fini(&b);
    sb_fini(&text);
    return s;
}

static void has(struct node_lab *x, const char *name, const char *start, const char *part)
{
    str s = scrape(x, start);

    if (!str_contains(s, str_c(part)))
        check_str(name, s, part);
}

#define ON_C "managed=\"true\",node_name=\"c\",nodepool=\"default\""

static void nodes(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    far_apply(x->f,
              "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {nodeName: c, containers: [{name: c, image: i, "
              "resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 2, memory: 2Gi}}}]}\n");
    far_run(x->f, 3);
    has(x, "allocatable", "karpenter_nodes_allocatable{",
        "resource_type=\"cpu\",windows_build=\"\",zone=\"test-zone-a\"} 3.9");
    has(x, "labels", "karpenter_nodes_allocatable{", ON_C);
    has(x, "resources", "karpenter_nodes_allocatable{", "resource_type=\"ephemeral_storage\"");
    has(x, "requests", "karpenter_nodes_total_pod_requests{",
        "resource_type=\"cpu\",windows_build=\"\",zone=\"test-zone-a\"} 0.5");
    has(x, "pods", "karpenter_nodes_total_pod_requests{",
        "resource_type=\"pods\",windows_build=\"\",zone=\"test-zone-a\"} 2");
    has(x, "limits", "karpenter_nodes_total_pod_limits{",
        "resource_type=\"cpu\",windows_build=\"\",zone=\"test-zone-a\"} 2");
    check_str("no daemons", scrape(x, "karpenter_nodes_total_daemon_requests{"), "");
    has(x, "overhead", "karpenter_nodes_system_overhead{", ON_C);
    has(x, "age", "karpenter_nodes_current_lifetime_seconds{", ON_C);
    has(x, "cluster", "karpenter_cluster_utilization_percent{", "resource_type=\"cpu\"} 12.8");
}

static void pods(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    far_apply(
        x->f,
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: waits}\nspec: {schedulerName: nobody, containers: [{name: c, "
        "image: i}]}\n");
    far_run(x->f, 0.2);
    const struct pod *a = store_pod(x->l->c.store, STR("default"), STR("a"));
    const struct pod *waits = store_pod(x->l->c.store, STR("default"), STR("waits"));
    int64_t now = world_now_ms(x->l->c.world);
    podbook_ack(x->book, UID_STR(a->uid), now);
    podbook_ack(x->book, UID_STR(waits->uid), now);
    check_true("placed", podbook_placed(x->book, UID_STR(a->uid), /* healthy_pool= */ true, now));
    has(x, "undecided", "karpenter_pods_provisioning_scheduling_undecided_time_seconds{", "name=\"waits\"");
    has(x, "placed", "karpenter_pods_provisioning_unstarted_time_seconds{", "name=\"a\"");
    check_str("only that one", scrape(x, "karpenter_pods_provisioning_unbound_time_seconds{"), "");
    has(x, "waits", "karpenter_pods_unstarted_time_seconds{", "name=\"a\"");
    far_run(x->f, 4);
    has(x, "state", "karpenter_pods_state{",
        "arch=\"amd64\",capacity_type=\"spot\",instance_type=\"c-4x-amd64-linux\",managed=\"true\",name=\"a\",namespace="
        "\"default\",node=\"c\",nodepool=\"default\",owner=\"\",phase=\"Running\",ready=\"true\",scheduled=\"true\",zone="
        "\"test-zone-a\"} 1");
    has(x, "state", "karpenter_pods_state{",
        "managed=\"false\",name=\"waits\",namespace=\"default\",node=\"\",nodepool=\"\",owner=\"\",phase=\"Pending\",ready="
        "\"false\",scheduled=\"false\",zone=\"\"} 1");
    check_true("waits still", str_contains(scrape(x, "karpenter_pods_unbound_time_seconds{"), STR("name=\"waits\"")));
    check_true("only that one", !str_contains(scrape(x, "karpenter_pods_unstarted_time_seconds{"), STR("name=\"a\"")));
    check_double("started", metric_value(CONTROL(x)->pods_startup_duration, NULL), 1);
    check_double("bound", metric_value(CONTROL(x)->pods_bound_duration, NULL), 1);
    check_double("since placed", metric_value(CONTROL(x)->pods_provisioning_startup_duration, NULL), 1);
    check_double("since placed", metric_value(CONTROL(x)->pods_provisioning_bound_duration, NULL), 1);
}

static void pools(void **state)
{
    struct node_lab *x = *state;

    far_apply(x->f,
              "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {limits: {cpu: 100}, "
              "template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
              "requirements: []}}}\n");
    node_lab_up(x, "c", "");
    check_str("limits", scrape(x, "karpenter_nodepools_limit{"),
              "karpenter_nodepools_limit{nodepool=\"default\",resource_type=\"cpu\"} 100");
    has(x, "usage", "karpenter_nodepools_usage{", "resource_type=\"nodes\"} 1");
    has(x, "cost", "karpenter_nodepools_cost_total{", "nodepool=\"default\"} 0.0760129");
}

/* Errata, section 11: what is told of, and of whom. */
static void conditions(void **state)
{
    struct node_lab *x = *state;
    const str launched[] = {STR("Launched"), STR("True"), STR("Launched"), STR("default"), STR("default")};
    const str waited[] = {STR("Registered"), STR("Unknown"), STR("default"), STR("default")};
    const str all[] = {STR("Launched"), STR("True"), STR("Launched"), STR("karpenter.sh"), STR("NodeClaim")};

    /* The Node has the claim's name here, and names of Events are made of the object's and the time. */
    sim_set_faults(x->f->sim, "https://kube", &(struct sim_faults){.delay_us = {1000, 3000}});
    node_lab_up(x, "c", "");
    check_double("counted", metric_value(CONTROL(x)->nodeclaim_status.transitions_total, launched), 1);
    check_double("of all kinds", metric_value(CONTROL(x)->any_status.transitions_total, all), 1);
    check_double("timed", metric_value(CONTROL(x)->nodeclaim_status.transition, waited), 1);
    check_str("told", far_events(x->f, "Registered", "c"),
              "Status condition transitioned, Type: Registered, Status: Unknown -> True, Reason: Registered");
    has(x, "there", "operator_nodeclaim_status_condition_count{",
        "karpenter_kwok_sh_kwoknodeclass=\"default\",karpenter_sh_nodepool=\"default\",name=\"c\",namespace=\"\",reason="
        "\"Ready\",status=\"True\",type=\"Ready\"} 1");
    has(x, "there", "operator_node_status_condition_current_status_seconds{", "karpenter_sh_initialized=\"true\"");
    has(x, "there", "operator_status_condition_count{", "group=\"karpenter.sh\",kind=\"NodeClaim\",name=\"c\"");
    far_node_condition(x->f, "c", "Ready", "False");
    far_run(x->f, 2);
    check_str(
        "of nodes too", far_events(x->f, "Ready", "c"),
        "Status condition transitioned, Type: Ready, Status: Unknown -> True, Reason: Ready\n"
        "Status condition transitioned, Type: Ready, Status: True -> False, Reason: Test, Message: set by a test");

    fakecloud_linger(x->l->cloud, 60000000);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 10);
    has(x, "going", "operator_nodeclaim_termination_current_time_seconds{", "name=\"c\",namespace=\"\"} 10");
    far_run(x->f, 100);
    check_str("gone", scrape(x, "operator_nodeclaim_termination_current_time_seconds{"), "");
    check_str("finalized", far_events(x->f, "Finalized", ""), "Finalized karpenter.sh/termination");
    check_str("quirk: nobody's", far_events(x->f, "Finalized", "c"), "");
    check_double(
        "timed",
        metric_value(CONTROL(x)->nodeclaim_status.termination_duration, METRIC_VALS(STR("default"), STR("default"))),
        1);
    check_double("nodes too",
                 metric_value(CONTROL(x)->node_status.termination_duration,
                              METRIC_VALS(STR("default"), STR("default"), STR("true"))),
                 1);
}

/* ME-1, ME-2: what is gone is not told of any more, and what nobody manages is no NodePool's. */
static void what_is_gone(void **state)
{
    struct node_lab *x = *state;

    far_apply(x->f,
              "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {limits: {cpu: 100}, "
              "template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "
              "requirements: []}}}\n");
    node_lab_up(x, "c", "");
    far_apply(x->f, "apiVersion: v1\nkind: Node\nmetadata: {name: own}\nspec: {providerID: 'other://own'}\n"
                    "status: {capacity: {cpu: '64'}, allocatable: {cpu: '64'}}\n");
    far_run(x->f, 3);
    has(x, "ME-1: a node that nobody manages", "karpenter_nodes_allocatable{", "managed=\"false\",node_name=\"own\"");
    has(x, "ME-2: does not count for a NodePool", "karpenter_nodepools_usage{", "resource_type=\"nodes\"} 1");
    check_true("ME-2: nor what it has",
               !str_contains(scrape(x, "karpenter_nodepools_usage{"), STR("resource_type=\"cpu\"} 6")));
    far_patch_status(x->f, "nodes", "own", "{status: {allocatable: {cpu: '32'}}}");
    far_run(x->f, 12);
    has(x, "ME-1: updated", "karpenter_nodes_allocatable{",
        "managed=\"false\",node_name=\"own\",nodepool=\"\",os=\"\",phase=\"\",region=\"\",resource_type=\"cpu\",windows_build="
        "\"\",zone=\"\"} 32");
    far_delete(x->f, "nodes", "own");
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 30);
    check_str("ME-1: gone with the node", scrape(x, "karpenter_nodes_allocatable{"), "");
    check_str("ME-1: its age, too", scrape(x, "karpenter_nodes_current_lifetime_seconds{"), "");
    has(x, "ME-2: nothing is used", "karpenter_nodepools_usage{", "resource_type=\"nodes\"} 0");
    far_delete(x->f, "nodepools", "default");
    far_run(x->f, 12);
    check_str("ME-2: gone with the pool", scrape(x, "karpenter_nodepools_usage{"), "");
    check_str("ME-2: limits too", scrape(x, "karpenter_nodepools_limit{"), "");
}

static const struct pod *pod_of(struct node_lab *x, const char *name)
{
    return store_pod(x->l->c.store, STR("default"), str_c(name));
}

static bool told(struct node_lab *x, const char *family, const char *pod)
{
    AUTO(arena) struct arena *a = arena_new(0);

    return str_contains(scrape(x, arena_printf(a, "karpenter_pods_%s{%c", family, 0).p),
                        arena_printf(a, "name=\"%s\"", pod));
}

/* ME-3: pods that end, are bound by others, or are deleted while they wait. */
static void pods_that_never_start(void **state)
{
    static const char *const names[] = {"succeeds", "fails", "is-deleted", "is-bound", "stays"};
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(arena) struct arena *a = arena_new(0);

        far_apply(x->f, arena_printf(a,
                                     "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {schedulerName: nobody, "
                                     "containers: [{name: c, image: i}]}\n%c",
                                     names[i], 0)
                            .p);
    }
    far_run(x->f, 3);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int64_t now = world_now_ms(x->l->c.world);

        podbook_ack(x->book, UID_STR(pod_of(x, names[i])->uid), now);
        check_true(names[i], told(x, "provisioning_scheduling_undecided_time_seconds", names[i]));
        check_true(names[i], told(x, "unbound_time_seconds", names[i]));
        check_true(names[i], told(x, "unstarted_time_seconds", names[i]));
    }
    far_patch_status(x->f, "pods", "succeeds", "{status: {phase: Succeeded}}");
    far_patch_status(x->f, "pods", "fails", "{status: {phase: Failed}}");
    far_delete(x->f, "pods", "is-deleted");
    far_run(x->f, 3);
    for (size_t i = 0; i < 3; i++) {
        check_true(names[i], !told(x, "provisioning_scheduling_undecided_time_seconds", names[i]));
        check_true(names[i], !told(x, "unbound_time_seconds", names[i]));
        check_true(names[i], !told(x, "unstarted_time_seconds", names[i]));
    }
    has(x, "ME-3: its phase", "karpenter_pods_state{", "phase=\"Succeeded\"");
    check_true("ME-3: nothing is left of one that is deleted", !told(x, "state", "is-deleted"));
    check_double("ME-3: nothing was observed", metric_value(CONTROL(x)->pods_startup_duration, NULL), 0);
    check_double("ME-3: nor this", metric_value(CONTROL(x)->pods_bound_duration, NULL), 0);
    check_true("ME-3: a decision ends it", podbook_placed(x->book, UID_STR(pod_of(x, "stays")->uid),
                                                          /* healthy_pool= */ true, world_now_ms(x->l->c.world)));
    check_true("ME-3: decided", !told(x, "provisioning_scheduling_undecided_time_seconds", "stays"));
    check_true("ME-3: but not bound", told(x, "provisioning_unbound_time_seconds", "stays"));
    check_true("ME-3: those of others stay", told(x, "provisioning_scheduling_undecided_time_seconds", "is-bound"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, node_lab_setup, node_lab_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(nodes),      TEST(pods),         TEST(pools),
                                       TEST(conditions), TEST(what_is_gone), TEST(pods_that_never_start)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
