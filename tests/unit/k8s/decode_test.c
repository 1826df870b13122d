/* Objects into the collection: what is kept, what is filled in, what is refused and where. */
#include "k8s/decode.h"

#include <stdlib.h>

#include "data/reader.h"
#include "model/objects.h"
#include "support/check.h"

struct fixture {
    struct syms *t;
    struct objects *o;
    struct decoder *d;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->t = syms_new();
    f->o = objects_new(f->t);
    f->d = decoder_new(f->o);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    decoder_free(f->d);
    objects_free(f->o);
    syms_free(f->t);
    free(f);
    return 0;
}

static bool load(struct fixture *f, const char *yaml, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open_bytes("test", str_c(yaml), e);
    const struct tree *t;

    if (!r)
        return false;
    for (;;) {
        if (!reader_next(r, &t, e))
            return false;
        if (!t)
            return true;
        if (!k8s_decode(f->d, t, e))
            return false;
    }
}

static void must_load(struct fixture *f, const char *name, const char *yaml)
{
    struct err e = {0};

    check_ok(name, load(f, yaml, &e), &e);
}

static str text(const struct fixture *f, sym s)
{
    return sym_str(f->t, s);
}

#define POOL(spec)                                                                                                     \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n"                                        \
    "  template: {spec: {nodeClassRef: {group: g, kind: k, name: c}, requirements: []}}\n" spec
#define POOL_TEMPLATE(spec)                                                                                            \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n"                                        \
    "  template:\n    spec:\n      nodeClassRef: {group: g, kind: k, name: c}\n" spec
#define POOL_REQ(req) POOL_TEMPLATE("      requirements: [" req "]\n")
#define POD(spec) "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: " spec "\n"

#define BUFFER(spec)                                                                                                   \
    "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: b}\nspec: {" spec "}\n"

