#include "cli/disrupt_text.h"

#include <ctype.h>

#include "base/arena.h"
#include "support/check.h"

static const struct {
    enum blocker_kind kind;
    const char *name;
} names[] = {
    {BLOCK_UNMANAGED, "unmanaged"},
    {BLOCK_NODE_ANNOTATION, "nodeAnnotation"},
    {BLOCK_POD_ANNOTATION, "podAnnotation"},
    {BLOCK_PDB, "pdb"},
    {BLOCK_STATIC, "staticCapacity"},
    {BLOCK_POLICY, "consolidationPolicy"},
    {BLOCK_BUDGET, "budget"},
    {BLOCK_PODS, "podsWithoutPlace"},
    {BLOCK_NOT_CHEAPER, "notCheaper"},
    {BLOCK_LATER, "later"},
};

static bool is_camel_case(const char *s)
{
    if (!islower((unsigned char)*s))
        return false;
    while (isalpha((unsigned char)*s))
        s++;
    return *s == '\0';
}

static void every_kind_has_words(void **state)
{
    (void)state;
    for (int k = BLOCK_NONE; k < N_BLOCKER_KINDS; k++) {
        const char *name = blocker_name((enum blocker_kind)k);

        assert_non_null(name);
        assert_true(is_camel_case(name));
        assert_true(strlen(blocker_sentence((enum blocker_kind)k)) > 0);
        for (int other = BLOCK_NONE; other < k; other++)
            assert_string_not_equal(name, blocker_name((enum blocker_kind)other));
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        check_str(names[i].name, str_c(blocker_name(names[i].kind)), names[i].name);
}

static void what_was_said_counts_more(void **state)
{
    struct blocker b = {.kind = BLOCK_DELETING};

    (void)state;
    check_str("nothing was said", blocker_reason(&b), blocker_sentence(BLOCK_DELETING));
    b.text = STR("Node is deleting or marked for deletion");
    check_str("something was", blocker_reason(&b), "Node is deleting or marked for deletion");
}

static void titles_and_texts(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct node b = {.name = STR("b")}, c = {.name = STR("c")};
    struct nodeclaim claim = {.name = STR("a-claim")};
    struct state_node nodes[] = {
        {.node = &c, .claim = &claim, .name = STR("c")},
        {.claim = &claim, .name = STR("a-claim")},
        {.node = &b, .claim = &claim, .name = STR("a-claim")}, /* not registered yet: plans use the claim's name */
    };
    struct snapshot s = {.nodes = nodes, .n_nodes = ARRAY_LEN(nodes)};
    uint32_t two[] = {0, 2};
    const uint32_t *all = nodes_by_title(a, &s, NULL, 3), *some = nodes_by_title(a, &s, two, 2);
    struct disrupt_command cmd = {.nodes = two, .n_nodes = 2};
    struct sb out = {0};

    (void)state;
    check_str("a NodeClaim without a Node", node_title(&s.nodes[all[0]]), "a-claim");
    check_str("a Node that is not registered", node_title(&s.nodes[all[1]]), "b");
    check_str("a Node", node_title(&s.nodes[all[2]]), "c");
    command_text(&out, &s, &cmd, some);
    check_str("delete", sb_view(&out), "delete: [b, c]");
    sb_reset(&out);
    cmd.n_claims = 1;
    command_text(&out, &s, &cmd, some);
    check_str("replace by one", sb_view(&out), "replace: [b, c] -> [1 replacement]");
    sb_reset(&out);
    cmd.n_claims = 2;
    command_text(&out, &s, &cmd, some);
    check_str("replace by two", sb_view(&out), "replace: [b, c] -> [2 replacements]");
    sb_fini(&out);
}

static void consolidation_types(void **state)
{
    (void)state;
    check_str("emptiness", str_c(consolidation_type(METHOD_EMPTINESS)), "empty");
    check_str("drift", str_c(consolidation_type(METHOD_DRIFT)), "");
    check_str("multi", str_c(consolidation_type(METHOD_MULTI)), "multi");
    check_str("single", str_c(consolidation_type(METHOD_SINGLE)), "single");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_words),
        cmocka_unit_test(what_was_said_counts_more),
        cmocka_unit_test(titles_and_texts),
        cmocka_unit_test(consolidation_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
