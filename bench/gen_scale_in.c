/* W10, scale-in: a cluster that was full, after part of its pods went away.
 *
 * It is built the way clusters fill up: node after node, pods of many deployments until the next ones do not fit, with
 * zone spread and anti-affinity kept on the way. Then each pod is left out with a chance of --removed per cent. Which
 * pods there were and where they ran does not depend on that share, so the same seed gives the same cluster before
 * and after. There are no ReplicaSet objects: what they want would be planned as pending pods. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "gen.h"

#define N_ZONES 4
#define MISFITS 3 /* a node is full when this many pods in a row find no room */
#define DRAWS 64  /* … or when nothing that is allowed there was found in so many draws */
#define N_DAEMONS 3
#define CONSOLIDATABLE EMIT_CONDITION("Consolidatable", "Consolidatable", "2026-01-15T11:30:00Z")

enum { POOL_GENERAL, POOL_CRITICAL, POOL_BATCH, N_TIERS };

enum spreading { FREE, OVER_ZONES, ONE_A_NODE };

static const char *const zones[N_ZONES] = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"};
static const char *const tiers[N_TIERS] = {"general", "critical", "batch"};

static const struct daemon {
    const char *name;
    uint32_t cpu_m, mem_mi;
} daemons[N_DAEMONS] = {{"logs", 50, 100}, {"metrics", 30, 64}, {"network", 100, 128}};

struct app {
    char name[16];
    char spec[768];
    uint32_t cpu_m, mem_mi;
    enum spreading spreading;
    uint32_t in_zone[N_ZONES];
    uint32_t n_pods;
    uint32_t last_node; /* that got one of its pods */
};

struct tier {
    struct app *apps;
    double *until; /* sums of weights: few deployments have most of the pods */
    uint32_t n;
};

struct cluster {
    struct gen *g;
    struct rng removal;
    struct tier tiers[N_TIERS];
};

static void pools(struct gen *g)
{
    static const char consolidating[] = "\"consolidateAfter\":\"30s\",\"consolidationPolicy\":"
                                        "\"WhenEmptyOrUnderutilized\",\"budgets\":[{\"nodes\":\"100%\"}]";
    static const char *const disruption[N_TIERS] = {
        consolidating, consolidating,
        "\"consolidateAfter\":\"30s\",\"consolidationPolicy\":\"WhenEmpty\",\"budgets\":[{\"nodes\":\"100%\"}]"};
    static const char *const capacity_types[N_TIERS] = {"\"spot\",\"on-demand\"", "\"on-demand\"", "\"spot\""};

    for (uint32_t t = 0; t < N_TIERS; t++) {
        char reqs[512], labels[64], taints[128];

        (void)snprintf(
            reqs, sizeof(reqs),
            IN("kubernetes.io/os", "\"linux\"") "," IN("kubernetes.io/arch", "\"amd64\"") "," IN(
                "karpenter.kwok.sh/instance-cpu",
                "\"4\",\"8\",\"16\",\"32\"") ","
                                             "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[%s]}",
            capacity_types[t]);
        label_fragment(labels, sizeof(labels), "example.com/tier", tiers[t]);
        (void)snprintf(taints, sizeof(taints),
                       "{\"key\":\"example.com/tier\",\"value\":\"%s\",\"effect\":\"NoSchedule\"}", tiers[t]);
        emit_pool(&g->e, &(struct emit_pool){.name = tiers[t],
                                             .requirements = reqs,
                                             .labels = labels,
                                             .taints = t == POOL_GENERAL ? NULL : taints,
                                             .disruption = disruption[t]});
    }
}

