#include "base/rng.h"

#include "support/check.h"

/* From another implementation of xoroshiro128++ over splitmix64: these numbers never change. */
static const struct {
    const char *name;
    uint64_t seed, want[4];
} known[] = {
    {"seed 0", 0, {0x6f68e1e7e2646ee1, 0xbf971b7f454094ad, 0x48f2de556f30de38, 0x6ea7c59f89bbfc75}},
    {"seed 42", 42, {0xe88af6caef1d3c23, 0x54a303b2a5a54931, 0xf370812ccd646345, 0x345839c63f9abb35}},
};

static void a_seed_gives_the_same_numbers_for_ever(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct rng r;

        rng_init(&r, known[i].seed);
        for (size_t k = 0; k < ARRAY_LEN(known[i].want); k++)
            check_u64(known[i].name, rng_next(&r), known[i].want[k]);
    }
}

static const struct {
    const char *name;
    uint32_t n;
} ranges[] = {{"one", 1}, {"two", 2}, {"seven", 7}, {"a power of two", 64}, {"all", UINT32_MAX}};

static void numbers_stay_below_the_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        struct rng r;

        rng_init(&r, i);
        for (int k = 0; k < 10000; k++)
            check_true(ranges[i].name, rng_below(&r, ranges[i].n) < ranges[i].n);
    }
}

static void every_number_turns_up_about_as_often(void **state)
{
    unsigned seen[10] = {0};
    struct rng r;

    (void)state;
    rng_init(&r, 11);
    for (int i = 0; i < 100000; i++)
        seen[rng_below(&r, 10)]++;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        check_true("within five in a hundred", seen[i] > 9500 && seen[i] < 10500);
}

static void units_fill_the_interval(void **state)
{
    double lowest = 1, highest = 0, sum = 0;
    struct rng r;

    (void)state;
    rng_init(&r, 12);
    for (int i = 0; i < 100000; i++) {
        double v = rng_unit(&r);

        lowest = MIN(lowest, v);
        highest = MAX(highest, v);
        sum += v;
    }
    check_true("never below 0", lowest >= 0);
    check_true("never 1", highest < 1);
    check_true("close to both ends", lowest < 0.001 && highest > 0.999);
    check_true("a half on average", sum > 49500 && sum < 50500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_the_same_numbers_for_ever),
        cmocka_unit_test(numbers_stay_below_the_bound),
        cmocka_unit_test(every_number_turns_up_about_as_often),
        cmocka_unit_test(units_fill_the_interval),
    };

    return cmocka_run_group_tests_name("base/rng", tests, NULL, NULL);
}
