#include "base/b64.h"

#include "base/arena.h"
#include "support/check.h"

static const struct {
    const char *name, *bytes, *text;
} cases[] = {
    {"nothing", "", ""},
    {"one byte", "f", "Zg"},
    {"two bytes", "fo", "Zm8"},
    {"three bytes", "foo", "Zm9v"},
    {"four bytes", "foob", "Zm9vYg"},
    {"the last two digits", "\xfb\xff", "-_8"},
};

static void there_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sb text = {0}, bytes = {0};

        b64url_encode(&text, str_c(cases[i].bytes));
        check_str(cases[i].name, sb_view(&text), cases[i].text);
        check_true(cases[i].name, b64url_decode(&bytes, sb_view(&text)));
        check_str(cases[i].name, sb_view(&bytes), cases[i].bytes);
        sb_fini(&text);
        sb_fini(&bytes);
    }
}

static void other_alphabet(void **state)
{
    struct sb b = {0};

    (void)state;
    check_true("plain base64 with padding", b64url_decode(&b, STR("+/8=")));
    check_str("plain base64 with padding", sb_view(&b), "\xfb\xff");
    sb_fini(&b);
}

static void not_base64(void **state)
{
    static const char *const bad[] = {"Z", "Zm9vY", "Zm 9v", "Zm=v", "\xc3\xa4zz"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct sb b = {0};

        check_true(bad[i], !b64url_decode(&b, str_c(bad[i])));
        sb_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(other_alphabet),
        cmocka_unit_test(not_base64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
