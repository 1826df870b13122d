/* A random cluster from a seed: every feature that placement knows, small enough to check in bulk. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define TEAM "example.com/team"
#define DRIVER "disk.csi.example.com"
#define DISRUPTION(after)                                                                                              \
    "\"consolidateAfter\":\"" after                                                                                    \
    "\",\"consolidationPolicy\":\"WhenEmptyOrUnderutilized\",\"budgets\":[{\"nodes\":\"100%\"}]"

const char *const zones[N_ZONES] = {"zone-a", "zone-b", "zone-c"};
const char *const families[N_FAMILIES] = {"c", "m", "r"};
const uint32_t gib_per_cpu[N_FAMILIES] = {2, 4, 8};
const uint32_t cpus[N_CPUS] = {2, 4, 8, 16};
const char *const capacity_types[N_CAPACITY_TYPES] = {"spot", "on-demand"};
static const char *const teams[] = {"red", "blue"};
static const char *const arches[] = {"amd64", "arm64"};

uint32_t below(struct gen *g, uint32_t n)
{
    return rng_below(&g->rng, n);
}

bool chance(struct gen *g, uint32_t percent)
{
    return below(g, 100) < percent;
}

void item(struct sb *b, const char *fmt, ...)
{
    va_list ap;
    char text[1024];

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (b->n)
        sb_char(b, ',');
    sb_c(b, text);
}

const char *text(struct sb *b)
{
    return b->n ? sb_cstr(b) : "";
}

void machine(struct machine *m, uint32_t family, uint32_t cpu)
{
    (void)snprintf(m->type, sizeof(m->type), "%s-%ux-amd64-linux", families[family], cpu);
    (void)snprintf(
        m->labels, sizeof(m->labels),
        "\"" CPU "\":\"%u\",\"" FAMILY
        "\":\"%s\",\"karpenter.kwok.sh/instance-memory\":\"%uGi\",\"karpenter.kwok.sh/instance-size\":\"%ux\"",
        cpu, families[family], cpu * gib_per_cpu[family], cpu);
    (void)snprintf(m->capacity, sizeof(m->capacity),
                   "\"cpu\":\"%u\",\"memory\":\"%uGi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\"", cpu,
                   cpu * gib_per_cpu[family], 8 * cpu);
    (void)snprintf(m->allocatable, sizeof(m->allocatable),
                   "\"cpu\":\"%um\",\"memory\":\"%uMi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\"",
                   cpu * 1000 - 100, cpu * gib_per_cpu[family] * 1024 - 10, 8 * cpu);
}

/* {"key":…,"operator":…,"values":[…]} about something that some nodes have and others do not. */
static void expression(struct gen *g, struct sb *b, bool for_pool)
{
    switch (below(g, for_pool ? 6 : 8)) {
    case 0:
        item(b, "{\"key\":\"" ZONE "\",\"operator\":\"%s\",\"values\":[\"%s\",\"%s\"]}", chance(g, 70) ? "In" : "NotIn",
             zones[0], zones[1 + below(g, 2)]);
        return;
    case 1:
        item(b, "{\"key\":\"" CT "\",\"operator\":\"In\",\"values\":[\"%s\"]}", PICK(g, capacity_types));
        return;
    case 2:
        item(b, "{\"key\":\"" CPU "\",\"operator\":\"%s\",\"values\":[\"%u\"]}", chance(g, 50) ? "Gt" : "Lt",
             chance(g, 50) ? 3u : 9u);
        return;
    case 3:
        item(b, "{\"key\":\"" FAMILY "\",\"operator\":\"%s\",\"values\":[\"%s\"]}", chance(g, 50) ? "In" : "NotIn",
             PICK(g, families));
        return;
    case 4:
        item(b, "{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"%s\"]}",
             chance(g, 80) ? "amd64" : "arm64");
        return;
    case 5:
        item(b, "{\"key\":\"" CPU "\",\"operator\":\"%s\",\"values\":[\"%u\"]}", chance(g, 50) ? "Gte" : "Lte", 4u);
        return;
    case 6:
        item(b, "{\"key\":\"" TEAM "\",\"operator\":\"%s\"}", chance(g, 60) ? "DoesNotExist" : "Exists");
        return;
    default:
        item(b, "{\"key\":\"" TEAM "\",\"operator\":\"%s\",\"values\":[\"%s\"]}", chance(g, 50) ? "In" : "NotIn",
             PICK(g, teams));
        return;
    }
}

