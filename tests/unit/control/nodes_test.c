/* Nodes that go away, in a simulated cluster (lifecycle 6, checklist 14.6, golden traces 16.2 and 16.4). */
#include "control/nodes.h"

#include <stdio.h>

#include "control/node_int.h"
#include "support/check.h"
#include "support/node_lab.h"

static str cond(struct node_lab *x, const char *type)
{
    return far_condition(x->f, "nodeclaims", "c", type);
}

static double counter(struct metric *f, const char *a, const char *b)
{
    return metric_value(f, METRIC_VALS(str_c(a), str_c(b)));
}

#define M(x) ((x)->l->c.metrics)
#define UP "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized "
#define NO_OPTIONS " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}\n"
#define TAINTED                                                                                                        \
    "PATCH nodes/c {\"metadata\":{\"labels\":{\"node.kubernetes.io/exclude-from-external-load-balancers\":"            \
    "\"karpenter\"},\"resourceVersion\":\"<rv>\"},\"spec\":{\"taints\":[{\"effect\":\"NoSchedule\",\"key\":"           \
    "\"karpenter.sh/disrupted\"}]}}\n"
#define EVICT(p)                                                                                                       \
    "POST namespaces/default/pods/" p "/eviction {\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{"   \
    "\"name\":\"" p "\"},\"deleteOptions\":{\"preconditions\":{\"uid\":\"<uid>\"}}}\n"
#define RELEASED "PATCH nodes/c {\"metadata\":{\"finalizers\":null}}\n"
#define FORGOTTEN "PATCH nodeclaims/c {\"metadata\":{\"finalizers\":null,\"resourceVersion\":\"<rv>\"}}\n"

/* ---- whole stories ---- */

/* Golden trace 16.2, with bodies as they were recorded (scenario 007). */
static void a_claim_is_deleted(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    node_lab_pod(x, "b", "c", "", "");
    far_run(x->f, 5);
    (void)node_lab_writes(x);
    fakecloud_linger(x->l->cloud, 3000000);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 1);
    check_str("steps 1 to 3", node_lab_writes(x),
              "DELETE nodes/c" NO_OPTIONS TAINTED "PATCH nodeclaims/c/status locked " UP
              "Drained=Unknown/Draining Ready=True/Ready\n" EVICT("a") EVICT("b"));
    check_str("says so", far_events(x->f, "FailedDraining", "c"),
              "Failed to drain node, 2 pods are waiting to be evicted");
    check_str("on the pods", far_events(x->f, "Evicted", "a"), "Evicted pod: Forceful Termination");
    far_run(x->f, 3.5);
    check_str("not before five seconds are over", node_lab_writes(x), "");
    check_str("though empty", cond(x, "Drained"), "Unknown Draining: Draining");
    far_run(x->f, 1);
    check_str("steps 4 to 6", node_lab_writes(x),
              "PATCH nodeclaims/c/status locked " UP "Drained=True/Drained VolumesDetached=True/VolumesDetached "
              "InstanceTerminating=True/InstanceTerminating Ready=True/Ready\n");
    far_run(x->f, 4);
    check_str("the machine is asked for every five seconds", node_lab_writes(x), "");
    far_run(x->f, 2);
    check_str("steps 7 and 8", node_lab_writes(x), RELEASED FORGOTTEN);
    check_u64("no node", far_count(x->f, "nodes", ""), 0);
    check_u64("no claim", far_count(x->f, "nodeclaims", ""), 0);
    check_str(
        "told", node_lab_told(x, "tainted node"),
        "\"NodeClaim\":{\"name\":\"c\"},\"taint.Key\":\"karpenter.sh/disrupted\",\"taint.Value\":\"\",\"taint.Effect\":"
        "\"NoSchedule\"}");
    check_str("told", node_lab_told(x, "deleted node"), "\"NodeClaim\":{\"name\":\"c\"}}");
    check_str("no errors", node_lab_told(x, "Reconciler error"), "");

    /* TE-17 */
    check_double("terminated", counter(M(x)->nodes_terminated_total, "default", "test-zone-a"), 1);
    check_double("drained", counter(M(x)->nodes_drained_total, "default", ""), 1);
    check_double("duration", counter(M(x)->nodes_termination_duration, "default", ""), 1);
    check_double("lifetime", counter(M(x)->nodes_lifetime_duration, "default", ""), 1);
    check_double("pods", counter(M(x)->pods_drained_total, "Forceful Termination", ""), 2);
    check_double("requests", counter(M(x)->pods_eviction_requests_total, "200", ""), 2);
}

