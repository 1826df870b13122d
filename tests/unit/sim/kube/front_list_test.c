/* Lists: pages of one moment, earlier moments, and what happens when they are gone. */
#include <stdio.h>

#include "data/reader.h"
#include "support/check.h"
#include "support/kube_bench.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define JSON_BODY "Content-Type: application/json"

static const struct kube_options options = {.version = "v1.36.3"};

static int setup(void **state)
{
    struct kube_bench *b = test_malloc(sizeof(*b));

    bench_init(b, 1, &options, NULL);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    bench_fini(*state);
    test_free(*state);
    return 0;
}

static void make(struct kube_bench *b, const char *name)
{
    char body[128];

    (void)snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%c\"}}}", name, name[0]);
    check_i64(name, bench_call(b, "POST", CM, JSON_BODY, body)->status, 201);
}

static void drop(struct kube_bench *b, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), CM "/%s", name);
    check_i64(name, bench_call(b, "DELETE", path, NULL, NULL)->status, 200);
}

/* "a b c | next, 2 left": the names of a page. */
struct page {
    const struct tree *t;
    char text[256];
    char next[512];
    uint64_t rv;
};

static struct page list(struct kube_bench *b, const char *query)
{
    struct page p = {0};
    char path[1024];
    struct err e = {0};
    int64_t rv = 0;
    size_t n = 0;

    (void)snprintf(path, sizeof(path), CM "?%s", query);
    const struct stream *s = bench_call(b, "GET", path, NULL, NULL);
    check_ok(query, tree_parse_json(b->a, "list", (str){s->body.p, s->body.n}, &p.t, &e), &e);
    const struct tree *items = tree_get(p.t, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        n += (size_t)snprintf(p.text + n, sizeof(p.text) - n, "%s" STR_FMT, i ? " " : "",
                              STR_ARG(tree_str(tree_at(&items->items[i], "metadata", "name", NULL))));
    str next = tree_str(tree_at(p.t, "metadata", "continue", NULL));
    str left = tree_scalar(tree_at(p.t, "metadata", "remainingItemCount", NULL));
    (void)snprintf(p.next, sizeof(p.next), STR_FMT, STR_ARG(next));
    if (next.n)
        n += (size_t)snprintf(p.text + n, sizeof(p.text) - n, " |");
    if (left.n)
        (void)snprintf(p.text + n, sizeof(p.text) - n, " " STR_FMT " left", STR_ARG(left));
    if (s->status != 200)
        (void)snprintf(p.text, sizeof(p.text), "%d " STR_FMT, s->status, STR_ARG(tree_str(tree_get(p.t, "reason"))));
    (void)str_to_i64(tree_str(tree_at(p.t, "metadata", "resourceVersion", NULL)), &rv);
    p.rv = (uint64_t)rv;
    return p;
}

static struct page follow(struct kube_bench *b, const struct page *p, const char *more)
{
    char query[768];

    (void)snprintf(query, sizeof(query), "continue=%s%s", p->next, more);
    return list(b, query);
}

static void five(struct kube_bench *b)
{
    static const char *const names[] = {"c", "a", "e", "b", "d"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        make(b, names[i]);
}

static void pages(void **state)
{
    struct kube_bench *b = *state;

    five(b);
    struct page p = list(b, "limit=2");
    check_str("first", str_c(p.text), "a b | 3 left");
    p = follow(b, &p, "&limit=2");
    check_str("second", str_c(p.text), "c d | 1 left");
    p = follow(b, &p, "&limit=2");
    check_str("last", str_c(p.text), "e");
    check_str("a page as large as the list", str_c(list(b, "limit=5").text), "a b c d e");
    check_str("no limit", str_c(list(b, "limit=0").text), "a b c d e");
    check_str("a limit that makes no sense", str_c(list(b, "limit=-1").text), "a b c d e");
    check_str("any age comes whole", str_c(list(b, "limit=2&resourceVersion=0").text), "a b c d e");
}

static void pages_are_of_one_moment(void **state)
{
    struct kube_bench *b = *state;

    five(b);
    struct page p = list(b, "limit=2");
    uint64_t rv = p.rv;
    drop(b, "a");
    drop(b, "d");
    make(b, "bb");
    make(b, "f");
    drop(b, "f");
    make(b, "a");
    p = follow(b, &p, "");
    check_str("the rest as it was", str_c(p.text), "c d e");
    check_u64("the moment", p.rv, rv);
    check_str("what is there now", str_c(list(b, "").text), "a b bb c e");
}

static void pages_with_selectors(void **state)
{
    struct kube_bench *b = *state;

    five(b);
    make(b, "cc");
    struct page p = list(b, "limit=1&labelSelector=l+in+(b,c)");
    check_str("first", str_c(p.text), "b |"); /* how many are left is not known */
    p = follow(b, &p, "&limit=1&labelSelector=l+in+(b,c)");
    check_str("second", str_c(p.text), "c |");
    p = follow(b, &p, "&limit=1&labelSelector=l+in+(b,c)");
    check_str("third", str_c(p.text), "cc");
    check_str("by name", str_c(list(b, "fieldSelector=metadata.name%3Dd").text), "d");
    check_str("but for a name", str_c(list(b, "fieldSelector=metadata.name!%3Dd").text), "a b c cc e");
}

static void forgotten_moments(void **state)
{
    struct kube_bench *b = *state;

    five(b);
    struct page p = list(b, "limit=2"), first = p;
    drop(b, "c");
    kube_compact(b->kube);
    p = follow(b, &first, "");
    check_str("too old", str_c(p.text), "410 Expired");
    check_true("a token to go on with", p.next[0] != 0);
    p = follow(b, &p, "");
    check_str("what is there now, from there on", str_c(p.text), "d e");
}

static void earlier_moments(void **state)
{
    struct kube_bench *b = *state;
    char query[128];

    make(b, "a");
    uint64_t rv = kube_rv(b->kube);
    make(b, "b");
    drop(b, "a");
    (void)snprintf(query, sizeof(query), "resourceVersionMatch=Exact&resourceVersion=%llu", (unsigned long long)rv);
    struct page p = list(b, query);
    check_str("exactly then", str_c(p.text), "a");
    check_u64("exactly then", p.rv, rv);
    (void)snprintf(query, sizeof(query), "limit=1&resourceVersion=%llu", (unsigned long long)rv);
    check_str("a page of then", str_c(list(b, query).text), "a");
    (void)snprintf(query, sizeof(query), "resourceVersion=%llu", (unsigned long long)rv);
    check_str("not older", str_c(list(b, query).text), "b");
    (void)snprintf(query, sizeof(query), "resourceVersionMatch=NotOlderThan&resourceVersion=%llu",
                   (unsigned long long)rv);
    check_str("not older, in words", str_c(list(b, query).text), "b");
    check_str("in the future", str_c(list(b, "resourceVersion=99999").text), "504 Timeout");
    check_str("exactly in the future", str_c(list(b, "resourceVersionMatch=Exact&resourceVersion=99999").text),
              "504 Timeout");
    kube_compact(b->kube);
    (void)snprintf(query, sizeof(query), "resourceVersionMatch=Exact&resourceVersion=%llu", (unsigned long long)rv);
    check_str("forgotten", str_c(list(b, query).text), "410 Expired");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_are_of_one_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_with_selectors, setup, teardown),
        cmocka_unit_test_setup_teardown(forgotten_moments, setup, teardown),
        cmocka_unit_test_setup_teardown(earlier_moments, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
