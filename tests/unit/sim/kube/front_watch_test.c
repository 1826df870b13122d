/* Watches: where they begin, what selectors make of events, bookmarks, ends. */
#include <stdio.h>

#include "data/reader.h"
#include "net/fiber.h"
#include "support/check.h"
#include "support/kube_front.h"

static void relabel(struct kube_bench *b, const char *name, const char *label)
{
    char path[128], body[128];

    (void)snprintf(path, sizeof(path), CM "/%s", name);
    (void)snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"l\":\"%s\"}}}", label);
    check_i64(name, bench_call(b, "PATCH", path, MERGE, body)->status, 200);
}

static struct stream *watch(struct kube_bench *b, const char *query, const char *headers)
{
    char path[512];

    (void)snprintf(path, sizeof(path), CM "?watch=1&%s", query);
    struct stream *s = bench_open(b, "GET", path, headers, (str){0});
    bench_run(b, 10);
    return s;
}

/* "ADDED a=x, DELETED a=x": what has come so far, and forgets it. */
static str seen(struct kube_bench *b, struct stream *s)
{
    struct sb out = {0};
    str rest = sb_view(&s->body), line;

    while (str_cut(rest, '\n', &line, &rest)) {
        const struct tree *t = NULL;
        struct err e = {0};

        check_ok("an event", tree_parse_json(b->a, "event", line, &t, &e), &e);
        const struct tree *obj = tree_get(t, "object"), *meta = tree_get(obj, "metadata");
        str type = tree_str(tree_get(t, "type"));

        sb_c(&out, out.n ? ", " : "");
        sb_str(&out, type);
        if (str_is(type, "ERROR")) {
            sb_printf(&out, " " STR_FMT, STR_ARG(tree_scalar(tree_get(obj, "code"))));
        } else if (str_is(type, "BOOKMARK")) {
            sb_c(&out, tree_get(meta, "annotations") ? " end" : "");
        } else {
            sb_printf(&out, " " STR_FMT "=" STR_FMT, STR_ARG(tree_str(tree_get(meta, "name"))),
                      STR_ARG(tree_str(tree_at(meta, "labels", "l", NULL))));
        }
    }
    sb_reset(&s->body);
    str text = sb_dup(&out, b->a);
    sb_fini(&out);
    return text;
}

