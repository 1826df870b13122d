/* Snapshots from objects: which nodes there are and what they are like, which pods wait, which are left out and why. */

#include "base/sb.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "state/state.h"
#include "support/check.h"

#define NOW_MS 1768478400000 /* 2026-01-15T12:00:00Z */

struct world {
    struct arena *a;
    struct syms *t;
    struct objects *o;
    struct snapshot *s;
    struct catalog catalog;
    sym well_known[3];
    struct sb out;
};

static void world_fini(struct world *w)
{
    sb_fini(&w->out);
    objects_free(w->o);
    syms_free(w->t);
    arena_free(w->a);
}

static bool world_build(struct world *w, const char *yaml, struct err *e)
{
    struct settings settings = {0};
    const struct tree *t = NULL;

    *w = (struct world){.a = arena_new(0), .t = syms_new(), .well_known = {SYM(ZONE), SYM(CT), SYM(NP)}};
    w->o = objects_new(w->t);
    w->catalog.rules = (struct label_rules){.well_known = w->well_known, .n_well_known = ARRAY_LEN(w->well_known)};
    AUTO(decoder) struct decoder *d = decoder_new(w->o);
    AUTO(reader) struct reader *r = reader_open_bytes("test", str_c(yaml), e);
    if (!r)
        return false;
    do
        if (!reader_next(r, &t, e) || (t && !k8s_decode(d, t, e)))
            return false;
    while (t);
    w->s = state_build(w->a, w->o, &w->catalog, &settings, NOW_MS, e);
    return w->s != NULL;
}

static void world_must(struct world *w, const char *name, const char *yaml)
{
    struct err e = {0};

    check_ok(name, world_build(w, yaml, &e), &e);
}

static void put_pods(struct world *w, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        sb_char(&w->out, ' ');
        sb_str(&w->out, w->s->pods[w->s->pending[i]].name);
    }
}

/* "pending a b; moving c; refused d: why" */
static str waiting(struct world *w)
{
    uint32_t n = w->s->n_pending - w->s->n_moving;

    sb_reset(&w->out);
    sb_c(&w->out, "pending");
    put_pods(w, 0, n);
    if (w->s->n_moving)
        sb_c(&w->out, "; moving");
    put_pods(w, n, w->s->n_pending);
    for (uint32_t i = 0; i < w->s->n_refused; i++) {
        sb_c(&w->out, "; refused ");
        sb_str(&w->out, w->s->pods[w->s->refused[i].pod].name);
        sb_c(&w->out, ": ");
        sb_str(&w->out, w->s->refused[i].reason);
    }
    return sb_view(&w->out);
}

#define POD(name, meta, spec, status)                                                                                  \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name meta "}\nspec: {" spec "}\nstatus: {" status "}\n"
#define OWNER(api, kind, name)                                                                                         \
    ", ownerReferences: [{apiVersion: " api ", kind: " kind ", name: " name ", controller: true}]"
#define REQUIRED(terms)                                                                                                \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" terms "]}}}"
#define CLAIM(name, spec, meta)                                                                                        \
    "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " name meta "}\nspec: {" spec "}\n"
#define USES(claim) "volumes: [{name: v, persistentVolumeClaim: {claimName: " claim "}}]"
#define CLASS(name, meta, mode)                                                                                        \
    "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " name meta "}\nprovisioner: p\n"        \
    "volumeBindingMode: " mode "\n"
#define DEFAULT ", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"
#define NOT_OURS "the pod does not want nodes of Karpenter (karpenter.sh/nodepool DoesNotExist)"

