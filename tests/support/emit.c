/* See emit.h. Ages are spread over the hour before noon of a fixed day, so that the order of arrival is known. */
#include "emit.h"

#include <inttypes.h>

#define EMIT_CLASS(ec2) ((ec2) ? EMIT_EC2_CLASS : EMIT_KWOK_CLASS)

void emit_init(struct emitter *e, FILE *out, uint64_t seed)
{
    *e = (struct emitter){.out = out};
    rng_init(&e->rng, seed ^ 0x1dULL << 56);
}

void emit_uid(struct emitter *e, char ret_uid[37])
{
    uint64_t a = rng_next(&e->rng), b = rng_next(&e->rng);

    (void)snprintf(ret_uid, 37, "%08x-%04x-4%03x-%04x-%012" PRIx64, (uint32_t)(a >> 32), (uint32_t)(a >> 16 & 0xffff),
                   (uint32_t)(a & 0xfff), (uint32_t)(0x8000 | (b >> 48 & 0x3fff)), b & 0xffffffffffff);
}

void emit_meta(struct emitter *e, const char *ns, const char *name)
{
    char uid[37];
    uint32_t s = (uint32_t)(e->n_objects++ / 500 % 3600);

    emit_uid(e, uid);
    (void)fprintf(e->out, "\"name\":\"%s\",", name);
    if (ns)
        (void)fprintf(e->out, "\"namespace\":\"%s\",", ns);
    (void)fprintf(e->out, "\"uid\":\"%s\",\"creationTimestamp\":\"2026-01-15T11:%02u:%02uZ\"", uid, s / 60, s % 60);
}

/* ,"name":<open>content<close> when there is content */
static void member(struct emitter *e, const char *name, char open, const char *content, char close)
{
    if (content && *content)
        (void)fprintf(e->out, ",\"%s\":%c%s%c", name, open, content, close);
}

static void requests(struct emitter *e, const struct emit_pod *p)
{
    const char *sep = "";

    (void)fputs(",\"resources\":{\"requests\":{", e->out);
    if (p->cpu_m) {
        (void)fprintf(e->out, "\"cpu\":\"%um\"", p->cpu_m);
        sep = ",";
    }
    if (p->mem_mi) {
        (void)fprintf(e->out, "%s\"memory\":\"%uMi\"", sep, p->mem_mi);
        sep = ",";
    }
    if (p->requests && *p->requests)
        (void)fprintf(e->out, "%s%s", sep, p->requests);
    (void)fputs("}}", e->out);
}

static void pod_spec(struct emitter *e, const struct emit_pod *p)
{
    (void)fputs("\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"app\"", e->out);
    requests(e, p);
    if (p->container && *p->container)
        (void)fprintf(e->out, ",%s", p->container);
    (void)fputs("}]", e->out);
    if (p->node)
        (void)fprintf(e->out, ",\"nodeName\":\"%s\"", p->node);
    if (p->spec && *p->spec)
        (void)fprintf(e->out, ",%s", p->spec);
    (void)fputs(",\"schedulerName\":\"default-scheduler\"}", e->out);
}

static void owner(struct emitter *e, const char *kind, const char *uid, const char *name)
{
    if (name)
        (void)fprintf(e->out,
                      ",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":\"%s\","
                      "\"uid\":\"%s-%s\",\"controller\":true}]",
                      kind, name, uid, name);
}

void emit_pod(struct emitter *e, const struct emit_pod *p)
{
    (void)fputs("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{", e->out);
    emit_meta(e, p->ns ? p->ns : "default", p->name);
    member(e, "labels", '{', p->labels, '}');
    member(e, "annotations", '{', p->annotations, '}');
    owner(e, "DaemonSet", "ds", p->daemonset);
    owner(e, "ReplicaSet", "rs", p->replicaset);
    (void)fputs("},", e->out);
    pod_spec(e, p);
    (void)fputs(p->node ? ",\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"PodScheduled\","
                          "\"status\":\"True\",\"lastTransitionTime\":\"2026-01-15T11:30:00Z\"}]"
                        : ",\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
                          "\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"no nodes available\","
                          "\"lastTransitionTime\":\"2026-01-15T11:59:00Z\"}]",
                e->out);
    if (p->status && *p->status)
        (void)fprintf(e->out, ",%s", p->status);
    (void)fputs("}}\n", e->out);
}

