/* NodePools with replicas (lifecycle 5.6, scheduling 22; checklists 14.5 and 27.14). */
#include "support/check.h"
#include "support/claim_lab.h"

#include "control/claim_int.h"

#define POOL(name, class, spec)                                                                                        \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\nspec: {" spec                            \
    "template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: " class                      \
        ", name: default}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: "              \
        "[c-2x-amd64-linux]}]}}}\n"
#define FIXED(spec) POOL("fixed", "KWOKNodeClass", spec)

static uint32_t n_claims(struct claim_lab *l)
{
    return far_count(l->far, "nodeclaims", "fixed-");
}

static void refused(void **state)
{
    struct claim_lab *l = *state;

    far_refuse(l->far, "POST", "nodeclaims", 500, "no more room in etcd", 30);
    far_apply(l->far, FIXED("replicas: 3, "));
    far_run(l->far, 0.05);
    check_i64("SP-1: nothing is created", n_claims(l), 0);
    check_true(
        "SP-1: the error says what was tried",
        str_contains(claim_lab_log(l, "Reconciler error"), STR("error=\"creating nodeclaims, no more room in etcd")));
    far_run(l->far, 20);
    check_i64("SP-1: tried again", n_claims(l), 3);
    check_double("SP-1: counted",
                 metric_value(l->c.metrics->nodeclaims_created_total,
                              METRIC_VALS(STR("provisioned"), STR("fixed"), STR("false"))),
                 3);
}

static void left_alone(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, POOL("other", "OtherNodeClass", "replicas: 2, "));
    far_apply(l->far, POOL("dynamic", "KWOKNodeClass", ""));
    far_apply(l->far, POOL("fixed", "KWOKNodeClass", "replicas: 0, "));
    far_run(l->far, 3);
    check_i64("SP-1: not ours, not static, none wanted", far_count(l->far, "nodeclaims", ""), 0);
    far_delete(l->far, "kwoknodeclasses", "default");
    far_run(l->far, 1);
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 2}}");
    far_run(l->far, 3);
    check_str("its class is gone", far_condition(l->far, "nodepools", "fixed", "Ready"),
              "False UnhealthyDependents: NodeClassReady=False");
    check_i64("SP-1: not ready", n_claims(l), 0);
    far_apply(l->far, "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n");
    far_run(l->far, 1);
    check_i64("SP-3: it has become ready", n_claims(l), 2);
    far_run(l->far, 200);
    check_i64("SP-1: enough", n_claims(l), 2);
}

static void deleting(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, FIXED("replicas: 0, "));
    far_patch(l->far, "nodepools", "fixed", "{metadata: {finalizers: [example.com/wait]}}");
    far_run(l->far, 1);
    far_delete(l->far, "nodepools", "fixed");
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 2}}");
    far_run(l->far, 70);
    check_i64("SP-1: on its way out", n_claims(l), 0);
}

static void limits(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, FIXED("replicas: 15, limits: {nodes: '10'}, "));
    far_run(l->far, 3);
    check_i64("SP-2: 15 wanted, 10 allowed", n_claims(l), 10);
    far_run(l->far, 100);
    check_i64("SP-2: however often it is tried", n_claims(l), 10);
    far_patch(l->far, "nodepools", "fixed", "{spec: {limits: {nodes: '12'}}}");
    far_run(l->far, 3);
    check_i64("SP-2: what was reserved is free again", n_claims(l), 12);
    far_patch(l->far, "nodepools", "fixed", "{spec: {limits: null, replicas: 60}}");
    far_run(l->far, 3);
    check_i64("SP-2: many", n_claims(l), 60);
    check_i64("SP-2: and as many machines", fakecloud_count(l->cloud), 60);
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 0}}");
    far_run(l->far, 30);
    check_i64("SD-1: none", n_claims(l), 0);
    check_i64("SD-1: nor machines", fakecloud_count(l->cloud), 0);
}

static void who_counts(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, FIXED("replicas: 2, "));
    far_run(l->far, 1);
    str id = arena_strdup(l->a, store_claim(l->c.store, store_names(l->c.store, OBJ_NODECLAIM).v[0])->provider_id);
    check_true("launched", id.n != 0);
    store_set_pending(l->c.store, id);
    far_run(l->far, 61);
    check_i64("SP-1: one that is about to be replaced counts", n_claims(l), 2);
    check_i64("SD-1: and is not one too many", store_pool_census(l->c.store, STR("fixed")).active, 1);
    store_mark(l->c.store, id, true);
    far_run(l->far, 61);
    check_i64("SP-2: one that goes does not", n_claims(l), 3);
    far_run(l->far, 61);
    check_i64("SD-1: only active ones are too many", n_claims(l), 3);
    store_mark(l->c.store, id, false);
    far_run(l->far, 61);
    check_i64("SD-1: it stays after all, so one has to go", n_claims(l), 2);
}

static void deletion_fails(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, FIXED("replicas: 2, "));
    far_run(l->far, 1);
    str first = far_first(l->far, "nodeclaims");
    far_refuse(l->far, "DELETE", arena_printf(l->a, "nodeclaims/" STR_FMT "%c", STR_ARG(first), 0).p, 500, "not now",
               1);
    far_patch(l->far, "nodepools", "fixed", "{spec: {replicas: 0}}");
    far_run(l->far, 0.05);
    check_true("SD-1: told", str_contains(claim_lab_log(l, "Reconciler error"),
                                          STR("error=\"failed to deprovision nodeclaims, not now")));
    far_run(l->far, 10);
    check_i64("SD-1: tried again", n_claims(l), 0);
}

