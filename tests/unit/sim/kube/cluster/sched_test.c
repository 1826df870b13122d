/* Decisions of the scheduler on small clusters: each case is a few objects and where the pod goes, or why it does not.
 *
 * Nodes are written as "name zone cpu more"; pods that are there as "name node more"; `more` is YAML of the object's own. The texts are those of
 * kube-scheduler 1.36. */
#include <stdio.h>
#include <stdlib.h>

#include "base/sb.h"
#include "data/reader.h"
#include "sim/kube/cluster/sched.h"
#include "support/check.h"

struct node {
    const char *name, *zone, *cpu, *spec, *labels; /* spec and labels: members, "" for none */
};

struct pod {
    const char *name, *node, *labels, *spec, *asks; /* asks: requests */
};

struct world_case {
    const char *name;
    struct node nodes[6];
    struct pod there[8];
    struct pod pod;
    const char *node, *message; /* either */
};

static const struct tree *yaml(struct arena *a, const char *text)
{
    const struct tree *t;
    struct err e = {0};

    check_ok(text, tree_parse_yaml(a, "test", str_c(text), &t, &e), &e);
    return t;
}

static void add_node(struct sched *s, struct arena *a, const struct node *n)
{
    char text[2000];

    snprintf(text, sizeof(text),
             "{metadata: {name: %s, labels: {kubernetes.io/hostname: %s, topology.kubernetes.io/zone: %s%s%s}}, "
             "spec: {%s}, status: {allocatable: {cpu: '%s', memory: 8Gi, pods: '8', nvidia.com/gpu: '1'}}}",
             n->name, n->name, n->zone, n->labels && *n->labels ? ", " : "", n->labels ? n->labels : "",
             n->spec ? n->spec : "", n->cpu);
    sched_node(s, str_c(n->name), yaml(a, text));
}

static void add_pod(struct sched *s, struct arena *a, const struct pod *p)
{
    char text[3000];

    snprintf(text, sizeof(text),
             "{metadata: {name: %s, namespace: default, labels: {%s}}, spec: {%s%s%s%s%s"
             "containers: [{name: c, resources: {requests: {%s}}}]}, status: {startTime: '2026-01-01T00:00:00Z'}}",
             p->name, p->labels ? p->labels : "", p->node && *p->node ? "nodeName: " : "", p->node ? p->node : "",
             p->node && *p->node ? ", " : "", p->spec ? p->spec : "", p->spec && *p->spec ? ", " : "",
             p->asks ? p->asks : "");
    sched_pod(s, str_c(p->name), yaml(a, text), true);
}

static uint64_t no_chance(void *ctx)
{
    (void)ctx;
    return 0;
}

static void run_case(struct arena *a, const struct world_case *c)
{
    struct sched *s = sched_new();
    struct verdict v;

    sched_namespace(s, STR("default"), yaml(a, "{metadata: {labels: {team: a}}}"));
    sched_namespace(s, STR("other"), yaml(a, "{metadata: {labels: {team: b}}}"));
    for (size_t i = 0; i < ARRAY_LEN(c->nodes) && c->nodes[i].name; i++)
        add_node(s, a, &c->nodes[i]);
    for (size_t i = 0; i < ARRAY_LEN(c->there) && c->there[i].name; i++)
        add_pod(s, a, &c->there[i]);
    add_pod(s, a, &c->pod);
    sched_decide(s, str_c(c->pod.name), no_chance, NULL, &v);
    if (c->node)
        check_str(c->name, v.node, c->node);
    else
        check_str(c->name, v.message, c->message);
    sched_free(s);
}

#define SPREAD(key, when, more)                                                                                        \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: " when                          \
    ", labelSelector: {matchLabels: {app: web}}" more "}]"
#define TERM(key, app) "{topologyKey: " key ", labelSelector: {matchLabels: {app: " app "}}}"
#define NEAR(key, app) "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" TERM(key, app) "]}}"
#define AWAY(key, app)                                                                                                 \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" TERM(key, app) "]}}"
#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define NO_HELP(n) " no new claims to deallocate, preemption: 0/" n " nodes are available: "

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* what a case does not say does not matter to it */