static const struct {
    const char *name, *yaml, *want;
} pending[] = {
    {"waits for a node", POD("a", "", "", ""), "pending a"},
    {"bound", POD("a", "", "nodeName: n1", ""), "pending"},
    {"finished", POD("a", "", "", "phase: Succeeded") POD("b", "", "", "phase: Failed"), "pending"},
    {"terminating ones still wait", POD("a", ", deletionTimestamp: '2026-01-15T11:00:00Z'", "", ""), "pending a"},
    {"nominated by kube-scheduler", POD("a", "", "", "nominatedNodeName: n1"), "pending"},
    {"another scheduler's",
     POD("a", "", "schedulerName: mine", "") POD("b", "", "schedulerName: default-scheduler", ""), "pending b"},
    {"a DaemonSet's or a Node's",
     POD("a", OWNER("apps/v1", "DaemonSet", "d"), "", "") POD("b", OWNER("v1", "Node", "n1"), "", ""), "pending"},
    {"a DaemonSet of another group", POD("a", OWNER("example.com/v1", "DaemonSet", "d"), "", ""), "pending a"},
    {"wants no pool",
     POD("a", "", REQUIRED("{matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}"), ""),
     "pending; refused a: " NOT_OURS},
    {"only the first term counts for that",
     POD("a", "",
         REQUIRED(
             "{matchExpressions: [{key: karpenter.sh/nodepool, operator: In, values: [p]}]}, {matchExpressions: [{key: "
             "karpenter.sh/nodepool, operator: DoesNotExist}]}"),
         ""),
     "pending a"},
    {"contradicts itself about the pool",
     POD("a", "",
         "nodeSelector: {karpenter.sh/nodepool: p}, " REQUIRED(
             "{matchExpressions: [{key: karpenter.sh/nodepool, operator: NotIn, values: [p]}]}"),
         ""),
     "pending; refused a: " NOT_OURS},
    {"matchFields", POD("a", "", REQUIRED("{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"), ""),
     "pending; refused a: node affinity with matchFields is not supported"},
    {"a claim that is not there", POD("a", "", USES("c"), ""),
     "pending; refused a: PersistentVolumeClaim c does not exist"},
    {"an ephemeral claim has the pod's name",
     POD("a", "", "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]", ""),
     "pending; refused a: PersistentVolumeClaim a-v does not exist"},
    {"a claim of another namespace",
     POD("a", "", USES("c"), "") CLAIM("c", "storageClassName: s", ", namespace: x")
         CLASS("s", "", "WaitForFirstConsumer"),
     "pending; refused a: PersistentVolumeClaim c does not exist"},
    {"a claim that goes", POD("a", "", USES("c"), "") CLAIM("c", "", ", deletionTimestamp: '2026-01-15T11:00:00Z'"),
     "pending; refused a: PersistentVolumeClaim c is being deleted"},
    {"no class", POD("a", "", USES("c"), "") CLAIM("c", "", ""),
     "pending; refused a: PersistentVolumeClaim c has neither a volume nor a storage class"},
    {"the newest default class fills in",
     POD("a", "", USES("c"), "") CLAIM("c", "", "")
         CLASS("s", DEFAULT ", creationTimestamp: '2026-01-01T00:00:00Z'", "Immediate")
             CLASS("t", DEFAULT ", creationTimestamp: '2026-01-02T00:00:00Z'", "WaitForFirstConsumer"),
     "pending a"},
    {"but not for the empty name",
     POD("a", "", USES("c"), "") CLAIM("c", "storageClassName: ''", "") CLASS("s", DEFAULT, "WaitForFirstConsumer"),
     "pending; refused a: PersistentVolumeClaim c has neither a volume nor a storage class"},
    {"a class that is not there", POD("a", "", USES("c"), "") CLAIM("c", "storageClassName: s", ""),
     "pending; refused a: StorageClass s of claim c does not exist"},
    {"a class that does not wait",
     POD("a", "", USES("c"), "") CLAIM("c", "storageClassName: s", "") CLASS("s", "", "Immediate"),
     "pending; refused a: PersistentVolumeClaim c is not bound, and StorageClass s does not wait for the pod "
     "(volumeBindingMode Immediate)"},
    {"a volume that is not there", POD("a", "", USES("c"), "") CLAIM("c", "volumeName: w", ""),
     "pending; refused a: PersistentVolume w of claim c does not exist"},
    {"a binding under way",
     POD("a", "", USES("c"), "")
         CLAIM("c", "volumeName: w", "") "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: w}\n",
     "pending; refused a: PersistentVolumeClaim c is not bound yet"},
    {"a bound claim needs no class",
     POD("a", "", USES("c"), "")
         CLAIM("c", "volumeName: w, storageClassName: gone",
               ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}") "---\napiVersion: v1\nkind: "
                                                                          "PersistentVolume\nmetadata: {name: w}\n",
     "pending a"},
};

