#include "data/tree.h"

#include "base/arena.h"
#include "data/reader.h"
#include "support/check.h"

static const char text[] = "{\"a\": {\"b\": {\"c\": \"deep\"}}, \"none\": null, \"yes\": true, \"no\": false,"
                           " \"text\": \"true\", \"n\": 1.50, \"list\": [1], \"empty\": \"\"}";

static const struct {
    const char *name, *key, *as_str, *as_scalar;
    bool there, is_true;
} members[] = {
    {"a string", "text", "true", "true", true, false},
    {"an empty string", "empty", "", "", true, false},
    {"a number keeps its text", "n", "", "1.50", true, false},
    {"true", "yes", "", "true", true, true},
    {"false", "no", "", "false", true, false},
    {"null counts as absent", "none", "", "", false, false},
    {"a list has no text", "list", "", "", true, false},
    {"a map has no text", "a", "", "", true, false},
    {"what is not there", "absent", "", "", false, false},
    {"a prefix of a key", "tex", "", "", false, false},
};

static const struct tree *parse(struct arena *a)
{
    const struct tree *t;
    struct err e = {0};

    check_ok("parse", tree_parse_json(a, "t", STR(text), &t, &e), &e);
    return t;
}

static void looks_up(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t = parse(a);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        const struct tree *m = tree_get(t, members[i].key);

        check_true(members[i].name, (m != NULL) == members[i].there);
        check_str(members[i].name, tree_str(m), members[i].as_str);
        check_str(members[i].name, tree_scalar(m), members[i].as_scalar);
        check_true(members[i].name, tree_is_true(m) == members[i].is_true);
    }
}

static void follows_paths(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t = parse(a);

    (void)state;
    check_str("a path", tree_str(tree_at(t, "a", "b", "c", NULL)), "deep");
    check_true("no steps", tree_at(t, NULL) == t);
    check_true("a gap", tree_at(t, "a", "x", "c", NULL) == NULL);
    check_true("through a string", tree_at(t, "text", "x", NULL) == NULL);
    check_true("from nothing", tree_at(NULL, "a", NULL) == NULL);
    check_true("of a list", tree_get(tree_get(t, "list"), "a") == NULL);
}

static void finds_repeated_keys(void **state)
{
    str few[] = {STR_INIT("a"), STR_INIT("b"), STR_INIT("a")}, many[40];
    char names[40][4];

    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        names[i][0] = (char)('a' + i % 26);
        names[i][1] = (char)('a' + i / 26);
        many[i] = (str){names[i], 2};
    }
    check_u64("none", tree_repeated_key(few, 0), 0);
    check_u64("two different", tree_repeated_key(few, 2), 2);
    check_u64("the third", tree_repeated_key(few, 3), 2);
    check_u64("many different", tree_repeated_key(many, 40), 40);
    many[30] = many[3];
    check_u64("one of many", tree_repeated_key(many, 40), 30);
}

static void orders_keys(void **state)
{
    (void)state;
    AUTO(arena) struct arena *a = arena_new(0);
    str keys[] = {STR("b"), STR("a"), STR("ab"), STR("")};
    struct tree items[4] = {0}, map = {.kind = TREE_MAP, .n = 4, .keys = keys, .items = items};
    static const uint32_t want[] = {3, 1, 2, 0};
    uint32_t *got = tree_key_order(a, &map);

    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        check_u64("place", got[i], want[i]);
}

static void names_kinds(void **state)
{
    (void)state;
    check_str("null", str_c(tree_kind_name(TREE_NULL)), "null");
    check_str("bool", str_c(tree_kind_name(TREE_BOOL)), "a boolean");
    check_str("number", str_c(tree_kind_name(TREE_NUMBER)), "a number");
    check_str("string", str_c(tree_kind_name(TREE_STRING)), "a string");
    check_str("list", str_c(tree_kind_name(TREE_LIST)), "a list");
    check_str("map", str_c(tree_kind_name(TREE_MAP)), "a map");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_up),    cmocka_unit_test(follows_paths), cmocka_unit_test(finds_repeated_keys),
        cmocka_unit_test(orders_keys), cmocka_unit_test(names_kinds),
    };

    return cmocka_run_group_tests_name("data/tree", tests, NULL, NULL);
}