/* clang-format off */
static const struct world_case cases[] = {
    {"no nodes", {{0}}, {{0}}, {"p"}, NULL, "no nodes available to schedule pods"},
    {"the emptier of two", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{"x", "n1", "", "", "cpu: 2"}}, {"p", .asks = "cpu: 1"}, "n2", NULL},
    {"it asks for more than any node has", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{0}}, {"p", .asks = "cpu: 100"}, NULL,
     "0/2 nodes are available: 2 Insufficient cpu." NO_HELP("2") "2 Preemption is not helpful for scheduling."},
    {"the room is taken, by nobody who could go", {{"n1", "a", "4"}}, {{"x", "n1", "", "", "cpu: 4"}}, {"p", .asks = "cpu: 1"}, NULL,
     "0/1 nodes are available: 1 Insufficient cpu." NO_HELP("1") "1 No preemption victims found for incoming pod."},
    {"several things are missing", {{"n1", "a", "4"}}, {{0}}, {"p", .asks = "cpu: 5, memory: 9Gi, nvidia.com/gpu: 2"}, NULL,
     "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Insufficient nvidia.com/gpu." NO_HELP("1")
     "1 Preemption is not helpful for scheduling."},
    {"reasons by name", {{"n1", "a", "4", "unschedulable: true"}, {"n2", "a", "4", "taints: [{key: k, value: v, effect: NoSchedule}]"}, {"n3", "b", "1"}},
     {{0}}, {"p", .asks = "cpu: 2"}, NULL,
     "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable." NO_HELP("3")
     "3 Preemption is not helpful for scheduling."},
    {"a taint is tolerated", {{"n1", "a", "4", "taints: [{key: k, value: v, effect: NoSchedule}]"}}, {{0}},
     {"p", .spec = "tolerations: [{key: k, operator: Equal, value: v, effect: NoSchedule}]"}, "n1", NULL},
    {"a taint that is only disliked", {{"n1", "a", "4", "taints: [{key: k, effect: PreferNoSchedule}]"}, {"n2", "b", "4"}}, {{0}}, {"p"}, "n2", NULL},
    {"a cordon is tolerated", {{"n1", "a", "4", "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]"}}, {{0}},
     {"p", .spec = "tolerations: [{operator: Exists}]"}, "n1", NULL},
    {"a node selector", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{0}}, {"p", .spec = "nodeSelector: {" ZONE ": b}"}, "n2", NULL},
    {"a node selector that fits nobody", {{"n1", "a", "4"}}, {{0}}, {"p", .spec = "nodeSelector: {x: y}"}, NULL,
     "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." NO_HELP("1") "1 Preemption is not helpful for scheduling."},
    {"terms of node affinity are alternatives", {{"n1", "a", "4"}, {"n2", "b", "4", "", "gen: '5'"}}, {{0}},
     {"p", .spec = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
      "{matchExpressions: [{key: none, operator: Exists}]}, {matchExpressions: [{key: gen, operator: Gt, values: ['4']}]}]}}}"}, "n2", NULL},
    {"a preference for a label", {{"n1", "a", "4"}, {"n2", "b", "4"}, {"n3", "c", "4"}}, {{0}},
     {"p", .spec = "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 10, preference: "
      "{matchExpressions: [{key: " ZONE ", operator: In, values: [c]}]}}]}}"}, "n3", NULL},
    {"a daemon's pod names its node", {{"n1", "a", "4"}, {"n2", "b", "1"}, {"n3", "c", "4"}}, {{0}},
     {"p", .asks = "cpu: 2", .spec = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
      "{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}}}"}, NULL,
     "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]." NO_HELP("3")
     "3 Preemption is not helpful for scheduling."},
    {"too many pods", {{"n1", "a", "4"}}, {{"a", "n1"}, {"b", "n1"}, {"c", "n1"}, {"d", "n1"}, {"e", "n1"}, {"f", "n1"}, {"g", "n1"}, {"h", "n1"}},
     {"p"}, NULL, "0/1 nodes are available: 1 Too many pods." NO_HELP("1") "1 No preemption victims found for incoming pod."},
    {"spread over zones", {{"n1", "a", "4"}, {"n2", "b", "4"}, {"n3", "c", "1"}}, {{"x", "n1", "app: web"}, {"y", "n2", "app: web"}},
     {"p", .labels = "app: web", .spec = SPREAD(ZONE, "DoNotSchedule", "")}, "n3", NULL},
    {"spread cannot be kept", {{"n1", "a", "4"}, {"n2", "b", "1"}}, {{"x", "n1", "app: web"}, {"y", "n2", "", "", "cpu: 1"}},
     {"p", .labels = "app: web", .asks = "cpu: 1", .spec = SPREAD(ZONE, "DoNotSchedule", "")}, NULL,
     "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints." NO_HELP("2")
     "2 No preemption victims found for incoming pod."},
    {"a node without the label", {{"n1", "a", "4"}}, {{0}}, {"p", .labels = "app: web", .spec = SPREAD("rack", "DoNotSchedule", "")}, NULL,
     "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label)." NO_HELP("1")
     "1 Preemption is not helpful for scheduling."},
    {"too few domains", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{"x", "n1", "app: web"}, {"y", "n2", "app: web"}},
     {"p", .labels = "app: web", .spec = SPREAD(ZONE, "DoNotSchedule", ", minDomains: 3")}, NULL,
     "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints." NO_HELP("2") "2 No preemption victims found for incoming pod."},
    {"nodes that the pod cannot use do not count", {{"n1", "a", "4", "", "pool: x"}, {"n2", "b", "4"}}, {{"x", "n1", "app: web"}},
     {"p", .labels = "app: web", .spec = "nodeSelector: {pool: x}, " SPREAD(ZONE, "DoNotSchedule", "")}, "n1", NULL},
    {"unless they are to count", {{"n1", "a", "4", "", "pool: x"}, {"n2", "b", "4"}}, {{"x", "n1", "app: web"}},
     {"p", .labels = "app: web", .spec = "nodeSelector: {pool: x}, " SPREAD(ZONE, "DoNotSchedule", ", nodeAffinityPolicy: Ignore")}, NULL,
     "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints." NO_HELP("2")
     "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."},
    {"tainted nodes count, or not", {{"n1", "a", "4"}, {"n2", "b", "4", "taints: [{key: k, effect: NoSchedule}]"}}, {{"x", "n1", "app: web"}},
     {"p", .labels = "app: web", .spec = SPREAD(ZONE, "DoNotSchedule", ", nodeTaintsPolicy: Honor")}, "n1", NULL},
    {"only pods of the same revision count", {{"n1", "a", "4"}, {"n2", "b", "1"}}, {{"x", "n1", "app: web, rev: '1'"}, {"y", "n2", "", "", "cpu: 1"}},
     {"p", .labels = "app: web, rev: '2'", .asks = "cpu: 1", .spec = SPREAD(ZONE, "DoNotSchedule", ", matchLabelKeys: [rev]")}, "n1", NULL},
    {"spread if possible", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{"x", "n1", "app: web"}, {"y", "n1", "app: web"}},
     {"p", .labels = "app: web", .spec = SPREAD(HOST, "ScheduleAnyway", "")}, "n2", NULL},
    {"near a pod", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{"x", "n2", "app: db"}}, {"p", .spec = NEAR(ZONE, "db")}, "n2", NULL},
    {"near nobody", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{0}}, {"p", .spec = NEAR(ZONE, "db")}, NULL,
     "0/2 nodes are available: 2 node(s) didn't match pod affinity rules." NO_HELP("2") "2 Preemption is not helpful for scheduling."},
    {"the first of those who want to be together", {{"n1", "a", "4"}}, {{0}}, {"p", .labels = "app: db", .spec = NEAR(ZONE, "db")}, "n1", NULL},
    {"away from a pod", {{"n1", "a", "4"}, {"n2", "b", "4"}}, {{"x", "n1", "app: db"}}, {"p", .spec = AWAY(HOST, "db")}, "n2", NULL},
    {"away from everybody", {{"n1", "a", "4"}}, {{"x", "n1", "app: db"}}, {"p", .spec = AWAY(HOST, "db")}, NULL,
     "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules." NO_HELP("1") "1 No preemption victims found for incoming pod."},
    {"who is there keeps others away", {{"n1", "a", "4"}}, {{"x", "n1", "app: db", AWAY(ZONE, "web")}}, {"p", .labels = "app: web"}, NULL,
     "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules." NO_HELP("1") "1 No preemption victims found for incoming pod."},
    {"pods of other namespaces do not count", {{"n1", "a", "4"}}, {{"x", "n1", "app: db"}},
     {"p", .spec = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " HOST
      ", namespaces: [other], labelSelector: {matchLabels: {app: db}}}]}}"}, "n1", NULL},
    {"unless they are selected", {{"n1", "a", "4"}}, {{"x", "n1", "app: db"}},
     {"p", .spec = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " HOST
      ", namespaceSelector: {matchLabels: {team: a}}, labelSelector: {matchLabels: {app: db}}}]}}"}, NULL,
     "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules." NO_HELP("1") "1 No preemption victims found for incoming pod."},
    {"rather near", {{"n1", "a", "4"}, {"n2", "b", "4"}, {"n3", "c", "4"}}, {{"x", "n3", "app: db"}},
     {"p", .spec = "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: " TERM(ZONE, "db") "}]}}"},
     "n3", NULL},
    {"liked by who is there", {{"n1", "a", "4"}, {"n2", "b", "4"}, {"n3", "c", "4"}}, {{"x", "n2", "app: db",
      "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: " TERM(ZONE, "web") "}]}}"}},
     {"p", .labels = "app: web"}, "n2", NULL},
};
/* clang-format on */

