/* A random cluster at rest: nodes of several pools with pods that were allowed to be where they are, and everything that
 * disruption asks about: policies, budgets, windows, drift, do-not-disrupt, PodDisruptionBudgets, nodes on their way in or
 * out. The time is noon of 15 January 2026, as tests/property/run tells the program. */
#include <string.h>

#include "gen.h"

#define MAX_MACHINES 14
#define MAX_APPS 9
#define TAINT "{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"NoSchedule\"}"

struct rest_pool {
    char name[16];
    const char *capacity_type; /* the only one, or NULL */
    bool tainted;
    uint32_t after_s; /* consolidateAfter; UINT32_MAX: Never */
};

struct rest_node {
    char name[16];
    uint32_t pool, zone, cpu_m, mem_mi, pods; /* what is left */
    const char *capacity_type;
    bool tainted, takes_pods;
};

enum tie { TIE_NONE, TIE_ZONE_SPREAD, TIE_HOST_SPREAD, TIE_ANTI_AFFINITY, TIE_ZONE_AFFINITY, N_TIES };

struct rest_app {
    char name[16];
    uint32_t cpu_m, mem_mi;
    enum tie tie;
    bool tolerates;
    const char *zone, *capacity_type; /* selected, or NULL */
    uint32_t in_zone[N_ZONES], on_node[MAX_MACHINES];
};

struct rest {
    struct gen *g;
    struct rest_pool pools[MAX_POOLS];
    struct rest_node nodes[MAX_MACHINES];
    uint32_t n_pools, n_nodes;
};

static void budgets(struct gen *g, struct sb *out)
{
    static const char *const nodes[] = {"100%", "100%", "100%", "100%", "100%", "100%",
                                        "50%",  "10%",  "0",    "1",    "3",    "0%"};
    static const char *const limits[] = {
        "",
        "",
        "",
        ",\"reasons\":[\"Underutilized\"]",
        ",\"reasons\":[\"Empty\",\"Drifted\"]",
        ",\"reasons\":[\"Drifted\"]",
        ",\"schedule\":\"@daily\",\"duration\":\"13h\"",
        ",\"schedule\":\"0 9 * * mon-fri\",\"duration\":\"3h\"",
        ",\"schedule\":\"*/30 * * * *\",\"duration\":\"10m\"",
    };

    for (uint32_t n = 1 + below(g, 2); n > 0; n--)
        item(out, "{\"nodes\":\"%s\"%s}", PICK(g, nodes), PICK(g, limits));
}

static void rest_pool(struct rest *r, uint32_t ix)
{
    static const char *const policies[] = {"WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized",
                                           "WhenEmptyOrUnderutilized", "WhenEmpty", "Balanced"};
    static const uint32_t after[] = {0, 0, 30, 300, 3600, UINT32_MAX};
    struct gen *g = r->g;
    struct rest_pool *p = &r->pools[ix];
    struct sb list = {0}, disruption = {0}, reqs = {0}, limits = {0};
    bool fixed = chance(g, 5); /* a static pool, which has neither weight nor such limits */

    (void)snprintf(p->name, sizeof(p->name), "pool-%u", ix);
    p->capacity_type = chance(g, 40) ? PICK(g, capacity_types) : NULL;
    p->tainted = chance(g, 20);
    p->after_s = PICK(g, after);
    budgets(g, &list);
    item(&disruption, "\"consolidationPolicy\":\"%s\",\"budgets\":[%s]", PICK(g, policies), text(&list));
    if (p->after_s == UINT32_MAX)
        item(&disruption, "\"consolidateAfter\":\"Never\"");
    else
        item(&disruption, "\"consolidateAfter\":\"%us\"", p->after_s);
    item(&reqs, "{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"amd64\"]}");
    if (p->capacity_type)
        item(&reqs, "{\"key\":\"" CT "\",\"operator\":\"In\",\"values\":[\"%s\"]}", p->capacity_type);
    if (chance(g, 10))
        item(&reqs, "{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"Exists\",\"minValues\":%u}",
             2 + below(g, 3));
    if (!fixed && chance(g, 15))
        item(&limits, "\"cpu\":\"%u\"", 16 + below(g, 100));
    emit_pool(&g->e, &(struct emit_pool){
                         .name = p->name,
                         .requirements = text(&reqs),
                         .limits = text(&limits),
                         .taints = p->tainted ? TAINT : NULL,
                         .disruption = text(&disruption),
                         .spec = fixed ? "\"replicas\":2" : NULL,
                         .weight = !fixed && chance(g, 30) ? 1 + below(g, 100) : 0,
                     });
    sb_fini(&list);
    sb_fini(&disruption);
    sb_fini(&reqs);
    sb_fini(&limits);
}

