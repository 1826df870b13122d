/* Why pods have no place: Karpenter's words to the letter, and the nearest miss with its numbers. */
#include <stdlib.h>

#include "base/sb.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/itypes.h"
#include "k8s/settings.h"
#include "plan/plan.h"
#include "state/state.h"
#include "support/check.h"

#define NOW_MS 1768478400000 /* 2026-01-15T12:00:00Z */

#define OFFERING(zone, ct, price)                                                                                      \
    "{\"Price\":" price ",\"Available\":true,\"Requirements\":["                                                       \
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"" ct "\"]},"                            \
    "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"" zone "\"]}]}"
#define TYPE(name, arch, cpu, memory, offerings)                                                                       \
    "{\"name\":\"" name "\",\"architecture\":\"" arch                                                                  \
    "\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory                      \
    "\",\"pods\":\"10\"},\"offerings\":[" offerings "]}"

/* Spot in zone-a only. Nodes keep 100m cpu and 10Mi memory of these for themselves. */
/* clang-format off */
static const char types[] =
    "["
    TYPE("m-2", "amd64", "2", "8Gi",
         OFFERING("zone-a", "on-demand", "0.1") "," OFFERING("zone-b", "on-demand", "0.1")) ","
    TYPE("m-4", "amd64", "4", "16Gi",
         OFFERING("zone-a", "on-demand", "0.2") "," OFFERING("zone-b", "on-demand", "0.2") ","
         OFFERING("zone-a", "spot", "0.06")) ","
    TYPE("a-4", "arm64", "4", "16Gi", OFFERING("zone-a", "on-demand", "0.15"))
    "]";
/* clang-format on */

#define POOL_HEAD(name, more)                                                                                          \
    "---\n"                                                                                                            \
    "apiVersion: karpenter.sh/v1\n"                                                                                    \
    "kind: NodePool\n"                                                                                                 \
    "metadata: {name: " name "}\n"                                                                                     \
    "spec:\n" more "  template:\n"
#define POOL_TAIL(tmpl, reqs)                                                                                          \
    tmpl "    spec:\n"                                                                                                 \
         "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"                        \
         "      requirements: [" reqs "]\n"
#define POOL(name, reqs) POOL_HEAD(name, "") POOL_TAIL("", reqs)
#define POOL_LIMITED(name, limits) POOL_HEAD(name, "  limits: {" limits "}\n") POOL_TAIL("", "")
#define POOL_LABELS(name, labels) POOL_HEAD(name, "") POOL_TAIL("    metadata: {labels: {" labels "}}\n", "")
#define POOL_TAINTED(name, taint) POOL_HEAD(name, "") POOL_TAIL("", "") "      taints: [{" taint "}]\n"
#define REQ(key, op, vals) "{key: " key ", operator: " op ", values: [" vals "]}"

#define POD_NAMED(ns, name, requests, more)                                                                            \
    "---\n"                                                                                                            \
    "apiVersion: v1\n"                                                                                                 \
    "kind: Pod\n"                                                                                                      \
    "metadata: {name: " name ", namespace: " ns ", uid: " ns "-" name ", labels: {app: web}}\n"                        \
    "spec:\n"                                                                                                          \
    "  containers: [{name: c, image: i, resources: {requests: {" requests "}}}]\n" more                                \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"
#define POD(requests, more) POD_NAMED("default", "p", requests, more)
#define SELECT(key, val) "  nodeSelector: {" key ": " val "}\n"
#define APART(key)                                                                                                     \
    "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                                  \
    "[{topologyKey: " key ", labelSelector: {matchLabels: {app: web}}}]}}\n"
#define NEAR_OTHERS(key)                                                                                               \
    "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "                                      \
    "[{topologyKey: " key ", labelSelector: {matchLabels: {app: other}}}]}}\n"

#define OWN "karpenter.kwok.sh/kwoknodeclass In [default], karpenter.sh/initialized In [true]"
#define OWN_2 "karpenter.sh/nodepool In [default], karpenter.sh/registered In [true]"

struct world {
    struct arena *a;
    struct syms *t;
    struct objects *o;
    struct snapshot *s;
    struct plan *plan;
    struct sb out;
};

