/* Machines and the pods on them: booting, dying, taints and evictions, and the scheduler's queue. */
#include "data/edit.h"
#include "support/check.h"
#include "support/lab.h"

#define POD(name, spec)                                                                                                \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" spec "containers: [{name: c, image: x}]}"
#define BIG(name, cpu, spec)                                                                                           \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {" spec                                              \
    "containers: [{name: c, image: x, resources: {requests: {cpu: '" cpu "'}}}]}"

/* ---- kubelets ---- */

static void a_node_gets_ready(void **state)
{
    struct lab *l = *state;

    lab_apply(l, "apiVersion: v1\nkind: Node\nmetadata: {name: alone, annotations: {kwok.x-k8s.io/node: fake}}");
    lab_run(l, 0.5);
    check_str("not yet", lab_condition(l, "nodes", "alone", "Ready"), "");
    lab_run(l, 2);
    check_str("ready", lab_condition(l, "nodes", "alone", "Ready"),
              "True KubeletReady: kubelet is posting ready status");
    check_str("as much as one likes", lab_get(l, "nodes", "alone", "status.allocatable.cpu"), "\"1k\"");
    check_str("no taint", lab_get(l, "nodes", "alone", "spec.taints"), "");
    check_str("known", lab_events(l, "RegisteredNode", "alone"),
              "Node alone event: Registered Node alone in Controller");
    str renewed = lab_get(l, "leases", "kube-node-lease/alone", "spec.renewTime");
    lab_run(l, 10);
    check_true("renewed",
               renewed.n && !str_eq(renewed, lab_get(l, "leases", "kube-node-lease/alone", "spec.renewTime")));
    lab_apply(l, "apiVersion: v1\nkind: Node\nmetadata: {name: nobody}");
    lab_run(l, 2);
    check_str("nobody's", lab_condition(l, "nodes", "nobody", "Ready"), "");
}

static void a_machine_boots(void **state)
{
    struct lab *l = *state;
    const struct machine m = {
        .name = STR("i-1"),
        .provider_id = STR("aws:///a/i-1"),
        .labels = server_tree(l->s, "{topology.kubernetes.io/zone: a, kubernetes.io/arch: arm64}"),
        .taints = server_tree(l->s, "[{key: karpenter.sh/unregistered, effect: NoExecute}]"),
        .capacity = server_tree(l->s, "{cpu: '4', memory: 16Gi, pods: '58'}"),
        .allocatable = server_tree(l->s, "{cpu: 3920m, memory: 15Gi, pods: '58'}"),
        .boot_ms = 20000,
    };

    cluster_boot(l->c, &m);
    lab_run(l, 19);
    check_str("boots", lab_get(l, "nodes", "i-1", "metadata.name"), "");
    lab_run(l, 1.5);
    check_str("joined", lab_condition(l, "nodes", "i-1", "Ready"),
              "False KubeletNotReady: container runtime network not ready");
    check_str("who", lab_get(l, "nodes", "i-1", "spec.providerID"), "\"aws:///a/i-1\"");
    check_str("what", lab_get(l, "nodes", "i-1", "status.allocatable.cpu"), "\"3920m\"");
    lab_run(l, 2);
    check_str("ready", lab_condition(l, "nodes", "i-1", "Ready"), "True KubeletReady: kubelet is posting ready status");
    check_str("only its own taint", lab_get(l, "nodes", "i-1", "spec.taints.0.key"), "\"karpenter.sh/unregistered\"");
    check_str("no other", lab_get(l, "nodes", "i-1", "spec.taints.1"), "");
    check_str("arch", lab_get(l, "nodes", "i-1", "status.nodeInfo.architecture"), "\"arm64\"");

    cluster_set_condition(l->c, STR("i-1"), "AcceleratedHardwareReady", "False", "XidError", "gone");
    lab_run(l, 1);
    check_str("reported", lab_condition(l, "nodes", "i-1", "AcceleratedHardwareReady"), "False XidError: gone");
    lab_run(l, 400);
    check_str("still", lab_condition(l, "nodes", "i-1", "AcceleratedHardwareReady"), "False XidError: gone");
}

