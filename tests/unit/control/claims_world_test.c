/* The controllers of NodeClaims and NodePools against a simulated cluster, with a fake cloud (lifecycle 3 to 5, checklists 14.3 to 14.5). Bodies of patches
 * are as recorded from Karpenter (scenarios 001, 006, 023, 029). */
#include "data/edit.h"
#include "support/check.h"
#include "support/claim_lab.h"
#include "support/trees.h"

#define CLASS_REF "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"
#define POOL_OF(disruption, template)                                                                                  \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {disruption: {" disruption          \
    "}, template: {spec: {" CLASS_REF ", requirements: [], " template "}}}\n"
#define POOL POOL_OF("consolidationPolicy: WhenEmpty, consolidateAfter: Never", "expireAfter: Never")

/* ---- claims and what is written about them ---- */

struct claim {
    const char *name;
    const char *class; /* NULL: default */
    const char *spec;  /* more of it: ", expireAfter: 1h" */
};

/* As provisioning makes them. */
static void make(struct claim_lab *l, struct claim c)
{
    str uid = far_get(l->far, "nodepools", "default", "metadata.uid");

    far_apply(l->far,
              arena_printf(
                  l->a,
                  "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata:\n  name: %s\n  labels: "
                  "{karpenter.sh/nodepool: default, karpenter.kwok.sh/kwoknodeclass: default}\n  annotations: "
                  "{karpenter.sh/nodepool-hash: '7428780003907761376', karpenter.sh/nodepool-hash-version: "
                  "v3}\n  ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodePool, name: default, uid: " STR_FMT
                  ", blockOwnerDeletion: true}]\nspec: {nodeClassRef: {group: karpenter.kwok.sh, "
                  "kind: KWOKNodeClass, name: %s}, requirements: [{key: node.kubernetes.io/instance-type, "
                  "operator: In, values: [c-2x-amd64-linux]}, {key: karpenter.sh/capacity-type, operator: In, "
                  "values: [on-demand]}], resources: {requests: {cpu: '1', memory: 256Mi, pods: '1'}}%s}\n%c",
                  c.name, STR_ARG(uid), c.class ? c.class : "default", c.spec ? c.spec : "", 0)
                  .p);
}

static void make_pool(struct claim_lab *l, const char *yaml)
{
    far_apply(l->far, yaml);
    far_run(l->far, 1.1);
    check_str("the pool is ready", far_condition(l->far, "nodepools", "default", "Ready"), "True Ready");
    (void)far_writes(l->far);
}

/* A claim that is ready, without its Node's pods. */
static void make_ready(struct claim_lab *l, struct claim c)
{
    make(l, c);
    far_run(l->far, 0.2);
    claim_lab_join(l, c.name);
    far_run(l->far, 3);
    check_str(c.name, claim_lab_cond(l, c.name, "Ready"), "True Ready");
    (void)far_writes(l->far);
}

static bool is_gone(struct claim_lab *l, const char *claim)
{
    return far_get(l->far, "nodeclaims", claim, "metadata.name").n == 0;
}

static double disrupted(struct claim_lab *l, const char *reason)
{
    return metric_value(l->c.metrics->nodeclaims_disrupted_total, METRIC_VALS(str_c(reason), STR("default"), STR(""))) +
           metric_value(l->c.metrics->nodeclaims_disrupted_total,
                        METRIC_VALS(str_c(reason), STR("default"), STR("on-demand")));
}

/* ---- patches ---- */

struct write {
    str what; /* "PATCH nodes/c" */
    struct tree *body;
};

struct writes {
    struct write v[40];
    uint32_t n;
};

static void hide(struct tree *t, const char *key)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind == TREE_MAP && str_is(t->keys[i], key) && t->items[i].kind == TREE_STRING)
            t->items[i].text = STR("x");
        hide(&t->items[i], key);
    }
}

static struct writes writes(struct claim_lab *l)
{
    str rest = far_writes(l->far), line;
    struct writes w = {.n = 0};

    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        const char *brace = memchr(line.p, '{', line.n);
        check_true("room for writes", w.n < ARRAY_LEN(w.v));
        struct write *x = &w.v[w.n++];
        x->what = brace ? str_sub(line, 0, (size_t)(brace - line.p) - 1) : line;
        x->body =
            brace ? tree_yaml(
                        l->a,
                        arena_printf(l->a, STR_FMT "%c", STR_ARG(str_sub(line, (size_t)(brace - line.p), line.n)), 0).p)
                  : tree_new_map(l->a);
        hide(x->body, "lastTransitionTime");
        hide(x->body, "resourceVersion");
        hide(x->body, "uid");
    }
    return w;
}