/* Scenario 008. */
static void a_node_is_deleted(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "slow", "c", "", "terminationGracePeriodSeconds: 5");
    far_run(x->f, 3);
    (void)node_lab_writes(x);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.05);
    str w = node_lab_writes(x);
    check_true("its claim goes too", str_starts(w, STR("DELETE nodeclaims/c" NO_OPTIONS TAINTED)));
    check_true("and its pod", str_contains(w, STR(EVICT("slow"))));
    far_run(x->f, 8);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_str("no errors", node_lab_told(x, "Reconciler error"), "");
}

/* Golden trace 16.4, and scenario 009: a pod that must not be disturbed, with a minute of grace on a node with five. */
static void a_deadline(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "terminationGracePeriod: 300s");
    node_lab_pod(x, "kept", "c", "annotations: {karpenter.sh/do-not-disrupt: 'true'}",
                 "terminationGracePeriodSeconds: 60");
    far_run(x->f, 3);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 1);
    (void)node_lab_writes(x);
    far_run(x->f, 235);
    check_str("left alone for four minutes", node_lab_writes(x), "");
    check_u64("never queued", evictions_count(x->nodes->evictions), 0);
    far_run(x->f, 6);
    str w = node_lab_writes(x);
    check_true(
        "then deleted with what is left",
        str_contains(w, STR("DELETE namespaces/default/pods/kept {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                            "\"gracePeriodSeconds\":59}")));
    check_true("once",
               !str_contains(str_sub(w, 10, w.n), STR("pods/kept {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                                      "\"gracePeriodSeconds\":58}")));
    check_true("told",
               str_contains(far_events(x->f, "Disrupted", "kept"),
                            STR("+0000 UTC of the node. The pod was granted 59 seconds of grace-period of its 60 "
                                "terminationGracePeriodSeconds. This bypasses the PDB of the pod and the "
                                "do-not-disrupt annotation.")));
    check_true("before", str_starts(far_events(x->f, "TerminationGracePeriodExpiring", "c"),
                                    STR("All pods will be deleted by 20")));
    check_true("log", str_starts(node_lab_told(x, "deleting pod"),
                                 STR("\"NodeClaim\":{\"name\":\"c\"},\"namespace\":\"default\",\"name\":"
                                     "\"kept\",\"pod.terminationGracePeriodSeconds\":60,"
                                     "\"delete.gracePeriodSeconds\":59,"
                                     "\"nodeclaim.terminationTime\":\"20")));
    check_str("no errors", node_lab_told(x, "Reconciler error"), "");
    far_run(x->f, 3);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_double("such pods are not counted", counter(M(x)->pods_drained_total, "Forceful Termination", ""), 0);
}

/* What the annotation of a pod says is told by the drain, once. */
static void protections_are_told(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "kept", "c", "annotations: {karpenter.sh/do-not-disrupt: 'true'}", "");
    node_lab_pod(x, "wrong", "c", "annotations: {karpenter.sh/do-not-disrupt: 'yes'}", "");
    node_lab_pod(x, "negative", "c", "annotations: {karpenter.sh/do-not-disrupt: '-1m'}", "");
    node_lab_pod(x, "timed", "c", "annotations: {karpenter.sh/do-not-disrupt: 40s}", "");
    far_run(x->f, 3);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 10);
    check_str("no duration", far_events(x->f, "InvalidDoNotDisruptAnnotation", "wrong"),
              "Invalid karpenter.sh/do-not-disrupt annotation: failed to parse \"yes\" as a duration: time: invalid "
              "duration \"yes\", ignoring annotation");
    check_str("backwards", far_events(x->f, "InvalidDoNotDisruptAnnotation", "negative"),
              "Invalid karpenter.sh/do-not-disrupt annotation: duration \"-1m\" must be positive, ignoring annotation");
    check_true("neither is kept", far_count(x->f, "pods", "wrong") == 0 && far_count(x->f, "pods", "negative") == 0);
    check_true("until when", str_starts(far_events(x->f, "DoNotDisruptUntil", "timed"),
                                        STR("The karpenter.sh/do-not-disrupt grace period will elapse at 20")));
    check_str("not yet", far_events(x->f, "DoNotDisruptGracePeriodElapsed", ""), "");
    check_u64("is kept", far_count(x->f, "pods", "timed"), 1);
    far_run(x->f, 40);
    check_str("over", far_events(x->f, "DoNotDisruptGracePeriodElapsed", "timed"),
              "The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable");
    check_u64("is kept no more", far_count(x->f, "pods", "timed"), 0);
    check_u64("for ever", far_count(x->f, "pods", "kept"), 1);
}

