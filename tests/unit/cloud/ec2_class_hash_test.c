/* The annotation karpenter.k8s.aws/ec2nodeclass-hash: values that are published, and what changes them (aws 11.1, H1 to H8). The records under
 * tests/vectors/aws/hash have more. */
#include "cloud/ec2/class.h"

#include "data/edit.h"
#include "support/check.h"
#include "support/fixture.h"
#include "support/trees.h"

#define BASE                                                                                                           \
    "{role: role-1, tags: {keyTag-1: valueTag-1, keyTag-2: valueTag-2}, context: fake-context, detailedMonitoring: "   \
    "false, associatePublicIPAddress: false, metadataOptions: {httpEndpoint: disabled, httpProtocolIPv6: disabled, "   \
    "httpPutResponseHopLimit: 1, httpTokens: optional}, blockDeviceMappings: [{deviceName: map-device-1, ebs: "        \
    "{deleteOnTermination: false, encrypted: false, iops: 0, kmsKeyID: fakeKMSKeyID, snapshotID: fakeSnapshot, "       \
    "throughput: 0, volumeSize: 2G, volumeType: standard}}, {deviceName: map-device-2}], userData: userdata-test-1}"

/* The base object with one value put in its place; a value of null takes it away. */
static const struct {
    const char *name;
    const char *path[4]; /* below spec; a number is a place in a list */
    const char *value;   /* YAML; NULL: as it is */
    uint64_t want;
} rows[] = {
    {"the base", {0}, NULL, 11148166120438674859u},
    {"userData", {"userData"}, "userdata-test-2", 11774429238106843388u},
    {"a tag more", {"tags", "keyTag-test-3"}, "valueTag-test-3", 9327338697296909506u},
    {"context", {"context"}, "context-2", 2279761750428738028u},
    {"detailedMonitoring", {"detailedMonitoring"}, "true", 1936848126751988570u},
    {"instanceStorePolicy", {"instanceStorePolicy"}, "RAID0", 16697988646989909967u},
    {"associatePublicIPAddress", {"associatePublicIPAddress"}, "true", 16141801171825097963u},
    {"httpEndpoint", {"metadataOptions", "httpEndpoint"}, "enabled", 14969742554812447671u},
    {"httpProtocolIPv6", {"metadataOptions", "httpProtocolIPv6"}, "enabled", 1581716956216772561u},
    {"hop limit", {"metadataOptions", "httpPutResponseHopLimit"}, "10", 14046948658064232764u},
    {"httpTokens", {"metadataOptions", "httpTokens"}, "required", 1346719102507290084u},
    {"deviceName", {"blockDeviceMappings", "0", "deviceName"}, "map-device-test-3", 8979166653850509463u},
    {"rootVolume", {"blockDeviceMappings", "0", "rootVolume"}, "true", 8875796205856543692u},
    {"deleteOnTermination", {"blockDeviceMappings", "0", "ebs", "deleteOnTermination"}, "true", 1470935115846151531u},
    {"encrypted", {"blockDeviceMappings", "0", "ebs", "encrypted"}, "true", 5252376125396833097u},
    {"iops", {"blockDeviceMappings", "0", "ebs", "iops"}, "10", 11651419893470054855u},
    {"kmsKeyID", {"blockDeviceMappings", "0", "ebs", "kmsKeyID"}, "test", 1488385067008138755u},
    {"snapshotID", {"blockDeviceMappings", "0", "ebs", "snapshotID"}, "test", 12786013539168652330u},
    {"throughput", {"blockDeviceMappings", "0", "ebs", "throughput"}, "10", 1873429003468556999u},
    {"volumeType", {"blockDeviceMappings", "0", "ebs", "volumeType"}, "io1", 6743466905516550702u},
    {"volumeSize", {"blockDeviceMappings", "0", "ebs", "volumeSize"}, "10G", 10372902467896351912u},
    {"tcpEstablishedTimeout", {"connectionTracking", "tcpEstablishedTimeout"}, "300", 1619669030802245540u},
    {"udpStreamTimeout", {"connectionTracking", "udpStreamTimeout"}, "120", 13743705849402595405u},
    {"udpTimeout", {"connectionTracking", "udpTimeout"}, "45", 17941926745862994490u},
    {"nestedVirtualization", {"cpuOptions", "nestedVirtualization"}, "enabled", 6157846767212910604u},
};

static uint64_t hash_of(struct fixture *f, const struct tree *spec)
{
    struct tree *object = tree_yaml(f->a, "{metadata: {name: default}}");
    struct err e = {0};

    tree_set(f->a, object, "spec", *spec);
    struct ec2_class *k = ec2_class_decode(f->a, f->t, object, STR(""), &e);
    check_ok("decode", k != NULL, &e);
    return ec2_class_hash(k, STR("test-ca-bundle"));
}

static uint64_t hash_text(struct fixture *f, const char *spec)
{
    return hash_of(f, tree_yaml(f->a, spec));
}

/* The base object with `value` at `path`. */
static struct tree *changed(struct fixture *f, const char *const *path, size_t n, const char *value)
{
    struct tree *spec = tree_yaml(f->a, BASE), *t = spec;

    for (size_t i = 0; i < n && path[i]; i++) {
        t = t->kind == TREE_LIST ? &t->items[path[i][0] - '0'] : tree_put(f->a, t, str_c(path[i]));
        if (t->kind == TREE_NULL && i + 1 < n && path[i + 1])
            t->kind = TREE_MAP;
    }
    if (value)
        *t = *tree_get(tree_yaml(f->a, arena_printf(f->a, "{v: %s}%c", value, 0).p), "v");
    return spec;
}