static void who_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pending); i++) {
        struct world w;

        world_must(&w, pending[i].name, pending[i].yaml);
        check_str(pending[i].name, waiting(&w), pending[i].want);
        world_fini(&w);
    }
}

#define LEAVING "apiVersion: v1\nkind: Node\nmetadata: {name: n1, deletionTimestamp: '2026-01-15T11:00:00Z'}\n"
#define ON(name, meta, spec, status) POD(name, ", labels: {app: " name "}" meta, "nodeName: n1" spec, status)
#define BUDGET(name, app, spec)                                                                                        \
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: " name                                    \
    "}\nspec: {selector: {matchLabels: "                                                                               \
    "{app: " app "}}, " spec "}\n"
#define KEEP(value) ", annotations: {karpenter.sh/do-not-disrupt: '" value "'}"
#define GOING ", deletionTimestamp: '2026-01-15T11:30:00Z'"
#define STARTED "phase: Running, startTime: '2026-01-15T11:00:00Z'"

static const struct {
    const char *name, *yaml, *want;
} moving[] = {
    {"bound pods of a node that goes", LEAVING ON("a", "", "", "") POD("p", "", "", ""), "pending p; moving a"},
    {"daemons and static pods stay",
     LEAVING ON("a", OWNER("apps/v1", "DaemonSet", "d"), "", "") ON("b", OWNER("v1", "Node", "n1"), "", ""), "pending"},
    {"finished ones are gone", LEAVING ON("a", "", "", "phase: Succeeded"), "pending"},
    {"terminating: only a StatefulSet's come back",
     LEAVING ON("a", GOING, "", "") ON("b", GOING OWNER("apps/v1", "StatefulSet", "s"), "", ""), "pending; moving b"},
    {"do-not-disrupt", LEAVING ON("a", KEEP("true"), "", ""), "pending"},
    {"do-not-disrupt does not hold a terminating pod",
     LEAVING ON("a", GOING KEEP("true") OWNER("apps/v1", "StatefulSet", "s"), "", ""), "pending; moving a"},
    {"a duration that has not passed", LEAVING ON("a", KEEP("2h"), "", STARTED), "pending"},
    {"one that has", LEAVING ON("a", KEEP("30m"), "", STARTED), "pending; moving a"},
    {"one that has just passed", LEAVING ON("a", KEEP("1h"), "", STARTED), "pending; moving a"},
    {"a start nobody knows", LEAVING ON("a", KEEP("1s"), "", ""), "pending"},
    {"values that mean nothing",
     LEAVING ON("a", KEEP("soon"), "", STARTED) ON("b", KEEP("0s"), "", STARTED) ON("c", KEEP("-1h"), "", STARTED)
         ON("d", KEEP("false"), "", STARTED),
     "pending; moving a b c d"},
    {"budgets that never allow",
     LEAVING ON("a", "", "", "") ON("b", "", "", "") ON("c", "", "", "") BUDGET("x", "a", "maxUnavailable: 0")
         BUDGET("y1", "b", "maxUnavailable: 0%") BUDGET("z", "c", "minAvailable: 100%"),
     "pending"},
    {"budgets that may",
     LEAVING ON("a", "", "", "") ON("b", "", "", "") BUDGET("x", "a", "maxUnavailable: 1")
         BUDGET("z", "b", "minAvailable: 99%"),
     "pending; moving a b"},
    {"two budgets on one pod",
     LEAVING ON("a", "", "", "") BUDGET("x", "a", "maxUnavailable: 1") BUDGET("z", "a", "maxUnavailable: 1"),
     "pending"},
    {"AlwaysAllow lets go of pods that are not ready",
     LEAVING ON("a", "", "", "conditions: [{type: Ready, status: 'False'}]") ON("b", "", "", "")
         BUDGET("x", "a", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow")
             BUDGET("z", "b", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow"),
     "pending; moving a"},
    {"a pod that tolerates the disruption is not evicted, so no budget holds it",
     LEAVING ON("a", "", ", tolerations: [{operator: Exists}]", "") BUDGET("x", "a", "maxUnavailable: 0"),
     "pending; moving a"},
};

static void who_moves(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(moving); i++) {
        struct world w;

        world_must(&w, moving[i].name, moving[i].yaml);
        check_str(moving[i].name, waiting(&w), moving[i].want);
        world_fini(&w);
    }
}

/* "name host=… pool=… init del taints=… cap=… alloc=… req=… daemon=… pods=n" per node */
static str nodes(struct world *w)
{
    sb_reset(&w->out);
    for (uint32_t i = 0; i < w->s->n_nodes; i++) {
        const struct state_node *n = &w->s->nodes[i];

        if (i)
            sb_c(&w->out, "; ");
        sb_str(&w->out, n->name);
        sb_printf(&w->out, " host=" STR_FMT "%s%s", STR_ARG(sym_str(w->t, n->hostname)), n->initialized ? " init" : "",
                  n->deleting ? " del" : "");
        for (uint32_t k = 0; k < n->taints.n; k++)
            sb_printf(&w->out, " %s" STR_FMT, k ? "" : "taints=", STR_ARG(sym_str(w->t, n->taints.v[k].key)));
        sb_c(&w->out, " cap=");
        reslist_print_json(&w->out, w->t, &n->capacity);
        sb_c(&w->out, " alloc=");
        reslist_print_json(&w->out, w->t, &n->allocatable);
    }
    return sb_view(&w->out);
}

#define NODE(name, labels, extra, status)                                                                              \
    "---\napiVersion: v1\nkind: Node\nmetadata: {name: " name ", labels: {" labels "}}\nspec: {providerID: id" extra   \
    "}\n"                                                                                                              \
    "status: {" status "}\n"
#define CLAIMED(meta, spec, status)                                                                                    \
    "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1, labels: {karpenter.sh/nodepool: p}" meta  \
    "}\nspec: {nodeClassRef: {group: g, kind: k, name: c}, requirements: []" spec "}\nstatus: {providerID: id" status  \
    "}\n"
#define OURS "karpenter.sh/nodepool: p, node.kubernetes.io/instance-type: t"
#define REGISTERED OURS ", karpenter.sh/registered: 'true'"
#define INITIALIZED REGISTERED ", karpenter.sh/initialized: 'true'"
#define SIZE(cpu) "capacity: {cpu: " cpu "}, allocatable: {cpu: " cpu "}"
#define TAINTS                                                                                                         \
    ", taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}, {key: readiness.k8s.io/x, effect: "           \
    "NoExecute}, {key: boot, value: v1, effect: NoSchedule}, {key: own, effect: NoSchedule}]"
#define BOOT ", startupTaints: [{key: boot, effect: NoSchedule}]"
#define ALL_TAINTS "taints=node.kubernetes.io/not-ready readiness.k8s.io/x boot own"

static const struct {
    const char *name, *yaml, *want;
} machines[] = {
    {"not ours", NODE("n1", "", TAINTS, SIZE("4")),
     "n1 host=n1 init " ALL_TAINTS " cap={\"cpu\":\"4\",\"nodes\":\"1\"} alloc={\"cpu\":\"4\"}"},
    {"the hostname label", NODE("n1", "kubernetes.io/hostname: h1", "", ""),
     "n1 host=h1 init cap={\"nodes\":\"1\"} alloc={}"},
    {"not ours and without provider id", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n",
     "n1 host=n1 init cap={\"nodes\":\"1\"} alloc={}"},
    {"ours without provider id", "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {" OURS "}}\n", ""},
    {"ours without instance type", NODE("n1", "karpenter.sh/nodepool: p", "", ""), ""},
    {"unless initialized", NODE("n1", "karpenter.sh/nodepool: p, karpenter.sh/initialized: 'true'", "", ""),
     "n1 host=n1 init cap={\"nodes\":\"1\"} alloc={}"},
    {"in flight", CLAIMED("", ", taints: [{key: own, effect: NoSchedule}]" BOOT, ", " SIZE("8")),
     "c1 host=c1 taints=own cap={\"cpu\":\"8\",\"nodes\":\"1\"} alloc={\"cpu\":\"8\"}"},
    {"not launched yet",
     "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1}\nspec: {nodeClassRef: {group: g, kind: "
     "k, name: c}, requirements: []}\n",
     ""},
    {"unregistered: the claim's name, taints and estimates",
     NODE("n1", OURS, TAINTS, SIZE("4"))
         CLAIMED("", ", taints: [{key: claim, effect: NoSchedule}]", ", capacity: {cpu: 8, memory: 1Gi}"),
     "c1 host=c1 taints=claim cap={\"cpu\":\"4\",\"memory\":\"1Gi\",\"nodes\":\"1\"} alloc={\"cpu\":\"4\"}"},
    {"registered: the node's, without what is due to go",
     NODE("n1", REGISTERED, TAINTS, "capacity: {cpu: 4, gpu: 0}")
         CLAIMED("", BOOT, ", capacity: {cpu: 8, gpu: 2}, allocatable: {cpu: 7}"),
     "n1 host=n1 taints=own cap={\"cpu\":\"4\",\"gpu\":\"2\",\"nodes\":\"1\"} alloc={\"cpu\":\"7\"}"},
    {"initialized: the node's alone",
     NODE("n1", INITIALIZED, TAINTS, "capacity: {cpu: 4, gpu: 0}") CLAIMED("", BOOT, ", capacity: {cpu: 8, gpu: 2}"),
     "n1 host=n1 init " ALL_TAINTS " cap={\"cpu\":\"4\",\"gpu\":\"0\",\"nodes\":\"1\"} alloc={}"},
    {"a claim being deleted", NODE("n1", INITIALIZED, "", "") CLAIMED(GOING, "", ""),
     "n1 host=n1 init del cap={\"nodes\":\"1\"} alloc={}"},
    {"an instance being terminated",
     NODE("n1", INITIALIZED, "", "") CLAIMED("", "", ", conditions: [{type: InstanceTerminating, status: 'True'}]"),
     "n1 host=n1 init del cap={\"nodes\":\"1\"} alloc={}"},
    {"a Node being deleted, not ours", LEAVING, "n1 host=n1 init del cap={\"nodes\":\"1\"} alloc={}"},
};

static void what_nodes_are_like(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
        struct world w;

        world_must(&w, machines[i].name, machines[i].yaml);
        check_str(machines[i].name, nodes(&w), machines[i].want);
        world_fini(&w);
    }
}

