/* bench-gen - the planner's workloads as Kubernetes objects, one compact JSON object per line.
 *
 *     bench-gen W1 --pods 10000 --seed 42 > w1.json
 *     bench-gen W3 --kind wide --scale 10 > w3.json
 *     bench-gen W11 --catalog > types.json
 *
 * The same arguments give the same bytes on every machine, so a figure can be compared with one taken elsewhere
 * and any other program can be given the same file. docs/performance.md says what each workload is for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "gen.h"

const uint32_t diverse_cpu_m[N_DIVERSE_CPU] = {100, 250, 500, 1000, 1500};
const uint32_t diverse_mem_mi[N_DIVERSE_MEM] = {100, 256, 512, 1024, 2048, 4096};
static const char label_values[] = "abcdefg";

static _Noreturn void die(const char *what, const char *arg)
{
    (void)fprintf(stderr, "bench-gen: %s%s%s\n", what, arg ? ": " : "", arg ? arg : "");
    exit(1);
}

static void kwok_pool(struct gen *g, const char *limits)
{
    emit_pool(
        &g->e,
        &(struct emit_pool){
            .name = "default",
            .requirements = IN("kubernetes.io/os", "\"linux\"") "," IN(
                "kubernetes.io/arch",
                "\"amd64\"") ","
                             "{\"key\":\"karpenter.kwok.sh/instance-cpu\",\"operator\":\"Lt\",\"values\":[\"32\"]}",
            .limits = limits,
        });
}

void spread_fragment(char *to, size_t size, const char *topology, const char *label, const char *value,
                     const char *unmet)
{
    (void)snprintf(to, size,
                   "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"%s\",\"whenUnsatisfiable\":\"%s\","
                   "\"labelSelector\":{\"matchLabels\":{\"%s\":\"%s\"}}}]",
                   topology, unmet, label, value);
}

void affinity_fragment(char *to, size_t size, const char *kind, const char *topology, const char *label,
                       const char *value)
{
    (void)snprintf(to, size,
                   "\"affinity\":{\"%s\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"%s\","
                   "\"labelSelector\":{\"matchLabels\":{\"%s\":\"%s\"}}}]}}",
                   kind, topology, label, value);
}

void label_fragment(char *to, size_t size, const char *label, const char *value)
{
    (void)snprintf(to, size, "\"%s\":\"%s\"", label, value);
}

enum diverse_kind { PLAIN, ZONE_SPREAD, HOST_SPREAD, ZONE_AFFINITY, HOST_ANTI_AFFINITY, N_DIVERSE };

static void diverse_pod(struct gen *g, enum diverse_kind kind, uint32_t i)
{
    static const char *const names[N_DIVERSE] = {"plain", "zone-spread", "host-spread", "zone-affinity",
                                                 "anti-affinity"};
    char name[64], labels[128], spec[512] = "",
                                value[2] = {PICK(g, ((const char[]){'a', 'b', 'c', 'd', 'e', 'f', 'g'})), 0};

    (void)snprintf(name, sizeof(name), "%s-%u", names[kind], i);
    label_fragment(labels, sizeof(labels), "my-label", value);
    switch (kind) {
    case PLAIN:
        break;
    case ZONE_SPREAD:
        spread_fragment(spec, sizeof(spec), ZONE, "my-label", value, "DoNotSchedule");
        break;
    case HOST_SPREAD:
        spread_fragment(spec, sizeof(spec), HOST, "my-label", value, "DoNotSchedule");
        break;
    case ZONE_AFFINITY:
        label_fragment(labels, sizeof(labels), "my-affinity", value);
        affinity_fragment(spec, sizeof(spec), "podAffinity", ZONE, "my-affinity", value);
        break;
    case HOST_ANTI_AFFINITY:
        label_fragment(labels, sizeof(labels), "app", "nginx");
        affinity_fragment(spec, sizeof(spec), "podAntiAffinity", HOST, "app", "nginx");
        break;
    case N_DIVERSE:
        break;
    }
    uint32_t cpu_m = PICK(g, diverse_cpu_m), mem_mi = PICK(g, diverse_mem_mi);
    emit_pod(&g->e, &(struct emit_pod){.name = name, .labels = labels, .spec = spec, .cpu_m = cpu_m, .mem_mi = mem_mi});
}

/* W1: a fifth of each kind, in random order: an exact fifth, so that a size never changes the mix. */
static void w1(struct gen *g)
{
    uint32_t left[N_DIVERSE], n = g->o->pods;

    emit_pool(&g->e, &(struct emit_pool){.name = "default"});
    for (uint32_t k = 0; k < N_DIVERSE; k++)
        left[k] = n / N_DIVERSE + (k < n % N_DIVERSE);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = rng_below(&g->rng, n - i), k = 0;

        while (at >= left[k])
            at -= left[k++];
        left[k]--;
        diverse_pod(g, (enum diverse_kind)k, i);
    }
}

