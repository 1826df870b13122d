#include "base/b64.h"

#include "support/check.h"

static const struct {
    const char *name, *bytes, *text;
} cases[] = {
    {"nothing", "", ""},       {"one byte", "f", "Zg=="},       {"two", "fo", "Zm8="},
    {"three", "foo", "Zm9v"},  {"four", "foob", "Zm9vYg=="},    {"six", "foobar", "Zm9vYmFy"},
    {"high bits", "\xff\xfe\xfd", "//79"}, {"plus", "\xfb\xef\xbe", "++++"},
};

static void both_ways(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sb b = {0};
        str back;

        b64_encode(&b, str_c(cases[i].bytes));
        check_str(cases[i].name, sb_view(&b), cases[i].text);
        check_true(cases[i].name, b64_decode(a, str_c(cases[i].text), &back));
        check_str(cases[i].name, back, cases[i].bytes);
        sb_fini(&b);
    }
}

static void lines_are_joined(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str back;

    (void)state;
    check_true("line feeds", b64_decode(a, STR("Zm9v\r\nYmFy\n"), &back));
    check_str("line feeds", back, "foobar");
}

static void nonsense_is_refused(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    static const char *const bad[] = {"Z", "Zg", "Zg=", "=Zg=", "Z===", "Zg==Zg==", "Zm9v!", "Zm 9v", "Zg=a"};
    str back;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_true(bad[i], !b64_decode(a, str_c(bad[i]), &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways),
        cmocka_unit_test(lines_are_joined),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests_name("base/b64", tests, NULL, NULL);
}