static void what_nodes_carry(void **state)
{
    struct world w;

    (void)state;
    world_must(&w, "load",
               NODE("n1", INITIALIZED, "", "") CLAIMED("", "", "")
                   ON("a", "", ", containers: [{resources: {requests: {cpu: 1}}}]", "phase: Running")
                       ON("b", GOING, ", containers: [{resources: {requests: {cpu: 2}}}]", "phase: Running")
                           ON("c", "", ", containers: [{resources: {requests: {cpu: 4}}}]", "phase: Failed")
                               ON("d", OWNER("apps/v1", "DaemonSet", "x"),
                                  ", containers: [{resources: {requests: {cpu: 8}}}]", "phase: Running")
                                   POD("e", "", "nodeName: elsewhere", ""));
    const struct state_node *n = &w.s->nodes[0];
    sb_reset(&w.out);
    reslist_print_json(&w.out, w.t, &n->requests);
    check_str("terminating pods count, finished ones do not", sb_view(&w.out), "{\"cpu\":\"11\",\"pods\":\"3\"}");
    sb_reset(&w.out);
    reslist_print_json(&w.out, w.t, &n->daemon_requests);
    check_str("daemons", sb_view(&w.out), "{\"cpu\":\"8\",\"pods\":\"1\"}");
    check_i64("pods", n->n_pods, 3);
    check_str("pool", sym_str(w.t, n->pool), "p");
    world_fini(&w);
}