/* In a crowd one pool is open to everybody, so that every domain can be had without tolerating anything. Otherwise the
 * domains of a shared anti-affinity group are those of the pod that came first (quirk, scheduling 13.1), which a
 * question and a plan from scratch may not agree upon. */
static void pool(struct gen *g, uint32_t ix)
{
    struct sb reqs = {0}, limits = {0};
    char labels[64] = "", name[16];
    bool open = g->crowded && ix == 0, tainted = chance(g, 25) && !open, soft = chance(g, 40);

    (void)snprintf(name, sizeof(name), "pool-%u", ix);
    memcpy(g->pools[ix].name, name, sizeof(name));
    g->pools[ix].team = chance(g, 40) ? PICK(g, teams) : NULL;
    g->pools[ix].tainted = tainted;
    if (g->pools[ix].team)
        (void)snprintf(labels, sizeof(labels), "\"" TEAM "\":\"%s\"", g->pools[ix].team);
    for (uint32_t n = open ? 0 : below(g, 3); n > 0; n--)
        expression(g, &reqs, /* for_pool= */ true);
    if (chance(g, 20))
        item(&reqs, "{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"Exists\",\"minValues\":%u}",
             2 + below(g, 3));
    if (chance(g, 10))
        item(&reqs, "{\"key\":\"" FAMILY "\",\"operator\":\"Exists\",\"minValues\":2}");
    if (chance(g, 25))
        item(&limits, "\"cpu\":\"%u\"", 8 + below(g, g->crowded ? 400 : 60));
    if (chance(g, 10))
        item(&limits, "\"memory\":\"%uGi\"", 32 + below(g, 200));
    if (chance(g, 10))
        item(&limits, "\"nodes\":\"%u\"", below(g, 6));
    emit_pool(
        &g->e,
        &(struct emit_pool){
            .name = name,
            .requirements = text(&reqs),
            .labels = labels,
            .limits = text(&limits),
            .weight = chance(g, 60) ? 1 + below(g, 100) : 0,
            .taints = tainted ? (soft ? "{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"PreferNoSchedule\"}"
                                      : "{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"NoSchedule\"}")
                              : NULL,
            .disruption = g->crowded ? (chance(g, 40) ? DISRUPTION("300s") : DISRUPTION("0s")) : NULL,
            .startup_taints = chance(g, 15) ? "{\"key\":\"example.com/starting\",\"effect\":\"NoExecute\"}" : NULL,
        });
    sb_fini(&reqs);
    sb_fini(&limits);
}

static void spread(struct gen *g, struct sb *out, const char *app)
{
    static const char *const keys[] = {ZONE, ZONE, HOST, HOST, CT};
    const char *key = PICK(g, keys);

    item(
        out,
        "{\"maxSkew\":%u,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"%s\",\"labelSelector\":{\"matchLabels\":{\"app\":\"%s\"}}%s%s%s%s}",
        1 + below(g, 3), key, chance(g, 70) ? "DoNotSchedule" : "ScheduleAnyway", app,
        chance(g, 10) ? ",\"minDomains\":2" : "", chance(g, 15) ? ",\"nodeAffinityPolicy\":\"Ignore\"" : "",
        chance(g, 15) ? ",\"nodeTaintsPolicy\":\"Honor\"" : "",
        chance(g, 10) ? ",\"matchLabelKeys\":[\"revision\"]" : "");
}

static void pod_term(struct gen *g, struct sb *required, struct sb *preferred, const char *app)
{
    char other[16], term[400];
    const char *scope = chance(g, 10)   ? ",\"namespaceSelector\":{\"matchLabels\":{\"env\":\"test\"}}"
                        : chance(g, 10) ? ",\"namespaces\":[\"other\"]"
                                        : "";

    (void)snprintf(other, sizeof(other), "app-%u", below(g, g->n_apps));
    (void)snprintf(
        term, sizeof(term),
        "{\"topologyKey\":\"%s\",\"labelSelector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"%s\"]}]}%s}",
        chance(g, 50) ? ZONE : HOST, chance(g, 60) ? app : other, scope);
    if (chance(g, 70))
        item(required, "%s", term);
    else
        item(preferred, "{\"weight\":%u,\"podAffinityTerm\":%s}", 1 + below(g, 100), term);
}