void emit_daemonset(struct emitter *e, const struct emit_pod *p)
{
    (void)fputs("{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{", e->out);
    emit_meta(e, p->ns ? p->ns : "kube-system", p->name);
    (void)fprintf(e->out,
                  "},\"spec\":{\"selector\":{\"matchLabels\":{\"daemon\":\"%s\"}},"
                  "\"template\":{\"metadata\":{\"labels\":{\"daemon\":\"%s\"}},",
                  p->name, p->name);
    pod_spec(e, p);
    (void)fputs("}}}\n", e->out);
}

void emit_pool(struct emitter *e, const struct emit_pool *p)
{
    (void)fputs("{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{", e->out);
    emit_meta(e, NULL, p->name);
    member(e, "annotations", '{', p->annotations, '}');
    (void)fputs("},\"spec\":{\"template\":{\"metadata\":{", e->out);
    if (p->labels && *p->labels)
        (void)fprintf(e->out, "\"labels\":{%s}", p->labels);
    (void)fprintf(e->out, "},\"spec\":{%s,\"requirements\":[%s],\"expireAfter\":\"720h\"", EMIT_CLASS(p->ec2),
                  p->requirements ? p->requirements : "");
    member(e, "taints", '[', p->taints, ']');
    member(e, "startupTaints", '[', p->startup_taints, ']');
    (void)fprintf(e->out, "}},\"disruption\":{%s}",
                  p->disruption ? p->disruption
                                : "\"consolidateAfter\":\"0s\",\"consolidationPolicy\":\"WhenEmptyOrUnderutilized\","
                                  "\"budgets\":[{\"nodes\":\"10%\"}]");
    member(e, "limits", '{', p->limits, '}');
    if (p->spec && *p->spec)
        (void)fprintf(e->out, ",%s", p->spec);
    if (p->weight)
        (void)fprintf(e->out, ",\"weight\":%u", p->weight);
    (void)fputs("},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Ready\","
                "\"message\":\"\",\"lastTransitionTime\":\"2026-01-15T11:00:00Z\"}]}}\n",
                e->out);
}

static void node_labels(struct emitter *e, const struct emit_node *n, bool node_object)
{
    (void)fprintf(e->out,
                  "\"labels\":{\"kubernetes.io/arch\":\"%s\",\"kubernetes.io/os\":\"linux\","
                  "\"node.kubernetes.io/instance-type\":\"%s\",\"topology.kubernetes.io/zone\":\"%s\"",
                  n->arch ? n->arch : "amd64", n->type, n->zone);
    if (!n->unmanaged)
        (void)fprintf(e->out,
                      ",\"karpenter.sh/nodepool\":\"%s\",\"karpenter.sh/capacity-type\":\"%s\","
                      "\"karpenter.kwok.sh/kwoknodeclass\":\"default\"",
                      n->pool, n->capacity_type ? n->capacity_type : "on-demand");
    if (node_object) {
        (void)fprintf(e->out, ",\"kubernetes.io/hostname\":\"%s\"", n->name);
        if (!n->unmanaged)
            (void)fputs(",\"karpenter.sh/registered\":\"true\"", e->out);
        if (!n->unmanaged && !n->uninitialized)
            (void)fputs(",\"karpenter.sh/initialized\":\"true\"", e->out);
    }
    if (n->labels && *n->labels)
        (void)fprintf(e->out, ",%s", n->labels);
    (void)fputs("}", e->out);
}

