/* bench-day - how long a simulated day of a busy cluster takes.
 *
 *     bench-day [--nodes N] [--pods N] [--churn PERCENT] [--hours N] [--seed N] [--runs N] [--lean]
 *
 * A cluster without an autoscaler: N nodes (100), Deployments of 100 pods each (3,000 pods), and a share of the pods (1 %)
 * that is deleted every minute, one after the other, and replaced by the controllers. Everything runs as in the demo: leases,
 * heartbeats, events, conditions; --lean leaves events and the first step of a pod's start out. One JSON object on standard output:
 *   wallSeconds  of the day alone, the median of the runs; cpuSeconds likewise
 *   writes       revisions that the API server made on that day
 *   trace        of all that happened: the same for the same seed and arguments; when it differs between runs, status 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/vec.h"
#include "data/edit.h"
#include "sim/kube/cluster.h"
#include "sim/world.h"

#define MINUTE_US (60 * INT64_C(1000000))
#define REPLICAS 100
#define MAX_RUNS 99

struct options {
    int64_t nodes, pods, churn, hours, seed, runs;
    bool lean;
};

struct day {
    const struct options *o;
    struct sim *sim;
    struct kube *k;
    struct cluster *c;
    struct arena *a;
    VEC(str) names; /* of the pods that are there; in `a` */
};

struct outcome {
    double wall_s, cpu_s;
    uint64_t trace, writes;
};

static _Noreturn void die(const char *what, const char *detail)
{
    (void)fprintf(stderr, "bench-day: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- the cluster ---- */

static void load(struct day *d, const char *text)
{
    struct err e;

    if (!kube_load(d->k, "bench", str_c(text), &e))
        die("the cluster is refused", e.msg);
}

static void make_nodes(struct day *d)
{
    for (int64_t i = 0; i < d->o->nodes; i++) {
        char text[800];

        (void)snprintf(
            text, sizeof(text),
            "apiVersion: v1\nkind: Node\nmetadata: {name: n%03lld, annotations: {kwok.x-k8s.io/node: fake}, labels: "
            "{kubernetes.io/hostname: n%03lld, topology.kubernetes.io/zone: zone-%c, node.kubernetes.io/instance-type: m7g.4xlarge}}\n"
            "status: {capacity: {cpu: '16', memory: 64Gi, pods: '110'}, allocatable: {cpu: '16', memory: 64Gi, pods: '110'}}\n",
            (long long)i, (long long)i, 'a' + (int)(i % 3));
        load(d, text);
    }
}

/* Pods like those of an ordinary web service. */
static void make_deployments(struct day *d)
{
    for (int64_t left = d->o->pods, i = 0; left > 0; left -= REPLICAS, i++) {
        char text[1200];

        (void)snprintf(
            text, sizeof(text),
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%lld, namespace: default, labels: {app: web%lld}}\n"
            "spec: {replicas: %lld, selector: {matchLabels: {app: web%lld}}, template: {metadata: {labels: {app: web%lld}}, "
            "spec: {containers: [{name: web, image: 'registry.example/web:1', ports: [{containerPort: 8080}], env: [{name: MODE, "
            "value: production}], resources: {requests: {cpu: 250m, memory: 512Mi}, limits: {memory: 512Mi}}, readinessProbe: "
            "{httpGet: {path: /healthz, port: 8080}}}], topologySpreadConstraints: [{maxSkew: 5, topologyKey: "
            "topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web%lld}}}]}}}\n",
            (long long)i, (long long)i, (long long)MIN(left, REPLICAS), (long long)i, (long long)i, (long long)i);
        load(d, text);
    }
}

static void check_pods(struct day *d, const char *when)
{
    char found[64];
    const struct kind *kind = kube_kind(d->k, STR(""), STR("Pod"));

    if (kube_count(d->k, kind) == d->o->pods)
        return;
    (void)snprintf(found, sizeof(found), "%u pods", kube_count(d->k, kind));
    die(when, found);
}

/* ---- churn ---- */

static void note_pod(void *ctx, const struct object *o)
{
    struct day *d = ctx;

    if (!o->deleted_ms)
        vec_push(&d->names, arena_strdup(d->a, o->name));
}

/* Who is there is looked up every ten minutes; the pods that go are drawn from these, and go one after the other. A function of
 * its own in a profile. */
__attribute__((noinline)) static void live_a_minute(struct day *d, int64_t minute)
{
    const struct kind *kind = kube_kind(d->k, STR(""), STR("Pod"));
    int64_t n = d->o->pods * d->o->churn / 100;
    struct delete_options usual = {.grace_s = -1};
    struct status st;

    if (minute % 10 == 0) {
        arena_reset(d->a);
        d->names.n = 0;
        kube_each(d->k, kind, STR("default"), note_pod, d);
    }
    for (int64_t i = 0; i < n && d->names.n; i++) {
        uint32_t at = rng_below(sim_rng(d->sim), d->names.n);
        struct arena_mark m = arena_mark(d->a);

        if (!kube_delete(d->k, d->a, kind, STR("default"), d->names.v[at], &usual, &st))
            die("a pod is gone that nobody deleted", NULL);
        arena_rewind(d->a, m);
        d->names.v[at] = d->names.v[--d->names.n];
        sim_run_for(d->sim, MINUTE_US / n);
    }
    if (n == 0)
        sim_run_for(d->sim, MINUTE_US);
}

static struct outcome live(const struct options *o)
{
    struct day d = {.o = o, .sim = sim_new((uint64_t)o->seed, INT64_C(1700000000000)), .a = arena_new(0)};
    struct world *w = sim_process(d.sim, "kube");

    d.k = kube_new(w, &(struct kube_options){.version = "v1.36.3"});
    d.c = cluster_new(d.k,
                      &(struct cluster_options){.lean = o->lean, .pod_start = {500, 5000}, .node_ready = {500, 5000}});
    make_nodes(&d);
    sim_run_for(d.sim, MINUTE_US);
    make_deployments(&d);
    sim_run_for(d.sim, 10 * MINUTE_US);
    check_pods(&d, "the cluster does not start");

    uint64_t before = kube_rv(d.k);
    double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int64_t i = 0; i < o->hours * 60; i++)
        live_a_minute(&d, i);
    struct outcome r = {.wall_s = seconds(CLOCK_MONOTONIC) - wall_s,
                        .cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_s,
                        .writes = kube_rv(d.k) - before};

    sim_run_for(d.sim, 2 * MINUTE_US);
    check_pods(&d, "the day has not ended well");
    struct sb state = {0};
    kube_save(d.k, &state);
    sim_note(d.sim, sb_view(&state));
    sb_fini(&state);
    r.trace = sim_trace(d.sim);
    cluster_free(d.c);
    kube_free(d.k);
    sim_free(d.sim);
    vec_fini(&d.names);
    arena_free(d.a);
    return r;
}

