#include "data/json_own.h"

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

static const char *const texts[] = {
    "{}",
    "[]",
    "\"\"",
    "-1.5e3",
    "null",
    "{\"a\":[1,true,false,null,{\"b\":{}}],\"c\":\"\"}",
    "{\"esc\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u2028 é 😀\",\"key \\\" too\":\"01234567\\\"89\"}",
    "[[[[[[[[[[\"deep\"]]]]]]]]]]",
};

/* What the writer wrote is read back equal, in place or not. */
static void round_trip(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct tree *t;
        struct err e = {0};
        struct sb b = {0}, again = {0};

        check_ok(texts[i], tree_parse_json(a, "t", str_c(texts[i]), &t, &e), &e);
        jw_tree(&(struct jw){.out = &b}, t);
        struct tree *own = json_read_own(a, sb_view(&b));
        check_true(texts[i], tree_equal(t, own));
        jw_tree(&(struct jw){.out = &again}, own);
        check_str(texts[i], sb_view(&again), sb_cstr(&b));
        check_u64(texts[i], json_own_length(sb_view(&b)), b.n);
        sb_str(&b, STR(",\"more\":[1]}"));
        check_u64(texts[i], json_own_length(sb_view(&b)), again.n);
        check_true(texts[i], tree_equal(t, json_read_own_first(a, sb_view(&b))));
        sb_fini(&b);
        sb_fini(&again);
    }
}

/* More members than the reader has room for at first. */
static void many_members(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    (void)state;
    sb_c(&b, "{\"list\":[");
    for (int i = 0; i < 1000; i++)
        sb_printf(&b, "%s{\"n\":%d}", i ? "," : "", i);
    sb_c(&b, "],\"last\":\"yes\"}");
    struct tree *t = json_read_own(a, sb_view(&b));
    check_u64("members", tree_get(t, "list")->n, 1000);
    check_str("one of them", tree_scalar(tree_get(&tree_get(t, "list")->items[777], "n")), "777");
    check_str("what comes after", tree_str(tree_get(t, "last")), "yes");
    tree_set_str(a, t, "more", STR("x")); /* it may be edited */
    check_u64("edited", t->n, 3);
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(many_members),
    };

    return cmocka_run_group_tests_name("data/json_own", tests, NULL, NULL);
}
