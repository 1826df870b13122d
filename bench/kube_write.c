/* What kubelets and controllers write, by fibers that share the work: each takes the next number and does what it stands for.
 *
 * Nodes are as large as kubelets report them, which is mostly images; pods have what a pod of a small web server has. The same
 * numbers stand for the same writes in every run. */
#include <stdlib.h>

#include "data/reader.h"
#include "kube.h"
#include "net/fiber.h"

#define JSON_TYPE "application/json"
#define MERGE_TYPE "application/merge-patch+json"
#define NODE_IMAGES 28u
#define MIX 20u /* of so many writes 11 report a pod, 1 a node, 6 renew a lease, 1 creates a pod and 1 deletes it */
#define MIX_JOBS (MIX - 1)
#define PATCHED_PODS 11u
#define STRIDE 7919u /* prime: reports hop from pod to pod */

struct writer {
    struct bench *b;
    str *lease_rvs; /* by node: a lease is renewed from what it was */
};

/* A share of the work for all fibers. */
struct job {
    struct writer *w;
    struct written *ret;
    void (*fn)(struct job *j, uint32_t i, struct arena *a);
    uint32_t next, n;
    uint32_t running;
    struct fiber *waits;
};

/* ---- objects ---- */

static const char *zone_of(uint32_t node)
{
    static const char *const zones[] = {"test-zone-a", "test-zone-b", "test-zone-c"};

    return zones[node % ARRAY_LEN(zones)];
}

static void condition(struct sb *b, const char *type, const char *status, const char *reason, uint32_t second)
{
    sb_printf(b,
              "{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"2026-01-15T12:%02u:%02uZ\","
              "\"lastTransitionTime\":\"2026-01-15T11:10:00Z\",\"reason\":\"%s\",\"message\":\"kubelet has no "
              "complaints of this kind\"}",
              type, status, second / 60 % 60, second % 60, reason);
}

static void node_conditions(struct sb *b, uint32_t second)
{
    static const char *const calm[][2] = {{"MemoryPressure", "KubeletHasSufficientMemory"},
                                          {"DiskPressure", "KubeletHasNoDiskPressure"},
                                          {"PIDPressure", "KubeletHasSufficientPID"}};

    sb_c(b, "\"conditions\":[");
    for (size_t i = 0; i < ARRAY_LEN(calm); i++) {
        condition(b, calm[i][0], "False", calm[i][1], second);
        sb_char(b, ',');
    }
    condition(b, "Ready", "True", "KubeletReady", second);
    sb_char(b, ']');
}

static void node_images(struct sb *b)
{
    sb_c(b, "\"images\":[");
    for (uint32_t i = 0; i < NODE_IMAGES; i++)
        sb_printf(b,
                  "%s{\"names\":[\"registry.example.com/team-%u/service-%u@sha256:%016x%016x%016x%016x\","
                  "\"registry.example.com/team-%u/service-%u:v1.%u.0\"],\"sizeBytes\":%u}",
                  i ? "," : "", i % 7, i, i * 2654435761u, i * 40503u, i * 69069u, i * 1103515245u, i % 7, i, i,
                  30000000 + i * 1234567);
    sb_char(b, ']');
}