static const struct tree *nth(const struct writes *w, const char *what, uint32_t n)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (str_is(w->v[i].what, what) && n-- == 0)
            return w->v[i].body;
    return NULL;
}

#define C(type, status, reason, message)                                                                               \
    "{lastTransitionTime: x, message: '" message "', observedGeneration: 1, reason: " reason ", status: '" status      \
    "', type: " type "}"
#define AWAITING(type) C(type, "Unknown", "AwaitingReconciliation", "object is awaiting reconciliation")
#define IS(type) C(type, "True", type, "")

/* ---- from creation to Ready ---- */

static void from_creation_to_ready(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 0.2);
    struct writes w = writes(l);
    check_tree(
        "first nothing is known", nth(&w, "PATCH nodeclaims/c/status", 0),
        "{metadata: {resourceVersion: x}, status: {conditions: [" AWAITING("Launched") ", " AWAITING("Registered") ", " AWAITING(
            "Initialized") ", " C("Ready", "Unknown", "ReconcilingDependents",
                                  "Launched=Unknown, Registered=Unknown, Initialized=Unknown") "]}}");
    check_tree("LC-1: finalizer", nth(&w, "PATCH nodeclaims/c", 0),
               "{metadata: {finalizers: [karpenter.sh/termination], resourceVersion: x}}");
    const struct tree *launch = nth(&w, "PATCH nodeclaims/c", 1);
    if (tree_at(launch, "metadata", "finalizers", NULL))
        launch = nth(&w, "PATCH nodeclaims/c", 2); /* the first one came too late */
    check_tree(
        "LC-5: launched", launch,
        "{metadata: {labels: {node.kubernetes.io/instance-type: c-2x-amd64-linux, kubernetes.io/arch: amd64, "
        "kubernetes.io/os: linux, karpenter.kwok.sh/instance-size: '2', karpenter.kwok.sh/instance-family: c, "
        "karpenter.kwok.sh/instance-cpu: '2', karpenter.kwok.sh/instance-memory: 4Gi, "
        "karpenter.sh/capacity-type: on-demand, topology.kubernetes.io/zone: test-zone-a}}, status: {conditions: "
        "[" AWAITING("Initialized") ", " C("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster") ", " IS(
            "Launched") ", " C("Ready", "Unknown", "ReconcilingDependents",
                               "Initialized=Unknown, Registered=Unknown") "], "
                                                                          "providerID: 'fake:///1', imageID: image-1, allocatable: {cpu: 1900m, memory: 4086Mi, ephemeral-storage: "
                                                                          "20Gi, pods: '32'}, capacity: {cpu: '2', memory: 4Gi, ephemeral-storage: 20Gi, pods: '32'}}}");
    check_true("the same to its status", tree_equal(launch, nth(&w, "PATCH nodeclaims/c/status", w.n > 5 ? 2 : 1)) ||
                                             tree_equal(launch, nth(&w, "PATCH nodeclaims/c/status", 1)));
    check_str("told", claim_lab_log(l, "launched nodeclaim"),
              "INFO NodeClaim={\"name\":\"c\"} provider-id=\"fake:///1\" instance-type=\"c-2x-amd64-linux\" "
              "zone=\"test-zone-a\" capacity-type=\"on-demand\" "
              "allocatable={\"cpu\":\"1900m\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"4086Mi\",\"pods\":\"32\"}");

    claim_lab_join(l, "c");
    far_run(l->far, 0.3);
    w = writes(l);
    check_tree("LC-8 LC-9 LC-10 LC-12: the Node", nth(&w, "PATCH nodes/c", 0),
               "{metadata: {labels: {karpenter.kwok.sh/kwoknodeclass: default, karpenter.sh/nodepool: default, "
               "karpenter.sh/registered: 'true'}, annotations: {karpenter.sh/nodepool-hash: '7428780003907761376', "
               "karpenter.sh/nodepool-hash-version: v3}, finalizers: [karpenter.sh/termination], ownerReferences: "
               "[{apiVersion: karpenter.sh/v1, blockOwnerDeletion: true, kind: NodeClaim, name: c, uid: x}], "
               "resourceVersion: x}, spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}}");
    check_tree("LC-15: registrations go well", nth(&w, "PATCH nodepools/default/status", 0),
               "{metadata: {resourceVersion: x}, status: {conditions: [" IS("NodeClassReady") ", " IS(
                   "ValidationSucceeded") ", " IS("NodeRegistrationHealthy") ", " IS("Ready") "]}}");
    check_tree("LC-19: registered and not ready", nth(&w, "PATCH nodeclaims/c", 0),
               "{status: {conditions: [" IS("Launched") ", " C(
                   "Initialized", "Unknown", "NodeNotReady",
                   "Node status is NotReady") ", " IS("Registered") ", " C("Ready", "Unknown", "ReconcilingDependents",
                                                                           "Initialized=Unknown") "], nodeName: c}}");
    check_str("told", claim_lab_log(l, "registered nodeclaim"),
              "INFO NodeClaim={\"name\":\"c\"} provider-id=\"fake:///1\" Node={\"name\":\"c\"}");
    check_double("counted",
                 metric_value(l->c.metrics->nodes_created_total, METRIC_VALS(STR("default"), STR("test-zone-a"))), 1);

    far_run(l->far, 2);
    w = writes(l);
    check_tree("LC-18: the label", nth(&w, "PATCH nodes/c", 0),
               "{metadata: {labels: {karpenter.sh/initialized: 'true'}}}");
    check_tree(
        "LC-17: initialized", nth(&w, "PATCH nodeclaims/c/status", 0),
        "{status: {conditions: [" IS("Launched") ", " IS("Registered") ", " IS("Initialized") ", " IS("Ready") "]}}");
    check_str("told", claim_lab_log(l, "initialized nodeclaim"),
              "INFO NodeClaim={\"name\":\"c\"} provider-id=\"fake:///1\" Node={\"name\":\"c\"} "
              "allocatable={\"cpu\":\"1900m\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"4086Mi\",\"pods\":\"32\"}");
    check_i64("one machine", fakecloud_calls(l->cloud, FAKE_CREATE), 1);
    far_run(l->far, 5);
    check_str("NP-2: counted", far_get(l->far, "nodepools", "default", "status.nodes"), "1");
    (void)far_writes(l->far);
    far_run(l->far, 60);
    check_str("then all is quiet", far_writes(l->far), "");
    far_run(l->far, 600);
    check_str("CS-1: consistent, at the next look", claim_lab_cond(l, "c", "ConsistentStateFound"),
              "True ConsistentStateFound");
}