/* ---- the program ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof(*v), by_value);
    return v[n / 2];
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.nodes = 100, .pods = 3000, .churn = 1, .hours = 24, .seed = 1, .runs = 1};
    const struct {
        const char *name;
        int64_t *to, most;
    } numbers[] = {{"--nodes", &o.nodes, 10000},    {"--pods", &o.pods, 1000000},   {"--churn", &o.churn, 9},
                   {"--hours", &o.hours, 24 * 366}, {"--seed", &o.seed, INT64_MAX}, {"--runs", &o.runs, MAX_RUNS}};

    for (int i = 1; i < argc; i++) {
        size_t at = 0;

        if (strcmp(argv[i], "--lean") == 0) {
            o.lean = true;
            continue;
        }
        while (at < ARRAY_LEN(numbers) && strcmp(argv[i], numbers[at].name) != 0)
            at++;
        if (at == ARRAY_LEN(numbers))
            die("unknown argument", argv[i]);
        if (++i == argc || !str_to_i64(str_c(argv[i]), numbers[at].to) || *numbers[at].to < 0 ||
            *numbers[at].to > numbers[at].most)
            die("not a number that it takes", argv[i - 1]);
    }
    if (o.runs == 0 || o.nodes == 0 || o.pods == 0)
        die("nothing to run", NULL);
    return o;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    double wall_s[MAX_RUNS], cpu_s[MAX_RUNS];
    struct outcome first = {0};

    for (int64_t i = 0; i < o.runs; i++) {
        struct outcome r = live(&o);

        wall_s[i] = r.wall_s;
        cpu_s[i] = r.cpu_s;
        if (i > 0 && (r.trace != first.trace || r.writes != first.writes))
            die("the same seed gave another day", NULL);
        first = r;
    }
    (void)printf(
        "{\"nodes\":%lld,\"pods\":%lld,\"hours\":%lld,\"wallSeconds\":%.3f,\"cpuSeconds\":%.3f,\"writes\":%llu,"
        "\"trace\":\"%016llx\"}\n",
        (long long)o.nodes, (long long)o.pods, (long long)o.hours, median(wall_s, o.runs), median(cpu_s, o.runs),
        (unsigned long long)first.writes, (unsigned long long)first.trace);
    return 0;
}