static void affinity_kind(struct sb *out, const char *kind, struct sb *required, struct sb *preferred, bool node)
{
    if (required->n == 0 && preferred->n == 0)
        return;
    if (out->n)
        sb_char(out, ',');
    sb_printf(out, "\"%s\":{", kind);
    if (required->n) {
        sb_c(out, node ? "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
                       : "\"requiredDuringSchedulingIgnoredDuringExecution\":[");
        sb_str(out, sb_view(required));
        sb_c(out, node ? "]}" : "]");
    }
    if (preferred->n) {
        sb_printf(out, "%s\"preferredDuringSchedulingIgnoredDuringExecution\":[", required->n ? "," : "");
        sb_str(out, sb_view(preferred));
        sb_char(out, ']');
    }
    sb_char(out, '}');
}

static void node_terms(struct gen *g, struct sb *required, struct sb *preferred)
{
    struct sb exprs = {0};

    for (uint32_t n = chance(g, 25) ? 1 + below(g, 3) : 0; n > 0; n--) {
        sb_reset(&exprs);
        for (uint32_t k = 1 + below(g, 2); k > 0; k--)
            expression(g, &exprs, /* for_pool= */ false);
        item(required, "{\"matchExpressions\":[%s]}", text(&exprs));
    }
    for (uint32_t n = chance(g, 20) ? 1 + below(g, 2) : 0; n > 0; n--) {
        sb_reset(&exprs);
        expression(g, &exprs, /* for_pool= */ false);
        item(preferred, "{\"weight\":%u,\"preference\":{\"matchExpressions\":[%s]}}", 1 + below(g, 100), text(&exprs));
    }
    sb_fini(&exprs);
}

static void affinity(struct gen *g, struct sb *spec, const char *app)
{
    struct sb all = {0}, required = {0}, preferred = {0};

    node_terms(g, &required, &preferred);
    affinity_kind(&all, "nodeAffinity", &required, &preferred, /* node= */ true);
    sb_reset(&required);
    sb_reset(&preferred);
    if (chance(g, 20))
        pod_term(g, &required, &preferred, app);
    affinity_kind(&all, "podAffinity", &required, &preferred, /* node= */ false);
    sb_reset(&required);
    sb_reset(&preferred);
    for (uint32_t n = chance(g, 25) ? 1 + below(g, 2) : 0; n > 0; n--)
        pod_term(g, &required, &preferred, app);
    affinity_kind(&all, "podAntiAffinity", &required, &preferred, /* node= */ false);
    if (all.n) {
        sb_printf(spec, "%s\"affinity\":{", spec->n ? "," : "");
        sb_str(spec, sb_view(&all));
        sb_char(spec, '}');
    }
    sb_fini(&all);
    sb_fini(&required);
    sb_fini(&preferred);
}

/* Everything in a pod's spec but its volumes, which are each pod's own. */
static void app_spec(struct gen *g, struct sb *spec, const char *app)
{
    struct sb list = {0};

    if (chance(g, 15))
        item(spec, "\"nodeSelector\":{\"" ZONE "\":\"%s\"}", PICK(g, zones));
    else if (chance(g, 10))
        item(spec, "\"nodeSelector\":{\"" TEAM "\":\"%s\"}", PICK(g, teams));
    if (chance(g, 35))
        item(spec, "\"tolerations\":[%s]",
             chance(g, 50)
                 ? "{\"key\":\"dedicated\",\"operator\":\"Exists\"}"
                 : "{\"key\":\"dedicated\",\"operator\":\"Equal\",\"value\":\"x\",\"effect\":\"NoSchedule\"}");
    for (uint32_t n = chance(g, 40) ? 1 + below(g, 2) : 0; n > 0; n--)
        spread(g, &list, app);
    if (list.n)
        item(spec, "\"topologySpreadConstraints\":[%s]", text(&list));
    affinity(g, spec, app);
    if (chance(g, 10))
        item(
            spec,
            "\"initContainers\":[{\"name\":\"init\",\"image\":\"app\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"256Mi\"}}%s}]",
            100 * (1 + below(g, 15)), chance(g, 50) ? ",\"restartPolicy\":\"Always\"" : "");
    sb_fini(&list);
}

static void unbound_claim(struct gen *g, const char *ns, const char *name)
{
    (void)fputs("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{", g->e.out);
    emit_meta(&g->e, ns, name);
    (void)fprintf(g->e.out, "},\"spec\":{\"storageClassName\":\"%s\"},\"status\":{\"phase\":\"Pending\"}}\n",
                  chance(g, 50) ? "zonal" : "standard");
}

