#include "base/bits.h"

#include "base/rng.h"
#include "base/sb.h"
#include "support/check.h"

#define WORDS 4

/* "1 64 130" <-> bit set */
static void bits_from(uint64_t *w, const char *text)
{
    str rest = str_c(text), one;

    bits_zero(w, WORDS);
    while (rest.n) {
        int64_t v;

        (void)str_cut(rest, ' ', &one, &rest);
        assert_true(str_to_i64(one, &v));
        bit_set(w, (uint32_t)v);
    }
}

static void check_bits(const char *name, const uint64_t *w, const char *want)
{
    struct sb b = {0};

    for (BITS_EACH(i, w, WORDS))
        sb_printf(&b, b.n ? " %u" : "%u", i);
    check_str(name, sb_view(&b), want);
    sb_fini(&b);
}

static const struct {
    const char *name, *a, *b, *both, *either;
} algebra_cases[] = {
    {"nothing", "", "", "", ""},
    {"one side", "3", "", "", "3"},
    {"the same", "3", "3", "3", "3"},
    {"apart", "0 63", "64 255", "", "0 63 64 255"},
    {"across words", "1 64 130 191", "0 64 191 192", "64 191", "0 1 64 130 191 192"},
};

static void algebra(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(algebra_cases); i++) {
        const char *name = algebra_cases[i].name;
        uint64_t a[WORDS], b[WORDS], x[WORDS];

        bits_from(a, algebra_cases[i].a);
        bits_from(b, algebra_cases[i].b);
        bits_copy(x, a, WORDS);
        bits_and(x, b, WORDS);
        check_bits(name, x, algebra_cases[i].both);
        check_true(name, bits_any(x, WORDS) == bits_meet(a, b, WORDS));
        bits_copy(x, a, WORDS);
        bits_or(x, b, WORDS);
        check_bits(name, x, algebra_cases[i].either);
        check_true(name, bits_equal(a, b, WORDS) == (strcmp(algebra_cases[i].a, algebra_cases[i].b) == 0));
    }
}

static void filling(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= WORDS * 64; n++) {
        uint64_t w[WORDS] = {0};

        bits_fill(w, n);
        assert_int_equal(bits_count(w, WORDS), n);
        for (uint32_t i = 0; i < WORDS * 64; i++)
            assert_true(bit_test(w, i) == (i < n));
    }
}

static void filling_leaves_the_next_word_alone(void **state)
{
    uint64_t w[3] = {0, 0, 0x5555};

    (void)state;
    bits_fill(w, 128);
    check_true("two full words", w[0] == UINT64_MAX && w[1] == UINT64_MAX);
    check_u64("the third", w[2], 0x5555);
}

static const struct {
    const char *name;
    uint32_t bits, words;
} size_cases[] = {{"none", 0, 0}, {"one", 1, 1}, {"a full word", 64, 1}, {"one more", 65, 2}, {"2048", 2048, 32}};

static void sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(size_cases); i++)
        check_u64(size_cases[i].name, BITS_WORDS(size_cases[i].bits), size_cases[i].words);
}

static void single_bits(void **state)
{
    uint64_t w[WORDS] = {0};

    (void)state;
    for (uint32_t i = 0; i < WORDS * 64; i++) {
        bit_set(w, i);
        assert_true(bit_test(w, i));
        assert_int_equal(bits_next(w, WORDS, 0), i);
        assert_int_equal(bits_next(w, WORDS, i), i);
        assert_int_equal(bits_next(w, WORDS, i + 1), UINT32_MAX);
        assert_int_equal(bit_lowest(w[i / 64]), i % 64);
        bit_clear(w, i);
        assert_false(bits_any(w, WORDS));
    }
    check_u64("a set of no words", bits_next(w, 0, 0), UINT32_MAX);
}

/* Against the plainest possible set: one bool per member. */
static void iteration_agrees_with_an_array_of_bools(void **state)
{
    struct rng r;

    (void)state;
    rng_init(&r, 5);
    for (int round = 0; round < 200; round++) {
        bool plain[WORDS * 64] = {false};
        uint64_t w[WORDS] = {0};
        uint32_t at = 0, n = rng_below(&r, 100);

        for (uint32_t i = 0; i < n; i++) {
            uint32_t v = rng_below(&r, WORDS * 64);

            plain[v] = true;
            bit_set(w, v);
        }
        for (BITS_EACH(i, w, WORDS)) {
            while (at < i)
                assert_false(plain[at++]);
            assert_true(plain[at++]);
        }
        while (at < WORDS * 64)
            assert_false(plain[at++]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algebra),
        cmocka_unit_test(filling),
        cmocka_unit_test(filling_leaves_the_next_word_alone),
        cmocka_unit_test(sizes),
        cmocka_unit_test(single_bits),
        cmocka_unit_test(iteration_agrees_with_an_array_of_bools),
    };

    return cmocka_run_group_tests_name("base/bits", tests, NULL, NULL);
}
