/* Claims, volumes, attachments. */
#include "support/check.h"
#include "support/lab.h"

#define CLASS(name, driver, mode)                                                                                      \
    "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " name "}\nprovisioner: " driver              \
    "\nvolumeBindingMode: " mode
#define CLAIM(name, class)                                                                                             \
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name "}\nspec: {accessModes: [ReadWriteOnce], "   \
    "storageClassName: " class ", resources: {requests: {storage: 1Gi}}}"
#define VOLUME(name, size, zone)                                                                                       \
    "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " name "}\nspec: {capacity: {storage: " size             \
    "}, accessModes: [ReadWriteOnce], storageClassName: static, csi: {driver: d, volumeHandle: " name                  \
    "}, persistentVolumeReclaimPolicy: Retain, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "      \
    "[{key: topology.kubernetes.io/zone, operator: In, values: [" zone "]}]}]}}}"
#define POD(name, claim)                                                                                               \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {containers: [{name: c, image: x}], "                \
    "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}]}"

static str claim(struct lab *l, const char *name, const char *path)
{
    return lab_get(l, "persistentvolumeclaims", name, path);
}

static void a_volume_is_made_where_the_pod_goes(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, CLASS("gp3", "ebs.csi.aws.com", "WaitForFirstConsumer"));
    lab_apply(l, CLAIM("c", "gp3"));
    lab_run(l, 5);
    check_str("waits", claim(l, "c", "status.phase"), "\"Pending\"");
    check_str("says so", lab_events(l, "WaitForFirstConsumer", "c"),
              "waiting for first consumer to be created before binding");
    lab_apply(l, POD("p", "c"));
    lab_run(l, 0.5);
    check_true("chosen", claim(l, "c", "metadata.annotations").n > 0);
    check_str("not bound before its volume", lab_pods(l, "p"), "p Pending -");
    lab_run(l, 3);
    check_str("bound", claim(l, "c", "status.phase"), "\"Bound\"");
    check_true("runs", str_contains(lab_pods(l, "p"), STR("Running")));
    check_i64("attached", lab_count(l, "volumeattachments", "csi-"), 1);
    str node = lab_get(l, "pods", "p", "spec.nodeName");
    char zone = node.p[2] == '0' ? 'a' : node.p[2] == '1' ? 'b' : 'c';
    str pv = claim(l, "c", "spec.volumeName");
    str term = lab_get(l, "persistentvolumes", arena_printf(l->a, STR_FMT, STR_ARG(str_sub(pv, 1, pv.n - 1))).p,
                       "spec.nodeAffinity.required.nodeSelectorTerms.0.matchExpressions.0");
    check_str(
        "in the zone of the node", term,
        arena_printf(l->a, "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"%c\"]}", zone)
            .p);
    lab_delete(l, "persistentvolumeclaims", "c");
    lab_run(l, 2);
    check_str("in use", claim(l, "c", "metadata.name"), "\"c\"");
    lab_delete(l, "pods", "p");
    lab_run(l, 5);
    check_str("gone", claim(l, "c", "metadata.name"), "");
    check_i64("with its volume", lab_count(l, "persistentvolumes", "pvc-"), 0);
    check_i64("detached", lab_count(l, "volumeattachments", "csi-"), 0);
}

static void volumes_that_are_there(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, CLASS("static", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"));
    lab_apply(l, VOLUME("large", "5Gi", "b"));
    lab_apply(l, VOLUME("small", "2Gi", "b"));
    lab_apply(l, CLAIM("c", "static"));
    lab_apply(l, POD("p", "c"));
    lab_run(l, 5);
    check_str("the smallest that is enough", claim(l, "c", "spec.volumeName"), "\"small\"");
    check_str("its zone", lab_pods(l, "p"), "p Running n1");
    check_str("taken", lab_get(l, "persistentvolumes", "small", "status.phase"), "\"Bound\"");
    check_str("free", lab_get(l, "persistentvolumes", "large", "status.phase"), "\"Available\"");
    lab_delete(l, "pods", "p");
    lab_run(l, 2);
    lab_delete(l, "persistentvolumeclaims", "c");
    lab_run(l, 2);
    check_str("kept", lab_get(l, "persistentvolumes", "small", "status.phase"), "\"Released\"");
}

static void a_claim_that_does_not_wait(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, CLAIM("c", "later"));
    lab_apply(l, POD("p", "c"));
    lab_run(l, 2);
    check_str("no class", lab_events(l, "ProvisioningFailed", "c"), "storageclass.storage.k8s.io \"later\" not found");
    check_str(
        "the pod waits", lab_condition(l, "pods", "p", "PodScheduled"),
        "False Unschedulable: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found");
    lab_apply(l, CLASS("later", "d", "Immediate"));
    lab_run(l, 15);
    check_str("bound", claim(l, "c", "status.phase"), "\"Bound\"");
    check_str("and runs", lab_pods(l, "p"), "p Running n0");
}

static void a_stateful_set_has_its_own(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 3);
    lab_apply(l, CLASS("gp3", "ebs.csi.aws.com", "WaitForFirstConsumer"));
    lab_apply(
        l,
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: ss}\nspec: {serviceName: ss, replicas: 2, selector: "
        "{matchLabels: {app: ss}}, template: {metadata: {labels: {app: ss}}, spec: {containers: [{name: c, image: "
        "x}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
        "storageClassName: gp3, resources: {requests: {storage: 1Gi}}}}]}");
    lab_run(l, 10);
    check_i64("two claims", lab_count(l, "persistentvolumeclaims", "data-ss-"), 2);
    check_str("runs", lab_get(l, "statefulsets", "ss", "status.readyReplicas"), "2");
    str volume = claim(l, "data-ss-1", "spec.volumeName"), node = lab_get(l, "pods", "ss-1", "spec.nodeName");
    lab_delete(l, "pods", "ss-1");
    lab_run(l, 5);
    check_str("the same volume", claim(l, "data-ss-1", "spec.volumeName"),
              arena_printf(l->a, STR_FMT, STR_ARG(volume)).p);
    check_str("the same zone, so the same node", lab_get(l, "pods", "ss-1", "spec.nodeName"),
              arena_printf(l->a, STR_FMT, STR_ARG(node)).p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_volume_is_made_where_the_pod_goes, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(volumes_that_are_there, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_claim_that_does_not_wait, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_stateful_set_has_its_own, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
