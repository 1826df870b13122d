#include "model/taint.h"

#include "model/node.h"
#include "support/check.h"

static int setup(void **state)
{
    *state = syms_new();
    return 0;
}

static int teardown(void **state)
{
    syms_free(*state);
    return 0;
}

static void effects_have_names(void **state UNUSED)
{
    static const char *const names[] = {"", "NoSchedule", "PreferNoSchedule", "NoExecute"};
    enum taint_effect effect;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        check_true(names[i], taint_effect_parse(str_c(names[i]), &effect) && effect == (enum taint_effect)i);
        check_str(names[i], str_c(taint_effect_name(effect)), names[i]);
    }
    check_true("unknown", !taint_effect_parse(STR("noschedule"), &effect));
}

enum { NONE = EFFECT_NONE, SCHED = EFFECT_NO_SCHEDULE, PREFER = EFFECT_PREFER_NO_SCHEDULE, EXEC = EFFECT_NO_EXECUTE };

static const struct {
    const char *name;
    const char *tol_key;
    enum tol_op op;
    const char *tol_value;
    int tol_effect;
    const char *key, *value;
    int effect;
    bool want;
} cases[] = {
    {"equal", "team", TOL_EQUAL, "blue", SCHED, "team", "blue", SCHED, true},
    {"another value", "team", TOL_EQUAL, "blue", SCHED, "team", "red", SCHED, false},
    {"another key", "team", TOL_EQUAL, "blue", SCHED, "crew", "blue", SCHED, false},
    {"another effect", "team", TOL_EQUAL, "blue", SCHED, "team", "blue", EXEC, false},
    {"no effect named: every effect", "team", TOL_EQUAL, "blue", NONE, "team", "blue", EXEC, true},
    {"both without a value", "team", TOL_EQUAL, "", SCHED, "team", "", SCHED, true},
    {"a taint with a value", "team", TOL_EQUAL, "", SCHED, "team", "blue", SCHED, false},
    {"exists", "team", TOL_EXISTS, "", SCHED, "team", "blue", SCHED, true},
    {"exists, another key", "team", TOL_EXISTS, "", SCHED, "crew", "blue", SCHED, false},
    {"exists, another effect", "team", TOL_EXISTS, "", PREFER, "team", "blue", SCHED, false},
    {"exists for every key", "", TOL_EXISTS, "", NONE, "team", "blue", PREFER, true},
    {"every key, one effect", "", TOL_EXISTS, "", EXEC, "team", "blue", PREFER, false},
    {"every key, equal", "", TOL_EQUAL, "blue", NONE, "team", "blue", SCHED, true},
    {"lt: taint below", "sla", TOL_LT, "950", SCHED, "sla", "900", SCHED, true},
    {"lt: same", "sla", TOL_LT, "950", SCHED, "sla", "950", SCHED, false},
    {"lt: taint above", "sla", TOL_LT, "950", SCHED, "sla", "1000", SCHED, false},
    {"gt: taint above", "sla", TOL_GT, "950", NONE, "sla", "1000", SCHED, true},
    {"gt: same", "sla", TOL_GT, "950", NONE, "sla", "950", SCHED, false},
    {"gt: below zero", "sla", TOL_GT, "-5", NONE, "sla", "-4", SCHED, true},
    {"gt: zero", "sla", TOL_GT, "-1", NONE, "sla", "0", SCHED, true},
    {"gt: not a number", "sla", TOL_GT, "1", NONE, "sla", "high", SCHED, false},
    {"gt: bound not a number", "sla", TOL_GT, "low", NONE, "sla", "5", SCHED, false},
    {"gt: no value", "sla", TOL_GT, "", NONE, "sla", "5", SCHED, false},
    {"gt: leading zero", "sla", TOL_GT, "1", NONE, "sla", "05", SCHED, false},
    {"gt: plus sign", "sla", TOL_GT, "+1", NONE, "sla", "5", SCHED, false},
    {"gt: minus zero", "sla", TOL_GT, "-0", NONE, "sla", "5", SCHED, false},
    {"gt: a sign alone", "sla", TOL_GT, "-", NONE, "sla", "5", SCHED, false},
    {"gt: past 64 bits", "sla", TOL_GT, "1", NONE, "sla", "9223372036854775808", SCHED, false},
    {"gt: the largest", "sla", TOL_GT, "1", NONE, "sla", "9223372036854775807", SCHED, true},
    {"gt: another key", "sla", TOL_GT, "1", NONE, "slo", "5", SCHED, false},
    {"an unknown operator", "team", TOL_UNKNOWN, "blue", NONE, "team", "blue", SCHED, false},
};

static void tolerating(void **state)
{
    struct syms *t = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct toleration o = {sym_of(t, str_c(cases[i].tol_key)), sym_of(t, str_c(cases[i].tol_value)),
                               (enum taint_effect)cases[i].tol_effect, cases[i].op};
        struct taint taint = {sym_of(t, str_c(cases[i].key)), sym_of(t, str_c(cases[i].value)),
                              (enum taint_effect)cases[i].effect};

        check_true(cases[i].name, toleration_tolerates(&o, &taint, t) == cases[i].want);
    }
}

