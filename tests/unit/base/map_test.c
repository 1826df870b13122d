#include "base/map.h"

#include "base/arena.h"
#include "base/rng.h"
#include "support/check.h"

static void an_empty_map_has_nothing(void **state)
{
    struct strmap s = {0};
    struct u64map u = {0};

    (void)state;
    check_u64("by text", strmap_get(&s, STR("a")), MAP_NONE);
    check_u64("by number", u64map_get(&u, 0), MAP_NONE);
    u64map_clear(&u);
    strmap_fini(&s);
    u64map_fini(&u);
}

static void the_last_value_wins(void **state)
{
    struct strmap s = {0};
    struct u64map u = {0};

    (void)state;
    strmap_put(&s, STR("a"), 1);
    strmap_put(&s, STR("a"), 2);
    check_u64("by text", strmap_get(&s, STR("a")), 2);
    check_u64("one entry", s.n, 1);
    u64map_put(&u, 5, 1);
    u64map_put(&u, 5, 2);
    check_u64("by number", u64map_get(&u, 5), 2);
    check_u64("one entry", u.n, 1);
    strmap_fini(&s);
    u64map_fini(&u);
}

static const struct {
    const char *name;
    str key;
} odd_keys[] = {
    {"empty", STR_INIT("")},
    {"a zero byte", STR_INIT("\0")},
    {"two zero bytes", STR_INIT("\0\0")},
    {"a", STR_INIT("a")},
    {"a and a zero byte", STR_INIT("a\0")},
    {"eight bytes", STR_INIT("12345678")},
    {"nine", STR_INIT("12345678\0")},
};

static void keys_are_bytes(void **state)
{
    struct strmap s = {0};

    (void)state;
    for (uint32_t i = 0; i < ARRAY_LEN(odd_keys); i++) {
        check_u64(odd_keys[i].name, strmap_get(&s, odd_keys[i].key), MAP_NONE);
        strmap_put(&s, odd_keys[i].key, i);
    }
    for (uint32_t i = 0; i < ARRAY_LEN(odd_keys); i++)
        check_u64(odd_keys[i].name, strmap_get(&s, odd_keys[i].key), i);
    check_u64("a null string is the empty one", strmap_get(&s, (str){0}), 0);
    strmap_fini(&s);
}

static void a_null_key_can_be_put(void **state)
{
    struct strmap s = {0};

    (void)state;
    strmap_put(&s, (str){0}, 3);
    strmap_put(&s, (str){0}, 4);
    check_u64("found as empty", strmap_get(&s, STR("")), 4);
    strmap_fini(&s);
}

static void many_keys_survive_growth(void **state)
{
    enum { N = 20000 };
    AUTO(arena) struct arena *a = arena_new(0);
    struct strmap s = {0};
    struct u64map u = {0};

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        strmap_put(&s, arena_printf(a, "pod-%u", i), i);
        u64map_put(&u, u64_pair(i, i * 7), i);
    }
    check_u64("count of texts", s.n, N);
    check_u64("count of numbers", u.n, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(strmap_get(&s, arena_printf(a, "pod-%u", i)), i);
        assert_int_equal(u64map_get(&u, u64_pair(i, i * 7)), i);
    }
    check_u64("absent text", strmap_get(&s, STR("pod-20000")), MAP_NONE);
    check_u64("absent number", u64map_get(&u, u64_pair(N, 0)), MAP_NONE);
    strmap_fini(&s);
    u64map_fini(&u);
}

static void zero_is_a_key_like_any_other(void **state)
{
    struct u64map u = {0};

    (void)state;
    u64map_put(&u, 1, 10);
    check_u64("not yet", u64map_get(&u, 0), MAP_NONE);
    u64map_put(&u, 0, 20);
    check_u64("now", u64map_get(&u, 0), 20);
    check_u64("the other stays", u64map_get(&u, 1), 10);
    u64map_clear(&u);
    check_u64("gone", u64map_get(&u, 0), MAP_NONE);
    u64map_put(&u, 0, 30);
    check_u64("again", u64map_get(&u, 0), 30);
    check_u64("one entry", u.n, 1);
    u64map_fini(&u);
}

static void pairs(void **state)
{
    (void)state;
    check_u64("high and low", u64_pair(1, 2), 0x100000002);
    check_u64("no spill", u64_pair(0, UINT32_MAX), UINT32_MAX);
}

/* The hash decides the speed of every table: flipping any one bit of the input should flip about half of the output. */
static void every_input_bit_reaches_the_hash(void **state)
{
    unsigned char bytes[24];
    struct rng r;
    uint64_t n_flipped = 0, n_tried = 0;

    (void)state;
    rng_init(&r, 3);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)rng_below(&r, 256);
    for (size_t n = 1; n <= sizeof(bytes); n++)
        for (size_t bit = 0; bit < n * 8; bit++) {
            uint64_t before = hash_bytes(bytes, n, 0);

            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            uint64_t after = hash_bytes(bytes, n, 0);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            check_true("a changed bit changes the hash", before != after);
            n_flipped += (uint64_t)__builtin_popcountll(before ^ after);
            n_tried += 64;
        }
    check_true("a fair share of bits flips", n_flipped * 3 > n_tried && n_flipped * 3 < n_tried * 2);
    check_true("the seed matters", hash_bytes(bytes, 8, 0) != hash_bytes(bytes, 8, 1));
    check_true("so does the length", hash_bytes("\0\0", 1, 0) != hash_bytes("\0\0", 2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(the_last_value_wins),
        cmocka_unit_test(keys_are_bytes),
        cmocka_unit_test(a_null_key_can_be_put),
        cmocka_unit_test(many_keys_survive_growth),
        cmocka_unit_test(zero_is_a_key_like_any_other),
        cmocka_unit_test(pairs),
        cmocka_unit_test(every_input_bit_reaches_the_hash),
    };

    return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
