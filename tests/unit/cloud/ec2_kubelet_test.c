/* spec.kubelet: what is read of it, what is wrong with it, what a family cannot deliver (aws 11.3, K1 to K10). */
#include "cloud/ec2/class.h"

#include "support/check.h"
#include "support/fixture.h"
#include "support/trees.h"

static struct ec2_class *class_of(struct fixture *f, const char *family, const char *kubelet)
{
    str text = arena_printf(f->a, "{metadata: {name: x}, spec: {amiFamily: %s%s%s}}%c", family,
                            kubelet ? ", kubelet: " : "", kubelet ? kubelet : "", 0);
    struct err e = {0};
    struct ec2_class *k = ec2_class_decode(f->a, f->t, tree_yaml(f->a, text.p), STR(""), &e);

    check_ok(kubelet, k != NULL, &e);
    return k;
}

static const struct {
    const char *kubelet;
    bool want;
} expressions[] = {
    {NULL, false},
    {"{}", false},
    {"{maxPods: 10, kubeReserved: {cpu: 100m}, systemReserved: {memory: 1Gi}}", false},
    {"{maxPods: vcpus * 10}", true},
    {"{kubeReserved: {cpu: vcpus * 10}}", true},
    {"{systemReserved: {cpu: 100m, memory: memory_mib / 10}}", true},
    {"{evictionHard: {memory.available: vcpus * 10}, clusterDomain: vcpus}", false},
};

static void k1_k2_expressions_are_found(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(expressions); i++) {
        struct ec2_class *k = class_of(*state, "AL2023", expressions[i].kubelet);

        check_true(expressions[i].kubelet ? expressions[i].kubelet : "none",
                   ec2_kubelet_has_expressions(&k->kubelet) == expressions[i].want);
    }
}

static void k3_k4_managed_fields_are_read(void **state)
{
    struct ec2_kubelet q =
        class_of(
            *state, "AL2023",
            "{clusterDNS: [10.0.0.1], maxPods: 10, podsPerCore: 2, systemReserved: {cpu: 1}, kubeReserved: {memory: 1Gi, cpu: 2m}, "
            "evictionHard: {memory.available: 5%}, evictionSoft: {}, evictionSoftGracePeriod: {memory.available: 1m}, "
            "evictionMaxPodGracePeriod: 60, imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 50, cpuCFSQuota: false, "
            "other: 1}")
            ->kubelet;

    check_true("dns", q.has_dns && q.n_dns == 1 && str_is(q.dns[0], "10.0.0.1"));
    check_true("numbers", q.max_pods == 10 && q.pods_per_core == 2 && q.eviction_max_grace == 60 &&
                              q.image_gc_high == 80 && q.image_gc_low == 50 && q.cpu_cfs_quota == 0 &&
                              q.max_pods_expr.n == 0);
    check_true("a map with something else in it is not read", !q.system_reserved.present);
    check_true("maps", q.kube_reserved.n == 2 && str_is(q.kube_reserved.v[0].key, "cpu") && q.eviction_hard.n == 1);
    check_true("an empty map", q.eviction_soft.present && q.eviction_soft.n == 0);
    q = class_of(*state, "AL2023", "{maxPods: vcpus * 2}")->kubelet;
    check_true("an expression is not a number", q.max_pods == -1 && str_is(q.max_pods_expr, "vcpus * 2"));
    q = class_of(*state, "AL2023", NULL)->kubelet;
    check_true("nothing", !q.raw && q.max_pods == -1 && !q.kube_reserved.present && !q.has_dns);
}

static const struct {
    const char *family, *kubelet, *want;
} lost[] = {
    {"AL2", "{maxPods: 1, podsPerCore: 2, cpuCFSQuota: true, clusterDNS: [a]}", ""},
    {"AL2", "{topologyManagerPolicy: none, shutdownGracePeriod: 45s}",
     "AL2 AMI family that would be silently dropped: "
     "shutdownGracePeriod, topologyManagerPolicy"},
    {"Windows2022", "{clusterDNS: [a, b]}",
     "Windows2022 AMI family that would be silently dropped: clusterDNS beyond its first entry"},
    {"Bottlerocket", "{podsPerCore: 4}", "Bottlerocket AMI family that would be silently dropped: podsPerCore"},
    {"AL2023", "{shutdownGracePeriod: 45s, clusterDNS: [a, b]}", ""},
    {"Custom", "{shutdownGracePeriod: 45s, podsPerCore: 3}", ""},
    {"Bottlerocket", NULL, ""},
};

static void k6_the_rest_is_for_one_family(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        str got = ec2_kubelet_unsupported(f->a, class_of(f, lost[i].family, lost[i].kubelet));

        if (lost[i].want[0])
            check_str(lost[i].kubelet, got,
                      arena_printf(f->a, "spec.kubelet has fields not applied by the %s%c", lost[i].want, 0).p);
        else
            check_str(lost[i].family, got, "");
    }
}

