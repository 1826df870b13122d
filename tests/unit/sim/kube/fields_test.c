#include "sim/kube/fields.h"

#include "base/rng.h"
#include "data/edit.h"
#include "support/check.h"
#include "support/trees.h"

static const struct tree *set(struct arena *a, const char *yaml)
{
    return fields_read(a, tree_yaml(a, yaml));
}

static const struct {
    const char *name, *x, *y, *all, *without, *both;
} algebra[] = {
    {"nothing", "{}", "{}", "{}", "{}", "{}"},
    {"nothing taken away", "{'f:a': {}}", "{}", "{'f:a': {}}", "{'f:a': {}}", "{}"},
    {"the same", "{'f:a': {'f:b': {}}}", "{'f:a': {'f:b': {}}}", "{'f:a': {'f:b': {}}}", "{}", "{'f:a': {'f:b': {}}}"},
    {"others", "{'f:a': {}, 'f:c': {}}", "{'f:b': {}}", "{'f:a': {}, 'f:b': {}, 'f:c': {}}", "{'f:a': {}, 'f:c': {}}",
     "{}"},
    {"a field and what is below", "{'f:a': {}}", "{'f:a': {'f:b': {}}}", "{'f:a': {.: {}, 'f:b': {}}}", "{'f:a': {}}",
     "{}"},
    {"what is below and the field", "{'f:a': {'f:b': {}}}", "{'f:a': {}}", "{'f:a': {.: {}, 'f:b': {}}}",
     "{'f:a': {'f:b': {}}}", "{}"},
    {"the field goes", "{'f:a': {.: {}, 'f:b': {}}}", "{'f:a': {}}", "{'f:a': {.: {}, 'f:b': {}}}",
     "{'f:a': {'f:b': {}}}", "{'f:a': {}}"},
    {"what is below goes", "{'f:a': {.: {}, 'f:b': {}}}", "{'f:a': {'f:b': {}}}", "{'f:a': {.: {}, 'f:b': {}}}",
     "{'f:a': {}}", "{'f:a': {'f:b': {}}}"},
    {"items", "{'f:l': {'k:{\"n\":1}': {.: {}, 'f:v': {}}, 'v:2': {}}}", "{'f:l': {'k:{\"n\":1}': {'f:v': {}}}}",
     "{'f:l': {'k:{\"n\":1}': {.: {}, 'f:v': {}}, 'v:2': {}}}", "{'f:l': {'k:{\"n\":1}': {}, 'v:2': {}}}",
     "{'f:l': {'k:{\"n\":1}': {'f:v': {}}}}"},
};

static void combines(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(algebra); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        const struct tree *x = set(a, algebra[i].x), *y = set(a, algebra[i].y);

        check_tree(algebra[i].name, fields_union(a, x, y), algebra[i].all);
        check_tree(algebra[i].name, fields_union(a, y, x), algebra[i].all);
        check_tree(algebra[i].name, fields_minus(a, x, y), algebra[i].without);
        check_tree(algebra[i].name, fields_common(a, x, y), algebra[i].both);
        check_tree(algebra[i].name, fields_common(a, y, x), algebra[i].both);
    }
}

static struct tree random_set(struct arena *a, struct rng *r, unsigned depth)
{
    struct field_node node = {.member = depth < 3 && rng_below(r, 2)};

    for (uint32_t i = 0; depth && i < 4; i++) {
        struct field_node kid = {.member = rng_below(r, 3) == 0};

        if (rng_below(r, 2))
            continue;
        if (rng_below(r, 2))
            kid.kids = random_set(a, r, depth - 1);
        if (kid.kids.n && str_eq(kid.kids.keys[0], STR(".")))
            kid = (struct field_node){.member = true};
        fields_put(a, &node, arena_printf(a, "f:%u", rng_below(r, 4)), &kid);
    }
    node.member = false;
    return fields_done(a, &node);
}

