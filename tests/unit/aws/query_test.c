#include "aws/query.h"

#include "support/check.h"

static void builds_forms(void **state)
{
    struct sb b = {0};
    struct query q = {.out = &b};
    str values[] = {STR_INIT("x86_64"), STR_INIT("a b&c=d+e/\xc3\xa9")};

    (void)state;
    query_c(&q, "Type", "instant");
    query_some(&q, "Context", (str){0});
    query_some(&q, "Context", STR("c"));
    query_str(&q, "Empty", (str){0});
    query_in(&q, "Filter", 2);
    query_strs(&q, "Value", values, 2);
    query_strs(&q, "None", values, 0);
    query_in(&q, "Ebs", 0);
    query_i64(&q, "Iops", INT64_MIN);
    query_out(&q);
    query_bool(&q, "Yes", true);
    query_out(&q);
    query_only(&q, "Monitoring", "Enabled", STR("false"));
    query_only(&q, "Monitoring", "Nothing", (str){0});
    query_double(&q, "Priority", 0.00001);
    query_time(&q, "StartTime", INT64_C(1767225600999));
    query_b64(&q, "UserData", STR("\xff\xfe>?"));
    check_str("form", sb_view(&b),
              "Type=instant&Context=c&Empty=&Filter.2.Value.1=x86_64&Filter.2.Value.2=a%20b%26c%3Dd%2Be%2F%C3%A9"
              "&Filter.2.Ebs.Iops=-9223372036854775808&Filter.2.Yes=true&Monitoring.Enabled=false&Priority=0.00001"
              "&StartTime=2026-01-01T00%3A00%3A00Z&UserData=%2F%2F4%2BPw%3D%3D");
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(builds_forms)};

    return cmocka_run_group_tests_name("aws/query", tests, NULL, NULL);
}