static void world_fini(struct world *w)
{
    sb_fini(&w->out);
    objects_free(w->o);
    syms_free(w->t);
    arena_free(w->a);
}

static bool world_plan(struct world *w, const char *yaml, const char *catalog, struct err *e)
{
    struct settings settings;
    const struct tree *t = NULL;

    *w = (struct world){.a = arena_new(0), .t = syms_new()};
    w->o = objects_new(w->t);
    settings_defaults(&settings);
    struct catalog *c = itypes_parse(w->a, w->t, "types.json", str_c(catalog), e);
    AUTO(decoder) struct decoder *d = decoder_new(w->o);
    AUTO(reader) struct reader *r = reader_open_bytes("test", str_c(yaml), e);
    if (!c || !r)
        return false;
    do
        if (!reader_next(r, &t, e) || (t && !k8s_decode(d, t, e)))
            return false;
    while (t);
    w->s = state_build(w->a, w->o, c, &settings, NOW_MS, e);
    if (!w->s)
        return false;
    w->plan = plan_make(w->a, w->s);
    plan_sort_failures(w->s, w->plan);
    plan_add_bound(w->s, w->plan);
    return true;
}

static void world_must(struct world *w, const char *name, const char *yaml, const char *catalog)
{
    struct err e = {0};

    check_ok(name, world_plan(w, yaml, catalog, &e), &e);
}

/* "resources m-4 memory: needs 96Gi, has 15.9Gi" */
static str near_text(struct world *w, const struct plan_near *n)
{
    sb_reset(&w->out);
    if (!n->present)
        return STR("nothing");
    sb_c(&w->out, n->constraint);
    if (n->type != UINT32_MAX)
        sb_printf(&w->out, " " STR_FMT, STR_ARG(sym_str(w->t, w->s->catalog->types[n->type].name)));
    sb_printf(&w->out, " " STR_FMT ": needs " STR_FMT ", has " STR_FMT, STR_ARG(n->key), STR_ARG(n->needs),
              STR_ARG(n->has));
    return sb_view(&w->out);
}