static const struct {
    const char *name, *yaml, *want;
} refusals[] = {
    {"B2 both refs", BUFFER("podTemplateRef: {name: t}, scalableRef: {kind: Deployment, name: d}, replicas: 1"),
     "4:48: spec.scalableRef: podTemplateRef and scalableRef cannot both be set"},
    {"B2 a template without replicas or limits", BUFFER("podTemplateRef: {name: t}"),
     "4:7: spec: podTemplateRef needs replicas or limits"},
    {"B2 negative replicas", BUFFER("podTemplateRef: {name: t}, replicas: -1"),
     "4:45: spec.replicas: must not be less than 0"},
    {"B2 negative percentage", BUFFER("scalableRef: {kind: Deployment, name: d}, percentage: -1"),
     "4:62: spec.percentage: must not be less than 0"},
    {"B2 an empty name", BUFFER("podTemplateRef: {name: ''}, replicas: 1"), "4:24: spec.podTemplateRef.name: required"},
    {"B2 no kind", BUFFER("scalableRef: {name: d}, replicas: 1"), "4:21: spec.scalableRef.kind: required"},
    {"a template without a spec", "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: t}\ntemplate: {}\n",
     "4:11: template.spec: required"},
    {"no kind", "apiVersion: v1\n", "1:1: kind: required"},
    {"no metadata", "apiVersion: v1\nkind: Pod\nspec: {}\n", "1:1: metadata: required"},
    {"no name", "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec: {}\n", "3:11: metadata.name: required"},
    {"no spec", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "1:1: spec: required"},
    {"an old NodePool", "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: p}\n",
     "1:13: apiVersion: \"karpenter.sh/v1beta1\" is not supported for NodePool, only karpenter.sh/v1 is"},
    {"a Provisioner", "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: p}\n",
     "1:1: kind: Provisioner is not supported: its successor is NodePool of apiVersion karpenter.sh/v1"},
    {"a negative request", POD("{containers: [{resources: {requests: {cpu: -1}}}]}"),
     "4:50: spec.containers[0].resources.requests.cpu: must not be negative, is \"-1\""},
    {"a label that is a number",
     "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {example.com/v: 1}}\nspec: {}\n",
     "3:45: metadata.labels[\"example.com/v\"]: must be a string, not a number: put it in quotes"},
    {"an unknown operator of node affinity",
     POD("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
         "[{matchExpressions: [{key: a, operator: Is}]}]}}}}"),
     "4:142: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
     "matchExpressions[0].operator: \"Is\" is not an operator: use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte "
     "or Lte"},
    {"a selector cannot compare",
     POD("{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, labelSelector: {matchExpressions: [{key: a, "
         "operator: Gt, values: ['1']}]}}]}"),
     "4:119: spec.topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator: \"Gt\" is not an operator: "
     "use In, NotIn, Exists or DoesNotExist"},
    {"an unknown operator of a toleration", POD("{tolerations: [{key: a, operator: Like}]}"),
     "4:41: spec.tolerations[0].operator: \"Like\" is not an operator: use Equal, Exists, Lt or Gt"},
    {"no skew", POD("{topologySpreadConstraints: [{topologyKey: z}]}"),
     "4:36: spec.topologySpreadConstraints[0].maxSkew: required"},
    {"an unknown phase", POD("{}") "status: {phase: Done}\n",
     "5:17: status.phase: must be Pending, Running, Succeeded, Failed or Unknown"},
    {"a bad time", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: yesterday}\nspec: {}\n",
     "3:40: metadata.creationTimestamp: invalid time \"yesterday\": want the form 2026-01-15T12:00:00Z"},
    {"a host port out of range", POD("{containers: [{ports: [{hostPort: 70000}]}]}"),
     "4:41: spec.containers[0].ports[0].hostPort: must be between 0 and 65535"},
    {"the same pod twice", POD("{}") "---\n" POD("{}"), "6:1: Pod default/p occurs twice"},
    {"the same uid twice",
     "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: u}\n---\napiVersion: v1\nkind: Pod\n"
     "metadata: {name: p, uid: u}\nspec: {}\n",
     "5:1: Node n1 and Pod default/p have the same uid u"},
    {"weight above 100", POOL("  weight: 101\n"), "6:11: spec.weight: must be between 1 and 100"},
    {"weight zero", POOL("  weight: 0\n"), "6:11: spec.weight: must be between 1 and 100"},
    {"no requirements", POOL_TEMPLATE(""),
     "7:7: spec.template.spec.requirements: required, though the list may be empty"},
    {"In without values", POOL_REQ("{key: a, operator: In}"),
     "8:22: spec.template.spec.requirements[0].values: operator In needs at least one value"},
    {"Gt with a word", POOL_REQ("{key: a, operator: Gt, values: [x]}"),
     "8:22: spec.template.spec.requirements[0].values: operator Gt needs exactly one value, an integer that is "
     "not negative"},
    {"minValues above the number of values", POOL_REQ("{key: a, operator: In, values: [x], minValues: 2}"),
     "8:22: spec.template.spec.requirements[0].minValues: is 2, but there are only 1 values"},
    {"minValues above 50", POOL_REQ("{key: a, operator: Exists, minValues: 51}"),
     "8:60: spec.template.spec.requirements[0].minValues: must be between 1 and 50"},
    {"a restricted domain", POOL_REQ("{key: karpenter.sh/x, operator: Exists}"),
     "8:28: spec.template.spec.requirements[0].key: label domain \"karpenter.sh\" is restricted, "
     "\"karpenter.sh/x\" cannot be used"},
    {"the hostname", POOL_REQ("{key: kubernetes.io/hostname, operator: Exists}"),
     "8:28: spec.template.spec.requirements[0].key: label \"kubernetes.io/hostname\" is restricted"},
    {"a key with two slashes", POOL_REQ("{key: a/b/c, operator: Exists}"),
     "8:28: spec.template.spec.requirements[0].key: \"a/b/c\" is not a label key"},
    {"half a nodeClassRef",
     "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {nodeClassRef: "
     "{name: c, "
     "kind: k}, requirements: []}}}\n",
     "4:40: spec.template.spec.nodeClassRef.group: required"},
    {"a taint without effect", POOL_TEMPLATE("      requirements: []\n      taints: [{key: a}]\n"),
     "9:16: spec.template.spec.taints[0].effect: must be NoSchedule, PreferNoSchedule or NoExecute"},
    {"an unknown policy", POOL("  disruption: {consolidationPolicy: Always}\n"),
     "6:37: spec.disruption.consolidationPolicy: must be WhenEmpty, WhenEmptyOrUnderutilized or Balanced"},
    {"a negative consolidateAfter", POOL("  disruption: {consolidateAfter: -1s}\n"),
     "6:34: spec.disruption.consolidateAfter: \"-1s\" is not a duration like 30s, 5m or 1h30m, nor Never"},
    {"a budget with a schedule alone", POOL("  disruption: {budgets: [{nodes: '1', schedule: '@daily'}]}\n"),
     "6:26: spec.disruption.budgets[0]: schedule and duration must be set together"},
    {"a budget of seconds", POOL("  disruption: {budgets: [{nodes: '1', schedule: '@daily', duration: 30s}]}\n"),
     "6:69: spec.disruption.budgets[0].duration: \"30s\" is not a duration in hours and minutes like 8h, 30m or 1h30m"},
    {"a budget of 101 percent", POOL("  disruption: {budgets: [{nodes: 101%}]}\n"),
     "6:34: spec.disruption.budgets[0].nodes: must be a number or a percentage up to 100%"},
    {"a schedule of four fields", POOL("  disruption: {budgets: [{nodes: '1', schedule: '* * * *', duration: 1h}]}\n"),
     "6:49: spec.disruption.budgets[0].schedule: \"* * * *\" is not a schedule of five fields, nor @daily or the like"},
    {"an unknown reason", POOL("  disruption: {budgets: [{nodes: '1', reasons: [expired]}]}\n"),
     "6:49: spec.disruption.budgets[0].reasons[0]: must be Underutilized, Empty or Drifted"},
    {"a static pool with a weight", POOL("  replicas: 1\n  weight: 1\n"),
     "7:11: spec.weight: cannot be set together with replicas"},
    {"a static pool with a cpu limit", POOL("  replicas: 1\n  limits: {cpu: 1}\n"),
     "7:11: spec.limits: only \"nodes\" can be limited together with replicas"},
    {"an unknown binding mode",
     "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\nvolumeBindingMode: Soon\n",
     "4:20: volumeBindingMode: must be Immediate or WaitForFirstConsumer"},
    {"a budget of pods with both bounds",
     "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, "
     "maxUnavailable: 1}\n",
     "4:7: spec: minAvailable and maxUnavailable exclude each other"},
};

