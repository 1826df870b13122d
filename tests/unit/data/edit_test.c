#include "data/edit.h"

#include "support/check.h"
#include "support/trees.h"

static void makes_values(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *map = tree_new_map(a), *list = tree_sublist(a, map, "list");

    (void)state;
    tree_set_str(a, map, "s", STR("text"));
    tree_set_i64(a, map, "num", -5);
    tree_set_bool(a, map, "yes", true);
    tree_set_bool(a, map, "no", false);
    tree_set(a, map, "null", tree_of_null());
    list = tree_sublist(a, map, "list"); /* the map may have moved it */
    tree_push(a, list, tree_of_i64(a, 1));
    tree_push(a, list, *tree_new_list(a));
    check_tree("one of each", map, "{list: [1, []], s: text, num: -5, 'yes': true, 'no': false, 'null': null}");
}

static void copies_deeply(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0), *b = arena_new(0);
    struct tree *t = tree_yaml(a, "{m: {k: v}, l: [1, {x: null}], e: {}, s: ''}");
    struct tree *copy = tree_copy(b, t);

    (void)state;
    tree_set_str(a, tree_find(t, STR("m")), "k", STR("changed"));
    tree_remove(tree_find(t, STR("l")), 0);
    arena_reset(a);
    check_tree("the copy is on its own", copy, "{m: {k: v}, l: [1, {x: null}], e: {}, s: ''}");
}

static void a_twin_is_changed_by_itself(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0), *b = arena_new(0);
    const char *text = "{m: {k: v}, l: [1, {x: null}], e: {}, s: ''}";
    struct tree *t = tree_yaml(a, text), *twin = tree_twin(b, t);

    (void)state;
    check_tree("the same", twin, text);
    check_true("of the same text", tree_get(twin, "s")->text.p == tree_get(t, "s")->text.p);
    tree_set_str(b, tree_find(twin, STR("m")), "more", STR("changed"));
    tree_set_str(b, tree_find(twin, STR("e")), "new", STR("changed"));
    tree_remove(tree_find(twin, STR("l")), 0);
    check_tree("the first stays as it was", t, text);
    (void)tree_drop(t, STR("m"));
    tree_push(a, tree_find(t, STR("l")), tree_of_i64(a, 2));
    check_tree("and so does the twin", twin, "{m: {k: v, more: changed}, l: [{x: null}], e: {new: changed}, s: ''}");
}

static const struct {
    const char *name, *a, *b;
    bool same;    /* equal */
    bool written; /* in the same way */
} equals[] = {
    {"order of keys", "{a: 1, b: {c: 2, d: 3}}", "{b: {d: 3, c: 2}, a: 1}", true, false},
    {"order of items", "[1, 2]", "[2, 1]", false, false},
    {"numbers by value", "[1, 1.5, 10]", "[1.0, 15e-1, 1e1]", true, false},
    {"large numbers to the last digit", "9007199254740993", "9007199254740992", false, false},
    {"a number is no text", "1", "'1'", false, false},
    {"null is no absence", "{a: null}", "{}", false, false},
    {"null is null", "{a: null}", "{a: null}", true, true},
    {"truth", "[true, false]", "[true, true]", false, false},
    {"an empty map is no empty list", "{}", "[]", false, false},
    {"other keys", "{a: 1}", "{b: 1}", false, false},
    {"more keys", "{a: 1, b: 2}", "{a: 1}", false, false},
    {"all of it", "{a: {b: [{c: x}, 1.50, true]}}", "{a: {b: [{c: x}, 1.50, true]}}", true, true},
    {"deep down", "{a: {b: [{c: x}]}}", "{a: {b: [{c: y}]}}", false, false},
};

static void compares(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(equals); i++) {
        struct tree *x = tree_yaml(a, equals[i].a), *y = tree_yaml(a, equals[i].b);

        check_true(equals[i].name, tree_equal(x, y) == equals[i].same);
        check_true(equals[i].name, tree_equal(y, x) == equals[i].same);
        check_true(equals[i].name, tree_same(x, y) == equals[i].written);
        check_true(equals[i].name, tree_same(x, x));
    }
}

