#include "model/labels.h"

#include <stdlib.h>

#include "support/check.h"

#define DIGITS_63 "123456789012345678901234567890123456789012345678901234567890123"

struct fixture {
    struct arena *a;
    struct syms *t;
    struct label_rules rules;
};

static int sym_cmp(const void *a, const void *b)
{
    const sym *x = a, *y = b;

    return x->v < y->v ? -1 : x->v > y->v;
}

static int setup(void **state)
{
    static struct fixture f;
    static sym known[9];
    static const str domains[] = {STR_INIT("cloud.example")};

    f = (struct fixture){.a = arena_new(0), .t = syms_new()};
    sym all[] = {SYM(NP),    SYM(ZONE),     SYM(REGION),
                 SYM(ITYPE), SYM(ARCH),     SYM(OS),
                 SYM(CT),    SYM(WINBUILD), sym_of(f.t, STR("cloud.example/size"))};
    memcpy(known, all, sizeof(all));
    qsort(known, ARRAY_LEN(known), sizeof(known[0]), sym_cmp);
    f.rules = (struct label_rules){.well_known = known,
                                   .n_well_known = ARRAY_LEN(known),
                                   .restricted_domains = domains,
                                   .n_restricted_domains = ARRAY_LEN(domains)};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->a);
    syms_free(f->t);
    return 0;
}

static void operators_have_names(void **state UNUSED)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"};
    enum req_op op;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        check_true(names[i], req_op_parse(str_c(names[i]), &op) && op == (enum req_op)i);
        check_str(names[i], str_c(req_op_name(op)), names[i]);
    }
    check_true("lower case", !req_op_parse(STR("in"), &op));
    check_true("empty", !req_op_parse(STR(""), &op));
}

