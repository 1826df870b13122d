/* Workloads in a whole cluster, in virtual time: what their controllers make of them, and what they say about it. */
#include <stdio.h>

#include "support/check.h"
#include "support/lab.h"

#define CONTAINERS "containers: [{name: c, image: nginx}]"
#define WEB(replicas, more)                                                                                            \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"                                                   \
    "spec: {replicas: " replicas ", selector: {matchLabels: {app: web}}" more ", "                                     \
    "template: {metadata: {labels: {app: web}}, spec: {" CONTAINERS "}}}"
#define NEW_IMAGE(name) "spec: {template: {spec: {containers: [{name: c, image: '" name "'}]}}}"

static str web(struct lab *l, const char *path)
{
    return lab_get(l, "deployments", "web", path);
}

/* ---- Deployments ---- */

static void a_deployment_rolls_out(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, WEB("3", ""));
    lab_run(l, 5);
    check_str("available", web(l, "status.availableReplicas"), "3");
    check_str("updated", web(l, "status.updatedReplicas"), "3");
    check_str("revision", web(l, "metadata.annotations"), "{\"deployment.kubernetes.io/revision\":\"1\"}");
    check_str("enough", lab_condition(l, "deployments", "web", "Available"),
              "True MinimumReplicasAvailable: Deployment has minimum availability.");
    check_true("done", str_starts(lab_condition(l, "deployments", "web", "Progressing"),
                                  STR("True NewReplicaSetAvailable: ReplicaSet \"web-")));
    check_true("said", str_ends(lab_events(l, "ScalingReplicaSet", "web"), STR(" from 0 to 3")));
    check_i64("spread", lab_count(l, "pods", "web-"), 3);

    lab_patch(l, "deployments", "web", NEW_IMAGE("nginx:2"));
    lab_run(l, 20);
    check_i64("two sets", lab_count(l, "replicasets", "web-"), 2);
    check_str("all new", web(l, "status.updatedReplicas"), "3");
    check_str("none old", web(l, "status.replicas"), "3");
    check_str("second", web(l, "metadata.annotations"), "{\"deployment.kubernetes.io/revision\":\"2\"}");

    lab_patch(l, "deployments", "web", NEW_IMAGE("nginx"));
    lab_run(l, 20);
    check_i64("the first set again", lab_count(l, "replicasets", "web-"), 2);
    check_str("third", web(l, "metadata.annotations"), "{\"deployment.kubernetes.io/revision\":\"3\"}");
    lab_patch(l, "deployments", "web", "spec: {replicas: 5}");
    lab_run(l, 5);
    check_str("scaled", web(l, "status.readyReplicas"), "5");
    lab_delete(l, "deployments", "web");
    lab_run(l, 40);
    check_i64("gone", lab_count(l, "pods", "web-"), 0);
}

/* At no time are there more pods than maxSurge or fewer than maxUnavailable allow. */
static void a_rollout_keeps_its_bounds(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, WEB("10", ", strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1}}"));
    lab_run(l, 10);
    lab_patch(l, "deployments", "web", NEW_IMAGE("nginx:2"));
    for (int i = 0; i < 200; i++) {
        int64_t total = 0, ready = 0;

        lab_run(l, 0.1);
        if (!str_to_i64(web(l, "status.replicas"), &total) || !str_to_i64(web(l, "status.availableReplicas"), &ready))
            continue;
        check_true("not too many", total <= 12);
        check_true("enough", ready >= 9);
    }
    check_str("all", web(l, "status.updatedReplicas"), "10");
    check_str("no more", web(l, "status.replicas"), "10");
}

static void recreate_waits_for_the_old(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(l, WEB("3", ", strategy: {type: Recreate}"));
    lab_run(l, 5);
    lab_patch(l, "deployments", "web", NEW_IMAGE("nginx:2"));
    lab_run(l, 0.1);
    check_i64("no new pods yet", lab_count(l, "pods", "web-"), 3);
    check_true("the old ones leave", str_contains(lab_pods(l, "web-"), STR("Terminating")));
    lab_run(l, 10);
    check_str("all new", web(l, "status.updatedReplicas"), "3");
    check_str("available", web(l, "status.availableReplicas"), "3");
}

