#include "base/utf8.h"

#include "support/check.h"

static void there_and_back(void **state UNUSED)
{
    static const uint32_t chars[] = {0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff};
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(chars); i++) {
        uint32_t c;

        sb_reset(&b);
        utf8_put(&b, chars[i]);
        check_u64("length", utf8_step(sb_view(&b), 0, &c), b.n);
        check_u64("character", c, chars[i]);
        check_true("valid", utf8_valid(sb_view(&b)));
    }
    sb_fini(&b);
}

static void what_is_none(void **state UNUSED)
{
    uint32_t c;

    check_u64("a byte that is none",
              utf8_step(STR("\xff"
                            "a"),
                        0, &c),
              1);
    check_u64("stands for U+FFFD", c, 0xfffd);
    check_u64("half a character", utf8_step(STR("\xc3"), 0, &c), 1);
    check_true("is not valid", !utf8_valid(STR("a\xc3")));
    check_true("overlong", !utf8_valid(STR("\xc0\x80")));
    check_u64("counted as Go counts", utf8_count(STR("a\xc3\xa9\xff\xfe")), 4);
    check_u64("nothing", utf8_count((str){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back), cmocka_unit_test(what_is_none)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
