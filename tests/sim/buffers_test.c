/* Capacity buffers: the whole controller against the simulated cluster (scheduling 21, checklist 27.13). */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

static const char *const settings[] = {"LOG_LEVEL", "error", "FEATURE_GATES", "CapacityBuffer=true", NULL};

static const char template[] = "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: spare}\ntemplate:\n"
                               "  metadata: {labels: {app: spare}}\n  spec:\n    containers: [{name: app, image: app, "
                               "resources: {requests: {cpu: '1', memory: 256Mi}}}]\n";
static const char buffer[] = "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: spare}\n"
                             "spec: {podTemplateRef: {name: spare}, replicas: 2}\n";

#define WORKLOAD(kind, name, replicas, more)                                                                           \
    "apiVersion: apps/v1\nkind: " kind "\nmetadata: {name: " name "}\nspec:\n  replicas: " replicas                    \
    "\n  selector: {matchLabels: {app: " name "}}\n  template:\n    metadata: {labels: {app: " name                    \
    "}}\n    spec:\n      terminationGracePeriodSeconds: 1\n      " more                                               \
    "containers: [{name: app, image: app, resources: {requests: {cpu: '1', memory: 256Mi}}}]\n"
#define SCALABLE(name, kind, of, more)                                                                                 \
    "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: " name                           \
    "}\nspec: {scalableRef: {apiGroup: apps, kind: " kind ", name: " of "}, " more "}\n"

#define FITS(n) "True FitsExistingCapacity: All " n " virtual pods fit on existing capacity"

static int setup(void **state)
{
    struct rig *r = rig_new(1, settings, NULL);

    fleet_class(r);
    fleet_pool(r, "default", "", "");
    rig_start(r, 0);
    rig_await_lead(r, 0, 30);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    rig_free(*state);
    return 0;
}

static str of(struct rig *r, const char *name, const char *path)
{
    return lab_get(r->l, "capacitybuffers", name, path);
}

static str cond(struct rig *r, const char *name, const char *type)
{
    return lab_condition(r->l, "capacitybuffers", name, type);
}

static struct fleet look(struct rig *r)
{
    struct fleet f;

    fleet_look(r, &f);
    return f;
}

static double metric(struct rig *r, const char *line)
{
    struct sb b = {0};
    double v = -1;

    replica_metrics(r->replicas[0], &b);
    const char *at = strstr(sb_cstr(&b), line);
    if (at)
        (void)sscanf(at + strlen(line), " %lf", &v);
    sb_fini(&b);
    return v;
}

static void a_template_is_resolved(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, buffer);
    lab_run(r->l, 3);
    check_str("CB1 missing template", cond(r, "spare", "ReadyForProvisioning"),
              "False PodTemplateNotFound: PodTemplate \"spare\" not found");
    check_str("CB1 the strategy is echoed", of(r, "spare", "status.provisioningStrategy"),
              "\"buffer.x-k8s.io/active-capacity\"");
    check_str("CB1 no replicas yet", of(r, "spare", "status.replicas"), "");
    check_i64("CB4 no round without success", look(r).n_claims, 0);
    lab_apply(r->l, template);
    lab_run(r->l, 10);
    check_str("CB1 resolved", cond(r, "spare", "ReadyForProvisioning"),
              "True Resolved: Pod template resolved successfully");
    check_str("CB1 ref", of(r, "spare", "status.podTemplateRef.name"), "\"spare\"");
    check_str("CB1 generation", of(r, "spare", "status.podTemplateGeneration"), "1");
    check_str("CB1 replicas", of(r, "spare", "status.replicas"), "2");
    check_i64("CB11 capacity appears", look(r).n_nodes, 1);
    check_str("CB9 and fits", cond(r, "spare", "Provisioning"), FITS("2"));
    check_i64("CB7 there are no such pods", look(r).n_pods, 0);
    check_str("quirk: nominated for a new NodeClaim", lab_events(r->l, "FailedScheduling", "capacity-buffer"), "");
    check_true("quirk: Nominated", lab_events(r->l, "Nominated", "capacity-buffer-spare-1").n > 0);
    check_str("Event of the condition", lab_events(r->l, "Provisioning", "spare"),
              "Status condition transitioned, Type: Provisioning, Status: False -> True, Reason: FitsExistingCapacity, "
              "Message: All 2 virtual pods fit on existing capacity");
    check_double("status metrics",
                 metric(r, "operator_capacitybuffer_status_condition_count{name=\"spare\",namespace=\"default\","
                           "reason=\"FitsExistingCapacity\",status=\"True\",type=\"Provisioning\"}"),
                 1);
    check_double("virtual pods are not counted as pods",
                 metric(r, "karpenter_pods_state{name=\"capacity-buffer-spare-1\""), -1);
}

