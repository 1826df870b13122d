/* bench-store - what the store takes for a cluster: memory, and the time of events and snapshots.
 *
 *     bench-store --nodes N --pods N [--churn N]
 *
 * Objects are those that an API server sends, one after the other, as the watches would hand them over. Prints one JSON
 * object: bytes of the store by its own count, resident memory before and after, microseconds an event and a snapshot.
 * --churn: so many pods with labels of their own come and go afterwards.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "cloud/catalog.h"
#include "control/feed.h"
#include "data/reader.h"

#define APPS 400
#define POOLS 4
#define EVENTS 2000
#define NOW_MS 1768478400000

struct bench {
    struct store *s;
    struct feed *f;
    struct syms *t;
    struct arena *a; /* of one object */
    struct sb b;
    struct rng r;
    uint64_t version;
    uint32_t errors;
    int64_t feeding_us; /* without the time to read the text */
    uint32_t fed;
};

static int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static size_t resident(void)
{
    unsigned long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%lu %lu", &all, &pages) != 2)
        pages = 0;
    if (f)
        (void)fclose(f);
    return pages * 4096;
}

static void uid(struct bench *b)
{
    uint64_t x = rng_next(&b->r), y = rng_next(&b->r);

    sb_printf(&b->b, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(x >> 32), (unsigned)(x >> 16 & 0xffff),
              (unsigned)(x & 0xfff), (unsigned)(y >> 52), (unsigned long long)(y & 0xffffffffffff));
}

static void feed(struct bench *b, enum object_kind kind)
{
    const struct tree *t;
    struct err e;

    arena_reset(b->a);
    if (!tree_parse_json(b->a, "object", sb_view(&b->b), &t, &e)) {
        (void)fprintf(stderr, "bench-store: %s\n", e.msg);
        exit(1);
    }
    int64_t begin = now_us();
    feed_put(b->f, kind, t);
    b->feeding_us += now_us() - begin;
    b->fed++;
}

static void head(struct bench *b, const char *api, const char *kind)
{
    b->version++;
    sb_reset(&b->b);
    sb_printf(&b->b,
              "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"creationTimestamp\":\"2026-01-15T0%u:%02u:00Z\","
              "\"resourceVersion\":\"%llu\",\"uid\":\"",
              api, kind, (unsigned)(b->version % 9), (unsigned)(b->version % 60), (unsigned long long)b->version);
    uid(b);
    sb_char(&b->b, '"');
}

#define MANAGED                                                                                                        \
    ",\"managedFields\":[{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":"            \
    "\"2026-01-15T00:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\".\":{}}}}}]"

static void pod(struct bench *b, uint32_t n, uint32_t nodes, bool waiting)
{
    static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
    uint32_t app = n % APPS;
    char suffix[6] = {0};

    for (int i = 0; i < 5; i++)
        suffix[i] = alphabet[(n >> (5 * i)) % 27];
    head(b, "v1", "Pod");
    sb_printf(&b->b,
              ",\"name\":\"service-%u-%s-7d9c6b5f4%u-%s\",\"namespace\":\"team-%u\",\"labels\":{\"app\":\"service-%u\","
              "\"pod-template-hash\":\"7d9c6b5f4%u\",\"app.kubernetes.io/part-of\":\"team-%u\"},\"ownerReferences\":[{"
              "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"service-%u-7d9c6b5f4%u\",\"uid\":\"x\","
              "\"controller\":true}]" MANAGED "},\"spec\":{",
              app, "api", app % 10, suffix, app % 20, app, app % 10, app % 20, app, app % 10);
    if (!waiting)
        sb_printf(&b->b, "\"nodeName\":\"ip-10-%u-%u-17.eu-west-1.compute.internal\",", n % nodes / 250,
                  n % nodes % 250);
    sb_printf(
        &b->b,
        "\"terminationGracePeriodSeconds\":30,\"priority\":0,\"schedulerName\":\"default-scheduler\",\"containers\":"
        "[{\"name\":\"main\",\"image\":\"registry/service:%u\",\"resources\":{\"requests\":{\"cpu\":\"%um\","
        "\"memory\":\"%uMi\"},\"limits\":{\"memory\":\"1Gi\"}}}],\"tolerations\":[{\"key\":"
        "\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}]},",
        app, 100 + app % 9 * 50, 128 + app % 7 * 64);
    sb_printf(
        &b->b,
        "\"status\":{\"phase\":\"%s\",\"startTime\":\"2026-01-15T01:00:00Z\",\"conditions\":[{\"type\":\"Ready\",\"status\":"
        "\"%s\",\"lastTransitionTime\":\"2026-01-15T01:00:10Z\"},{\"type\":\"PodScheduled\",\"status\":\"%s\",%s"
        "\"lastTransitionTime\":\"2026-01-15T01:00:00Z\"}]}}",
        waiting ? "Pending" : "Running", waiting ? "False" : "True", waiting ? "False" : "True",
        waiting ? "\"reason\":\"Unschedulable\"," : "");
    feed(b, OBJ_POD);
}

