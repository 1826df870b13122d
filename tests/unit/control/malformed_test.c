/* Objects that no API server with our definitions would send: some member is of another kind than it should be. All controllers look at each of them. An object that cannot be read is left out and
 * told of; nobody stumbles over what is kept of it. */
#include "control/disruption.h"
#include "control/feed.h"
#include "control/provision.h"
#include "data/edit.h"
#include "k8s/settings.h"
#include "support/check.h"
#include "support/node_lab.h"
#include "support/trees.h"

#define COND(type, status)                                                                                             \
    "{type: " type ", status: '" status "', reason: r, message: '', lastTransitionTime: '2023-11-14T22:00:00Z', "      \
    "observedGeneration: 1}"
#define CLAIM_CONDS                                                                                                    \
    "[" COND("Launched", "True") ", " COND("Registered", "True") ", " COND("Initialized", "True") ", " COND(           \
        "Consolidatable", "True") ", " COND("Drifted", "True") ", " COND("Ready", "True") "]"
#define NEW_CONDS "[" COND("Launched", "True") ", " COND("Registered", "Unknown") ", " COND("Ready", "Unknown") "]"
#define POOL_CONDS                                                                                                     \
    "[" COND("ValidationSucceeded", "True") ", " COND("NodeClassReady", "True") ", " COND("Ready", "True") "]"
#define NODE_CONDS "[" COND("Ready", "True") ", " COND("MemoryPressure", "False") "]"
#define CLASS_REF "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"
#define LABELS                                                                                                          \
    "labels: {karpenter.sh/nodepool: '1', karpenter.kwok.sh/kwoknodeclass: default, karpenter.sh/capacity-type: spot, " \
    "karpenter.sh/initialized: 'true', karpenter.sh/registered: 'true', topology.kubernetes.io/zone: a, "               \
    "node.kubernetes.io/instance-type: c-4x-amd64-linux}"
#define META(name, more)                                                                                               \
    "metadata: {name: '" name "', uid: 00000000-0000-0000-0000-00000000000" name                                       \
    ", generation: 1, creationTimestamp: '2023-11-14T22:00:00Z', annotations: {karpenter.sh/nodepool-hash: '1', "      \
    "karpenter.sh/nodepool-hash-version: v3, karpenter.sh/nodeclaim-termination-timestamp: "                           \
    "'2023-11-14T23:00:00Z', karpenter.sh/do-not-disrupt: 1h}, finalizers: [karpenter.sh/termination], "               \
    "ownerReferences: [{apiVersion: v1, kind: ReplicaSet, name: r, uid: u}]" more "}"
#define GOING ", deletionTimestamp: '2023-11-14T22:10:00Z'"

static const struct {
    const char *name;
    enum object_kind kind;
    const char *yaml;
} objects[] = {
    {"pool", OBJ_NODEPOOL,
     "{apiVersion: karpenter.sh/v1, kind: NodePool, " META(
         "1",
         "") ", spec: {weight: 1, limits: {cpu: 10}, disruption: "
             "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 10s, budgets: [{nodes: 10%, schedule: '@daily', "
             "duration: 1h, reasons: [Empty]}]}, template: {metadata: {labels: {a: b}, annotations: {c: d}}, spec: {expireAfter: "
             "720h, terminationGracePeriod: 1h, taints: [{key: a, value: b, effect: NoSchedule}], startupTaints: [{key: s, effect: "
             "NoExecute}], " CLASS_REF
             ", requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64], minValues: 1}]}}}, "
             "status: {nodes: 1, resources: {cpu: 1}, nodeClassObservedGeneration: 1, conditions: " POOL_CONDS "}}"},
    {"static pool", OBJ_NODEPOOL,
     "{apiVersion: karpenter.sh/v1, kind: NodePool, " META(
         "2", "") ", spec: {replicas: 0, limits: {nodes: 0}, template: "
                  "{spec: {" CLASS_REF ", requirements: []}}}, status: {conditions: " POOL_CONDS "}}"},
    {"claim", OBJ_NODECLAIM,
     "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META(
         "3",
         ", " LABELS) ", spec: {expireAfter: 1h, "
                      "terminationGracePeriod: 1h, taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: s, effect: NoExecute}], "
                      "resources: {requests: {cpu: 1}}, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}], " CLASS_REF
                      "}, status: {providerID: 'kwok://m', nodeName: '5', imageID: i, capacity: {cpu: 4}, allocatable: {cpu: 4}, "
                      "lastPodEventTime: '2023-11-14T22:00:00Z', conditions: " CLAIM_CONDS "}}"},
    {"claim that goes", OBJ_NODECLAIM,
     "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META(
         "4", ", " LABELS GOING) ", spec: {terminationGracePeriod: 1h, "
                                 "requirements: [], " CLASS_REF
                                 "}, status: {providerID: 'kwok://g', nodeName: '6', conditions: " NEW_CONDS "}}"},
    {"node", OBJ_NODE,
     "{apiVersion: v1, kind: Node, " META(
         "5",
         ", " LABELS) ", spec: {providerID: 'kwok://m', taints: [{key: "
                      "karpenter.sh/disrupted, effect: NoSchedule}, {key: karpenter.sh/unregistered, effect: NoExecute}]}, status: {capacity: "
                      "{cpu: 4}, allocatable: {cpu: 4}, conditions: " NODE_CONDS "}}"},
    {"node that goes", OBJ_NODE,
     "{apiVersion: v1, kind: Node, " META(
         "6",
         ", " LABELS
             GOING) ", spec: {providerID: 'kwok://g', taints: [{key: "
                    "karpenter.sh/disrupted, effect: NoExecute}]}, status: {capacity: {cpu: 4}, allocatable: {cpu: 4}, conditions: " NODE_CONDS
                    "}}"},
    {"pod", OBJ_POD,
     "{apiVersion: v1, kind: Pod, " META(
         "7",
         ", namespace: default") ", spec: {nodeName: '6', priorityClassName: c, priority: 1, "
                                 "terminationGracePeriodSeconds: 30, tolerations: [{key: a, operator: Exists, effect: NoSchedule}], containers: [{name: "
                                 "c, image: i, resources: {requests: {cpu: 1}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]}, status: "
                                 "{phase: Running, startTime: '2023-11-14T22:00:00Z', conditions: [{type: PodScheduled, status: 'False', reason: "
                                 "Unschedulable, lastTransitionTime: '2023-11-14T22:00:00Z'}]}}"},
    {"pod that waits", OBJ_POD,
     "{apiVersion: v1, kind: Pod, " META(
         "8",
         ", namespace: default") ", spec: {nodeSelector: {a: b}, containers: [{name: c, image: "
                                 "i, resources: {requests: {cpu: 1}}}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', "
                                 "reason: Unschedulable, lastTransitionTime: '2023-11-14T22:00:00Z'}]}}"},
};

