/* Evictions and their budgets. */
#include "support/check.h"
#include "support/kube_server.h"

#define POD                                                                                                            \
    "{metadata: {name: p, labels: {app: web}}, spec: {terminationGracePeriodSeconds: 30, containers: [{name: c, image: i}]}}"
#define BUDGET(name) "{metadata: {name: " name "}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}}"
#define HEALTHY                                                                                                        \
    "status: {observedGeneration: 1, disruptionsAllowed: %d, currentHealthy: %d, desiredHealthy: %d, expectedPods: 3}"

static bool evict(struct server *s)
{
    return kube_evict(s->k, s->a, STR("default"), STR("p"), NULL, &s->st);
}

/* A pod that runs, ready or not. */
static void run_pod(struct server *s, const char *ready)
{
    check_true("pod", server_create(s, "pods", POD));
    check_true("bound", kube_bind(s->k, s->a, STR("default"), STR("p"), STR("n"), &s->st));
    check_true("runs", server_update(s, "pods", "status",
                                     arena_printf(s->a,
                                                  "{metadata: {name: p, labels: {app: web}}, status: {phase: Running, "
                                                  "conditions: [{type: Ready, status: '%s'}]}}",
                                                  ready)
                                         .p));
}

static void budget_says(struct server *s, int allowed, int healthy, int desired)
{
    check_true("status",
               server_update(s, "poddisruptionbudgets", "status",
                             arena_printf(s->a, "{metadata: {name: b}, " HEALTHY "}", allowed, healthy, desired).p));
}

static void without_a_budget(void **state)
{
    struct server *s = *state;

    check_true("nobody", !evict(s));
    check_i64("not found", s->st.code, 404);
    run_pod(s, "True");
    check_true("evicted", evict(s));
    const struct object *o = server_get(s, "pods", "p");
    check_true("on its way", o && o->deleted_ms);
    check_str("why", server_field(s, o, "status.conditions.1.reason"), "\"EvictionByEvictionAPI\"");
}

static void a_budget_is_used_up(void **state)
{
    struct server *s = *state;

    run_pod(s, "True");
    check_true("budget", server_create(s, "poddisruptionbudgets", BUDGET("b")));
    check_true("too early", !evict(s));
    check_str("refused", server_refusal(s),
              "429 TooManyRequests: Cannot evict pod as it would violate the pod's disruption budget.");
    check_str("because", s->st.causes[0].message, "The disruption budget b is still being processed by the server.");
    check_i64("later", s->st.retry_after_s, 10);
    budget_says(s, 0, 1, 1);
    check_true("none left", !evict(s));
    check_str("because", s->st.causes[0].message, "The disruption budget b needs 1 healthy pods and has 1 currently");
    check_str("reason", s->st.causes[0].reason, "DisruptionBudget");
    budget_says(s, 1, 2, 1);
    check_true("one left", evict(s));
    const struct object *b = server_get(s, "poddisruptionbudgets", "b");
    check_str("taken", server_field(s, b, "status.disruptionsAllowed"), "0");
    check_str("noted", server_field(s, b, "status.disruptedPods.p"), "\"2023-11-14T22:13:20Z\"");
    check_true("on its way", server_get(s, "pods", "p")->deleted_ms);
    check_true("once more costs nothing", evict(s));
}

static void unready_pods(void **state)
{
    struct server *s = *state;

    run_pod(s, "False");
    (void)server_create(s, "poddisruptionbudgets", BUDGET("b"));
    budget_says(s, 0, 0, 1);
    check_true("the budget is not met", !evict(s));
    budget_says(s, 0, 1, 1);
    check_true("it is", evict(s));
    check_str("nothing taken", server_field(s, server_get(s, "poddisruptionbudgets", "b"), "status.disruptedPods"), "");
}

static void two_budgets(void **state)
{
    struct server *s = *state;

    run_pod(s, "True");
    (void)server_create(s, "poddisruptionbudgets", BUDGET("b"));
    (void)server_create(s, "poddisruptionbudgets", BUDGET("c"));
    check_true("refused", !evict(s));
    check_str("because", server_refusal(s),
              "500 : This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
}

static void pods_that_do_not_run(void **state)
{
    struct server *s = *state;

    (void)server_create(s, "pods", POD);
    (void)server_create(s, "poddisruptionbudgets", BUDGET("b"));
    check_true("pending", evict(s) && !server_get(s, "pods", "p"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_budget), TEST(a_budget_is_used_up),  TEST(unready_pods),
        TEST(two_budgets),      TEST(pods_that_do_not_run),
    };

    return cmocka_run_group_tests_name("sim/kube/evicts", tests, NULL, NULL);
}