static void a_paused_deployment_stays(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(l, WEB("2", ""));
    lab_run(l, 5);
    lab_patch(l, "deployments", "web", "spec: {paused: true}");
    lab_run(l, 1);
    check_str("says so", lab_condition(l, "deployments", "web", "Progressing"),
              "Unknown DeploymentPaused: Deployment is paused");
    lab_patch(l, "deployments", "web", NEW_IMAGE("nginx:2"));
    lab_run(l, 5);
    check_i64("one set", lab_count(l, "replicasets", "web-"), 1);
    lab_patch(l, "deployments", "web", "spec: {replicas: 4}");
    lab_run(l, 5);
    check_str("scales all the same", web(l, "status.readyReplicas"), "4");
    lab_patch(l, "deployments", "web", "spec: {paused: false}");
    lab_run(l, 20);
    check_i64("goes on", lab_count(l, "replicasets", "web-"), 2);
    check_str("to the end", web(l, "status.updatedReplicas"), "4");
}

static void a_rollout_that_cannot_go_on(void **state)
{
    struct lab *l = *state;

    lab_apply(l, WEB("1", ", progressDeadlineSeconds: 60")); /* no nodes */
    lab_run(l, 30);
    check_true("in progress",
               str_starts(lab_condition(l, "deployments", "web", "Progressing"), STR("True ReplicaSetUpdated")) ||
                   str_starts(lab_condition(l, "deployments", "web", "Progressing"), STR("True NewReplicaSetCreated")));
    lab_run(l, 60);
    check_true("given up", str_starts(lab_condition(l, "deployments", "web", "Progressing"),
                                      STR("False ProgressDeadlineExceeded: ReplicaSet \"web-")));
    check_str("not available", lab_condition(l, "deployments", "web", "Available"),
              "False MinimumReplicasUnavailable: Deployment does not have minimum availability.");
}

static void history_is_limited(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(l, WEB("1", ", revisionHistoryLimit: 2"));
    for (int i = 0; i < 6; i++) {
        char patch[120];

        lab_run(l, 10);
        snprintf(patch, sizeof(patch), "spec: {template: {metadata: {annotations: {try: '%d'}}}}", i);
        lab_patch(l, "deployments", "web", patch);
    }
    lab_run(l, 10);
    check_i64("the current and two", lab_count(l, "replicasets", "web-"), 3);
    check_str("seventh", web(l, "metadata.annotations"), "{\"deployment.kubernetes.io/revision\":\"7\"}");
}

static void sets_are_adopted(void **state)
{
    struct lab *l = *state;
    const struct delete_options orphan = {.grace_s = -1, .propagation = "Orphan"};

    lab_nodes(l, 1);
    lab_apply(l, WEB("2", ""));
    lab_run(l, 5);
    check_true("left behind", server_delete(l->s, "deployments", "web", &orphan));
    lab_run(l, 2);
    check_i64("they stay", lab_count(l, "pods", "web-"), 2);
    lab_apply(l, WEB("3", ""));
    lab_run(l, 5);
    check_i64("the same set", lab_count(l, "replicasets", "web-"), 1);
    check_str("grown", web(l, "status.readyReplicas"), "3");
}

/* ---- ReplicaSets ---- */

#define RS                                                                                                             \
    "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: rs}\n"                                                    \
    "spec: {replicas: 3, selector: {matchLabels: {app: rs}}, "                                                         \
    "template: {metadata: {labels: {app: rs}}, spec: {" CONTAINERS "}}}"