#define PARTITION "\"example.com/partition\":\"3\""

/* LC-16: the provider has a say before the Node counts; what the claim says is on it already. */
static void a_hook_holds_registration(void **state)
{
    struct claim_lab *l = *state;

    fakecloud_set_hook(l->cloud, (struct cloud_hook){.pending = true, .after_ms = 5000});
    make_pool(l, POOL);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 1);
    claim_lab_join(l, "c");
    far_run(l->far, 2);
    check_str("held", claim_lab_cond(l, "c", "Registered"), "Unknown RegistrationHookPending");
    check_str("the claim's", far_get(l->far, "nodes", "c", "metadata.finalizers.0"), "\"karpenter.sh/termination\"");
    check_true("not registered", !str_contains(far_get(l->far, "nodes", "c", "metadata.labels"), STR("/registered")));

    fakecloud_then(l->cloud, FAKE_HOOK, FAKE_ERROR, 1);
    far_run(l->far, 6);
    check_true("said", claim_lab_log(l, "Reconciler error").n != 0);

    fakecloud_set_hook(l->cloud, (struct cloud_hook){.label = {STR("example.com/partition"), STR("3")}});
    far_run(l->far, 15);
    check_str("registered", claim_lab_cond(l, "c", "Registered"), "True Registered");
    check_true("claim", str_contains(far_get(l->far, "nodeclaims", "c", "metadata.labels"), STR(PARTITION)));
    check_true("Node", str_contains(far_get(l->far, "nodes", "c", "metadata.labels"), STR(PARTITION)));
}

/* ---- launches that fail ---- */

