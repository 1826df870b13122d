/* Subresources, logs, custom kinds, warnings: through the whole server, rules and schemas included. */
#include <stdio.h>

#include "support/check.h"
#include "support/kube_front.h"

#define NS "/api/v1/namespaces/default"
#define DEPLOY "/apis/apps/v1/namespaces/default/deployments"
#define WIDGETS "/apis/example.com/v1/namespaces/default/widgets"

static const char objects[] =
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: default}\n---\n"
    "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
    "status: {addresses: [{type: InternalIP, address: 10.0.0.1}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\n"
    "spec: {containers: [{name: c, image: i}, {name: d, image: i}], initContainers: [{name: i, image: i}]}\n---\n"
    "apiVersion: v1\nkind: Pod\nmetadata: {name: q, namespace: default}\nspec: {containers: [{name: c, image: i}]}\n---\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: default}\n"
    "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "
    "i}]}}}\n---\n"
    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n"
    "spec:\n"
    "  group: example.com\n"
    "  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget, shortNames: [wd]}\n"
    "  scope: Namespaced\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}}\n"
    "    additionalPrinterColumns:\n"
    "    - {name: Size, type: integer, jsonPath: .spec.size}\n"
    "    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type==\"Ready\")].status', priority: 1}\n"
    "    - {name: Born, type: date, jsonPath: .spec.born}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec: {type: object, properties: {size: {type: integer}, born: {type: string}}}\n"
    "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";

static int setup(void **state)
{
    struct kube_bench *b;
    struct err e = {0};

    (void)front_setup(state);
    b = *state;
    check_ok("objects", kube_load(b->kube, "objects", STR(objects), &e), &e);
    bench_run(b, 1000);
    return 0;
}

/* The answer to a request with this status. */
static const struct tree *ask(struct kube_bench *b, int status, const char *method, const char *path,
                              const char *headers, const char *body)
{
    const struct stream *s = bench_call(b, method, path, headers, body);
    const struct tree *t = front_tree(b, path, s);

    check_str(path, s->status == status ? STR("") : tree_str(tree_get(t, "message")), "");
    check_i64(path, s->status, status);
    return t;
}

static str message(const struct tree *t)
{
    return tree_str(tree_get(t, "message"));
}

static void scale(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t = ask(b, 200, "GET", DEPLOY "/d/scale", NULL, NULL);

    check_str("what it is", tree_str(tree_get(t, "kind")), "Scale");
    check_str("how many", tree_scalar(tree_at(t, "spec", "replicas", NULL)), "1");
    check_str("of which", tree_str(tree_at(t, "status", "selector", NULL)), "a=b");
    t = ask(b, 200, "PATCH", DEPLOY "/d/scale", MERGE, "{\"spec\":{\"replicas\":4}}");
    check_str("patched", tree_scalar(tree_at(t, "spec", "replicas", NULL)), "4");
    t = ask(b, 200, "PUT", DEPLOY "/d/scale", JSON_BODY, "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2}}");
    check_str("put", tree_scalar(tree_at(t, "spec", "replicas", NULL)), "2");
    t = ask(b, 200, "GET", DEPLOY "/d", NULL, NULL);
    check_str("the object itself", tree_scalar(tree_at(t, "spec", "replicas", NULL)), "2");
    t = ask(b, 400, "PUT", DEPLOY "/d/scale", JSON_BODY, "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"replicas\":2}}");
    check_str("another name", message(t), "the name of the object (x) does not match the name on the URL (d)");
    t = ask(b, 404, "GET", DEPLOY "/nope/scale", NULL, NULL);
    check_str("nobody", message(t), "deployments.apps \"nope\" not found");
}

static void binding_and_eviction(void **state)
{
    struct kube_bench *b = *state;
    const char *to_n1 = "{\"metadata\":{\"name\":\"q\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}";
    const struct tree *t = ask(b, 201, "POST", NS "/pods/q/binding", JSON_BODY, to_n1);

    check_str("bound", tree_str(tree_get(t, "status")), "Success");
    t = ask(b, 200, "GET", NS "/pods/q", NULL, NULL);
    check_str("bound", tree_str(tree_at(t, "spec", "nodeName", NULL)), "n1");
    t = ask(b, 409, "POST", NS "/bindings", JSON_BODY, to_n1);
    check_str("again", message(t),
              "Operation cannot be fulfilled on pods/binding \"q\": pod q is already assigned to node \"n1\"");
    (void)ask(b, 201, "POST", NS "/pods/q/eviction?dryRun=All", JSON_BODY, "{\"metadata\":{\"name\":\"q\"}}");
    t = ask(b, 200, "GET", NS "/pods/q", NULL, NULL);
    check_true("a dry run", !tree_at(t, "metadata", "deletionTimestamp", NULL));
    (void)ask(b, 201, "POST", NS "/pods/q/eviction", JSON_BODY, "{\"metadata\":{\"name\":\"q\"}}");
    t = ask(b, 200, "GET", NS "/pods/q", NULL, NULL);
    check_true("evicted", tree_at(t, "metadata", "deletionTimestamp", NULL) != NULL);
    t = ask(b, 404, "POST", NS "/pods/nope/eviction", JSON_BODY, "{\"metadata\":{\"name\":\"nope\"}}");
    check_str("nobody", message(t), "pods \"nope\" not found");
}

