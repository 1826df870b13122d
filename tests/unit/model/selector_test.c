/* Label selectors: the text form of kubectl -l, and what they match. */
#include "base/sb.h"
#include "model/labels.h"
#include "support/check.h"
#include "support/fixture.h"

static lset_id labels_of(struct fixture *f, const char *text)
{
    struct label v[16];
    uint32_t n = 0;
    str rest = str_c(text), item, key, val;

    while (rest.n) {
        (void)str_cut(rest, ',', &item, &rest);
        (void)str_cut(item, '=', &key, &val);
        v[n++] = (struct label){sym_of(f->t, key), sym_of(f->t, val)};
    }
    return lset_of(f->t, v, n);
}

static const struct {
    const char *name, *selector, *labels;
    bool want;
} matches[] = {
    {"the empty selector selects all", "", "app=web", true},
    {"even what has no labels", "", "", true},
    {"blanks are nothing", "  \t", "app=web", true},
    {"equal", "app=web", "app=web,x=y", true},
    {"equal, another value", "app=web", "app=api", false},
    {"equal, key absent", "app=web", "x=y", false},
    {"two equals signs", "app==web", "app=web", true},
    {"blanks around", " app = web ", "app=web", true},
    {"an empty value", "app=", "app=", true},
    {"an empty value is not an absent one", "app=", "x=y", false},
    {"an empty value, more to come", "app=,x=y", "app=,x=y", true},
    {"unequal", "app!=web", "app=api", true},
    {"unequal, same value", "app!=web", "app=web", false},
    {"unequal matches what lacks the key", "app!=web", "x=y", true},
    {"in", "tier in (a,b)", "tier=b", true},
    {"in, another value", "tier in (a,b)", "tier=c", false},
    {"in, key absent", "tier in (a,b)", "", false},
    {"in without blanks", "tier in(a,b)", "tier=a", true},
    {"in with blanks", "tier  in  ( a , b )", "tier=a", true},
    {"notin", "tier notin (a,b)", "tier=c", true},
    {"notin, a listed value", "tier notin (a,b)", "tier=a", false},
    {"notin matches what lacks the key", "tier notin (a,b)", "x=y", true},
    {"an empty place in a list is the empty value", "tier in (a,)", "tier=", true},
    {"at the front too", "tier in (,a)", "tier=", true},
    {"a list of one empty value", "tier in (,)", "tier=", true},
    {"exists", "canary", "canary=no", true},
    {"exists, absent", "canary", "x=y", false},
    {"does not exist", "!canary", "x=y", true},
    {"does not exist, but does", "!canary", "canary=", false},
    {"blank after the mark", "! canary", "x=y", true},
    {"all must hold", "app=web,tier in (a,b),!canary", "app=web,tier=a", true},
    {"one does not", "app=web,tier in (a,b),!canary", "app=web,tier=a,canary=1", false},
    {"the same key twice", "a=1,a=2", "a=1", false},
    {"greater", "cores>4", "cores=8", true},
    {"greater, equal", "cores > 8", "cores=8", false},
    {"less", "cores<4", "cores=3", true},
    {"less, not a number", "cores<4", "cores=few", false},
    {"less, key absent", "cores<4", "", false},
    {"a key named in", "in in (in,notin)", "in=notin", true},
    {"a key with a prefix", "example.com/app=web", "example.com/app=web", true},
};

static void matching(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
        struct selector s;
        struct err e;

        check_ok(matches[i].name, selector_parse(f->a, f->t, str_c(matches[i].selector), &s, &e), &e);
        check_true(matches[i].name, s.present);
        check_true(matches[i].name, selector_matches(&s, f->t, labels_of(f, matches[i].labels)) == matches[i].want);
    }
}

static void an_absent_selector_selects_nothing(void **state)
{
    struct fixture *f = *state;
    struct selector s = {0};

    check_true("with labels", !selector_matches(&s, f->t, labels_of(f, "app=web")));
    check_true("without", !selector_matches(&s, f->t, labels_of(f, "")));
}

