/* Lists: pages of one moment, earlier moments, and what happens when they are gone. */
#include <stdio.h>

#include "support/check.h"
#include "support/kube_front.h"

/* Labelled with the first letter of its name. */
static void make(struct kube_bench *b, const char *name)
{
    front_make(b, name, (const char[]){name[0], 0});
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
    int64_t rv = 0;
    size_t n = 0;

    (void)snprintf(path, sizeof(path), CM "?%s", query);
    const struct stream *s = bench_call(b, "GET", path, NULL, NULL);
    p.t = front_tree(b, query, s);
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
    front_drop(b, "a");
    front_drop(b, "d");
    make(b, "bb");
    make(b, "f");
    front_drop(b, "f");
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
    front_drop(b, "c");
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
    front_drop(b, "a");
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

/* ---- long lists ---- */

static void make_large(struct kube_bench *b, uint32_t i, char fill)
{
    struct sb body = {0};

    sb_printf(&body, "{\"metadata\":{\"name\":\"large-%02u\"},\"data\":{\"k\":\"", i);
    sb_fill(&body, fill, 5000);
    sb_c(&body, "\"}}");
    struct stream *s =
        bench_open(b, fill == 'a' ? "POST" : "PUT", fill == 'a' ? CM : arena_printf(b->a, CM "/large-%02u%c", i, 0).p,
                   JSON_BODY, sb_view(&body));
    sb_fini(&body);
    bench_run(b, 10);
    check_i64("written", s->status / 100, 2);
    bench_close(s);
}

static void check_long_list(struct kube_bench *b, const char *name, const struct stream *s, char fill)
{
    const struct tree *items = tree_get(front_tree(b, name, s), "items");

    check_u64(name, items ? items->n : 0, 30);
    for (uint32_t i = 0; items && i < items->n; i++) {
        str data = tree_str(tree_at(&items->items[i], "data", "k", NULL));

        check_true(name, !tree_get(&items->items[i], "kind"));
        check_u64(name, data.n, 5000);
        check_u64(name, (uint64_t)data.p[0], (uint64_t)fill);
    }
}

/* It is of the moment in which it was asked for, even if the client takes it when all of it has changed or gone. */
static void long_lists(void **state)
{
    struct kube_bench *b = *state;

    for (uint32_t i = 0; i < 30; i++)
        make_large(b, i, 'a');
    check_long_list(b, "compact", bench_call(b, "GET", CM, NULL, NULL), 'a');
    check_long_list(b, "laid out", bench_call(b, "GET", CM "?pretty=true", NULL, NULL), 'a');

    sim_set_faults(b->sim, BENCH_URL, &(struct sim_faults){.delay_us = {2000000, 2000000}});
    struct stream *s = bench_open(b, "GET", CM, NULL, (str){0});
    bench_run(b, 3000); /* the server has answered, the client has not heard it yet */
    sim_set_faults(b->sim, BENCH_URL, &(struct sim_faults){0});
    check_i64("on its way", s->status, 0);
    for (uint32_t i = 0; i < 30; i++)
        make_large(b, i, 'b');
    check_i64("and gone", bench_call(b, "DELETE", CM, NULL, NULL)->status, 200);
    bench_run(b, 3000);
    check_i64("there", s->status, 200);
    check_long_list(b, "late", s, 'a');
    bench_close(s);

    for (uint32_t i = 0; i < 30; i++)
        make_large(b, i, 'a');
    sim_set_faults(b->sim, BENCH_URL, &(struct sim_faults){.delay_us = {2000000, 2000000}});
    s = bench_open(b, "GET", CM, NULL, (str){0});
    bench_run(b, 3000);
    bench_close(s); /* a client that does not wait for what is on its way */
    bench_run(b, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(pages_are_of_one_moment, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(pages_with_selectors, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(forgotten_moments, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(earlier_moments, front_setup, front_teardown),
        cmocka_unit_test_setup_teardown(long_lists, front_setup, front_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