/* W2: the heaviest terms name what does not exist, the lightest pins a zone that the spread then forbids. */
static void w2(struct gen *g)
{
    static const char terms[] =
        "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":["
        "{\"weight\":100,\"preference\":{\"matchExpressions\":[" IN(
            ZONE, "\"test-zone-none\"") "]}},"
                                        "{\"weight\":50,\"preference\":{\"matchExpressions\":[" IN(
                                            "node.kubernetes.io/instance-type",
                                            "\"none\"") "]}},"
                                                        "{\"weight\":10,\"preference\":{\"matchExpressions\":[" IN(
                                                            ZONE, "\"test-zone-1\"") "]}}]}},";

    emit_pool(&g->e, &(struct emit_pool){.name = "default"});
    for (uint32_t i = 0; i < g->o->pods; i++) {
        char name[64], labels[128], spec[1024], value[2] = {label_values[rng_below(&g->rng, 7)], 0};
        size_t n = sizeof(terms) - 1;

        (void)snprintf(name, sizeof(name), "preference-%u", i);
        label_fragment(labels, sizeof(labels), "my-label", value);
        memcpy(spec, terms, n);
        spread_fragment(spec + n, sizeof(spec) - n, ZONE, "my-label", value, "ScheduleAnyway");
        uint32_t cpu_m = PICK(g, diverse_cpu_m), mem_mi = PICK(g, diverse_mem_mi);
        emit_pod(&g->e,
                 &(struct emit_pod){.name = name, .labels = labels, .spec = spec, .cpu_m = cpu_m, .mem_mi = mem_mi});
    }
}

static void deployment(struct gen *g, const char *name, uint32_t replicas, uint32_t cpu_m, uint32_t mem_mi,
                       const char *spec)
{
    char pod[96], labels[128];

    label_fragment(labels, sizeof(labels), "app", name);
    for (uint32_t i = 0; i < replicas; i++) {
        (void)snprintf(pod, sizeof(pod), "%s-%u", name, i);
        emit_pod(&g->e,
                 &(struct emit_pod){.name = pod, .labels = labels, .spec = spec, .cpu_m = cpu_m, .mem_mi = mem_mi});
    }
}

static void w3_basic(struct gen *g)
{
    kwok_pool(g, NULL);
    deployment(g, "small", 500 * g->o->scale, 900, 3100, "");
    deployment(g, "large", 500 * g->o->scale, 3500, 28 << 10, "");
}

/* 30 deployments between 0.225 cpu with 300Mi and 3.8 cpu with 64Gi, even on a logarithmic scale. */
static void w3_wide(struct gen *g)
{
    kwok_pool(g, NULL);
    for (uint32_t d = 0; d < 30; d++) {
        double at = (double)d / 29, jitter = 0.8 + 0.4 * rng_unit(&g->rng);
        uint32_t cpu_m = (uint32_t)(225 * pow(3800.0 / 225, at) + 0.5);
        uint32_t mem_mi = (uint32_t)fmin(65536, fmax(300, 300 * pow(65536.0 / 300, at) * jitter));
        char name[32], spec[1024];

        (void)snprintf(name, sizeof(name), "wide-%02u", d);
        if (d % 10 == 4)
            spread_fragment(spec, sizeof(spec), HOST, "app", name, "DoNotSchedule");
        else
            spread_fragment(spec, sizeof(spec), ZONE, "app", name, "DoNotSchedule");
        if (d % 10 == 7) {
            size_t n = strlen(spec);

            spec[n++] = ',';
            affinity_fragment(spec + n, sizeof(spec) - n, "podAntiAffinity", HOST, "app", name);
        }
        deployment(g, name, 34 * g->o->scale, cpu_m, mem_mi, spec);
    }
}

static void w3_hostname_xl(struct gen *g)
{
    char spec[512];

    kwok_pool(g, NULL);
    spread_fragment(spec, sizeof(spec), HOST, "app", "small", "DoNotSchedule");
    deployment(g, "small", 1000 * g->o->scale, 900, 3100, spec);
    spread_fragment(spec, sizeof(spec), HOST, "app", "large", "DoNotSchedule");
    deployment(g, "large", 1000 * g->o->scale, 3500, 28 << 10, spec);
}

static double normal(struct rng *r)
{
    double u = rng_unit(r), v = rng_unit(r);

    return sqrt(-2 * log(1 - u)) * cos(2 * 3.14159265358979323846 * v);
}

/* W4: few shapes make up most of the pods (Zipf 0.9), sizes as clusters really have them (log-normal). */
static void w4(struct gen *g)
{
    uint32_t shapes = g->o->shapes, left = g->o->pods;
    double weight = 0, used = 0;

    emit_pool(
        &g->e,
        &(struct emit_pool){
            .name = "default",
            .ec2 = true,
            .requirements = IN(
                "karpenter.k8s.aws/instance-category",
                "\"c\",\"m\",\"r\"") ","
                                     "{\"key\":\"karpenter.k8s.aws/instance-generation\",\"operator\":\"Gt\",\"values\":[\"2\"]}," IN(
                                         "kubernetes.io/arch",
                                         "\"amd64\"") "," IN("kubernetes.io/os",
                                                             "\"linux\"") "," IN("karpenter.sh/capacity-type",
                                                                                 "\"on-demand\""),
        });
    for (uint32_t s = 0; s < shapes; s++)
        weight += pow(s + 1, -0.9);
    for (uint32_t s = 0; s < shapes; s++) {
        double cores = fmin(48, fmax(0.01, 0.25 * exp(1.2 * normal(&g->rng))));
        double gib = fmin(360, fmax(0.016, cores * 3 * exp(0.9 * normal(&g->rng))));
        char name[32];

        used += pow(s + 1, -0.9);
        uint32_t until = s + 1 == shapes ? g->o->pods : (uint32_t)(g->o->pods * used / weight + 0.5);
        uint32_t replicas = until - (g->o->pods - left);
        left -= replicas;
        (void)snprintf(name, sizeof(name), "shape-%04u", s);
        deployment(g, name, replicas, (uint32_t)(cores * 1000 + 0.5), (uint32_t)(gib * 1024 + 0.5), "");
    }
}

static void storm_pods(struct gen *g, const char *spec)
{
    for (uint32_t i = 0; i < g->o->pods; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "storm-%u", i);
        uint32_t cpu_m = PICK(g, diverse_cpu_m), mem_mi = PICK(g, diverse_mem_mi);
        emit_pod(&g->e,
                 &(struct emit_pod){
                     .name = name, .labels = "\"app\":\"storm\"", .spec = spec, .cpu_m = cpu_m, .mem_mi = mem_mi});
    }
}