static void app_init(struct gen *g, struct app *a, uint32_t tier, uint32_t ix)
{
    uint32_t kind = rng_below(&g->rng, 10);

    *a = (struct app){.last_node = UINT32_MAX};
    (void)snprintf(a->name, sizeof(a->name), "%.4s-%03u", tiers[tier], ix);
    /* Every pair of sizes in turn, so that the few large deployments of a small cluster are a fair mix. */
    a->cpu_m = diverse_cpu_m[(2 * ix + 1) % N_DIVERSE_CPU];
    a->mem_mi = diverse_mem_mi[(5 * ix + 3) % N_DIVERSE_MEM];
    a->spreading = ix == 0 ? FREE : kind == 0 ? OVER_ZONES : kind == 1 ? ONE_A_NODE : FREE;
    int n = snprintf(a->spec, sizeof(a->spec), "\"nodeSelector\":{\"example.com/tier\":\"%s\"}", tiers[tier]);
    if (tier != POOL_GENERAL)
        n += snprintf(a->spec + n, sizeof(a->spec) - (size_t)n,
                      ",\"tolerations\":[{\"key\":\"example.com/tier\",\"operator\":\"Equal\",\"value\":\"%s\"}]",
                      tiers[tier]);
    if (a->spreading == FREE)
        return;
    a->spec[n++] = ',';
    if (a->spreading == OVER_ZONES)
        spread_fragment(a->spec + n, sizeof(a->spec) - (size_t)n, ZONE, "app", a->name, "DoNotSchedule");
    else
        affinity_fragment(a->spec + n, sizeof(a->spec) - (size_t)n, "podAntiAffinity", HOST, "app", a->name);
}

/* Of the deployments three in four are general, the rest is shared by the other tiers. */
static void apps(struct cluster *c, uint32_t n)
{
    uint32_t few = MAX(n / 8, 4);

    for (uint32_t t = 0; t < N_TIERS; t++) {
        struct tier *tier = &c->tiers[t];
        double sum = 0;

        tier->n = t == POOL_GENERAL ? MAX(n, 3 * few) - 2 * few : few;
        tier->apps = xcalloc(tier->n, sizeof(*tier->apps));
        tier->until = xcalloc(tier->n, sizeof(*tier->until));
        for (uint32_t i = 0; i < tier->n; i++) {
            app_init(c->g, &tier->apps[i], t, i);
            tier->until[i] = sum += pow(i + 1, -0.9);
        }
    }
}