static void machine_labels(struct bench *b, uint32_t n)
{
    sb_printf(
        &b->b,
        "\"karpenter.sh/nodepool\":\"pool-%u\",\"karpenter.sh/capacity-type\":\"on-demand\",\"karpenter.sh/registered\":"
        "\"true\",\"karpenter.sh/initialized\":\"true\",\"node.kubernetes.io/instance-type\":\"m-4x-amd64-linux\","
        "\"topology.kubernetes.io/zone\":\"test-zone-%c\",\"topology.kubernetes.io/region\":\"eu-west-1\","
        "\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/os\":\"linux\",\"karpenter.kwok.sh/kwoknodeclass\":\"default\","
        "\"karpenter.k8s.aws/instance-category\":\"m\",\"karpenter.k8s.aws/instance-cpu\":\"4\","
        "\"karpenter.k8s.aws/instance-family\":\"m5\",\"karpenter.k8s.aws/instance-generation\":\"5\","
        "\"karpenter.k8s.aws/instance-memory\":\"16384\",\"karpenter.k8s.aws/instance-hypervisor\":\"nitro\","
        "\"karpenter.k8s.aws/instance-network-bandwidth\":\"1250\"",
        n % POOLS, (int)('a' + n % 3));
}

#define SIZES(cpu)                                                                                                     \
    "{\"cpu\":\"" cpu "\",\"ephemeral-storage\":\"20Gi\",\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":\"0\",\"memory\":"  \
    "\"15936Mi\",\"pods\":\"58\"}"