#define WORKLOAD(kind, name, spec)                                                                                     \
    "---\napiVersion: apps/v1\nkind: " kind "\nmetadata: {name: " name                                                 \
    "}\nspec: {template: {metadata: {labels: {app: x}}, spec: {containers: [{name: m}]}}" spec "}\n"
#define JOB(spec, status)                                                                                              \
    "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {containers: [{name: "         \
    "m}]}}" spec "}\nstatus: {" status "}\n"
#define SET_OF(deployment, name)                                                                                       \
    "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " name OWNER(                                        \
        "apps/v1", "Deployment", deployment) "}\nspec: {replicas: 3, template: {spec: {}}}\n"

static const struct {
    const char *name, *yaml, *want;
} workloads[] = {
    {"one replica is the default", WORKLOAD("Deployment", "web", ""), "pending web-0"},
    {"all replicas", WORKLOAD("ReplicaSet", "web", ", replicas: 3"), "pending web-0 web-1 web-2"},
    {"none", WORKLOAD("Deployment", "web", ", replicas: 0"), "pending"},
    {"what is there already, through the ReplicaSet",
     WORKLOAD("Deployment", "web", ", replicas: 3") SET_OF("web", "web-abc")
         POD("p", OWNER("apps/v1", "ReplicaSet", "web-abc"), "nodeName: n1", ""),
     "pending web-0 web-1"},
    {"through its name when it is not in the input",
     WORKLOAD("Deployment", "web", ", replicas: 2")
         POD("p", ", labels: {pod-template-hash: abc}" OWNER("apps/v1", "ReplicaSet", "web-abc"), "nodeName: n1", ""),
     "pending web-0"},
    {"finished ones do not count",
     WORKLOAD("ReplicaSet", "web", ", replicas: 1")
         POD("p", OWNER("apps/v1", "ReplicaSet", "web"), "nodeName: n1", "phase: Failed"),
     "pending web-0"},
    {"a ReplicaSet without its Deployment speaks for itself", SET_OF("gone", "web"), "pending web-0 web-1 web-2"},
    {"names that are taken are passed over", POD("web-0", "", "", "") WORKLOAD("ReplicaSet", "web", ", replicas: 2"),
     "pending web-0 web-1 web-2"},
    {"a StatefulSet fills its gaps",
     WORKLOAD("StatefulSet", "db", ", replicas: 3, ordinals: {start: 5}")
         POD("db-6", OWNER("apps/v1", "StatefulSet", "db"), "nodeName: n1", ""),
     "pending db-5 db-7"},
    {"a Job's parallelism", JOB(", parallelism: 2, completions: 5", ""), "pending j-0 j-1"},
    {"a Job's last completions", JOB(", parallelism: 4, completions: 5", "succeeded: 4"), "pending j-0"},
    {"a Job without numbers", JOB("", ""), "pending j-0"},
    {"a Job on hold", JOB(", suspend: true", ""), "pending"},
    {"a Job that is done", JOB("", "conditions: [{type: Complete, status: 'True'}]"), "pending"},
    {"a Job whose pod is there", JOB("", "") POD("p", OWNER("batch/v1", "Job", "j"), "nodeName: n1", ""), "pending"},
    {"claims come along",
     WORKLOAD("StatefulSet", "db", ", volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: s}}]")
         CLASS("s", "", "WaitForFirstConsumer"),
     "pending db-0"},
    {"and are looked at",
     WORKLOAD("StatefulSet", "db", ", volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: s}}]"),
     "pending; refused db-0: StorageClass s of claim data-db-0 does not exist"},
};

