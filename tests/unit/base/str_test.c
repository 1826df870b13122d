#include "base/str.h"

#include <math.h>

#include "support/check.h"

static const struct {
    const char *name, *a, *b;
    int want;
} cmp_cases[] = {
    {"equal", "abc", "abc", 0},
    {"both empty", "", "", 0},
    {"empty before all", "", "a", -1},
    {"a prefix comes first", "ab", "abc", -1},
    {"first difference decides", "abd", "abca", 1},
    {"upper case before lower", "Z", "a", -1},
    {"bytes are unsigned", "\xc3\xa9", "z", 1},
};

static int sign(int v)
{
    return (v > 0) - (v < 0);
}

static void comparison(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cmp_cases); i++) {
        str a = str_c(cmp_cases[i].a), b = str_c(cmp_cases[i].b);

        check_i64(cmp_cases[i].name, sign(str_cmp(a, b)), cmp_cases[i].want);
        check_i64(cmp_cases[i].name, sign(str_cmp(b, a)), -cmp_cases[i].want);
        check_true(cmp_cases[i].name, str_eq(a, b) == (cmp_cases[i].want == 0));
    }
    check_true("a null string is empty", str_eq((str){0}, STR("")));
    check_true("a null C string is empty", str_eq(str_c(NULL), STR("")));
    check_i64("two null strings", str_cmp((str){0}, (str){0}), 0);
    check_true("a zero byte is a byte like any other", !str_eq(STR("a\0b"), STR("a\0c")));
}

static const struct {
    const char *name, *s, *part;
    bool starts, ends, contains;
} part_cases[] = {
    {"all of it", "node", "node", true, true, true},
    {"the beginning", "node-1", "node", true, false, true},
    {"the end", "my-node", "node", false, true, true},
    {"the middle", "a-node-b", "node", false, false, true},
    {"not there", "nod-e", "node", false, false, false},
    {"longer than the whole", "no", "node", false, false, false},
    {"nothing is everywhere", "node", "", true, true, true},
    {"nothing in nothing", "", "", true, true, true},
    {"something in nothing", "", "x", false, false, false},
};

static void parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(part_cases); i++) {
        str s = str_c(part_cases[i].s), part = str_c(part_cases[i].part);

        check_true(part_cases[i].name, str_starts(s, part) == part_cases[i].starts);
        check_true(part_cases[i].name, str_ends(s, part) == part_cases[i].ends);
        check_true(part_cases[i].name, str_contains(s, part) == part_cases[i].contains);
    }
    check_true("null in null", str_starts((str){0}, (str){0}) && str_ends((str){0}, (str){0}));
    check_true("null contains null", str_contains((str){0}, (str){0}));
}

static const struct {
    const char *name, *s;
    size_t from, to;
    const char *want;
} sub_cases[] = {
    {"inside", "abcdef", 2, 4, "cd"},
    {"all", "abc", 0, 3, "abc"},
    {"the end is clamped", "abc", 1, 99, "bc"},
    {"so is the beginning", "abc", 50, 99, ""},
    {"crossed", "abc", 2, 1, ""},
    {"of nothing", "", 0, 1, ""},
    {"of a null string", NULL, 0, 1, ""},
};

static void substrings(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sub_cases); i++)
        check_str(sub_cases[i].name, str_sub(str_c(sub_cases[i].s), sub_cases[i].from, sub_cases[i].to),
                  sub_cases[i].want);
}

static const struct {
    const char *name, *s, *want;
} trim_cases[] = {
    {"both sides", " \t a b \r\n", "a b"},
    {"nothing to do", "ab", "ab"},
    {"only blanks", " \n\t\r ", ""},
    {"empty", "", ""},
    {"null", NULL, ""},
    {"a form feed stays", "\fab", "\fab"},
};

static void trimming(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(trim_cases); i++)
        check_str(trim_cases[i].name, str_trim(str_c(trim_cases[i].s)), trim_cases[i].want);
}

