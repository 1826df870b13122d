#include "model/quantity.h"

#include "support/check.h"
#include "support/fixture.h"

#define CORE 1000000000ll

static const struct {
    const char *name, *text;
    bool cpu;
    int64_t want;
    bool binary;
    const char *canonical;
} good[] = {
    {"zero", "0", false, 0, false, "0"},
    {"zero with a binary suffix", "0Ki", false, 0, true, "0"},
    {"plus zero", "+0", false, 0, false, "0"},
    {"leading zeros", "000100", false, 100000, false, "100"},
    {"an integer", "2", false, 2000, false, "2"},
    {"a core", "1", true, CORE, false, "1"},
    {"millicores", "250m", true, CORE / 4, false, "250m"},
    {"a fraction prints in milli", "1.5", false, 1500, false, "1500m"},
    {"half a core", ".5", true, CORE / 2, false, "500m"},
    {"a point without digits after it", "1.", false, 1000, false, "1"},
    {"a point, then a suffix", "1.G", false, 1000000000000, false, "1G"},
    {"nanocores", "1n", true, 1, false, "1n"},
    {"microcores", "1500u", true, 1500000, false, "1500u"},
    {"finer than nano goes up", "0.1n", true, 1, false, "1n"},
    {"finer than milli goes up", "0.0001", false, 1, false, "1m"},
    {"a nanobyte goes up to a milli", "1n", false, 1, false, "1m"},
    {"1001 micro is 2 milli", "1001u", false, 2, false, "2m"},
    {"away from zero below zero too", "-0.0001", false, -1, false, "-1m"},
    {"a thousand is 1k", "1000", false, 1000000, false, "1k"},
    {"ten thousand", "10000", false, 10000000, false, "10k"},
    {"1500 stays", "1500", false, 1500000, false, "1500"},
    {"two million", "2000000", false, 2000000000, false, "2M"},
    {"100 cores", "100", true, 100 * CORE, false, "100"},
    {"1k cores", "1k", true, 1000 * CORE, false, "1k"},
    {"decimal kilo", "3k", false, 3000000, false, "3k"},
    {"giga", "3G", false, 3000000000000, false, "3G"},
    {"tera", "3T", false, 3000000000000000, false, "3T"},
    {"peta", "3P", false, 3000000000000000000, false, "3P"},
    {"exa, small enough", "0.009E", false, 9000000000000000000, false, "9P"},
    {"decimal exponent", "1e3", false, 1000000, false, "1k"},
    {"capital E with digits is an exponent", "12E3", false, 12000000, false, "12k"},
    {"signed exponents", "5e-1", false, 500, false, "500m"},
    {"plus in the exponent", "5e+2", false, 500000, false, "500"},
    {"a tiny exponent goes up", "1e-1000000", false, 1, false, "1m"},
    {"zero times anything", "0e1000000", false, 0, false, "0"},
    {"zero exa", "0E", false, 0, false, "0"},
    {"Ki", "1Ki", false, 1024000, true, "1Ki"},
    {"Mi", "512Mi", false, (512ll << 20) * 1000, true, "512Mi"},
    {"Gi", "2Gi", false, (2ll << 30) * 1000, true, "2Gi"},
    {"Ti", "3Ti", false, (3ll << 40) * 1000, true, "3Ti"},
    {"Pi", "8Pi", false, (8ll << 50) * 1000, true, "8Pi"},
    {"1024Ki is 1Mi", "1024Ki", false, (1ll << 20) * 1000, true, "1Mi"},
    {"1536Mi keeps the largest whole suffix", "1536Mi", false, (1536ll << 20) * 1000, true, "1536Mi"},
    {"a fraction of a binary suffix", "1.5Gi", false, (3ll << 29) * 1000, true, "1536Mi"},
    {"half a Gi", "0.5Gi", false, (1ll << 29) * 1000, true, "512Mi"},
    {"not whole: decimal", "1.0001Ki", false, 1024103, true, "1024103m"},
    {"below one turns decimal", "0.0009Ki", false, 922, false, "922m"},
    {"small binary values print plain", "0.5Ki", false, 512000, true, "512"},
    {"negative", "-1", false, -1000, false, "-1"},
    {"negative binary", "-2Gi", false, -(2ll << 30) * 1000, true, "-2Gi"},
    {"negative and small binary", "-0.5Ki", false, -512000, true, "-512"},
    {"negative milli", "-1500m", true, -3 * CORE / 2, false, "-1500m"},
    {"binary cores", "2Ki", true, 2048 * CORE, true, "2Ki"},
    {"the largest", "9223372036854775.807", false, INT64_MAX, false, "9223372036854775807m"},
    {"the smallest", "-9223372036854775.807", false, -INT64_MAX, false, "-9223372036854775807m"},
    {"the most cores", "9223372036.854775807", true, INT64_MAX, false, "9223372036854775807n"},
    {"exact where doubles are not", "9007199254740.993", false, 9007199254740993, false, "9007199254740993m"},
    {"many digits, one unit", "0.000000000931322574615478515625Gi", false, 1000, true, "1"},
    {"many digits, a little more", "0.000000000931322574615478515626Gi", false, 1001, true, "1001m"},
    {"trailing zeros", "1.000000000000000000000000000000000000000000", false, 1000, false, "1"},
};

