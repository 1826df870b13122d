/* Who owns what after a write. What is due was asked of a real server. */
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"
#include "support/check.h"
#include "support/owners.h"
#include "support/thing.h"
#include "support/trees.h"

struct write {
    const char *who; /* "kubelet/status" */
    const char *obj; /* the object if it is the first write, and a strategic merge patch otherwise */
    const char *owners;
};

static void run(const struct schema *s, const char *version, const struct write *writes, size_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *old = NULL;

    for (size_t i = 0; i < n; i++) {
        struct apply_options o = {.api_version = str_c(version), .has_status = true, .now_ms = (int64_t)i * 1000};
        struct tree *obj = old ? tree_copy(a, old) : tree_yaml(a, writes[i].obj);
        struct status st;

        str_cut(str_c(writes[i].who), '/', &o.manager, &o.subresource);
        if (old)
            check_true(writes[i].obj, patch_strategic(a, s, obj, tree_yaml(a, writes[i].obj), &st));
        managed_after_update(a, s, old, obj, &o);
        check_str(writes[i].who, owners_text(a, obj), writes[i].owners);
        old = obj;
    }
}

#define C ".spec.template.spec.containers[name=\"c\"]"
#define DEPLOYMENT                                                                                                     \
    " .spec.revisionHistoryLimit .spec.selector .spec.strategy.rollingUpdate .spec.strategy.type"                      \
    " .spec.strategy.rollingUpdate.maxSurge .spec.strategy.rollingUpdate.maxUnavailable"                               \
    " .spec.template.metadata.labels .spec.template.metadata.labels.a .spec.template.spec.dnsPolicy"                   \
    " .spec.template.spec.restartPolicy .spec.template.spec.securityContext " C " " C ".image " C ".name " C           \
    ".ports " C ".resources " C ".ports[containerPort=80,protocol=\"TCP\"] " C                                         \
    ".ports[containerPort=80,protocol=\"TCP\"].containerPort " C                                                       \
    ".ports[containerPort=80,protocol=\"TCP\"].protocol " C ".resources.requests " C ".resources.requests.cpu"
#define AVAILABLE ".status.conditions[type=\"Available\"]"
#define STATUS ".status.conditions .status.replicas " AVAILABLE " " AVAILABLE ".status " AVAILABLE ".type"

static const struct write deployment_writes[] = {
    {"A",
     "{kind: Deployment, apiVersion: apps/v1, metadata: {name: dd, namespace: default, labels: {a: b}, uid: u,"
     " resourceVersion: '1', creationTimestamp: '2020-01-01T00:00:00Z', generation: 1},"
     " spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers:"
     " [{name: c, image: 'i:1', ports: [{containerPort: 80, protocol: TCP}], resources: {requests: {cpu: '1'}}}],"
     " restartPolicy: Always, dnsPolicy: ClusterFirst, securityContext: {}}},"
     " strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: '25%', maxSurge: '25%'}},"
     " revisionHistoryLimit: 10}, status: {}}",
     "A*: .metadata.labels .metadata.labels.a .spec.replicas" DEPLOYMENT},
    {"hpa", "{spec: {replicas: 3}}", "A*: .metadata.labels .metadata.labels.a" DEPLOYMENT "; hpa*: .spec.replicas"},
    {"kcm/status", "{status: {replicas: 1, conditions: [{type: Available, status: 'True'}]}}",
     "A*: .metadata.labels .metadata.labels.a" DEPLOYMENT "; hpa*: .spec.replicas; kcm*/status: " STATUS},
    {"kcm", "{metadata: {annotations: {r: '1'}}}",
     "A*: .metadata.labels .metadata.labels.a" DEPLOYMENT "; hpa*: .spec.replicas; kcm*/status: " STATUS
     "; kcm*: .metadata.annotations .metadata.annotations.r"},
    {"kcm/status", "{status: {replicas: 2}}",
     "A*: .metadata.labels .metadata.labels.a" DEPLOYMENT "; hpa*: .spec.replicas"
     "; kcm*: .metadata.annotations .metadata.annotations.r; kcm*/status: " STATUS},
};