static void h1_published_values(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_u64(rows[i].name, hash_of(*state, changed(*state, rows[i].path, ARRAY_LEN(rows[i].path), rows[i].value)),
                  rows[i].want);
}

static void h2_selectors_do_not_count(void **state)
{
    struct fixture *f = *state;
    struct tree *spec = tree_yaml(f->a, BASE),
                *more = tree_yaml(f->a, "{subnetSelectorTerms: [{id: subnet-1}], "
                                        "securityGroupSelectorTerms: [{id: sg-1}], "
                                        "amiSelectorTerms: [{id: ami-1}], ipPrefixCount: 4, "
                                        "capacityReservationSelectorTerms: [{id: cr-1}]}");

    for (uint32_t i = 0; i < more->n; i++)
        *tree_put(f->a, spec, more->keys[i]) = more->items[i];
    check_u64("as the base", hash_of(f, spec), rows[0].want);
}

static void h3_profile_for_role(void **state)
{
    struct fixture *f = *state;
    struct tree *spec = tree_yaml(f->a, BASE);

    (void)tree_drop(spec, STR("role"));
    tree_set_str(f->a, spec, "instanceProfile", STR("test-instance-profile"));
    check_u64("instanceProfile", hash_of(f, spec), 10323991363677716244u);
}

static void h4_order_does_not_count(void **state)
{
    struct fixture *f = *state;
    struct tree *spec = tree_yaml(f->a, BASE), *list = tree_find(spec, STR("blockDeviceMappings"));
    struct tree first = list->items[0];

    list->items[0] = list->items[1];
    list->items[1] = first;
    *tree_find(spec, STR("tags")) = *tree_yaml(f->a, "{keyTag-2: valueTag-2, keyTag-1: valueTag-1}");
    check_u64("as the base", hash_of(f, spec), rows[0].want);
}

static void h5_h6_every_static_field_counts(void **state)
{
    static const struct {
        const char *path[4], *value;
    } fields[] = {
        {{"networkInterfaces"}, "[{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}]"},
        {{"networkInterfaces"}, "[]"},
        {{"placementGroupSelector"}, "{name: a}"},
        {{"placementGroupSelector"}, "{id: pg-a}"},
        {{"blockDeviceMappings", "0", "ebs", "volumeInitializationRate"}, "100"},
        {{"amiFamily"}, "AL2023"},
        {{"role"}, "role-2"},
        {{"userData"}, "''"},
        {{"tags"}, "{}"},
        {{"kubelet"}, "{maxPods: 10}"},
        {{"cpuOptions"}, "{}"},
    };
    uint64_t seen[ARRAY_LEN(fields) + ARRAY_LEN(rows)];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        seen[n++] = rows[i].want;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        uint64_t h = hash_of(*state, changed(*state, fields[i].path, ARRAY_LEN(fields[i].path), fields[i].value));

        for (size_t k = 0; k < n; k++)
            check_true(fields[i].path[0], h != seen[k]);
        seen[n++] = h;
    }
}

static void h7_equal_specs(void **state)
{
    check_u64("equal", hash_text(*state, "{role: a, tags: {x: w}, metadataOptions: {httpTokens: required}}"),
              hash_text(*state, "{tags: {x: w}, role: a}"));
    check_u64("sizes", hash_text(*state, "{blockDeviceMappings: [{ebs: {volumeSize: 1024Mi}}]}"),
              hash_text(*state, "{blockDeviceMappings: [{ebs: {volumeSize: 1Gi}}]}"));
}

static void h8_kubelet(void **state)
{
    uint64_t none = hash_text(*state, "{role: a}");

    check_true("it counts", hash_text(*state, "{role: a, kubelet: {maxPods: 10}}") != none);
    check_u64("unless it is empty", hash_text(*state, "{role: a, kubelet: {}}"), none);
    check_u64("a fraction is what it is worth", hash_text(*state, "{kubelet: {memoryThrottlingFactor: 0.90}}"),
              hash_text(*state, "{kubelet: {memoryThrottlingFactor: 0.9}}"));
    check_u64("and a whole number too", hash_text(*state, "{kubelet: {podPidsLimit: 1e3}}"),
              hash_text(*state, "{kubelet: {podPidsLimit: 1000}}"));
    check_true("the same bytes in another order", hash_text(*state, "{kubelet: {maxPods: 12, podsPerCore: 21}}") !=
                                                      hash_text(*state, "{kubelet: {maxPods: 21, podsPerCore: 12}}"));
    check_u64("the order of keys does not count",
              hash_text(*state, "{kubelet: {maxPods: 12, logging: {format: json, verbosity: 2}}}"),
              hash_text(*state, "{kubelet: {logging: {verbosity: 2, format: json}, maxPods: 12}}"));
}

static void the_bundle_counts(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct ec2_class *k = ec2_class_decode(f->a, f->t, tree_yaml(f->a, "{metadata: {name: x}, spec: {}}"), STR(""), &e);

    check_true("v6", ec2_class_hash(k, STR("a")) != ec2_class_hash(k, STR("b")));
    check_true("v5", ec2_class_hash_v5(k, STR("a")) != ec2_class_hash_v5(k, STR("")));
    check_true("they differ", ec2_class_hash_v5(k, STR("a")) != ec2_class_hash(k, STR("a")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(h1_published_values, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h2_selectors_do_not_count, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h3_profile_for_role, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h4_order_does_not_count, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h5_h6_every_static_field_counts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h7_equal_specs, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(h8_kubelet, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_bundle_counts, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
