/* Logs of pods over HTTP: what a simulated kubelet says, what others write, following, options, refusals. */
#include "data/reader.h"
#include "net/fiber.h"
#include "sim/kube/cluster.h"
#include "sim/kube/podlog.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define PODS "/api/v1/namespaces/default/pods"
#define JSON_BODY "Content-Type: application/json"

struct logs {
    struct kube_bench b;
    struct cluster *c;
};

static const char objects[] =
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {kwok.x-k8s.io/node: fake}}\n"
    "status: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}, capacity: {cpu: '4', memory: 8Gi, pods: '20'}}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n"
    "status: {addresses: [{type: InternalIP, address: 10.0.0.1}]}\n---\n"
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: default}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, labels: {app: web}}\n"
    "spec: {nodeName: n1, containers: [{name: c, image: nginx, command: [run, '-x'], args: [a b]}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: two, namespace: default}\n"
    "spec: {nodeName: n1, initContainers: [{name: i, image: i}], containers: [{name: c, image: i}, {name: d, image: "
    "i}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: task, namespace: default, annotations: {sim.karpenter.sh/run-for: 60s, "
    "sim.karpenter.sh/exit-code: '3'}}\n"
    "spec: {nodeName: n1, restartPolicy: Never, containers: [{name: c, image: i}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: lost, namespace: default}\n"
    "spec: {nodeName: n2, containers: [{name: c, image: i}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: nowhere, namespace: default}\n"
    "spec: {nodeName: nope, containers: [{name: c, image: i}]}\n";

static int setup(void **state)
{
    struct logs *l = test_malloc(sizeof(*l));
    struct err e = {0};

    bench_init(&l->b, 1, &(struct kube_options){.version = "v1.36.3"}, NULL);
    l->c = cluster_new(l->b.kube, &(struct cluster_options){.no_scheduler = true});
    check_ok("objects", kube_load(l->b.kube, "objects", STR(objects), &e), &e);
    bench_run(&l->b, 10000);
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    struct logs *l = *state;

    sim_kill(l->b.client);
    bench_run(&l->b, 1);
    cluster_free(l->c);
    bench_fini(&l->b);
    test_free(l);
    return 0;
}

static str body(const struct stream *s)
{
    return (str){s->body.p, s->body.n};
}

static str get(struct logs *l, const char *path)
{
    const struct stream *s = bench_call(&l->b, "GET", path, NULL, NULL);

    check_i64(path, s->status, 200);
    return body(s);
}

static void refused(struct logs *l, const char *path, int status, const char *message)
{
    const struct stream *s = bench_call(&l->b, "GET", path, NULL, NULL);
    const struct tree *t = NULL;
    struct err e = {0};

    check_i64(path, s->status, status);
    check_ok(path, tree_parse_json(l->b.a, "answer", body(s), &t, &e), &e);
    check_str(path, tree_str(tree_get(t, "message")), message);
}

static void say(struct logs *l, const char *pod, const char *text)
{
    struct podlog *log = kube_pod_log(l->b.kube, STR("default"), str_c(pod), STR(""));

    assert_non_null(log);
    podlog_add(log, world_now_ms(l->b.server), str_c(text));
}

static void kubelets_words(void **state)
{
    struct logs *l = *state;

    check_str(
        "what it was started with", get(l, PODS "/web/log"),
        "started by a simulated kubelet, nothing runs in it: image \"nginx\", command [\"run\",\"-x\"], args [\"a "
        "b\"]\n");
    check_str("an init container has ended", get(l, PODS "/two/log?container=i"),
              "started by a simulated kubelet, nothing runs in it: image \"i\"\nexited with code 0\n");
    struct stream *f = bench_open(&l->b, "GET", PODS "/task/log?follow=true", NULL, STR(""));
    bench_run(&l->b, 1000);
    check_true("goes on", f->status == 200 && !f->over);
    bench_run(&l->b, 120000);
    check_str("until it ends", body(f),
              "started by a simulated kubelet, nothing runs in it: image \"i\"\nexited with code 3\n");
    check_true("over", f->over && !f->broken);
    check_str("and later", get(l, PODS "/task/log?tailLines=1&follow=1"), "exited with code 3\n");
    bench_close(f);
}