static void node_text(struct sb *b, uint32_t i)
{
    static const char amounts[] =
        "{\"cpu\":\"8\",\"ephemeral-storage\":\"80Gi\",\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":"
        "\"0\",\"memory\":\"65536Mi\",\"pods\":\"110\"}";

    sb_printf(
        b,
        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"node-%05u\",\"labels\":{"
        "\"beta.kubernetes.io/arch\":\"amd64\",\"beta.kubernetes.io/os\":\"linux\",\"kubernetes.io/arch\":\"amd64\","
        "\"kubernetes.io/os\":\"linux\",\"kubernetes.io/hostname\":\"node-%05u\","
        "\"node.kubernetes.io/instance-type\":\"m-8x-amd64-linux\",\"topology.kubernetes.io/zone\":\"%s\"}},",
        i, i, zone_of(i));
    sb_printf(b, "\"spec\":{\"podCIDR\":\"10.%u.%u.0/24\",\"providerID\":\"bench://node-%05u\"},\"status\":{", i / 256,
              i % 256, i);
    sb_printf(b, "\"capacity\":%s,\"allocatable\":%s,", amounts, amounts);
    node_conditions(b, 0);
    sb_printf(
        b,
        ",\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"172.16.%u.%u\"},{\"type\":\"Hostname\",\"address\":"
        "\"node-%05u\"}],\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":10250}},",
        i / 256, i % 256, i);
    sb_c(
        b,
        "\"nodeInfo\":{\"machineID\":\"ec2b1c1f6d5f4f9d8f8d7d2c5e6f7a81\",\"systemUUID\":\"ec2b1c1f-6d5f-4f9d-8f8d-7d2c5e6f7a81\","
        "\"bootID\":\"3f0c2a51-8f3a-4b7e-9f59-5d3f6f1a2b3c\",\"kernelVersion\":\"6.12.40\",\"osImage\":\"Example Linux 2026\","
        "\"containerRuntimeVersion\":\"containerd://2.1.3\",\"kubeletVersion\":\"v1.36.3\",\"kubeProxyVersion\":\"\","
        "\"operatingSystem\":\"linux\",\"architecture\":\"amd64\"},");
    node_images(b);
    sb_c(b, "}}");
}

static void lease_text(struct sb *b, uint32_t node, str rv, uint32_t round)
{
    sb_printf(b,
              "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"node-%05u\","
              "\"namespace\":\"kube-node-lease\"",
              node);
    if (rv.n)
        sb_printf(b, ",\"resourceVersion\":\"" STR_FMT "\"", STR_ARG(rv));
    sb_printf(b,
              "},\"spec\":{\"holderIdentity\":\"node-%05u\",\"leaseDurationSeconds\":40,"
              "\"renewTime\":\"2026-01-15T12:00:00.%06uZ\"}}",
              node, round % 1000000);
}

static void pod_text(struct sb *b, const char *name, uint32_t app, uint32_t node)
{
    sb_printf(
        b,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"labels\":{"
        "\"app\":\"web-%u\",\"pod-template-hash\":\"7c5ddbdf54\"}},\"spec\":{\"nodeName\":\"node-%05u\","
        "\"automountServiceAccountToken\":false,",
        name, app, node);
    sb_printf(b,
              "\"containers\":[{\"name\":\"web\",\"image\":\"registry.example.com/team/web:v1.%u.0\",\"resources\":{"
              "\"requests\":{\"cpu\":\"250m\",\"memory\":\"256Mi\"}}}]}}",
              app);
}

static void pod_status(struct sb *b, uint32_t pod, uint32_t app, uint32_t restarts)
{
    static const char *const types[] = {"Initialized", "Ready", "ContainersReady", "PodScheduled"};

    sb_printf(b,
              "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.%u.%u.%u\",\"startTime\":\"2026-01-15T11:10:00Z\","
              "\"conditions\":[",
              pod >> 16, pod >> 8 & 255, pod & 255);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        sb_printf(b, "%s{\"type\":\"%s\",\"status\":\"True\",\"lastTransitionTime\":\"2026-01-15T11:10:02Z\"}",
                  i ? "," : "", types[i]);
    sb_printf(
        b,
        "],\"containerStatuses\":[{\"name\":\"web\",\"image\":\"registry.example.com/team/web:v1.%u.0\",\"imageID\":"
        "\"sha256:%064u\",\"containerID\":\"containerd://%064u\",\"ready\":true,\"started\":true,\"restartCount\":%u,"
        "\"state\":{\"running\":{\"startedAt\":\"2026-01-15T11:10:01Z\"}}}]}}",
        app, app, pod, restarts);
}