static void a_pod_runs(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(
        l, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {terminationGracePeriodSeconds: 5, initContainers: "
           "[{name: i, image: x}, {name: s, image: x, restartPolicy: Always}], containers: [{name: c, image: x}]}");
    lab_run(l, 0.5);
    check_str("starts", lab_get(l, "pods", "p", "status.containerStatuses.0.state.waiting.reason"),
              "\"PodInitializing\"");
    check_str("not yet", lab_condition(l, "pods", "p", "Ready"),
              "False ContainersNotReady: containers with unready status: [c]");
    lab_run(l, 1);
    check_str("runs", lab_get(l, "pods", "p", "status.phase"), "\"Running\"");
    check_str("ready", lab_condition(l, "pods", "p", "Ready"), "True");
    check_str("init is done", lab_get(l, "pods", "p", "status.initContainerStatuses.0.state.terminated.reason"),
              "\"Completed\"");
    check_true("a sidecar runs", lab_get(l, "pods", "p", "status.initContainerStatuses.1.state.running").n > 0);
    check_true("address", lab_get(l, "pods", "p", "status.podIP").n > 0);
    check_str("said", lab_events(l, "Scheduled", "p"), "Successfully assigned default/p to n0");
    lab_delete(l, "pods", "p");
    lab_run(l, 0.1);
    check_str("leaves", lab_pods(l, "p"), "p Terminating n0");
    lab_run(l, 0.2);
    check_str("gone", lab_pods(l, "p"), "");
}

static void readiness_gates(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, POD("p", "readinessGates: [{conditionType: example.com/up}], "));
    lab_run(l, 3);
    check_true("closed", str_starts(lab_condition(l, "pods", "p", "Ready"), STR("False ReadinessGatesNotReady: ")));
    const struct object *o = server_get(l->s, "pods", "p");
    struct tree *t = kube_tree(l->a, o);
    tree_push(l->a, tree_sublist(l->a, tree_sub(l->a, t, "status"), "conditions"),
              *server_tree(l->s, "{type: example.com/up, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}"));
    check_true("opened", kube_update(l->s->k, l->a, o->kind, "status", t, NULL, &l->s->st));
    lab_run(l, 0.1);
    check_str("open", lab_condition(l, "pods", "p", "Ready"), "True");
}

/* ---- death ---- */

static void a_machine_dies(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(l, POD("p", "nodeName: n0, "));
    lab_apply(l, POD("q", "nodeName: n0, tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, "
                          "effect: NoExecute, tolerationSeconds: 30}], "));
    lab_apply(l, POD("r", "nodeName: n0, tolerations: [{operator: Exists}], "));
    lab_run(l, 5);
    cluster_power_off(l->c, STR("n0"));
    lab_run(l, 30);
    check_true("not noticed yet", str_starts(lab_condition(l, "nodes", "n0", "Ready"), STR("True")));
    lab_run(l, 30);
    check_str("unknown", lab_condition(l, "nodes", "n0", "Ready"),
              "Unknown NodeStatusUnknown: Kubelet stopped posting node status.");
    check_str("said", lab_events(l, "NodeNotReady", "n0"), "Node n0 status is now: NodeNotReady");
    check_str("no schedule", lab_get(l, "nodes", "n0", "spec.taints.0.key"), "\"node.kubernetes.io/unreachable\"");
    check_str("no execute", lab_get(l, "nodes", "n0", "spec.taints.1.effect"), "\"NoExecute\"");
    check_str("its pods are not ready", lab_condition(l, "pods", "p", "Ready"), "False");
    lab_run(l, 35);
    check_str("30 s are over", lab_pods(l, "q"), "q Terminating n0");
    check_str("evicted", lab_condition(l, "pods", "q", "DisruptionTarget"),
              "True DeletionByTaintManager: Taint manager: deleting due to NoExecute taint");
    check_str("5 minutes are not", lab_pods(l, "p"), "p Running n0");
    lab_run(l, 300);
    check_str("now they are", lab_pods(l, "p"), "p Terminating n0");
    check_str("for ever", lab_pods(l, "r"), "r Running n0");
    lab_delete(l, "nodes", "n0");
    lab_run(l, 60);
    check_i64("all gone with the node", lab_count(l, "pods", ""), 0);
    check_true("the other lives", str_starts(lab_condition(l, "nodes", "n1", "Ready"), STR("True")));
}

static void a_node_says_that_it_is_not_ready(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    cluster_set_condition(l->c, STR("n0"), "Ready", "False", "KubeletNotReady", "PLEG is not healthy");
    lab_run(l, 1);
    check_str("taint", lab_get(l, "nodes", "n0", "spec.taints.0.key"), "\"node.kubernetes.io/not-ready\"");
    cluster_set_condition(l->c, STR("n0"), "Ready", "True", "KubeletReady", "kubelet is posting ready status");
    lab_run(l, 1);
    check_str("well again", lab_get(l, "nodes", "n0", "spec.taints"), "");
    cluster_set_condition(l->c, STR("n0"), "MemoryPressure", "True", "KubeletHasInsufficientMemory", "low");
    lab_patch(l, "nodes", "n0", "spec: {unschedulable: true}");
    lab_run(l, 1);
    check_str("cordoned", lab_get(l, "nodes", "n0", "spec.taints.0.key"), "\"node.kubernetes.io/unschedulable\"");
    check_str("pressed", lab_get(l, "nodes", "n0", "spec.taints.1.key"), "\"node.kubernetes.io/memory-pressure\"");
}