static void the_first_untolerated(void **state)
{
    struct syms *t = *state;
    sym a = sym_of(t, STR("a")), b = sym_of(t, STR("b")), c = sym_of(t, STR("c"));
    struct taint v[] = {{a, {0}, EFFECT_NO_SCHEDULE}, {b, {0}, EFFECT_PREFER_NO_SCHEDULE}, {c, {0}, EFFECT_NO_EXECUTE}};
    struct toleration o[] = {
        {c, {0}, EFFECT_NONE, TOL_EXISTS}, {a, {0}, EFFECT_NONE, TOL_EXISTS}, {b, {0}, EFFECT_NONE, TOL_EXISTS}};
    struct taints taints = {v, 3}, none = {NULL, 0};

    check_true("no taints", !taints_untolerated(&none, &(struct tolerations){NULL, 0}, t));
    check_true("no tolerations", taints_untolerated(&taints, &(struct tolerations){NULL, 0}, t) == &v[0]);
    check_true("one", taints_untolerated(&taints, &(struct tolerations){o, 1}, t) == &v[0]);
    check_true("two: PreferNoSchedule counts", taints_untolerated(&taints, &(struct tolerations){o, 2}, t) == &v[1]);
    check_true("all", !taints_untolerated(&taints, &(struct tolerations){o, 3}, t));
}

static void matching(void **state)
{
    struct syms *t = *state;
    sym a = sym_of(t, STR("a")), b = sym_of(t, STR("b"));
    struct taint x = {a, a, EFFECT_NO_SCHEDULE}, value = {a, b, EFFECT_NO_SCHEDULE};
    struct taint effect = {a, a, EFFECT_NO_EXECUTE}, key = {b, a, EFFECT_NO_SCHEDULE};

    check_true("the value does not count", taint_matches(&x, &value));
    check_true("the effect does", !taint_matches(&x, &effect));
    check_true("the key does", !taint_matches(&x, &key));
}

static void ephemeral(void **state)
{
    static const struct {
        const char *key;
        enum taint_effect effect;
        bool want;
    } known[] = {
        {"node.kubernetes.io/not-ready", EFFECT_NO_SCHEDULE, true},
        {"node.kubernetes.io/not-ready", EFFECT_NO_EXECUTE, true},
        {"node.kubernetes.io/not-ready", EFFECT_PREFER_NO_SCHEDULE, false},
        {"node.kubernetes.io/unreachable", EFFECT_NO_SCHEDULE, true},
        {"node.kubernetes.io/unreachable", EFFECT_NO_EXECUTE, false},
        {"node.cloudprovider.kubernetes.io/uninitialized", EFFECT_NO_SCHEDULE, true},
        {"node.cloudprovider.kubernetes.io/uninitialized", EFFECT_NO_EXECUTE, false},
        {"karpenter.sh/unregistered", EFFECT_NO_EXECUTE, true},
        {"karpenter.sh/unregistered", EFFECT_NO_SCHEDULE, false},
        {"karpenter.sh/disrupted", EFFECT_NO_SCHEDULE, false},
        {"readiness.k8s.io/network", EFFECT_NO_SCHEDULE, true},
        {"readiness.k8s.io/network", EFFECT_PREFER_NO_SCHEDULE, true},
        {"readiness.k8s.io/", EFFECT_NO_EXECUTE, true},
        {"readiness.k8s.io", EFFECT_NO_SCHEDULE, false},
        {"node.kubernetes.io/unschedulable", EFFECT_NO_SCHEDULE, false},
        {"team", EFFECT_NO_SCHEDULE, false},
    };
    struct syms *t = *state;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct taint taint = {sym_of(t, str_c(known[i].key)), SYM(TRUE), known[i].effect};

        check_true(known[i].key, taint_is_ephemeral(&taint, t) == known[i].want);
    }
}

/* Small enough to live here: what a node's volumes are counted under. */
static void csi_drivers(void **state UNUSED)
{
    static const struct {
        const char *provisioner, *want;
    } drivers[] = {
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
        {"kubernetes.io/azure-file", "file.csi.azure.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
        {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
        {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
        {"ebs.csi.aws.com", "ebs.csi.aws.com"},
        {"kubernetes.io/no-provisioner", "kubernetes.io/no-provisioner"},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
        check_str(drivers[i].provisioner, csi_driver_of_provisioner(str_c(drivers[i].provisioner)), drivers[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effects_have_names),
        cmocka_unit_test_setup_teardown(tolerating, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_untolerated, setup, teardown),
        cmocka_unit_test_setup_teardown(matching, setup, teardown),
        cmocka_unit_test_setup_teardown(ephemeral, setup, teardown),
        cmocka_unit_test(csi_drivers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