static const char *const fine[] = {
    NULL,
    "{}",
    "{maxPods: 110, podsPerCore: 10, kubeReserved: {cpu: 100m}}",
    "{maxPods: 0, podsPerCore: 0, evictionMaxPodGracePeriod: 0, imageGCLowThresholdPercent: 0}",
    "{shutdownGracePeriod: 45s, containerLogMaxSize: 20Mi, memoryThrottlingFactor: 0.9, maxOpenFiles: 1000000}",
    "{authentication: {x509: {clientCAFile: /x}, webhook: {enabled: true, cacheTTL: 2m}}, logging: {format: json, flushFrequency: 5s, "
    "verbosity: 3, options: {json: {splitStream: true, infoBufferSize: '0'}}, vmodule: [{filePattern: a, verbosity: 1}]}}",
    "{featureGates: {A: true}, staticPodURLHeader: {X: [a, b]}, tlsCurvePreferences: [1, 2], qosReserved: {memory: 10%}}",
    "{reservedMemory: [{numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 100}}], shutdownGracePeriodByPodPriority: [{priority: 1, "
    "shutdownGracePeriodSeconds: 10}]}",
    "{evictionHard: {memory.available: 5%, nodefs.available: 1.5%, nodefs.inodesFree: 100Mi, imagefs.available: 0%, "
    "imagefs.inodesFree: 100%, pid.available: '10'}, evictionMinimumReclaim: {memory.available: '0'}}",
    "{evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m30s}}",
    "{imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80}",
    "{maxPods: vcpus * 10, kubeReserved: {cpu: vcpus * 2}, systemReserved: {memory: max_pods * 11}}",
    "{maxPods: null, logging: null, evictionHard: null, clusterDNS: null}",
};

static void k7_good_ones_pass(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(fine); i++)
        check_str(fine[i] ? fine[i] : "none", ec2_kubelet_problems(f->a, class_of(f, "AL2023", fine[i])), "");
}

static const struct {
    const char *kubelet, *want;
} mistakes[] = {
    {"{maxPodz: 4}", "spec.kubelet: unknown field \"maxPodz\""},
    {"{MaxPods: 4}", "spec.kubelet: unknown field \"MaxPods\""},
    {"{authentication: {x509: {nope: 1}}}", "spec.kubelet: unknown field \"authentication.x509.nope\""},
    {"{reservedMemory: [{numaNode: 0}, {node: 1}]}", "spec.kubelet: unknown field \"reservedMemory[1].node\""},
    {"{defaultPodSysctls: {}}", "spec.kubelet: unknown field \"defaultPodSysctls\""},
    {"{b: 1, a: 2}", "spec.kubelet: unknown field \"a\"; spec.kubelet: unknown field \"b\""},
    {"{podsPerCore: 1.5}", "spec.kubelet.podsPerCore: must be a 32-bit integer, not 1.5"},
    {"{podsPerCore: 3000000000}", "spec.kubelet.podsPerCore: must be a 32-bit integer, not 3000000000"},
    {"{authentication: {webhook: {cacheTTL: 5}}}",
     "spec.kubelet.authentication.webhook.cacheTTL: must be a duration such as 1m30s, not 5"},
    {"{logging: {verbosity: -1}}", "spec.kubelet.logging.verbosity: must be a non-negative 32-bit integer, not -1"},
    {"{featureGates: {A: 'true'}}", "spec.kubelet.featureGates[A]: must be a boolean, not \"true\""},
    {"{clusterDNS: [1]}", "spec.kubelet.clusterDNS[0]: must be a string, not 1"},
    {"{clusterDNS: {}}", "spec.kubelet.clusterDNS: must be a list, not a map"},
    {"{syncFrequency: soon}", "spec.kubelet.syncFrequency: must be a duration such as 1m30s, not \"soon\""},
    {"{maxPods: -1}", "spec.kubelet.maxPods: must not be negative, is -1"},
    {"{podsPerCore: -1, evictionMaxPodGracePeriod: -5}",
     "spec.kubelet.evictionMaxPodGracePeriod: must not be negative, is -5; spec.kubelet.podsPerCore: must not be negative, is -1"},
    {"{imageGCHighThresholdPercent: 101}",
     "spec.kubelet.imageGCHighThresholdPercent: must not be more than 100, is 101"},
    {"{imageGCHighThresholdPercent: -1}", "spec.kubelet.imageGCHighThresholdPercent: must not be negative, is -1"},
    {"{imageGCLowThresholdPercent: 101}", "spec.kubelet.imageGCLowThresholdPercent: must not be more than 100, is 101"},
    {"{imageGCLowThresholdPercent: -1}", "spec.kubelet.imageGCLowThresholdPercent: must not be negative, is -1"},
    {"{imageGCHighThresholdPercent: 50, imageGCLowThresholdPercent: 50}",
     "spec.kubelet.imageGCHighThresholdPercent: must be more than imageGCLowThresholdPercent"},
    {"{kubeReserved: {gpu: '1', cpu: '-1'}}",
     "spec.kubelet.kubeReserved[cpu]: must not be negative, is \"-1\"; spec.kubelet.kubeReserved[gpu]: only cpu, memory, "
     "ephemeral-storage and pid can be reserved"},
    {"{evictionHard: {cpu: 5%}}", "spec.kubelet.evictionHard[cpu]: is not a signal of eviction"},
    {"{evictionMinimumReclaim: {disk: 5%}}", "spec.kubelet.evictionMinimumReclaim[disk]: is not a signal of eviction"},
    {"{evictionHard: {memory.available: 101%}}",
     "spec.kubelet.evictionHard[memory.available]: \"101%\" is neither 0% to 100% nor a quantity"},
    {"{evictionHard: {memory.available: x}}",
     "spec.kubelet.evictionHard[memory.available]: \"x\" is neither 0% to 100% nor a quantity"},
    {"{evictionHard: {memory.available: -1Gi}}",
     "spec.kubelet.evictionHard[memory.available]: \"-1Gi\" is neither 0% to 100% nor a quantity"},
    {"{evictionSoft: {memory.available: 5%}}",
     "spec.kubelet.evictionSoft[memory.available]: has no matching evictionSoftGracePeriod"},
    {"{evictionSoftGracePeriod: {memory.available: 1m}}",
     "spec.kubelet.evictionSoftGracePeriod[memory.available]: has no matching evictionSoft"},
    {"{evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: soon}}",
     "spec.kubelet.evictionSoftGracePeriod[memory.available]: \"soon\" is not a duration such as 1m30s"},
    {"{evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: -1m}}",
     "spec.kubelet.evictionSoftGracePeriod[memory.available]: \"-1m\" is not a duration such as 1m30s"},
    {"{registerWithTaints: []}",
     "spec.kubelet.registerWithTaints: is set by Karpenter; use the taints of the NodePool"},
};

