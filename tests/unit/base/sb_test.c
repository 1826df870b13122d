#include "base/sb.h"

#include <math.h>

#include "base/arena.h"
#include "support/check.h"

static void pieces_add_up(void **state)
{
    struct sb b = {0};

    (void)state;
    sb_c(&b, "a");
    sb_str(&b, STR("bc"));
    sb_char(&b, '-');
    sb_fill(&b, '.', 3);
    sb_bytes(&b, "xyz", 2);
    sb_printf(&b, " %s=%d", "n", 5);
    check_str("all in order", sb_view(&b), "abc-...xy n=5");
    sb_fini(&b);
    check_str("empty afterwards", sb_view(&b), "");
}

static void empty_pieces_are_fine(void **state)
{
    struct sb b = {0};

    (void)state;
    sb_str(&b, (str){0});
    sb_c(&b, "");
    sb_bytes(&b, NULL, 0);
    sb_fill(&b, 'x', 0);
    sb_printf(&b, "%s", "");
    check_str("nothing", sb_view(&b), "");
    assert_string_equal(sb_cstr(&b), "");
    sb_fini(&b);
}

static void a_c_string_is_terminated_at_every_length(void **state)
{
    struct sb b = {0};

    (void)state;
    assert_string_equal(sb_cstr(&b), ""); /* even before the first append */
    for (size_t n = 1; n <= 300; n++) {
        sb_char(&b, 'x');
        assert_int_equal(strlen(sb_cstr(&b)), n);
    }
    sb_reset(&b);
    assert_string_equal(sb_cstr(&b), "");
    sb_fini(&b);
}

static void a_copy_outlives_the_builder(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    (void)state;
    sb_c(&b, "text");
    str s = sb_dup(&b, a);
    sb_fini(&b);
    check_str("copy", s, "text");
}

static void long_text_grows(void **state)
{
    struct sb b = {0};

    (void)state;
    for (int i = 0; i < 1000; i++)
        sb_printf(&b, "%03d", i);
    check_u64("length", b.n, 3000);
    check_str("the last one", str_sub(sb_view(&b), 2997, 3000), "999");
    sb_printf(&b, "%0*d", 10000, 1);
    check_u64("a single long piece", b.n, 13000);
    sb_fini(&b);
}

static const struct {
    const char *name;
    int64_t v;
    const char *want;
} integer_cases[] = {
    {"zero", 0, "0"},
    {"one digit", 7, "7"},
    {"ten", 10, "10"},
    {"negative", -42, "-42"},
    {"largest", INT64_MAX, "9223372036854775807"},
    {"smallest", INT64_MIN, "-9223372036854775808"},
};

static void integers(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(integer_cases); i++) {
        sb_reset(&b);
        sb_i64(&b, integer_cases[i].v);
        check_str(integer_cases[i].name, sb_view(&b), integer_cases[i].want);
    }
    sb_reset(&b);
    sb_u64(&b, UINT64_MAX);
    check_str("largest unsigned", sb_view(&b), "18446744073709551615");
    sb_fini(&b);
}

static const struct {
    const char *name;
    double v;
    const char *want;
} double_cases[] = {
    {"zero", 0, "0"},
    {"a whole number", 3, "3"},
    {"a price", 0.0416, "0.0416"},
    {"shortest text for a third", 1.0 / 3, "0.3333333333333333"},
    {"a sum with an error in the last place", 0.1 + 0.2, "0.30000000000000004"},
    {"negative", -1.5, "-1.5"},
    {"a large whole number is written out", 1e20, "100000000000000000000"},
    {"from 1e21 on it is not", 1e21, "1e+21"},
    {"a small number is written out", 0.000001, "0.000001"},
    {"a number with every digit", 123456789.12345679, "123456789.12345679"},
    {"not a number", NAN, "null"},
    {"infinite", -INFINITY, "null"},
};

static void doubles(void **state)
{
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(double_cases); i++) {
        sb_reset(&b);
        sb_double(&b, double_cases[i].v);
        check_str(double_cases[i].name, sb_view(&b), double_cases[i].want);
    }
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_add_up),
        cmocka_unit_test(empty_pieces_are_fine),
        cmocka_unit_test(a_c_string_is_terminated_at_every_length),
        cmocka_unit_test(a_copy_outlives_the_builder),
        cmocka_unit_test(long_text_grows),
        cmocka_unit_test(integers),
        cmocka_unit_test(doubles),
    };

    return cmocka_run_group_tests_name("base/sb", tests, NULL, NULL);
}