static void deployments(void **state)
{
    (void)state;
    run(schema_builtin(STR("apps"), STR("v1"), STR("Deployment")), "apps/v1", deployment_writes,
        ARRAY_LEN(deployment_writes));
}

#define READY ".status.conditions[type=\"Ready\"]"
#define KUBELET                                                                                                        \
    "kubelet*/status: .status.capacity .status.conditions .status.capacity.cpu " READY " " READY                       \
    ".lastHeartbeatTime " READY ".status " READY ".type .status.nodeInfo.kubeletVersion"

static const struct write node_writes[] = {
    {"A",
     "{kind: Node, apiVersion: v1, metadata: {name: node1, finalizers: [x/v]}, spec: {taints: [{key: a, effect: "
     "NoSchedule}]}, status: {daemonEndpoints: {kubeletEndpoint: {Port: 0}}, nodeInfo: {machineID: '', bootID: ''}}}",
     "A*: .metadata.finalizers .metadata.finalizers[=\"x/v\"] .spec.taints"},
    {"kubelet/status",
     "{status: {capacity: {cpu: '1'}, conditions: [{type: Ready, status: 'True',"
     " lastHeartbeatTime: '2020-01-01T00:00:00Z'}], nodeInfo: {kubeletVersion: v1}}}",
     "A*: .metadata.finalizers .metadata.finalizers[=\"x/v\"] .spec.taints; " KUBELET},
    {"kubelet/status", "{status: {conditions: [{type: Ready, lastHeartbeatTime: '2020-01-01T00:00:10Z'}]}}",
     "A*: .metadata.finalizers .metadata.finalizers[=\"x/v\"] .spec.taints; " KUBELET},
    {"ncm", "{spec: {taints: null}}", "A*: .metadata.finalizers .metadata.finalizers[=\"x/v\"]; " KUBELET},
    {"A", "{metadata: {$deleteFromPrimitiveList/finalizers: [x/v]}}", "A*: .metadata.finalizers; " KUBELET},
};

static void nodes(void **state)
{
    (void)state;
    run(schema_builtin(STR(""), STR("v1"), STR("Node")), "v1", node_writes, ARRAY_LEN(node_writes));
}

#define PORT(n) ".spec.ports[port=" n ",protocol=\"TCP\"]"

static const struct write service_writes[] = {
    {"A",
     "{kind: Service, apiVersion: v1, metadata: {name: svc}, spec: {ports: [{name: s, protocol: TCP, port: 443,"
     " targetPort: 443}, {name: h, protocol: TCP, port: 80, targetPort: 80}], selector: {a: b}, type: ClusterIP},"
     " status: {loadBalancer: {}}}",
     "A*: .spec.ports .spec.selector .spec.type " PORT("80") " " PORT("443") " " PORT("80") ".name " PORT("80") ".port " PORT("80") ".protocol " PORT(
         "80") ".targetPort " PORT("443") ".name " PORT("443") ".port " PORT("443") ".protocol " PORT("443") ".targetPort"},
    {"U", "{spec: {ports: [{port: 80, targetPort: web}]}}",
     "A*: .spec.ports .spec.selector .spec.type " PORT("80") " " PORT("443") " " PORT("80") ".name " PORT("80") ".port " PORT("80") ".protocol " PORT(
         "443") ".name " PORT("443") ".port " PORT("443") ".protocol " PORT("443") ".targetPort; U*: " PORT("80") ".targetPort"},
};

static void services(void **state)
{
    (void)state;
    run(schema_builtin(STR(""), STR("v1"), STR("Service")), "v1", service_writes, ARRAY_LEN(service_writes));
}

/* Zeros that a struct has without being told are nobody's. */
static const struct write class_writes[] = {
    {"A", "{metadata: {name: p}, value: 0, description: x}", "A*: .description"},
    {"B", "{value: 5}", "A*: .description; B*: .value"},
    {"A", "{value: 0}", "A*: .description .value"},
};

