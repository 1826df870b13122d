#include "base/b64.h"

#include "support/check.h"

static const struct {
    const char *name, *bytes, *text, *url;
} cases[] = {
    {"nothing", "", "", ""},
    {"one byte", "f", "Zg==", "Zg"},
    {"two", "fo", "Zm8=", "Zm8"},
    {"three", "foo", "Zm9v", "Zm9v"},
    {"four", "foob", "Zm9vYg==", "Zm9vYg"},
    {"six", "foobar", "Zm9vYmFy", "Zm9vYmFy"},
    {"high bits", "\xff\xfe\xfd", "//79", "__79"},
    {"plus", "\xfb\xef\xbe", "++++", "----"},
};

static void both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sb b = {0}, u = {0}, back = {0}, back_u = {0};

        b64_encode(&b, str_c(cases[i].bytes));
        b64url_encode(&u, str_c(cases[i].bytes));
        check_str(cases[i].name, sb_view(&b), cases[i].text);
        check_str(cases[i].name, sb_view(&u), cases[i].url);
        check_true(cases[i].name, b64url_decode(&back, sb_view(&b)) && b64url_decode(&back_u, sb_view(&u)));
        check_str(cases[i].name, sb_view(&back), cases[i].bytes);
        check_str(cases[i].name, sb_view(&back_u), cases[i].bytes);
        sb_fini(&b);
        sb_fini(&u);
        sb_fini(&back);
        sb_fini(&back_u);
    }
}

static void nonsense_is_refused(void **state)
{
    static const char *const bad[] = {"Z", "Zm9v!", "Zm 9v", "Zg=a", "Zm9vY"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct sb back = {0};

        check_true(bad[i], !b64url_decode(&back, str_c(bad[i])));
        sb_fini(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests_name("base/b64", tests, NULL, NULL);
}
