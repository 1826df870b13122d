#include "sim/kube/jsonpath.h"

#include "base/sb.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

static const char text[] =
    "{\"metadata\": {\"labels\": {\"karpenter.sh/nodepool\": \"default\", \"a b\": \"c\"}},"
    " \"spec\": {\"n\": 3, \"none\": null, \"list\": [{\"b\": 1}, {\"a\": \"x\"}, {\"a\": \"y\"}], \"deep\": [[1, 2], [3]]},"
    " \"status\": {\"conditions\": [{\"type\": \"Drifted\", \"status\": \"False\", \"n\": 2},"
    " {\"type\": \"Ready\", \"status\": \"True\"}]}}";

static const struct {
    const char *name, *path, *want; /* "": nothing */
} cases[] = {
    {"a field", ".spec.n", "3"},
    {"a field that is not there", ".spec.x", ""},
    {"through a number", ".spec.n.x", ""},
    {"a null", ".spec.none", ""},
    {"escaped dots", ".metadata.labels.karpenter\\.sh/nodepool", "\"default\""},
    {"a name in brackets", ".metadata.labels['karpenter.sh/nodepool']", "\"default\""},
    {"a name in double quotes", ".metadata.labels[\"a b\"]", "\"c\""},
    {"an index", ".spec.list[1].a", "\"x\""},
    {"an index from the end", ".spec.list[-1].a", "\"y\""},
    {"an index past the end", ".spec.list[3].a", ""},
    {"an index before the start", ".spec.list[-4]", ""},
    {"an index into a map", ".spec[0]", ""},
    {"all: the first that has it", ".spec.list[*].a", "\"x\""},
    {"all, twice", ".spec.deep[*][*]", "1"},
    {"a star as a name", ".spec.deep.*", "[1,2]"},
    {"a filter", ".status.conditions[?(@.type==\"Ready\")].status", "\"True\""},
    {"a filter in single quotes", ".status.conditions[?(@.type=='Ready')].status", "\"True\""},
    {"a filter with spaces", ".status.conditions[?( @.type == \"Ready\" )].status", "\"True\""},
    {"a filter that excludes", ".status.conditions[?(@.type!=\"Ready\")].status", "\"False\""},
    {"a filter by number", ".status.conditions[?(@.n==2)].type", "\"Drifted\""},
    {"a filter by presence", ".status.conditions[?(@.n)].type", "\"Drifted\""},
    {"a filter that matches nothing", ".status.conditions[?(@.type==\"No\")].status", ""},
    {"in braces", "{.spec.n}", "3"},
    {"from the root", "$.spec.n", "3"},
    {"no closing bracket", ".spec.list[0", ""},
    {"an empty bracket", ".spec.list[]", ""},
    {"an empty name", ".spec..n", ""},
    {"a dot at the end", ".spec.n.", ""},
    {"a range", ".spec.list[0:1]", ""},
    {"half a filter", ".spec.list[?(@.a", ""},
};

static void first(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t;
    struct err e = {0};

    (void)state;
    check_ok("parse", tree_parse_json(a, "t", STR(text), &t, &e), &e);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct tree *found = jsonpath_first(a, t, str_c(cases[i].path));
        struct sb b = {0};
        struct jw w = {.out = &b};

        if (found)
            jw_tree(&w, found);
        check_str(cases[i].name, sb_view(&b), cases[i].want);
        sb_fini(&b);
    }
    check_true("everything", jsonpath_first(a, t, STR("")) == t);
    check_true("everything, with a dot", jsonpath_first(a, t, STR(".")) == t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