/* ---- the queue ---- */

static void a_pod_waits_for_a_node(void **state)
{
    struct lab *l = *state;

    lab_apply(l, BIG("p", "3", ""));
    lab_run(l, 1);
    check_str("nowhere", lab_condition(l, "pods", "p", "PodScheduled"),
              "False Unschedulable: no nodes available to schedule pods");
    lab_nodes(l, 1);
    check_str("as soon as the node is ready", lab_get(l, "pods", "p", "spec.nodeName"), "\"n0\"");
    lab_apply(l, BIG("q", "3", ""));
    lab_run(l, 30);
    check_str("no room", lab_pods(l, "q"), "q Pending -");
    lab_delete(l, "pods", "p");
    lab_run(l, 1);
    check_str("there is now", lab_pods(l, "q"), "q Pending n0");
    lab_apply(l, POD("g", "schedulingGates: [{name: example.com/wait}], "));
    lab_run(l, 5);
    check_str("behind a gate", lab_condition(l, "pods", "g", "PodScheduled"),
              "False SchedulingGated: Scheduling is blocked due to non-empty scheduling gates");
    lab_patch(l, "pods", "g", "spec: {schedulingGates: null}");
    lab_run(l, 1);
    check_str("open", lab_get(l, "pods", "g", "spec.nodeName"), "\"n0\"");
}

static void the_important_go_first(void **state)
{
    struct lab *l = *state;

    lab_apply(l, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000");
    lab_apply(l, BIG("low", "3", ""));
    lab_apply(l, BIG("high", "3", "priorityClassName: high, "));
    lab_run(l, 1);
    lab_nodes(l, 1);
    check_str("high", lab_get(l, "pods", "high", "spec.nodeName"), "\"n0\"");
    check_str("low", lab_pods(l, "low"), "low Pending -");
}

static void somebody_has_to_go(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000");
    lab_apply(l, BIG("a", "2", ""));
    lab_apply(l, BIG("b", "2", ""));
    lab_run(l, 3);
    lab_apply(l, BIG("vip", "2", "priorityClassName: high, "));
    lab_run(l, 0.05);
    check_str("promised", lab_get(l, "pods", "vip", "status.nominatedNodeName"), "\"n0\"");
    check_str("why", lab_condition(l, "pods", "vip", "PodScheduled"),
              "False Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
    lab_run(l, 2);
    check_str("comes", lab_pods(l, "vip"), "vip Running n0");
    check_i64("one went", lab_count(l, "pods", ""), 2);
    check_true("said", str_starts(lab_events(l, "Preempted", ""), STR("Preempted by pod ")));
}

/* Three nodes get ready one after the other, and no two pods get on with each other: whoever comes too early is tried again when there is news, though its back-off runs. */
static void nobody_waits_for_a_back_off(void **state)
{
    struct lab *l = *state;
    static const char *const apart =
        "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: apart}\n"
        "spec: {replicas: 3, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {"
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: ["
        "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: a}}}]}}, "
        "containers: [{name: c, image: x}]}}}";

    lab_nodes(l, 3);
    for (uint32_t i = 0; i < 3; i++)
        lab_patch(l, "nodes", (const char *const[]){"n0", "n1", "n2"}[i], "{spec: {unschedulable: true}}");
    lab_apply(l, apart);
    lab_run(l, 5);
    check_str("none yet", lab_get(l, "replicasets", "apart", "status.readyReplicas"), "");
    for (uint32_t i = 0; i < 3; i++) {
        lab_patch(l, "nodes", (const char *const[]){"n0", "n1", "n2"}[i], "{spec: {unschedulable: null}}");
        lab_run(l, 0.1);
    }
    str pods = lab_pods(l, "apart-");
    check_true("first", str_contains(pods, STR(" n0")));
    check_true("second", str_contains(pods, STR(" n1")));
    check_true("third", str_contains(pods, STR(" n2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_node_gets_ready, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_machine_boots, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_pod_runs, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(readiness_gates, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_machine_dies, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_node_says_that_it_is_not_ready, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_pod_waits_for_a_node, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(nobody_waits_for_a_back_off, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(the_important_go_first, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(somebody_has_to_go, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