/* The first failure of each plan. */
static const struct {
    const char *name, *yaml, *reason, *near, *hint;
} cases[] = {
    {"too much memory", POOL("default", "") POD("memory: 96Gi", ""),
     "no instance type has enough resources, requirements=" OWN ", " OWN_2
     ", resources={\"memory\":\"96Gi\",\"pods\":\"1\"}",
     "resources m-4 memory: needs 96Gi, has 15.9Gi",
     "ask for less memory, or let NodePool \"default\" use larger types"},
    {"a million cpus are a typo", POOL("default", "") POD("cpu: 1M", ""),
     "no instance type has enough resources, requirements=" OWN ", " OWN_2
     ", resources={\"cpu\":\"1M\",\"pods\":\"1\"} (CPU request >= 1 Million, m vs M typo?)",
     "resources m-4 cpu: needs 1M, has 3900m", "ask for less cpu, or let NodePool \"default\" use larger types"},
    {"a resource nobody has", POOL("default", "") POD("example.com/gpu: 2", ""),
     "no instance type has enough resources, requirements=" OWN ", " OWN_2
     ", resources={\"example.com/gpu\":\"2\",\"pods\":\"1\"}",
     "resources m-2 example.com/gpu: needs 2, has 0", "add a NodePool with instance types that have example.com/gpu"},
    {"the closest type is the one that lacks least",
     POOL("default", REQ("kubernetes.io/arch", "In", "arm64")) POD("cpu: 3950m", ""),
     "no instance type has enough resources, requirements=karpenter.kwok.sh/kwoknodeclass In [default], "
     "karpenter.sh/initialized In [true], " OWN_2
     ", kubernetes.io/arch In [arm64], resources={\"cpu\":\"3950m\",\"pods\":\"1\"}",
     "resources a-4 cpu: needs 3950m, has 3900m", "ask for less cpu, or let NodePool \"default\" use larger types"},
    {"an untolerated taint", POOL_TAINTED("default", "key: team, value: blue, effect: NoSchedule") POD("cpu: 1", ""),
     "did not tolerate taint (taint=team=blue:NoSchedule)", "taints team=blue:NoSchedule: needs a toleration, has ",
     "tolerate team=blue:NoSchedule, or add a NodePool without it"},
    {"a taint without a value", POOL_TAINTED("default", "key: gpu, effect: NoExecute") POD("cpu: 1", ""),
     "did not tolerate taint (taint=gpu:NoExecute)", "taints gpu:NoExecute: needs a toleration, has ",
     "tolerate gpu:NoExecute, or add a NodePool without it"},
    {"a label nobody defines", POOL("default", "") POD("cpu: 1", SELECT("example.com/unknown", "x")),
     "incompatible requirements, label \"example.com/unknown\" does not have known values",
     "requirements example.com/unknown: needs In [x], has undefined",
     "add example.com/unknown to the labels or requirements of NodePool \"default\""},
    {"a misspelt well-known label", POOL("default", "") POD("cpu: 1", SELECT("topology.kubernetes.io/zon", "zone-a")),
     "incompatible requirements, label \"topology.kubernetes.io/zon\" does not have known values "
     "(typo of \"topology.kubernetes.io/zone\"?)",
     "requirements topology.kubernetes.io/zon: needs In [zone-a], has undefined",
     "did you mean topology.kubernetes.io/zone?"},
    {"a misspelt label of the pool",
     POOL_LABELS("default", "example.com/tier: front") POD("cpu: 1", SELECT("tier", "front")),
     "incompatible requirements, label \"tier\" does not have known values (typo of \"example.com/tier\"?)",
     "requirements tier: needs In [front], has undefined", "did you mean example.com/tier?"},
    {"another value than the pool's", POOL_LABELS("default", "tier: front") POD("cpu: 1", SELECT("tier", "back")),
     "incompatible requirements, key tier, tier In [back] not in tier In [front]",
     "requirements tier: needs In [back], has In [front]",
     "let NodePool \"default\" allow tier In [back], or add one that does"},
    {"a pool that does not exist", POOL("default", "") POD("cpu: 1", SELECT("karpenter.sh/nodepool", "other")),
     "incompatible requirements, key karpenter.sh/nodepool, karpenter.sh/nodepool In [other] not in "
     "karpenter.sh/nodepool In [default]",
     "requirements karpenter.sh/nodepool: needs In [other], has In [default]",
     "name a NodePool that exists and is ready"},
    {"no type has the architecture", POOL("default", "") POD("cpu: 1", SELECT("kubernetes.io/arch", "riscv64")),
     "no instance type met all requirements, requirements=" OWN ", " OWN_2
     ", kubernetes.io/arch In [riscv64], resources={\"cpu\":\"1\",\"pods\":\"1\"}",
     "requirements m-2 kubernetes.io/arch: needs In [riscv64], has In [amd64 arm64]",
     "ask for another kubernetes.io/arch, or let NodePool \"default\" use more types"},
    {"an unknown zone fails in every way",
     POOL("default", "") POD("cpu: 1", SELECT("topology.kubernetes.io/zone", "mars-1")),
     "no instance type met the scheduling requirements or had enough resources or had a required offering, requirements=" OWN
     ", " OWN_2 ", topology.kubernetes.io/zone In [mars-1], resources={\"cpu\":\"1\",\"pods\":\"1\"}",
     "requirements m-2 topology.kubernetes.io/zone: needs In [mars-1], has In [zone-a zone-b]",
     "ask for another topology.kubernetes.io/zone, or let NodePool \"default\" use more types"},
    {"spot is not on offer in that zone",
     POOL("default", REQ("karpenter.sh/capacity-type", "In", "spot"))
         POD("cpu: 1", SELECT("topology.kubernetes.io/zone", "zone-b")),
     "no instance type had enough resources or had a required offering, requirements=karpenter.kwok.sh/kwoknodeclass In "
     "[default], karpenter.sh/capacity-type In [spot], karpenter.sh/initialized In [true], " OWN_2
     ", topology.kubernetes.io/zone In [zone-b], resources={\"cpu\":\"1\",\"pods\":\"1\"}",
     "offering m-4 topology.kubernetes.io/zone: needs In [zone-b], has In [zone-a]",
     "allow another topology.kubernetes.io/zone, or more types in NodePool \"default\""},
    {"the fitting types are too small",
     POOL("default", "") POD("cpu: 3, memory: 20Gi", SELECT("node.kubernetes.io/instance-type", "m-2")),
     "no instance type has enough resources, requirements=" OWN ", " OWN_2
     ", node.kubernetes.io/instance-type In [m-2], resources={\"cpu\":\"3\",\"memory\":\"20Gi\",\"pods\":\"1\"}",
     "resources m-2 memory: needs 20Gi, has 7.9Gi",
     "ask for less memory, or let NodePool \"default\" use larger types"},
    {"a fitting type is of the wrong kind",
     POOL("default", "") POD("cpu: 3", SELECT("node.kubernetes.io/instance-type", "m-2")),
     "no instance type which had enough resources and the required offering met the scheduling requirements, requirements=" OWN
     ", " OWN_2 ", node.kubernetes.io/instance-type In [m-2], resources={\"cpu\":\"3\",\"pods\":\"1\"}",
     "resources m-2 cpu: needs 3, has 1900m", "ask for less cpu, or let NodePool \"default\" use larger types"},
    {"limits leave no type", POOL_LIMITED("default", "cpu: 1") POD("cpu: 500m", ""),
     "all available instance types exceed limits for nodepool (NodePool=default)",
     "limits m-2 cpu: needs 2, has 1 left of 1", "raise limits.cpu of NodePool \"default\""},
    {"limits leave only types that are too small", POOL_LIMITED("default", "cpu: 3, memory: 100Gi") POD("cpu: 3", ""),
     "no instance type has enough resources, requirements=" OWN ", " OWN_2 ", resources={\"cpu\":\"3\",\"pods\":\"1\"}",
     "limits m-4 cpu: needs 4, has 3 left of 3", "raise limits.cpu of NodePool \"default\""},
    {"no node may be added", POOL_LIMITED("default", "nodes: 0") POD("cpu: 1", ""),
     "node limits have been exhausted for nodepool (NodePool=default)", "limits m-2 nodes: needs 1, has 0 left of 0",
     "raise limits.nodes of NodePool \"default\""},
    {"nobody to be near to", POOL("default", "") POD("cpu: 1", NEAR_OTHERS("topology.kubernetes.io/zone")),
     "unsatisfiable topology constraint for pod affinity, key=topology.kubernetes.io/zone (counts = zone-a: 0, zone-b: 0, "
     "podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone Exists",
     "topology topology.kubernetes.io/zone: needs a domain with a pod it wants to be near, has zone-a: 0, zone-b: 0",
     "run such a pod in a topology.kubernetes.io/zone where this one may go"},
    {"more pods than zones",
     POOL("default", "") POD_NAMED("default", "a", "cpu: 3",
                                   APART("topology.kubernetes.io/zone") SELECT("topology.kubernetes.io/zone", "zone-a"))
         POD_NAMED("default", "b", "cpu: 2",
                   APART("topology.kubernetes.io/zone") SELECT("topology.kubernetes.io/zone", "zone-a")),
     "unsatisfiable topology constraint for pod anti-affinity, key=topology.kubernetes.io/zone (counts = zone-a: 1, zone-b: 0, "
     "podDomains = topology.kubernetes.io/zone In [zone-a], nodeDomains = topology.kubernetes.io/zone In [zone-a]",
     "topology topology.kubernetes.io/zone: needs a domain without pods it must keep away from, has zone-a: 1, zone-b: 0",
     "allow more domains of topology.kubernetes.io/zone, or make the anti-affinity preferred"},
    {"pool filtered out", POOL("default", REQ("kubernetes.io/arch", "In", "s390x")) POD("cpu: 1", ""),
     "nodepool requirements filtered out all available instance types",
     "requirements m-2 kubernetes.io/arch: needs In [s390x], has In [amd64 arm64]",
     "NodePool \"default\" has no instance type: widen its requirement on kubernetes.io/arch"},
    {"pool filtered out by minValues",
     POOL("default", "{key: kubernetes.io/arch, operator: Exists, minValues: 3}") POD("cpu: 1", ""),
     "nodepool requirements filtered out all available instance types",
     "minValues kubernetes.io/arch: needs 3 values, has 2",
     "lower minValues in NodePool \"default\", or widen its requirements"},
    {"no pool", POD("cpu: 1", ""), "no nodepools found", "nothing", ""},
    {"minValues",
     POOL("default", "{key: node.kubernetes.io/instance-type, operator: Exists, minValues: 2}")
         POD("cpu: 3, memory: 10Gi", SELECT("kubernetes.io/arch", "amd64")),
     "minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type]), requirements=" OWN
     ", " OWN_2 ", kubernetes.io/arch In [amd64], node.kubernetes.io/instance-type Exists minValues 2, "
     "resources={\"cpu\":\"3\",\"memory\":\"10Gi\",\"pods\":\"1\"}",
     "minValues node.kubernetes.io/instance-type: needs 2 values, has 1",
     "lower minValues in NodePool \"default\", or widen its requirements"},
    {"every pool has its say; the one that got furthest is the nearest",
     POOL_TAINTED("b", "key: team, value: blue, effect: NoSchedule") POOL_LABELS("a", "tier: front")
         POD("cpu: 1", SELECT("tier", "back")),
     "did not tolerate taint (taint=team=blue:NoSchedule); incompatible requirements, key tier, tier In [back] not in tier In "
     "[front]",
     "requirements tier: needs In [back], has In [front]",
     "let NodePool \"a\" allow tier In [back], or add one that does"},
    {"devices", POOL("default", "") POD("cpu: 1", "  resourceClaims: [{name: gpu, resourceClaimName: x}]\n"),
     "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter", "nothing", ""},
};

