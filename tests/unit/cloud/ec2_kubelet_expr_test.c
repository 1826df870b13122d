/* Expressions in a kubelet's settings (aws 11.3, K11 to K18). */
#include "cloud/ec2/kubelet_expr.h"

#include "support/check.h"
#include "support/fixture.h"

static const struct ec2_expr_vars m5_large = {2, 8192, 3, 10, 29, STR_INIT("m5.large")};

static const struct {
    const char *source;
    int64_t want;
} sums[] = {
    {"default_enis * (ips_per_eni - 1) + 2", 29},
    {"min(110, default_enis * (ips_per_eni - 1) * 16 + 2)", 110},
    {"vcpus > 30 ? 250 : 110", 110},
    {"max(60, vcpus * 30)", 60},
    {"memory_mib / 100 + max_pods * 11", 400},
    {"255 + 11 * max_pods", 574},
    {"max_pods", 29},
    {"min(1, 2)", 1},
    {"max(1, 2)", 2},
    {"min(1, 2.5)", 1},
    {"max(1, 2.5)", 2},
    {"min(1.5, 2)", 1},
    {"max(1.5, 2)", 2},
    {"min(1.5, 2.5)", 1},
    {"max(1.5, 2.5)", 2},
    {"double(memory_mib) * 0.075", 614},
    {"-1.9", -1},
    {"instance_type.startsWith('m5') ? 1 : 2", 1},
    {"vcpus - 10", -8},
};

static void k11_arithmetic(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        struct err e = {0};
        int64_t v = 0;

        check_ok(sums[i].source, ec2_expr_check(f->a, str_c(sums[i].source), &e), &e);
        check_ok(sums[i].source, ec2_expr_eval(f->a, str_c(sums[i].source), &m5_large, &v, &e), &e);
        check_i64(sums[i].source, v, sums[i].want);
    }
}

static void k12_what_has_no_value(void **state)
{
    static const char *const sources[] = {
        "1000 / (vcpus - 2)", "1000 % (vcpus - 2)",          "1.0 / (double(vcpus) - 2.0)",
        "0.0 / 0.0",          "9223372036854775807 + vcpus", "1e300 * 10.0",
        "-1.0 / 0.0"};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct err e = {0};
        int64_t v;

        check_true(sources[i], !ec2_expr_eval(f->a, str_c(sources[i]), &m5_large, &v, &e) && e.msg[0]);
    }
    struct err e = {0};
    check_ok("it is right for other machines", ec2_expr_check(f->a, STR("1000 / (vcpus - 2)"), &e), &e);
}

static void k13_large_machines(void **state)
{
    static const int64_t sizes[] = {512, 8192, 65536, 1048576, 12582912, 25165824};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct ec2_expr_vars v = {448, sizes[i], 15, 50, 737, STR("u-24tb1.metal")};
        struct err e = {0};
        int64_t got = 0;

        check_ok("size", ec2_expr_eval(f->a, STR("memory_mib * 1048576 / 100 + max_pods * 11534336"), &v, &got, &e),
                 &e);
        check_i64("size", got, sizes[i] * 1048576 / 100 + INT64_C(737) * 11534336);
    }
}

static const struct {
    const char *key, *value, *want; /* NULL: left out */
} entries[] = {
    {"cpu", "100m", "100m"},
    {"memory", "1.5Gi", "1.5Gi"},
    {"cpu", "vcpus * 30", "60m"},
    {"cpu", "vcpus * 30 + 1", "70m"},
    {"memory", "256", "256"},
    {"memory", "memory_mib / 100", "96Mi"},
    {"memory", "max_pods * 11 + 81", "400Mi"},
    {"ephemeral-storage", "vcpus / 8 + 1", "1Gi"},
    {"pid", "vcpus * 1000", "2000"},
    {"cpu", "vcpus - 2", "0m"},
    {"memory", "0 * vcpus", "0Mi"},
    {"cpu", "10.9 * 2.0", "30m"},
    {"cpu", "9223372036854775800 + vcpus", "9223372036854775802m"},
    {"cpu", "9223372036854775807", "9223372036854775807"},
    {"cpu", "vcpus - 3", NULL},
    {"cpu", "1 / (vcpus - 2)", NULL},
    {"cpu", "nonsense", NULL},
};

