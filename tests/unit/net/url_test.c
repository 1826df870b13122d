#include "base/arena.h"
#include "base/sb.h"
#include "net/http.h"
#include "support/check.h"

static const struct {
    const char *name;
    str s;
    bool query;
    const char *want; /* NULL: refused */
} decode_cases[] = {
    {"plain", STR_INIT("abc"), false, "abc"},
    {"empty", STR_INIT(""), false, ""},
    {"escapes", STR_INIT("%41%2f%7E"), false, "A/~"},
    {"either case", STR_INIT("%c3%A9"), false, "\xc3\xa9"},
    {"a plus in a path", STR_INIT("a+b"), false, "a+b"},
    {"a plus in a query", STR_INIT("a+b%2B"), true, "a b+"},
    {"a percent sign of its own", STR_INIT("100%25"), false, "100%"},
    {"decoded once", STR_INIT("%2541"), false, "%41"},
    {"cut off after the sign", STR_INIT("a%"), false, NULL},
    {"cut off after a digit", STR_INIT("a%4"), false, NULL},
    {"no digits", STR_INIT("%zz"), false, NULL},
    {"one digit", STR_INIT("%4g"), false, NULL},
    {"a NUL byte", STR_INIT("a%00"), false, NULL},
    {"a raw NUL byte", STR_INIT("a\0b"), false, NULL},
};

static void decoding(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(decode_cases); i++) {
        str got = STR("untouched");
        bool ok = url_decode(a, decode_cases[i].s, decode_cases[i].query, &got);

        check_true(decode_cases[i].name, ok == (decode_cases[i].want != NULL));
        check_str(decode_cases[i].name, got, ok ? decode_cases[i].want : "untouched");
    }
}

static void encoding(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};
    char all[255];
    str back;

    (void)state;
    url_encode(&b, STR("aZ09-._~ /?#[]@!$&'()*+,;=%\xc3\xa9"));
    check_str("what is encoded", sb_view(&b),
              "aZ09-._~%20%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%C3%A9");
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    sb_reset(&b);
    url_encode(&b, (str){all, sizeof(all)});
    check_true("it comes back", url_decode(a, sb_view(&b), true, &back) && str_eq(back, (str){all, sizeof(all)}));
    sb_fini(&b);
}

static const struct {
    const char *name, *query, *want;
} query_cases[] = {
    {"nothing", "", ""},
    {"one", "a=b", "[a=b]"},
    {"several", "a=b&c=d&a=e", "[a=b][c=d][a=e]"},
    {"no value", "watch&a=", "[watch=][a=]"},
    {"no name", "=b", "[=b]"},
    {"two signs", "a=b=c", "[a=b=c]"},
    {"empty pairs", "&&a=b&", "[a=b]"},
    {"escapes", "labelSelector=app%3Dweb%2Ctier+in+(a%26b)", "[labelSelector=app=web,tier in (a&b)]"},
    {"a bad name ends it", "a=b&%=c&d=e", "[a=b]!"},
    {"a bad value ends it", "a=%4", "!"},
};

static void queries(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(query_cases); i++) {
        str rest = str_c(query_cases[i].query), name, value;
        bool bad;

        sb_reset(&b);
        while (query_next(a, &rest, &name, &value, &bad))
            sb_printf(&b, "[" STR_FMT "=" STR_FMT "]", STR_ARG(name), STR_ARG(value));
        if (bad)
            sb_char(&b, '!');
        check_str(query_cases[i].name, sb_view(&b), query_cases[i].want);
    }
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(encoding),
        cmocka_unit_test(queries),
    };

    return cmocka_run_group_tests_name("net/url", tests, NULL, NULL);
}