static void what_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct err e = {0};
        void *fresh;

        setup(&fresh);
        bool ok = load(fresh, refusals[i].yaml, &e);
        check_true(refusals[i].name, !ok && e.kind == ERR_INVALID);
        check_str(refusals[i].name, str_c(e.msg), refusals[i].want);
        teardown(&fresh);
    }
}

static const struct {
    const char *name, *yaml;
} accepted[] = {
    {"B1 template and limits", BUFFER("podTemplateRef: {name: t}, limits: {cpu: 1}")},
    {"B1 a workload alone, without its group", BUFFER("scalableRef: {kind: Deployment, name: d}")},
    {"B1 zero of both", BUFFER("scalableRef: {apiGroup: '', kind: Deployment, name: d}, replicas: 0, percentage: 0")},
    {"B1 neither: the controller says so", BUFFER("replicas: 1")},
    {"schedule of five fields",
     POOL("  disruption: {budgets: [{nodes: '1', schedule: '0 9 * * mon-fri', duration: 8h}]}\n")},
    {"hours, minutes and 0s", POOL("  disruption: {budgets: [{nodes: '1', schedule: '@daily', duration: 8h30m0s}]}\n")},
    {"consolidation switched off", POOL("  disruption: {consolidateAfter: Never}\n")},
    {"an empty list of budgets", POOL("  disruption: {budgets: []}\n")},
    {"a static pool with a node limit", POOL("  replicas: 0\n  limits: {nodes: 3}\n")},
    {"an over-long key passes here",
     POOL_REQ("{key: aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaa, "
              "operator: Exists}")},
    {"one taint key with two effects",
     POOL_TEMPLATE(
         "      requirements: []\n      taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]\n")},
    {"kinds that are only recognised",
     "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\n---\napiVersion: scheduling.k8s.io/v1\nkind: "
     "PriorityClass\n"
     "metadata: {name: p}\nvalue: 1\n---\napiVersion: resource.k8s.io/v1beta2\nkind: DeviceClass\nmetadata: "
     "{name: d}\n"},
    {"equal names in two namespaces",
     POD("{}") "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {}\n"},
};