static const struct {
    const char *name, *s, *head, *tail;
    bool found;
} cut_cases[] = {
    {"in the middle", "key=value", "key", "value", true},
    {"only the first counts", "a=b=c", "a", "b=c", true},
    {"at the beginning", "=v", "", "v", true},
    {"at the end", "k=", "k", "", true},
    {"not there", "key", "key", "", false},
    {"empty", "", "", "", false},
    {"null", NULL, "", "", false},
};

static void cutting(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cut_cases); i++) {
        str head, tail;

        check_true(cut_cases[i].name, str_cut(str_c(cut_cases[i].s), '=', &head, &tail) == cut_cases[i].found);
        check_str(cut_cases[i].name, head, cut_cases[i].head);
        check_str(cut_cases[i].name, tail, cut_cases[i].tail);
    }
}

static const struct {
    const char *name, *s;
    bool ok;
    int64_t want;
} number_cases[] = {
    {"zero", "0", true, 0},
    {"positive", "42", true, 42},
    {"plus sign", "+42", true, 42},
    {"negative", "-42", true, -42},
    {"minus zero", "-0", true, 0},
    {"leading zeros", "007", true, 7},
    {"largest", "9223372036854775807", true, INT64_MAX},
    {"one too many", "9223372036854775808", false, 0},
    {"smallest", "-9223372036854775808", true, INT64_MIN},
    {"one too few", "-9223372036854775809", false, 0},
    {"far too many digits", "99999999999999999999999", false, 0},
    {"empty", "", false, 0},
    {"null", NULL, false, 0},
    {"only a sign", "-", false, 0},
    {"two signs", "+-1", false, 0},
    {"a blank", " 1", false, 0},
    {"a letter", "1x", false, 0},
    {"a decimal point", "1.0", false, 0},
};

static void numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(number_cases); i++) {
        int64_t v = 12345;

        check_true(number_cases[i].name, str_to_i64(str_c(number_cases[i].s), &v) == number_cases[i].ok);
        check_i64(number_cases[i].name, v, number_cases[i].ok ? number_cases[i].want : 12345); /* success only */
    }
}

static const struct {
    const char *name, *s;
    bool ok;
    double want;
} float_cases[] = {
    {"an integer", "12", true, 12},
    {"a fraction", "-1.5", true, -1.5},
    {"nothing before the point", ".5", true, 0.5},
    {"nothing after it", "5.", true, 5},
    {"a sign and an exponent", "+2E-1", true, 0.2},
    {"hexadecimal", "0x1.8p1", true, 3},
    {"infinite", "-Infinity", true, -INFINITY},
    {"infinite, short", "iNf", true, INFINITY},
    {"too small is zero", "1e-999", true, 0},
    {"nothing", "", false, 0},
    {"a point", ".", false, 0},
    {"a sign", "-", false, 0},
    {"blanks", " 1", false, 0},
    {"something after it", "1x", false, 0},
    {"an exponent without digits", "1e", false, 0},
    {"hexadecimal without exponent", "0x10", false, 0},
    {"too large", "1e999", false, 0},
    {"underscores", "1_000", false, 0},
    {"a sign before nan", "+nan", false, 0},
    {"words of C", "nan(1)", false, 0},
};

static void floats(void **state)
{
    double v;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(float_cases); i++) {
        v = 12345;
        check_true(float_cases[i].name, str_to_double(str_c(float_cases[i].s), &v) == float_cases[i].ok);
        check_double(float_cases[i].name, v, float_cases[i].ok ? float_cases[i].want : 12345);
    }
    check_true("not a number", str_to_double(STR("NaN"), &v) && isnan(v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparison), cmocka_unit_test(parts),   cmocka_unit_test(substrings),
        cmocka_unit_test(trimming),   cmocka_unit_test(cutting), cmocka_unit_test(numbers),
        cmocka_unit_test(floats),
    };

    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