static void claim_object(struct emitter *e, const struct emit_node *n)
{
    static const char *const steps[] = {"Launched", "Registered", "Initialized"};
    size_t done = n->claim_only ? 1 : n->uninitialized ? 2 : 3;
    char name[128];

    (void)snprintf(name, sizeof(name), "%s-%s", n->pool, n->name);
    (void)fputs("{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{", e->out);
    emit_meta(e, NULL, name);
    (void)fputs(",\"finalizers\":[\"karpenter.sh/termination\"],", e->out);
    if (n->deleting)
        (void)fputs("\"deletionTimestamp\":\"2026-01-15T11:59:30Z\",", e->out);
    node_labels(e, n, /* node_object= */ false);
    (void)fprintf(e->out,
                  "},\"spec\":{%s,\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\","
                  "\"operator\":\"In\",\"values\":[\"%s\"]}]",
                  EMIT_KWOK_CLASS, n->type);
    member(e, "taints", '[', n->taints, ']');
    member(e, "startupTaints", '[', n->startup_taints, ']');
    if (n->claim_spec && *n->claim_spec)
        (void)fprintf(e->out, ",%s", n->claim_spec);
    (void)fprintf(e->out, "},\"status\":{\"providerID\":\"kwok://%s\",\"capacity\":{%s},\"allocatable\":{%s},", n->name,
                  n->capacity, n->allocatable);
    if (!n->claim_only)
        (void)fprintf(e->out, "\"nodeName\":\"%s\",", n->name);
    if (n->claim_status && *n->claim_status)
        (void)fprintf(e->out, "%s,", n->claim_status);
    (void)fputs("\"conditions\":[", e->out);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        (void)fprintf(e->out,
                      "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"\","
                      "\"lastTransitionTime\":\"2026-01-15T11:10:00Z\"}",
                      i ? "," : "", steps[i], i < done ? "True" : "Unknown",
                      i < done ? steps[i] : "AwaitingReconciliation");
    if (n->conditions && *n->conditions)
        (void)fprintf(e->out, ",%s", n->conditions);
    (void)fputs("]}}\n", e->out);
}

void emit_node(struct emitter *e, const struct emit_node *n)
{
    if (!n->unmanaged)
        claim_object(e, n);
    if (n->claim_only)
        return;

    (void)fputs("{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{", e->out);
    emit_meta(e, NULL, n->name);
    (void)fputs(",", e->out);
    node_labels(e, n, /* node_object= */ true);
    member(e, "annotations", '{', n->annotations, '}');
    (void)fprintf(e->out, "},\"spec\":{\"providerID\":\"kwok://%s\"", n->name);
    if (n->taints && *n->taints && n->startup_taints && *n->startup_taints && n->uninitialized)
        (void)fprintf(e->out, ",\"taints\":[%s,%s]", n->taints, n->startup_taints);
    else if (n->startup_taints && *n->startup_taints && n->uninitialized)
        member(e, "taints", '[', n->startup_taints, ']');
    else
        member(e, "taints", '[', n->taints, ']');
    (void)fprintf(e->out,
                  "},\"status\":{\"capacity\":{%s},\"allocatable\":{%s},\"conditions\":[{\"type\":\"Ready\","
                  "\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"\","
                  "\"lastTransitionTime\":\"2026-01-15T11:10:00Z\"}]}}\n",
                  n->capacity, n->allocatable, n->not_ready ? "False" : "True",
                  n->not_ready ? "KubeletNotReady" : "KubeletReady");
}

void emit_pdb(struct emitter *e, const char *ns, const char *name, const char *label, const char *value,
              const char *spec, uint32_t disruptions_allowed)
{
    (void)fputs("{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{", e->out);
    emit_meta(e, ns, name);
    (void)fprintf(e->out,
                  "},\"spec\":{%s,\"selector\":{\"matchLabels\":{\"%s\":\"%s\"}}},"
                  "\"status\":{\"disruptionsAllowed\":%u}}\n",
                  spec, label, value, disruptions_allowed);
}

void emit_volume(struct emitter *e, const char *ns, const char *name, const char *driver, const char *zone)
{
    (void)fputs("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{", e->out);
    emit_meta(e, ns, name);
    (void)fprintf(e->out,
                  ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{\"accessModes\":"
                  "[\"ReadWriteOnce\"],\"storageClassName\":\"standard\",\"volumeName\":\"pv-%s-%s\"},"
                  "\"status\":{\"phase\":\"Bound\"}}\n",
                  ns, name);
    (void)fputs("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{", e->out);
    char pv[256];
    (void)snprintf(pv, sizeof(pv), "pv-%s-%s", ns, name);
    emit_meta(e, NULL, pv);
    (void)fprintf(
        e->out,
        "},\"spec\":{\"csi\":{\"driver\":\"%s\",\"volumeHandle\":\"%s\"},\"storageClassName\":\"standard\",\"claimRef\":{"
        "\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"namespace\":\"%s\",\"name\":\"%s\"}",
        driver, pv, ns, name);
    if (zone)
        (void)fprintf(e->out,
                      ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                      "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}",
                      zone);
    (void)fputs("},\"status\":{\"phase\":\"Bound\"}}\n", e->out);
}
