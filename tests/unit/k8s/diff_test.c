#include "k8s/diff.h"

#include <stdio.h>

#include "base/rng.h"
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/status.h"
#include "support/check.h"
#include "support/trees.h"

static const struct {
    const char *name, *from, *to, *want; /* NULL: no difference */
} cases[] = {
    {"nothing", "{a: 1, b: {c: [1]}}", "{b: {c: [1]}, a: 1}", NULL},
    {"a new member", "{}", "{a: {b: 1}}", "{a: {b: 1}}"},
    {"another value", "{a: 1, b: 2}", "{a: 1, b: 3}", "{b: 3}"},
    {"another type", "{a: 1}", "{a: '1'}", "{a: '1'}"},
    {"gone", "{a: 1, b: 2}", "{a: 1}", "{b: null}"},
    {"a map is gone", "{a: {b: 1}}", "{}", "{a: null}"},
    {"deep", "{a: {b: {c: 1, d: 2}, e: 3}}", "{a: {b: {c: 2, d: 2}, e: 3}}", "{a: {b: {c: 2}}}"},
    {"the last member of a map", "{a: {b: 1}}", "{a: {}}", "{a: {b: null}}"},
    {"lists are replaced", "{a: [1, 2, 3]}", "{a: [1, 2]}", "{a: [1, 2]}"},
    {"the order of a list", "{a: [1, 2]}", "{a: [2, 1]}", "{a: [2, 1]}"},
    {"a map in a list", "{a: [{b: 1, c: 1}]}", "{a: [{b: 1}]}", "{a: [{b: 1}]}"},
    {"absent to empty map", "{}", "{a: {}}", "{a: {}}"},
    {"absent to empty list", "{}", "{a: []}", "{a: []}"},
    {"empty list to absent", "{a: []}", "{}", "{a: null}"},
    {"empty map to empty list", "{a: {}}", "{a: []}", "{a: []}"},
    {"null to absent", "{a: null}", "{}", "{a: null}"},
    {"null to empty", "{a: null}", "{a: {}}", "{a: {}}"},
    {"null to null", "{a: null}", "{a: null}", NULL},
    {"numbers by value", "{a: 1.0}", "{a: 1}", NULL},
    {"numbers that no double tells apart", "{a: 9007199254740993}", "{a: 9007199254740992}", "{a: 9007199254740992}"},
};

static void differences(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree *got = merge_diff(a, tree_yaml(a, cases[i].from), tree_yaml(a, cases[i].to));

        check_true(cases[i].name, !got == !cases[i].want);
        if (got)
            check_tree(cases[i].name, got, cases[i].want);
    }
}

static void locked(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *from = tree_yaml(a, "{metadata: {name: a, resourceVersion: '7', finalizers: [x]}, spec: {}}");

    (void)state;
    check_true("nothing", !merge_diff_locked(a, from, from));
    check_tree("spec",
               merge_diff_locked(a, from,
                                 tree_yaml(a, "{metadata: {name: a, resourceVersion: '7', finalizers: "
                                              "[x]}, spec: {a: 1}}")),
               "{spec: {a: 1}, metadata: {resourceVersion: '7'}}");
    check_tree("metadata", merge_diff_locked(a, from, tree_yaml(a, "{metadata: {name: a}, spec: {}}")),
               "{metadata: {finalizers: null, resourceVersion: '7'}}");
    check_tree("no version",
               merge_diff_locked(a, tree_yaml(a, "{metadata: {name: a}}"), tree_yaml(a, "{metadata: {name: b}}")),
               "{metadata: {name: b}}");
}

/* ---- a patch leads to where it should ---- */

static struct tree random_tree(struct arena *a, struct rng *rng, unsigned depth)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    struct tree t;

    switch (rng_below(rng, depth ? 6 : 3)) {
    case 0:
        return tree_of_i64(a, rng_below(rng, 3));
    case 1:
        return tree_of_bool(rng_below(rng, 2) != 0);
    case 2:
        return tree_of_str(rng_below(rng, 2) ? STR("x") : STR(""));
    case 3:
        t = *tree_new_list(a);
        for (uint32_t n = rng_below(rng, 3); n > 0; n--)
            (void)tree_push(a, &t, random_tree(a, rng, depth - 1));
        return t;
    default:
        t = *tree_new_map(a);
        for (uint32_t n = rng_below(rng, 5); n > 0; n--)
            tree_set(a, &t, keys[rng_below(rng, ARRAY_LEN(keys))], random_tree(a, rng, depth - 1));
        return t;
    }
}

static void applied(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *from = tree_new_map(a), *to;
        struct status st;
        char name[32];

        (void)snprintf(name, sizeof(name), "run %u", i);
        tree_set(a, from, "r", random_tree(a, &rng, 4));
        to = tree_copy(a, from);
        tree_set(a, to, rng_below(&rng, 2) ? "r" : "s", random_tree(a, &rng, 4));
        str before = tree_text(a, from), after = tree_text(a, to);
        struct tree *patch = merge_diff(a, from, to), *result = tree_copy(a, from);
        check_true(name, str_eq(tree_text(a, from), before)); /* neither is changed */
        check_true(name, str_eq(tree_text(a, to), after));
        check_true(name, !patch == tree_equal(from, to));
        if (patch)
            check_true(name, patch_merge(a, result, patch, &st));
        check_true(name, tree_equal(result, to));
        check_true(name, !merge_diff(a, result, to));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(locked),
        cmocka_unit_test(applied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