static void bounds_of_any_kind(void **state)
{
    static const struct {
        const char *name;
        enum req_op op;
        bool below, same, above;
    } cases[] = {
        {"Gt", OP_GT, false, false, true},
        {"Lt", OP_LT, true, false, false},
        {"Gte", OP_GTE, false, true, true},
        {"Lte", OP_LTE, true, true, false},
    };
    struct fixture *f = *state;
    sym eight = sym_of(f->t, STR("8"));

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct req_expr x = {.key = sym_of(f->t, STR("n")), .op = cases[i].op, .n_vals = 1, .vals = &eight};
        struct selector s = {.present = true, .n_exprs = 1, .exprs = &x};

        check_true(cases[i].name, selector_matches(&s, f->t, labels_of(f, "n=-7")) == cases[i].below);
        check_true(cases[i].name, selector_matches(&s, f->t, labels_of(f, "n=8")) == cases[i].same);
        check_true(cases[i].name, selector_matches(&s, f->t, labels_of(f, "n=10")) == cases[i].above);
    }
}

static void the_order_is_kept(void **state)
{
    struct fixture *f = *state;
    struct selector s;
    struct err e;

    check_ok("parse", selector_parse(f->a, f->t, STR("z=1,!y,x notin (b,a),w"), &s, &e), &e);
    sb_reset(&f->b);
    for (uint32_t i = 0; i < s.n_exprs; i++) {
        sb_str(&f->b, sym_str(f->t, s.exprs[i].key));
        sb_printf(&f->b, " %s", req_op_name(s.exprs[i].op));
        for (uint32_t k = 0; k < s.exprs[i].n_vals; k++) {
            sb_char(&f->b, ' ');
            sb_str(&f->b, sym_str(f->t, s.exprs[i].vals[k]));
        }
        sb_char(&f->b, ';');
    }
    check_str("as written", sb_view(&f->b), "z In 1;y DoesNotExist;x NotIn b a;w Exists;");
}

static const struct {
    const char *name, *text, *want;
} bad[] = {
    {"no key", "=web", "selector has \"=\" where a label key should be"},
    {"a comma alone", ",", "selector has \",\" where a label key should be"},
    {"a comma at the end", "app=web,", "selector ends where a label key should follow"},
    {"two commas", "app=web,,x", "selector has \",\" where a label key should be"},
    {"two words", "app web", "selector has \"web\" where one of = != in notin > < or a comma should be"},
    {"three equals signs", "app===web", "selector has \"=\" where a value should be"},
    {"a value too many", "app=web api", "selector has \"api\" where a comma should be"},
    {"in without a list", "app in", "selector ends where ( should follow"},
    {"in with a bare value", "app in a", "selector has \"a\" where ( should be"},
    {"an empty list", "app in ()", "selector has \")\" where a value should be"},
    {"a list without end", "app in (a", "selector ends where , or ) should follow"},
    {"a list without commas", "app in (a b)", "selector has \"b\" where , or ) should be"},
    {"an operator in a list", "app in (a=b)", "selector has \"=\" where , or ) should be"},
    {"not and a value", "!app=web", "selector has \"=\" where a comma should be"},
    {"not twice", "!!app", "selector has \"!\" where a label key should be"},
    {"not alone", "!", "selector ends where a label key should follow"},
    {"a bad key", "a}b=c", "\"a}b\" is not a label key"},
    {"a bad value", "a=b}", "\"b}\" is not a label value"},
    {"a bad value in a list", "a in (b,c/d)", "\"c/d\" is not a label value"},
    {"compared with a word", "a>b", "selector compares with \"b\", which is not an integer"},
    {"compared with nothing", "a>", "selector compares with \"\", which is not an integer"},
    {"a stray bracket", "a)", "selector has \")\" where one of = != in notin > < or a comma should be"},
};

static void refusals(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct selector s;
        struct err e = {0};

        check_true(bad[i].name, !selector_parse(f->a, f->t, str_c(bad[i].text), &s, &e));
        check_str(bad[i].name, str_c(e.msg), bad[i].want);
        check_i64(bad[i].name, e.kind, ERR_INVALID);
    }
}

static void the_number_of_expressions_is_bounded(void **state)
{
    struct fixture *f = *state;
    struct selector s;
    struct err e;

    for (int i = 0; i < 1000; i++)
        sb_c(&f->b, i ? ",a" : "a");
    check_ok("a thousand", selector_parse(f->a, f->t, sb_view(&f->b), &s, &e), &e);
    sb_c(&f->b, ",a");
    check_true("one more", !selector_parse(f->a, f->t, sb_view(&f->b), &s, &e));
    check_str("one more", str_c(e.msg), "selector has more than 1000 expressions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(matching, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_absent_selector_selects_nothing, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(bounds_of_any_kind, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_order_is_kept, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(refusals, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_number_of_expressions_is_bounded, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
