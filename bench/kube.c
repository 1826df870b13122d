/* bench-kube - how the demo's API server does with a cluster of some size:
 *
 *   bench-kube [--nodes N] [--pods N] [--writes N] [--watchers N] [--connections N] [--json] KARPENTER
 *
 * Starts `KARPENTER demo` as a process of its own, pinned to one core, and is its kubelets: it registers nodes of 8 KB with
 * their leases and reports pods of 2.7 KB as running, over TLS on loopback. Then watchers list pods, nodes and leases, all
 * at the same time and in different ways, and stay; writers on kept connections send status patches, renew
 * leases, create and delete pods. Every change has to reach every watcher once and in order, and list and watch together have to
 * give what a list says at the end. Exit status 1 when they do not.
 *
 * Writes per second are given by the clock and by the server's own CPU time; the latter is what one core can do, whatever
 * else the machine is busy with. Memory is the server's largest resident set from its start to its end.
 */
#include <stdlib.h>
#include <time.h>

#include "kube.h"
#include "net/fiber.h"
#include "net/loop.h"

#define GOAL_MB 150
#define GOAL_WRITES 5000
#define SETTLE_US 2000000

struct measured {
    double load_cpu_s, load_mb;
    double list_cpu_s, list_s, list_mb;
    double write_cpu_s, write_s, peak_mb;
    uint32_t loaded, writes;
    uint64_t events, event_bytes;
    struct sb broken;
};

struct run {
    struct bench b;
    struct measured m;
};

_Noreturn void die(const char *what, const char *detail)
{
    (void)fprintf(stderr, "bench-kube: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
    exit(1);
}

const char *kind_path(enum kind k)
{
    static const char *const paths[N_KINDS] = {"/api/v1/pods", "/api/v1/nodes", "/apis/coordination.k8s.io/v1/leases"};

    return paths[k];
}

static void parse(struct options *o, int argc, char **argv)
{
    const struct {
        const char *name;
        int64_t *value, min, max;
    } numbers[] = {
        {"--nodes", &o->nodes, 100, 5000},         {"--pods", &o->pods, 100, 15000},
        {"--writes", &o->writes, 1, 1 << 24},      {"--watchers", &o->watchers, 1, 100},
        {"--connections", &o->connections, 1, 64},
    };

    for (int i = 1; i < argc; i++) {
        size_t k = 0;

        if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
            continue;
        }
        if (argv[i][0] != '-') {
            o->karpenter = argv[i];
            continue;
        }
        while (k < ARRAY_LEN(numbers) && strcmp(argv[i], numbers[k].name) != 0)
            k++;
        if (k == ARRAY_LEN(numbers) || ++i == argc || !str_to_i64(str_c(argv[i]), numbers[k].value) ||
            *numbers[k].value < numbers[k].min || *numbers[k].value > numbers[k].max)
            die("bad option", argv[MIN(i, argc - 1)]);
    }
    if (!o->karpenter)
        die("which program?", "bench-kube build/karpenter");
}

/* ---- the run ---- */

static void measure(struct bench *b, struct measured *m)
{
    struct writer *w = writer_new(b);
    struct written loaded = {0}, changed = {0};

    write_cluster(w, &loaded);
    fiber_sleep_us(b->w, SETTLE_US); /* taints and labels of new nodes, events about them */
    m->loaded = loaded.n;
    m->load_cpu_s = demo_cpu_s(b);
    m->load_mb = demo_peak_mb(b);

    int64_t from_us = world_mono_us(b->w);
    struct watchers *ws = watchers_new(b);
    m->list_s = (double)(world_mono_us(b->w) - from_us) / 1e6;
    m->list_cpu_s = demo_cpu_s(b) - m->load_cpu_s;
    m->list_mb = demo_peak_mb(b);

    double cpu_s = demo_cpu_s(b);
    from_us = world_mono_us(b->w);
    write_changes(w, &changed);
    m->write_s = (double)(world_mono_us(b->w) - from_us) / 1e6;
    watchers_wait(ws, &changed);
    m->write_cpu_s = demo_cpu_s(b) - cpu_s; /* with what the watchers are still sent */
    m->writes = changed.n;
    m->events = watchers_events(ws);
    m->event_bytes = watchers_bytes(ws);
    watchers_check(ws, &changed, &m->broken);
    m->peak_mb = demo_peak_mb(b);

    demo_stop(b);
    watchers_free(ws);
    writer_free(w);
    for (int k = 0; k < N_KINDS; k++) {
        vec_fini(&loaded.rvs[k]);
        vec_fini(&changed.rvs[k]);
    }
}