static void zeros(void **state)
{
    (void)state;
    run(schema_builtin(STR("scheduling.k8s.io"), STR("v1"), STR("PriorityClass")), "scheduling.k8s.io/v1", class_writes,
        ARRAY_LEN(class_writes));
}

/* ---- what clients send as entries ---- */

#define ENTRY(who, fields)                                                                                             \
    "{manager: " who ", operation: Update, apiVersion: t.io/v1, time: '2020-01-01T00:00:00Z', fieldsType: FieldsV1,"   \
    " fieldsV1: " fields "}"

static struct tree *thing(struct arena *a, const char *entries, const char *spec)
{
    struct tree *t = tree_yaml(a, "{apiVersion: t.io/v1, kind: Thing, metadata: {name: t}}");

    if (entries)
        tree_set(a, tree_find(t, STR("metadata")), "managedFields", *tree_yaml(a, entries));
    tree_set(a, t, "spec", *tree_yaml(a, spec));
    return t;
}

static const struct {
    const char *name, *old, *obj, *owners;
} entries[] = {
    {"none are sent", "[" ENTRY("A", "{'f:spec': {'f:num': {}, 'f:s': {}}}") "]", NULL, "A*: .spec.s; U*: .spec.num"},
    {"an empty list is sent", "[" ENTRY("A", "{'f:spec': {'f:num': {}, 'f:s': {}}}") "]", "[]",
     "A*: .spec.s; U*: .spec.num"},
    {"other entries are sent", "[" ENTRY("A", "{'f:spec': {'f:s': {}}}") "]",
     "[" ENTRY("B", "{'f:spec': {'f:num': {}, 'f:list': {}}}") "]", "B*: .spec.list; U*: .spec.num"},
    {"bad entries are sent", "[" ENTRY("A", "{'f:spec': {'f:s': {}}}") "]", "[" ENTRY("B", "{'x:spec': {}}") "]",
     "A*: .spec.s; U*: .spec.num"},
    {"bad sets are sent", "[" ENTRY("A", "{'f:spec': {'f:s': {}}}") "]", "[" ENTRY("B", "{'f:spec': 5}") "]",
     "A*: .spec.s; U*: .spec.num"},
    {"all are to be forgotten", "[" ENTRY("A", "{'f:spec': {'f:s': {}}}") "]", "[{}]", ""},
    {"there were none", NULL, NULL, ""},
    {"not in order", "[" ENTRY("A", "{'f:spec': {'f:s': {}, 'f:num': {}, 'f:b': {}, .: {}}}") "]", NULL,
     "A*: .spec .spec.b .spec.s; U*: .spec.num"},
};

static void entries_of_clients(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *old = thing(a, entries[i].old, "{num: 1}"), *obj = thing(a, entries[i].obj, "{num: 2}");
        struct apply_options o = {.manager = STR("U"), .api_version = STR("t.io/v1"), .now_ms = 1700000000000};

        managed_after_update(a, &thing_schema, old, obj, &o);
        check_str(entries[i].name, owners_text(a, obj), entries[i].owners);
    }
}

static void entries_have_a_form(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *obj = thing(a, NULL, "{num: 2, items: [{name: a<b}]}");
    struct apply_options o = {.manager = STR("U"), .api_version = STR("t.io/v1"), .subresource = STR("scale")};

    (void)state;
    o.now_ms = 1700000000123;
    managed_after_update(a, &thing_schema, NULL, obj, &o);
    check_str(
        "as JSON", tree_text(a, tree_at(obj, "metadata", "managedFields", NULL)),
        "[{\"manager\":\"U\",\"operation\":\"Update\",\"apiVersion\":\"t.io/v1\",\"time\":\"2023-11-14T22:13:20Z\","
        "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{\".\":{},\"f:items\":{\".\":{},"
        "\"k:{\\\"name\\\":\\\"a<b\\\"}\":{\".\":{},\"f:name\":{}}},\"f:num\":{}}},\"subresource\":\"scale\"}]");
}