static void what_is_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        void *fresh;

        setup(&fresh);
        must_load(fresh, accepted[i].name, accepted[i].yaml);
        check_i64(accepted[i].name, ((struct fixture *)fresh)->o->ignored.n, 0);
        teardown(&fresh);
    }
}

static void other_kinds_are_counted(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\n---\n"
              "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\n---\n"
              "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: b}\n");
    check_i64("kinds", f->o->ignored.n, 2);
    check_str("first", f->o->ignored.v[0].kind, "monitoring.coreos.com/v1/ServiceMonitor");
    check_i64("how many", f->o->ignored.v[0].n, 2);
    check_i64("another group's Service", f->o->services.n, 0);
}

/* The old spellings that the guides in circulation use. */
static void old_spellings(void **state)
{
    struct fixture *f = *state;
    static const char *const want[] = {
        "NodePool default: requirement on kubernetes.io/arch without operator is read as In",
        "NodePool default: nodeClassRef without group and kind is read as karpenter.k8s.aws EC2NodeClass",
        "NodePool default: disruption.expireAfter is read as template.spec.expireAfter",
        "NodePool default: consolidationPolicy WhenUnderutilized is read as WhenEmptyOrUnderutilized",
    };

    must_load(
        f, "load",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
        "  template:\n    spec:\n      nodeClassRef: {name: default}\n"
        "      requirements:\n      - {key: kubernetes.io/arch, values: [arm64]}\n"
        "      - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ['3']}\n"
        "  limits: {cpu: 500, memory: 1000Gi}\n"
        "  disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: 5m, expireAfter: Never, budgets: "
        "[{nodes: 5%}]}\n  weight: 10\n---\n"
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec: {amiFamily: AL2023, "
        "role: r, subnetSelectorTerms: [{tags: {karpenter.sh/discovery: c}}]}\n");
    check_i64("notes", f->o->notes.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        check_str("note", f->o->notes.v[i], want[i]);
    const struct nodepool *p = &f->o->pools.v[0];
    check_i64("operator", p->tmpl.requirements[0].op, OP_IN);
    check_str("class", p->tmpl.class_ref.kind, "EC2NodeClass");
    check_i64("the template is what it is", p->tmpl.expire_after_ns, 720ll * 3600 * 1000000000);
    check_i64("policy", p->policy, CONSOLIDATE_EMPTY_OR_UNDERUTILIZED);
    check_i64("after", p->consolidate_after_ns, 300 * 1000000000ll);
    check_i64("weight", p->weight, 10);
    check_str("budget", p->budgets[0].nodes, "5%");
    check_str("node class", f->o->classes.v[0].group, "karpenter.k8s.aws");
}

static void nodepool_defaults(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load", POOL(""));
    const struct nodepool *p = &f->o->pools.v[0];
    check_i64("expiry", p->tmpl.expire_after_ns, 720ll * 3600 * 1000000000);
    check_i64("after", p->consolidate_after_ns, 0);
    check_i64("budgets", p->n_budgets, 1);
    check_str("budget", p->budgets[0].nodes, "10%");
    check_i64("ready", p->ready, COND_ABSENT);
    check_true("no labels is not empty labels", !p->tmpl.has_labels && !p->has_limits && !p->is_static);
}

static void the_modern_expiry_wins(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              POOL_TEMPLATE("      expireAfter: 1h\n      requirements: []\n  disruption: {expireAfter: 2h}\n"));
    check_i64("expiry", f->o->pools.v[0].tmpl.expire_after_ns, 3600 * 1000000000ll);
    check_i64("noted", f->o->notes.n, 1);
}

static void alias_keys(void **state)
{
    struct fixture *f = *state;
    sym zone;

    must_load(f, "load",
              "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels: {topology.kubernetes.io/zone: new, "
              "failure-domain.beta.kubernetes.io/zone: old, beta.kubernetes.io/arch: amd64}\n---\n" POD(
                  "{nodeSelector: {beta.kubernetes.io/os: linux}}"));
    check_true("zone", lset_value(f->t, f->o->nodes.v[0].labels, SYM(ZONE), &zone));
    check_str("the modern key wins", text(f, zone), "new");
    check_true("arch", lset_value(f->t, f->o->nodes.v[0].labels, SYM(ARCH), &zone));
    check_str("selector", text(f, f->o->pods.v[0].spec->node_selector[0].key), "kubernetes.io/os");
}

static void pod_fields(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\n  namespace: shop\n  uid: u1\n"
              "  creationTimestamp: '2026-01-15T11:00:00Z'\n  deletionTimestamp: '2026-01-15T11:30:00Z'\n"
              "  annotations: {karpenter.sh/do-not-disrupt: 1h}\n"
              "  ownerReferences: [{apiVersion: v1, kind: Node, name: n9}, {apiVersion: apps/v1, kind: StatefulSet, "
              "name: web, controller: true}]\n"
              "spec: {nodeName: n1, schedulerName: mine}\n"
              "status: {phase: Running, startTime: '2026-01-15T11:00:01Z', nominatedNodeName: x, conditions: [{type: "
              "Ready, status: 'False'}]}\n");
    const struct pod *p = &f->o->pods.v[0];
    check_str("ns", text(f, p->ns), "shop");
    check_str("node", text(f, p->node), "n1");
    check_str("do-not-disrupt", p->do_not_disrupt, "1h");
    check_i64("created", p->created_ms, 1768474800000);
    check_i64("started", p->started_ms, 1768474801000);
    check_i64("a Node among the owners decides", p->owner, OWNER_NODE);
    check_true("flags", p->terminating && p->not_ready && p->nominated && p->foreign_scheduler);
    check_i64("phase", p->phase, PHASE_RUNNING);
}