static void on_start(void *arg)
{
    struct run *r = arg;

    demo_start(&r->b);
    measure(&r->b, &r->m);
    world_quit(r->b.w);
}

/* ---- what came out ---- */

static const char *verdict(bool met)
{
    return met ? "met" : "MISSED";
}

static void print_table(const struct options *o, const struct measured *m)
{
    double on_core = m->writes / m->write_cpu_s;

    (void)printf("%lld nodes, %lld pods, %lld watchers of pods, nodes and leases, %lld connections that write\n\n",
                 (long long)o->nodes, (long long)o->pods, (long long)o->watchers, (long long)o->connections);
    (void)printf("%-34s %10s %12s %12s %9s\n", "", "writes", "server CPU s", "peak MB", "wall s");
    (void)printf("%-34s %10u %12.2f %12.1f\n", "cluster loaded", m->loaded, m->load_cpu_s, m->load_mb);
    (void)printf("%-34s %10s %12.2f %12.1f %9.2f\n", "all listed by every watcher", "", m->list_cpu_s, m->list_mb,
                 m->list_s);
    (void)printf("%-34s %10u %12.2f %12.1f %9.2f\n", "changed, with the watchers on", m->writes, m->write_cpu_s,
                 m->peak_mb, m->write_s);
    (void)printf("\n%-34s %10.0f  (%d wanted: %s; by the clock %.0f)\n", "writes/s on one core", on_core, GOAL_WRITES,
                 verdict(on_core >= GOAL_WRITES), m->writes / m->write_s);
    (void)printf("%-34s %10.1f  (%d MB wanted: %s)\n", "peak memory, MB", m->peak_mb, GOAL_MB,
                 verdict(m->peak_mb <= GOAL_MB));
    (void)printf("%-34s %10llu  (%.0f MB)\n", "events seen", (unsigned long long)m->events,
                 (double)m->event_bytes / 1e6);
    (void)printf("%-34s %10s\n", "each change once, in order, all", m->broken.n ? "BROKEN" : "ok");
    (void)fflush(stdout);
}

static void print_json(const struct options *o, const struct measured *m)
{
    (void)printf("{\"nodes\":%lld,\"pods\":%lld,\"watchers\":%lld,\"connections\":%lld,\"loaded\":%u,\"writes\":%u,",
                 (long long)o->nodes, (long long)o->pods, (long long)o->watchers, (long long)o->connections, m->loaded,
                 m->writes);
    (void)printf("\"loadCpuSeconds\":%.3f,\"loadMB\":%.1f,\"listCpuSeconds\":%.3f,\"listSeconds\":%.3f,"
                 "\"listMB\":%.1f,\"writeCpuSeconds\":%.3f,\"writeSeconds\":%.3f,\"peakMB\":%.1f,",
                 m->load_cpu_s, m->load_mb, m->list_cpu_s, m->list_s, m->list_mb, m->write_cpu_s, m->write_s,
                 m->peak_mb);
    (void)printf("\"events\":%llu,\"eventBytes\":%llu,\"goalWrites\":%d,\"goalMB\":%d,\"check\":\"%s\"}\n",
                 (unsigned long long)m->events, (unsigned long long)m->event_bytes, GOAL_WRITES, GOAL_MB,
                 m->broken.n ? "broken" : "ok");
}

int main(int argc, char **argv)
{
    struct run r = {.b.o = {.nodes = 1000, .pods = 10000, .writes = 60000, .watchers = 4, .connections = 32}};

    parse(&r.b.o, argc, argv);
    r.b.a = arena_new(0);
    r.b.w = loop_new();
    fiber_go(r.b.w, "bench", on_start, &r);
    world_run(r.b.w);
    r.b.o.json ? print_json(&r.b.o, &r.m) : print_table(&r.b.o, &r.m);
    bool broken = r.m.broken.n != 0;

    if (broken)
        (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&r.m.broken)));
    sb_fini(&r.m.broken);
    loop_free(r.b.w);
    arena_free(r.b.a);
    return broken ? 1 : 0;
}