static void placement(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);

        run_case(a, &cases[i]);
    }
}

/* ---- host ports ---- */

static void host_ports(void **state)
{
    static const struct {
        const char *name, *a, *b;
        bool clash;
    } ports[] = {
        {"the same", "{hostPort: 80}", "{hostPort: 80}", true},
        {"another", "{hostPort: 80}", "{hostPort: 81}", false},
        {"another protocol", "{hostPort: 80, protocol: UDP}", "{hostPort: 80}", false},
        {"other addresses", "{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 10.0.0.2}", false},
        {"an address and all", "{hostPort: 80, hostIP: 10.0.0.1}", "{hostPort: 80, hostIP: 0.0.0.0}", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ports); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sched *s = sched_new();
        struct verdict v;
        char text[400];

        add_node(s, a, &(struct node){"n1", "a", "4", "", ""});
        for (int k = 0; k < 2; k++) {
            snprintf(text, sizeof(text),
                     "{metadata: {namespace: default}, spec: {%scontainers: [{name: c, ports: [%s]}]}}",
                     k ? "" : "nodeName: n1, ", k ? ports[i].b : ports[i].a);
            sched_pod(s, k ? STR("p") : STR("x"), yaml(a, text), true);
        }
        sched_decide(s, STR("p"), no_chance, NULL, &v);
        check_true(ports[i].name, (v.node.n == 0) == ports[i].clash);
        sched_free(s);
    }
}

