/* Requests one by one: what a real API server answers, status and sentence. */
#include <stdio.h>

#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"
#include "support/kube_front.h"

#define APPLY "Content-Type: application/apply-patch+yaml"

/* ---- refusals ---- */

static const struct {
    const char *name, *method, *path, *headers, *body;
    int status;
    const char *message; /* of the Status; NULL: the body is plain text */
} refusals[] = {
    {"an unknown path", "GET", "/nope", NULL, NULL, 404, NULL},
    {"an empty segment", "GET", "//api/v1", NULL, NULL, 404, NULL},
    {"an unknown group", "GET", "/apis/nope/v1", NULL, NULL, 404, NULL},
    {"a resource of an unknown group", "GET", "/apis/nope/v1/things", NULL, NULL, 404, NULL},
    {"an unknown version", "GET", "/apis/apps/v2", NULL, NULL, 404, "the server could not find the requested resource"},
    {"an unknown resource", "GET", "/api/v1/nope", NULL, NULL, 404, "the server could not find the requested resource"},
    {"an unknown subresource", "GET", CM "/a/nope", NULL, NULL, 404,
     "the server could not find the requested resource"},
    {"too long a path", "GET", CM "/a/b/c/d", NULL, NULL, 404, "the server could not find the requested resource"},
    {"a namespaced name without a namespace", "GET", "/api/v1/configmaps/a", NULL, NULL, 404,
     "the server could not find the requested resource"},
    {"a cluster's kind in a namespace", "GET", "/api/v1/namespaces/default/nodes", NULL, NULL, 404,
     "the server could not find the requested resource"},
    {"a slash in a name", "GET", CM "/a%2fb", NULL, NULL, 404, "the server could not find the requested resource"},
    {"a bad escape", "GET", CM "/a%2", NULL, NULL, 400, "invalid URL escape \"a%2\""},
    {"an object that is not there", "GET", CM "/nope", NULL, NULL, 404, "configmaps \"nope\" not found"},
    {"a method that makes no sense", "PUT", CM, NULL, "{}", 405,
     "the server does not allow this method on the requested resource"},
    {"creating in all namespaces", "POST", "/api/v1/configmaps", NULL, "{}", 405,
     "the server does not allow this method on the requested resource"},
    {"creating by name", "POST", CM "/a", NULL, "{}", 405,
     "the server does not allow this method on the requested resource"},
    {"deleting all namespaces", "DELETE", "/api/v1/namespaces", NULL, NULL, 405,
     "the server does not allow this method on the requested resource"},
    {"options", "OPTIONS", CM, NULL, NULL, 405, "the server does not allow this method on the requested resource"},
    {"reading reviews", "GET", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", NULL, NULL, 405,
     "the server does not allow this method on the requested resource"},
    {"posting to /version", "POST", "/version", NULL, "{}", 405,
     "the server does not allow this method on the requested resource"},

    {"a form that nobody has", "GET", CM, "Accept: text/html", NULL, 406,
     "only the following media types are accepted: application/json, application/yaml"},
    {"a table of another version", "GET", CM, "Accept: application/json;as=Table;v=v2;g=meta.k8s.io", NULL, 406,
     "only the following media types are accepted: application/json, application/yaml"},
    {"a watch in YAML", "GET", CM "?watch=1", "Accept: application/yaml", NULL, 406,
     "only the following media types are accepted: application/json;stream=watch"},
    {"metadata of one object, of a list", "GET", CM,
     "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", NULL, 406,
     "you requested PartialObjectMetadata, but the requested object is a list (ConfigMapList)"},
    {"what to include in a table", "GET", CM "?includeObject=x", TABLE, NULL, 400,
     "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must be 'Metadata', 'Object', 'None', or "
     "empty"},

    {"a limit that is no number", "GET", CM "?limit=x", NULL, NULL, 400,
     "strconv.ParseInt: parsing \"x\": invalid syntax"},
    {"a token that is none", "GET", CM "?continue=xx", NULL, NULL, 400,
     "invalid continue token: continue key is not valid"},
    {"a token and a version", "GET",
     CM "?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJkZWZhdWx0L2EifQ&resourceVersion=1", NULL, NULL,
     400, "specifying resource version is not allowed when using continue"},
    {"a version that is no number, in a list", "GET", CM "?resourceVersion=abc", NULL, NULL, 400,
     "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"},
    {"a version that is no number, in a watch", "GET", CM "?resourceVersion=abc&watch=1", NULL, NULL, 500,
     "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"},
    {"matching nothing", "GET", CM "?resourceVersionMatch=Exact", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
     "resourceVersion is provided"},
    {"matching in an unknown way", "GET", CM "?resourceVersionMatch=Foo&resourceVersion=1", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", "
     "\"NotOlderThan\", \"\""},
    {"exactly any version", "GET", CM "?resourceVersionMatch=Exact&resourceVersion=0", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
     "resourceVersion \"0\""},
    {"initial events of a list", "GET", CM "?sendInitialEvents=true", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
    {"initial events without a match", "GET", CM "?watch=1&sendInitialEvents=true", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
     "resourceVersionMatch to NotOlderThan"},
    {"initial events with a wrong match", "GET", CM "?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", NULL,
     NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
     "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \"Exact\": supported values: "
     "\"NotOlderThan\"]"},
    {"a match of a plain watch", "GET", CM "?watch=1&resourceVersionMatch=NotOlderThan", NULL, NULL, 422,
     "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
     "unless sendInitialEvents is provided"},
    {"a bad label selector", "GET", CM "?labelSelector=a%20b", NULL, NULL, 400,
     "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},

    {"no body", "POST", CM, JSON_BODY, "", 400,
     "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected "
     "end of JSON input (<empty>)"},
    {"half a body", "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"b\"}", 400,
     "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected "
     "end of JSON input ({\"metadata\":{\"name\":\"b\"})"},
    {"a body of an unknown type", "POST", CM, "Content-Type: text/plain", "{}", 415,
     "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, "
     "application/vnd.kubernetes.protobuf"},
    {"a body that is no protobuf", "POST", CM, "Content-Type: application/vnd.kubernetes.protobuf", "xx", 400,
     "the object provided is unrecognized (must be of type ConfigMap): the body does not begin as protobuf of Kubernetes does "
     "(7878)"},
    {"another kind", "POST", CM, JSON_BODY, "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}",
     400,
     "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown "
     "conversion"},
    {"a kind of another group", "POST", CM, JSON_BODY, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}", 400,
     "Deployment in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown "
     "conversion"},
    {"an unknown version of the kind", "POST", CM, JSON_BODY, "{\"apiVersion\":\"v2\",\"kind\":\"ConfigMap\"}", 400,
     "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"v2\" in "
     "scheme \"pkg/runtime/scheme.go:111\""},
    {"another namespace", "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"b\",\"namespace\":\"other\"}}", 400,
     "the namespace of the provided object does not match the namespace sent on the request"},
    {"no name", "POST", CM, JSON_BODY, "{\"metadata\":{}}", 422,
     "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
    {"there already", "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}", 409, "configmaps \"a\" already exists"},
    {"an unknown dry run", "POST", CM "?dryRun=Foo", JSON_BODY, "{\"metadata\":{\"name\":\"b\"}}", 422,
     "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Foo\"]: supported values: \"All\""},
    {"an unknown validation", "POST", CM "?fieldValidation=Foo", JSON_BODY, "{\"metadata\":{\"name\":\"b\"}}", 422,
     "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Foo\": supported values: \"\", \"Ignore\", "
     "\"Strict\", \"Warn\""},

    {"updating under another name", "PUT", CM "/a", JSON_BODY, "{\"metadata\":{\"name\":\"b\"}}", 400,
     "the name of the object (b) does not match the name on the URL (a)"},
    {"updating without a name", "PUT", CM "/a", JSON_BODY, "{\"metadata\":{}}", 400,
     "the name of the object (a based on URL) was undeterminable: name must be provided"},
    {"updating in another namespace", "PUT", CM "/a", JSON_BODY,
     "{\"metadata\":{\"name\":\"a\",\"namespace\":\"other\"}}", 400,
     "the namespace of the provided object does not match the namespace sent on the request"},
    {"updating an old version", "PUT", CM "/a", JSON_BODY, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}",
     409,
     "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest "
     "version and try again"},
    {"updating what is not there", "PUT", CM "/nope", JSON_BODY, "{\"metadata\":{\"name\":\"nope\"}}", 404,
     "configmaps \"nope\" not found"},

    {"half a patch", "PATCH", CM "/a", MERGE, "{\"data\"", 400, "error decoding patch: unexpected end of JSON input"},
    {"patching the name", "PATCH", CM "/a", MERGE, "{\"metadata\":{\"name\":\"b\"}}", 400,
     "the name of the object (b) does not match the name on the URL (a)"},
    {"patching what is not there", "PATCH", CM "/nope", MERGE, "{}", 404, "configmaps \"nope\" not found"},
    {"a patch of an unknown type", "PATCH", CM "/a", JSON_BODY, "{}", 415, "415: Unsupported Media Type"},
    {"force without apply", "PATCH", CM "/a?force=true", MERGE, "{}", 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"},
    {"applying without a manager", "PATCH", CM "/a", APPLY, "{}", 422,
     "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"},
    {"applying nothing", "PATCH", CM "/a?fieldManager=x", APPLY, "", 400, "invalid object type: /, Kind="},
    {"applying another kind", "PATCH", CM "/a?fieldManager=x", APPLY, "{apiVersion: v1, kind: Secret}", 400,
     "invalid object type: /v1, Kind=Secret"},
    {"applying another name", "PATCH", CM "/a?fieldManager=x", APPLY,
     "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}", 400,
     "the name of the object (b) does not match the name on the URL (a)"},
    {"applying something new without a name", "PATCH", CM "/new?fieldManager=x", APPLY,
     "{apiVersion: v1, kind: ConfigMap}", 400,
     "the name of the object (new based on URL) was undeterminable: name must be provided"},

    {"deleting what is not there", "DELETE", CM "/nope", NULL, NULL, 404, "configmaps \"nope\" not found"},
    {"an unknown propagation", "DELETE", CM "/a?propagationPolicy=Foo", NULL, NULL, 422,
     "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": supported values: "
     "\"Foreground\", \"Background\", \"Orphan\", \"nil\""},
    {"two propagations", "DELETE", CM "/a", JSON_BODY,
     "{\"propagationPolicy\":\"Background\",\"orphanDependents\":true}", 422,
     "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Background\": orphanDependents and "
     "deletionPropagation cannot be both set"},
    {"options of another kind", "DELETE", CM "/a", JSON_BODY, "{\"kind\":\"Foo\",\"apiVersion\":\"v1\"}", 400,
     "no kind \"Foo\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""},
    {"a grace period that is no number", "DELETE", CM "/a?gracePeriodSeconds=x", NULL, NULL, 400,
     "strconv.ParseInt: parsing \"x\": invalid syntax"},

    {"logs of nobody", "GET", "/api/v1/namespaces/default/pods/nope/log", NULL, NULL, 404, "pods \"nope\" not found"},
    {"a tail that makes no sense", "GET", "/api/v1/namespaces/default/pods/nope/log?tailLines=-1", NULL, NULL, 422,
     "PodLogOptions \"nope\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0"},
    {"two beginnings", "GET", "/api/v1/namespaces/default/pods/p/log?sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z",
     NULL, NULL, 422,
     "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"},
    {"a binding to nothing", "POST", "/api/v1/namespaces/default/pods/p/binding", JSON_BODY,
     "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Pod\"}}", 500,
     "[target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\", target.name: Required value]"},
    {"an eviction of another pod", "POST", "/api/v1/namespaces/default/pods/p/eviction", JSON_BODY,
     "{\"metadata\":{\"name\":\"q\"}}", 400, "name in URL does not match name in Eviction object"},
    {"a review of nothing", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", JSON_BODY,
     "{\"spec\":{}}", 422,
     ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes "
     "or resourceAttributes must be specified"},
    {"a review of nobody", "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", JSON_BODY,
     "{\"spec\":{\"resourceAttributes\":{}}}", 422,
     ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified"},
    {"a review of no token", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", JSON_BODY, "{\"spec\":{}}", 400,
     "token is required for TokenReview in authentication"},
    {"a token for nobody", "POST", "/api/v1/namespaces/default/serviceaccounts/nope/token", JSON_BODY, "{\"spec\":{}}",
     404, "serviceaccounts \"nope\" not found"},
};

static void refuses(void **state)
{
    struct kube_bench *b = *state;

    check_i64("an object to stumble over",
              bench_call(b, "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}")->status, 201);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const char *name = refusals[i].name;
        uint64_t rv = kube_rv(b->kube);
        const struct stream *s =
            bench_call(b, refusals[i].method, refusals[i].path, refusals[i].headers, refusals[i].body);

        check_i64(name, s->status, refusals[i].status);
        check_u64(name, kube_rv(b->kube), rv); /* nothing has changed */
        if (!refusals[i].message) {
            check_str(name, (str){s->body.p, s->body.n}, "404 page not found\n");
            continue;
        }
        const struct tree *t = front_tree(b, name, s);
        check_str(name, tree_str(tree_get(t, "message")), refusals[i].message);
        check_str(name, tree_str(tree_get(t, "kind")), "Status");
    }
}

/* What stands in details: what it is about, nothing, or not even that. */
static const struct {
    const char *name, *method, *path, *headers, *body, *want; /* NULL: no details at all */
} details[] = {
    {"no such object", "GET", CM "/nope", NULL, NULL, "{\"name\":\"nope\",\"kind\":\"configmaps\"}"},
    {"no such object of a group", "GET", "/apis/apps/v1/namespaces/default/deployments/nope", NULL, NULL,
     "{\"name\":\"nope\",\"group\":\"apps\",\"kind\":\"deployments\"}"},
    {"there already", "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}",
     "{\"name\":\"a\",\"kind\":\"configmaps\"}"},
    {"too late", "PUT", CM "/a", JSON_BODY, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}",
     "{\"name\":\"a\",\"kind\":\"configmaps\"}"},
    {"no such path", "GET", "/api/v1/foo", NULL, NULL, "{}"},
    {"no such method", "PUT", CM, JSON_BODY, "{}", "{}"},
    {"no such patch", "PATCH", CM "/a", JSON_BODY, "{}", "{}"},
    {"a patch that fails", "PATCH", CM "/a", "Content-Type: application/json-patch+json",
     "[{\"op\":\"test\",\"path\":\"/x\",\"value\":1}]", "{}"},
    {"no JSON", "POST", CM, JSON_BODY, "{", NULL},
    {"another type", "POST", CM, "Content-Type: text/plain", "{}", NULL},
    {"a bad selector", "GET", CM "?labelSelector=%3D%3D", NULL, NULL, NULL},
};

static void says_what_about(void **state)
{
    struct kube_bench *b = *state;

    check_i64("an object", bench_call(b, "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}")->status, 201);
    for (size_t i = 0; i < ARRAY_LEN(details); i++) {
        const struct stream *s = bench_call(b, details[i].method, details[i].path, details[i].headers, details[i].body);
        const struct tree *got = tree_get(front_tree(b, details[i].name, s), "details");

        check_true(details[i].name, s->status >= 400);
        check_str(details[i].name, got ? json_text(b->a, got) : STR("none"),
                  details[i].want ? details[i].want : "none");
    }
}

/* ---- ordinary life ---- */

static void lives(void **state)
{
    struct kube_bench *b = *state;
    const struct stream *s = bench_call(b, "POST", CM "?fieldManager=me", JSON_BODY,
                                        "{\"metadata\":{\"generateName\":\"g-\"},\"data\":{\"k\":\"v\"}}");
    const struct tree *t = front_tree(b, "create", s);
    str name = tree_str(tree_at(t, "metadata", "name", NULL));
    char path[128];

    check_i64("create", s->status, 201);
    check_str("create", tree_str(tree_get(t, "kind")), "ConfigMap");
    check_true("the name is made up", str_starts(name, STR("g-")) && name.n == 7);
    check_true("who is asked about is named", stream_header(s, "Audit-Id").n == 36);
    check_str("nothing is to be kept", stream_header(s, "Cache-Control"), "no-cache, private");

    (void)snprintf(path, sizeof(path), CM "/" STR_FMT, STR_ARG(name));
    s = bench_call(b, "PATCH", path, MERGE, "{\"data\":{\"k\":null,\"l\":\"w\"}}");
    t = front_tree(b, "patch", s);
    check_i64("patch", s->status, 200);
    check_true("patch", !tree_at(t, "data", "k", NULL));
    check_str("patch", tree_str(tree_at(t, "data", "l", NULL)), "w");

    s = bench_call(b, "GET", path, "Accept: application/yaml", NULL);
    check_str("YAML", stream_header(s, "Content-Type"), "application/yaml");
    check_true("YAML", str_contains((str){s->body.p, s->body.n}, STR("\nkind: ConfigMap\n")) ||
                           str_starts((str){s->body.p, s->body.n}, STR("kind: ConfigMap\n")));
    s = bench_call(b, "GET", path, "User-Agent: curl/8", NULL);
    check_true("people get indented text",
               str_contains((str){s->body.p, s->body.n}, STR("\n  \"kind\": \"ConfigMap\"")));

    s = bench_call(b, "DELETE", path, NULL, NULL);
    t = front_tree(b, "delete", s);
    check_i64("delete", s->status, 200);
    check_str("delete", tree_str(tree_get(t, "status")), "Success");
    check_str("delete", tree_str(tree_at(t, "details", "kind", NULL)), "configmaps");
    check_i64("gone", bench_call(b, "GET", path, NULL, NULL)->status, 404);
}

static void dry_run(void **state)
{
    struct kube_bench *b = *state;
    uint64_t rv = kube_rv(b->kube);

    check_i64("create", bench_call(b, "POST", CM "?dryRun=All", JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}")->status,
              201);
    check_u64("nothing happened", kube_rv(b->kube), rv);
    check_i64("not there", bench_call(b, "GET", CM "/a", NULL, NULL)->status, 404);
}

static void too_large(void **state)
{
    struct kube_bench *b = *state;
    struct sb body = {0};

    sb_fill(&body, ' ', (3u << 20) + 1);
    struct stream *s = bench_open(b, "POST", CM, JSON_BODY, sb_view(&body));
    bench_run(b, 1000);
    check_i64("413", s->status, 413);
    bench_close(s);
    sb_fini(&body);
}

static void tables(void **state)
{
    struct kube_bench *b = *state;

    (void)bench_call(b, "POST", CM, JSON_BODY, "{\"metadata\":{\"name\":\"a\"}}");
    const struct tree *t = front_tree(b, "table", bench_call(b, "GET", CM, TABLE, NULL));
    const struct tree *row = &tree_get(t, "rows")->items[0];

    check_str("kind", tree_str(tree_get(t, "kind")), "Table");
    check_str("first column", tree_str(tree_get(&tree_get(t, "columnDefinitions")->items[0], "name")), "Name");
    check_str("first cell", tree_str(&tree_get(row, "cells")->items[0]), "a");
    check_u64("as many cells as columns", tree_get(row, "cells")->n, tree_get(t, "columnDefinitions")->n);
    check_str("metadata", tree_str(tree_at(row, "object", "kind", NULL)), "PartialObjectMetadata");
    t = front_tree(b, "one", bench_call(b, "GET", CM "/a?includeObject=Object", TABLE, NULL));
    check_str("object", tree_str(tree_at(&tree_get(t, "rows")->items[0], "object", "kind", NULL)), "ConfigMap");
    t = front_tree(b, "none", bench_call(b, "GET", CM "?includeObject=None", TABLE, NULL));
    check_true("none", !tree_get(&tree_get(t, "rows")->items[0], "object"));
    t = front_tree(
        b, "metadata",
        bench_call(b, "GET", CM, "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", NULL));
    check_str("metadata alone", tree_str(tree_get(t, "kind")), "PartialObjectMetadataList");
    check_str("metadata alone", tree_str(tree_get(&tree_get(t, "items")->items[0], "kind")), "PartialObjectMetadata");
}

static void collections(void **state)
{
    struct kube_bench *b = *state;

    for (int i = 0; i < 4; i++) {
        char body[128];

        (void)snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"c%d\",\"labels\":{\"odd\":\"%d\"}}}", i, i % 2);
        (void)bench_call(b, "POST", CM, JSON_BODY, body);
    }
    const struct tree *t = front_tree(b, "odd ones", bench_call(b, "DELETE", CM "?labelSelector=odd%3D1", NULL, NULL));
    check_str("what went", tree_str(tree_get(t, "kind")), "ConfigMapList");
    check_u64("what went", tree_get(t, "items")->n, 2);
    t = front_tree(b, "even ones", bench_call(b, "GET", CM, NULL, NULL));
    check_u64("what is left", tree_get(t, "items")->n, 2);
    check_true("members do not say what they are", !tree_get(&tree_get(t, "items")->items[0], "kind"));
}

/* ---- discovery and others ---- */

static const struct tree *named(const struct tree *list, const char *key, const char *name)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], key)), name))
            return &list->items[i];
    return NULL;
}