static void reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;

        world_must(&w, cases[i].name, cases[i].yaml, types);
        check_true(cases[i].name, w.plan->n_failures > 0);
        check_str(cases[i].name, w.plan->failures[0].why->reason, cases[i].reason);
        check_str(cases[i].name, near_text(&w, &w.plan->failures[0].why->near), cases[i].near);
        check_str(cases[i].name, w.plan->failures[0].why->near.hint, cases[i].hint);
        check_true(cases[i].name, !w.plan->failures[0].why->deferred);
        world_fini(&w);
    }
}

static void volumes_that_contradict(void **state)
{
    static const char yaml[] = POOL(
        "default",
        REQ("topology.kubernetes.io/zone", "In",
            "zone-a")) "---\n"
                       "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: default,"
                       " annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\nspec: {volumeName: pv-1}\nstatus: {phase: Bound}\n---\n"
                       "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1}\nspec:\n"
                       "  claimRef: {name: data, namespace: default}\n  csi: {driver: d, volumeHandle: h}\n"
                       "  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                       "[{key: topology.kubernetes.io/zone, operator: In, values: [zone-b]}]}]}}\n" POD(
                           "cpu: 1", "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n");
    struct world w;

    (void)state;
    world_must(&w, "volumes", yaml, types);
    check_u64("volumes", w.plan->n_failures, 1);
    check_str(
        "volumes", w.plan->failures[0].why->reason,
        "incompatible volume requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [zone-b] "
        "not in topology.kubernetes.io/zone In [zone-a]");
    check_str("volumes", near_text(&w, &w.plan->failures[0].why->near),
              "volumes topology.kubernetes.io/zone: needs In [zone-b], has In [zone-a]");
    world_fini(&w);
}

