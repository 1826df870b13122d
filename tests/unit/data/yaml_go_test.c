/* YAML as Go writes it: quotes, order of keys, folding, numbers. */
#include "data/yaml_go.h"

#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"
#include "support/trees.h"

static str written(struct arena *a, const struct tree *t)
{
    struct sb b = {0};

    yaml_go_write(&b, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static const struct {
    const char *name, *text, *want;
} texts[] = {
    {"a word", "abc", "abc"},
    {"nothing", "", "\"\""},
    {"like a number", "1", "\"1\""},
    {"like a fraction", "1.5", "\"1.5\""},
    {"an address", "10.0.100.10", "10.0.100.10"},
    {"a range of addresses", "10.100.0.0/16", "10.100.0.0/16"},
    {"another address", "fd4b:121b:812b::a", "fd4b:121b:812b::a"},
    {"a quantity", "500m", "500m"},
    {"an exponent", "1e3", "\"1e3\""},
    {"a percentage", "5%", "5%"},
    {"true", "true", "\"true\""},
    {"yes", "yes", "\"yes\""},
    {"y", "y", "\"y\""},
    {"null", "null", "\"null\""},
    {"a tilde", "~", "\"~\""},
    {"a duration", "1m0s", "1m0s"},
    {"to base sixty", "1:30", "\"1:30\""},
    {"not quite", "1:75", "1:75"},
    {"a date", "2026-01-15", "\"2026-01-15\""},
    {"a time", "2026-01-15T12:00:00Z", "\"2026-01-15T12:00:00Z\""},
    {"a time with a space", "2026-01-15 12:00:00.5", "\"2026-01-15 12:00:00.5\""},
    {"nearly a date", "2026-01-15x", "2026-01-15x"},
    {"merge", "<<", "\"<<\""},
    {"an option", "--node-labels=\"a=b\"", "--node-labels=\"a=b\""},
    {"a dash", "- x", "'- x'"},
    {"three dashes", "---x", "'---x'"},
    {"a star", "*x", "'*x'"},
    {"a colon at the end", "a:", "'a:'"},
    {"a colon and a space", "a: b", "'a: b'"},
    {"a colon in the middle", "a:b", "a:b"},
    {"a hash behind a space", "a #b", "'a #b'"},
    {"a hash", "a#b", "a#b"},
    {"a quote in front", "'a", "'''a'"},
    {"a space in front", " a", "' a'"},
    {"a space at the end", "a ", "'a '"},
    {"brackets", "[a]", "'[a]'"},
    {"a percent sign in front", "%a", "'%a'"},
    {"a tab", "a\tb", "\"a\\tb\""},
    {"a control character", "a\x01", "\"a\\x01\""},
    {"beyond ASCII", "\xc3\xa9", "\xc3\xa9"},
    {"beyond 16 bits", "\xf0\x9f\x98\x80", "\"\\U0001F600\""},
    {"a line separator",
     "a\xe2\x80\xa8"
     "b",
     "\"a\\Lb\""},
    {"lines", "a\nb\n", "|\n  a\n  b"},
    {"lines without an end", "a\nb", "|-\n  a\n  b"},
    {"lines with two ends", "a\n\n", "|+\n  a\n"},
    {"lines that begin with a space", " a\nb", "|2-\n   a\n  b"},
    {"lines with an empty one", "a\n\nb", "|-\n  a\n\n  b"},
    {"lines with a space at the end", "a \nb", "\"a \\nb\""},
};

static void strings(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct tree *t = tree_new_map(a);
        const struct tree *back;
        struct err e = {0};

        tree_set_str(a, t, "k", str_c(texts[i].text));
        str got = written(a, t);
        check_str(texts[i].name, got, arena_printf(a, "k: %s\n%c", texts[i].want, 0).p);
        check_ok(texts[i].name, tree_parse_yaml(a, "back", got, &back, &e), &e);
        check_str(texts[i].name, tree_str(tree_get(back, "k")), texts[i].text);
    }
}

static const struct {
    const char *name, *in, *want;
} cases[] = {
    {"empty containers", "{a: {}, b: [], c: null, d: true}", "a: {}\nb: []\nc: null\nd: true\n"},
    {"lists are not indented", "{a: [x, {b: 1, c: 2}, [w, z], []]}", "a:\n- x\n- b: 1\n  c: 2\n- - w\n  - z\n- []\n"},
    {"keys in order", "{b: 1, a: {d: 1, c: 2}, B: 3}", "B: 3\na:\n  c: 2\n  d: 1\nb: 1\n"},
    {"numbers in keys", "{a10: 1, a2: 2, a1: 3, a: 4}", "a: 4\na1: 3\na2: 2\na10: 1\n"},
    {"letters come last", "{ab: 1, a-b: 2, a.b: 3, a1: 4}", "a-b: 2\na.b: 3\na1: 4\nab: 1\n"},
    {"keys that need quotes", "{'1': a, 'true': b, 'a: b': c}", "\"1\": a\n'a: b': c\n\"true\": b\n"},
    {"numbers", "{a: 1, b: 1.50, c: 1000000.0, d: 0.00001, e: -0.5, f: 123456.75}",
     "a: 1\nb: 1.5\nc: 1e+06\nd: 1e-05\ne: -0.5\nf: 123456.75\n"},
};

static void structure(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_str(cases[i].name, written(a, tree_yaml(a, cases[i].in)), cases[i].want);
}

#define WORDS "aaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbb ccccccccccccccccccc ddddddddddddddddddd"

/* At the first lone space behind the eightieth column. */
static void long_texts_are_folded(void **state)
{
    struct arena *a = *state;
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "plain", STR(WORDS " e f g"));
    tree_set_str(a, t, "single", STR(WORDS " : f g"));
    check_str("folded", written(a, t), "plain: " WORDS "\n  e f g\nsingle: '" WORDS "\n  : f g'\n");
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
        cmocka_unit_test_setup_teardown(strings, setup, teardown),
        cmocka_unit_test_setup_teardown(structure, setup, teardown),
        cmocka_unit_test_setup_teardown(long_texts_are_folded, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