static void discovers(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t = front_tree(b, "/api/v1", bench_call(b, "GET", "/api/v1", NULL, NULL));
    const struct tree *pods = named(tree_get(t, "resources"), "name", "pods");

    check_str("/api/v1", tree_str(tree_get(t, "kind")), "APIResourceList");
    check_str("pods", tree_str(tree_get(pods, "kind")), "Pod");
    check_true("pods/eviction", named(tree_get(t, "resources"), "name", "pods/eviction") != NULL);
    t = front_tree(b, "/apis", bench_call(b, "GET", "/apis", NULL, NULL));
    check_true("/apis", named(tree_get(t, "groups"), "name", "authorization.k8s.io") != NULL);
    t = front_tree(b, "/apis/apps", bench_call(b, "GET", "/apis/apps", NULL, NULL));
    check_str("/apis/apps", tree_str(tree_at(t, "preferredVersion", "groupVersion", NULL)), "apps/v1");

    const char *all = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const struct stream *s = bench_call(b, "GET", "/apis", all, NULL);
    t = front_tree(b, "all at once", s);
    check_str("all at once", tree_str(tree_get(t, "kind")), "APIGroupDiscoveryList");
    check_str("all at once", stream_header(s, "Content-Type"),
              "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    char again[512];
    (void)snprintf(again, sizeof(again), "%s\nIf-None-Match: " STR_FMT, all, STR_ARG(stream_header(s, "Etag")));
    s = bench_call(b, "GET", "/apis", again, NULL);
    check_i64("known already", s->status, 304);
    check_u64("known already", s->body.n, 0);
}

static void others(void **state)
{
    struct kube_bench *b = *state;
    const struct stream *s = bench_call(b, "GET", "/healthz", NULL, NULL);
    const struct tree *t = front_tree(b, "/version", bench_call(b, "GET", "/version", NULL, NULL));

    check_str("/healthz", (str){s->body.p, s->body.n}, "ok");
    check_str("/version", tree_str(tree_get(t, "minor")), "36");
    s = bench_call(b, "GET", "/readyz?verbose", NULL, NULL);
    check_true("/readyz?verbose", str_ends((str){s->body.p, s->body.n}, STR("readyz check passed\n")));
    check_i64("/metrics", bench_call(b, "GET", "/metrics", NULL, NULL)->status, 404);
    t = front_tree(b, "/", bench_call(b, "GET", "/", NULL, NULL));
    check_true("/", tree_get(t, "paths")->n > 10);
}

/* ---- who asks ---- */

static void tokens(void **state)
{
    struct kube_bench b;
    struct kube_options o = {.version = "v1.36.3", .token = "secret"};
    const char *all = "Authorization: Bearer secret\nContent-Type: application/json";
    char headers[2048];

    (void)state;
    bench_init(&b, 1, &o, NULL);
    const struct stream *s = bench_call(&b, "GET", CM, NULL, NULL);
    check_i64("nobody", s->status, 401);
    check_str("nobody", tree_str(tree_get(front_tree(&b, "nobody", s), "message")), "Unauthorized");
    check_i64("somebody else", bench_call(&b, "GET", CM, "Authorization: Bearer secreT", NULL)->status, 401);
    check_i64("health is for all", bench_call(&b, "GET", "/healthz", NULL, NULL)->status, 200);
    check_i64("one of us", bench_call(&b, "GET", CM, all, NULL)->status, 200);

    (void)bench_call(&b, "POST", "/api/v1/namespaces/default/serviceaccounts", all,
                     "{\"metadata\":{\"name\":\"bot\"}}");
    s = bench_call(&b, "POST", "/api/v1/namespaces/default/serviceaccounts/bot/token", all,
                   "{\"spec\":{\"expirationSeconds\":600}}");
    str token = tree_str(tree_at(front_tree(&b, "token", s), "status", "token", NULL));
    (void)snprintf(headers, sizeof(headers), "Authorization: Bearer " STR_FMT, STR_ARG(token));
    s = bench_call(&b, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", headers, "{}");
    check_str("a service account", tree_str(tree_at(front_tree(&b, "self", s), "status", "userInfo", "username", NULL)),
              "system:serviceaccount:default:bot");
    bench_run(&b, 601 * 1000);
    check_i64("a token that has expired", bench_call(&b, "GET", CM, headers, NULL)->status, 401);
    bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(refuses, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(says_what_about, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(lives, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(dry_run, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(too_large, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(tables, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(collections, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(discovers, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(others, front_setup, front_teardown),
        cmocka_unit_test(tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
