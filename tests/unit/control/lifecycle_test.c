/* What nodeclaim.lifecycle decides, step by step (lifecycle 3, checklist 14.3). The steps together are in claims_world. */
#include "control/claim_int.h"
#include "data/edit.h"
#include "k8s/decode.h"
#include "model/duration.h"
#include "support/check.h"
#include "support/trees.h"

/* ---- launch ---- */

static void a_bought_machine(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    struct annotation labels[] = {{STR("zone"), STR("z1")}, {STR("team"), STR("cloud's")}};
    struct annotation notes[] = {{STR("seen"), STR("new")}};
    struct machine m = {.provider_id = STR("fake:///1"),
                        .image_id = STR("ami-1"),
                        .labels = labels,
                        .n_labels = 2,
                        .annotations = notes,
                        .n_annotations = 1};
    struct tree *c = tree_yaml(a, "{metadata: {name: c, labels: {team: mine}, annotations: {seen: old, kept: x}}}");

    (void)state;
    reslist_set(a, &m.capacity, SYM(CPU), 2000000000, false);
    reslist_set(a, &m.capacity, SYM(MEMORY), (4096ll << 20) * 1000, true);
    reslist_set(a, &m.allocatable, SYM(CPU), 1900000000, false);
    claim_populate(a, t, c, &m);
    check_tree("labels of the claim win, annotations of the cloud", c,
               "{metadata: {name: c, labels: {team: mine, zone: z1}, annotations: {seen: new, kept: x}}, status: "
               "{providerID: 'fake:///1', imageID: ami-1, allocatable: {cpu: 1900m}, capacity: {cpu: '2', memory: "
               "4Gi}}}");
}

/* ---- registration ---- */

#define CLAIM                                                                                                          \
    "metadata: {name: c, uid: u1, labels: {team: a}, annotations: {note: a}}, spec: {taints: [{key: t, effect: "       \
    "NoSchedule}], startupTaints: [{key: s, value: v, effect: NoExecute}]}"
#define OWNER "{apiVersion: karpenter.sh/v1, kind: NodeClaim, name: c, uid: u1, blockOwnerDeletion: true}"
#define META "finalizers: [karpenter.sh/termination], ownerReferences: [" OWNER "], annotations: {note: a}"
#define UNREGISTERED "{key: karpenter.sh/unregistered, effect: NoExecute}"
#define SYNCED "{key: t, effect: NoSchedule}, {key: s, value: v, effect: NoExecute}"

static const struct {
    const char *name, *node, *synced, *registered;
} nodes[] = {
    {"LC-9 LC-10 LC-12 LC-13: all of it", "{metadata: {name: node}, spec: {taints: [" UNREGISTERED "]}}",
     "{metadata: {name: node, " META ", labels: {team: a}}, spec: {taints: [" UNREGISTERED ", " SYNCED "]}}",
     "{metadata: {name: node, " META ", labels: {team: a, karpenter.sh/registered: 'true'}}, spec: {taints: [" SYNCED
     "]}}"},
    {"LC-9: once", "{metadata: {name: node, " META "}, spec: {taints: [{key: t, value: other, effect: NoSchedule}]}}",
     "{metadata: {name: node, " META
     ", labels: {team: a}}, spec: {taints: [{key: t, value: other, effect: NoSchedule}, {key: s, value: v, effect: "
     "NoExecute}]}}",
     "{metadata: {name: node, " META
     ", labels: {team: a, karpenter.sh/registered: 'true'}}, spec: {taints: [{key: t, value: other, effect: "
     "NoSchedule}, {key: s, value: v, effect: NoExecute}]}}"},
    {"LC-13: taints are its own business",
     "{metadata: {name: node, labels: {karpenter.sh/do-not-sync-taints: 'true'}}, spec: {taints: [" UNREGISTERED "]}}",
     "{metadata: {name: node, " META
     ", labels: {karpenter.sh/do-not-sync-taints: 'true', team: a}}, spec: {taints: [" UNREGISTERED "]}}",
     "{metadata: {name: node, " META
     ", labels: {karpenter.sh/do-not-sync-taints: 'true', team: a, karpenter.sh/registered: 'true'}}, spec: {}}"},
    {"LC-13: unless it says so in another word",
     "{metadata: {name: node, labels: {karpenter.sh/do-not-sync-taints: 'yes', team: b}}, spec: {}}",
     "{metadata: {name: node, " META
     ", labels: {karpenter.sh/do-not-sync-taints: 'yes', team: a}}, spec: {taints: [" SYNCED "]}}",
     "{metadata: {name: node, " META ", labels: {karpenter.sh/do-not-sync-taints: 'yes', team: a, "
     "karpenter.sh/registered: 'true'}}, spec: {taints: [" SYNCED "]}}"},
    {"another owner of the same name",
     "{metadata: {name: node, ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodeClaim, name: c, uid: u0}]}}",
     "{metadata: {name: node, finalizers: [karpenter.sh/termination], ownerReferences: [{apiVersion: karpenter.sh/v1, "
     "kind: NodeClaim, name: c, uid: u0}, " OWNER
     "], annotations: {note: a}, labels: {team: a}}, spec: {taints: [" SYNCED "]}}",
     "{metadata: {name: node, finalizers: [karpenter.sh/termination], ownerReferences: [{apiVersion: karpenter.sh/v1, "
     "kind: NodeClaim, name: c, uid: u0}, " OWNER
     "], annotations: {note: a}, labels: {team: a, karpenter.sh/registered: 'true'}}, spec: {taints: [" SYNCED "]}}"},
};

