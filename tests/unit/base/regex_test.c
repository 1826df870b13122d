#include "base/regex.h"

#include "base/sb.h"
#include "support/check.h"

/* What Go's package regexp finds; start -1: nothing. */
static const struct {
    const char *pattern, *text;
    int start, end;
} finds[] = {
    {"", "abc", 0, 0},
    {"b", "abc", 1, 2},
    {"^b", "abc", -1, 0},
    {"c$", "abc", 2, 3},
    {"a|ab", "ab", 0, 1},
    {"ab|a", "ab", 0, 2},
    {"a*", "aaa", 0, 3},
    {"a*?", "aaa", 0, 0},
    {"a+?", "aaa", 0, 1},
    {"(?U)a+", "aaa", 0, 1},
    {"(?U)a+?", "aaa", 0, 3},
    {"a{2}", "aaa", 0, 2},
    {"a{2,}", "aaa", 0, 3},
    {"a{1,2}?", "aaa", 0, 1},
    {"a{,2}", "a{,2}", 0, 5},
    {"x{2", "x{2", 0, 3},
    {"(a*)*", "aab", 0, 2},
    {"(a|b)*c", "ababc", 0, 5},
    {"[a-c]+", "xbcax", 1, 4},
    {"[^a-c]+", "abxyc", 2, 4},
    {"[]a]+", "]a", 0, 2},
    {"[a-]+", "a-", 0, 2},
    {"[[:alpha:]]+", "1ab2", 1, 3},
    {"[[:^alpha:]]+", "a12b", 1, 3},
    {"[\\d-]+", "a1-2", 1, 4},
    {"[^\\d]", "1a", 1, 2},
    {"\\d+\\s\\w+", "12 ab_", 0, 6},
    {"\\D", "1x", 1, 2},
    {".", "\n", -1, 0},
    {"(?s).", "\n", 0, 1},
    {"(?m)^b$", "a\nb\nc", 2, 3},
    {"(?i)HeLLo", "xhello", 1, 6},
    {"(?i:a)b", "Ab", 0, 2},
    {"(?i:a)b", "AB", -1, 0},
    {"a(?i)b|c", "aB", 0, 2},
    {"a(?i)b|c", "C", 0, 1},
    {"\\bfoo\\b", "a foo.", 2, 5},
    {"\\Boo", "foo", 1, 3},
    {"\\Aa\\z", "a", 0, 1},
    {"\\x41\\x{e9}\\101",
     "A\xc3\xa9"
     "A",
     0, 4},
    {"\\Q.*\\E+", "a.**", 1, 4},
    {"(?P<n>a)(?<m>b)", "ab", 0, 2},
    {"\xc3\xa9+", "\xc3\xa9\xc3\xa9", 0, 4},
    {"^.$", "\xc3\xa9", 0, 2},
    {"^.$", "\xff", 0, 1},
    {"\\.\\-\\/\\$", ".-/$", 0, 4},
    {"^(([0-9]+(s|m|h))+|Never)$", "1h30m5s", 0, 7},
    {"^(([0-9]+(s|m|h))+|Never)$", "1hr", -1, 0},
    {"^(@(annually|yearly))|((.+)\\s(.+))$", "@yearly!", 0, 7},
};

static void finding(void **state)
{
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(finds); i++) {
        struct err e;
        size_t start = 0, end = 0;
        const struct regex *r = regex_compile(a, str_c(finds[i].pattern), &e);

        check_ok(finds[i].pattern, r != NULL, &e);
        bool found = regex_find(r, str_c(finds[i].text), 0, &start, &end);
        check_i64(finds[i].pattern, found ? (int64_t)start : -1, finds[i].start);
        check_true(finds[i].pattern, regex_matches(r, str_c(finds[i].text)) == found);
        if (found)
            check_i64(finds[i].pattern, (int64_t)end, finds[i].end);
    }
}

static const struct {
    const char *pattern, *want;
} bad[] = {
    {"[a", "missing closing ]: `[a`"},
    {"(a", "missing closing ): `(a`"},
    {"a)", "unexpected ): `a)`"},
    {"*a", "missing argument to repetition operator: `*`"},
    {"a|+?", "missing argument to repetition operator: `+?`"},
    {"a**", "invalid nested repetition operator: `**`"},
    {"a{2}{3}", "invalid nested repetition operator: `{2}{3}`"},
    {"a{1001}", "invalid repeat count: `{1001}`"},
    {"a{3,2}", "invalid repeat count: `{3,2}`"},
    {"[z-a]", "invalid character class range: `z-a`"},
    {"[[:foo:]]", "invalid character class range: `[:foo:]`"},
    {"\\y", "invalid escape sequence: `\\y`"},
    {"(a)\\1", "invalid escape sequence: `\\1`"},
    {"a\\", "trailing backslash at end of expression: ``"},
    {"(?=a)", "invalid or unsupported Perl syntax: `(?=`"},
    {"((a{1000}){1000}){1000}", "expression too large"},
    {"((){1000}){1000}{2}", "invalid nested repetition operator: `{1000}{2}`"},
    {"(((){1000}){1000}){1000}", "expression too large"},
};

static void refusals(void **state)
{
    struct arena *a = *state;
    struct sb deep = {0};
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        e = (struct err){0};
        check_true(bad[i].pattern, regex_compile(a, str_c(bad[i].pattern), &e) == NULL);
        check_str(bad[i].pattern, str_c(e.msg), bad[i].want);
    }
    sb_fill(&deep, '(', 1000);
    check_true("depth", regex_compile(a, sb_view(&deep), &e) == NULL);
    sb_fini(&deep);
}

/* A matcher that goes back would take longer than the universe has. */
static void it_takes_no_longer_than_the_text(void **state)
{
    struct arena *a = *state;
    struct sb text = {0};
    struct err e;
    const struct regex *r = regex_compile(a, STR("^(a|a)*(a|aa)+$"), &e);

    sb_fill(&text, 'a', 20000);
    check_true("all of it", regex_matches(r, sb_view(&text)));
    sb_char(&text, 'b');
    check_true("but the end", !regex_matches(r, sb_view(&text)));
    check_true("the cost is known", regex_cost(r, text.n) < 1000000);
    sb_fini(&text);
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
        cmocka_unit_test(finding),
        cmocka_unit_test(refusals),
        cmocka_unit_test(it_takes_no_longer_than_the_text),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