#define DAEMON(name, requests, port, select)                                                                           \
    "---\n"                                                                                                            \
    "apiVersion: apps/v1\n"                                                                                            \
    "kind: DaemonSet\n"                                                                                                \
    "metadata: {name: " name ", namespace: kube-system}\n"                                                             \
    "spec:\n"                                                                                                          \
    "  selector: {matchLabels: {app: " name "}}\n"                                                                     \
    "  template:\n"                                                                                                    \
    "    metadata: {labels: {app: " name "}}\n"                                                                        \
    "    spec:\n" select "      containers: [{name: c, image: i, ports: [" port "], resources: {requests: {" requests  \
    "}}}]\n"

static void daemons_count(void **state)
{
    struct world w;

    (void)state;
    world_must(&w, "same on all types", POOL("default", "") DAEMON("log", "cpu: 200m", "", "") POD("cpu: 3800m", ""),
               types);
    check_str("same on all types", w.plan->failures[0].why->reason,
              "no instance type has enough resources, requirements=" OWN ", " OWN_2
              ", resources={\"cpu\":\"4\",\"pods\":\"2\"}");
    check_str("same on all types", near_text(&w, &w.plan->failures[0].why->near),
              "resources m-4 cpu: needs 3800m, has 3700m");
    world_fini(&w);

    world_must(&w, "by type",
               POOL("default", "") DAEMON("log", "cpu: 200m", "", "")
                   DAEMON("arm", "cpu: 100m", "", "      nodeSelector: {kubernetes.io/arch: arm64}\n")
                       POD("cpu: 3800m", ""),
               types);
    check_str("by type", w.plan->failures[0].why->reason,
              "no instance type has enough resources, requirements=" OWN ", " OWN_2
              ", resources=min={\"cpu\":\"4\",\"pods\":\"2\"}, max={\"cpu\":\"4100m\",\"pods\":\"3\"}");
    world_fini(&w);
}

