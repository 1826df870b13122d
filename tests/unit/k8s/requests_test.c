/* What one pod asks for: containers, init containers, sidecars, pod level, overhead, limits, resize in place. */
#include "base/sb.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "model/objects.h"
#include "support/check.h"

#define C(name, cpu, mem) "{name: " name ", resources: {requests: {cpu: " cpu ", memory: " mem "}}}"
#define SIDECAR(name, cpu, mem)                                                                                        \
    "{name: " name ", restartPolicy: Always, resources: {requests: {cpu: " cpu ", memory: " mem "}}}"
#define RESIZED(spec, status_requests, allocated)                                                                      \
    "spec: {containers: [{name: a, resources: {requests: {cpu: " spec "}}}]}\n"                                        \
    "status: {containerStatuses: [{name: a, resources: {requests: {cpu: " status_requests "}}" allocated "}]"

static const struct {
    const char *name, *pod, *want;
} cases[] = {
    {"nothing asked for", "spec: {containers: [{name: a}]}", "{}"},
    {"containers add up", "spec: {containers: [" C("a", "1", "1Gi") ", " C("b", "500m", "1Gi") "]}",
     "{\"cpu\":\"1500m\",\"memory\":\"2Gi\"}"},
    {"containers and sidecars add up",
     "spec: {containers: [" C("a", "1", "1Gi") "], initContainers: [" SIDECAR("s", "2", "2Gi") "]}",
     "{\"cpu\":\"3\",\"memory\":\"3Gi\"}"},
    {"init containers, sidecars and overhead",
     "spec: {containers: [" C("a", "1", "1Gi") "], initContainers: [" C("i", "10", "100Mi") ", " SIDECAR(
         "s", "2", "2Gi") "], overhead: {cpu: 5, memory: 1Gi}}",
     "{\"cpu\":\"15\",\"memory\":\"4Gi\"}"},
    {"an init container after a sidecar larger than the sum",
     "spec: {containers: [" C("a", "3", "1Gi") "], initContainers: [" SIDECAR("s", "4", "1Gi") ", " C("i", "10",
                                                                                                      "2Gi") "]}",
     "{\"cpu\":\"14\",\"memory\":\"3Gi\"}"},
    {"an init container after a sidecar smaller than the sum",
     "spec: {containers: [" C("a", "3", "4Gi") "], initContainers: [" SIDECAR("s", "4", "1Gi") ", " C("i", "2",
                                                                                                      "2Gi") "]}",
     "{\"cpu\":\"7\",\"memory\":\"5Gi\"}"},
    {"the first init container larger than everything",
     "spec: {containers: [" C("a", "3", "1Gi") "], initContainers: [" C("i", "25", "4Gi") ", " SIDECAR("s", "4",
                                                                                                       "1Gi") "]}",
     "{\"cpu\":\"25\",\"memory\":\"4Gi\"}"},
    {"sidecars and init containers interleaved",
     "spec: {containers: [" C("a", "3", "1Gi") "], initContainers: [" C("i", "2", "1Gi") ", " SIDECAR(
         "s", "1", "2Gi") ", " C("j", "1", "1Gi") ", " SIDECAR("t", "5", "1Gi") ", " C("k", "1", "1Gi") "]}",
     "{\"cpu\":\"9\",\"memory\":\"4Gi\"}"},
    {"cpu and memory have their peaks at different steps",
     "spec: {containers: [" C("a", "1", "1Gi") "], initContainers: [" C("i", "8", "1Mi") ", " C("j", "1m", "9Gi") "]}",
     "{\"cpu\":\"8\",\"memory\":\"9Gi\"}"},
    {"pod level requests replace the sums",
     "spec: {resources: {requests: {cpu: 2, memory: 1Gi}}, containers: [" C("a", "3", "3Gi") "]}",
     "{\"cpu\":\"2\",\"memory\":\"1Gi\"}"},
    {"pod level requests leave other resources alone",
     "spec: {resources: {requests: {cpu: 2, nvidia.com/gpu: 4}}, containers: [{resources: {limits: "
     "{nvidia.com/gpu: 1}}}]}",
     "{\"cpu\":\"2\",\"nvidia.com/gpu\":\"1\"}"},
    {"a pod level limit alone is the request",
     "spec: {resources: {limits: {cpu: 2, memory: 1Gi, hugepages-2Mi: 4Mi}}, containers: [{name: a}]}",
     "{\"cpu\":\"2\",\"hugepages-2Mi\":\"4Mi\",\"memory\":\"1Gi\"}"},
    {"a pod level limit yields to what containers request",
     "spec: {resources: {limits: {cpu: 8}}, containers: [{resources: {requests: {cpu: 1}}}]}", "{\"cpu\":\"1\"}"},
    {"a container's limit is its missing request",
     "spec: {containers: [{resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}]}",
     "{\"cpu\":\"1\",\"memory\":\"1Gi\"}"},
    {"an init container's too", "spec: {containers: [{name: a}], initContainers: [{resources: {limits: {cpu: 2}}}]}",
     "{\"cpu\":\"2\"}"},
    {"zero is not absence", "spec: {containers: [{resources: {requests: {example.com/x: 0}}}]}",
     "{\"example.com/x\":\"0\"}"},
    {"resized in place: allocated more than the spec says", RESIZED("1", "1", ", allocatedResources: {cpu: 3}") "}",
     "{\"cpu\":\"3\"}"},
    {"resized in place: allocated less", RESIZED("2", "1", ", allocatedResources: {cpu: 1}") "}", "{\"cpu\":\"2\"}"},
    {"resized in place: nothing allocated", RESIZED("2", "1", "") "}", "{\"cpu\":\"2\"}"},
    {"resized in place: still running with more", RESIZED("2", "4", "") "}", "{\"cpu\":\"4\"}"},
    {"an infeasible resize does not count",
     RESIZED("9", "1",
             ", allocatedResources: {cpu: 2}") ", conditions: [{type: PodResizePending, reason: Infeasible}]}",
     "{\"cpu\":\"2\"}"},
    {"a deferred one does",
     RESIZED("9", "1", ", allocatedResources: {cpu: 2}") ", conditions: [{type: PodResizePending, reason: Deferred}]}",
     "{\"cpu\":\"9\"}"},
    {"a status without resources is not looked at",
     "spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}\n"
     "status: {containerStatuses: [{name: a, allocatedResources: {cpu: 3}}]}",
     "{\"cpu\":\"1\"}"},
};

