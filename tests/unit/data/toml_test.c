/* TOML: what is read, what is refused and where, how it is written. */
#include "data/toml.h"

#include "support/check.h"

static const struct {
    const char *name, *in, *want;
} cases[] = {
    {"nothing", "", ""},
    {"comments and empty lines", "# one\n\n  # two\n", ""},
    {"strings", "a = \"x\\ty\"\nb = 'c:\\d'\nc = \"\\u00e9\\U0001F600\"",
     "a = \"x\\ty\"\nb = 'c:\\d'\nc = '\xc3\xa9\xf0\x9f\x98\x80'\n"},
    {"lines", "a = \"\"\"\none\\\n   two\n\"\"\"\nb = '''\nx'y'''", "a = \"onetwo\\n\"\nb = \"x'y\"\n"},
    {"quotes at the end of lines", "a = \"\"\"x\"\"\"\"\"", "a = 'x\"\"'\n"},
    {"what cannot be literal", "a = \"it's \\\"q\\\"\"\nb = \"\\u0001\\b\"\nc = \"\\r\\n\\f\\\\\"",
     "a = \"it's \\\"q\\\"\"\nb = \"\\u0001\\b\"\nc = \"\\r\\n\\f\\\\\"\n"},
    {"integers", "a = +1_000\nb = -17\nc = 0xDEAD_beef\nd = 0o755\ne = 0b1101\nf = -0",
     "a = 1000\nb = -17\nc = 3735928559\nd = 493\ne = 13\nf = 0\n"},
    {"the largest and the smallest", "a = 9223372036854775807\nb = -9223372036854775808",
     "a = 9223372036854775807\nb = -9223372036854775808\n"},
    {"floats", "a = 1e3\nb = 3.14_15\nc = -0.01\nd = 6.626e-34\ne = 1.0\nf = 5e+22",
     "a = 1000.0\nb = 3.1415\nc = -0.01\nd = 0.0000000000000000000000000000000006626\ne = 1.0\nf = 49999999999999995805696.0\n"},
    {"not numbers", "a = inf\nb = -inf\nc = +nan", "a = inf\nb = -inf\nc = nan\n"},
    {"times",
     "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 00:32:00.999000-07:00\nc = 1979-05-27t07:32:00z\nd = 1979-05-27\ne = "
     "07:32:00.5\nf = 2000-02-29T23:59:60",
     "a = 1979-05-27T07:32:00Z\nb = 1979-05-27T00:32:00.999-07:00\nc = 1979-05-27T07:32:00Z\nd = 1979-05-27\ne = "
     "07:32:00.5\nf = 2000-02-29T23:59:60\n"},
    {"lists", "a = [1, 2,\n  # more\n  3,\n]\nb = []\nc = [['x'], [1.5, true]]",
     "a = [1, 2, 3]\nb = []\nc = [['x'], [1.5, true]]\n"},
    {"keys", "bare-1_x = 1\n\"a b\" = 2\n'' = 3\n\"it's\" = 4\n1234 = 5",
     "bare-1_x = 1\n'a b' = 2\n'' = 3\n\"it's\" = 4\n1234 = 5\n"},
    {"dots", "a.b.c = 1\na . b . d = 2\na.'x.y' = 3", "[a]\n'x.y' = 3\n\n[a.b]\nc = 1\nd = 2\n"},
    {"tables", "x = 1\n[a]\ny = 2\n[a.b.c]\nz = 3\n[a.b]\nw = 4",
     "x = 1\n\n[a]\ny = 2\n\n[a.b]\nw = 4\n\n[a.b.c]\nz = 3\n"},
    {"a header without keys", "[a.b]\nc = 1", "[a]\n[a.b]\nc = 1\n"},
    {"inline tables become tables", "a = {b = 1, c.d = 'x', e = {}}", "[a]\nb = 1\n\n[a.c]\nd = 'x'\n\n[a.e]\n"},
    {"lists of tables", "[[a]]\nx = 1\n[a.sub]\ny = 2\n[[a]]\nx = 3\n",
     "[[a]]\nx = 1\n\n[a.sub]\ny = 2\n\n[[a]]\nx = 3\n"},
    {"a list of inline tables is one of tables", "a = [{x = 1}, {x = 2}]", "[[a]]\nx = 1\n\n[[a]]\nx = 2\n"},
    {"mixed lists stay in line", "a = [{x = 1, y = [2]}, 'b']", "a = [{x = 1, y = [2]}, 'b']\n"},
    {"windows lines", "a = 1\r\n[b]\r\nc = \"\"\"\r\nx\r\n\"\"\"\r\n", "a = 1\n\n[b]\nc = \"x\\n\"\n"},
    {"tables in another order", "[x.y.z.w]\na = 1\n[x]\nb = 2", "[x]\nb = 2\n\n[x.y]\n[x.y.z]\n[x.y.z.w]\na = 1\n"},
    {"a table below dots", "[fruit]\napple.color = 1\n[fruit.apple.taste]\nsweet = true",
     "[fruit]\n[fruit.apple]\ncolor = 1\n\n[fruit.apple.taste]\nsweet = true\n"},
};

