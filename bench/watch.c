/* How fast events of a watch are taken apart:
 *
 *   bench-watch [N]      N events of a pod (200,000)
 *
 * The pod is one as a kubelet reports it, with managedFields. Pieces are as large as those libcurl hands over. What is measured is
 * from bytes to trees; what a controller makes of a tree comes on top. The second line goes all the way: an API server in the same
 * program, its HTTP, a reflector.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "data/edit.h"
#include "k8s/reflector.h"
#include "k8s/watch_lines.h"
#include "sim/kube/kube.h"
#include "sim/world.h"

#define PIECE 16384u
#define URL "https://kube"

static double cpu_s(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void put_conditions(struct sb *b)
{
    static const char *const types[] = {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
                                        "PodScheduled"};

    sb_c(b, "\"conditions\":[");
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        sb_printf(
            b,
            "%s{\"type\":\"%s\",\"status\":\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
            i ? "," : "", types[i]);
    sb_c(b, "]");
}

static void put_managed(struct sb *b)
{
    sb_c(b, ",\"managedFields\":[");
    for (int i = 0; i < 3; i++) {
        sb_printf(
            b,
            "%s{\"manager\":\"m%d\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"2026-01-01T00:00:00Z\","
            "\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:status\":{",
            i ? "," : "", i);
        for (int j = 0; j < 12; j++)
            sb_printf(b, "%s\"k:{\\\"type\\\":\\\"T%d\\\"}\":{\".\":{},\"f:lastTransitionTime\":{},\"f:status\":{}}",
                      j ? "," : "", j);
        sb_c(b, "}}}");
    }
    sb_c(b, "]");
}

static void put_event(struct sb *b, uint32_t i)
{
    sb_printf(
        b,
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web-7d4b9c6f5-%05u\","
        "\"generateName\":\"web-7d4b9c6f5-\",\"namespace\":\"default\",\"uid\":\"0b1f1c9e-8a36-4f0e-9d75-0000%08x\","
        "\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{\"app\":\"web\","
        "\"pod-template-hash\":\"7d4b9c6f5\",\"team\":\"blue\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
        "\"ReplicaSet\",\"name\":\"web-7d4b9c6f5\",\"uid\":\"11111111-2222-3333-4444-555555555555\",\"controller\":true,"
        "\"blockOwnerDeletion\":true}]",
        i % 100000, i, i + 1000);
    put_managed(b);
    sb_c(
        b,
        "},\"spec\":{\"volumes\":[{\"name\":\"kube-api-access-x\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{"
        "\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{\"key\":"
        "\"ca.crt\",\"path\":\"ca.crt\"}]}}],\"defaultMode\":420}}],\"containers\":[{\"name\":\"web\",\"image\":"
        "\"registry.example.com/team/web:1.2.3\",\"ports\":[{\"containerPort\":8080,\"protocol\":\"TCP\"}],\"env\":[{\"name\":"
        "\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"2\"}],\"resources\":{\"limits\":{\"memory\":\"512Mi\"},\"requests\":{"
        "\"cpu\":\"250m\",\"memory\":\"512Mi\"}},\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080,\"scheme\":"
        "\"HTTP\"},\"timeoutSeconds\":1,\"periodSeconds\":10,\"successThreshold\":1,\"failureThreshold\":3},"
        "\"terminationMessagePath\":\"/dev/termination-log\",\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
        "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"nodeName\":\"ip-10-0-0-1\",\"schedulerName\":"
        "\"default-scheduler\",\"tolerations\":[{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\",\"effect\":"
        "\"NoExecute\",\"tolerationSeconds\":300}]},\"status\":{\"phase\":\"Running\",\"hostIP\":\"10.0.0.1\",\"podIP\":"
        "\"10.0.1.1\",");
    put_conditions(b);
    sb_c(b, "}}}\n");
}

static bool hear(void *ctx, str type, struct tree *obj)
{
    (void)type;
    *(uint32_t *)ctx += obj != NULL;
    return true;
}

static void parse(uint32_t n)
{
    struct watch_lines l;
    struct sb text = {0};
    uint32_t heard = 0, batch = 1000;
    struct err e;

    watch_lines_init(&l);
    for (uint32_t i = 0; i < batch; i++)
        put_event(&text, i);
    size_t before = mallinfo2().uordblks;
    double from = cpu_s();
    for (uint32_t i = 0; i < n; i += batch)
        for (size_t at = 0; at < text.n; at += PIECE)
            if (!watch_lines_feed(&l, str_sub(sb_view(&text), at, at + PIECE), hear, &heard, &e)) {
                (void)fprintf(stderr, "%s\n", e.msg);
                exit(1);
            }
    double s = cpu_s() - from;
    (void)printf("%u events of %zu bytes: %.2f us each, %.0f MB/s; %zu bytes of memory, %zu more than before\n", heard,
                 text.n / batch, s / heard * 1e6, (double)text.n * heard / batch / s / 1e6,
                 l.cap + arena_bytes(l.arena), mallinfo2().uordblks - before);
    watch_lines_fini(&l);
    sb_fini(&text);
}

/* ---- all the way ---- */

struct copy {
    uint32_t n;
};

static void ignore(void *ctx)
{
    (void)ctx;
}

static void count(void *ctx, struct tree *obj)
{
    (void)obj;
    ((struct copy *)ctx)->n++;
}

static void count_gone(void *ctx, const struct tree *obj)
{
    (void)obj;
    ((struct copy *)ctx)->n++;
}

static void put_configmap(struct kube *k, uint32_t i)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct kind *kind = kube_kind(k, STR(""), STR("ConfigMap"));
    struct tree *t = tree_new_map(a);
    struct status st;

    tree_set_str(a, tree_sub(a, t, "metadata"), "name", arena_printf(a, "c%u", i));
    tree_set_str(a, tree_sub(a, t, "metadata"), "namespace", STR("default"));
    tree_set_str(a, tree_sub(a, t, "data"), "k", STR("v"));
    (void)kube_create(k, a, kind, t, NULL, &st);
}

static void reflect(uint32_t n)
{
    static const struct api_kind configmaps = {"", "v1", "configmaps", "ConfigMap", true};
    struct copy c = {0};
    struct reflector_events ev = {&c, ignore, count, count_gone, ignore, NULL};
    struct sim *s = sim_new(1, INT64_C(1767225600000));
    struct world *server = sim_process(s, "server"), *client = sim_process(s, "client");
    struct kube *k = kube_new(server, &(struct kube_options){.version = "v1.36.3"});

    sim_mount(s, URL, server, kube_serve, k);
    struct kube_config *config = kube_config_fixed(STR(URL), (str){0}, NULL);
    struct api *api = api_new(client, config, &(struct api_options){0});
    for (uint32_t i = 0; i < n; i++)
        put_configmap(k, i);
    size_t before = mallinfo2().uordblks;
    double from = cpu_s();
    struct reflector *r = reflector_new(api, &configmaps, NULL, &ev);
    while (!reflector_synced(r))
        sim_run_for(s, 1000);
    double took = cpu_s() - from;
    sim_run_for(s, 100000);
    (void)printf("%u ConfigMaps listed: %.2f us each, server's side included; %zd bytes kept\n", c.n, took / c.n * 1e6,
                 (ssize_t)(mallinfo2().uordblks - before));
    reflector_free(r);
    sim_kill(client);
    sim_run_for(s, 1000);
    api_free(api);
    kube_config_free(config);
    kube_free(k);
    sim_free(s);
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;

    parse(n);
    reflect(n / 4);
    return 0;
}