static void no_capacity(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_NO_CAPACITY, 1);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 2);
    check_true("LC-6: gone", is_gone(l, "c"));
    check_double("counted", disrupted(l, "insufficient_capacity"), 1);
    check_str("told", far_events(l->far, "InsufficientCapacityError", "c"),
              "NodeClaim c event: insufficient capacity, all offerings are sold out");
    check_str("logged", claim_lab_log(l, "failed launching nodeclaim"),
              "ERROR NodeClaim={\"name\":\"c\"} error=\"insufficient capacity, all offerings are sold out\"");
    check_str("and its end", claim_lab_log(l, "deleted nodeclaim"), "INFO NodeClaim={\"name\":\"c\"}");
    check_i64("LC-29: no machine to get rid of", fakecloud_calls(l->cloud, FAKE_DESTROY), 0);

    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_NOT_READY, 1);
    make(l, (struct claim){.name = "d"});
    far_run(l->far, 2);
    check_true("LC-6: gone", is_gone(l, "d"));
    check_double("counted", disrupted(l, "nodeclass_not_ready"), 1);
    check_str("without an event", far_events(l->far, "InsufficientCapacityError", "d"), "");
}

static void launches_are_tried_again(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_TYPED,
                   2); /* the change of the condition is a reason to try again at once */
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 0.2);
    check_str("LC-7: the reason is the cloud's", far_condition(l->far, "nodeclaims", "c", "Launched"),
              "Unknown RoleMissing: the role is missing");
    check_str(
        "an error", claim_lab_log(l, "Reconciler error"),
        "ERROR NodeClaim={\"name\":\"c\"} error=\"launching nodeclaim, creating nodeclaim, the role is missing\"\n"
        "ERROR NodeClaim={\"name\":\"c\"} error=\"launching nodeclaim, creating nodeclaim, the role is missing\"");
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_ERROR, 1000);
    far_run(l->far, 10);
    check_str("any other error", far_condition(l->far, "nodeclaims", "c", "Launched"),
              "Unknown LaunchFailed: the cloud is away");
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_LOST, 1);
    far_run(l->far, 20);
    check_i64("the answer was lost", fakecloud_count(l->cloud), 1);
    check_str("the answer was lost", far_condition(l->far, "nodeclaims", "c", "Launched"),
              "Unknown LaunchFailed: the cloud is away");
    far_run(l->far, 60);
    check_str("at last", claim_lab_cond(l, "c", "Launched"), "True Launched");
    check_i64("one machine", fakecloud_count(l->cloud), 1);
}

static void an_answer_is_kept(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    far_refuse(l->far, "PATCH", "/nodeclaims/c/status", 500, "sorry", 3);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 20);
    check_str("written in the end", claim_lab_cond(l, "c", "Launched"), "True Launched");
    check_i64("asked once", fakecloud_calls(l->cloud, FAKE_CREATE), 1);
    str told = claim_lab_log(l, "launched nodeclaim"), line, rest;
    check_true("told once", str_cut(told, '\n', &line, &rest) ? rest.n == 0 : told.n != 0);
    check_str("one end", far_get(l->far, "nodeclaims", "c", "status.providerID"), "\"fake:///1\"");
}

/* The claim is deleted while nobody could write down that it has a machine. */
static void a_machine_is_not_forgotten(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    far_refuse(l->far, "PATCH", "/nodeclaims/c/status", 500, "sorry", 2);
    fakecloud_slow(l->cloud, FAKE_CREATE, 100000);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 0.3);
    check_i64("bought", fakecloud_count(l->cloud), 1);
    far_delete(l->far, "nodeclaims", "c");
    far_run(l->far, 5);
    check_true("gone", is_gone(l, "c"));
    check_i64("given back", fakecloud_count(l->cloud), 0);
}

/* ---- claims that get nowhere ---- */