static void node(struct bench *b, uint32_t n)
{
    static const char *const types[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"};

    head(b, "v1", "Node");
    sb_printf(
        &b->b,
        ",\"name\":\"ip-10-%u-%u-17.eu-west-1.compute.internal\",\"finalizers\":[\"karpenter.sh/termination\"],"
        "\"ownerReferences\":[{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"name\":\"pool-%u-x%05u\",\"uid\":"
        "\"x\"}],\"annotations\":{\"csi.volume.kubernetes.io/nodeid\":\"{\\\"ebs.csi.aws.com\\\":\\\"i-%017x\\\"}\","
        "\"karpenter.sh/nodepool-hash\":\"12345678901234567890\",\"karpenter.sh/nodepool-hash-version\":\"v3\","
        "\"node.alpha.kubernetes.io/ttl\":\"0\"},\"labels\":{\"kubernetes.io/hostname\":"
        "\"ip-10-%u-%u-17.eu-west-1.compute.internal\",\"beta.kubernetes.io/arch\":\"amd64\",",
        n / 250, n % 250, n % POOLS, n, n, n / 250, n % 250);
    machine_labels(b, n);
    sb_printf(
        &b->b,
        "}" MANAGED "},\"spec\":{\"providerID\":\"aws:///eu-west-1a/i-%017x\",\"podCIDR\":\"10.0.0.0/24\"},\"status\":{"
        "\"capacity\":" SIZES("4") ",\"allocatable\":" SIZES(
            "3920m") ",\"addresses\":[{\"type\":\"InternalIP\",\"address\":"
                     "\"10.0.0.1\"}],\"nodeInfo\":{\"kernelVersion\":\"6.1\",\"osImage\":\"linux\"},\"images\":[{\"names\":"
                     "[\"registry/one@sha256:0123456789abcdef\"],\"sizeBytes\":123456789}],\"conditions\":[",
        n);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        sb_printf(
            &b->b,
            "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"2026-01-15T01:00:00Z\","
            "\"lastTransitionTime\":\"2026-01-15T00:01:00Z\",\"reason\":\"KubeletHasSufficientMemory\",\"message\":"
            "\"kubelet has sufficient memory available\"}",
            i ? "," : "", types[i], i == 3 ? "True" : "False");
    sb_c(&b->b, "]}}");
    feed(b, OBJ_NODE);
}

static void claim(struct bench *b, uint32_t n)
{
    static const char *const types[] = {"Launched", "Registered",           "Initialized",
                                        "Ready",    "ConsistentStateFound", "Consolidatable"};

    head(b, "karpenter.sh/v1", "NodeClaim");
    sb_printf(
        &b->b,
        ",\"name\":\"pool-%u-x%05u\",\"generation\":1,\"finalizers\":[\"karpenter.sh/termination\"],\"annotations\":{"
        "\"karpenter.sh/nodepool-hash\":\"12345678901234567890\",\"karpenter.sh/nodepool-hash-version\":\"v3\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"karpenter.sh/v1\",\"blockOwnerDeletion\":true,\"kind\":\"NodePool\",\"name\":"
        "\"pool-%u\",\"uid\":\"x\"}],\"labels\":{",
        n % POOLS, n, n % POOLS);
    machine_labels(b, n);
    sb_c(
        &b->b,
        "}" MANAGED
        "},\"spec\":{\"expireAfter\":\"720h0m0s\",\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":"
        "\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":[{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":"
        "\"In\",\"values\":[");
    for (uint32_t i = 0; i < 60; i++)
        sb_printf(&b->b, "%s\"m-%ux-amd64-linux\"", i ? "," : "", i);
    sb_printf(
        &b->b,
        "]}],\"resources\":{\"requests\":{\"cpu\":\"3500m\",\"memory\":\"12Gi\",\"pods\":\"30\"}}},\"status\":{\"providerID\":"
        "\"aws:///eu-west-1a/i-%017x\",\"nodeName\":\"ip-10-%u-%u-17.eu-west-1.compute.internal\",\"imageID\":"
        "\"ami-0123456789abcdef0\",\"lastPodEventTime\":\"2026-01-15T01:00:00Z\",\"capacity\":" SIZES(
            "4") ",\"allocatable\":" SIZES("3920m") ",\"conditions\":[",
        n, n / 250, n % 250);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        sb_printf(&b->b,
                  "%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"%s\",\"message\":\"\",\"observedGeneration\":1,"
                  "\"lastTransitionTime\":\"2026-01-15T00:01:00Z\"}",
                  i ? "," : "", types[i], types[i]);
    sb_c(&b->b, "]}}");
    feed(b, OBJ_NODECLAIM);
}

static void pool(struct bench *b, uint32_t n)
{
    head(b, "karpenter.sh/v1", "NodePool");
    sb_printf(
        &b->b,
        ",\"name\":\"pool-%u\",\"generation\":1},\"spec\":{\"template\":{\"spec\":{\"requirements\":[],\"nodeClassRef\":{"
        "\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"}}}},\"status\":{\"conditions\":[{\"type\":"
        "\"Ready\",\"status\":\"True\"}]}}",
        n);
    feed(b, OBJ_NODEPOOL);
}

/* A pod of a job: nobody else has its labels. */
static void churn(struct bench *b, uint32_t n)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "job-%u", n);
    head(b, "v1", "Pod");
    sb_printf(
        &b->b,
        ",\"name\":\"%s\",\"namespace\":\"jobs\",\"labels\":{\"job-name\":\"run-%u\",\"batch.kubernetes.io/controller-uid\":\"",
        name, n);
    uid(b);
    sb_printf(
        &b->b,
        "\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"run-%u\",\"uid\":\"x\",\"controller\":"
        "true}]},\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],\"volumes\":[{\"name\":"
        "\"v\",\"persistentVolumeClaim\":{\"claimName\":\"scratch-%u\"}}]},\"status\":{\"phase\":\"Pending\"}}",
        n, n);
    feed(b, OBJ_POD);
    store_remove(b->s, OBJ_POD, STR("jobs"), str_c(name), 0);
}

