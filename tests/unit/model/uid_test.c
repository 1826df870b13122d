#include "model/uid.h"

#include "base/rng.h"
#include "support/check.h"

#define A "00f0a1b2-c3d4-4e5f-8a6b-7c8d9e0f1a2b"

static const struct {
    const char *name, *text;
    bool number;
} cases[] = {
    {"an API server's", A, true},
    {"all digits", "ffffffff-ffff-ffff-bfff-ffffffffffff", true},
    {"the smallest of its kind", "00000000-0000-0000-8000-000000000000", true},
    {"another variant", "00f0a1b2-c3d4-4e5f-ca6b-7c8d9e0f1a2b", false},
    {"no variant", "00000000-0000-0000-0000-000000000000", false},
    {"capitals", "00F0A1B2-C3D4-4E5F-8A6B-7C8D9E0F1A2B", false},
    {"no dashes", "00f0a1b2cc3d4c4e5fc8a6bc7c8d9e0f1a2b", false},
    {"a dash too many", "00f0a1b2-c3d4-4e5f-8a6b-7c8d9e0f-a2b", false},
    {"longer", A "0", false},
    {"shorter", "u-1", false},
    {"nothing", "", false},
};

static void texts_come_back(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct uid u = uid_of(str_c(cases[i].text));

        check_true(cases[i].name, uid_is_number(u) == cases[i].number);
        check_str(cases[i].name, UID_STR(u), cases[i].text);
        check_true(cases[i].name, uid_some(u) == (cases[i].text[0] != 0));
    }
}

static uint64_t key_of(str text)
{
    uint64_t v = 0;

    for (size_t i = 0; i < 8; i++)
        v = v << 8 | (i < text.n ? (unsigned char)text.p[i] : 0);
    return v;
}

static int sign(int v)
{
    return v < 0 ? -1 : v > 0;
}

static void compare(const char *name, str a, str b)
{
    struct uid x = uid_of(a), y = uid_of(b);

    check_true(name, uid_eq(x, y) == str_eq(a, b) && sign(uid_cmp(x, y)) == sign(str_cmp(a, b)));
    check_true(name, uid_key(x) == key_of(a) && uid_key(y) == key_of(b));
    check_true(name, !str_eq(a, b) || uid_hash(x, 1) == uid_hash(y, 1));
}

static void order_is_that_of_texts(UNUSED void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t k = 0; k < ARRAY_LEN(cases); k++)
            compare(cases[i].name, str_c(cases[i].text), str_c(cases[k].text));
}

/* Alike in most places, so that every place decides now and then. */
static void order_of_random_ones(UNUSED void **state)
{
    struct rng r;

    rng_init(&r, 7);
    for (uint32_t i = 0; i < 20000; i++) {
        char a[] = A, b[] = A;
        uint32_t at = rng_below(&r, sizeof(a) - 1);

        a[at] = "0123456789abcdefA-"[rng_below(&r, 18)];
        b[at] = "0123456789abcdefA-"[rng_below(&r, 18)];
        compare(a, str_c(a), str_c(b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(order_is_that_of_texts),
        cmocka_unit_test(order_of_random_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
