/* events.k8s.io/v1: the events of v1 in another shape, over HTTP. */
#include "data/reader.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define OLD "/api/v1/namespaces/default/events"
#define NEW "/apis/events.k8s.io/v1/namespaces/default/events"
#define JSON_BODY "Content-Type: application/json"
#define MERGE "Content-Type: application/merge-patch+json"
#define ABOUT "{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"p\"}"
#define GOOD                                                                                                           \
    "{\"metadata\":{\"name\":\"b\"},\"eventTime\":\"2026-01-01T00:00:00.123456Z\",\"regarding\":" ABOUT                \
    ",\"reason\":\"R\",\"action\":\"A\",\"note\":\"hello\",\"type\":\"Warning\",\"reportingController\":\"x.y/z\","    \
    "\"reportingInstance\":\"i\"}"

static int setup(void **state)
{
    struct kube_bench *b = test_malloc(sizeof(*b));

    bench_init(b, 1, &(struct kube_options){.version = "v1.36.3"}, NULL);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench_fini(*state);
    test_free(*state);
    return 0;
}

static const struct tree *ask(struct kube_bench *b, int status, const char *method, const char *path,
                              const char *headers, const char *body)
{
    const struct stream *s = bench_call(b, method, path, headers, body);
    const struct tree *t = NULL;
    struct err e = {0};

    check_ok(path, tree_parse_json(b->a, "answer", (str){s->body.p, s->body.n}, &t, &e), &e);
    check_str(path, s->status == status ? STR("") : tree_str(tree_get(t, "message")), "");
    check_i64(path, s->status, status);
    return t;
}

static str text(const struct tree *t, const char *key)
{
    return tree_scalar(tree_get(t, key));
}

static void old_seen_as_new(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t;

    (void)ask(b, 201, "POST", OLD, JSON_BODY,
              "{\"metadata\":{\"name\":\"a\"},\"involvedObject\":" ABOUT
              ",\"reason\":\"R\",\"message\":\"m\",\"source\":{\"component\":\"x\"},\"count\":3,\"type\":\"Normal\","
              "\"firstTimestamp\":\"2026-01-01T00:00:00Z\",\"lastTimestamp\":\"2026-01-01T00:00:01Z\"}");
    t = ask(b, 200, "GET", NEW "/a", NULL, NULL);
    check_str("version", text(t, "apiVersion"), "events.k8s.io/v1");
    check_str("note", text(t, "note"), "m");
    check_str("regarding", tree_str(tree_at(t, "regarding", "name", NULL)), "p");
    check_str("source", tree_str(tree_at(t, "deprecatedSource", "component", NULL)), "x");
    check_str("count", text(t, "deprecatedCount"), "3");
    check_str("first", text(t, "deprecatedFirstTimestamp"), "2026-01-01T00:00:00Z");
    check_true("nothing of the old names", !tree_get(t, "message") && !tree_get(t, "involvedObject"));
    check_true("no empty words", !tree_get(t, "reportingController") && !tree_get(t, "reportingInstance"));
    t = ask(b, 200, "GET", NEW, NULL, NULL);
    check_str("list", text(t, "kind"), "EventList");
    check_str("of that version", text(t, "apiVersion"), "events.k8s.io/v1");
    check_str("of that shape", text(&tree_get(t, "items")->items[0], "note"), "m");
}

static void new_seen_as_old(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t = ask(b, 201, "POST", NEW, JSON_BODY, GOOD);

    check_str("as it was sent", text(t, "note"), "hello");
    t = ask(b, 200, "GET", OLD "/b", NULL, NULL);
    check_str("version", text(t, "apiVersion"), "v1");
    check_str("message", text(t, "message"), "hello");
    check_str("component", text(t, "reportingComponent"), "x.y/z");
    check_str("object", tree_str(tree_at(t, "involvedObject", "name", NULL)), "p");
    const struct tree *fields = tree_at(t, "metadata", "managedFields", NULL);
    check_str("managed as it was sent", text(&fields->items[0], "apiVersion"), "events.k8s.io/v1");
    check_true("by its own names", tree_at(&fields->items[0], "fieldsV1", "f:note", NULL) != NULL);
    t = ask(b, 409, "POST", NEW, JSON_BODY, GOOD);
    check_str("twice", text(t, "message"), "events.events.k8s.io \"b\" already exists");
}