static void k8_bad_ones_do_not(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++)
        check_str(mistakes[i].kubelet, ec2_kubelet_problems(f->a, class_of(f, "AL2023", mistakes[i].kubelet)),
                  mistakes[i].want);
}

static void k9_all_at_once(void **state)
{
    struct fixture *f = *state;

    check_str("unknown, negative and unmatched",
              ec2_kubelet_problems(
                  f->a, class_of(f, "AL2023", "{maxPodz: 1, maxPods: -1, evictionSoft: {pid.available: 5%}}")),
              "spec.kubelet: unknown field \"maxPodz\"; spec.kubelet.evictionSoft[pid.available]: has no matching "
              "evictionSoftGracePeriod; spec.kubelet.maxPods: must not be negative, is -1");
}

static void k10_a_wrong_type_is_said_once(void **state)
{
    static const char *const wrong[] = {
        "{clusterDNS: x}",
        "{maxPods: true}",
        "{podsPerCore: x}",
        "{systemReserved: x}",
        "{kubeReserved: []}",
        "{evictionHard: 5}",
        "{evictionSoft: [a]}",
        "{evictionSoftGracePeriod: x}",
        "{cpuCFSQuota: 'x'}",
        "{evictionMaxPodGracePeriod: x}",
        "{imageGCHighThresholdPercent: 80%}",
        "{imageGCLowThresholdPercent: {}}",
        "{evictionHard: {memory.available: 5}}",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        str got = ec2_kubelet_problems(f->a, class_of(f, "AL2023", wrong[i]));

        check_true(wrong[i], got.n && !str_contains(got, STR("; ")) && str_contains(got, STR(": must be a")));
    }
}

/* What is said must fit a condition. */
static void there_is_an_end(void **state)
{
    struct fixture *f = *state;

    sb_reset(&f->b);
    sb_char(&f->b, '{');
    for (int i = 0; i < 1000; i++)
        sb_printf(&f->b, "%sunknown-\xc3\xa9-%d: 1", i ? ", " : "", i);
    sb_char(&f->b, '}');
    str got = ec2_kubelet_problems(f->a, class_of(f, "AL2023", sb_cstr(&f->b)));
    check_true("cut", got.n > 8000 && got.n < 8300 && str_ends(got, STR(" and more")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(k1_k2_expressions_are_found, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k3_k4_managed_fields_are_read, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k6_the_rest_is_for_one_family, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k7_good_ones_pass, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k8_bad_ones_do_not, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k9_all_at_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k10_a_wrong_type_is_said_once, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(there_is_an_end, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