static str written(struct arena *a, const struct tree *t)
{
    struct sb b = {0};

    toml_write(&b, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void read_and_written(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        struct tree *t = toml_read(a, str_c(cases[i].in), &e);

        check_ok(cases[i].name, t != NULL, &e);
        str text = written(a, t);
        check_str(cases[i].name, text, cases[i].want);
        struct tree *again = toml_read(a, text, &e);
        check_ok(cases[i].name, again != NULL, &e);
        check_str(cases[i].name, written(a, again), cases[i].want);
    }
}

static const struct {
    const char *name, *in, *want;
} mistakes[] = {
    {"no value", "a =", "1:4: expected a value"},
    {"no equals sign", "a 1", "1:3: expected = behind a key"},
    {"no key", "= 1", "1:1: expected a key"},
    {"two on a line", "a = 1 b = 2", "1:7: expected the end of the line"},
    {"a key twice", "a = 1\na = 2", "2:3: key a is taken"},
    {"a table twice", "[a]\n[a]", "2:4: table a is there already"},
    {"a table that is a value", "a = 1\n[a.b]", "2:4: key a is taken"},
    {"dots into a header's table", "[a.b]\nc = 1\n[a]\nb.d = 2", "4:3: key b is taken"},
    {"a header for a table of dots", "[a]\nb.c = 1\n[a.b]", "3:6: table b is there already"},
    {"inline tables are closed", "a = {b = 1}\na.c = 2", "2:3: key a is taken"},
    {"and so are those in them", "[t]\na = {b.c = 1}\n[t.a.b]", "3:6: key a is taken"},
    {"a list that is a value", "a = []\n[[a]]", "2:6: key a is taken"},
    {"a list of tables is no table", "[[a]]\n[a]", "2:4: table a is there already"},
    {"a string without an end", "a = \"x", "1:7: a string does not end"},
    {"a line feed in a string", "a = \"x\ny\"", "1:7: a string has a control character in it"},
    {"an escape", "a = \"\\x\"", "1:7: there is no such escape sequence"},
    {"half a character", "a = \"\\uD800\"", "1:12: there is no such character"},
    {"leading zeros", "a = 012", "1:5: \"012\" is not a value"},
    {"underscores", "a = 1__0", "1:5: \"1__0\" is not a value"},
    {"too large", "a = 9223372036854775808", "1:5: \"9223372036854775808\" is not a value"},
    {"much too large", "a = 1e999", "1:5: \"1e999\" is not a value"},
    {"a point without digits", "a = 1.", "1:5: \"1.\" is not a value"},
    {"a sign before a prefix", "a = +0x1", "1:5: \"+0x1\" is not a value"},
    {"a day that is not", "a = 2023-02-29", "1:5: \"2023-02-29\" is not a value"},
    {"an hour that is not", "a = 24:00:00", "1:5: \"24:00:00\" is not a value"},
    {"a time alone has no zone", "a = 07:32:00Z", "1:5: \"07:32:00Z\" is not a value"},
    {"a word", "a = yes", "1:5: \"yes\" is not a value"},
    {"a list without an end", "not = [toml", "1:8: \"toml\" is not a value"},
    {"a comma too much", "a = {b = 1,}", "1:12: expected a key"},
    {"a key over lines", "\"\"\"a\"\"\" = 1", "1:1: a key must be on one line"},
    {"a control character in a comment", "# \x01", "1:3: a comment has a control character in it"},
    {"not UTF-8", "a = '\xff'", "the text is not UTF-8"},
};

static void refused(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        struct err e = {0};

        check_true(mistakes[i].name, !toml_read(a, str_c(mistakes[i].in), &e) && e.kind == ERR_INVALID);
        check_str(mistakes[i].name, str_c(e.msg), mistakes[i].want);
    }
}

/* Neither brackets nor dots nor headers reach deeper than the bound. */
static void bounded(void **state)
{
    static const char *const steps[] = {"[", "{a=", "{a.b=[", "a."};
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct sb b = {0};
        struct err e = {0};

        sb_c(&b, i == 3 ? "[" : "a = ");
        for (int n = 0; n < 5000; n++)
            sb_c(&b, steps[i]);
        check_true(steps[i], !toml_read(a, sb_view(&b), &e) && e.kind == ERR_INVALID);
        sb_fini(&b);
    }
    struct sb b = {0};
    struct err e = {0};
    sb_fill(&b, '#', TOML_MAX_TEXT + 1);
    check_true("too long", !toml_read(a, sb_view(&b), &e));
    sb_fini(&b);
}

static void sorted(void **state)
{
    struct arena *a = *state;
    struct err e = {0};
    struct tree *t = toml_read(a, STR("b = 1\na = 2\n[z]\n[y]\nd = 1\nc = 2\n[[x]]\nf = 1\ne = 2"), &e);

    toml_sort(t, /* deep= */ false);
    check_str("one level", written(a, t), "a = 2\nb = 1\n\n[[x]]\nf = 1\ne = 2\n\n[y]\nd = 1\nc = 2\n\n[z]\n");
    toml_sort(t, /* deep= */ true);
    check_str("all", written(a, t), "a = 2\nb = 1\n\n[[x]]\ne = 2\nf = 1\n\n[y]\nc = 2\nd = 1\n\n[z]\n");
}

static int setup(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(read_and_written, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(sorted, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