static void pod_defaults(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              POD("{hostNetwork: true, containers: [{ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81, "
                  "protocol: UDP, "
                  "hostIP: 10.0.0.1}]}], tolerations: [{key: a}], topologySpreadConstraints: [{maxSkew: 1, "
                  "topologyKey: z}]}") "---\n"
                                       "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{ports: "
                                       "[{containerPort: 80}, {hostPort: 82}]}]}\n");
    const struct podspec *p = f->o->pods.v[0].spec, *q = f->o->pods.v[1].spec;
    check_str("namespace", text(f, f->o->pods.v[0].ns), "default");
    check_i64("created is unknown", f->o->pods.v[0].created_ms, INT64_MAX);
    check_i64("host network", p->n_ports, 2);
    check_i64("its port", p->ports[0].port, 80);
    check_str("protocol", text(f, p->ports[0].proto), "TCP");
    check_str("address", text(f, p->ports[0].ip), "0.0.0.0");
    check_str("given address", text(f, p->ports[1].ip), "10.0.0.1");
    check_i64("container ports are not host ports", q->n_ports, 1);
    check_i64("toleration", p->tolerations.v[0].op, TOL_EQUAL);
    check_i64("when", p->spreads[0].when, SPREAD_DO_NOT_SCHEDULE);
    check_true("policies",
               !p->spreads[0].ignore_affinity && !p->spreads[0].honor_taints && !p->spreads[0].selector.present);
}

static void specs_are_shared(void **state)
{
    struct fixture *f = *state;

#define SHARED(name, extra)                                                                                            \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {nodeName: " name                               \
    ", containers: [{image: x-" name ", resources: {requests: {cpu: 1}}}]" extra "}\n"
#define PINNED(node)                                                                                                   \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "  \
    "[{key: metadata.name, operator: In, values: [" node "]}]}]}}}"
#define CLAIM(name)                                                                                                    \
    ", volumes: [{name: v, persistentVolumeClaim: {claimName: " name "}}, {name: t-" name ", emptyDir: {}}]"

    must_load(f, "load",
              SHARED("a", "") SHARED("b", "") SHARED("c", PINNED("n1")) SHARED("d", PINNED("n2"))
                  SHARED("e", CLAIM("x")) SHARED("f", CLAIM("w")) SHARED("g", CLAIM("x"))
                      SHARED("h", ", hostNetwork: false"));
    const struct pod *p = f->o->pods.v;
    check_true("what scheduling ignores does not separate", p[0].spec == p[1].spec);
    check_true("nor the node a daemon pod is pinned to", p[2].spec == p[3].spec && p[2].spec != p[0].spec);
    check_true("matchFields is kept", p[2].spec->required[0].match_fields);
    check_true("claims separate", p[4].spec != p[5].spec && p[4].spec == p[6].spec && p[4].spec != p[0].spec);
    check_true("but share the rest", p[4].spec->requests.q == p[0].spec->requests.q);
    check_str("claim", text(f, p[5].spec->volumes[0].name), "w");
}