/* ---- who goes first ---- */

static void put_pod(struct claim_lab *l, const char *name, str node, const char *meta)
{
    far_apply(l->far, arena_printf(l->a,
                                   "apiVersion: v1\nkind: Pod\nmetadata: {name: %s%s}\nspec: {nodeName: " STR_FMT
                                   ", containers: [{name: c, image: x}]}\n%c",
                                   name, meta, STR_ARG(node), 0)
                          .p);
}

static bool is_there(struct claim_lab *l, str name)
{
    const struct kept *k = store_kept(l->c.store, OBJ_NODECLAIM, name);

    return k && k->deleted_ms == INT64_MIN;
}

static void scale(struct claim_lab *l, int n)
{
    far_patch(l->far, "nodepools", "fixed", arena_printf(l->a, "{spec: {replicas: %d}}%c", n, 0).p);
    far_run(l->far, 2);
}

static void who_goes_first(void **state)
{
    static const struct {
        const char *what, *meta;
        int n;
    } loads[] = {
        {"SD-2: then cheap ones", ", annotations: {controller.kubernetes.io/pod-deletion-cost: '-100000000'}", 1},
        {"SD-2: then dear ones", ", annotations: {controller.kubernetes.io/pod-deletion-cost: '100000000'}", 3},
        {"SD-2: last those that do not want to be disturbed", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}",
         1},
        {"SD-2: first those with daemons only",
         ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]", 1},
    };
    struct claim_lab *l = *state;
    str names[9];
    int n = 0;

    far_apply(l->far, FIXED("replicas: 8, "));
    far_run(l->far, 1);
    struct names all = store_names(l->c.store, OBJ_NODECLAIM);
    check_i64("eight", all.n, 8);
    for (uint32_t i = 0; i < 8; i++)
        names[i] = arena_strdup(l->a, all.v[i]);
    for (uint32_t i = 0; i < 8; i++)
        claim_lab_join(l, arena_printf(l->a, STR_FMT "%c", STR_ARG(names[i]), 0).p);
    far_run(l->far, 3);
    for (uint32_t i = 0; i < 8; i++)
        for (int k = 0; k < loads[i % 4].n; k++)
            put_pod(l, arena_printf(l->a, "p%d%c", n++, 0).p, names[i], loads[i % 4].meta);
    far_run(l->far, 1);
    static const uint32_t order[] = {3, 0, 1, 2};
    for (uint32_t step = 0; step < 4; step++) {
        scale(l, 6 - (int)step * 2);
        for (uint32_t i = 0; i < 8; i++) {
            bool gone = false;

            for (uint32_t k = 0; k <= step; k++)
                gone |= i % 4 == order[k];
            check_true(loads[order[step]].what, is_there(l, names[i]) == !gone);
        }
    }
}

static void those_without_a_machine_go_before(void **state)
{
    struct claim_lab *l = *state;

    far_apply(l->far, FIXED("replicas: 1, "));
    far_run(l->far, 1);
    str first = arena_strdup(l->a, far_first(l->far, "nodeclaims"));
    claim_lab_join(l, arena_printf(l->a, STR_FMT "%c", STR_ARG(first), 0).p);
    far_run(l->far, 3);
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_ERROR, 1000);
    scale(l, 3);
    check_i64("two are not launched", n_claims(l), 3);
    scale(l, 1);
    check_true("SD-2: the one with a machine stays", is_there(l, first));
    fakecloud_then(l->cloud, FAKE_CREATE, FAKE_WELL, 0);
    far_run(l->far, 20);
    check_i64("SD-2: alone", n_claims(l), 1);
}

/* ---- when they are looked at ---- */

static void news(void **state UNUSED)
{
    const struct kept one = {.generation = 1}, two = {.generation = 2};
    const struct nodepool ready = {.ready = COND_TRUE}, not_ready = {.ready = COND_FALSE},
                          unknown = {.ready = COND_UNKNOWN};
    const struct {
        const char *name;
        struct store_event ev;
        bool want;
    } t[] = {
        {"SP-3: new", {.is = &not_ready, .kept_is = &one}, true},
        {"SP-3: the spec has changed", {.was = &ready, .is = &ready, .kept_was = &one, .kept_is = &two}, true},
        {"SP-3: has become ready", {.was = &not_ready, .is = &ready, .kept_was = &one, .kept_is = &one}, true},
        {"SP-3: from unknown, too", {.was = &unknown, .is = &ready, .kept_was = &one, .kept_is = &one}, true},
        {"SP-3: is not ready any more", {.was = &ready, .is = &not_ready, .kept_was = &one, .kept_is = &one}, false},
        {"SP-3: nothing has changed", {.was = &ready, .is = &ready, .kept_was = &one, .kept_is = &one}, false},
        {"SP-3: gone", {.was = &ready, .kept_was = &one}, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        check_true(t[i].name, static_is_news(&t[i].ev) == t[i].want);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, claim_lab_setup, claim_lab_teardown)
    const struct CMUnitTest tests[] = {
        TEST(refused),          TEST(left_alone),     TEST(deleting),       TEST(limits),
        TEST(who_counts),       TEST(deletion_fails), TEST(who_goes_first), TEST(those_without_a_machine_go_before),
        cmocka_unit_test(news),
    };

    return cmocka_run_group_tests_name("control/statics", tests, NULL, NULL);
}