/* What the controller would have written: Consolidatable once the pool's window has passed, Drifted at times. */
static void claim_state(struct rest *r, const struct rest_pool *p, struct sb *conditions, struct sb *status)
{
    static const uint32_t quiet_s[] = {5, 60, 600, 2400};
    struct gen *g = r->g;
    uint32_t quiet = PICK(g, quiet_s), at = 12 * 3600 - quiet;
    bool event = chance(g, 60); /* else the window began with initialization, fifty minutes ago */

    if (event)
        item(status, "\"lastPodEventTime\":\"2026-01-15T%02u:%02u:%02uZ\"", at / 3600, at / 60 % 60, at % 60);
    if (p->after_s != UINT32_MAX && (event ? quiet : 3000) >= p->after_s && chance(g, 93))
        item(conditions, EMIT_CONDITION("Consolidatable", "Consolidatable", "2026-01-15T11:58:00Z"));
    if (chance(g, 12))
        item(conditions, "%s",
             chance(g, 50) ? EMIT_CONDITION("Drifted", "NodePoolDrifted", "2026-01-15T11:40:00Z")
                           : EMIT_CONDITION("Drifted", "NodeClassDrifted", "2026-01-15T11:20:00Z"));
}

static void daemon_pod(struct rest *r, struct rest_node *n)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "agent-%s", n->name);
    emit_pod(&r->g->e, &(struct emit_pod){.ns = "kube-system",
                                          .name = name,
                                          .labels = "\"daemon\":\"agent\"",
                                          .spec = "\"tolerations\":[{\"operator\":\"Exists\"}]",
                                          .daemonset = "agent",
                                          .node = n->name,
                                          .cpu_m = 50,
                                          .mem_mi = 64});
    n->cpu_m -= 50;
    n->mem_mi -= 64;
    n->pods--;
}

static void rest_node(struct rest *r, uint32_t ix, bool daemon)
{
    struct gen *g = r->g;
    struct rest_node *n = &r->nodes[ix];
    uint32_t f = below(g, N_FAMILIES), cpu = PICK(g, cpus), kind = below(g, 20);
    struct sb conditions = {0}, status = {0};
    struct machine m;

    machine(&m, f, cpu);
    *n = (struct rest_node){.pool = below(g, r->n_pools),
                            .zone = below(g, N_ZONES),
                            .cpu_m = cpu * 1000 - 100,
                            .mem_mi = cpu * gib_per_cpu[f] * 1024 - 10,
                            .pods = 8 * cpu};
    const struct rest_pool *p = &r->pools[n->pool];
    (void)snprintf(n->name, sizeof(n->name), "node-%02u", ix);
    n->capacity_type = p->capacity_type ? p->capacity_type : PICK(g, capacity_types);
    n->tainted = p->tainted;
    n->takes_pods = kind > 1;
    claim_state(r, p, &conditions, &status);
    emit_node(&g->e, &(struct emit_node){
                         .name = n->name,
                         .pool = p->name,
                         .type = m.type,
                         .zone = zones[n->zone],
                         .capacity_type = n->capacity_type,
                         .labels = m.labels,
                         .capacity = m.capacity,
                         .allocatable = m.allocatable,
                         .taints = n->tainted ? TAINT : NULL,
                         .conditions = kind > 1 ? text(&conditions) : NULL,
                         .claim_status = text(&status),
                         .claim_spec = chance(g, 15) ? "\"terminationGracePeriod\":\"1h\"" : NULL,
                         .annotations = chance(g, 5) ? "\"karpenter.sh/do-not-disrupt\":\"true\"" : NULL,
                         .claim_only = kind == 0,
                         .uninitialized = kind == 1,
                         .deleting = kind == 2,
                         .not_ready = kind == 3,
                         .unmanaged = kind == 4,
                     });
    if (daemon && kind != 0)
        daemon_pod(r, n);
    sb_fini(&conditions);
    sb_fini(&status);
}

