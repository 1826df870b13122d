#include "data/yaml_scalar.h"

#include "support/check.h"

static const struct {
    const char *text;
    enum yaml_meaning means;
    const char *number;
} cases[] = {
    {"", YAML_NULL, ""},
    {"~", YAML_NULL, ""},
    {"null", YAML_NULL, ""},
    {"Null", YAML_NULL, ""},
    {"NULL", YAML_NULL, ""},
    {"nUll", YAML_STRING, ""},
    {"y", YAML_TRUE, ""},
    {"Y", YAML_TRUE, ""},
    {"yes", YAML_TRUE, ""},
    {"Yes", YAML_TRUE, ""},
    {"YES", YAML_TRUE, ""},
    {"yEs", YAML_STRING, ""},
    {"true", YAML_TRUE, ""},
    {"True", YAML_TRUE, ""},
    {"TRUE", YAML_TRUE, ""},
    {"on", YAML_TRUE, ""},
    {"On", YAML_TRUE, ""},
    {"ON", YAML_TRUE, ""},
    {"n", YAML_FALSE, ""},
    {"N", YAML_FALSE, ""},
    {"no", YAML_FALSE, ""},
    {"No", YAML_FALSE, ""},
    {"NO", YAML_FALSE, ""},
    {"false", YAML_FALSE, ""},
    {"False", YAML_FALSE, ""},
    {"FALSE", YAML_FALSE, ""},
    {"off", YAML_FALSE, ""},
    {"Off", YAML_FALSE, ""},
    {"OFF", YAML_FALSE, ""},
    {"offer", YAML_STRING, ""},
    {".inf", YAML_NOT_FINITE, ""},
    {"-.INF", YAML_NOT_FINITE, ""},
    {"+.Inf", YAML_NOT_FINITE, ""},
    {".nan", YAML_NOT_FINITE, ""},
    {".NaN", YAML_NOT_FINITE, ""},
    {"inf", YAML_STRING, ""},

    {"0", YAML_NUMBER, "0"},
    {"-0", YAML_NUMBER, "-0"},
    {"12", YAML_NUMBER, "12"},
    {"-12", YAML_NUMBER, "-12"},
    {"+12", YAML_NUMBER, "12"},
    {"1_000", YAML_NUMBER, "1000"},
    {"0x1F", YAML_NUMBER, "31"},
    {"-0x1f", YAML_NUMBER, "-31"},
    {"0X_1f", YAML_NUMBER, "31"},
    {"0o17", YAML_NUMBER, "15"},
    {"017", YAML_NUMBER, "15"},
    {"0b101", YAML_NUMBER, "5"},
    {"-0b1", YAML_NUMBER, "-1"},
    {"00", YAML_NUMBER, "0"},
    {"-00", YAML_NUMBER, "0"},
    {"08", YAML_NUMBER, "8"},
    {"0089", YAML_NUMBER, "89"},
    {"1.50", YAML_NUMBER, "1.50"},
    {".5", YAML_NUMBER, "0.5"},
    {"-.5e3", YAML_NUMBER, "-0.5e3"},
    {"5.", YAML_NUMBER, "5"},
    {"5.e3", YAML_NUMBER, "5e3"},
    {"1e3", YAML_NUMBER, "1e3"},
    {"1E+3", YAML_NUMBER, "1E+3"},
    {"00.5", YAML_NUMBER, "0.5"},
    {"+0.0", YAML_NUMBER, "0.0"},
    {"1_0.5_0", YAML_NUMBER, "10.50"},
    {"0xffffffffffffffff", YAML_NUMBER, "18446744073709551615"},
    {"-0x8000000000000000", YAML_NUMBER, "-9223372036854775808"},
    {"123456789012345678901234567890", YAML_NUMBER, "123456789012345678901234567890"},

    {"0x", YAML_STRING, ""},
    {"0b2", YAML_STRING, ""},
    {"0o8", YAML_STRING, ""},
    {"0x1ffffffffffffffff", YAML_STRING, ""},
    {"-0x8000000000000001", YAML_STRING, ""},
    {"-", YAML_STRING, ""},
    {"+", YAML_STRING, ""},
    {".", YAML_STRING, ""},
    {"..", YAML_STRING, ""},
    {"-.", YAML_STRING, ""},
    {"1e", YAML_STRING, ""},
    {"1e+", YAML_STRING, ""},
    {"e3", YAML_STRING, ""},
    {"1.2.3", YAML_STRING, ""},
    {"_1", YAML_STRING, ""},
    {"._5", YAML_STRING, ""},
    {"1 2", YAML_STRING, ""},
    {"100m", YAML_STRING, ""},
    {"2Gi", YAML_STRING, ""},
    {"1:30", YAML_STRING, ""},
    {"2024-01-02", YAML_STRING, ""},
    {"2024-01-02T03:04:05Z", YAML_STRING, ""},
    {"--1", YAML_STRING, ""},
    {"web", YAML_STRING, ""},
    {"<<", YAML_STRING, ""},
};

static void means_what_go_reads(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        str s = str_c(cases[i].text);

        check_i64(cases[i].text, yaml_resolve(s), cases[i].means);
        if (cases[i].means != YAML_NUMBER)
            continue;
        str number = yaml_number_text(a, s);
        check_str(cases[i].text, number, cases[i].number);
        check_true(cases[i].text, json_is_number(number));
    }
}

static const struct {
    const char *text;
    bool number;
} json_cases[] = {
    {"0", true},   {"-0", true},   {"10", true},   {"1.5", true},  {"1e5", true},  {"-1.5E-10", true},
    {"", false},   {"-", false},   {"01", false},  {"1.", false},  {".5", false},  {"+1", false},
    {"1e", false}, {"1e+", false}, {"0x1", false}, {"1_0", false}, {"NaN", false}, {"1 ", false},
};

static void knows_json_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(json_cases); i++)
        check_true(json_cases[i].text, json_is_number(str_c(json_cases[i].text)) == json_cases[i].number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_what_go_reads),
        cmocka_unit_test(knows_json_numbers),
    };

    return cmocka_run_group_tests_name("data/yaml_scalar", tests, NULL, NULL);
}
