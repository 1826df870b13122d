#include "base/vec.h"

#include "base/arena.h"
#include "base/rng.h"
#include "support/check.h"

struct item {
    int key, seq;
};

static void pushing(void **state)
{
    VEC(int) v = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        vec_push(&v, i * i);
    check_u64("count", v.n, 1000);
    for (uint32_t i = 0; i < v.n; i++)
        assert_int_equal(v.v[i], i * i);
    check_i64("last", vec_last(&v), 999 * 999);
    vec_fini(&v);
    check_true("empty afterwards", v.v == NULL && v.n == 0 && v.cap == 0);
}

static void a_literal_with_commas_can_be_pushed(void **state)
{
    VEC(struct item) v = {0};

    (void)state;
    vec_push(&v, (struct item){1, 2});
    vec_push(&v, (struct item){.seq = 4});
    check_i64("first", v.v[0].seq, 2);
    check_i64("second", v.v[1].key + v.v[1].seq, 4);
    vec_fini(&v);
}

static void added_elements_are_zeroed(void **state)
{
    VEC(struct item) v = {0};

    (void)state;
    vec_reserve(&v, 8);
    memset(v.v, 0xff, sizeof(*v.v) * v.cap);
    for (int i = 0; i < 20; i++)
        vec_add(&v)->seq = i;
    for (uint32_t i = 0; i < v.n; i++) {
        assert_int_equal(v.v[i].key, 0);
        assert_int_equal(v.v[i].seq, i);
    }
    vec_fini(&v);
}

static void reserving_keeps_the_content(void **state)
{
    VEC(int) v = {0};

    (void)state;
    vec_push(&v, 42);
    vec_reserve(&v, 5000);
    check_true("room", v.cap >= 5000);
    const int *before = v.v;
    vec_reserve(&v, 100);
    check_true("a smaller wish changes nothing", v.v == before);
    check_i64("content", v.v[0], 42);
    vec_fini(&v);
}

static void a_copy_in_an_arena(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    VEC(int) v = {0};

    (void)state;
    check_true("of nothing", vec_to_arena(&v, a) != NULL);
    vec_push(&v, 1);
    vec_push(&v, 2);
    int *copy = vec_to_arena(&v, a);
    v.v[1] = 9;
    check_i64("copied", copy[0] * 10 + copy[1], 12);
    vec_fini(&v);
}

static int by_key(const void *a, const void *b, void *ctx)
{
    const struct item *x = a, *y = b;

    ++*(int *)ctx;
    return (x->key > y->key) - (x->key < y->key);
}

/* All lengths up to 200 and a few beyond, with few keys, so that almost every element has an equal. */
static void sorting_keeps_equal_elements_in_order(void **state)
{
    static struct item items[5000];
    static const size_t more[] = {255, 256, 257, 1000, 5000};
    struct rng r;

    (void)state;
    rng_init(&r, 1);
    for (size_t round = 0; round < 200 + ARRAY_LEN(more); round++) {
        size_t n = round < 200 ? round : more[round - 200];
        int n_compared = 0;

        for (size_t i = 0; i < n; i++)
            items[i] = (struct item){(int)rng_below(&r, 5), (int)i};
        sort_stable(items, n, sizeof(*items), by_key, &n_compared);
        for (size_t i = 1; i < n; i++) {
            assert_true(items[i - 1].key <= items[i].key);
            if (items[i - 1].key == items[i].key)
                assert_true(items[i - 1].seq < items[i].seq);
        }
        if (n > 1)
            check_true("the context reaches the comparison", n_compared > 0);
    }
}

static int descending(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return *(const char *)b - *(const char *)a;
}

static const struct {
    const char *name, *in, *want;
} sort_cases[] = {
    {"nothing", "", ""},
    {"one", "a", "a"},
    {"two in order", "ba", "ba"},
    {"two out of order", "ab", "ba"},
    {"three", "bca", "cba"},
    {"sorted backwards", "abcdefghi", "ihgfedcba"},
    {"equal ones", "abab", "bbaa"},
};

static void sorting_small_arrays(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sort_cases); i++) {
        char buf[16] = {0};
        size_t n = strlen(sort_cases[i].in);

        memcpy(buf, sort_cases[i].in, n);
        sort_stable(buf, n, 1, descending, NULL);
        check_str(sort_cases[i].name, (str){buf, n}, sort_cases[i].want);
    }
    sort_stable(NULL, 0, 8, descending, NULL); /* what an empty vec has to offer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing),
        cmocka_unit_test(a_literal_with_commas_can_be_pushed),
        cmocka_unit_test(added_elements_are_zeroed),
        cmocka_unit_test(reserving_keeps_the_content),
        cmocka_unit_test(a_copy_in_an_arena),
        cmocka_unit_test(sorting_keeps_equal_elements_in_order),
        cmocka_unit_test(sorting_small_arrays),
    };

    return cmocka_run_group_tests_name("base/vec", tests, NULL, NULL);
}