static void pod(struct gen *g, struct emit_pod *p, const char *spec, bool volume, bool bound_volume)
{
    struct sb all = {0};

    sb_c(&all, spec);
    if (volume) {
        char claim[32];

        (void)snprintf(claim, sizeof(claim), "disk-%u", g->n_volumes++);
        if (bound_volume)
            emit_volume(&g->e, p->ns, claim, DRIVER, chance(g, 80) ? PICK(g, zones) : NULL);
        else
            unbound_claim(g, p->ns, claim);
        item(&all, "\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}]", claim);
    }
    p->spec = text(&all);
    emit_pod(&g->e, p);
    sb_fini(&all);
}

/* A node with room for the pod; NULL: it waits. */
static const char *home(struct gen *g, uint32_t cpu_m, uint32_t mem_mi)
{
    uint32_t start = below(g, g->n_nodes);
    bool waits = chance(g, 10);

    for (uint32_t i = 0; i < g->n_nodes && !waits; i++) {
        struct gen_node *n = &g->nodes[(start + i) % g->n_nodes];

        if (n->cpu_m < cpu_m || n->mem_mi < mem_mi)
            continue;
        n->cpu_m -= cpu_m;
        n->mem_mi -= mem_mi;
        return n->name;
    }
    return NULL;
}

static void app(struct gen *g, uint32_t ix)
{
    static const uint32_t cpu_m[] = {0, 50, 100, 250, 500, 1000, 1500, 3000, 7000, 20000};
    static const uint32_t mem_mi[] = {0, 64, 256, 512, 2048, 6000, 16000};
    struct sb spec = {0};
    char name[16], labels[96], pod_name[32], container[96] = "";
    bool volume = chance(g, 15), bound = chance(g, 60);
    uint32_t size = below(g, ARRAY_LEN(cpu_m) * 3), replicas = 1 + below(g, 12);
    struct emit_pod p = {
        .ns = chance(g, 85) ? "default" : "other", .name = pod_name, .labels = labels, .container = container};

    (void)snprintf(name, sizeof(name), "app-%u", ix);
    (void)snprintf(labels, sizeof(labels), "\"app\":\"%s\",\"revision\":\"%u\"", name, below(g, 2));
    app_spec(g, &spec, name);
    if (chance(g, 10))
        (void)snprintf(container, sizeof(container), "\"ports\":[{\"containerPort\":80,\"hostPort\":%u%s}]",
                       8080 + below(g, 2), chance(g, 30) ? ",\"protocol\":\"UDP\"" : "");
    p.cpu_m = cpu_m[size % (ARRAY_LEN(cpu_m) - (size > 20 ? 0u : 2u))];
    p.mem_mi = PICK(g, mem_mi);
    if (chance(g, 10))
        p.requests = "\"ephemeral-storage\":\"2Gi\"";
    for (uint32_t i = 0; i < replicas; i++) {
        (void)snprintf(pod_name, sizeof(pod_name), "%s-%u", name, i);
        p.node = g->crowded ? home(g, p.cpu_m, p.mem_mi) : NULL;
        if (p.node || !g->crowded || chance(g, 50))
            pod(g, &p, text(&spec), volume, bound);
    }
    sb_fini(&spec);
}