static void k14_k15_reservations(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        struct ec2_kv in[] = {{str_c(entries[i].key), str_c(entries[i].value)}, {STR("zone"), STR("7")}};
        str dropped;
        struct ec2_kvs m = ec2_kvs_resolve(f->a, &(struct ec2_kvs){in, 2, true}, &m5_large, /* gate= */ true, &dropped);

        check_i64(entries[i].value, m.n, entries[i].want ? 2 : 1);
        if (entries[i].want)
            check_str(entries[i].value, m.v[0].value, entries[i].want);
        check_str("the others are kept", m.v[m.n - 1].value, "7");
        check_true(entries[i].value, (dropped.n == 0) == (entries[i].want != NULL));
        check_true(entries[i].value, dropped.n == 0 || str_starts(dropped, STR("cpu: ")));
    }
}

static void k16_only_where_there_is_one(void **state)
{
    struct fixture *f = *state;
    struct ec2_kv in[] = {{STR("cpu"), STR("vcpus * 30")}, {STR("memory"), STR("100Mi")}};
    str dropped;
    struct ec2_kvs m = ec2_kvs_resolve(f->a, &(struct ec2_kvs){in, 2, true}, &m5_large, /* gate= */ false, &dropped);

    check_true("without the gate only what needs none", m.n == 1 && str_is(m.v[0].key, "memory"));
    check_str("and it is said", dropped, "cpu: expressions are not enabled");
    m = ec2_kvs_resolve(f->a, &(struct ec2_kvs){0}, &m5_large, /* gate= */ true, NULL);
    check_true("nothing stays nothing", m.n == 0 && !m.present);
}

static const struct {
    const char *source, *want;
} mistakes[] = {
    {"vcpus *", NULL},
    {"nope + 1", "1:1: undeclared reference to 'nope'"},
    {"vcpus > 2", "the expression must give an int or a double"},
    {"instance_type", "the expression must give an int or a double"},
    {"vcpus > 90 ? 'x' : 1", "the expression must give an int or a double"},
    {"[vcpus]", "the expression must give an int or a double"},
    {"uint(3)", "the expression must give an int or a double"},
    {"vcpus + 'x'", "no such overload"},
    {"vcpus * 1.5", "no such overload"},
    {"min('a', 1)", "no such overload"},
    {"min(1)", NULL},
    {"", "the expression is empty"},
    {" \n\t", "the expression is empty"},
};

static void k17_mistakes(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        struct err e = {0};

        check_true(mistakes[i].source,
                   !ec2_expr_check(f->a, str_c(mistakes[i].source), &e) && e.kind == ERR_INVALID && e.msg[0]);
        if (mistakes[i].want)
            check_str(mistakes[i].source, str_c(e.msg), mistakes[i].want);
    }
}

/* Many evaluations in one arena: none of them leaves anything behind, or has a say in another. */
static void k18_evaluations_do_not_meet(void **state)
{
    struct fixture *f = *state;
    size_t before = arena_used(f->a);

    for (int64_t i = 1; i <= 1000; i++) {
        struct ec2_expr_vars v = {i, 8192, 3, 10, 29, STR("m5.large")};
        struct err e = {0};
        int64_t got = 0;

        check_ok("eval", ec2_expr_eval(f->a, STR("max(60, vcpus * 30)"), &v, &got, &e), &e);
        check_i64("eval", got, MAX(60, i * 30));
    }
    check_true("nothing is left", arena_used(f->a) == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(k11_arithmetic, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k12_what_has_no_value, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k13_large_machines, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k14_k15_reservations, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k16_only_where_there_is_one, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k17_mistakes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(k18_evaluations_do_not_meet, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