static void app_tie(const struct rest_app *a, struct sb *spec)
{
    switch (a->tie) {
    case TIE_ZONE_SPREAD:
    case TIE_HOST_SPREAD:
        item(
            spec,
            "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"DoNotSchedule\","
            "\"labelSelector\":{\"matchLabels\":{\"app\":\"%s\"}}}]",
            a->tie == TIE_ZONE_SPREAD ? ZONE : HOST, a->name);
        return;
    case TIE_ANTI_AFFINITY:
    case TIE_ZONE_AFFINITY:
        item(spec,
             "\"affinity\":{\"%s\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"%s\","
             "\"labelSelector\":{\"matchLabels\":{\"app\":\"%s\"}}}]}}",
             a->tie == TIE_ANTI_AFFINITY ? "podAntiAffinity" : "podAffinity", a->tie == TIE_ANTI_AFFINITY ? HOST : ZONE,
             a->name);
        return;
    case TIE_NONE:
    case N_TIES:
        return;
    }
}

static bool tie_holds(const struct rest *r, const struct rest_app *a, uint32_t node)
{
    const struct rest_node *n = &r->nodes[node];
    uint32_t all = 0;

    for (uint32_t z = 0; z < N_ZONES; z++) {
        if (a->tie == TIE_ZONE_SPREAD && a->in_zone[z] < a->in_zone[n->zone])
            return false;
        all += a->in_zone[z];
    }
    if (a->tie == TIE_ANTI_AFFINITY || a->tie == TIE_HOST_SPREAD)
        return a->on_node[node] == 0;
    return a->tie != TIE_ZONE_AFFINITY || all == 0 || a->in_zone[n->zone] > 0;
}

static bool fits(const struct rest *r, const struct rest_app *a, uint32_t node)
{
    const struct rest_node *n = &r->nodes[node];

    return n->takes_pods && a->cpu_m <= n->cpu_m && a->mem_mi <= n->mem_mi && n->pods > 0 &&
           (!n->tainted || a->tolerates) && (!a->zone || a->zone == zones[n->zone]) &&
           (!a->capacity_type || a->capacity_type == n->capacity_type) && tie_holds(r, a, node);
}

/* Where the pod runs; UINT32_MAX when no node may have it. */
static uint32_t bind(struct rest *r, struct rest_app *a)
{
    uint32_t start = below(r->g, r->n_nodes);

    for (uint32_t i = 0; i < r->n_nodes; i++) {
        uint32_t node = (start + i) % r->n_nodes;
        struct rest_node *n = &r->nodes[node];

        if (!fits(r, a, node))
            continue;
        n->cpu_m -= a->cpu_m;
        n->mem_mi -= a->mem_mi;
        n->pods--;
        a->in_zone[n->zone]++;
        a->on_node[node]++;
        return node;
    }
    return UINT32_MAX;
}