static void timeouts(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_ERROR, 1000);
    make(l, (struct claim){.name = "a"});
    far_run(l->far, 295);
    check_true("LC-21: not before", !is_gone(l, "a"));
    far_run(l->far, 70);
    check_true("LC-21: not launched", is_gone(l, "a"));
    check_double("counted", disrupted(l, "launch_timeout"), 1);
    check_str("one failure is no pattern", far_condition(l->far, "nodepools", "default", "NodeRegistrationHealthy"),
              "Unknown AwaitingReconciliation: object is awaiting reconciliation");
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_WELL, 0);
    make(l, (struct claim){.name = "b"});
    far_run(l->far, 895);
    check_str("launched", claim_lab_cond(l, "b", "Launched"), "True Launched");
    far_run(l->far, 10);
    check_true("LC-20: not registered", is_gone(l, "b"));
    check_double("counted", disrupted(l, "registration_timeout"), 1);
    check_str(
        "told", claim_lab_log(l, "terminating due to timeout"),
        "DEBUG NodeClaim={\"name\":\"a\"} timeout=\"5m0s\" reason=\"launch_timeout\"\n"
        "DEBUG NodeClaim={\"name\":\"b\"} provider-id=\"fake:///1\" timeout=\"15m0s\" reason=\"registration_timeout\"");
    check_i64("its machine is gone", fakecloud_count(l->cloud), 0);
    check_str("LC-23: two are one", far_condition(l->far, "nodepools", "default", "NodeRegistrationHealthy"),
              "False RegistrationFailed: Failed to register node");
    make_ready(l, (struct claim){.name = "c"});
    check_str("LC-15: a single success changes nothing",
              far_condition(l->far, "nodepools", "default", "NodeRegistrationHealthy"),
              "False RegistrationFailed: Failed to register node");
    claim_lab_restart(l);
    far_run(l->far, 1);
    check_str("NP-6: nor does a restart", far_condition(l->far, "nodepools", "default", "NodeRegistrationHealthy"),
              "False RegistrationFailed: Failed to register node");
    far_patch(l->far, "nodepools", "default", "{spec: {limits: {cpu: '100'}}}");
    far_run(l->far, 1);
    check_str("NP-6: a change begins anew", far_condition(l->far, "nodepools", "default", "NodeRegistrationHealthy"),
              "Unknown AwaitingReconciliation: object is awaiting reconciliation");
}

static void two_nodes(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 0.2);
    far_refuse(l->far, "PATCH", "/nodes/c", 409, "changed", 1);
    far_apply(l->far, "apiVersion: v1\nkind: Node\nmetadata: {name: other}\nspec: {providerID: 'fake:///1'}\n---\n"
                      "apiVersion: v1\nkind: Node\nmetadata: {name: c}\nspec: {providerID: 'fake:///1'}\n");
    far_run(l->far, 2);
    check_str("one too many", far_condition(l->far, "nodeclaims", "c", "Registered"),
              "False MultipleNodesFound: Invariant violated, matched multiple nodes");
}

/* ---- the end ---- */

static void the_end(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make_ready(l, (struct claim){.name = "c", .spec = ", terminationGracePeriod: 5m"});
    fakecloud_linger(l->cloud, 8000000);
    far_delete(l->far, "nodeclaims", "c");
    far_run(l->far, 1);
    check_str("LC-30: a deadline", claim_lab_log(l, "annotated nodeclaim"),
              "INFO NodeClaim={\"name\":\"c\"} provider-id=\"fake:///1\" Node={\"name\":\"c\"} "
              "karpenter.sh/nodeclaim-termination-timestamp=\"2023-11-14T22:18:24Z\"");
    check_str("LC-30: told", far_events(l->far, "TerminationGracePeriodExpiring", "c"),
              "All pods will be deleted by 2023-11-14T22:18:24Z");
    check_true("LC-24: the Node goes first", far_get(l->far, "nodes", "c", "metadata.deletionTimestamp").n != 0);
    check_i64("the machine stays", fakecloud_calls(l->cloud, FAKE_DESTROY), 0);
    far_patch(l->far, "nodes", "c", "{metadata: {finalizers: null}}");
    far_run(l->far, 1);
    check_true("now it goes", fakecloud_calls(l->cloud, FAKE_DESTROY) != 0);
    check_str("and says so", claim_lab_cond(l, "c", "InstanceTerminating"), "True InstanceTerminating");
    check_str("LC-25: still ready", claim_lab_cond(l, "c", "Ready"), "True Ready");
    check_str("LC-2: for this generation", far_get(l->far, "nodeclaims", "c", "status.conditions.0.observedGeneration"),
              "2");
    far_run(l->far, 5);
    check_true("LC-27: it waits for its machine", !is_gone(l, "c"));
    far_run(l->far, 5);
    check_true("gone", is_gone(l, "c"));
    check_double("counted",
                 metric_value(l->c.metrics->nodeclaims_terminated_total,
                              METRIC_VALS(STR("default"), STR("on-demand"), STR("test-zone-a"))),
                 1);
    check_str("told", claim_lab_log(l, "deleted nodeclaim"),
              "INFO NodeClaim={\"name\":\"c\"} provider-id=\"fake:///1\" Node={\"name\":\"c\"}");
}

