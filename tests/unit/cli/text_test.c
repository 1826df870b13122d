#include "cli/text.h"

#include "support/check.h"

static const struct {
    const char *name, *s, *want;
    unsigned columns;
} put_cases[] = {
    {"plain", "web-0", "web-0", 5},
    {"nothing", "", "", 0},
    {"two bytes, one column", "3×", "3×", 2},
    {"escape", "a\033[31mb", "a?[31mb", 7},
    {"line feed and tab", "a\nb\tc", "a?b?c", 5},
    {"delete", "a\177", "a?", 2},
    {"a C1 control in two bytes",
     "a\xc2\x9b"
     "2J",
     "a?2J", 4},
    {"no-break space is text",
     "a\xc2\xa0"
     "b",
     "a\xc2\xa0"
     "b",
     3},
};

static void control_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(put_cases); i++) {
        struct sb b = {0};

        text_put(&b, str_c(put_cases[i].s));
        check_str(put_cases[i].name, sb_view(&b), put_cases[i].want);
        check_u64(put_cases[i].name, text_columns(str_c(put_cases[i].s)), put_cases[i].columns);
        sb_fini(&b);
    }
}

static const struct {
    const char *name, *first, *s;
    unsigned width;
    const char *want;
} wrap_cases[] = {
    {"no limit", "  ", "one two three", 0, "  one two three\n"},
    {"fits exactly", "  ", "one two", 9, "  one two\n"},
    {"one too many", "  ", "one two", 8, "  one\n  two\n"},
    {"later lines align", "try: ", "one two", 9, "try: one\n     two\n"},
    {"a word wider than the line", "  ", "a incomprehensible b", 6, "  a\n  incomprehensible\n  b\n"},
    {"nothing", "  x", "", 10, "  x\n"},
};

static void wrapping(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrap_cases); i++) {
        struct text_style st = {.width = wrap_cases[i].width};
        struct sb b = {0};

        text_wrap(&b, &st, str_c(wrap_cases[i].first), str_c(wrap_cases[i].s));
        check_str(wrap_cases[i].name, sb_view(&b), wrap_cases[i].want);
        sb_fini(&b);
    }
}

static void numbers(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    check_str("none", text_count(a, 0), "0");
    check_str("three digits", text_count(a, 999), "999");
    check_str("four digits", text_count(a, 1000), "1,000");
    check_str("seven digits", text_count(a, 1234567), "1,234,567");
    check_str("cents", text_money(a, 0.0272, 4), "$0.0272");
    check_str("thousands", text_money(a, 2838369.784, 2), "$2,838,369.78");
    check_str("rounded up to four digits", text_money(a, 999.999, 2), "$1,000.00");
}

static void tones(void **state)
{
    struct text_style plain = {0}, colour = {.colour = true};
    struct sb b = {0};

    (void)state;
    text_tone(&b, &plain, TONE_BAD, STR("x"));
    text_tone(&b, &colour, TONE_PLAIN, STR("y"));
    text_tone(&b, &colour, TONE_BAD, STR("z"));
    check_str("only where colour is wanted", sb_view(&b), "xy\033[31mz\033[0m");
    sb_fini(&b);
}

static const str two_items[] = {STR_INIT("web ×2"), STR_INIT("db-0")};

static struct grid example(void)
{
    struct grid g = {
        .cols = {{"", true, 0}, {"NODE", false, 9}, {"GPU", true, 0}, {"CPU", true, 0}},
        .n_cols = 4,
        .items_title = "PODS",
    };

    vec_push(&g.rows, (struct grid_row){.cells = {{0}, STR("a"), {0}, STR("9%")}, .items = two_items, .n_items = 2});
    vec_push(&g.rows,
             (struct grid_row){.cells = {{0}, STR("long-name-1"), {0}, STR("100%")}, .items = two_items, .n_items = 1});
    return g;
}

static const struct {
    const char *name;
    unsigned width;
    const char *want;
} grid_cases[] = {
    {"no limit: empty columns are left out", 0,
     "  NODE          CPU  PODS\n"
     "  a              9%  web ×2, db-0\n"
     "  long-name-1  100%  web ×2\n"},
    {"a cell that is too long loses its middle", 44,
     "  NODE        CPU  PODS\n"
     "  a            9%  web ×2, db-0\n"
     "  long…me-1  100%  web ×2\n"},
    {"a narrow terminal: lists have lines of their own", 24,
     "  NODE        CPU\n"
     "  a            9%\n"
     "      web ×2, db-0\n"
     "  long…me-1  100%\n"
     "      web ×2\n"},
    {"very narrow: items wrap", 14,
     "  NODE        CPU\n"
     "  a            9%\n"
     "      web ×2,\n"
     "      db-0\n"
     "  long…me-1  100%\n"
     "      web ×2\n"},
};

static void grids(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(grid_cases); i++) {
        struct text_style st = {.width = grid_cases[i].width};
        struct grid g = example();
        struct sb b = {0};

        grid_print(&b, &st, &g);
        check_str(grid_cases[i].name, sb_view(&b), grid_cases[i].want);
        sb_fini(&b);
        grid_fini(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters),
        cmocka_unit_test(wrapping),
        cmocka_unit_test(numbers),
        cmocka_unit_test(tones),
        cmocka_unit_test(grids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