static void parsing(void **state UNUSED)
{
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        sym name = good[i].cpu ? SYM(CPU) : SYM(MEMORY);
        int64_t v;
        struct err e;
        bool binary;

        check_ok(good[i].name, quantity_parse(str_c(good[i].text), name, &v, &binary, &e), &e);
        check_i64(good[i].name, v, good[i].want);
        check_true(good[i].name, binary == good[i].binary);
        sb_reset(&b);
        quantity_print(&b, name, v, binary);
        check_str(good[i].name, sb_view(&b), good[i].canonical);
    }
    sb_fini(&b);
}

static const struct {
    const char *name, *text, *want;
} bad[] = {
    {"empty", "", "quantity \"\" is not a number"},
    {"a sign alone", "-", "quantity \"-\" is not a number"},
    {"a point alone", ".", "quantity \".\" is not a number"},
    {"two signs", "+-1", "quantity \"+-1\" is not a number"},
    {"a suffix alone", "Gi", "quantity \"Gi\" is not a number"},
    {"two points", "1.2.3", "quantity \"1.2.3\" has an unknown suffix"},
    {"space before", " 1", "quantity \" 1\" is not a number"},
    {"space after", "1 ", "quantity \"1 \" has an unknown suffix"},
    {"capital K", "1K", "quantity \"1K\" has an unknown suffix"},
    {"lower-case ki", "1ki", "quantity \"1ki\" has an unknown suffix"},
    {"mi", "1mi", "quantity \"1mi\" has an unknown suffix"},
    {"GB", "1GB", "quantity \"1GB\" has an unknown suffix"},
    {"an exponent without digits", "1e", "quantity \"1e\" has an unknown suffix"},
    {"an exponent with a sign only", "1e-", "quantity \"1e-\" has an unknown suffix"},
    {"an exponent that is a fraction", "1e1.5", "quantity \"1e1.5\" has an unknown suffix"},
    {"an exponent and a suffix", "1e3Ki", "quantity \"1e3Ki\" has an unknown suffix"},
    {"an exponent without end", "1e99999999999999999999", "quantity \"1e99999999999999999999\" has an unknown suffix"},
    {"hexadecimal", "0x10", "quantity \"0x10\" has an unknown suffix"},
    {"too much", "9Pi", "quantity \"9Pi\" is out of range (about 9.2e15, or 8191Ti, at most)"},
    {"one milli too much", "9223372036854775.808",
     "quantity \"9223372036854775.808\" is out of range (about 9.2e15, or 8191Ti, at most)"},
    {"a fraction of a milli too much", "9223372036854775.8071",
     "quantity \"9223372036854775.8071\" is out of range (about 9.2e15, or 8191Ti, at most)"},
    {"far too much", "1e1000000", "quantity \"1e1000000\" is out of range (about 9.2e15, or 8191Ti, at most)"},
    {"below", "-1E", "quantity \"-1E\" is out of range (about 9.2e15, or 8191Ti, at most)"},
};