static void an_end_without_node(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 0.2);
    fakecloud_then(l->cloud, FAKE_DESTROY, FAKE_ERROR, 1);
    far_delete(l->far, "nodeclaims", "c");
    far_run(l->far, 0.5);
    check_str("LC-27: an error", claim_lab_log(l, "Reconciler error"),
              "ERROR NodeClaim={\"name\":\"c\"} error=\"the cloud is away\"");
    check_true("LC-27: it stays", !is_gone(l, "c"));
    far_run(l->far, 5);
    check_true("gone", is_gone(l, "c"));
    check_i64("and the machine", fakecloud_count(l->cloud), 0);
}

static void not_ours(void **state)
{
    struct claim_lab *l = *state;

    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: theirs}\nspec: {disruption: {consolidateAfter: "
        "Never}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}}}\n"
        "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: theirs, labels: {karpenter.sh/nodepool: theirs}}\n"
        "spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [], expireAfter: 10s}\n");
    far_run(l->far, 1000);
    check_str("LC-1 LC-5 NP-3 NP-5 EX-1: nothing", far_writes(l->far), "");
}

/* ---- auxiliaries ---- */

static void drift(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make_ready(l, (struct claim){.name = "c", .spec = ", expireAfter: Never"});
    check_str("not yet", claim_lab_cond(l, "c", "Drifted"), "");
    fakecloud_set_drift(l->cloud, "ImageDrifted");
    far_run(l->far, 301);
    check_str("DR-1: the cloud says so", far_condition(l->far, "nodeclaims", "c", "Drifted"),
              "True ImageDrifted: ImageDrifted");
    check_str("told", claim_lab_log(l, "marking drifted"),
              "DEBUG NodeClaim={\"name\":\"c\"} Node={\"name\":\"c\"} reason=\"ImageDrifted\"");
    far_patch(l->far, "nodepools", "default",
              "{spec: {template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}}}");
    far_run(l->far, 1);
    check_str("DR-3: requirements come before the cloud", claim_lab_cond(l, "c", "Drifted"),
              "True RequirementsDrifted");
    far_patch(l->far, "nodepools", "default", "{spec: {template: {metadata: {labels: {team: a}}}}}");
    far_run(l->far, 1);
    check_str("DR-3: the hash before both", claim_lab_cond(l, "c", "Drifted"), "True NodePoolDrifted");
    far_patch(l->far, "nodepools", "default", "{spec: {template: {metadata: null, spec: {requirements: []}}}}");
    fakecloud_set_drift(l->cloud, NULL);
    far_run(l->far, 1);
    check_str("DR-4: as it was", claim_lab_cond(l, "c", "Drifted"), "");
}

static void consolidatable(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL_OF("consolidateAfter: 30s", "expireAfter: Never"));
    make_ready(l, (struct claim){.name = "c"});
    far_run(l->far, 20);
    check_str("CN-1: not yet", claim_lab_cond(l, "c", "Consolidatable"), "");
    far_run(l->far, 11);
    check_str("CN-1: alone for long enough", claim_lab_cond(l, "c", "Consolidatable"), "True Consolidatable");
    far_apply(
        l->far,
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: c, containers: [{name: c, image: x}]}\n");
    far_run(l->far, 1);
    check_true("PE-1: a pod came", far_get(l->far, "nodeclaims", "c", "status.lastPodEventTime").n != 0);
    check_str("CN-2: not any more", claim_lab_cond(l, "c", "Consolidatable"), "");
    far_run(l->far, 31);
    check_str("CN-1: and again", claim_lab_cond(l, "c", "Consolidatable"), "True Consolidatable");
    far_patch(l->far, "nodepools", "default", "{spec: {disruption: {consolidateAfter: Never}}}");
    far_run(l->far, 1);
    check_str("CN-2: never", claim_lab_cond(l, "c", "Consolidatable"), "");
}