static void replicas_become_pods(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
        struct world w;

        world_must(&w, workloads[i].name, workloads[i].yaml);
        check_str(workloads[i].name, waiting(&w), workloads[i].want);
        world_fini(&w);
    }
}

static void too_many_replicas(void **state)
{
    struct err e = {0};
    struct world w;

    (void)state;
    check_true("refused", !world_build(&w, WORKLOAD("Deployment", "web", ", replicas: 2000000000"), &e));
    check_str("why", str_c(e.msg), "Deployment default/web brings the number of pods above 8000000");
    world_fini(&w);
}

#define POOL(name, labels, spec)                                                                                       \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name                                         \
    "}\nspec: {template: {metadata: {labels: {" labels                                                                 \
    "}}, spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: c}, requirements: []" spec "}}}\n"
#define CLASS_READY(status)                                                                                            \
    "---\napiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: c}\n" status

static const struct {
    const char *name, *yaml;
    enum cond_status want;
} pools[] = {
    {"says nothing", POOL("p", "", ""), COND_ABSENT},
    {"class says nothing", POOL("p", "", "") CLASS_READY(""), COND_ABSENT},
    {"class ready", POOL("p", "", "") CLASS_READY("status: {conditions: [{type: Ready, status: 'True'}]}\n"),
     COND_ABSENT},
    {"class not ready", POOL("p", "", "") CLASS_READY("status: {conditions: [{type: Ready, status: 'False'}]}\n"),
     COND_FALSE},
    {"class of another name",
     POOL("p", "", "") "---\napiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: d}\nstatus: "
                       "{conditions: [{type: Ready, status: 'False'}]}\n",
     COND_ABSENT},
    {"the same taint twice",
     POOL("p", "", ", taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, value: b, effect: NoSchedule}]"),
     COND_FALSE},
    {"two effects of one key", POOL("p", "", ", taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]"),
     COND_ABSENT},
    {"a label that is too long",
     POOL("p", "aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa: x", ""), COND_FALSE},
};