static void refusals(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t v = 42;
        bool binary;
        struct err e = {0};

        check_true(bad[i].name, !quantity_parse(str_c(bad[i].text), SYM(MEMORY), &v, &binary, &e));
        check_str(bad[i].name, str_c(e.msg), bad[i].want);
        check_i64(bad[i].name, e.kind, ERR_INVALID);
        check_i64("the result is not touched", v, 42);
    }

    int64_t v;
    bool binary;
    struct err e;
    check_true("cores", !quantity_parse(STR("10G"), SYM(CPU), &v, &binary, &e));
    check_str("cores", str_c(e.msg), "quantity \"10G\" is out of range (9.2 billion cores at most)");
}

static void length_is_bounded(void **state UNUSED)
{
    char text[1000];
    int64_t v;
    bool binary;
    struct err e;

    memset(text, '0', sizeof(text));
    text[255] = '7';
    check_ok("256 characters", quantity_parse((str){text, 256}, SYM(MEMORY), &v, &binary, &e), &e);
    check_i64("256 characters", v, 7000);
    check_true("257 are too many", !quantity_parse((str){text, 257}, SYM(MEMORY), &v, &binary, &e));
    memset(text, '9', sizeof(text));
    memcpy(text + 254, "Ei", 2);
    check_true("the longest number that is scaled", !quantity_parse((str){text, 256}, SYM(MEMORY), &v, &binary, &e));
}

static void extremes_print(void **state UNUSED)
{
    struct sb b = {0};

    quantity_print(&b, SYM(MEMORY), INT64_MIN, true);
    check_str("smallest", sb_view(&b), "-9223372036854775808m");
    sb_reset(&b);
    quantity_print(&b, SYM(CPU), INT64_MAX, true);
    check_str("largest", sb_view(&b), "9223372036854775807n");
    sb_fini(&b);
}

/* ---- lists ---- */

/* "cpu=1,memory=2Gi" */
static struct reslist list_of(struct fixture *f, const char *text)
{
    struct reslist l = {0};
    str rest = str_c(text), item, name, val;

    while (rest.n) {
        int64_t v = 0;
        bool binary = false;
        struct err e;

        (void)str_cut(rest, ',', &item, &rest);
        check_true(text, str_cut(item, '=', &name, &val));
        sym s = sym_of(f->t, name);
        check_ok(text, quantity_parse(val, s, &v, &binary, &e), &e);
        reslist_set(f->a, &l, s, v, binary);
    }
    return l;
}

static str json(struct fixture *f, const struct reslist *l)
{
    for (uint32_t i = 1; i < l->n; i++)
        check_true("sorted by symbol", l->q[i - 1].name.v < l->q[i].name.v);
    sb_reset(&f->b);
    reslist_print_json(&f->b, f->t, l);
    return sb_view(&f->b);
}

