/* Broken nodes are replaced (lifecycle 7, checklist 14.6). */
#include <stdio.h>

#include "support/check.h"
#include "support/node_lab.h"

static void sick(struct node_lab *x, const char *node)
{
    far_node_condition(x->f, node, "Ready", "False");
}

static double disrupted(struct node_lab *x)
{
    return metric_value(x->l->c.metrics->nodeclaims_disrupted_total,
                        METRIC_VALS(STR("unhealthy"), STR("default"), STR("spot")));
}

static void pool(struct node_lab *x)
{
    far_apply(x->f,
              "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: "
              "{nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}}}\n");
}

/* HE-1, HE-4, HE-6, and scenario 016: whatever its pods say. */
static void replaced(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "terminationGracePeriod: 24h");
    node_lab_pod(x, "kept", "c", "annotations: {karpenter.sh/do-not-disrupt: 'true'}",
                 "tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}]");
    far_run(x->f, 3);
    far_patch(x->f, "nodes", "c", "{metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}");
    sick(x, "c");
    far_run(x->f, 595);
    check_double("HE-1: too early", disrupted(x), 0);
    check_u64("there", far_count(x->f, "nodeclaims", ""), 1);
    far_run(x->f, 10);
    check_double("HE-1 HE-4 HE-6: whatever annotations say", disrupted(x), 1);
    check_double("HE-6: for this",
                 metric_value(x->l->c.metrics->nodeclaims_unhealthy_disrupted_total,
                              METRIC_VALS(STR("ready"), STR("default"), STR("spot"), STR("image-1"))),
                 1);
    str told = node_lab_told(x, "annotated nodeclaim");
    check_true(
        "told",
        str_starts(told,
                   STR("\"NodeClaim\":{\"name\":\"c\"},\"karpenter.sh/nodeclaim-termination-timestamp\":\"2023-")));
    check_str("once", node_lab_told(x, "deleting unhealthy node"), "\"NodeClaim\":{\"name\":\"c\"}}");
    far_run(x->f, 20);
    check_u64("gone", far_count(x->f, "nodeclaims", "") + far_count(x->f, "nodes", ""), 0);
}

static void other_conditions(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    far_node_condition(x->f, "c", "DiskPressure", "True");
    far_run(x->f, 700);
    check_double("HE-1: another condition", disrupted(x), 0);
    sick(x, "c");
    far_run(x->f, 500);
    far_node_condition(x->f, "c", "Ready", "True");
    far_run(x->f, 500);
    check_double("HE-1: well again", disrupted(x), 0);
}

/* HE-2 */
static void deadlines(void **state)
{
    static const struct {
        const char *name, *there;
        bool stays;
    } cases[] = {{"HE-2: a later one is replaced", "2033-01-01T00:00:00Z", false},
                 {"HE-2: an earlier one stays", "2003-01-01T00:00:00Z", true},
                 {"HE-2: nonsense is replaced", "soon", false}};
    struct node_lab *x = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char name[16], note[200];

        snprintf(name, sizeof(name), "n%zu", i);
        snprintf(note, sizeof(note), "{metadata: {annotations: {karpenter.sh/nodeclaim-termination-timestamp: '%s'}}}",
                 cases[i].there);
        node_lab_up(x, name, "");
        far_patch(x->f, "nodeclaims", name, note);
        sick(x, name);
        far_run(x->f, 602);
        str told = node_lab_told(x, "annotated nodeclaim");
        str mine = arena_printf(x->f->a, "{\"name\":\"%s\"}", name);
        check_true(cases[i].name, str_contains(told, mine) == !cases[i].stays);
        far_run(x->f, 100);
    }
    check_double("all went", disrupted(x), 3);
}

/* HE-5, and scenario 028. */
static void too_many(void **state)
{
    struct node_lab *x = *state;

    pool(x);
    node_lab_up(x, "a", "");
    node_lab_up(x, "b", "");
    node_lab_up(x, "c", "");
    sick(x, "a");
    sick(x, "b");
    far_run(x->f, 620);
    check_double("HE-5: two of three", disrupted(x), 0);
    check_str("HE-5: told", far_events(x->f, "NodeRepairBlocked", "a"),
              "more than 20% nodes are unhealthy in the nodepool");
    far_node_condition(x->f, "b", "Ready", "True");
    far_run(x->f, 301);
    check_double("HE-5: one of three", disrupted(x), 1);
}

static void too_many_in_the_cluster(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "a", "");
    node_lab_up(x, "b", "");
    node_lab_up(x, "c", "");
    far_patch(x->f, "nodeclaims", "a", "{metadata: {labels: {karpenter.sh/nodepool: null}}}");
    sick(x, "a");
    sick(x, "b");
    far_run(x->f, 620);
    check_str("HE-5: a claim of no pool, so all Nodes count", far_events(x->f, "NodeRepairBlocked", "a"),
              "more then 20% nodes are unhealthy in the cluster");
    check_str("HE-5: a pool that is not there says nothing", far_events(x->f, "NodeRepairBlocked", "b"), "");
    check_double("HE-5: nobody goes", disrupted(x), 0);
    far_run(x->f, 299);
    far_node_condition(x->f, "b", "Ready", "True");
    far_run(x->f, 320);
    check_true("HE-5: tried again every five minutes", far_get(x->f, "nodeclaims", "a", "metadata.name").n == 0);
}

static void not_a_second_too_early(void **state)
{
    struct node_lab *x = *state;

    node_lab_up(x, "c", "");
    sick(x, "c");
    far_run(x->f, 420);
    far_node_condition(x->f, "c", "DiskPressure", "True");
    far_run(x->f, 178);
    check_double("HE-3: three of ten minutes are left", disrupted(x), 0);
    far_run(x->f, 4);
    check_double("HE-3: not more", disrupted(x), 1);
    node_lab_up(x, "d", "");
    sick(x, "d");
    far_run(x->f, 300);
    far_node_condition(x->f, "d", "Ready", "Unknown");
    far_run(x->f, 400);
    check_double("HE-3: another status counts from when it came", disrupted(x), 1);
    far_run(x->f, 202);
    check_double("HE-3: and has a policy of its own", disrupted(x), 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, node_lab_setup, node_lab_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(replaced), TEST(other_conditions),        TEST(deadlines),
                                       TEST(too_many), TEST(too_many_in_the_cluster), TEST(not_a_second_too_early)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