static void pods_are_adopted_and_released(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(l, "apiVersion: v1\nkind: Pod\nmetadata: {name: stray, labels: {app: rs}}\nspec: {" CONTAINERS "}");
    lab_run(l, 3);
    lab_apply(l, RS);
    lab_run(l, 5);
    check_str("adopted", lab_get(l, "pods", "stray", "metadata.ownerReferences.0.name"), "\"rs\"");
    check_i64("two more", lab_count(l, "pods", "rs-"), 2);
    lab_patch(l, "pods", "stray", "metadata: {labels: {app: other}}");
    lab_run(l, 5);
    check_str("released", lab_get(l, "pods", "stray", "metadata.ownerReferences"), "");
    check_i64("replaced", lab_count(l, "pods", "rs-"), 3);
    check_str("ready", lab_get(l, "replicasets", "rs", "status.readyReplicas"), "3");
}

static void the_cheapest_goes_first(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, RS);
    lab_run(l, 5);
    str first = lab_pods(l, "rs-"), name, rest;
    str_cut(first, ' ', &name, &rest);
    lab_patch(l, "pods", arena_printf(l->a, STR_FMT, STR_ARG(name)).p,
              "metadata: {annotations: {controller.kubernetes.io/pod-deletion-cost: '-5'}}");
    lab_patch(l, "replicasets", "rs", "spec: {replicas: 2}");
    lab_run(l, 5);
    check_str("it", lab_get(l, "pods", arena_printf(l->a, STR_FMT, STR_ARG(name)).p, "metadata.name"), "");
    check_i64("only it", lab_count(l, "pods", "rs-"), 2);

    /* One that cannot be scheduled goes before one that runs. */
    lab_patch(l, "nodes", "n0", "spec: {unschedulable: true}");
    lab_run(l, 1);
    lab_patch(l, "replicasets", "rs", "spec: {replicas: 3}");
    lab_run(l, 5);
    check_true("one waits", str_contains(lab_pods(l, "rs-"), STR("Pending -")));
    lab_patch(l, "replicasets", "rs", "spec: {replicas: 2}");
    lab_run(l, 5);
    check_true("and goes", !str_contains(lab_pods(l, "rs-"), STR("Pending -")));
}

/* ---- StatefulSets ---- */

#define SS(replicas, more)                                                                                             \
    "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: ss}\n"                                                   \
    "spec: {serviceName: ss, replicas: " replicas ", selector: {matchLabels: {app: ss}}" more ", "                     \
    "template: {metadata: {labels: {app: ss}}, spec: {" CONTAINERS "}}}"

static void stateful_pods_come_in_order(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, SS("3", ""));
    lab_run(l, 0.5);
    check_str("the first", lab_pods(l, "ss-"), "ss-0 Pending n0");
    lab_run(l, 1);
    check_i64("one by one", lab_count(l, "pods", "ss-"), 2);
    lab_run(l, 5);
    check_str("all", lab_pods(l, "ss-"), "ss-0 Running n0\nss-1 Running n0\nss-2 Running n0");
    check_str("ready", lab_get(l, "statefulsets", "ss", "status.readyReplicas"), "3");
    check_str("name", lab_get(l, "pods", "ss-1", "spec.hostname"), "\"ss-1\"");
    check_true("said", str_contains(lab_events(l, "SuccessfulCreate", "ss"),
                                    STR("Create Pod ss-2 in StatefulSet ss successful")));
    lab_patch(l, "statefulsets", "ss", "spec: {replicas: 1}");
    lab_run(l, 0.05);
    check_str("the last goes first", lab_pods(l, "ss-"), "ss-0 Running n0\nss-1 Running n0\nss-2 Terminating n0");
    lab_run(l, 5);
    check_str("one left", lab_pods(l, "ss-"), "ss-0 Running n0");
}