static struct app *app_draw(struct gen *g, struct tier *t)
{
    double at = rng_unit(&g->rng) * t->until[t->n - 1];
    uint32_t lo = 0, hi = t->n - 1;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (t->until[mid] > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return &t->apps[lo];
}

static bool app_allowed(const struct app *a, uint32_t node, uint32_t zone)
{
    if (a->spreading == ONE_A_NODE)
        return a->last_node != node;
    for (uint32_t z = 0; a->spreading == OVER_ZONES && z < N_ZONES; z++)
        if (a->in_zone[z] < a->in_zone[zone])
            return false;
    return true;
}

static void app_pod(struct cluster *c, struct app *a, const char *node)
{
    char name[32], labels[48];
    bool removed = rng_below(&c->removal, 100) < c->g->o->removed, guarded = rng_below(&c->removal, 1000) < 2;

    (void)snprintf(name, sizeof(name), "%s-%u", a->name, a->n_pods);
    label_fragment(labels, sizeof(labels), "app", a->name);
    if (!removed)
        emit_pod(&c->g->e,
                 &(struct emit_pod){.name = name,
                                    .labels = labels,
                                    .annotations = guarded ? "\"karpenter.sh/do-not-disrupt\":\"true\"" : NULL,
                                    .spec = a->spec,
                                    .node = node,
                                    .replicaset = a->name,
                                    .cpu_m = a->cpu_m,
                                    .mem_mi = a->mem_mi});
}

static void fill(struct cluster *c, uint32_t tier, uint32_t node, uint32_t zone, const struct kwok_machine *m,
                 const char *name)
{
    uint32_t cpu_m = m->cpu * 1000 - 100, mem_mi = m->mem_mi - 10, pods = m->pods, misfits = 0;

    for (uint32_t i = 0; i < N_DAEMONS; i++) {
        char pod[32], labels[48];

        cpu_m -= daemons[i].cpu_m;
        mem_mi -= daemons[i].mem_mi;
        pods--;
        (void)snprintf(pod, sizeof(pod), "%s-%05u", daemons[i].name, node);
        label_fragment(labels, sizeof(labels), "daemon", daemons[i].name);
        emit_pod(&c->g->e, &(struct emit_pod){.ns = "kube-system",
                                              .name = pod,
                                              .labels = labels,
                                              .spec = "\"tolerations\":[{\"operator\":\"Exists\"}]",
                                              .node = name,
                                              .daemonset = daemons[i].name,
                                              .cpu_m = daemons[i].cpu_m,
                                              .mem_mi = daemons[i].mem_mi});
    }
    for (uint32_t draws = 0; misfits < MISFITS && draws < DRAWS; draws++) {
        struct app *a = app_draw(c->g, &c->tiers[tier]);

        if (!app_allowed(a, node, zone))
            continue;
        draws = 0;
        if (a->cpu_m > cpu_m || a->mem_mi > mem_mi || pods == 0) {
            misfits++;
            continue;
        }
        misfits = 0;
        cpu_m -= a->cpu_m;
        mem_mi -= a->mem_mi;
        pods--;
        a->in_zone[zone]++;
        a->last_node = node;
        app_pod(c, a, name);
        a->n_pods++;
    }
}

/* Sizes such that a node has some thirty pods on average. */
static void node(struct cluster *c, uint32_t i)
{
    static const uint32_t sizes[] = {4, 4, 8, 8, 16, 16, 16, 32, 32, 32};
    static const char families[] = {'c', 's', 's', 'm'};
    struct gen *g = c->g;
    uint32_t part = rng_below(&g->rng, 20), zone = rng_below(&g->rng, N_ZONES);
    uint32_t tier = part < 15 ? POOL_GENERAL : part < 18 ? POOL_CRITICAL : POOL_BATCH;
    bool spot = tier == POOL_BATCH || (tier == POOL_GENERAL && rng_below(&g->rng, 2));
    char family = PICK(g, families), name[32], labels[512];
    struct kwok_machine m;
    char taint[128];

    kwok_machine(&m, family, PICK(g, sizes));
    (void)snprintf(name, sizeof(name), "node-%05u", i);
    (void)snprintf(labels, sizeof(labels), "%s,\"example.com/tier\":\"%s\"", m.labels, tiers[tier]);
    (void)snprintf(taint, sizeof(taint), "{\"key\":\"example.com/tier\",\"value\":\"%s\",\"effect\":\"NoSchedule\"}",
                   tiers[tier]);
    emit_node(&g->e, &(struct emit_node){.name = name,
                                         .pool = tiers[tier],
                                         .type = m.type,
                                         .zone = zones[zone],
                                         .labels = labels,
                                         .capacity_type = spot ? "spot" : "on-demand",
                                         .taints = tier == POOL_GENERAL ? NULL : taint,
                                         .capacity = m.capacity,
                                         .allocatable = m.allocatable,
                                         .conditions = CONSOLIDATABLE});
    fill(c, tier, i, zone, &m, name);
}

/* Every tenth deployment has a budget; of the smallest deployments two allow no eviction at the moment. */
static void budgets(struct cluster *c)
{
    for (uint32_t t = 0; t < N_TIERS; t++)
        for (uint32_t i = 0; i < c->tiers[t].n; i++) {
            const struct app *a = &c->tiers[t].apps[i];
            bool closed = t == POOL_GENERAL && i + 2 >= c->tiers[t].n;

            if (i % 10 == 1 || closed)
                emit_pdb(&c->g->e, "default", a->name, "app", a->name, "\"maxUnavailable\":\"20%\"",
                         closed ? 0 : 1 + a->n_pods / 5);
        }
}

void w10(struct gen *g)
{
    struct cluster c = {.g = g};

    rng_init(&c.removal, g->o->seed ^ 0x10);
    pools(g);
    for (uint32_t i = 0; i < N_DAEMONS; i++)
        emit_daemonset(&g->e, &(struct emit_pod){.name = daemons[i].name,
                                                 .spec = "\"tolerations\":[{\"operator\":\"Exists\"}]",
                                                 .cpu_m = daemons[i].cpu_m,
                                                 .mem_mi = daemons[i].mem_mi});
    apps(&c, MIN(g->o->shapes, MAX(50u, g->o->nodes / 2)));
    for (uint32_t i = 0; i < g->o->nodes; i++)
        node(&c, i);
    budgets(&c);
    for (uint32_t t = 0; t < N_TIERS; t++) {
        free(c.tiers[t].apps);
        free(c.tiers[t].until);
    }
}
