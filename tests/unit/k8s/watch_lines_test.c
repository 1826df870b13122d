#include "k8s/watch_lines.h"

#include <stdio.h>

#include "base/rng.h"
#include "base/sb.h"
#include "support/check.h"
#include "support/trees.h"

struct heard {
    struct sb text;
    uint32_t n, stop_after; /* 0: never */
};

static bool hear(void *ctx, str type, struct tree *obj)
{
    struct heard *h = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    sb_str(&h->text, type);
    sb_char(&h->text, ' ');
    sb_str(&h->text, tree_text(a, obj));
    sb_char(&h->text, '\n');
    return ++h->n != h->stop_after;
}

static const struct {
    const char *name, *bytes, *want, *err;
} cases[] = {
    {"one", "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n", "ADDED {\"a\":1}\n", ""},
    {"two", "{\"type\":\"A\",\"object\":{}}\n{\"type\":\"B\",\"object\":{}}\n", "A {}\nB {}\n", ""},
    {"empty lines", "\n \r\n{\"type\":\"A\",\"object\":{}}\n\n", "A {}\n", ""},
    {"half a line is nothing yet", "{\"type\":\"A\",\"object\":{}}\n{\"type\":\"B\",\"obj", "A {}\n", ""},
    {"escapes", "{\"type\":\"A\",\"object\":{\"k\":\"a\\nb\\u00e4\"}}\n", "A {\"k\":\"a\\nb\xc3\xa4\"}\n", ""},
    {"no object", "{\"type\":\"A\"}\n", "A absent\n", ""},
    {"no type", "{\"object\":{}}\n", "", "an event of a watch has no type"},
    {"no map", "[]\n", "", "an event of a watch has no type"},
    {"no JSON", "{\"type\":\"A\",\"object\":{}}\nbad\n{\"type\":\"B\"}\n", "A {}\n",
     "event:1:1: character that is not allowed here"},
    {"a key twice", "{\"type\":\"A\",\"type\":\"B\"}\n", "", "event:1:13: key \"type\" appears twice"},
};

static void feed_in_pieces(const char *name, str bytes, struct rng *rng, uint32_t most, const char *want,
                           const char *want_err)
{
    struct watch_lines l;
    struct heard h = {0};
    struct err e = {0};
    bool ok = true;

    watch_lines_init(&l);
    while (ok && bytes.n) {
        size_t n = MIN(bytes.n, (size_t)1 + rng_below(rng, most));

        ok = watch_lines_feed(&l, str_sub(bytes, 0, n), hear, &h, &e);
        bytes = str_sub(bytes, n, bytes.n);
    }
    check_str(name, sb_view(&h.text), want);
    check_str(name, str_c(e.msg), want_err);
    check_true(name, ok == !want_err[0]);
    sb_fini(&h.text);
    watch_lines_fini(&l);
}

static void lines(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (uint32_t most = 1; most < 200; most += 13)
            feed_in_pieces(cases[i].name, str_c(cases[i].bytes), &rng, most, cases[i].want, cases[i].err);
}

static void enough(void **state)
{
    struct watch_lines l;
    struct heard h = {.stop_after = 1};
    struct err e;

    (void)state;
    watch_lines_init(&l);
    check_true("no error", watch_lines_feed(&l, STR("{\"type\":\"A\"}\n{\"type\":\"B\"}\nbad\n"), hear, &h, &e));
    check_u64("one was enough", h.n, 1);
    watch_lines_reset(&l);
    check_true("a new stream", watch_lines_feed(&l, STR("{\"type\":\"C\"}\n"), hear, &h, &e));
    check_u64("a new stream", h.n, 2);
    sb_fini(&h.text);
    watch_lines_fini(&l);
}

static void count(struct watch_lines *l, size_t n_bytes, bool end, bool *ret_ok, uint32_t *ret_n, size_t *ret_cap)
{
    struct sb piece = {0};
    struct heard h = {0};
    struct err e = {0};
    bool ok = true;

    sb_c(&piece, "{\"type\":\"A\",\"object\":{\"k\":[");
    sb_fill(&piece, '1', 1);
    while (piece.n < n_bytes)
        sb_c(&piece, ",\"0123456789012345678901234567890123456789012345678901234567890123456789\"");
    if (end)
        sb_c(&piece, "]}}\n");
    *ret_cap = 0;
    for (size_t at = 0; ok && at < piece.n; at += 100000) {
        ok = watch_lines_feed(l, str_sub(sb_view(&piece), at, at + 100000), hear, &h, &e);
        *ret_cap = MAX(*ret_cap, l->cap);
    }
    *ret_ok = ok;
    *ret_n = h.n;
    sb_fini(&h.text);
    sb_fini(&piece);
}

static void sizes(void **state)
{
    struct watch_lines l;
    uint32_t n;
    size_t cap;
    bool ok;

    (void)state;
    watch_lines_init(&l);
    count(&l, 7u << 20, true, &ok, &n, &cap);
    check_true("a large object", ok && n == 1);
    check_true("leaves nothing behind", l.cap == 0 && arena_bytes(l.arena) < (1u << 20));
    count(&l, 20u << 20, false, &ok, &n, &cap);
    check_true("one that is too large", !ok && n == 0);
    check_true("is not kept in memory", cap < WATCH_MAX_LINE + (256u << 10));
    watch_lines_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(enough),
        cmocka_unit_test(sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