static void what_others_write(void **state)
{
    struct logs *l = *state;

    say(l, "web", "{\"msg\":\"one\"}\n{\"msg\":\"two\"}\n");
    check_str("nothing of the kubelet's", get(l, PODS "/web/log"), "{\"msg\":\"one\"}\n{\"msg\":\"two\"}\n");
    check_true("no such pod", !kube_pod_log(l->b.kube, STR("default"), STR("nope"), STR("")));
    check_true("no such container", !kube_pod_log(l->b.kube, STR("default"), STR("web"), STR("x")));
    check_true("the same log", kube_pod_log(l->b.kube, STR("default"), STR("web"), STR("c")) ==
                                   kube_pod_log(l->b.kube, STR("default"), STR("web"), STR("")));
    podlog_add(kube_pod_log(l->b.kube, STR("default"), STR("two"), STR("d")), 0, STR("d"));
    check_str("one container", get(l, PODS "/two/log?container=d"), "d\n");
    check_str("and the other", get(l, PODS "/two/log?container=c"),
              "started by a simulated kubelet, nothing runs in it: image \"i\"\n");
}

static void options(void **state)
{
    struct logs *l = *state;

    say(l, "web", "a\nb");
    bench_run(&l->b, 100000);
    say(l, "web", "c");
    bench_run(&l->b, 5000);
    check_str("tail", get(l, PODS "/web/log?tailLines=2"), "b\nc\n");
    check_str("tail of nothing", get(l, PODS "/web/log?tailLines=0"), "");
    check_str("more than there is", get(l, PODS "/web/log?tailLines=99"), "a\nb\nc\n");
    check_str("since seconds", get(l, PODS "/web/log?sinceSeconds=20"), "c\n");
    check_str("since a time", get(l, PODS "/web/log?sinceTime=2026-01-01T00:01:00Z"), "c\n");
    check_str("since before it all", get(l, PODS "/web/log?sinceTime=2025-01-01T00:01:00Z"), "a\nb\nc\n");
    check_str("so many bytes", get(l, PODS "/web/log?limitBytes=3"), "a\nb");
    check_str("with a limit nobody follows on", get(l, PODS "/web/log?limitBytes=3&follow=true"), "a\nb");
    check_true("times", str_starts(get(l, PODS "/web/log?timestamps=true&tailLines=1"), STR("2026-01-01T00:01:5")));
    check_true("in nanoseconds", str_contains(get(l, PODS "/web/log?timestamps=true&tailLines=1"), STR("000000Z c\n")));
}

static void following(void **state)
{
    struct logs *l = *state;

    say(l, "web", "a\nb");
    struct stream *f = bench_open(&l->b, "GET", PODS "/web/log?follow=true", NULL, STR(""));
    struct stream *g = bench_open(&l->b, "GET", PODS "/web/log?follow=true&tailLines=1", NULL, STR(""));
    bench_run(&l->b, 1000);
    check_str("what there was", body(f), "a\nb\n");
    check_str("the last of it", body(g), "b\n");
    say(l, "web", "c");
    bench_run(&l->b, 1000);
    bench_close(g);
    say(l, "web", "d\ne");
    bench_run(&l->b, 1000);
    check_str("what came", body(f), "a\nb\nc\nd\ne\n");
    check_true("still open", !f->over);
    say(l, "web", "last words");
    check_i64("deleted", bench_call(&l->b, "DELETE", PODS "/web?gracePeriodSeconds=0", JSON_BODY, NULL)->status, 200);
    bench_run(&l->b, 5000);
    check_true("ends with the pod", f->over && !f->broken);
    check_str("all of it", body(f), "a\nb\nc\nd\ne\nlast words\n");
    bench_close(f);
    check_true("no log without a pod", !kube_pod_log(l->b.kube, STR("default"), STR("web"), STR("")));
}