static void a_node_is_registered(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        const struct tree *claim = tree_yaml(a, "{" CLAIM "}");
        struct tree *node = tree_yaml(a, nodes[i].node);

        node_sync(a, node, claim);
        check_tree(nodes[i].name, node, nodes[i].synced);
        node_sync(a, node, claim);
        check_tree(nodes[i].name, node, nodes[i].synced);
        node_set_registered(a, node);
        check_tree(nodes[i].name, node, nodes[i].registered);
    }
}

/* ---- initialization ---- */

#define READY "conditions: [{type: Ready, status: 'True'}]"
#define PLENTY "allocatable: {cpu: '2', example.com/gpu: '1'}"

static const struct {
    const char *name, *node, *reason, *message;
} inits[] = {
    {"LC-17: ready", "{status: {" READY ", " PLENTY "}}", NULL, ""},
    {"no Node", NULL, "NodeNotFound", "Node not registered with cluster"},
    {"LC-19: not ready", "{status: {conditions: [{type: Ready, status: 'False'}], " PLENTY "}}", "NodeNotReady",
     "Node status is NotReady"},
    {"LC-19: says nothing", "{status: {" PLENTY "}}", "NodeNotReady", "Node status is NotReady"},
    {"LC-19: a startup taint",
     "{spec: {taints: [{key: s, value: other, effect: NoExecute}]}, status: {" READY ", " PLENTY "}}",
     "StartupTaintsExist", "StartupTaint \"s=v:NoExecute\" still exists"},
    {"of another effect", "{spec: {taints: [{key: s, value: v, effect: NoSchedule}]}, status: {" READY ", " PLENTY "}}",
     NULL, ""},
    {"LC-19: an ephemeral taint",
     "{spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}, status: {" READY ", " PLENTY "}}",
     "KnownEphemeralTaintsExist", "KnownEphemeralTaint \"node.kubernetes.io/not-ready:NoSchedule\" still exists"},
    {"LC-19: a readiness gate's",
     "{spec: {taints: [{key: readiness.k8s.io/net, value: x, effect: NoSchedule}]}, status: {" READY ", " PLENTY "}}",
     "KnownEphemeralTaintsExist", "KnownEphemeralTaint \"readiness.k8s.io/net=x:NoSchedule\" still exists"},
    {"the unregistered taint", "{spec: {taints: [" UNREGISTERED "]}, status: {" READY ", " PLENTY "}}",
     "KnownEphemeralTaintsExist", "KnownEphemeralTaint \"karpenter.sh/unregistered:NoExecute\" still exists"},
    {"LC-19: no device", "{status: {" READY ", allocatable: {cpu: '2'}}}", "ResourceNotRegistered",
     "Resource \"example.com/gpu\" was requested but not registered"},
    {"LC-19: none yet", "{status: {" READY ", allocatable: {cpu: '0', example.com/gpu: '0'}}}", "ResourceNotRegistered",
     "Resource \"cpu\" was requested but not registered"},
    {"another taint", "{spec: {taints: [{key: team, value: a, effect: NoSchedule}]}, status: {" READY ", " PLENTY "}}",
     NULL, ""},
};

static void decode(struct objects *o, struct arena *a, const char *head, const char *yaml)
{
    AUTO(decoder) struct decoder *d = decoder_new(o);
    struct tree *t = tree_yaml(a, yaml), *h = tree_yaml(a, head);
    struct err e = {0};

    for (uint32_t i = 0; i < h->n; i++)
        if (!tree_find(t, h->keys[i]))
            *tree_put(a, t, h->keys[i]) = h->items[i];
    check_ok(yaml, k8s_decode(d, t, &e), &e);
}