static void check_sums(const char *name, const char *meta, const char *pod, const char *want, const char *want_limits)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    AUTO(objects) struct objects *o = objects_new(t);
    AUTO(decoder) struct decoder *d = decoder_new(o);
    const struct tree *tree;
    struct err e = {0};
    struct sb b = {0};

    sb_printf(&b, "apiVersion: v1\nkind: Pod\nmetadata: {name: p%s}\n%s", meta, pod);
    check_ok(name, tree_parse_yaml(a, "pod", sb_view(&b), &tree, &e), &e);
    check_ok(name, k8s_decode(d, tree, &e), &e);
    sb_reset(&b);
    reslist_print_json(&b, t, &o->pods.v[0].spec->requests);
    if (want)
        check_str(name, sb_view(&b), want);
    sb_reset(&b);
    reslist_print_json(&b, t, &o->pods.v[0].spec->limits);
    if (want_limits)
        check_str(name, sb_view(&b), want_limits);
    sb_fini(&b);
}

static void check_requests(const char *name, const char *meta, const char *pod, const char *want)
{
    check_sums(name, meta, pod, want, NULL);
}

static void effective_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_requests(cases[i].name, "", cases[i].pod, cases[i].want);
}

/* An API server would have turned them into requests when it made the pod. */
static void limits_of_a_pod_that_exists(void **state)
{
    (void)state;
    check_requests(
        "stay limits", ", uid: u1",
        "spec: {resources: {limits: {memory: 4Gi}}, containers: [{resources: {limits: {cpu: 2}, requests: {x: 1}}}]}",
        "{\"x\":\"1\"}");
}

#define L(name, more, cpu, mem) "{name: " name more ", resources: {limits: {cpu: " cpu ", memory: " mem "}}}"
#define ALWAYS ", restartPolicy: Always"

static const struct {
    const char *name, *spec, *want;
} limits[] = {
    {"none", "containers: [{name: a}]", "{}"},
    {"containers add up", "containers: [" L("a", , "1", "1Gi") ", " L("b", , "500m", "1Gi") "]",
     "{\"cpu\":\"1500m\",\"memory\":\"2Gi\"}"},
    {"an init container after a sidecar larger than the sum",
     "containers: [" L("a", , "3", "1Gi") "], initContainers: [" L("s", ALWAYS, "4", "1Gi") ", " L("i", , "10",
                                                                                                   "2Gi") "]",
     "{\"cpu\":\"14\",\"memory\":\"3Gi\"}"},
    {"pod level limits replace the sums", "resources: {limits: {cpu: 2, x: 1}}, containers: [" L("a", , "3", "3Gi") "]",
     "{\"cpu\":\"2\",\"memory\":\"3Gi\"}"},
    {"overhead raises limits and makes none",
     "overhead: {cpu: 1, memory: 1Gi}, containers: [{name: a, resources: {limits: {cpu: 2}}}]", "{\"cpu\":\"3\"}"},
};

static void sums_of_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct sb b = {0};

        sb_printf(&b, "spec: {%s, schedulerName: x}", limits[i].spec);
        const char *pod = sb_cstr(&b);
        check_sums(limits[i].name, ", uid: u1", pod, NULL, limits[i].want);
        sb_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effective_requests),
        cmocka_unit_test(limits_of_a_pod_that_exists),
        cmocka_unit_test(sums_of_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