static void daemonset(struct gen *g, uint32_t ix)
{
    static const char *const specs[] = {
        "\"tolerations\":[{\"operator\":\"Exists\"}]",
        "",
        "\"nodeSelector\":{\"kubernetes.io/arch\":\"amd64\"}",
        "\"nodeSelector\":{\"" CT "\":\"spot\"},\"tolerations\":[{\"operator\":\"Exists\"}]",
        "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":["
        "{\"key\":\"" CPU "\",\"operator\":\"Gt\",\"values\":[\"3\"]}]}]}}}",
    };
    char name[24];

    (void)snprintf(name, sizeof(name), "daemon-%u", ix);
    emit_daemonset(
        &g->e,
        &(struct emit_pod){.name = name,
                           .spec = PICK(g, specs),
                           .cpu_m = 50 + 50 * below(g, 6),
                           .mem_mi = 64,
                           .container = chance(g, 15) ? "\"ports\":[{\"containerPort\":80,\"hostPort\":8081}]" : NULL});
}

static void csi_node(struct gen *g, const char *node)
{
    (void)fputs("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"CSINode\",\"metadata\":{", g->e.out);
    emit_meta(&g->e, NULL, node);
    (void)fprintf(g->e.out,
                  "},\"spec\":{\"drivers\":[{\"name\":\"" DRIVER
                  "\",\"nodeID\":\"%s\",\"allocatable\":{\"count\":%u}}]}}\n",
                  node, 1 + below(g, 4));
}

static void bound_pods(struct gen *g, struct gen_node *home, uint32_t cpu)
{
    const char *node = home->name;

    for (uint32_t n = below(g, 4); n > 0; n--) {
        char name[32], labels[64], spec[400] = "";
        uint32_t a = below(g, g->n_apps), cpu_m;

        (void)snprintf(name, sizeof(name), "old-%s-%u", node, n);
        (void)snprintf(labels, sizeof(labels), "\"app\":\"app-%u\",\"revision\":\"%u\"", a, below(g, 2));
        if (chance(g, 15))
            (void)snprintf(
                spec, sizeof(spec),
                "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"%s\","
                "\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%u\"}}}]}}",
                chance(g, 50) ? HOST : ZONE, below(g, g->n_apps));
        cpu_m = cpu * 50 * (1 + below(g, 5));
        home->cpu_m -= cpu_m;
        home->mem_mi -= 256;
        pod(g,
            &(struct emit_pod){
                .ns = "default", .name = name, .labels = labels, .node = node, .cpu_m = cpu_m, .mem_mi = 256},
            spec, chance(g, 15), /* bound_volume= */ true);
    }
}

static void node(struct gen *g, uint32_t ix)
{
    uint32_t f = below(g, 3), cpu = PICK(g, cpus), p = below(g, g->n_pools), kind = below(g, 10);
    char *name = g->nodes[ix].name;
    struct machine m;
    struct sb labels = {0};

    (void)snprintf(name, sizeof(g->nodes[ix].name), "node-%u", ix);
    machine(&m, f, cpu);
    item(&labels, "%s", m.labels);
    if (g->pools[p].team)
        item(&labels, "\"" TEAM "\":\"%s\"", g->pools[p].team);
    struct emit_node n = {.name = name,
                          .pool = g->pools[p].name,
                          .type = m.type,
                          .zone = PICK(g, zones),
                          .capacity_type = PICK(g, capacity_types),
                          .labels = text(&labels),
                          .capacity = m.capacity,
                          .allocatable = m.allocatable,
                          .unmanaged = kind == 0,
                          .claim_only = kind == 1,
                          .uninitialized = kind == 2,
                          .deleting = kind == 3};
    if (g->pools[p].tainted)
        n.taints = "{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"NoSchedule\"}";
    if (n.uninitialized || n.claim_only)
        n.startup_taints = "{\"key\":\"example.com/starting\",\"effect\":\"NoExecute\"}";
    if (g->crowded && kind > 3 && chance(g, 70))
        n.conditions = EMIT_CONDITION("Consolidatable", "Consolidatable", "2026-01-15T11:58:00Z");
    if (g->crowded && chance(g, 40))
        n.claim_status = "\"lastPodEventTime\":\"2026-01-15T11:59:00Z\"";
    emit_node(&g->e, &n);
    if (!n.claim_only) {
        g->nodes[ix].cpu_m = cpu * 1000 - 100;
        g->nodes[ix].mem_mi = cpu * gib_per_cpu[f] * 1024 - 10;
        if (chance(g, 40))
            csi_node(g, name);
        bound_pods(g, &g->nodes[ix], cpu);
    }
    sb_fini(&labels);
}

static void fixed_objects(struct gen *g)
{
    (void)fputs(
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\",\"labels\":{\"env\":\"live\"}}}\n"
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"other\",\"labels\":{\"env\":\"test\"}}}\n"
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"standard\"},\"provisioner\":\"" DRIVER
        "\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}\n"
        "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"zonal\"},\"provisioner\":\"" DRIVER
        "\",\"volumeBindingMode\":\"WaitForFirstConsumer\",\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":\"" ZONE
        "\",\"values\":[\"zone-a\",\"zone-b\"]}]}]}\n",
        g->e.out);
}

static void write_objects(struct gen *g, uint32_t n_daemons)
{
    fixed_objects(g);
    for (uint32_t i = 0; i < g->n_pools; i++)
        pool(g, i);
    for (uint32_t i = 0; i < n_daemons; i++)
        daemonset(g, i);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        node(g, i);
    for (uint32_t i = 0; i < g->n_apps; i++)
        app(g, i);
}

static void objects(struct gen *g)
{
    uint32_t n_daemons = below(g, 4);

    g->n_pools = 1 + below(g, MAX_POOLS);
    g->n_nodes = below(g, MAX_NODES + 1);
    g->n_apps = 1 + below(g, 10);
    write_objects(g, n_daemons);
}

static void type(struct gen *g, uint32_t f, uint32_t cpu, const char *arch)
{
    double price = cpu * (0.03 + 0.004 * gib_per_cpu[f]) * (0.95 + 0.1 * rng_unit(&g->rng));
    struct sb offers = {0};

    for (size_t z = 0; z < ARRAY_LEN(zones); z++)
        for (size_t c = 0; c < ARRAY_LEN(capacity_types); c++)
            if (chance(g, 92))
                item(&offers,
                     "{\"Price\":%.6f,\"Available\":%s,\"Requirements\":[{\"key\":\"" CT
                     "\",\"operator\":\"In\",\"values\":[\"%s\"]},"
                     "{\"key\":\"" ZONE "\",\"operator\":\"In\",\"values\":[\"%s\"]}]}",
                     price * (c == 0 ? 0.5 + 0.2 * rng_unit(&g->rng) : 1), chance(g, 88) ? "true" : "false",
                     capacity_types[c], zones[z]);
    if (g->crowded && chance(g, 20)) {
        uint32_t z = below(g, N_ZONES);

        item(&offers,
             "{\"Price\":%.6f,\"Available\":true,\"ReservationCapacity\":%u,\"Requirements\":[{\"key\":\"" CT
             "\",\"operator\":\"In\",\"values\":[\"reserved\"]},{\"key\":\"" ZONE
             "\",\"operator\":\"In\",\"values\":[\"%s\"]},"
             "{\"key\":\"karpenter.kwok.sh/reservation-id\",\"operator\":\"In\",\"values\":[\"res-%u\"]}]}",
             price / 1000, below(g, 4), zones[z], below(g, 3));
    }
    (void)fprintf(
        g->e.out,
        "{\"name\":\"%s-%ux-%s-linux\",\"architecture\":\"%s\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":\"%u\","
        "\"memory\":\"%uGi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\"},\"offerings\":[%s]}",
        families[f], cpu, arch, arch, cpu, cpu * gib_per_cpu[f], 8 * cpu, text(&offers));
    sb_fini(&offers);
}

static void types(struct gen *g)
{
    const char *sep = "[";

    for (size_t f = 0; f < ARRAY_LEN(families); f++)
        for (size_t c = 0; c < ARRAY_LEN(cpus); c++)
            for (size_t a = 0; a < ARRAY_LEN(arches); a++) {
                (void)fputs(sep, g->e.out);
                type(g, (uint32_t)f, cpus[c], arches[a]);
                sep = ",\n";
            }
    (void)fputs("]\n", g->e.out);
}

static void settings(struct gen *g)
{
    if (chance(g, 25))
        (void)fputs("PREFERENCE_POLICY=Ignore\n", g->e.out);
    if (chance(g, 25))
        (void)fputs("MIN_VALUES_POLICY=BestEffort\n", g->e.out);
    if (chance(g, 50))
        (void)fputs("FEATURE_GATES=SpotToSpotConsolidation=true\n", g->e.out);
}

/* A cluster that is in use: many nodes, and pods of every kind on them, whether they would be allowed there or not. */
static void crowd(struct gen *g)
{
    g->crowded = true;
    g->n_pools = 1 + below(g, MAX_POOLS);
    g->n_nodes = 5 + below(g, CROWD_NODES - 4);
    g->n_apps = 1 + below(g, chance(g, 50) ? 40 : 10);
    write_objects(g, below(g, 4));
}

static void crowd_types(struct gen *g)
{
    g->crowded = true;
    types(g);
}

static const struct {
    const char *option;
    void (*write)(struct gen *g);
} parts[] = {{"", objects},        {"--types", types}, {"--settings", settings},
             {"--steady", steady}, {"--crowd", crowd}, {"--crowd-types", crowd_types}};

bool gen_write(FILE *out, uint64_t seed, const char *part)
{
    struct gen g = {0};

    for (uint32_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (strcmp(part, parts[i].option))
            continue;
        emit_init(&g.e, out, seed);
        rng_init(&g.rng, seed * 4 + i);
        parts[i].write(&g);
        return true;
    }
    return false;
}