static void a_partition_holds_back(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, SS("3", ", podManagementPolicy: Parallel, updateStrategy: {rollingUpdate: {partition: 2}}"));
    lab_run(l, 5);
    str first = lab_get(l, "statefulsets", "ss", "status.currentRevision");
    lab_patch(l, "statefulsets", "ss", NEW_IMAGE("nginx:2"));
    lab_run(l, 10);
    check_str("one updated", lab_get(l, "statefulsets", "ss", "status.updatedReplicas"), "1");
    check_str("new", lab_get(l, "pods", "ss-2", "spec.containers.0.image"), "\"nginx:2\"");
    check_str("old", lab_get(l, "pods", "ss-1", "spec.containers.0.image"), "\"nginx\"");
    lab_delete(l, "pods", "ss-0");
    lab_run(l, 5);
    check_str("comes back as it was", lab_get(l, "pods", "ss-0", "spec.containers.0.image"), "\"nginx\"");
    lab_patch(l, "statefulsets", "ss", "spec: {updateStrategy: {rollingUpdate: {partition: 0}}}");
    lab_run(l, 15);
    check_str("all updated", lab_get(l, "statefulsets", "ss", "status.updatedReplicas"), "3");
    check_true("current", !str_eq(first, lab_get(l, "statefulsets", "ss", "status.currentRevision")));
    check_str("the same", lab_get(l, "statefulsets", "ss", "status.currentRevision"),
              arena_printf(l->a, STR_FMT, STR_ARG(lab_get(l, "statefulsets", "ss", "status.updateRevision"))).p);
}

/* ---- DaemonSets ---- */

#define DS                                                                                                             \
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: ds}\n"                                                     \
    "spec: {selector: {matchLabels: {app: ds}}, template: {metadata: {labels: {app: ds}}, spec: {" CONTAINERS "}}}"

static void daemons_are_everywhere(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_patch(l, "nodes", "n2", "spec: {taints: [{key: gpu, effect: NoSchedule}]}");
    lab_apply(l, DS);
    lab_run(l, 5);
    check_i64("two", lab_count(l, "pods", "ds-"), 2);
    check_str("wanted", lab_get(l, "daemonsets", "ds", "status.desiredNumberScheduled"), "2");
    check_str("available", lab_get(l, "daemonsets", "ds", "status.numberAvailable"), "2");
    lab_patch(l, "nodes", "n2", "spec: {taints: null}");
    lab_run(l, 5);
    check_str("one more", lab_get(l, "daemonsets", "ds", "status.numberReady"), "3");
    lab_patch(l, "nodes", "n0", "spec: {unschedulable: true}");
    lab_run(l, 5);
    check_str("a cordon is no reason to go", lab_get(l, "daemonsets", "ds", "status.numberReady"), "3");
    lab_patch(l, "nodes", "n1", "spec: {taints: [{key: bad, effect: NoExecute}]}");
    lab_run(l, 5);
    check_str("this is", lab_get(l, "daemonsets", "ds", "status.numberReady"), "2");
    lab_patch(l, "nodes", "n1", "spec: {taints: null}");
    lab_run(l, 5);
    lab_patch(l, "daemonsets", "ds", NEW_IMAGE("nginx:2"));
    lab_run(l, 1);
    check_str("one at a time", lab_get(l, "daemonsets", "ds", "status.numberUnavailable"), "1");
    lab_run(l, 20);
    check_str("all updated", lab_get(l, "daemonsets", "ds", "status.updatedNumberScheduled"), "3");
    check_str("all up", lab_get(l, "daemonsets", "ds", "status.numberAvailable"), "3");
    lab_delete(l, "nodes", "n1");
    lab_run(l, 60);
    check_str("with the node", lab_get(l, "daemonsets", "ds", "status.desiredNumberScheduled"), "2");
    check_i64("its pod goes", lab_count(l, "pods", "ds-"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_deployment_rolls_out, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_rollout_keeps_its_bounds, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(recreate_waits_for_the_old, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_paused_deployment_stays, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_rollout_that_cannot_go_on, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(history_is_limited, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(sets_are_adopted, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(pods_are_adopted_and_released, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(the_cheapest_goes_first, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(stateful_pods_come_in_order, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_partition_holds_back, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(daemons_are_everywhere, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
