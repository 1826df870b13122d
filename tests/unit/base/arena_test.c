#include "base/arena.h"

#include "base/rng.h"
#include "support/check.h"

static int set_up(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static const struct {
    const char *name;
    size_t before, size, align;
} aligned_cases[] = {
    {"a byte after nothing", 0, 1, 1},
    {"two bytes after one", 1, 2, 2},
    {"a word after one byte", 1, 8, 8},
    {"a word after three bytes", 3, 4, 4},
    {"the widest alignment", 5, 16, alignof(max_align_t)},
    {"nothing at all", 1, 0, 8},
    {"more than a block holds", 1, 100000, 8},
};

static void allocations_are_aligned_and_zeroed(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(aligned_cases); i++) {
        const char *name = aligned_cases[i].name;

        memset(arena_alloc(a, aligned_cases[i].before, 1), 0xff, aligned_cases[i].before);
        unsigned char *p = arena_alloc(a, aligned_cases[i].size, aligned_cases[i].align);
        check_u64(name, (uintptr_t)p % aligned_cases[i].align, 0);
        for (size_t at = 0; at < aligned_cases[i].size; at++)
            check_i64(name, p[at], 0);
    }
}

static void memory_is_zeroed_again_after_a_reset(void **state)
{
    struct arena *a = *state;
    unsigned char *p = arena_alloc(a, 1000, 1);

    memset(p, 0xff, 1000);
    arena_reset(a);
    unsigned char *q = arena_alloc(a, 1000, 1);
    assert_ptr_equal(p, q); /* the first block is kept */
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(q[i], 0);
}

static void a_reset_gives_later_blocks_back(void **state)
{
    struct arena *a = *state;
    size_t at_first = arena_bytes(a);

    for (int i = 0; i < 100; i++)
        arena_alloc(a, 1000, 8);
    check_true("it has grown", arena_bytes(a) > 100000);
    arena_reset(a);
    check_u64("and shrunk", arena_bytes(a), at_first);
}

static void a_rewind_forgets_what_came_after_the_mark(void **state)
{
    struct arena *a = *state;
    char *kept = arena_alloc(a, 10, 1);

    memcpy(kept, "kept bytes", 10);
    size_t bytes = arena_bytes(a);
    struct arena_mark m = arena_mark(a);
    char *tried = arena_alloc(a, 10, 1);
    for (int i = 0; i < 100; i++)
        arena_alloc(a, 1000, 8); /* well into other blocks */
    arena_rewind(a, m);

    check_u64("the blocks are gone", arena_bytes(a), bytes);
    check_str("what came before is untouched", (str){kept, 10}, "kept bytes");
    assert_ptr_equal(arena_alloc(a, 10, 1), tried);
}

static void copies(void **state)
{
    struct arena *a = *state;
    char text[] = "hello";
    str s = arena_strdup(a, str_c(text));
    int numbers[] = {1, 2, 3};
    int *dup = arena_dup_array(a, int, numbers, 3);

    text[0] = 'j';
    numbers[1] = 7;
    check_str("a copy does not follow the original", s, "hello");
    check_i64("nor does an array", dup[1], 2);
    check_str("nothing", arena_strdup(a, (str){0}), "");
    check_str("formatted", arena_printf(a, "%s-%d", "web", 7), "web-7");
    check_str("formatted, empty", arena_printf(a, "%s", ""), "");
}

static void long_text_can_be_formatted(void **state)
{
    struct arena *a = *state;
    str s = arena_printf(a, "%0*d", 20000, 1);

    check_u64("length", s.n, 20000);
    check_i64("last", s.p[19999], '1');
}

/* Random sizes and alignments, each allocation filled with its own byte: an overlap would show. */
static void allocations_do_not_overlap(void **state)
{
    struct arena *a = *state;
    struct rng r;
    struct {
        unsigned char *p;
        size_t n;
    } got[500];

    rng_init(&r, 7);
    for (size_t i = 0; i < ARRAY_LEN(got); i++) {
        got[i].n = rng_below(&r, 300);
        got[i].p = arena_alloc(a, got[i].n, (size_t)1 << rng_below(&r, 5));
        memset(got[i].p, (int)(i & 0xff), got[i].n);
    }
    for (size_t i = 0; i < ARRAY_LEN(got); i++)
        for (size_t k = 0; k < got[i].n; k++)
            assert_int_equal(got[i].p[k], i & 0xff);
}

static void freeing_nothing_is_fine(void **state)
{
    (void)state;
    arena_free(NULL);
    AUTO(arena) struct arena *a = arena_new(1); /* the leak checker watches this one */
    arena_alloc(a, 100, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(allocations_are_aligned_and_zeroed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_zeroed_again_after_a_reset, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reset_gives_later_blocks_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_rewind_forgets_what_came_after_the_mark, set_up, tear_down),
        cmocka_unit_test_setup_teardown(copies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_text_can_be_formatted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(allocations_do_not_overlap, set_up, tear_down),
        cmocka_unit_test(freeing_nothing_is_fine),
    };

    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