static void w6_selector(struct gen *g)
{
    kwok_pool(g, NULL);
    storm_pods(g, "\"nodeSelector\":{\"" ZONE "\":\"test-zone-none\"}");
}

static void w6_limit(struct gen *g)
{
    kwok_pool(g, "\"cpu\":\"0\"");
    storm_pods(g, "");
}

static void w6_preferences(struct gen *g)
{
    char spec[2048];
    size_t n = 0;

    n += (size_t)snprintf(spec, sizeof(spec),
                          "\"nodeSelector\":{\"example.com/unknown\":\"yes\"},\"affinity\":{\"nodeAffinity\":{"
                          "\"preferredDuringSchedulingIgnoredDuringExecution\":[");
    for (int i = 5; i > 0; i--)
        n += (size_t)snprintf(spec + n, sizeof(spec) - n,
                              "{\"weight\":%d,\"preference\":{\"matchExpressions\":[{\"key\":\"" ZONE
                              "\",\"operator\":\"In\","
                              "\"values\":[\"test-zone-none-%d\"]}]}}%s",
                              i * 10, i, i > 1 ? "," : "]}}");
    kwok_pool(g, NULL);
    storm_pods(g, spec);
}

static void w7_daemons(struct gen *g)
{
    static const char *const specs[] = {
        "\"tolerations\":[{\"operator\":\"Exists\"}]",
        "\"nodeSelector\":{\"kubernetes.io/arch\":\"amd64\"}",
        "\"nodeSelector\":{\"kubernetes.io/arch\":\"arm64\"}",
        "\"nodeSelector\":{\"karpenter.sh/capacity-type\":\"spot\"}",
        "\"nodeSelector\":{\"kubernetes.io/os\":\"windows\"}",
    };

    for (uint32_t d = 0; d < 20; d++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "daemon-%02u", d);
        emit_daemonset(&g->e,
                       &(struct emit_pod){
                           .name = name, .spec = specs[d % ARRAY_LEN(specs)], .cpu_m = 10 + d, .mem_mi = 20 + 2 * d});
    }
}