static void expiration(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make(l, (struct claim){.name = "c", .spec = ", expireAfter: 60s"});
    make_ready(l, (struct claim){.name = "stays", .spec = ", expireAfter: Never"});
    far_run(l->far, 20);
    claim_lab_join(l, "c"); /* its Node is younger than the claim */
    far_run(l->far, 30);
    check_str("EX-2: not yet", far_get(l->far, "nodeclaims", "c", "metadata.deletionTimestamp"), "");
    far_run(l->far, 10);
    check_true("EX-1: its time is up", far_get(l->far, "nodeclaims", "c", "metadata.deletionTimestamp").n != 0);
    check_double("EX-2: counted once", disrupted(l, "expired"), 1);
    check_str("EX-2: never", far_get(l->far, "nodeclaims", "stays", "metadata.deletionTimestamp"), "");
    check_str("told", claim_lab_log(l, "deleting expired nodeclaim"),
              "DEBUG NodeClaim={\"name\":\"c\"} Node={\"name\":\"c\"}");
}

static void garbage(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make_ready(l, (struct claim){.name = "well"});
    make_ready(l, (struct claim){.name = "sick"});
    make(l, (struct claim){.name = "young"});
    far_run(l->far, 1);
    far_node_condition(l->far, "sick", "Ready", "False");
    far_run(l->far, 121);
    check_double("GC-2: nothing is missing", disrupted(l, "garbage_collected"), 0);
    fakecloud_power_off(l->cloud, STR("fake:///1"));
    fakecloud_power_off(l->cloud, STR("fake:///2"));
    fakecloud_power_off(l->cloud, STR("fake:///3"));
    far_run(l->far, 121);
    check_double("GC-1: one", disrupted(l, "garbage_collected"), 1);
    check_true("GC-1: the sick one", far_get(l->far, "nodeclaims", "sick", "metadata.deletionTimestamp").n != 0);
    check_str("GC-1: a Node that is well stays", far_get(l->far, "nodeclaims", "well", "metadata.deletionTimestamp"),
              "");
    check_str("GC-2: so does who has not registered",
              far_get(l->far, "nodeclaims", "young", "metadata.deletionTimestamp"), "");
}

static void pools(void **state)
{
    struct claim_lab *l = *state;

    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {disruption: {consolidateAfter: "
        "Never}, template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: later}, requirements: "
        "[{key: karpenter.sh/capacity-type, operator: In, values: [spots]}]}}}\n");
    far_run(l->far, 1);
    check_str("NP-5: no class", far_condition(l->far, "nodepools", "p", "NodeClassReady"),
              "False NodeClassNotFound: NodeClass not found on cluster");
    check_true("NP-7: no such capacity type", str_starts(far_condition(l->far, "nodepools", "p", "ValidationSucceeded"),
                                                         STR("False NodePoolValidationFailed: ")));
    check_str("NP-6: nothing is said of registrations",
              far_condition(l->far, "nodepools", "p", "NodeRegistrationHealthy"), "");
    far_apply(l->far, "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: later}\n");
    far_patch(l->far, "nodepools", "p", "{spec: {template: {spec: {requirements: []}}}}");
    far_run(l->far, 1);
    check_str("NP-5 NP-7: ready", far_condition(l->far, "nodepools", "p", "Ready"), "True Ready");
    check_str("NP-6: and begins", far_condition(l->far, "nodepools", "p", "NodeRegistrationHealthy"),
              "Unknown AwaitingReconciliation: object is awaiting reconciliation");
}

static void old_versions(void **state)
{
    struct claim_lab *l = *state;

    make_pool(l, POOL);
    make(l, (struct claim){.name = "c"});
    far_run(l->far, 1);
    far_patch(
        l->far, "nodeclaims", "c",
        "{metadata: {labels: {karpenter.kwok.sh/kwoknodeclass: null}, annotations: {karpenter.sh/nodepool-hash: '1', karpenter.sh/nodepool-hash-version: v2}}}");
    far_patch(l->far, "nodepools", "default",
              "{metadata: {annotations: {karpenter.sh/nodepool-hash: '1', karpenter.sh/nodepool-hash-version: v2}}}");
    far_run(l->far, 1);
    const struct tree *notes = tree_yaml(
        l->a,
        arena_printf(l->a, STR_FMT "%c", STR_ARG(far_get(l->far, "nodeclaims", "c", "metadata.annotations")), 0).p);
    check_tree("NP-4", notes,
               "{karpenter.sh/nodepool-hash: '7428780003907761376', karpenter.sh/nodepool-hash-version: v3}");
    const struct tree *labels = tree_yaml(
        l->a, arena_printf(l->a, STR_FMT "%c", STR_ARG(far_get(l->far, "nodeclaims", "c", "metadata.labels")), 0).p);
    check_str("HY-1", tree_str(tree_get(labels, "karpenter.kwok.sh/kwoknodeclass")), "default");
}

static void old_spellings(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, POOL_OF("consolidationPolicy: WhenUnderutilized, expireAfter: 5h", ""));
    far_run(l->far, 1);
    check_str("told", far_events(l->far, "DeprecatedField", "default"),
              "NodePool default: disruption.expireAfter is read as template.spec.expireAfter\n"
              "NodePool default: consolidationPolicy WhenUnderutilized is read as WhenEmptyOrUnderutilized");
}