/* x = (x - y) + (x & y), and the parts have nothing in common. */
static void parts_make_the_whole(void **state)
{
    struct rng r;

    (void)state;
    rng_init(&r, 3);
    for (int round = 0; round < 2000; round++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree x = random_set(a, &r, 3), y = random_set(a, &r, 3);
        const struct tree *only = fields_minus(a, &x, &y), *both = fields_common(a, &x, &y);
        const struct tree *all = fields_union(a, &x, &y);

        check_true("the whole", tree_equal(fields_union(a, only, both), &x));
        check_true("apart", fields_empty(fields_common(a, only, &y)));
        check_true("the union has both",
                   fields_empty(fields_minus(a, &x, all)) && fields_empty(fields_minus(a, &y, all)));
        check_true("in order", fields_read(a, all) == all && fields_read(a, only) == only);
        check_true("itself", fields_minus(a, only, &y) == only);
    }
}

static void sorts_as_a_server_does(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t = set(
        a, "{'i:10': {}, 'v:10': {}, 'v:9': {}, 'v:\"b\"': {}, 'k:{\"p\":443,\"q\":\"TCP\"}': {}, 'k:{\"p\":80}': {},"
           " 'k:{\"p\":80,\"q\":\"TCP\"}': {}, 'k:{\"p\":\"10\"}': {}, 'k:{\"p\":\"9\"}': {}, 'f:b': {}, 'f:a10': {},"
           " 'f:a9': {}, .: {}, 'i:9': {}}");
    static const char *const want[] = {
        ".",
        "f:a10",
        "f:a9",
        "f:b",
        "k:{\"p\":\"10\"}",
        "k:{\"p\":\"9\"}",
        "k:{\"p\":80,\"q\":\"TCP\"}",
        "k:{\"p\":80}",
        "k:{\"p\":443,\"q\":\"TCP\"}",
        "v:\"b\"",
        "v:9",
        "v:10",
        "i:9",
        "i:10",
    };

    (void)state;
    check_u64("all", t->n, ARRAY_LEN(want));
    for (uint32_t i = 0; i < t->n; i++)
        check_str("in order", t->keys[i], want[i]);
}

static void refuses_what_is_no_set(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    check_true("a list", !set(a, "[]"));
    check_true("text", !set(a, "{'f:a': x}"));
    check_true("an unknown step", !set(a, "{'f:a': {'x:b': {}}}"));
    check_true("a step without a colon", !set(a, "{f: {}}"));
    check_true("nothing", !fields_read(a, NULL));
}

static void collect(void *ctx, str path)
{
    sb_printf(ctx, STR_FMT " ", STR_ARG(path));
}

static void spells_paths(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    (void)state;
    fields_each(a,
                set(a, "{'f:spec': {.: {}, 'f:l': {'k:{\"name\":\"a\",\"port\":80}': {.: {}, 'f:v': {}}},"
                       " 'f:s': {'v:\"x\"': {}, 'v:5': {}}, 'f:x.v/z': {}, 'f:i': {'i:3': {}}, 'f:bad': {'k:{': {}}}}"),
                collect, &b);
    check_str("members first", sb_view(&b),
              ".spec .spec.x.v/z .spec.bad[{] .spec.i[3] .spec.l[name=\"a\",port=80] .spec.l[name=\"a\",port=80].v "
              ".spec.s[=\"x\"] .spec.s[=5] ");
    sb_fini(&b);
}

static void joins_what_is_put_twice(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct field_node root = {0}, one = {.member = true}, two = {0}, deep = {.member = true};

    (void)state;
    fields_put(a, &two, STR("f:b"), &deep);
    fields_put(a, &root, STR("f:a"), &two);
    fields_put(a, &root, STR("f:0"), &one);
    fields_put(a, &root, STR("f:a"), &one);
    struct tree t = fields_done(a, &root);
    check_tree("one of both", &t, "{'f:0': {}, 'f:a': {.: {}, 'f:b': {}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combines),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(sorts_as_a_server_does),
        cmocka_unit_test(refuses_what_is_no_set),
        cmocka_unit_test(spells_paths),
        cmocka_unit_test(joins_what_is_put_twice),
    };

    return cmocka_run_group_tests_name("sim/kube/fields", tests, NULL, NULL);
}