static void rest_pod(struct rest *r, struct rest_app *a, uint32_t ix, const char *spec)
{
    struct gen *g = r->g;
    struct sb annotations = {0}, all = {0};
    char name[32], labels[48];
    uint32_t node = bind(r, a);

    sb_c(&all, spec);
    if (chance(g, 3))
        item(&annotations, "\"karpenter.sh/do-not-disrupt\":\"%s\"", chance(g, 60) ? "true" : "false");
    else if (chance(g, 3))
        item(&annotations, "\"karpenter.sh/do-not-disrupt\":\"%s\"", chance(g, 50) ? "1h" : "20m");
    if (chance(g, 4))
        item(&annotations, "\"controller.kubernetes.io/pod-deletion-cost\":\"%s\"",
             chance(g, 50) ? "-200000000" : "50000000");
    if (chance(g, 4))
        item(&all, "\"priority\":%s", chance(g, 50) ? "1000000" : "-100000000");
    (void)snprintf(name, sizeof(name), "%s-%u", a->name, ix);
    (void)snprintf(labels, sizeof(labels), "\"app\":\"%s\"", a->name);
    if (node != UINT32_MAX || chance(g, 15))
        emit_pod(&g->e,
                 &(struct emit_pod){.name = name,
                                    .labels = labels,
                                    .annotations = text(&annotations),
                                    .spec = text(&all),
                                    .node = node == UINT32_MAX ? NULL : r->nodes[node].name,
                                    .replicaset = a->name,
                                    .status = node == UINT32_MAX ? NULL : "\"startTime\":\"2026-01-15T11:30:00Z\"",
                                    .cpu_m = a->cpu_m,
                                    .mem_mi = a->mem_mi});
    sb_fini(&annotations);
    sb_fini(&all);
}

static void disruption_budgets(struct gen *g, const char *app)
{
    static const char *const specs[] = {"\"maxUnavailable\":1", "\"maxUnavailable\":\"50%\"", "\"minAvailable\":1",
                                        "\"maxUnavailable\":0", "\"minAvailable\":\"100%\""};
    char name[32];

    for (uint32_t n = chance(g, 25) ? 1 + chance(g, 10) : 0; n > 0; n--) {
        uint32_t s = below(g, (uint32_t)ARRAY_LEN(specs));

        (void)snprintf(name, sizeof(name), "%s-%u", app, n);
        emit_pdb(&g->e, "default", name, "app", app, specs[s], s > 2 ? 0 : below(g, 3));
    }
}

static void rest_app(struct rest *r, uint32_t ix)
{
    static const uint32_t cpu_m[] = {50, 100, 250, 400, 800, 1500, 3000}, mem_mi[] = {64, 256, 512, 1024, 3000};
    struct gen *g = r->g;
    struct rest_app a = {.cpu_m = PICK(g, cpu_m), .mem_mi = PICK(g, mem_mi), .tolerates = chance(g, 40)};
    struct sb spec = {0};

    (void)snprintf(a.name, sizeof(a.name), "app-%u", ix);
    a.tie = chance(g, 50) ? TIE_NONE : (enum tie)below(g, N_TIES);
    a.zone = chance(g, 12) ? PICK(g, zones) : NULL;
    a.capacity_type = chance(g, 12) ? PICK(g, capacity_types) : NULL;
    if (a.tie == TIE_ZONE_SPREAD)
        a.zone = NULL; /* it would make its own zone the only one that counts */
    if (a.tolerates)
        item(&spec, "\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Exists\"}]");
    if (a.zone)
        item(&spec, "\"nodeSelector\":{\"" ZONE "\":\"%s\"}", a.zone);
    else if (a.capacity_type)
        item(&spec, "\"nodeSelector\":{\"" CT "\":\"%s\"}", a.capacity_type);
    if (a.zone)
        a.capacity_type = NULL;
    app_tie(&a, &spec);
    disruption_budgets(g, a.name);
    for (uint32_t i = 0, n = 1 + below(g, 9); i < n; i++)
        rest_pod(r, &a, i, text(&spec));
    sb_fini(&spec);
}

void steady(struct gen *g)
{
    struct rest r = {.g = g, .n_pools = 1 + below(g, MAX_POOLS), .n_nodes = 2 + below(g, MAX_MACHINES - 1)};
    uint32_t n_apps = 1 + below(g, MAX_APPS);
    bool daemon = chance(g, 40);

    for (uint32_t i = 0; i < r.n_pools; i++)
        rest_pool(&r, i);
    if (daemon)
        emit_daemonset(&g->e, &(struct emit_pod){.name = "agent",
                                                 .spec = "\"tolerations\":[{\"operator\":\"Exists\"}]",
                                                 .cpu_m = 50,
                                                 .mem_mi = 64});
    for (uint32_t i = 0; i < r.n_nodes; i++)
        rest_node(&r, i, daemon);
    for (uint32_t i = 0; i < n_apps; i++)
        rest_app(&r, i);
}