/* R1 of the checklist (scheduling 27.4). */
static void aliases(void **state UNUSED)
{
    static const struct {
        const char *alias, *want;
    } cases[] = {
        {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
        {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
        {"beta.kubernetes.io/os", "kubernetes.io/os"},
        {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
        {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
        {"kubernetes.io/hostname", "kubernetes.io/hostname"},
        {"beta.kubernetes.io/", "beta.kubernetes.io/"},
        {"beta.kubernetes.io/archive", "beta.kubernetes.io/archive"},
        {"", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_str(cases[i].alias, label_key_normalise(str_c(cases[i].alias)), cases[i].want);
}

static const struct {
    const char *name, *text;
    bool key, value;
} names[] = {
    {"a word", "app", true, true},
    {"one letter", "a", true, true},
    {"upper case", "Team_A.x-1", true, true},
    {"a prefix", "example.com/app", true, false},
    {"upper case in the prefix", "Example.com/app", false, false},
    {"underscore in the prefix", "exa_mple.com/app", false, false},
    {"an empty part in the prefix", "example..com/app", false, false},
    {"a prefix part that starts with a dash", "example.-com/app", false, false},
    {"a prefix part that ends with a dash", "example-.com/app", false, false},
    {"a dash within", "ex-ample.com/app", true, false},
    {"a prefix that ends with a dot", "example.com./app", false, false},
    {"two slashes", "a/b/c", false, false},
    {"leading slash", "/app", false, false},
    {"trailing slash", "example.com/", false, false},
    {"empty", "", false, true},
    {"starts with a dash", "-a", false, false},
    {"ends with a dot", "a.", false, false},
    {"a bad character", "a}b", false, false},
    {"a space", "a b", false, false},
    {"63 characters", DIGITS_63, true, true},
    {"64 characters", DIGITS_63 "4", false, false},
    {"a long prefix part is fine", DIGITS_63 DIGITS_63 DIGITS_63 DIGITS_63 "1/a", true, false},
    {"a prefix of 254 characters", DIGITS_63 DIGITS_63 DIGITS_63 DIGITS_63 "12/a", false, false},
};

static void names_and_values(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        check_true(names[i].name, label_is_qualified_name(str_c(names[i].text)) == names[i].key);
        check_true(names[i].name, label_is_value(str_c(names[i].text)) == names[i].value);
    }
}

static const struct {
    const char *name, *key;
    bool well_known, restricted;
} keys[] = {
    {"zone", "topology.kubernetes.io/zone", true, false},
    {"capacity type", "karpenter.sh/capacity-type", true, false},
    {"the pool", "karpenter.sh/nodepool", true, false},
    {"host name", "kubernetes.io/hostname", false, true},
    {"other keys of karpenter.sh", "karpenter.sh/initialized", false, true},
    {"a subdomain of it", "compatibility.karpenter.sh/provider", false, true},
    {"not a subdomain of it", "mykarpenter.sh/x", false, false},
    {"the domain as a plain key", "karpenter.sh", false, false},
    {"a key of the provider", "cloud.example/size", true, false},
    {"a restricted domain of the provider", "cloud.example/other", false, true},
    {"and a subdomain of that", "a.b.cloud.example/other", false, true},
    {"kubernetes.io", "kubernetes.io/role", false, false},
    {"k8s.io", "node.k8s.io/role", false, false},
    {"a key of one's own", "example.com/team", false, false},
    {"a key without a domain", "team", false, false},
};

static void well_known_and_restricted(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        sym key = sym_of(f->t, str_c(keys[i].key));

        check_true(keys[i].name, label_is_well_known(&f->rules, key) == keys[i].well_known);
        check_true(keys[i].name, label_is_restricted(&f->rules, f->t, key) == keys[i].restricted);
    }
}

#define CT_KEY "karpenter.sh/capacity-type"

static const struct {
    const char *name, *key;
    enum req_op op;
    const char *vals; /* separated by blanks; NULL for none */
    int32_t min_values;
    const char *want; /* "" when it is fine */
} exprs[] = {
    {"In", "team", OP_IN, "a b", 0, ""},
    {"an empty value", "team", OP_IN, "", 0, ""},
    {"minValues within", "team", OP_IN, "a b", 2, ""},
    {"minValues counts duplicates", "team", OP_IN, "a a", 2, ""},
    {"Exists", "team", OP_EXISTS, NULL, 0, ""},
    {"Exists with minValues", "team", OP_EXISTS, NULL, 50, ""},
    {"DoesNotExist", "team", OP_DOES_NOT_EXIST, NULL, 0, ""},
    {"NotIn without values", "team", OP_NOT_IN, NULL, 0, ""},
    {"Gt", "cores", OP_GT, "0", 0, ""},
    {"Lte", "cores", OP_LTE, "128", 0, ""},
    {"one known capacity type is enough", CT_KEY, OP_IN, "spot sp0t", 0, ""},
    {"capacity types are not looked at in NotIn", CT_KEY, OP_NOT_IN, "sp0t", 0, ""},
    {"no known capacity type", CT_KEY, OP_IN, "sp0t", 0,
     "requirement on \"karpenter.sh/capacity-type\": no value is one of on-demand, spot, reserved"},
    {"too few known capacity types", CT_KEY, OP_IN, "spot sp0t", 2,
     "requirement on \"karpenter.sh/capacity-type\": minValues is 2, but only 1 of the values are known"},
    {"restricted", "kubernetes.io/hostname", OP_EXISTS, NULL, 0,
     "requirement on \"kubernetes.io/hostname\": "
     "the key is restricted; use a well-known key, or one of your own domain"},
    {"no name", "a/b/c", OP_EXISTS, NULL, 0,
     "requirement on \"a/b/c\": the key is not a qualified name (prefix/name, name of at most 63 characters)"},
    {"a bad value", "team", OP_IN, "a ?", 0, "requirement on \"team\": \"?\" is not a label value"},
    {"a bad value of NotIn", "team", OP_NOT_IN, "-", 0, "requirement on \"team\": \"-\" is not a label value"},
    {"In without values", "team", OP_IN, NULL, 0, "requirement on \"team\": In needs at least one value"},
    {"minValues above", "team", OP_IN, "a b", 3,
     "requirement on \"team\": minValues is 3, but there are only 2 values"},
    {"Gt without a value", "cores", OP_GT, NULL, 0,
     "requirement on \"cores\": Gt needs exactly one value, an integer not below zero"},
    {"Lt with two", "cores", OP_LT, "1 2", 0,
     "requirement on \"cores\": Lt needs exactly one value, an integer not below zero"},
    {"Gte with a word", "cores", OP_GTE, "many", 0,
     "requirement on \"cores\": Gte needs exactly one value, an integer not below zero"},
    {"Lte with a fraction", "cores", OP_LTE, "1.5", 0,
     "requirement on \"cores\": Lte needs exactly one value, an integer not below zero"},
    {"a number below zero is no label value", "cores", OP_GT, "-1", 0,
     "requirement on \"cores\": \"-1\" is not a label value"},
};

static void requirements(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(exprs); i++) {
        sym vals[8];
        struct req_expr x = {.key = sym_of(f->t, str_c(exprs[i].key)),
                             .op = exprs[i].op,
                             .vals = vals,
                             .min_values = exprs[i].min_values};
        struct err e = {0};
        str rest = str_c(exprs[i].vals), val;
        bool more = exprs[i].vals != NULL;

        while (more) {
            more = str_cut(rest, ' ', &val, &rest);
            vals[x.n_vals++] = sym_of(f->t, val);
        }
        bool ok = req_expr_validate(&f->rules, f->t, &x, &e);
        check_str(exprs[i].name, str_c(ok ? "" : e.msg), exprs[i].want);
        if (!ok)
            check_i64(exprs[i].name, e.kind, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_names),
        cmocka_unit_test(aliases),
        cmocka_unit_test(names_and_values),
        cmocka_unit_test_setup_teardown(well_known_and_restricted, setup, teardown),
        cmocka_unit_test_setup_teardown(requirements, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