/* Scenario 010: a budget that allows nothing. */
static void a_budget(void **state)
{
    struct node_lab *x = *state;

    far_apply(x->f, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, "
                    "selector: {matchLabels: {app: x}}}\n");
    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "labels: {app: x}", "");
    far_run(x->f, 3);
    (void)node_lab_writes(x);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 0.75);
    (void)node_lab_writes(x);
    check_double("at 0, 100, 300, 700 ms", counter(M(x)->pods_eviction_requests_total, "429", ""), 4);
    far_run(x->f, 12.2);
    check_double("1.5, 3.1, 6.3, 12.7 s", counter(M(x)->pods_eviction_requests_total, "429", ""), 8);
    far_run(x->f, 20);
    check_double("then every ten", counter(M(x)->pods_eviction_requests_total, "429", ""), 10);
    check_str("quirk: hidden behind the first", far_events(x->f, "FailedDraining", "c"),
              "Failed to drain node, 1 pods are waiting to be evicted");
    check_true("waits", evictions_count(x->nodes->evictions) == 1);
    far_run(x->f, 100);
    check_true("after two minutes it may be said again",
               str_contains(far_events(x->f, "FailedDraining", "c"), STR("Failed to drain node, ")));
    far_patch(x->f, "poddisruptionbudgets", "b", "{spec: {minAvailable: 0}}");
    far_run(x->f, 25);
    check_u64("let go", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_double("once", counter(M(x)->pods_eviction_requests_total, "200", ""), 1);
}

/* Scenario 031: the eviction API does not know what to do about two budgets. */
static void two_budgets(void **state)
{
    struct node_lab *x = *state;

    far_apply(x->f,
              "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 0, "
              "selector: {matchLabels: {app: x}}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: "
              "{name: b2}\nspec: {minAvailable: 0, selector: {matchLabels: {app: x}}}\n");
    node_lab_up(x, "c", "");
    node_lab_pod(x, "double", "c", "labels: {app: x}", "");
    far_run(x->f, 3);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 2);
    check_double("at 0, 100, 300, 700, 1500 ms", counter(M(x)->pods_eviction_requests_total, "500", ""), 5);
    check_str("no error", node_lab_told(x, "Reconciler error"), "");
    far_delete(x->f, "poddisruptionbudgets", "b2");
    far_run(x->f, 10);
    check_u64("let go", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
}

/* Scenario 030, TE-7: one group after the other, each when the one before is gone. */
static void groups(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "last", "c", "", "priorityClassName: system-node-critical");
    node_lab_pod(x, "first", "c", "", "");
    node_lab_pod(x, "tolerant", "c", "", "tolerations: [{operator: Exists}]");
    far_run(x->f, 3);
    (void)node_lab_writes(x);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 0.1);
    str w = node_lab_writes(x);
    check_true("first", str_contains(w, STR(EVICT("first"))) && !str_contains(w, STR(EVICT("last"))));
    far_run(x->f, 2);
    check_true("last", str_starts(node_lab_writes(x), STR(EVICT("last"))));
    far_run(x->f, 4);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_double("tolerant pods are not evicted", counter(M(x)->pods_drained_total, "Forceful Termination", ""), 2);
}

/* ---- nodes that are not as they should be ---- */

#define LONER                                                                                                          \
    "apiVersion: v1\nkind: Node\nmetadata: {name: c, finalizers: [karpenter.sh/termination%s], annotations: "          \
    "{kwok.x-k8s.io/node: fake}%s}\nspec: {providerID: 'fake:///9'}\n"
#define OURS ", labels: {karpenter.kwok.sh/kwoknodeclass: default}"

static void loner(struct node_lab *x, const char *finalizer, const char *labels)
{
    char text[600];

    snprintf(text, sizeof(text), LONER, finalizer, labels);
    far_apply(x->f, text);
    far_run(x->f, 3);
    (void)node_lab_writes(x);
}

/* TE-1: emptied all the same, and gone at once when it is. */
static void without_a_claim(void **state)
{
    struct node_lab *x = *state;

    loner(x, "", OURS);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.1);
    check_str("one pass", node_lab_writes(x), TAINTED RELEASED);
    check_u64("gone", far_count(x->f, "nodes", ""), 0);

    loner(x, "", OURS);
    node_lab_pod(x, "a", "c", "", "");
    far_run(x->f, 2);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.1);
    check_str("with a pod", node_lab_writes(x), TAINTED EVICT("a"));
    far_run(x->f, 2);
    check_str("is released", node_lab_writes(x), RELEASED);
    check_double("nobody knows why it went (EQ-5)", counter(M(x)->pods_drained_total, "", ""), 1);
}

