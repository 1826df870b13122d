/* Roles that a server is born with, and roles that are put together from others. */
#include "support/check.h"
#include "support/lab.h"

static str rule_of(struct lab *l, const char *role, uint32_t ix)
{
    return lab_get(l, "clusterroles", role,
                   (const char *)arena_printf(l->a, "rules.%u.resources.0", ix).p); /* terminated */
}

static uint32_t n_rules(struct lab *l, const char *role)
{
    uint32_t n = 0;

    while (rule_of(l, role, n).n)
        n++;
    return n;
}

static void born_with(void **state)
{
    struct lab *l = *state;

    lab_run(l, 1);
    check_str("all of it", rule_of(l, "cluster-admin", 0), "\"*\"");
    check_u64("view", n_rules(l, "view"), 12);
    check_u64("edit: its own and those of view", n_rules(l, "edit"), 15 + 12);
    check_u64("admin: its own and those of edit", n_rules(l, "admin"), 2 + 15 + 12);
    check_str("in order of names", rule_of(l, "admin", 0), "\"pods/attach\"");
    check_str("for administrators", lab_get(l, "clusterrolebindings", "cluster-admin", "subjects.0.name"),
              "\"system:masters\"");
}

static void charts_add_to_them(void **state)
{
    struct lab *l = *state;

    lab_run(l, 1);
    lab_apply(l, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
                 "metadata: {name: z, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}\n"
                 "rules: [{apiGroups: [karpenter.sh], resources: [nodepools], verbs: [get]}]\n");
    lab_run(l, 1);
    check_str("in view", rule_of(l, "view", 12), "\"nodepools\"");
    check_u64("and so in edit", n_rules(l, "edit"), 15 + 13);
    check_u64("and in admin", n_rules(l, "admin"), 2 + 15 + 13);
    lab_delete(l, "clusterroles", "z");
    lab_run(l, 1);
    check_u64("gone again", n_rules(l, "admin"), 2 + 15 + 12);
}

static void others_are_left_alone(void **state)
{
    struct lab *l = *state;

    lab_apply(l, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
                 "metadata: {name: mine, annotations: {x: '\"aggregationRule\":{'}}\n"
                 "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n");
    lab_run(l, 1);
    check_u64("its rule", n_rules(l, "mine"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(born_with, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(charts_add_to_them, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(others_are_left_alone, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