static void a_template_changes(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, template);
    lab_apply(r->l, buffer);
    lab_run(r->l, 10);
    lab_patch(
        r->l, "podtemplates", "spare",
        "{template: {spec: {containers: [{name: app, image: app, resources: {requests: {cpu: '3', memory: 256Mi}}}]}}}");
    lab_run(r->l, 10);
    check_str("CB4 re-resolved", of(r, "spare", "status.podTemplateGeneration"), "2");
    check_true("CB4 planned anew", look(r).n_nodes >= 2);
    check_str("CB4 fits again", cond(r, "spare", "Provisioning"), FITS("2"));
    lab_delete(r->l, "podtemplates", "spare");
    lab_run(r->l, 5);
    check_str("CB4 the template goes", cond(r, "spare", "ReadyForProvisioning"),
              "False PodTemplateNotFound: PodTemplate \"spare\" not found");
    lab_apply(r->l, "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n");
    lab_apply(r->l, "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: spare, namespace: other}\ntemplate: {spec: "
                    "{containers: [{name: app, image: app}]}}\n");
    lab_run(r->l, 5);
    check_str("CB4 only of its own namespace", cond(r, "spare", "ReadyForProvisioning"),
              "False PodTemplateNotFound: PodTemplate \"spare\" not found");
}

static void workloads_are_resolved(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, SCALABLE("share", "Deployment", "web", "percentage: 50"));
    lab_apply(r->l, SCALABLE("fixed", "StatefulSet", "db", "replicas: 1"));
    lab_apply(r->l, SCALABLE("odd", "CronJob", "x", "replicas: 1"));
    lab_run(r->l, 2);
    check_str("CB2 missing", cond(r, "share", "ReadyForProvisioning"),
              "False ScalableRefNotFound: Deployment \"web\" not found");
    check_true("CB2 unsupported", str_starts(cond(r, "odd", "ReadyForProvisioning"), STR("False ResolutionFailed")));
    lab_apply(r->l, WORKLOAD("Deployment", "web", "3", ""));
    lab_apply(r->l, WORKLOAD("StatefulSet", "db", "1", ""));
    lab_run(r->l, 45);
    check_str("CB2 percentage", of(r, "share", "status.replicas"), "2");
    check_str("CB2 no template of its own", of(r, "share", "status.podTemplateRef.name"), "");
    check_str("CB2 StatefulSet", of(r, "fixed", "status.replicas"), "1");
    check_str("CB11 both fit", cond(r, "share", "Provisioning"), FITS("2"));
    check_str("CB11 independent", cond(r, "fixed", "Provisioning"), FITS("1"));
    lab_patch(r->l, "deployments", "web", "{spec: {replicas: 6}}");
    lab_run(r->l, 45);
    check_str("CB11 the percentage follows", of(r, "share", "status.replicas"), "3");
    check_i64("CB11 pods run", look(r).n_running, 7);
}

static void real_pods_take_the_room_at_once(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, template);
    lab_apply(r->l, buffer);
    lab_run(r->l, 10);
    check_i64("one machine", look(r).n_nodes, 1);
    lab_apply(r->l, WORKLOAD("Deployment", "web", "3", ""));
    lab_run(r->l, 1);
    check_i64("CB11 they run within a second", look(r).n_running, 3);
    lab_run(r->l, 40);
    check_true("CB11 refilled", look(r).n_nodes >= 2);
    check_str("CB11 and it fits", cond(r, "spare", "Provisioning"), FITS("2"));
}

