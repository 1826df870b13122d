/* The ring of lines behind a container's log: bounds, numbers that stay, followers. */
#include "sim/kube/podlog.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/sb.h"
#include "support/check.h"

static str line_of(const struct podlog *l, uint64_t number)
{
    int64_t at;

    return podlog_line(l, number, &at);
}

static void lines(void **state)
{
    struct podlog *l = podlog_new();
    int64_t at;

    (void)state;
    check_u64("nothing yet", podlog_next(l), 0);
    podlog_add(l, 7, STR("one"));
    podlog_add(l, 8, STR("two\n\nfour\n"));
    podlog_add(l, 9, STR(""));
    check_u64("four lines", podlog_next(l), 4);
    check_str("first", podlog_line(l, 0, &at), "one");
    check_i64("its time", at, 7);
    check_str("an empty one", line_of(l, 2), "");
    check_str("last", line_of(l, 3), "four");
    podlog_reset(l);
    check_u64("none left", podlog_first(l), podlog_next(l));
    podlog_add(l, 10, STR("five"));
    check_str("numbers go on", line_of(l, 4), "five");
    podlog_end(l);
    podlog_add(l, 11, STR("six"));
    check_u64("nothing after the end", podlog_next(l), 5);
    podlog_unref(l);
}

static void bounded_in_lines(void **state)
{
    struct podlog *l = podlog_new();
    const uint32_t n = 3 * PODLOG_MAX_LINES + 17;
    char text[16];

    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(text, sizeof(text), "%u", i);
        podlog_add(l, i, str_c(text));
    }
    check_u64("next", podlog_next(l), n);
    check_u64("first", podlog_first(l), n - PODLOG_MAX_LINES);
    for (uint32_t i = n - PODLOG_MAX_LINES; i < n; i += 997) {
        (void)snprintf(text, sizeof(text), "%u", i);
        check_str("the line of this number", line_of(l, i), text);
    }
    podlog_unref(l);
}

static void bounded_in_bytes(void **state)
{
    struct podlog *l = podlog_new();
    size_t n = 3u * PODLOG_MAX_LINE;
    char *text = test_malloc(n);
    size_t kept = 0;

    (void)state;
    memset(text, 'x', n);
    podlog_add(l, 0, (str){text, n});
    check_u64("a long line is cut", podlog_next(l), 3);
    for (int i = 0; i < 100; i++)
        podlog_add(l, 0, (str){text, PODLOG_MAX_LINE - 1});
    for (uint64_t i = podlog_first(l); i < podlog_next(l); i++)
        kept += line_of(l, i).n;
    check_true("not more than allowed", kept <= PODLOG_MAX_BYTES);
    check_true("nearly all of it", kept > PODLOG_MAX_BYTES - PODLOG_MAX_LINE);
    test_free(text);
    podlog_unref(l);
}

static void count(void *ctx)
{
    ++*(int *)ctx;
}

static void followers(void **state)
{
    struct podlog *l = podlog_new();
    int a = 0, b = 0;
    struct podlog_follower f = {.on_more = count, .ctx = &a}, g = {.on_more = count, .ctx = &b};

    (void)state;
    podlog_follow(l, &f);
    podlog_follow(l, &g);
    podlog_add(l, 0, STR("x\ny"));
    check_i64("told once per addition", a, 1);
    podlog_leave(&g);
    podlog_leave(&g);
    podlog_end(l);
    podlog_end(l);
    check_i64("and of the end", a, 2);
    check_i64("not who left", b, 1);
    podlog_unref(l);
    check_str("held by who follows", line_of(f.log, 1), "y");
    podlog_leave(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(bounded_in_lines),
        cmocka_unit_test(bounded_in_bytes),
        cmocka_unit_test(followers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