static const char *const wrong[] = {"null", "true", "-1.5e300", "''", "x", "[]", "[null]", "{}", "{a: null}", NULL};

#define HUGE 70000u

struct trial {
    struct node_lab *x;
    struct arena *a; /* of what is wrong */
    enum object_kind kind;
    struct tree *obj;
    uint64_t version, n;
};

static void put(struct trial *t)
{
    struct tree *meta = tree_find(t->obj, STR("metadata"));

    if (meta && meta->kind == TREE_MAP)
        tree_set_str(t->a, meta, "resourceVersion", arena_printf(t->a, "%llu", (unsigned long long)++t->version));
    feed_put(t->x->l->c.feed, t->kind, t->obj);
    t->n++;
    far_run(t->x->f, 0.05);
}

static void try_all(struct trial *t, struct tree *at)
{
    struct tree was = *at;
    char *huge = arena_new_array(t->a, char, HUGE);

    for (const char *const *w = wrong; *w; w++) {
        *at = *tree_yaml(t->a, *w);
        put(t);
    }
    memset(huge, 'x', HUGE);
    *at = tree_of_str((str){huge, HUGE});
    put(t);
    *at = was;
}

/* Every member and every item, at any depth. */
static void walk(struct trial *t, struct tree *at)
{
    for (uint32_t i = 0; i < at->n; i++) {
        if (at->kind == TREE_MAP && str_is(at->keys[i], "resourceVersion"))
            continue;
        try_all(t, &at->items[i]);
        if (at->items[i].kind == TREE_MAP || at->items[i].kind == TREE_LIST)
            walk(t, &at->items[i]);
    }
}

static void nobody_stumbles(void **state)
{
    struct node_lab *x = *state;
    struct provisioner *provisioner;
    struct disruptor *disruptor;
    struct tree *sound[ARRAY_LEN(objects)];
    struct trial t = {.x = x, .version = 1000000};

    settings_defaults(&x->l->options.settings);
    provisioner = provision_register(&x->l->c);
    disruptor = disruptor_new(&x->l->c);
    manager_start(x->l->c.manager);
    t.a = x->l->a;
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        t.kind = objects[i].kind;
        t.obj = sound[i] = tree_yaml(t.a, objects[i].yaml);
        put(&t);
    }
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        AUTO(arena) struct arena *a = arena_new(0);

        t.a = a;
        t.kind = objects[i].kind;
        t.obj = tree_copy(a, sound[i]);
        walk(&t, t.obj);
    }
    check_true("all of them were looked at", t.n > 1000);
    check_true("and what is wrong was told", str_contains(sb_view(&x->l->log), STR("feed: Node 5: ")));
    provisioner_free(provisioner);
    disruptor_free(disruptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_stumbles, node_lab_setup, node_lab_teardown),
    };

    return cmocka_run_group_tests_name("control/malformed", tests, NULL, NULL);
}