static void foreign_nodes(void **state)
{
    struct node_lab *x = *state;

    loner(x, "", "");
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 10);
    check_str("left alone", node_lab_writes(x), "");
    check_u64("there", far_count(x->f, "nodes", ""), 1);
}

static void other_finalizers(void **state)
{
    struct node_lab *x = *state;

    loner(x, ", example.com/mine", OURS);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 5);
    check_str("only ours goes", far_get(x->f, "nodes", "c", "metadata.finalizers"), "[\"example.com/mine\"]");
    far_patch(x->f, "nodes", "c", "{metadata: {finalizers: null}}");
    far_run(x->f, 1);
    check_u64("gone", far_count(x->f, "nodes", ""), 0);
}

/* TE-9: nobody is there to be drained. Scenario 016. */
static void a_machine_that_is_gone(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    far_run(x->f, 3);
    (void)node_lab_writes(x);
    far_node_condition(x->f, "c", "Ready", "False");
    check_true("gone", fakecloud_power_off(x->l->cloud, STR("fake:///1")));
    far_run(x->f, 1);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.1);
    str w = node_lab_writes(x);
    check_true("let go at once", str_contains(w, STR(RELEASED)) && !str_contains(w, STR("eviction")));
}

static void a_ready_node_is_drained(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "terminationGracePeriodSeconds: 5");
    far_run(x->f, 3);
    check_true("gone", fakecloud_power_off(x->l->cloud, STR("fake:///1")));
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.1);
    check_true("the pod first", str_contains(node_lab_writes(x), STR(EVICT("a"))));
}

/* ---- answers that nobody hopes for ---- */

static void refusals(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    far_run(x->f, 3);
    far_refuse(x->f, "PATCH", "/nodes/c", 409, "somebody else wrote", 2);
    far_refuse(x->f, "POST", "/eviction", 404, "no such pod", 1);
    far_refuse(x->f, "POST", "/eviction", 409, "another pod", 1);
    far_refuse(x->f, "POST", "/eviction", 500, "not today", 1);
    far_refuse(x->f, "PATCH", "/nodeclaims/c/status", 409, "somebody else wrote", 1);
    fakecloud_then(x->l->cloud, FAKE_DESTROY, FAKE_ERROR, 1);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 12);
    check_u64("in the end it is gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_double("404", counter(M(x)->pods_eviction_requests_total, "404", ""), 1);
    check_double("409", counter(M(x)->pods_eviction_requests_total, "409", ""), 1);
    check_double("500", counter(M(x)->pods_eviction_requests_total, "500", ""), 1);
    check_double("200", counter(M(x)->pods_eviction_requests_total, "200", ""), 1);
    check_double("drained once", counter(M(x)->nodes_drained_total, "default", ""), 1);
    str errors = node_lab_told(x, "Reconciler error");
    check_true("told: eviction", str_contains(errors, STR("not today")));
    check_true("told: cloud", str_contains(errors, STR("ensuring instance termination, the cloud is away")));
}

/* TE-10, EQ-1: a new pod of the same name is another pod. */
static void a_new_pod_of_the_same_name(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    far_run(x->f, 3);
    evictions_add(x->nodes->evictions, STR("default"), STR("a"), STR("another-uid"), 0);
    evictions_add(x->nodes->evictions, STR("default"), STR("nobody"), STR("u"), 0);
    (void)node_lab_writes(x);
    far_run(x->f, 5);
    check_str("left alone", node_lab_writes(x), "");
    check_str("no events", far_events(x->f, "Evicted", ""), "");
    check_u64("who is not there is forgotten", evictions_count(x->nodes->evictions), 1);
}

/* EQ-5: why a pod went. */
static void the_reason(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_pod(x, "a", "c", "", "");
    far_run(x->f, 3);
    far_patch_status(x->f, "nodeclaims", "c",
                     "{status: {conditions: [{type: DisruptionReason, status: 'True', reason: Underutilized, message: "
                     "Underutilized, lastTransitionTime: '2023-11-14T22:13:20Z'}]}}");
    far_run(x->f, 1);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 1);
    check_double("counted", counter(M(x)->pods_drained_total, "Underutilized", ""), 1);
    check_str("told", far_events(x->f, "Evicted", "a"), "Evicted pod: Underutilized");
}