/* W7: every team has a NodePool; every second pod brings a volume that lives in one zone. */
static void w7(struct gen *g)
{
    for (uint32_t p = 0; p < g->o->pools; p++) {
        char name[32], labels[64];

        (void)snprintf(name, sizeof(name), "team-%03u", p);
        label_fragment(labels, sizeof(labels), "example.com/team", name);
        emit_pool(&g->e, &(struct emit_pool){.name = name, .labels = labels, .ec2 = true, .weight = 1 + p % 100});
    }
    w7_daemons(g);
    for (uint32_t i = 0; i < g->o->pods; i++) {
        char name[32], spec[256];
        int n = snprintf(spec, sizeof(spec), "\"nodeSelector\":{\"example.com/team\":\"team-%03u\"}",
                         rng_below(&g->rng, g->o->pools));
        const char *zone = g->o->zones[rng_below(&g->rng, g->o->n_zones)];
        uint32_t cpu_m = PICK(g, diverse_cpu_m), mem_mi = PICK(g, diverse_mem_mi);

        (void)snprintf(name, sizeof(name), "%s-%u", i % 2 ? "data" : "web", i);
        if (i % 2) {
            emit_volume(&g->e, "default", name, "ebs.csi.aws.com", zone);
            (void)snprintf(spec + n, sizeof(spec) - (size_t)n,
                           ",\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}]", name);
        }
        emit_pod(&g->e, &(struct emit_pod){.name = name,
                                           .labels = i % 2 ? "\"app\":\"data\"" : "\"app\":\"web\"",
                                           .spec = spec,
                                           .cpu_m = cpu_m,
                                           .mem_mi = mem_mi});
    }
}