static void which_pools_are_ready(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pools); i++) {
        struct world w;

        world_must(&w, pools[i].name, pools[i].yaml);
        check_i64(pools[i].name, w.s->pools[0].ready, pools[i].want);
        check_i64(pools[i].name, w.o->notes.n, pools[i].want == COND_FALSE);
        world_fini(&w);
    }
}

static void daemons_have_a_representative(void **state)
{
    struct world w;

    (void)state;
    world_must(
        &w, "load",
        "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {template: {spec: {" REQUIRED(
            "{matchExpressions: [{key: a, operator: Exists}]}") "}}}\n"
                                                                "---\napiVersion: apps/v1\nkind: "
                                                                "DaemonSet\nmetadata: {name: e}\nspec: "
                                                                "{template: {spec: {containers: [{resources: "
                                                                "{limits: {cpu: 1}}}]}}}\n" POD(
                                                                    "d-1",
                                                                    ", creationTimestamp: '2026-01-01T00:00:00Z'" OWNER(
                                                                        "apps/v1", "DaemonSet", "d"),
                                                                    "nodeName: n1", "")
                                                                    POD("d-2",
                                                                        ", creationTimestamp: "
                                                                        "'2026-01-02T00:00:00Z'" OWNER(
                                                                            "apps/v1", "DaemonSet", "d"),
                                                                        REQUIRED("{matchFields: [{key: "
                                                                                 "metadata.name, operator: In, "
                                                                                 "values: [n2]}]}"),
                                                                        "") POD("d-3",
                                                                                ", namespace: x, creationTimestamp: "
                                                                                "'2026-01-03T00:00:00Z'" OWNER(
                                                                                    "apps/v1", "DaemonSet", "d"),
                                                                                "", ""));
    check_str("the newest", w.s->daemon_pods[0]->name, "d-2");
    check_true("with the template's affinity", !w.s->daemon_pods[0]->spec->required[0].match_fields);
    check_true("the pod itself is left alone", w.s->pods[1].spec->required[0].match_fields);
    check_true("no pod", w.s->daemon_pods[1] == NULL);
    check_i64("limits stand in for requests", reslist_value(&w.s->daemons[1].spec->requests, SYM(CPU)), 1000000000);
    world_fini(&w);
}

static void twice_is_the_same(void **state)
{
    struct settings settings = {0};
    struct err e = {0};
    struct world w;

    (void)state;
    world_must(&w, "load",
               WORKLOAD("Deployment", "web", ", replicas: 2") WORKLOAD("StatefulSet", "db", ", replicas: 2")
                   JOB("", ""));
    check_i64("first", w.s->n_pending, 5);
    const struct snapshot *again = state_build(w.a, w.o, &w.catalog, &settings, NOW_MS, &e);
    check_ok("again", again != NULL, &e);
    check_i64("second", again->n_pending, 5);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits),
        cmocka_unit_test(who_moves),
        cmocka_unit_test(what_nodes_are_like),
        cmocka_unit_test(what_nodes_carry),
        cmocka_unit_test(replicas_become_pods),
        cmocka_unit_test(too_many_replicas),
        cmocka_unit_test(which_pools_are_ready),
        cmocka_unit_test(daemons_have_a_representative),
        cmocka_unit_test(twice_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