static void beginnings(void **state)
{
    struct kube_bench *b = *state;
    char query[128];

    front_make(b, "a", "x");
    uint64_t rv = kube_rv(b->kube);
    front_make(b, "b", "x");
    relabel(b, "a", "y");
    front_drop(b, "b");

    struct stream *s = watch(b, "", NULL);
    check_str("what is there", seen(b, s), "ADDED a=y");
    bench_close(s);
    s = watch(b, "resourceVersion=0", NULL);
    check_str("what is there, any age", seen(b, s), "ADDED a=y");
    bench_close(s);
    (void)snprintf(query, sizeof(query), "resourceVersion=%llu", (unsigned long long)rv);
    s = watch(b, query, NULL);
    check_str("what has happened since", seen(b, s), "ADDED b=x, MODIFIED a=y, DELETED b=x");
    front_make(b, "c", "x");
    check_str("what happens", seen(b, s), "ADDED c=x");
    bench_close(s);
    s = watch(b, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", NULL);
    check_str("initial events", seen(b, s), "ADDED a=y, ADDED c=x, BOOKMARK end");
    bench_close(s);
    s = watch(b, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan", NULL);
    check_str("initial events without bookmarks", seen(b, s), "ADDED a=y, ADDED c=x");
    bench_close(s);
    s = watch(b, "sendInitialEvents=false&resourceVersionMatch=NotOlderThan", NULL);
    check_str("no initial events", seen(b, s), "");
    front_make(b, "d", "x");
    check_str("no initial events", seen(b, s), "ADDED d=x");
    bench_close(s);
    s = bench_open(b, "GET", "/api/v1/watch/namespaces/default/configmaps/c", NULL, (str){0});
    bench_run(b, 10);
    check_str("the old way, by name", seen(b, s), "ADDED c=x");
    bench_close(s);
}

static void too_old(void **state)
{
    struct kube_bench *b = *state;

    front_make(b, "a", "x");
    front_make(b, "b", "x");
    kube_compact(b->kube);
    struct stream *s = watch(b, "resourceVersion=1", NULL);
    check_i64("the head is fine", s->status, 200);
    check_str("410", seen(b, s), "ERROR 410");
    check_true("and the end", s->over && !s->broken);
    bench_close(s);
}

static void not_yet(void **state)
{
    struct kube_bench *b = *state;
    char query[128];

    front_make(b, "a", "x");
    (void)snprintf(query, sizeof(query), "resourceVersion=%llu", (unsigned long long)kube_rv(b->kube) + 1);
    struct stream *s = watch(b, query, NULL);
    front_make(b, "b", "x");
    check_str("known already", seen(b, s), "");
    front_make(b, "c", "x");
    check_str("news", seen(b, s), "ADDED c=x");
    bench_close(s);
}

static void selectors(void **state)
{
    struct kube_bench *b = *state;
    struct stream *s = watch(b, "labelSelector=l%3Dx", NULL), *n = watch(b, "fieldSelector=metadata.name%3Da", NULL);

    front_make(b, "a", "y");
    check_str("does not match", seen(b, s), "");
    relabel(b, "a", "x");
    check_str("begins to match", seen(b, s), "ADDED a=x");
    check_i64("data", bench_call(b, "PATCH", CM "/a", MERGE, "{\"data\":{\"k\":\"v\"}}")->status, 200);
    check_str("still matches", seen(b, s), "MODIFIED a=x");
    relabel(b, "a", "y");
    str line = sb_view(&s->body);
    char rv[64];
    (void)snprintf(rv, sizeof(rv), "\"resourceVersion\":\"%llu\"", (unsigned long long)kube_rv(b->kube));
    check_true("with the version of the event", str_contains(line, str_c(rv)));
    check_str("matches no longer", seen(b, s), "DELETED a=x");
    front_drop(b, "a");
    check_str("goes unseen", seen(b, s), "");
    front_make(b, "b", "x");
    front_drop(b, "b");
    check_str("comes and goes", seen(b, s), "ADDED b=x, DELETED b=x");
    check_str("by name", seen(b, n), "ADDED a=y, MODIFIED a=x, MODIFIED a=x, MODIFIED a=y, DELETED a=y");
    bench_close(s);
    bench_close(n);
}

static void bookmarks(void **state)
{
    struct kube_bench *b = *state;
    struct stream *s = watch(b, "allowWatchBookmarks=true&timeoutSeconds=150", NULL);
    struct stream *without = watch(b, "timeoutSeconds=150", NULL);

    bench_run(b, 61 * 1000);
    check_str("after a minute", seen(b, s), "BOOKMARK");
    front_make(b, "a", "x");
    bench_run(b, 60 * 1000);
    check_str("after two", seen(b, s), "ADDED a=x, BOOKMARK");
    bench_run(b, 28 * 1000);
    check_str("before the end", seen(b, s), "BOOKMARK");
    bench_run(b, 3 * 1000);
    check_true("the end", s->over && !s->broken);
    check_str("nobody asked", seen(b, without), "ADDED a=x");
    check_true("the end", without->over && !without->broken);
    bench_close(s);
    bench_close(without);
}

static void ends(void **state)
{
    struct kube_bench *b = *state;
    struct stream *s = watch(b, "", NULL);

    bench_run(b, 29 * 60 * 1000);
    check_true("half an hour at least", !s->over);
    bench_run(b, 32 * 60 * 1000);
    check_true("an hour at most", s->over && !s->broken);
    bench_close(s);
    s = watch(b, "", NULL);
    kube_drop_watches(b->kube);
    bench_run(b, 10);
    check_true("the server restarts", s->over && s->broken);
    bench_close(s);
    s = watch(b, "", NULL);
    bench_close(s); /* the client leaves */
    bench_run(b, 10);
    front_make(b, "a", "x");
}

static void tables(void **state)
{
    struct kube_bench *b = *state;

    front_make(b, "a", "x");
    struct stream *s = watch(b, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io");
    front_make(b, "b", "x");
    str first = {0}, second = {0}, rest = sb_view(&s->body);
    check_true("two lines", str_cut(rest, '\n', &first, &rest) && str_cut(rest, '\n', &second, &rest));
    check_true("columns come first", str_contains(first, STR("\"columnDefinitions\":[")));
    check_true("and only once", str_contains(second, STR("\"columnDefinitions\":null")));
    check_true("a row", str_contains(second, STR("\"rows\":[{\"cells\":[\"b\",")));
    bench_close(s);
}

/* ---- a client that does not read ---- */

struct sleeper {
    struct kube_bench *b;
    size_t n_bytes;
    bool over, broken;
};

static void sleep_and_read(void *arg)
{
    struct sleeper *z = arg;
    AUTO(arena) struct arena *a = arena_new(0);
    struct http_request q = {.url = STR(BENCH_URL CM "?watch=1")};
    struct http_response head;
    struct err e;
    str bytes;
    struct http_stream *s = http_open(z->b->client, &q, a, &head, &e);

    fiber_sleep_us(z->b->client, 600 * INT64_C(1000000));
    for (;;) {
        z->broken = !http_read(s, &bytes, &e);
        if (z->broken || bytes.n == 0)
            break;
        z->n_bytes += bytes.n;
    }
    http_close(s);
    z->over = true;
}

static void slow_readers(void **state)
{
    struct kube_bench *b = *state;
    struct sleeper z = {.b = b};
    struct sb body = {0};

    front_make(b, "a", "x");
    fiber_go(b->client, "sleeper", sleep_and_read, &z);
    bench_run(b, 10);
    for (uint32_t i = 0; i < 60; i++) {
        sb_reset(&body);
        sb_printf(&body, "{\"data\":{\"k\":\"%u", i);
        sb_fill(&body, 'x', 400000);
        sb_c(&body, "\"}}");
        check_i64("write", bench_call(b, "PATCH", CM "/a", MERGE, sb_cstr(&body))->status, 200);
    }
    sb_fini(&body);
    bench_run(b, 700 * 1000);
    check_true("cut off", z.over && z.broken);
    check_true("before 24 MB were waiting for it", z.n_bytes < 18u << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beginnings, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(too_old, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(not_yet, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(selectors, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(bookmarks, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(ends, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(tables, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(slow_readers, front_setup, front_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