/* ---- static pools ---- */

static void replicas(void **state)
{
    struct claim_lab *l = *state;

    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: fixed}\nspec: {replicas: 2, limits: {nodes: '3'}, "
        "template: {spec: {expireAfter: Never, " CLASS_REF
        ", requirements: [{key: node.kubernetes.io/instance-type, operator: In, "
        "values: [c-2x-amd64-linux]}, {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']}]}}}\n");
    far_run(l->far, 1);
    struct writes w = writes(l);
    check_tree(
        "SP-2: the template", nth(&w, "POST nodeclaims", 0),
        "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {annotations: {karpenter.sh/nodepool-hash: "
        "'7428780003907761376', karpenter.sh/nodepool-hash-version: v3}, generateName: fixed-, labels: "
        "{karpenter.sh/nodepool: fixed, karpenter.kwok.sh/kwoknodeclass: default}, ownerReferences: [{apiVersion: "
        "karpenter.sh/v1, blockOwnerDeletion: true, kind: NodePool, name: fixed, uid: x}]}, spec: {expireAfter: Never, " CLASS_REF
        ", requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux]}, "
        "{key: karpenter.kwok.sh/instance-size, operator: Lte, values: ['31']}, {key: karpenter.sh/nodepool, operator: In, "
        "values: [fixed]}, {key: karpenter.kwok.sh/kwoknodeclass, operator: In, values: [default]}], resources: {}}, status: {}}");
    check_i64("SP-2: two", far_count(l->far, "nodeclaims", "fixed-"), 2);
    check_str("told", claim_lab_log(l, "provisioning nodeclaims to satisfy replica count"),
              "INFO NodePool={\"name\":\"fixed\"} current=0 desired=2 provision-count=2");
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 5}}");
    far_run(l->far, 1);
    check_i64("SP-2: up to the limit", far_count(l->far, "nodeclaims", "fixed-"), 3);
    check_str("told", claim_lab_log(l, "nodepool node limit reached"), "INFO NodePool={\"name\":\"fixed\"}");
    str first = far_first(l->far, "nodeclaims");
    const char *name = arena_printf(l->a, STR_FMT "%c", STR_ARG(first), 0).p;
    claim_lab_join(l, name);
    far_run(l->far, 3);
    far_apply(
        l->far,
        arena_printf(
            l->a,
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: %s, containers: [{name: c, image: x}]}\n%c",
            name, 0)
            .p);
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 1}}");
    far_run(l->far, 2);
    check_i64("SD-2: those without pods go", far_count(l->far, "nodeclaims", "fixed-"), 1);
    check_true("SD-2: the one with a pod stays", !is_gone(l, name));
    far_run(l->far, 300);
    check_i64("and that is all", far_count(l->far, "nodeclaims", "fixed-"), 1);
    check_i64("of machines too", fakecloud_count(l->cloud), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, claim_lab_setup, claim_lab_teardown)
    const struct CMUnitTest tests[] = {
        TEST(from_creation_to_ready),
        TEST(a_hook_holds_registration),
        TEST(no_capacity),
        TEST(launches_are_tried_again),
        TEST(an_answer_is_kept),
        TEST(a_machine_is_not_forgotten),
        TEST(timeouts),
        TEST(two_nodes),
        TEST(the_end),
        TEST(an_end_without_node),
        TEST(not_ours),
        TEST(drift),
        TEST(consolidatable),
        TEST(expiration),
        TEST(garbage),
        TEST(pools),
        TEST(old_versions),
        TEST(old_spellings),
        TEST(replicas),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