/* ---- preemption ---- */

static str victims(struct arena *a, const struct verdict *v)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < v->n_victims; i++)
        sb_printf(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(v->victims[i]));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void decide_vip(struct sched *s, struct arena *a, const char *spec, const char *asks, struct verdict *v)
{
    add_pod(s, a, &(struct pod){"vip", "", "app: vip", spec, asks});
    sched_decide(s, STR("vip"), no_chance, NULL, v);
}

static void preemption(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sched *s = sched_new();
    struct verdict v;

    (void)state;
    add_node(s, a, &(struct node){"n1", "a", "4", "", ""});
    add_node(s, a, &(struct node){"n2", "b", "4", "", ""});
    add_pod(s, a, &(struct pod){"a1", "n1", "app: a", "priority: 10", "cpu: 2"});
    add_pod(s, a, &(struct pod){"a2", "n1", "app: a", "priority: 10", "cpu: 2"});
    add_pod(s, a, &(struct pod){"b1", "n2", "app: b", "priority: 5", "cpu: 1"});
    add_pod(s, a, &(struct pod){"b2", "n2", "app: b", "priority: 20", "cpu: 3"});

    decide_vip(s, a, "priority: 100", "cpu: 1", &v);
    check_str("the least important", victims(a, &v), "b1");
    check_str("where", v.nominated, "n2");
    check_str("says just why", v.message, "0/2 nodes are available: 2 Insufficient cpu.");
    decide_vip(s, a, "priority: 100", "cpu: 4", &v);
    check_str("the highest victim is lower", victims(a, &v), "a1 a2");
    decide_vip(s, a, "priority: 5", "cpu: 1", &v);
    check_i64("nobody below", v.n_victims, 0);
    decide_vip(s, a, "priority: 100, preemptionPolicy: Never", "cpu: 1", &v);
    check_str(
        "never", v.message,
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to "
        "preemptionPolicy=Never.");
    sched_budget(
        s, STR("default"), STR("b"),
        yaml(a, "{spec: {selector: {matchLabels: {app: b}}}, status: {disruptionsAllowed: 0, observedGeneration: 1}}"));
    decide_vip(s, a, "priority: 100", "cpu: 1", &v);
    check_i64("one", v.n_victims, 1);
    check_str("a budget protects", v.nominated, "n1");
    sched_free(s);
}