static void a_port_that_daemons_have(void **state)
{
    static const char yaml[] = POOL("default", "") DAEMON(
        "node-exporter", "cpu: 100m", "{containerPort: 9100, hostPort: 9100}",
        "") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default, uid: u}\nspec:\n"
            "  containers: [{name: c, image: i, ports: [{containerPort: 9100, hostPort: 9100}]}]\n"
            "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n";
    struct world w;

    (void)state;
    world_must(&w, "ports", yaml, types);
    check_str("ports", w.plan->failures[0].why->reason,
              "no instance type met the scheduling requirements or had enough resources or had a required offering, "
              "requirements=" OWN ", " OWN_2 ", resources={\"pods\":\"1\"}");
    check_str("ports", near_text(&w, &w.plan->failures[0].why->near),
              "hostPorts hostPort: needs TCP 0.0.0.0:9100, has taken by a DaemonSet on every node");
    world_fini(&w);
}

/* Required terms are tried one after the other; the last one is what is reported. */
static void the_last_try_counts(void **state)
{
    static const char yaml[] = POOL_LABELS("default", "tier: front") POD(
        "cpu: 1", "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
                  "{matchExpressions: [{key: tier, operator: In, values: [first]}]}, "
                  "{matchExpressions: [{key: tier, operator: In, values: [second]}]}]}}}\n");
    struct world w;

    (void)state;
    world_must(&w, "terms", yaml, types);
    check_str("terms", w.plan->failures[0].why->reason,
              "incompatible requirements, key tier, tier In [second] not in tier In [front]");
    world_fini(&w);
}

static void a_reservation_that_is_used_up(void **state)
{
    /* clang-format off */
    static const char catalog[] =
        "["
        TYPE("m-4", "amd64", "4", "16Gi",
             OFFERING("zone-a", "on-demand", "0.2") ","
             "{\"Price\":0.0001,\"Available\":true,\"ReservationCapacity\":1,\"Requirements\":["
             "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"reserved\"]},"
             "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"zone-a\"]},"
             "{\"key\":\"karpenter.kwok.sh/reservation-id\",\"operator\":\"In\",\"values\":[\"cr-1\"]}]}")
        "]";
    /* clang-format on */
    struct world w;

    (void)state;
    world_must(&w, "reserved",
               POOL("default", "") POD_NAMED("default", "a", "cpu: 3", "") POD_NAMED("default", "b", "cpu: 2", ""),
               catalog);
    check_u64("reserved", w.plan->n_failures, 1);
    check_str("reserved", w.plan->failures[0].why->reason,
              "one or more instance types with compatible reserved offerings are available, but could not be reserved");
    check_true("reserved", w.plan->failures[0].why->deferred);
    check_str("reserved", near_text(&w, &w.plan->failures[0].why->near),
              "reservation cr-1: needs 1 free instance, has 0");
    world_fini(&w);
}