/* TE-1: nobody knows which of two claims is meant, so neither is. */
static void two_claims(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    node_lab_up(x, "d", "");
    far_patch_status(x->f, "nodeclaims", "d", "{status: {providerID: 'fake:///1'}}");
    far_run(x->f, 1);
    (void)node_lab_writes(x);
    far_delete(x->f, "nodes", "c");
    far_run(x->f, 0.1);
    check_str("one pass", node_lab_writes(x), TAINTED RELEASED);
    check_str("they stay", claim_lab_cond(x->l, "c", "InstanceTerminating"), "");
}

/* TE-2 */
static void ten_at_once(void **state)
{
    struct node_lab *x = *state;
    char name[16];

    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        node_lab_up(x, name, "");
        node_lab_pod(x, name, name, "", "");
    }
    far_run(x->f, 3);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        far_delete(x->f, "nodes", name);
    }
    far_run(x->f, 15);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
    check_double("each once", counter(M(x)->nodes_drained_total, "default", ""), 10);
    check_double("each once", counter(M(x)->pods_drained_total, "Forceful Termination", ""), 10);
}

/* ---- volumes ---- */

#define VOLUME(n, node)                                                                                                \
    "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " n "}\nspec: {capacity: {storage: 1Gi}, accessModes: "  \
    "[ReadWriteOnce], csi: {driver: d, volumeHandle: h}}\n---\napiVersion: storage.k8s.io/v1\nkind: "                  \
    "VolumeAttachment\nmetadata: {name: at-" n "}\nspec: {attacher: d, nodeName: " node                                \
    ", source: {persistentVolumeName: " n "}}\n"
#define BOUND(n, v)                                                                                                    \
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " n "}\nspec: {volumeName: " v                      \
    ", storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"

/* TE-16 */
static void volumes(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    far_apply(x->f, VOLUME("v1", "c"));
    far_apply(x->f, VOLUME("v2", "c"));
    far_apply(x->f, VOLUME("v3", "elsewhere"));
    far_apply(x->f, BOUND("stays", "v2"));
    node_lab_pod(x, "tolerant", "c", "",
                 "tolerations: [{operator: Exists}], volumes: [{name: v, persistentVolumeClaim: {claimName: stays}}]");
    far_run(x->f, 3);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 30);
    check_str("waits", cond(x, "VolumesDetached"), "Unknown AwaitingVolumeDetachment: AwaitingVolumeDetachment");
    check_str("drained", cond(x, "Drained"), "True Drained");
    check_str("for the one", far_events(x->f, "AwaitingVolumeDetachment", "c"),
              "Awaiting deletion of bound volumeattachments (at-v1)");
    check_u64("the machine is left", fakecloud_calls(x->l->cloud, FAKE_DESTROY), 0);
    far_delete(x->f, "volumeattachments", "at-v1");
    far_run(x->f, 3);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
}

static void volumes_and_a_deadline(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "terminationGracePeriod: 30s");
    far_apply(x->f, VOLUME("v1", "c"));
    far_run(x->f, 1);
    fakecloud_linger(x->l->cloud, 10000000);
    far_delete(x->f, "nodeclaims", "c");
    far_run(x->f, 28);
    check_str("waits", cond(x, "VolumesDetached"), "Unknown AwaitingVolumeDetachment: AwaitingVolumeDetachment");
    far_run(x->f, 4);
    check_str("no longer", cond(x, "VolumesDetached"),
              "False TerminationGracePeriodElapsed: TerminationGracePeriodElapsed");
    far_run(x->f, 15);
    check_u64("gone", far_count(x->f, "nodes", "") + far_count(x->f, "nodeclaims", ""), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, node_lab_setup, node_lab_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_claim_is_deleted),
        TEST(a_node_is_deleted),
        TEST(a_deadline),
        TEST(protections_are_told),
        TEST(a_budget),
        TEST(two_budgets),
        TEST(groups),
        TEST(without_a_claim),
        TEST(foreign_nodes),
        TEST(other_finalizers),
        TEST(a_machine_that_is_gone),
        TEST(a_ready_node_is_drained),
        TEST(refusals),
        TEST(a_new_pod_of_the_same_name),
        TEST(the_reason),
        TEST(two_claims),
        TEST(ten_at_once),
        TEST(volumes),
        TEST(volumes_and_a_deadline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
