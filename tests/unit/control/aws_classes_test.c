/* What the controllers of EC2NodeClasses make of what they are told (aws 2.9.3, 7.1, 7.2, 8.2). */
#include "control/aws/classes_int.h"
#include "data/edit.h"
#include "support/check.h"

static void who_is_waited_for(void **state UNUSED)
{
    static const str names[] = {STR_INIT("a"), STR_INIT("b"), STR_INIT("c"), STR_INIT("d"),
                                STR_INIT("e"), STR_INIT("f"), STR_INIT("g")};
    AUTO(arena) struct arena *a = arena_new(0);

    check_str("N1 one", waiting_message(a, names, 1), "Waiting on NodeClaim termination for a");
    check_str("five", waiting_message(a, names, 5), "Waiting on NodeClaim termination for a, b, c, d, e");
    check_str("more", waiting_message(a, names, 7),
              "Waiting on NodeClaim termination for a, b, c, d, e and 2 other(s)");
}

static void which_class(void **state UNUSED)
{
    check_str("ours", class_name(STR("karpenter.k8s.aws/EC2NodeClass/default")), "default");
    check_str("another kind", class_name(STR("karpenter.kwok.sh/KWOKNodeClass/default")), "");
}

static const struct {
    const char *name;
    struct ec2_reconciled out;
    enum result_kind want;
    int64_t want_us;
} outcomes[] = {
    {"well", {.after_ms = 60000}, RESULT_AFTER, 60000000},
    {"to be looked at soon", {.after_ms = 0}, RESULT_REQUEUE, 0},
    {"only when it changes", {.after_ms = INT64_MAX}, RESULT_DONE, 0},
    {"an error", {.after_ms = 60000, .failed = true}, RESULT_ERROR, 0},
};

static void when_again(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        struct reconcile r = {0};
        struct result got = nodeclass_result(&r, &outcomes[i].out);

        check_i64(outcomes[i].name, got.kind, outcomes[i].want);
        check_i64(outcomes[i].name, got.after_us, outcomes[i].want_us);
    }
}

static struct tree *claim(struct arena *a, const char *version, bool drifted)
{
    struct tree *t = tree_new_map(a);
    struct tree *notes = tree_path(a, t, "metadata", "annotations", NULL);

    tree_set_str(a, notes, EC2_HASH_ANNOTATION, STR("1"));
    if (version)
        tree_set_str(a, notes, EC2_HASH_VERSION_ANNOTATION, str_c(version));
    if (drifted) {
        struct tree *list = tree_sublist(a, tree_sub(a, t, "status"), "conditions");

        tree_set_str(a, tree_push(a, list, *tree_new_map(a)), "type", STR("Drifted"));
    }
    return t;
}

static const struct {
    const char *name, *version;
    bool drifted, changed;
    const char *want; /* the hash */
} adoptions[] = {
    {"hashed in the same way", "v6", false, false, "1"},
    {"by v1.14.1, and nothing has changed since", "v5", false, true, "2"},
    {"in a way that nobody knows any more", "v4", false, true, "2"},
    {"never", NULL, false, true, "2"},
    {"what has drifted stays drifted", "v4", true, true, "1"},
};

static void claims_are_adopted(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct ec2_hash_text h = {.hash = STR("2"), .v5 = STR("1")};

    for (size_t i = 0; i < ARRAY_LEN(adoptions); i++) {
        struct tree *t = claim(a, adoptions[i].version, adoptions[i].drifted);

        check_true(adoptions[i].name, ec2_hash_adopt(a, t, &h) == adoptions[i].changed);
        check_str(adoptions[i].name, obj_annotation(t, EC2_HASH_ANNOTATION), adoptions[i].want);
        check_str(adoptions[i].name, obj_annotation(t, EC2_HASH_VERSION_ANNOTATION), "v6");
    }
}

/* The class has changed since: the claim's own hash tells, or the class has a setting that v1.14.1 cannot have launched. */
static void changes_are_not_adopted(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct ec2_hash_text classes[] = {{.hash = STR("2"), .v5 = STR("3")}, {.hash = STR("2")}};

    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        struct tree *t = claim(a, "v5", false);

        check_true("changed", ec2_hash_adopt(a, t, &classes[i]));
        check_str("hash", obj_annotation(t, EC2_HASH_ANNOTATION), "1");
        check_str("version", obj_annotation(t, EC2_HASH_VERSION_ANNOTATION), "v6");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_waited_for),
        cmocka_unit_test(which_class),
        cmocka_unit_test(when_again),
        cmocka_unit_test(claims_are_adopted),
        cmocka_unit_test(changes_are_not_adopted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