/* The types together meet minValues, but a NodeClaim lists the 600 cheapest: it is given up, and its pods say why. */
static void a_claim_that_is_cut(void **state)
{
    struct world w;
    struct sb catalog = {0};

    (void)state;
    sb_char(&catalog, '[');
    for (unsigned i = 0; i < 700; i++)
        sb_printf(&catalog, "%s" TYPE("t-%u", "amd64", "%d", "8Gi", OFFERING("zone-a", "on-demand", "%s")),
                  i ? "," : "", i, i < 650 ? 4 : 8, i < 650 ? "0.1" : "0.2");
    sb_char(&catalog, ']');
    world_must(&w, "cut",
               POOL("default", "{key: karpenter.kwok.sh/instance-cpu, operator: Exists, minValues: 2}")
                   POD("cpu: 1", ""),
               sb_cstr(&catalog));
    check_u64("cut", w.plan->n_claims, 0);
    check_u64("cut", w.plan->n_failures, 1);
    check_str(
        "cut", w.plan->failures[0].why->reason,
        "pod didn't schedule because NodePool couldn't meet minValues requirements, validating minValues, minValues "
        "requirement is not met for label(s) (label(s)=[karpenter.kwok.sh/instance-cpu]) (NodePool=default)");
    check_str("cut", near_text(&w, &w.plan->failures[0].why->near),
              "minValues karpenter.kwok.sh/instance-cpu: needs 2 values, has 1");
    sb_fini(&catalog);
    world_fini(&w);
}

/* By namespace, then name; pods of one kind share their texts. */
static void failures_are_in_order(void **state)
{
    struct world w;
    struct sb yaml = {0};

    (void)state;
    sb_c(&yaml, POOL("default", ""));
    for (unsigned i = 0; i < 400; i++) {
        unsigned k = (i * 7919) % 400;

        sb_printf(
            &yaml,
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%u, namespace: ns-%u, uid: u%u}\nspec:\n"
            "  containers: [{name: c, image: i, resources: {requests: {cpu: 100}}}]\n"
            "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n",
            k % 3 ? "a-long-name-that-many-share" : "a-long-name", k, k % 4, k);
    }
    world_must(&w, "order", sb_cstr(&yaml), types);
    check_u64("order", w.plan->n_failures, 400);
    for (uint32_t i = 1; i < w.plan->n_failures; i++) {
        const struct plan_failure *x = &w.plan->failures[i - 1], *y = &w.plan->failures[i];
        const struct pod *a = &w.s->pods[x->pod], *b = &w.s->pods[y->pod];
        int c = str_cmp(sym_str(w.t, a->ns), sym_str(w.t, b->ns));

        check_true("order", c < 0 || (c == 0 && str_cmp(a->name, b->name) < 0));
        check_true("shared", !sym_eq(a->ns, b->ns) || x->why == y->why);
    }
    sb_fini(&yaml);
    world_fini(&w);
}