void kwok_machine(struct kwok_machine *m, char family, uint32_t cpu)
{
    uint32_t gib = cpu * (family == 'c' ? 2 : family == 's' ? 4 : 8);

    *m = (struct kwok_machine){.cpu = cpu, .mem_mi = gib * 1024, .pods = MIN(16 * cpu, 1024)};
    (void)snprintf(m->type, sizeof(m->type), "%c-%ux-amd64-linux", family, cpu);
    (void)snprintf(m->labels, sizeof(m->labels),
                   "\"karpenter.kwok.sh/instance-cpu\":\"%u\",\"karpenter.kwok.sh/instance-family\":\"%c\","
                   "\"karpenter.kwok.sh/instance-memory\":\"%uGi\",\"karpenter.kwok.sh/instance-size\":\"%ux\"",
                   cpu, family, gib, cpu);
    (void)snprintf(m->capacity, sizeof(m->capacity),
                   "\"cpu\":\"%u\",\"memory\":\"%uGi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\"", cpu, gib,
                   m->pods);
    (void)snprintf(m->allocatable, sizeof(m->allocatable),
                   "\"cpu\":\"%um\",\"memory\":\"%uMi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"%u\"",
                   cpu * 1000 - 100, gib * 1024 - 10, m->pods);
}

/* W8: six nodes in ten are full, the rest has room for all that is pending: first fit must get past the full ones. */
static void w8_node(struct gen *g, uint32_t i)
{
    static const uint32_t sizes[] = {4, 8, 16};
    static const char *const zones[] = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"};
    uint32_t cpu = PICK(g, sizes), gib = cpu * 4, n_bound = 2 + rng_below(&g->rng, 4);
    bool full = rng_below(&g->rng, 10) < 6;
    struct kwok_machine m;
    char name[32];

    (void)snprintf(name, sizeof(name), "node-%05u", i);
    kwok_machine(&m, 's', cpu);
    emit_node(&g->e, &(struct emit_node){.name = name,
                                         .pool = "default",
                                         .type = m.type,
                                         .zone = zones[i % 4],
                                         .labels = m.labels,
                                         .capacity_type = i % 3 ? "spot" : "on-demand",
                                         .capacity = m.capacity,
                                         .allocatable = m.allocatable});
    for (uint32_t b = 0; b < n_bound; b++) {
        char pod[48];
        uint32_t part = full ? 98 : 20 + rng_below(&g->rng, 60);

        (void)snprintf(pod, sizeof(pod), "bound-%05u-%u", i, b);
        emit_pod(&g->e, &(struct emit_pod){.name = pod,
                                           .labels = "\"app\":\"bound\"",
                                           .node = name,
                                           .cpu_m = (cpu * 1000 - 100) * part / 100 / n_bound,
                                           .mem_mi = (gib * 1024 - 10) * part / 100 / n_bound});
    }
}

static void w8(struct gen *g)
{
    kwok_pool(g, NULL);
    for (uint32_t i = 0; i < g->o->nodes; i++)
        w8_node(g, i);
    for (uint32_t i = 0; i < g->o->pods; i++) {
        char name[32], labels[32], value[2] = {label_values[rng_below(&g->rng, 7)], 0};
        uint32_t cpu_m = PICK(g, diverse_cpu_m), mem_mi = PICK(g, diverse_mem_mi);

        (void)snprintf(name, sizeof(name), "pending-%u", i);
        label_fragment(labels, sizeof(labels), "my-label", value);
        emit_pod(&g->e, &(struct emit_pod){.name = name, .labels = labels, .cpu_m = cpu_m, .mem_mi = mem_mi});
    }
}

/* W11: one type of one core; twenty small pods fill it, or ten big ones. A unit is 1Mi of memory. */
static void w11(struct gen *g)
{
    if (g->o->catalog) {
        (void)fputs(
            "[{\"name\":\"one-core\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"resources\":{\"cpu\":"
            "\"1\",\"memory\":\"2000Mi\",\"ephemeral-storage\":\"20Gi\",\"pods\":\"110\"},\"overhead\":{\"cpu\":\"0\","
            "\"memory\":\"0\"},\"offerings\":[{\"Price\":0.04,\"Available\":true,\"Requirements\":[" IN(
                "karpenter.sh/capacity-type", "\"on-demand\"") "," IN(ZONE, "\"test-zone-a\"") "]}]}]\n",
            g->e.out);
        return;
    }
    emit_pool(&g->e, &(struct emit_pool){.name = "default"});
    deployment(g, "small", 50000, 50, 100, "");
    deployment(g, "big", 1000, 95, 190, "");
}