static const struct {
    const char *name, *a, *b, *sum, *max, *sub;
} lists[] = {
    {"both empty", "", "", "{}", "{}", "{}"},
    {"left empty", "", "cpu=1,pods=3", "{\"cpu\":\"1\",\"pods\":\"3\"}", "{\"cpu\":\"1\",\"pods\":\"3\"}", "{}"},
    {"right empty", "memory=1Gi", "", "{\"memory\":\"1Gi\"}", "{\"memory\":\"1Gi\"}", "{\"memory\":\"1Gi\"}"},
    {"same names", "cpu=1,memory=2Gi", "cpu=500m,memory=1Gi", "{\"cpu\":\"1500m\",\"memory\":\"3Gi\"}",
     "{\"cpu\":\"1\",\"memory\":\"2Gi\"}", "{\"cpu\":\"500m\",\"memory\":\"1Gi\"}"},
    {"names in turn", "cpu=1,ephemeral-storage=1Gi,zzz=1", "memory=1Gi,pods=2,aaa=3",
     "{\"aaa\":\"3\",\"cpu\":\"1\",\"ephemeral-storage\":\"1Gi\",\"memory\":\"1Gi\",\"pods\":\"2\",\"zzz\":\"1\"}",
     "{\"aaa\":\"3\",\"cpu\":\"1\",\"ephemeral-storage\":\"1Gi\",\"memory\":\"1Gi\",\"pods\":\"2\",\"zzz\":\"1\"}",
     "{\"cpu\":\"1\",\"ephemeral-storage\":\"1Gi\",\"zzz\":\"1\"}"},
    {"zero stays", "nvidia.com/gpu=0", "cpu=0", "{\"cpu\":\"0\",\"nvidia.com/gpu\":\"0\"}",
     "{\"cpu\":\"0\",\"nvidia.com/gpu\":\"0\"}", "{\"nvidia.com/gpu\":\"0\"}"},
    {"zero takes the other's form", "memory=0", "memory=1Gi", "{\"memory\":\"1Gi\"}", "{\"memory\":\"1Gi\"}",
     "{\"memory\":\"-1Gi\"}"},
    {"below zero", "cpu=1", "cpu=3", "{\"cpu\":\"4\"}", "{\"cpu\":\"3\"}", "{\"cpu\":\"-2\"}"},
    {"sums saturate", "memory=9P", "memory=9P", "{\"memory\":\"9223372036854775807m\"}", "{\"memory\":\"9P\"}",
     "{\"memory\":\"0\"}"},
    {"the form is the left one's", "memory=1G", "memory=1Gi", "{\"memory\":\"2073741824\"}", "{\"memory\":\"1Gi\"}",
     "{\"memory\":\"-73741824\"}"},
};

static void list_operators(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct reslist l = list_of(f, lists[i].a), other = list_of(f, lists[i].b), sum = reslist_dup(f->a, &l);
        struct reslist max = reslist_dup(f->a, &l), sub = reslist_dup(f->a, &l);

        reslist_add(f->a, &sum, &other);
        check_str(lists[i].name, json(f, &sum), lists[i].sum);
        reslist_max(f->a, &max, &other);
        check_str(lists[i].name, json(f, &max), lists[i].max);
        reslist_sub(&sub, &other);
        check_str(lists[i].name, json(f, &sub), lists[i].sub);
    }
}

static void list_lookup(void **state)
{
    struct fixture *f = *state;
    struct reslist l = list_of(f, "pods=0,cpu=2,memory=1Gi");

    check_i64("value", reslist_value(&l, SYM(CPU)), 2 * CORE);
    check_true("present with zero", reslist_get(&l, SYM(PODS)) != NULL);
    check_true("absent", reslist_get(&l, SYM(NODES)) == NULL);
    check_i64("absent counts as zero", reslist_value(&l, SYM(NODES)), 0);
    reslist_set(f->a, &l, SYM(CPU), 5, false);
    check_str("replaced", json(f, &l), "{\"cpu\":\"5n\",\"memory\":\"1Gi\",\"pods\":\"0\"}");
    reslist_add(f->a, &l, &l);
    check_str("added to itself", json(f, &l), "{\"cpu\":\"10n\",\"memory\":\"2Gi\",\"pods\":\"0\"}");
}

static void json_names_are_escaped(void **state)
{
    struct fixture *f = *state;
    struct reslist l = {0};

    reslist_set(f->a, &l, sym_of(f->t, STR("a\"b\\\n")), 1000, false);
    check_str("escapes", json(f, &l), "{\"a\\\"b\\\\\\u000a\":\"1\"}");
}

static void well_formed(void **state UNUSED)
{
    static const char *const yes[] = {"1", "100m", "1.5Gi", "-1", "+2k", "1e3", "9223372036854775807Ei", ".5", "1."};
    static const char *const no[] = {"", "m", "1x", "vcpus", "1 ", "--1", "1e", "5%"};

    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        check_true(yes[i], quantity_is(str_c(yes[i])));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        check_true(no[i], !quantity_is(str_c(no[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed),
        cmocka_unit_test(parsing),
        cmocka_unit_test(refusals),
        cmocka_unit_test(length_is_bounded),
        cmocka_unit_test(extremes_print),
        cmocka_unit_test_setup_teardown(list_operators, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(list_lookup, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(json_names_are_escaped, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