/* --- the bound ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *yaml;
    double cost, at_least; /* the bound is no less than this */
} bounds[] = {
    /* the spot offering: 0.06 for 3.9 cpus */
    {"one node, almost full", POOL("default", "") POD("cpu: 3800m", ""), 0.06, 0.058},
    {"a selector makes it dearer",
     POOL("default", "") POD("cpu: 3800m", SELECT("karpenter.sh/capacity-type", "on-demand")), 0.15, 0.146},
    {"a required term does too",
     POOL("default", "")
         POD("cpu: 3800m", "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                           "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, "
                           "operator: In, values: [zone-b]}]}]}}}\n"),
     0.2, 0.19},
    {"of two terms the cheaper one counts",
     POOL("default", "")
         POD("cpu: 3800m", "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                           "{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, "
                           "operator: In, values: [zone-b]}]}, {matchExpressions: [{key: "
                           "karpenter.sh/capacity-type, operator: In, values: [spot]}]}]}}}\n"),
     0.2, 0.058},
    {"a preference does not",
     POOL("default", "")
         POD("cpu: 3800m", "  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                           "[{weight: 1, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, "
                           "operator: In, values: [zone-b]}]}}]}}\n"),
     0.2, 0.058},
    {"a taint keeps the cheap pool away",
     POOL_TAINTED("cheap", "key: a, effect: NoSchedule")
         POOL("default", REQ("karpenter.sh/capacity-type", "In", "on-demand")) POD("cpu: 3800m", ""),
     0.15, 0.146},
    {"daemons take room", POOL("default", "") DAEMON("log", "cpu: 1900m", "", "") POD("cpu: 1900m", ""), 0.06, 0.056},
    {"two groups share a node",
     POOL("default", "") POD_NAMED("default", "a", "cpu: 1900m", SELECT("kubernetes.io/arch", "amd64"))
         POD_NAMED("default", "b", "cpu: 1900m", ""),
     0.06, 0.058},
};

static void bounds_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        struct world w;

        world_must(&w, bounds[i].name, bounds[i].yaml, types);
        check_true(bounds[i].name, w.plan->n_failures == 0 && w.plan->has_bound);
        check_double(bounds[i].name, w.plan->hourly_cost, bounds[i].cost);
        check_true(bounds[i].name, w.plan->lower_bound <= w.plan->hourly_cost);
        check_true(bounds[i].name, w.plan->lower_bound >= bounds[i].at_least);
        world_fini(&w);
    }
}

static void no_nodes_no_bound(void **state)
{
    struct world w;

    (void)state;
    world_must(&w, "nothing", POOL("default", "") POD("cpu: 100", ""), types);
    check_true("nothing", !w.plan->has_bound && w.plan->n_claims == 0);
    world_fini(&w);
}

/* More kinds of pods than are told apart: merging them must not lift the bound above the cost. */
static void many_groups_are_merged(void **state)
{
    struct world w;
    struct sb yaml = {0}, catalog = {0};

    (void)state;
    sb_char(&catalog, '[');
    for (unsigned i = 0; i < 260; i++)
        sb_printf(&catalog,
                  "%s" TYPE("t-%u", "amd64", "%u", "%uGi",
                            "{\"Price\":%u.%02u,\"Available\":true,\"Requirements\":["
                            "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},"
                            "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"z\"]}]}"),
                  i ? "," : "", i, 2 + i % 7, 4 + i % 11, 1 + i % 3, i % 97);
    sb_char(&catalog, ']');
    sb_c(&yaml, POOL("default", ""));
    for (unsigned i = 0; i < 260; i++) /* any of three types, a different three each */
        sb_printf(
            &yaml,
            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%u, namespace: default, uid: u%u}\nspec:\n"
            "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
            "{matchExpressions: [{key: node.kubernetes.io/instance-type, operator: In, values: [t-%u, t-%u, t-%u]}]}]}}}\n"
            "  containers: [{name: c, image: i, resources: {requests: {cpu: %um}}}]\n"
            "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n",
            i, i, i, (i * 7 + 1) % 260, (i * 3 + 2) % 260, 500 + i % 5 * 200);
    world_must(&w, "many", sb_cstr(&yaml), sb_cstr(&catalog));
    check_true("many", w.plan->n_failures == 0 && w.plan->has_bound);
    check_true("many", w.plan->lower_bound > 0 && w.plan->lower_bound <= w.plan->hourly_cost);
    sb_fini(&yaml);
    sb_fini(&catalog);
    world_fini(&w);
}

/* Each time something is left to choose from and limits have made it less. */
static void types_that_limits_leave_out(UNUSED void **state)
{
    struct world w;

    world_must(&w, "limits",
               POOL_LIMITED("default", "cpu: 5") POD_NAMED("default", "a", "cpu: 1500m", "")
                   POD_NAMED("default", "b", "cpu: 1500m", "") POD_NAMED("default", "c", "cpu: 3", ""),
               types);
    check_u64("claims", w.plan->n_claims, 1);
    check_u64("first all may come, then none that is larger", w.plan->n_exclusions, 0);
    world_fini(&w);
    world_must(&w, "limits", POOL_LIMITED("default", "cpu: 3") POD_NAMED("default", "a", "cpu: 1500m", ""), types);
    check_u64("noted once", w.plan->n_exclusions, 1);
    check_u64("the larger ones", w.plan->exclusions[0].n_excluded, 2);
    check_u64("of all", w.plan->exclusions[0].n_types, 3);
    check_u64("of the pool", w.plan->exclusions[0].pool, 0);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons),
        cmocka_unit_test(volumes_that_contradict),
        cmocka_unit_test(daemons_count),
        cmocka_unit_test(a_port_that_daemons_have),
        cmocka_unit_test(the_last_try_counts),
        cmocka_unit_test(a_reservation_that_is_used_up),
        cmocka_unit_test(a_claim_that_is_cut),
        cmocka_unit_test(failures_are_in_order),
        cmocka_unit_test(types_that_limits_leave_out),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(no_nodes_no_bound),
        cmocka_unit_test(many_groups_are_merged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