static void limits_of_pools_hold(void **state)
{
    struct rig *r = *state;

    lab_patch(r->l, "nodepools", "default", "{spec: {limits: {cpu: '4'}}}");
    lab_run(r->l, 2);
    lab_apply(r->l, template);
    lab_apply(r->l, "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: spare}\n"
                    "spec: {podTemplateRef: {name: spare}, replicas: 8}\n");
    lab_run(r->l, 60);
    check_i64("CB11 one machine of 4 cpus", look(r).n_nodes, 1);
    check_str("CB11 said", cond(r, "spare", "Provisioning"),
              "False RequiresNewCapacity: 0/8 virtual pods required new capacity, 5 failed");
    check_str("CB9 nobody is warned of pods that there are not",
              lab_events(r->l, "FailedScheduling", "capacity-buffer"), "");
    check_double("CB9 nor counted",
                 metric(r, "karpenter_scheduler_unschedulable_pods_count{controller=\"provisioner\"}"), 0);
}

static void what_pods_ask_for_is_kept(void **state)
{
    struct rig *r = *state;

    lab_apply(
        r->l,
        "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: spare}\ntemplate:\n"
        "  metadata: {labels: {app: spare}}\n  spec:\n    nodeSelector: {topology.kubernetes.io/zone: test-zone-b}\n"
        "    affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
        "kubernetes.io/hostname, labelSelector: {matchLabels: {app: spare}}}]}}\n"
        "    volumes: [{name: data, persistentVolumeClaim: {claimName: none}}]\n"
        "    containers: [{name: app, image: app, resources: {requests: {cpu: '1'}}, volumeMounts: [{name: data, "
        "mountPath: /data}]}]\n");
    lab_apply(r->l, buffer);
    lab_run(r->l, 10);
    check_i64("CB11 anti-affinity", look(r).n_nodes, 2);
    check_str("CB7 claims do not matter", cond(r, "spare", "Provisioning"), FITS("2"));
    check_i64("CB11 selector", lab_count(r->l, "nodes", "kwok-"), 2);
}

static void it_is_scaled_down_and_deleted(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, template);
    lab_apply(r->l, buffer);
    lab_run(r->l, 10);
    lab_patch(r->l, "capacitybuffers", "spare", "{spec: {replicas: 1}}");
    lab_run(r->l, 5);
    check_str("CB11 scale down", cond(r, "spare", "Provisioning"), FITS("1"));
    lab_patch(r->l, "capacitybuffers", "spare", "{spec: {replicas: 0}}");
    lab_run(r->l, 5);
    check_str("CB11 to nothing", of(r, "spare", "status.replicas"), "0");
    lab_apply(r->l, WORKLOAD("Deployment", "huge", "1", "nodeSelector: {example.com/unknown: x}\n      "));
    lab_run(r->l, 5);
    check_true("CB9 empty", str_starts(cond(r, "spare", "Provisioning"), STR("False BufferEmpty")));
    lab_delete(r->l, "capacitybuffers", "spare");
    lab_run(r->l, 5);
    check_str("gone", of(r, "spare", "metadata.name"), "");
    check_i64("no more machines", look(r).n_nodes, 1);
}

static void another_process_takes_over(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, template);
    lab_apply(r->l, buffer);
    lab_apply(r->l, WORKLOAD("Deployment", "web", "2", ""));
    lab_apply(r->l, SCALABLE("share", "Deployment", "web", "percentage: 50"));
    lab_run(r->l, 45);
    check_str("fits", cond(r, "share", "Provisioning"), FITS("1"));
    uint32_t n = look(r).n_nodes;
    rig_kill(r, 0);
    rig_start(r, 0);
    rig_await_lead(r, 0, 60);
    lab_apply(r->l, WORKLOAD("Deployment", "more", "1", ""));
    lab_run(r->l, 40);
    check_str("CB8 known from the first round on", cond(r, "share", "Provisioning"), FITS("1"));
    check_str("CB8 the other, too", cond(r, "spare", "Provisioning"), FITS("2"));
    check_true("nothing is bought twice", look(r).n_nodes <= n + 1);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(a_template_is_resolved),          ON(a_template_changes),         ON(workloads_are_resolved),
        ON(real_pods_take_the_room_at_once), ON(limits_of_pools_hold),       ON(what_pods_ask_for_is_kept),
        ON(it_is_scaled_down_and_deleted),   ON(another_process_takes_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