static void changing(void **state)
{
    struct kube_bench *b = *state;
    const struct tree *t;

    (void)ask(b, 201, "POST", NEW, JSON_BODY, GOOD);
    t = ask(b, 200, "PATCH", NEW "/b", MERGE,
            "{\"series\":{\"count\":2,\"lastObservedTime\":\"2026-01-01T00:00:05.000000Z\"}}");
    check_str("counted", tree_scalar(tree_at(t, "series", "count", NULL)), "2");
    t = ask(b, 422, "PATCH", NEW "/b", MERGE, "{\"note\":\"other\"}");
    check_str("the rest is fixed", text(t, "message"),
              "Event \"b\" is invalid: message: Invalid value: \"other\": field is immutable");
    t = ask(b, 200, "PATCH", OLD "/b", MERGE, "{\"message\":\"other\"}");
    check_str("but not in the old shape", text(t, "message"), "other");
    t = ask(b, 200, "DELETE", NEW "/b", NULL, NULL);
    check_str("gone", tree_str(tree_at(t, "details", "group", NULL)), "events.k8s.io");
    t = ask(b, 404, "GET", NEW "/b", NULL, NULL);
    check_str("not found", text(t, "message"), "events.events.k8s.io \"b\" not found");
    (void)ask(b, 404, "GET", OLD "/b", NULL, NULL);
}

static const struct {
    const char *name, *body, *want;
} bad[] = {
    {"without a time", "{\"metadata\":{\"name\":\"b\"},\"regarding\":" ABOUT "}",
     "Event \"b\" is invalid: [eventTime: Required value, type: Invalid value: \"\": has invalid value: ]"},
    {"with what only the old shape has",
     "{\"metadata\":{\"name\":\"b\"},\"eventTime\":\"2026-01-01T00:00:00.123456Z\",\"regarding\":" ABOUT
     ",\"reason\":\"R\",\"action\":\"A\",\"type\":\"Normal\",\"reportingController\":\"x\",\"reportingInstance\":\"i\","
     "\"deprecatedCount\":1,\"deprecatedSource\":{\"component\":\"q\"}}",
     "Event \"b\" is invalid: [count: Invalid value: \"\": needs to be unset, source: Invalid value: \"\": needs to be unset]"},
    {"a series of one",
     "{\"metadata\":{\"name\":\"b\"},\"eventTime\":\"2026-01-01T00:00:00.123456Z\",\"regarding\":" ABOUT
     ",\"reason\":\"R\",\"action\":\"A\",\"type\":\"Normal\",\"reportingController\":\"x\",\"reportingInstance\":\"i\","
     "\"series\":{\"count\":1}}",
     "Event \"b\" is invalid: [series.count: Invalid value: \"\": should be at least 2, series.lastObservedTime: Required value]"},
};

static void refused(void **state)
{
    struct kube_bench *b = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_str(bad[i].name, text(ask(b, 422, "POST", NEW, JSON_BODY, bad[i].body), "message"), bad[i].want);
    const struct tree *t = ask(b, 400, "GET", NEW "?fieldSelector=involvedObject.name%3Dp", NULL, NULL);
    check_str("fields of the other shape", text(t, "message"), "field label not supported: involvedObject.name");
    t = ask(b, 400, "POST", NEW "?fieldValidation=Strict", JSON_BODY,
            "{\"metadata\":{\"name\":\"b\"},\"message\":\"m\"}");
    check_str("members of the other shape", text(t, "message"),
              "Event in version \"v1\" cannot be handled as a Event: strict decoding error: unknown field \"message\"");
}

static void watching(void **state)
{
    struct kube_bench *b = *state;
    struct stream *s = bench_open(b, "GET", NEW "?watch=1&fieldSelector=regarding.name%3Dp,reportingController%3Dx.y/z",
                                  NULL, STR(""));

    (void)ask(b, 201, "POST", NEW, JSON_BODY, GOOD);
    (void)ask(b, 201, "POST", OLD, JSON_BODY,
              "{\"metadata\":{\"name\":\"c\"},\"involvedObject\":" ABOUT ",\"reason\":\"R\"}");
    (void)ask(b, 200, "DELETE", OLD "/b", NULL, NULL);
    bench_run(b, 1000);
    str seen = {s->body.p, s->body.n}, first, second, rest;
    (void)str_cut(seen, '\n', &first, &rest);
    (void)str_cut(rest, '\n', &second, &rest);
    check_true("added",
               str_starts(first, STR("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Event\",\"apiVersion\":\"events"
                                     ".k8s.io/v1\"")));
    check_true("in this shape", str_contains(first, STR("\"note\":\"hello\"")));
    check_true("deleted", str_starts(second, STR("{\"type\":\"DELETED\"")));
    check_true("in this shape", str_contains(second, STR("\"regarding\":{")));
    check_str("nothing else", rest, "");
    bench_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(old_seen_as_new, setup, teardown),
        cmocka_unit_test_setup_teardown(new_seen_as_old, setup, teardown),
        cmocka_unit_test_setup_teardown(changing, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(watching, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