static void writing_while_followed(void **state)
{
    struct logs *l = *state;
    struct stream *f = bench_open(&l->b, "GET", PODS "/web/log?follow=true&timestamps=false", NULL, STR(""));

    bench_run(&l->b, 1000);
    check_true("the kubelet first", str_starts(body(f), STR("started by a simulated kubelet")));
    say(l, "web", "hello");
    bench_run(&l->b, 1000);
    check_true("then who writes", str_ends(body(f), STR("\nhello\n")));
    check_str("who alone is the log now", get(l, PODS "/web/log"), "hello\n");
    bench_close(f);
}

static void refusals(void **state)
{
    struct logs *l = *state;
    struct err e = {0};

    refused(l, PODS "/nope/log", 404, "pods \"nope\" not found");
    refused(l, PODS "/two/log", 400, "a container name must be specified for pod two, choose one of: [i c d]");
    refused(l, PODS "/two/log?container=x", 400, "container x is not valid for pod two");
    refused(l, PODS "/web/log?previous=true", 400, "previous terminated container \"c\" in pod \"web\" not found");
    refused(l, PODS "/lost/log", 500,
            "Get \"https://10.0.0.1:10250/containerLogs/default/lost/c\": dial tcp 10.0.0.1:10250: connect: connection "
            "refused");
    refused(l, PODS "/nowhere/log", 404, "pods \"nope\" not found");
    refused(l, PODS "/web/log?tailLines=-1", 422,
            "PodLogOptions \"web\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0");
    refused(l, PODS "/web/log?sinceTime=foo", 400,
            "parsing time \"foo\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"foo\" as \"2006\"");
    refused(l, PODS "/web/log?stream=Stdout", 422,
            "PodLogOptions \"web\" is invalid: stream: Forbidden: may not be specified");
    check_ok("a new pod",
             kube_load(l->b.kube, "objects",
                       STR("apiVersion: v1\nkind: Pod\nmetadata: {name: new, namespace: default}\n"
                           "spec: {nodeName: n1, containers: [{name: c, image: i}]}\n"),
                       &e),
             &e);
    refused(l, PODS "/new/log", 400, "container \"c\" in pod \"new\" is waiting to start: ContainerCreating");
}

/* Follows, and then does not look for ten minutes. */
struct sleeper {
    struct logs *l;
    uint64_t n_bytes;
    bool saw_last, over;
};

static void sleep_and_read(void *arg)
{
    struct sleeper *z = arg;
    struct world *w = z->l->b.client;
    AUTO(arena) struct arena *a = arena_new(0);
    struct http_request q = {.url = STR(BENCH_URL PODS "/web/log?follow=true")};
    struct http_response head;
    struct err e;
    str bytes;
    struct http_stream *s = http_open(w, &q, a, &head, &e);

    fiber_sleep_us(w, 600 * INT64_C(1000000));
    while (http_read(s, &bytes, &e) && bytes.n) {
        z->n_bytes += bytes.n;
        z->saw_last = str_ends(bytes, STR("the last\n"));
    }
    http_close(s);
    z->over = true;
}

static void slow_readers(void **state)
{
    struct logs *l = *state;
    struct sleeper z = {.l = l};
    struct sb line = {0};

    fiber_go(l->b.client, "sleeper", sleep_and_read, &z);
    bench_run(&l->b, 100);
    sb_fill(&line, 'x', 1000);
    for (uint32_t i = 0; i < 8000; i++) {
        say(l, "web", sb_cstr(&line));
        if (i % 100 == 0)
            bench_run(&l->b, 1);
    }
    sb_fini(&line);
    say(l, "web", "the last");
    bench_run(&l->b, 700 * 1000);
    check_true("not over", !z.over);
    check_true("has the end", z.saw_last);
    check_true("misses much of 8 MB", z.n_bytes < 3 * PODLOG_MAX_BYTES); /* 1 MB of it waited on its own side */
    check_i64("deleted", bench_call(&l->b, "DELETE", PODS "/web?gracePeriodSeconds=0", JSON_BODY, NULL)->status, 200);
    bench_run(&l->b, 1000);
    check_true("over", z.over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kubelets_words, setup, teardown),
        cmocka_unit_test_setup_teardown(what_others_write, setup, teardown),
        cmocka_unit_test_setup_teardown(options, setup, teardown),
        cmocka_unit_test_setup_teardown(following, setup, teardown),
        cmocka_unit_test_setup_teardown(writing_while_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_readers, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