static void a_node_is_initialized(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(inits); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        AUTO(syms) struct syms *t = syms_new();
        AUTO(objects) struct objects *o = objects_new(t);

        decode(
            o, a, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c}}",
            "{spec: {nodeClassRef: {group: g, kind: K, name: k}, requirements: [], startupTaints: [{key: s, value: v, effect: "
            "NoExecute}], resources: {requests: {cpu: '1', memory: '0', example.com/gpu: '1'}}}}");
        if (inits[i].node)
            decode(o, a, "{apiVersion: v1, kind: Node, metadata: {name: node}}", inits[i].node);
        struct obstacle x = initialize_obstacle(a, t, &o->claims.v[0], inits[i].node ? &o->nodes.v[0] : NULL);
        check_str(inits[i].name, str_c(x.reason ? x.reason : ""), inits[i].reason ? inits[i].reason : "");
        check_str(inits[i].name, x.message, inits[i].message);
    }
}

/* ---- liveness ---- */

#define COND(type, status, second)                                                                                     \
    "{type: " type ", status: " status ", lastTransitionTime: '2026-01-01T00:" second "Z'}"

static const struct {
    const char *name, *conditions, *now;
    bool after_launch;
    enum liveness want;
    int64_t left_ms;
} lives[] = {
    {"LC-20: registered", COND("Launched", "'True'", "00:00") ", " COND("Registered", "'True'", "01:00"), "59:00",
     false, LIVE_WELL, 0},
    {"LC-21: not launched", COND("Launched", "Unknown", "00:00") ", " COND("Registered", "Unknown", "00:00"), "04:59",
     false, LIVE_WAIT, 1000},
    {"LC-21: for too long", COND("Launched", "Unknown", "00:00") ", " COND("Registered", "Unknown", "00:00"), "05:00",
     false, LIVE_NOT_LAUNCHED, 0},
    {"and not registered in that time",
     COND("Launched", "Unknown", "00:00") ", " COND("Registered", "Unknown", "00:00"), "05:00", true, LIVE_WAIT,
     600000},
    {"nor in this", COND("Launched", "Unknown", "00:00") ", " COND("Registered", "Unknown", "00:00"), "15:00", true,
     LIVE_NOT_REGISTERED, 0},
    {"LC-22: since the transition", COND("Launched", "'False'", "10:00") ", " COND("Registered", "Unknown", "00:00"),
     "14:00", false, LIVE_WAIT, 60000},
    {"launched", COND("Launched", "'True'", "01:00") ", " COND("Registered", "Unknown", "00:00"), "14:59", false,
     LIVE_WAIT, 1000},
    {"LC-20: and not registered", COND("Launched", "'True'", "01:00") ", " COND("Registered", "Unknown", "00:00"),
     "15:00", false, LIVE_NOT_REGISTERED, 0},
    {"LC-22: for long enough", COND("Launched", "'True'", "01:00") ", " COND("Registered", "'False'", "10:00"), "24:59",
     false, LIVE_WAIT, 1000},
};

static void some_never_live(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        str text = arena_printf(a, "{status: {conditions: [%s]}}%c", lives[i].conditions, 0);
        str when = arena_printf(a, "2026-01-01T00:%sZ", lives[i].now);
        int64_t now_ms = 0, left_ms = 0;
        struct err e = {0};

        check_ok(lives[i].name, time_parse_rfc3339(when, &now_ms, &e), &e);
        check_i64(lives[i].name,
                  liveness_decide(tree_yaml(a, text.p), 5 * MINUTE_MS, lives[i].after_launch, now_ms, &left_ms),
                  lives[i].want);
        if (lives[i].want == LIVE_WAIT)
            check_i64(lives[i].name, left_ms, lives[i].left_ms);
    }
}

static void texts(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    char text[400];
    struct err e = {.kind = ERR_IO, .msg = "inner"};

    (void)state;
    memset(text, 'x', 299);
    text[299] = '\0';
    check_i64("short", (int64_t)error_text(a, text).n, 299);
    text[299] = 'y';
    text[300] = '\0';
    check_true("long", str_ends(error_text(a, text), STR("xy...")));
    check_i64("long", (int64_t)error_text(a, text).n, 303);
    err_lead(&e, "outer");
    check_str("led", str_c(e.msg), "outer, inner");
    memset(e.msg, 'x', sizeof(e.msg) - 1);
    e.msg[sizeof(e.msg) - 1] = '\0';
    err_lead(&e, "outer");
    check_i64("as much as there is room for", (int64_t)strlen(e.msg), sizeof(e.msg) - 1);
    struct reconcile r = {0};
    struct err first = {.kind = ERR_IO, .msg = "one"}, second = {.kind = ERR_INVALID, .msg = "two"};
    reconcile_fail(&r, &first);
    reconcile_fail(&r, &second);
    check_str("both", str_c(r.err.msg), "one; two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bought_machine),
        cmocka_unit_test(a_node_is_registered),
        cmocka_unit_test(a_node_is_initialized),
        cmocka_unit_test(some_never_live),
        cmocka_unit_test(texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