static void on_error(void *ctx, enum object_kind kind, str ns, str name, const struct err *e)
{
    struct bench *b = ctx;

    (void)ns;
    b->errors++;
    (void)fprintf(stderr, "bench-store: %s " STR_FMT ": %s\n", object_kind_name(kind), STR_ARG(name), e->msg);
}

static double snapshots(struct bench *b, const struct catalog *c, uint32_t pods, uint32_t nodes, uint32_t events)
{
    const struct settings st = {0};
    int64_t us = 0;

    for (uint32_t i = 0; i < events; i++) {
        pod(b, i * 7919 % pods, nodes, /* waiting= */ false);
        int64_t begin = now_us();
        (void)store_snapshot(b->s, &st, c, NOW_MS);
        us += now_us() - begin;
    }
    return (double)us / events;
}

static uint32_t number(int argc, char **argv, const char *name, uint32_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (str_is(str_c(argv[i]), name))
            return (uint32_t)strtoul(argv[i + 1], NULL, 10);
    return otherwise;
}

int main(int argc, char **argv)
{
    static const struct nodeclass_ref classes[] = {{STR_INIT("karpenter.kwok.sh"), STR_INIT("KWOKNodeClass"), {0}}};
    uint32_t nodes = number(argc, argv, "--nodes", 1000), pods = number(argc, argv, "--pods", 10000);
    uint32_t churned = number(argc, argv, "--churn", 0);
    struct bench b = {.a = arena_new(64 << 10), .t = syms_new()};
    const struct settings st = {0};
    struct arena *own = arena_new(0);
    struct err e;

    const struct catalog *c = catalog_builtin(own, b.t, STR("kwok"), &e);
    rng_init(&b.r, 1);
    b.s = store_new(&(struct store_options){b.t, classes, ARRAY_LEN(classes), .nomination_ms = 20000});
    b.f = feed_new(&(struct feed_options){.store = b.s, .ctx = &b, .on_error = on_error});
    size_t empty = resident();
    for (uint32_t i = 0; i < POOLS; i++)
        pool(&b, i);
    for (uint32_t i = 0; i < nodes; i++) {
        node(&b, i);
        claim(&b, i);
    }
    for (uint32_t i = 0; i < pods; i++)
        pod(&b, i, nodes, /* waiting= */ i % 1000 == 0);
    double feeding = (double)b.feeding_us / b.fed;
    int64_t begin = now_us();
    (void)store_snapshot(b.s, &st, c, NOW_MS);
    int64_t first = now_us() - begin;
    (void)malloc_trim(0);
    size_t full = resident(), bytes = store_bytes(b.s);
    double each = snapshots(&b, c, pods, nodes, EVENTS);
    size_t before = resident();
    uint32_t syms = syms_count(b.t), most = 0;
    for (uint32_t i = 0; i < churned; i++) {
        churn(&b, i);
        if (i % 1000 == 0)
            (void)store_snapshot(b.s, &st, c, NOW_MS);
        most = syms_count(b.t) > most ? syms_count(b.t) : most;
    }
    (void)malloc_trim(0);
    (void)printf(
        "{\"nodes\":%u,\"pods\":%u,\"storeBytes\":%zu,\"symbols\":%u,\"emptyRssMB\":%.1f,\"rssMB\":%.1f,\"feedMicros\":%.1f,"
        "\"firstSnapshotMicros\":%lld,\"snapshotMicros\":%.1f,\"churned\":%u,\"churnSymbols\":%u,\"churnRssMB\":%.1f,"
        "\"errors\":%u}\n",
        nodes, pods, bytes, syms, (double)empty / 1048576, (double)full / 1048576, feeding, (long long)first, each,
        churned, most, churned ? ((double)resident() - (double)before) / 1048576 : 0.0, b.errors);
    feed_free(b.f);
    store_free(b.s);
    syms_free(b.t);
    sb_fini(&b.b);
    arena_free(own);
    arena_free(b.a);
    return b.errors != 0;
}