static void label_keys_of_affinity(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: a, hash: h1}}\nspec: {affinity: "
              "{podAntiAffinity: "
              "{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, matchLabelKeys: [hash, none], "
              "mismatchLabelKeys: "
              "[app], labelSelector: {matchLabels: {app: a}}}]}}}\n");
    const struct selector *s = &f->o->pods.v[0].spec->anti_required.v[0].selector;
    check_i64("expressions", s->n_exprs, 3);
    check_str("match", text(f, s->exprs[1].vals[0]), "h1");
    check_i64("mismatch", s->exprs[2].op, OP_NOT_IN);
}

static void storage_kinds(void **state)
{
    struct fixture *f = *state;

    must_load(f, "load",
              "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {awsElasticBlockStore: {volumeID: "
              "x}}\n---\n"
              "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: w}\nspec: {hostPath: {path: /x}, "
              "nodeAffinity: {required: "
              "{nodeSelectorTerms: [{matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, "
              "values: [a]}]}]}}}\n---\n"
              "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, annotations: "
              "{pv.kubernetes.io/bind-completed: 'yes'}}\n"
              "spec: {volumeName: v}\nstatus: {phase: Lost}\n---\n"
              "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s, annotations: "
              "{storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: p\n---\n"
              "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n1}\nspec: {drivers: [{name: d, "
              "allocatable: {count: 3}}, {name: e}]}\n");
    check_str("in-tree volume", f->o->pvs.v[0].driver, "ebs.csi.aws.com");
    check_true("local", f->o->pvs.v[1].local && !f->o->pvs.v[0].local);
    check_true("alias", sym_eq(f->o->pvs.v[1].terms[0].exprs[0].key, SYM(ZONE)));
    check_true("claim", f->o->pvcs.v[0].lost && f->o->pvcs.v[0].bind_completed && f->o->pvcs.v[0].no_class);
    check_true("class", f->o->storage_classes.v[0].immediate && f->o->storage_classes.v[0].is_default);
    check_i64("limits", f->o->csi_limits.n, 1);
    check_i64("limit", f->o->csi_limits.v[0].count, 3);
}