static void logs_without_kubelets(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t = ask(b, 400, "GET", NS "/pods/p/log", NULL, NULL);

    check_str("which container", message(t), "a container name must be specified for pod p, choose one of: [i c d]");
    check_i64("on no node yet", bench_call(b, "GET", NS "/pods/q/log", NULL, NULL)->status, 204);
    (void)ask(b, 201, "POST", NS "/pods/q/binding", JSON_BODY,
              "{\"metadata\":{\"name\":\"q\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}");
    t = ask(b, 500, "GET", NS "/pods/q/log", NULL, NULL);
    check_str(
        "nobody there", message(t),
        "Get \"https://10.0.0.1:10250/containerLogs/default/q/c\": dial tcp 10.0.0.1:10250: connect: connection refused");
}

static void custom_kinds(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t =
        ask(b, 201, "POST", WIDGETS, JSON_BODY,
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},\"spec\":{\"size\":3,"
            "\"born\":\"2025-12-31T23:00:00Z\"}}");

    t = ask(b, 200, "GET", WIDGETS, TABLE, NULL);
    const struct tree *cells = tree_get(&tree_get(t, "rows")->items[0], "cells");
    check_str("name", tree_str(&cells->items[0]), "w");
    check_str("size", tree_scalar(&cells->items[1]), "3");
    check_true("not ready", cells->items[2].kind == TREE_NULL);
    check_str("born", tree_str(&cells->items[3]), "60m"); /* the clock starts with the year */
    t = ask(b, 200, "GET", WIDGETS, NULL, NULL);
    check_str("list", tree_str(tree_get(t, "kind")), "WidgetList");
    check_str("members say what they are", tree_str(tree_get(&tree_get(t, "items")->items[0], "kind")), "Widget");
    t = ask(b, 422, "POST", WIDGETS, JSON_BODY,
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"x\"}}");
    check_str("another kind", message(t),
              "Foo.example.com \"x\" is invalid: kind: Invalid value: \"Foo\": must be Widget");
    t = ask(b, 400, "POST", WIDGETS, JSON_BODY, "{\"apiVersion\":\"v1\",\"kind\":\"Widget\"}");
    check_str("another version", message(t),
              "the API version in the data (v1) does not match the expected API version (example.com/v1)");
    t = ask(b, 400, "POST", WIDGETS, JSON_BODY, "{\"metadata\":{\"name\":\"w3\"}}");
    check_str("no kind", message(t),
              "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
              "'{\"metadata\":{\"name\":\"w3\"}}' ({\"metadata\":{\"name\":\"w3\"}})");
    t = ask(b, 415, "PATCH", WIDGETS "/w", "Content-Type: application/strategic-merge-patch+json", "{}");
    check_str("no strategy", message(t),
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
    t = ask(b, 400, "GET", WIDGETS "?fieldSelector=spec.size%3D3", NULL, NULL);
    check_str("no field selectors", message(t), "field label not supported: spec.size");
    t = ask(b, 404, "GET", WIDGETS "/w/scale", NULL, NULL);
    check_str("no scale", message(t), "widgets.example.com \"w\" not found");
    check_i64("another version's path", bench_call(b, "GET", "/apis/example.com/v2/widgets", NULL, NULL)->status, 404);
}

static void warnings(void **state)
{
    struct kube_bench *b = *state;
    const char *odd = "{\"metadata\":{\"name\":\"odd\"},\"foo\":1}";
    const struct stream *s = bench_call(b, "POST", NS "/configmaps?dryRun=All", JSON_BODY, odd);

    check_i64("taken", s->status, 201);
    check_str("with a warning", stream_header(s, "Warning"), "299 - \"unknown field \\\"foo\\\"\"");
    s = bench_call(b, "POST", NS "/configmaps?dryRun=All&fieldValidation=Ignore", JSON_BODY, odd);
    check_str("without one", stream_header(s, "Warning"), "");
    const struct tree *t = ask(b, 400, "POST", NS "/configmaps?fieldValidation=Strict", JSON_BODY, odd);
    check_str(
        "not taken", message(t),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"foo\"");
}

static void managers(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t = ask(b, 201, "POST", NS "/configmaps", "User-Agent: tester/v1 (linux)",
                               "{\"metadata\":{\"name\":\"m\"},\"data\":{\"k\":\"v\"}}");
    const struct tree *fields = tree_at(t, "metadata", "managedFields", NULL);

    check_str("the client's name", tree_str(tree_get(&fields->items[0], "manager")), "tester");
    t = ask(b, 409, "PATCH", NS "/configmaps/m?fieldManager=other", "Content-Type: application/apply-patch+yaml",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {k: w}}");
    check_str("somebody else's field", message(t),
              "Apply failed with 1 conflict: conflict with \"tester\" using v1: .data.k");
    (void)ask(b, 200, "PATCH", NS "/configmaps/m?fieldManager=other&force=true",
              "Content-Type: application/apply-patch+yaml",
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {k: w}}");
    (void)ask(b, 201, "PATCH", NS "/configmaps/new?fieldManager=other", "Content-Type: application/apply-patch+yaml",
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {k: w}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scale, setup, front_teardown),
        cmocka_unit_test_setup_teardown(binding_and_eviction, setup, front_teardown),
        cmocka_unit_test_setup_teardown(logs_without_kubelets, setup, front_teardown),
        cmocka_unit_test_setup_teardown(custom_kinds, setup, front_teardown),
        cmocka_unit_test_setup_teardown(warnings, setup, front_teardown),
        cmocka_unit_test_setup_teardown(managers, setup, front_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
