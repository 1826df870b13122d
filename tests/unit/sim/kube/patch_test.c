/* JSON patch and merge patch. What is due was asked of a real server. */
#include "sim/kube/patch.h"

#include "data/edit.h"
#include "sim/kube/status.h"
#include "support/check.h"
#include "support/trees.h"

typedef bool (*patch_fn)(struct arena *a, struct tree *target, const struct tree *patch, struct status *st);

#define NO "422 the server rejected our request due to an error in our request"

struct patch_case {
    const char *name, *in, *patch, *want; /* want: the outcome, or the code and the sentence of a refusal */
};

static void run(patch_fn fn, const struct patch_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *t = tree_yaml(a, cases[i].in), *patch = tree_yaml(a, cases[i].patch);
        struct status st = {0};
        str text = tree_text(a, patch);

        if (fn(a, t, patch, &st))
            check_tree(cases[i].name, t, cases[i].want);
        else
            check_str(cases[i].name, arena_printf(a, "%d " STR_FMT, st.code, STR_ARG(st.message)), cases[i].want);
        check_true(cases[i].name, str_eq(text, tree_text(a, patch)));
    }
}

#define OBJ "{m: {z: '3'}, l: [a, b], u: null}"

static const struct patch_case json_cases[] = {
    {"nothing", OBJ, "[]", OBJ},
    {"null", OBJ, "null", OBJ},
    {"add a member", OBJ, "[{op: add, path: /m/q, value: v}]", "{m: {z: '3', q: v}, l: [a, b], u: null}"},
    {"add over a member", OBJ, "[{op: add, path: /m/z, value: v}]", "{m: {z: v}, l: [a, b], u: null}"},
    {"add null", OBJ, "[{op: add, path: /m/q}]", "{m: {z: '3', q: null}, l: [a, b], u: null}"},
    {"add at the end", OBJ, "[{op: add, path: /l/-, value: c}]", "{m: {z: '3'}, l: [a, b, c], u: null}"},
    {"add in front", OBJ, "[{op: add, path: /l/0, value: c}]", "{m: {z: '3'}, l: [c, a, b], u: null}"},
    {"add after the last", OBJ, "[{op: add, path: /l/2, value: c}]", "{m: {z: '3'}, l: [a, b, c], u: null}"},
    {"add from the end", OBJ, "[{op: add, path: /l/-1, value: c}]", "{m: {z: '3'}, l: [a, b, c], u: null}"},
    {"add too far", OBJ, "[{op: add, path: /l/3, value: c}]", NO},
    {"add too far from the end", OBJ, "[{op: add, path: /l/-4, value: c}]", NO},
    {"add at no number", OBJ, "[{op: add, path: /l/x, value: c}]", NO},
    {"an index with a sign", OBJ, "[{op: add, path: /l/+1, value: c}]", "{m: {z: '3'}, l: [a, c, b], u: null}"},
    {"add below nothing", OBJ, "[{op: add, path: /uone/a, value: c}]", NO},
    {"add below text", OBJ, "[{op: add, path: /m/z/x, value: c}]", NO},
    {"add below null", OBJ, "[{op: add, path: /u/x, value: c}]", NO},
    {"add the whole", OBJ, "[{op: add, path: '', value: {}}]", NO},
    {"what is before the slash", OBJ, "[{op: add, path: m/q, value: v}]", "{m: {z: '3'}, l: [a, b], u: null, q: v}"},
    {"remove a member", OBJ, "[{op: remove, path: /m/z}]", "{m: {}, l: [a, b], u: null}"},
    {"remove what is not there", OBJ, "[{op: remove, path: /m/x}]", NO},
    {"remove an item", OBJ, "[{op: remove, path: /l/0}]", "{m: {z: '3'}, l: [b], u: null}"},
    {"remove the last item", OBJ, "[{op: remove, path: /l/-1}]", "{m: {z: '3'}, l: [a], u: null}"},
    {"remove past the end", OBJ, "[{op: remove, path: /l/2}]", NO},
    {"remove the end", OBJ, "[{op: remove, path: /l/-}]", NO},
    {"remove the whole", OBJ, "[{op: remove, path: ''}]", NO},
    {"replace a member", OBJ, "[{op: replace, path: /m/z, value: [1]}]", "{m: {z: [1]}, l: [a, b], u: null}"},
    {"replace what is not there", OBJ, "[{op: replace, path: /m/x, value: 1}]",
     "{m: {z: '3', x: 1}, l: [a, b], u: null}"},
    {"replace an item", OBJ, "[{op: replace, path: /l/-1, value: c}]", "{m: {z: '3'}, l: [a, c], u: null}"},
    {"replace past the end", OBJ, "[{op: replace, path: /l/2, value: c}]", NO},
    {"replace the whole", OBJ, "[{op: replace, path: '', value: {x: 1}}]", "{x: 1}"},
    {"test", OBJ, "[{op: test, path: /m, value: {z: '3'}}]", OBJ},
    {"test in vain", OBJ, "[{op: test, path: /m/z, value: '4'}]", NO},
    {"absent is null", OBJ, "[{op: test, path: /m/x, value: null}]", OBJ},
    {"null is null", OBJ, "[{op: test, path: /u}]", OBJ},
    {"an absent item is not", OBJ, "[{op: test, path: /l/5, value: null}]", NO},
    {"test below nothing", OBJ, "[{op: test, path: /uone/x, value: null}]", NO},
    {"move", OBJ, "[{op: move, from: /m/z, path: /l/0}]", "{m: {}, l: ['3', a, b], u: null}"},
    {"move within a list", OBJ, "[{op: move, from: /l/0, path: /l/1}]", "{m: {z: '3'}, l: [b, a], u: null}"},
    {"move nothing", OBJ, "[{op: move, from: /m/x, path: /m/w}]", NO},
    {"move into itself", OBJ, "[{op: move, from: /m, path: /m/w}]", NO},
    {"copy", OBJ, "[{op: copy, from: /l, path: /m/l}, {op: add, path: /l/-, value: c}]",
     "{m: {z: '3', l: [a, b]}, l: [a, b, c], u: null}"},
    {"copy into itself", OBJ, "[{op: copy, from: /m, path: /m/m}]", "{m: {z: '3', m: {z: '3'}}, l: [a, b], u: null}"},
    {"copy nothing", OBJ, "[{op: copy, from: /m/x, path: /m/w}]", "{m: {z: '3', w: null}, l: [a, b], u: null}"},
    {"copy the whole", OBJ, "[{op: copy, from: '', path: /m/w}]", NO},
    {"escapes", "{a/b: 1, c~d: 2, e~1f: 3}",
     "[{op: remove, path: /a~1b}, {op: remove, path: /c~0d}, {op: remove, path: /e~01f}]", "{}"},
    {"a tilde on its own", "{a~: 1, b~2: 2}", "[{op: remove, path: /a~}, {op: remove, path: /b~2}]", "{}"},
    {"an empty key", "{'': {x: 1}}", "[{op: add, path: //x, value: 2}]", "{'': {x: 2}}"},
    {"values are copied", "{}",
     "[{op: add, path: /a, value: {}}, {op: add, path: /b, value: {}}, {op: add, path: /a/x, value: 1}]",
     "{a: {x: 1}, b: {}}"},
    {"lists in lists", "{l: [[1, 2], [3]]}", "[{op: add, path: /l/-1/-, value: 4}, {op: remove, path: /l/-1/0}]",
     "{l: [[1, 2], [4]]}"},
    {"no such operation", OBJ, "[{op: frob, path: /m}]", NO},
    {"no operation", OBJ, "[{path: /m}]", NO},
    {"no path", OBJ, "[{op: add, value: 1}]", NO},
    {"null for an operation", OBJ, "[null]", NO},
    {"a map", OBJ, "{op: add}",
     "400 error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
    {"a number in the list", OBJ, "[1]",
     "400 error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"},
    {"a path that is no text", OBJ, "[{op: add, path: 5}]",
     "400 error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string"},
};

static void json_patch(void **state)
{
    (void)state;
    run(patch_json, json_cases, ARRAY_LEN(json_cases));
}

static const struct patch_case merge_cases[] = {
    {"nothing", "{a: 1}", "{}", "{a: 1}"},
    {"add, change, remove", "{a: 1, b: 2}", "{a: 3, b: null, c: 4, d: null}", "{a: 3, c: 4}"},
    {"deep", "{a: {b: {c: 1, d: 2}}}", "{a: {b: {c: null}}}", "{a: {b: {d: 2}}}"},
    {"lists are replaced", "{a: [1, 2]}", "{a: [3]}", "{a: [3]}"},
    {"a map over text", "{a: x}", "{a: {b: {c: null}}}", "{a: {b: {}}}"},
    {"nulls of what is new", "{}", "{a: {b: null, c: {d: null}}}", "{a: {c: {}}}"},
    {"nulls in a list that is new", "{}", "{l: [{a: null, b: 1}, null, [{c: null}]]}", "{l: [{b: 1}, null, [{}]]}"},
    {"nulls in a list that replaces", "{l: {}}", "{l: [{a: null}, null]}", "{l: [{a: null}, null]}"},
    {"null", "{a: 1}", "null", "400 Invalid JSON Patch"},
    {"a list", "{a: 1}", "[1]",
     "400 error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
    {"text", "{a: 1}", "x",
     "400 error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}"},
};

static void merge_patch(void **state)
{
    (void)state;
    run(patch_merge, merge_cases, ARRAY_LEN(merge_cases));
}

static struct tree *operations(struct arena *a, uint32_t n, const char *op)
{
    struct tree *list = tree_new_list(a);

    for (uint32_t i = 0; i < n; i++)
        tree_push(a, list, *tree_yaml(a, op));
    return list;
}

static void json_patch_has_limits(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *t = tree_yaml(a, "{a: {}}"), *deep = tree_new_list(a), *big = tree_new_map(a);
    struct status st;
    char text[100 * 1024];

    (void)state;
    check_true("ten thousand", patch_json(a, t, operations(a, 10000, "{op: test, path: /b}"), &st));
    check_true("one more", !patch_json(a, t, operations(a, 10001, "{op: test, path: /b}"), &st));
    check_u64("too large", (uint64_t)st.code, 413);
    check_str("too large", st.message,
              "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");

    for (uint32_t i = 1; i < 120; i++) {
        struct tree *op = tree_push(a, deep, *tree_yaml(a, "{op: add, value: {}}"));
        struct sb path = {0};

        for (uint32_t j = 0; j < i; j++)
            sb_c(&path, "/a");
        tree_set_str(a, op, "path", sb_dup(&path, a));
        sb_fini(&path);
    }
    check_true("no deeper than what can be read", !patch_json(a, t, deep, &st));

    memset(text, 'x', sizeof(text));
    tree_set_str(a, big, "x", (str){text, sizeof(text)});
    check_true("30 copies", patch_json(a, big, operations(a, 30, "{op: copy, from: /x, path: /y}"), &st));
    check_true("3 MiB of copies", !patch_json(a, big, operations(a, 31, "{op: copy, from: /x, path: /y}"), &st));
}

static void misfits_are_told(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct status st;

    (void)state;
    check_true("false", !patch_misfits(a, &st, STR("{\"a\":1}"), STR("json: no")));
    check_str("the sentence", st.message, " \"\" is invalid: patch: Invalid value: \"{\\\"a\\\":1}\": json: no");
    check_u64("code", (uint64_t)st.code, 422);
    check_str("field", st.causes[0].field, "patch");
    check_str("cause", st.causes[0].message, "Invalid value: \"{\\\"a\\\":1}\": json: no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_patch),
        cmocka_unit_test(merge_patch),
        cmocka_unit_test(json_patch_has_limits),
        cmocka_unit_test(misfits_are_told),
    };

    return cmocka_run_group_tests_name("sim/kube/patch", tests, NULL, NULL);
}