static void other_fields(void **state)
{
    struct fixture *f = *state;
    sym val;

    must_load(
        f, "load",
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {maxUnavailable: 0, "
        "unhealthyPodEvictionPolicy: AlwaysAllow, selector: {}}\nstatus: {disruptionsAllowed: 2}\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\n---\n"
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {}\n---\n"
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {karpenter.sh/do-not-disrupt: "
        "'true'}}\nspec: {unschedulable: true}\n---\n"
        "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: rc}\nspec: {selector: {app: a}}\n---\n"
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c, deletionTimestamp: '2026-01-15T11:00:00Z'}\n"
        "spec: {nodeClassRef: {group: g, kind: k, name: c}, requirements: [{key: karpenter.sh/nodepool, "
        "operator: In, values: [p]}]}\n"
        "status: {providerID: x, conditions: [{type: Initialized, status: 'True', lastTransitionTime: "
        "'2026-01-15T11:00:00Z'}]}\n");
    const struct pdb *b = &f->o->pdbs.v[0];
    check_str("maxUnavailable", b->max_unavailable, "0");
    check_true("budget",
               b->always_allow && b->has_disruptions_allowed && b->selector.present && b->selector.n_exprs == 0);
    check_true("a namespace carries its name",
               lset_value(f->t, f->o->namespaces.v[0].labels, sym_of(f->t, STR("kubernetes.io/metadata.name")), &val));
    check_true("service", !f->o->services.v[0].has_selector);
    check_str("cordon", text(f, f->o->nodes.v[0].taints.v[0].key), "node.kubernetes.io/unschedulable");
    check_true("node", f->o->nodes.v[0].do_not_disrupt);
    check_i64("controller", f->o->controllers.v[0].kind, OWNER_RC);
    check_true("claim", f->o->claims.v[0].deleting && f->o->claims.v[0].initialized == COND_TRUE);
    check_i64("since", f->o->claims.v[0].initialized_ms, 1768474800000);
    check_i64("unknown", f->o->claims.v[0].last_pod_event_ms, INT64_MIN);
}

static void disruption_fields(void **state)
{
    struct fixture *f = *state;

    must_load(
        f, "load",
        POOL(
            "  disruption: {budgets: [{nodes: '1'}, {nodes: '2', reasons: []}, {nodes: '3', reasons: [Empty, "
            "Drifted]}]}\n") "---\n"
                             "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {controller.kubernetes.io/pod-deletion-cost: "
                             "'-1.5e3'}}\nspec: {priority: -7}\n---\n"
                             "apiVersion: v1\nkind: Pod\nmetadata: {name: b, annotations: {controller.kubernetes.io/pod-deletion-cost: "
                             "dear}}\nspec: {}\n---\n"
                             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {metadata: {annotations: "
                             "{controller.kubernetes.io/pod-deletion-cost: '3'}}, spec: {priority: 9}}}\n---\n"
                             "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {conditions: [{type: Ready, status: 'True'}]}\n---\n"
                             "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\nstatus: {conditions: [{type: Ready, status: Unknown}]}\n---\n"
                             "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: c, annotations: {x: z}}\n---\n"
                             "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: c}\nspec: {nodeRegistrationDelay: "
                             "1.5s}\nstatus: {conditions: [{type: Ready, status: 'False', message: no kwok}]}\n---\n"
                             "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c}\n"
                             "spec: {nodeClassRef: {group: g, kind: k, name: c}, requirements: []}\n"
                             "status: {conditions: [{type: Drifted, status: 'True', lastTransitionTime: '2026-01-15T11:00:00Z'}]}\n");
    const struct nodepool *p = &f->o->pools.v[0];
    check_true("no reasons: all of them", p->budgets[0].all_reasons && p->budgets[0].reasons == 0);
    check_true("an empty list is none", !p->budgets[1].all_reasons && p->budgets[1].reasons == 0);
    check_true("some", !p->budgets[2].all_reasons && p->budgets[2].reasons == (BUDGET_EMPTY | BUDGET_DRIFTED));
    check_double("deletion cost", f->o->pods.v[0].deletion_cost, -1500);
    check_i64("priority", f->o->pods.v[0].priority, -7);
    check_double("a cost that is no number", f->o->pods.v[1].deletion_cost, 0);
    check_str("is noted", f->o->notes.v[0],
              "Pod default/b: pod-deletion-cost \"dear\" is no number and does not count");
    check_double("of a template", f->o->workloads.v[0].deletion_cost, 3);
    check_i64("likewise", f->o->workloads.v[0].priority, 9);
    check_true("ready", f->o->nodes.v[0].ready && !f->o->nodes.v[1].ready);
    check_str("annotations of a class", annotation_value(f->o->classes.v[0].annotations, 1, "x"), "z");
    check_i64("no delay", f->o->classes.v[0].registration_delay_ns, 0);
    check_i64("a delay", f->o->classes.v[1].registration_delay_ns, 1500000000);
    check_true("not ready", f->o->classes.v[1].ready == COND_FALSE);
    check_str("because", f->o->classes.v[1].ready_message, "no kwok");
    check_i64("drifted since", f->o->claims.v[0].drifted_ms, 1768474800000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_is_accepted),
        cmocka_unit_test_setup_teardown(other_kinds_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(old_spellings, setup, teardown),
        cmocka_unit_test_setup_teardown(nodepool_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(the_modern_expiry_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(alias_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(pod_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(pod_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(specs_are_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(label_keys_of_affinity, setup, teardown),
        cmocka_unit_test_setup_teardown(storage_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(other_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(disruption_fields, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