static void a_write_without_change(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *old = thing(a, "[" ENTRY("A", "{'f:spec': {'f:num': {}}}") "]", "{num: 1, set: [a, b]}");
    struct tree *obj = thing(a, NULL, "{set: [b, a], num: 1}");
    struct apply_options o = {.manager = STR("A"), .api_version = STR("t.io/v1"), .now_ms = 1700000000000};

    (void)state;
    managed_after_update(a, &thing_schema, old, obj, &o);
    check_true("entries stay, with their times", tree_equal(tree_at(old, "metadata", "managedFields", NULL),
                                                            tree_at(obj, "metadata", "managedFields", NULL)));
}

/* The eleventh update makes one of the two oldest. */
static void old_updates_become_one(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *old = NULL, *obj = NULL;

    (void)state;
    for (int i = 0; i < 12; i++) {
        struct apply_options o = {
            .manager = arena_printf(a, "m%02d", i), .api_version = STR("t.io/v1"), .now_ms = i * 1000};

        obj = old ? tree_copy(a, old) : thing(a, NULL, "{map: {}}");
        *tree_put(a, tree_path(a, obj, "spec", "map", NULL), arena_printf(a, "k%02d", i)) = tree_of_str(STR("v"));
        managed_after_update(a, &thing_schema, old, obj, &o);
        old = obj;
    }
    check_u64("ten", tree_at(obj, "metadata", "managedFields", NULL)->n, 10);
    check_str("in order", owners_text(a, obj),
              "ancient-changes*: .spec .spec.map .spec.map.k00 .spec.map.k01 .spec.map.k02; m03*: .spec.map.k03;"
              " m04*: .spec.map.k04; m05*: .spec.map.k05; m06*: .spec.map.k06; m07*: .spec.map.k07;"
              " m08*: .spec.map.k08; m09*: .spec.map.k09; m10*: .spec.map.k10; m11*: .spec.map.k11");
}

static void items_twice_and_depths(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct apply_options o = {.manager = STR("U"), .api_version = STR("t.io/v1")};
    struct tree *old =
        thing(a, "[" ENTRY("A", "{'f:spec': {'f:s': {}}}") "]", "{set: [a], items: [{name: x}, {name: x}]}");
    struct tree *obj = thing(a, NULL, "{set: [a, a], items: [{name: x}]}");
    struct sb deep = {0};

    (void)state;
    managed_after_update(a, &thing_schema, old, obj, &o);
    check_str("twice", owners_text(a, obj), "U*: .spec.items[name=\"x\"] .spec.set[=\"a\"]; A*: .spec.s");

    sb_c(&deep, "{free: ");
    for (int i = 0; i < 90; i++)
        sb_c(&deep, "{a: ");
    sb_c(&deep, "1");
    sb_fill(&deep, '}', 91);
    obj = thing(a, NULL, sb_cstr(&deep));
    managed_after_update(a, &thing_schema, NULL, obj, &o);
    const struct tree *t = tree_get(&tree_at(obj, "metadata", "managedFields", NULL)->items[0], "fieldsV1");
    int levels = 0;
    for (; t->n; t = &t->items[t->n - 1])
        levels++;
    check_true("what is very deep is one value", levels > 50 && levels < 70);
    sb_fini(&deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deployments),
        cmocka_unit_test(nodes),
        cmocka_unit_test(services),
        cmocka_unit_test(zeros),
        cmocka_unit_test(entries_of_clients),
        cmocka_unit_test(entries_have_a_form),
        cmocka_unit_test(a_write_without_change),
        cmocka_unit_test(old_updates_become_one),
        cmocka_unit_test(items_twice_and_depths),
    };

    return cmocka_run_group_tests_name("sim/kube/managed", tests, NULL, NULL);
}