static void edits_maps(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *t = tree_yaml(a, "{a: 1, b: null, c: 3}");

    (void)state;
    check_true("a null member is there", tree_find(t, STR("b")) && tree_find(t, STR("b"))->kind == TREE_NULL);
    check_true("what is not there", !tree_find(t, STR("d")));
    check_true("in no map", !tree_find(tree_find(t, STR("a")), STR("x")) && !tree_find(NULL, STR("x")));
    check_true("put finds", tree_put(a, t, STR("a")) == tree_find(t, STR("a")));
    check_true("put makes", tree_put(a, t, STR("d"))->kind == TREE_NULL);
    tree_set_i64(a, t, "a", 2);
    check_true("drop", tree_drop(t, STR("b")));
    check_true("drop again", !tree_drop(t, STR("b")));
    check_tree("the others keep their places", t, "{a: 2, c: 3, d: null}");
    check_str("first", t->keys[0], "a");
    check_str("last", t->keys[2], "d");
    for (int i = 0; i < 100; i++) {
        str key = arena_printf(a, "k%d", i);

        *tree_put(a, t, key) = tree_of_i64(a, i);
    }
    check_u64("grows", t->n, 103);
    check_str("and keeps", tree_find(t, STR("k57"))->text, "57");
}

static void makes_paths(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *t = tree_yaml(a, "{spec: null, s: text, l: []}");

    (void)state;
    tree_set_bool(a, tree_path(a, t, "spec", "template", "spec", NULL), "x", true);
    check_tree("made", tree_find(t, STR("spec")), "{template: {spec: {x: true}}}");
    check_true("found", tree_path(a, t, "spec", "template", NULL) == tree_sub(a, tree_sub(a, t, "spec"), "template"));
    check_true("text is in the way", !tree_sub(a, t, "s") && !tree_path(a, t, "s", "x", NULL));
    check_true("a list is no map", !tree_sub(a, t, "l") && tree_sublist(a, t, "l"));
    check_true("a map is no list", !tree_sublist(a, t, "spec"));
    check_true("no steps", tree_path(a, t, NULL) == t);
}

static void edits_lists(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *t = tree_yaml(a, "[a, b, c]");

    (void)state;
    tree_insert(a, t, 0, tree_of_str(STR("first")));
    tree_insert(a, t, 2, tree_of_str(STR("middle")));
    check_str("insert answers the item", tree_insert(a, t, 5, tree_of_str(STR("last")))->text, "last");
    check_tree("inserted", t, "[first, a, middle, b, c, last]");
    tree_remove(t, 5);
    tree_remove(t, 0);
    tree_remove(t, 1);
    check_tree("removed", t, "[a, b, c]");
    for (int i = 0; i < 50; i++)
        tree_push(a, t, tree_of_i64(a, i));
    check_u64("grows", t->n, 53);
    check_str("in order", t->items[52].text, "49");
}

static const struct {
    const char *text;
    bool whole;
    int64_t value;
} integers[] = {
    {"0", true, 0},      {"-7", true, -7},     {"9223372036854775807", true, INT64_MAX},
    {"2.0", true, 2},    {"1e3", true, 1000},  {"2.5", false, 0},
    {"1e300", false, 0}, {"-1e300", false, 0}, {"9223372036854775808", false, 0},
    {"'5'", false, 0},   {"true", false, 0},   {"[]", false, 0},
};

static void reads_integers(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(integers); i++) {
        int64_t v = 0;

        check_true(integers[i].text, tree_to_i64(tree_yaml(a, integers[i].text), &v) == integers[i].whole);
        check_i64(integers[i].text, v, integers[i].value);
    }
    check_true("nothing", !tree_to_i64(NULL, &(int64_t){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_values), cmocka_unit_test(copies_deeply),  cmocka_unit_test(a_twin_is_changed_by_itself),
        cmocka_unit_test(compares),     cmocka_unit_test(edits_maps),     cmocka_unit_test(makes_paths),
        cmocka_unit_test(edits_lists),  cmocka_unit_test(reads_integers),
    };

    return cmocka_run_group_tests_name("data/edit", tests, NULL, NULL);
}