/* A node that was promised to somebody is not given to somebody less important. */
static void promises(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sched *s = sched_new();
    struct verdict v;

    (void)state;
    add_node(s, a, &(struct node){"n1", "a", "4", "", ""});
    sched_pod(
        s, STR("vip"),
        yaml(a,
             "{metadata: {namespace: default}, spec: {priority: 9, containers: [{resources: {requests: {cpu: 3}}}]}, "
             "status: {nominatedNodeName: n1}}"),
        true);
    add_pod(s, a, &(struct pod){"p", "", "", "", "cpu: 2"});
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("kept for the other", v.node, "");
    add_pod(s, a, &(struct pod){"q", "", "", "priority: 10", "cpu: 2"});
    sched_decide(s, STR("q"), no_chance, NULL, &v);
    check_str("who matters more goes first", v.node, "n1");
    sched_free(s);
}

/* ---- volumes ---- */

static void volumes(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sched *s = sched_new();
    struct verdict v;
    static const char claim[] = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]";

    (void)state;
    add_node(s, a, &(struct node){"n1", "a", "4", "", ""});
    add_node(s, a, &(struct node){"n2", "b", "4", "", ""});
    add_pod(s, a, &(struct pod){"p", "", "", claim, ""});
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("no claim", v.message, "0/2 nodes are available: persistentvolumeclaim \"c\" not found. not found");
    sched_class(s, STR("wait"),
                yaml(a, "{provisioner: d, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: "
                        "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]}"));
    sched_claim(s, STR("default"), STR("c"), yaml(a, "{spec: {storageClassName: gone}, status: {phase: Pending}}"));
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("not bound", v.message,
              "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found");
    sched_claim(s, STR("default"), STR("c"), yaml(a, "{spec: {storageClassName: wait}, status: {phase: Pending}}"));
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("where it can be made", v.node, "n2");
    check_i64("to be made first", v.n_provision, 1);
    sched_assume(s, STR("p"), (str){0});

    sched_volume(s, STR("pv"),
                 yaml(a, "{spec: {csi: {driver: d, volumeHandle: h}, nodeAffinity: {required: {nodeSelectorTerms: "
                         "[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}}}"));
    sched_claim(s, STR("default"), STR("c"), yaml(a, "{spec: {volumeName: pv}, status: {phase: Bound}}"));
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("where it is", v.node, "n1");
    sched_assume(s, STR("p"), (str){0});
    sched_csi_node(s, STR("n1"), yaml(a, "{spec: {drivers: [{name: d, allocatable: {count: 0}}]}}"));
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("no slot left", v.message,
              "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) exceed max "
              "volume count. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims "
              "found for incoming pod, 1 Preemption is not helpful for scheduling.");
    sched_free(s);
}

/* ---- the state ---- */

/* Whatever comes and goes, the counts are those of what is there. */
static void counts_follow(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sched *s = sched_new();
    struct verdict v;
    static const struct pod web = {"p", "", "app: web", SPREAD(ZONE, "DoNotSchedule", ""), ""};

    (void)state;
    add_pod(s, a, &(struct pod){"x", "n1", "app: web", "", ""}); /* before its node */
    add_node(s, a, &(struct node){"n1", "a", "4", "", ""});
    add_node(s, a, &(struct node){"n2", "b", "4", "", ""});
    add_pod(s, a, &web);
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("away from x", v.node, "n2");
    sched_assume(s, STR("p"), (str){0});
    sched_pod(s, STR("x"), NULL, true);
    add_pod(s, a, &(struct pod){"y", "n2", "app: web", "", ""});
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("away from y", v.node, "n1");
    sched_assume(s, STR("p"), (str){0});
    add_pod(s, a, &(struct pod){"y", "n2", "app: other", "", ""}); /* another label now */
    add_pod(s, a, &(struct pod){"z", "n1", "app: web", "", ""});
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_str("away from z", v.node, "n2");
    sched_assume(s, STR("p"), (str){0});
    sched_node(s, STR("n1"), NULL);
    sched_node(s, STR("n2"), NULL);
    for (int i = 0; i < 200; i++) { /* past the first arrays */
        char name[16];

        snprintf(name, sizeof(name), "m%d", i);
        add_node(s, a, &(struct node){name, "c", "4", "", ""});
    }
    add_node(s, a, &(struct node){"n1", "a", "1", "", ""}); /* z comes back with it */
    sched_decide(s, STR("p"), no_chance, NULL, &v);
    check_true("not where z is", v.node.n && !str_is(v.node, "n1"));
    sched_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement), cmocka_unit_test(host_ports), cmocka_unit_test(preemption),
        cmocka_unit_test(promises),  cmocka_unit_test(volumes),    cmocka_unit_test(counts_follow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