/* ---- one write ---- */

/* Sends it and notes the revision that the answer names. */
static str put_down(struct job *j, enum kind k, const struct call *c, struct arena *a)
{
    struct http_response got;
    const struct tree *t;
    struct err e = {0};
    int64_t rv;

    call_fetch(j->w->b, c, a, &got);
    if (!tree_parse_json(a, "answer", got.body, &t, &e))
        die("answer", e.msg);
    str text = tree_str(tree_at(t, "metadata", "resourceVersion", NULL));
    if (!str_to_i64(text, &rv))
        die("answer", "no resource version");
    vec_push(&j->ret->rvs[k], (uint64_t)rv);
    j->ret->n++;
    return text;
}

static void write_text(struct job *j, enum kind k, const char *method, str path, const char *type, struct sb *text,
                       struct arena *a)
{
    (void)put_down(j, k, &(struct call){method, path, type, sb_view(text)}, a);
    sb_fini(text);
}

static void create_node(struct job *j, uint32_t i, struct arena *a)
{
    struct sb b = {0};

    node_text(&b, i);
    write_text(j, NODES, "POST", STR("/api/v1/nodes"), JSON_TYPE, &b, a);
}

static void put_lease(struct job *j, uint32_t node, uint32_t round, struct arena *a)
{
    struct sb b = {0};
    str *rv = &j->w->lease_rvs[node];
    str dir = STR("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
    bool new = rv->n == 0;
    str path = new ? dir : arena_printf(a, STR_FMT "/node-%05u", STR_ARG(dir), node);

    lease_text(&b, node, *rv, round);
    str now = put_down(j, LEASES, &(struct call){new ? "POST" : "PUT", path, JSON_TYPE, sb_view(&b)}, a);
    sb_fini(&b);
    if (now.n != rv->n)
        *rv = arena_strdup(j->w->b->a, now);
    else
        memcpy((char *)(uintptr_t)rv->p, now.p, now.n);
}

static void create_lease(struct job *j, uint32_t i, struct arena *a)
{
    put_lease(j, i, 0, a);
}

static void create_pod_named(struct job *j, const char *name, uint32_t i, struct arena *a)
{
    struct sb b = {0};

    pod_text(&b, name, i % 100, i % (uint32_t)j->w->b->o.nodes);
    write_text(j, PODS, "POST", STR("/api/v1/namespaces/default/pods"), JSON_TYPE, &b, a);
}

static const char *pod_name(struct arena *a, uint32_t i)
{
    return arena_printf(a, "web-%u-7c5ddbdf54-%05u%c", i % 100, i, 0).p;
}

/* Loading may take longer than a node lives without its lease. */
static void renew_now_and_then(struct job *j, uint32_t i, uint32_t round, struct arena *a)
{
    uint32_t nodes = (uint32_t)j->w->b->o.nodes, every = MAX((uint32_t)j->w->b->o.pods / nodes, 1u);

    if (i % every == 0)
        put_lease(j, i / every % nodes, round, a);
}

static void create_pod(struct job *j, uint32_t i, struct arena *a)
{
    renew_now_and_then(j, i, 1, a);
    create_pod_named(j, pod_name(a, i), i, a);
}

static void report_pod(struct job *j, uint32_t i, uint32_t restarts, struct arena *a)
{
    struct sb b = {0};

    pod_status(&b, i, i % 100, restarts);
    write_text(j, PODS, "PATCH", arena_printf(a, "/api/v1/namespaces/default/pods/%s/status", pod_name(a, i)),
               MERGE_TYPE, &b, a);
}

static void start_pod(struct job *j, uint32_t i, struct arena *a)
{
    renew_now_and_then(j, i, 2, a);
    report_pod(j, i, 0, a);
}

static void report_node(struct job *j, uint32_t i, uint32_t second, struct arena *a)
{
    struct sb b = {0};

    sb_c(&b, "{\"status\":{");
    node_conditions(&b, second);
    sb_c(&b, "}}");
    write_text(j, NODES, "PATCH", arena_printf(a, "/api/v1/nodes/node-%05u/status", i), MERGE_TYPE, &b, a);
}

/* A deletion without grace is two changes of a pod: it is marked, which is what the answer shows, and then it is gone. */
static void come_and_go(struct job *j, uint32_t i, struct arena *a)
{
    const char *name = arena_printf(a, "short-lived-%07u%c", i, 0).p;
    str path = arena_printf(a, "/api/v1/namespaces/default/pods/%s?gracePeriodSeconds=0", name);

    create_pod_named(j, name, i, a);
    (void)put_down(j, PODS, &(struct call){.method = "DELETE", .path = path}, a);
    j->ret->deleted[PODS]++;
}

/* Every report differs from the one before: a write that changes nothing would make no revision. */
static void change(struct job *j, uint32_t i, struct arena *a)
{
    uint32_t round = i / MIX_JOBS, in_mix = i % MIX_JOBS;
    uint32_t nodes = (uint32_t)j->w->b->o.nodes, pods = (uint32_t)j->w->b->o.pods;

    if (in_mix < PATCHED_PODS) {
        uint64_t k = (uint64_t)round * PATCHED_PODS + in_mix;

        report_pod(j, (uint32_t)(k * STRIDE % pods), 1 + round, a);
    } else if (in_mix == PATCHED_PODS) {
        report_node(j, round % nodes, 1 + round / nodes, a);
    } else if (in_mix < MIX_JOBS - 1) {
        uint32_t k = round * (MIX_JOBS - 2 - PATCHED_PODS) + in_mix - PATCHED_PODS - 1;

        put_lease(j, k % nodes, 3 + k, a);
    } else {
        come_and_go(j, round, a);
    }
}

/* ---- all of them ---- */

static void work(void *arg)
{
    struct job *j = arg;
    AUTO(arena) struct arena *a = arena_new(0);

    while (j->next < j->n) {
        j->fn(j, j->next++, a);
        arena_reset(a);
    }
    if (--j->running == 0)
        fiber_wake(j->waits);
}

static void do_all(struct writer *w, struct written *ret, void (*fn)(struct job *j, uint32_t i, struct arena *a),
                   int64_t n)
{
    struct job j = {.w = w, .ret = ret, .fn = fn, .n = (uint32_t)n, .waits = fiber_self()};

    for (int64_t i = 0; i < w->b->o.connections; i++) {
        j.running++;
        fiber_go(w->b->w, "writer", work, &j);
    }
    while (j.running)
        fiber_park();
}

static int by_rv(const void *a, const void *b, void *ctx)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    (void)ctx;
    return x < y ? -1 : x > y;
}

static void put_in_order(struct written *r)
{
    for (int k = 0; k < N_KINDS; k++)
        sort_stable(r->rvs[k].v, r->rvs[k].n, sizeof(r->rvs[k].v[0]), by_rv, NULL);
}

struct writer *writer_new(struct bench *b)
{
    struct writer *w = xcalloc(1, sizeof(*w));

    *w = (struct writer){.b = b, .lease_rvs = arena_new_array(b->a, str, b->o.nodes)};
    return w;
}

void writer_free(struct writer *w)
{
    free(w);
}

void write_cluster(struct writer *w, struct written *ret)
{
    do_all(w, ret, create_node, w->b->o.nodes);
    do_all(w, ret, create_lease, w->b->o.nodes);
    do_all(w, ret, create_pod, w->b->o.pods);
    do_all(w, ret, start_pod, w->b->o.pods);
    put_in_order(ret);
}

void write_changes(struct writer *w, struct written *ret)
{
    do_all(w, ret, change, (w->b->o.writes + MIX - 1) / MIX * MIX_JOBS);
    put_in_order(ret);
}
