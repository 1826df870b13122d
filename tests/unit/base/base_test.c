#include "base/base.h"

#include "support/check.h"

static const struct {
    const char *name;
    int64_t a, b, sum, difference, product;
} cases[] = {
    {"small numbers", 6, 7, 13, -1, 42},
    {"mixed signs", -6, 7, 1, -13, -42},
    {"two large ones", INT64_MAX, INT64_MAX, INT64_MAX, 0, INT64_MAX},
    {"two deep ones", INT64_MIN, INT64_MIN, INT64_MIN, 0, INT64_MAX},
    {"large and deep", INT64_MAX, INT64_MIN, -1, INT64_MAX, INT64_MIN},
    {"deep and large", INT64_MIN, INT64_MAX, -1, INT64_MIN, INT64_MIN},
    {"one step too far", INT64_MAX, 1, INT64_MAX, INT64_MAX - 1, INT64_MAX},
    {"one step back", INT64_MIN, 1, INT64_MIN + 1, INT64_MIN, INT64_MIN},
    {"the number without a negative", INT64_MIN, -1, INT64_MIN, INT64_MIN + 1, INT64_MAX},
    {"nothing", INT64_MIN, 0, INT64_MIN, INT64_MIN, 0},
};

static void arithmetic_saturates(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check_i64(cases[i].name, sat_add(cases[i].a, cases[i].b), cases[i].sum);
        check_i64(cases[i].name, sat_sub(cases[i].a, cases[i].b), cases[i].difference);
        check_i64(cases[i].name, sat_mul(cases[i].a, cases[i].b), cases[i].product);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_saturates),
    };

    return cmocka_run_group_tests_name("base/base", tests, NULL, NULL);
}
