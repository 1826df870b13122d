/* Selectors: what they match, and what is wrong with those that are none. */
#include "sim/kube/selector.h"

#include "data/reader.h"
#include "sim/kube/kube.h"
#include "support/check.h"

static const struct label labels[] = {{STR_INIT("app"), STR_INIT("web")}, {STR_INIT("num"), STR_INIT("5")}};
static const struct label fields[] = {{STR_INIT("spec.nodeName"), STR_INIT("n1")}};
static const struct object object = {
    .ns = STR_INIT("default"), .name = STR_INIT("p"), .labels = labels, .n_labels = 2, .fields = fields, .n_fields = 1};
static const char *const selectable[] = {"spec.nodeName", NULL};

static const struct {
    const char *labels, *fields;
    bool matches;
} cases[] = {
    {"", "", true},
    {"app", "", true},
    {"!app", "", false},
    {"!x", "", true},
    {"app=web", "", true},
    {"app==web", "", true},
    {" app = web , num ", "", true},
    {"app!=web", "", false},
    {"x!=web", "", true},
    {"app in (a,web)", "", true},
    {"app notin (a,web)", "", false},
    {"x notin (a)", "", true},
    {"x=", "", false},
    {"x in ()", "", false},
    {"num>4,num<6", "", true},
    {"num>5", "", false},
    {"in", "", false},
    {"", "metadata.name=p", true},
    {"", "metadata.name!=p", false},
    {"", "metadata.namespace=default,spec.nodeName=n1", true},
    {"", "spec.nodeName=", false},
    {"app=web", "spec.nodeName==n1,", true},
    {"app=api", "spec.nodeName==n1", false},
};

static void matching(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct selector *s;
        struct err e = {0};
        const char *name = cases[i].labels[0] ? cases[i].labels : cases[i].fields;

        check_ok(name, selector_parse_query(a, str_c(cases[i].labels), str_c(cases[i].fields), selectable, &s, &e), &e);
        check_true(name, selector_matches_object(s, &object) == cases[i].matches);
        check_true(name, selector_is_empty(s) == (i == 0));
    }
}

static const struct {
    const char *labels, *fields, *why;
} bad[] = {
    {"a b", "", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
    {"a===b", "", "unable to parse requirement: found '=', expected: identifier"},
    {"a in b", "", "unable to parse requirement: found 'b' expected: '('"},
    {"a in (b", "", "unable to parse requirement: found '', expected: ',' or ')'"},
    {"!", "", "unable to parse requirement: found '', expected: identifier"},
    {"a,,b", "", "found ',', expected: identifier after ','"},
    {"a=b c", "", "found 'c', expected: ',' or 'end of string'"},
    {",", "", "found ',', expected: !, identifier, or 'end of string'"},
    {"!a=b", "", "found '=', expected: ',' or 'end of string'"},
    {"a>x", "",
     "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an "
     "integer"},
    {"a=-b", "",
     "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or consist "
     "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
     "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
     "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
    {"", "spec.foo=1", "field label not supported: spec.foo"},
    {"", "metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"", "a=b=c", "invalid field selector: unescaped character in value: 61"},
    {"", "spec.nodeName=a\\b", "invalid field selector: invalid escape sequence: \\b"},
};

static void refusals(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct selector *s;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *name = bad[i].labels[0] ? bad[i].labels : bad[i].fields;

        check_true(name, !selector_parse_query(a, str_c(bad[i].labels), str_c(bad[i].fields), selectable, &s, &e));
        check_str(name, str_c(e.msg), bad[i].why);
    }
    check_true("no fields", !selector_parse_query(a, STR(""), STR("spec.foo=1"), NULL, &s, &e));
    check_str("no fields", str_c(e.msg),
              "\"spec.foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

static const struct {
    const char *yaml;
    bool matches;
} trees[] = {
    {"{}", true},
    {"null", false},
    {"{app: web}", true},
    {"{app: api}", false},
    {"{matchLabels: {app: web}}", true},
    {"{matchLabels: {app: web}, matchExpressions: [{key: num, operator: NotIn, values: ['5']}]}", false},
    {"{matchExpressions: [{key: app, operator: Exists}, {key: x, operator: DoesNotExist}]}", true},
    {"{matchExpressions: [{key: app, operator: In, values: [api, web]}]}", true},
};

static void inside_objects(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
        const struct selector *s;
        const struct tree *t;
        struct err e = {0};

        check_ok(trees[i].yaml, tree_parse_yaml(a, "t", str_c(trees[i].yaml), &t, &e), &e);
        check_ok(trees[i].yaml, selector_from_tree(a, t->kind == TREE_NULL ? NULL : t, &s, &e), &e);
        check_true(trees[i].yaml, selector_matches_labels(s, labels, 2) == trees[i].matches);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matching),
        cmocka_unit_test(refusals),
        cmocka_unit_test(inside_objects),
    };

    return cmocka_run_group_tests_name("sim/kube/selector", tests, NULL, NULL);
}