static const struct {
    const char *name, *kind;
    void (*run)(struct gen *g);
} workloads[] = {
    {"W1", "", w1},
    {"W2", "", w2},
    {"W3", "basic", w3_basic},
    {"W3", "wide", w3_wide},
    {"W3", "hostname-xl", w3_hostname_xl},
    {"W4", "", w4},
    {"W6", "selector", w6_selector},
    {"W6", "limit", w6_limit},
    {"W6", "preferences", w6_preferences},
    {"W7", "", w7},
    {"W8", "", w8},
    {"W10", "", w10},
    {"W11", "", w11},
};

static uint64_t number(const char *option, const char *text)
{
    int64_t v;

    if (!text || !str_to_i64(str_c(text), &v) || v < 0 || v > UINT32_MAX)
        die("not a number after", option);
    return (uint64_t)v;
}

static void parse_zones(struct options *o, char *list)
{
    o->n_zones = 0;
    for (char *z = list, *end; z && o->n_zones < MAX_ZONES; z = end) {
        end = strchr(z, ',');
        if (end)
            *end++ = 0;
        o->zones[o->n_zones++] = z;
    }
}

static void parse(struct options *o, int argc, char **argv)
{
    if (argc < 2)
        die("usage: bench-gen W1|W2|W3|W4|W6|W7|W8|W10|W11 [--kind KIND] [--pods N] [--nodes N] [--pools N] [--scale N] "
            "[--shapes N] [--removed PERCENT] [--seed N] [--zones A,B,C] [--catalog]",
            NULL);
    o->workload = argv[1];
    for (int i = 2; i < argc; i++) {
        const char *a = argv[i];
        char *v = i + 1 < argc ? argv[i + 1] : NULL;

        if (strcmp(a, "--catalog") == 0) {
            o->catalog = true;
            continue;
        }
        i++;
        if (strcmp(a, "--kind") == 0 && v)
            o->kind = v;
        else if (strcmp(a, "--zones") == 0 && v)
            parse_zones(o, v);
        else if (strcmp(a, "--pods") == 0)
            o->pods = (uint32_t)number(a, v);
        else if (strcmp(a, "--nodes") == 0)
            o->nodes = (uint32_t)number(a, v);
        else if (strcmp(a, "--pools") == 0)
            o->pools = (uint32_t)number(a, v);
        else if (strcmp(a, "--scale") == 0)
            o->scale = (uint32_t)number(a, v);
        else if (strcmp(a, "--shapes") == 0)
            o->shapes = (uint32_t)number(a, v);
        else if (strcmp(a, "--removed") == 0)
            o->removed = (uint32_t)number(a, v);
        else if (strcmp(a, "--seed") == 0)
            o->seed = number(a, v);
        else
            die("unknown option", a);
    }
    if (o->pools == 0 || o->shapes == 0)
        die("--pools and --shapes start at 1", NULL);
}

int main(int argc, char **argv)
{
    struct options o = {.kind = "",
                        .pods = 10000,
                        .nodes = 15000,
                        .pools = 1,
                        .scale = 1,
                        .shapes = 300,
                        .seed = 42,
                        .zones = {"us-east-1a", "us-east-1b", "us-east-1c"},
                        .n_zones = 3};
    struct gen g = {.o = &o};

    parse(&o, argc, argv);
    emit_init(&g.e, stdout, o.seed);
    rng_init(&g.rng, o.seed);
    for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
        if (strcmp(workloads[i].name, o.workload) || strcmp(workloads[i].kind, o.kind))
            continue;
        workloads[i].run(&g);
        return fflush(stdout) ? 1 : 0;
    }
    die("no such workload or kind", o.workload);
}
