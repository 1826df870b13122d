/* Pods that nobody can place, by the ten thousand: the controller goes on working for all others, what it says stays bounded, and a round costs little. */
#include <stdio.h>
#include <time.h>

#include "support/check.h"
#include "support/fleet.h"

#ifdef __SANITIZE_ADDRESS__
#define N_LOST 20000
#else
#define N_LOST 100000
#endif
#define N_OTHERS 6
#define EVENTS_MAX 20000 /* in two minutes: 100 a second, and a burst */

static const char *const settings[] = {"LOG_LEVEL", "error", "DISABLE_LEADER_ELECTION", "true", NULL};

static const char app[] =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n"
    "  replicas: %u\n  selector: {matchLabels: {app: %s}}\n"
    "  template: {metadata: {labels: {app: %s}}, spec: {%s terminationGracePeriodSeconds: 1,\n"
    "    containers: [{name: app, image: app, resources: {requests: {cpu: 500m, memory: 128Mi}}}]}}\n";

static void deploy(struct rig *r, const char *name, uint32_t n, const char *spec)
{
    char text[800];

    (void)snprintf(text, sizeof(text), app, name, n, name, name, spec);
    lab_apply(r->l, text);
}

static bool others_run(struct rig *r, const void *arg UNUSED)
{
    struct fleet f;

    fleet_look(r, &f);
    return f.n_pods == N_LOST + N_OTHERS && f.n_running == N_OTHERS;
}

static bool are_made(struct rig *r, const void *arg UNUSED)
{
    return lab_count(r->l, "pods", "lost") == N_LOST;
}

static void unschedulable_pods(void **state UNUSED)
{
    struct rig *r = rig_new(1, settings, &(struct cluster_options){.lean = true});
    struct fleet f;
    uint32_t n_events;

    r->forgetful = true;
    fleet_class(r);
    fleet_pool(r, "a", "", "");
    fleet_pool(r, "b", "", "");
    deploy(r, "lost", N_LOST, "nodeSelector: {example.com/nowhere: 'true'},");
    check_true("pods are made", rig_until(r, 600, are_made, NULL));
    rig_start(r, 0);
    lab_run(r->l, 30);
    deploy(r, "other", N_OTHERS, "");
    check_true("others run", rig_until(r, 90, others_run, NULL));

    clock_t before = clock();
    lab_run(r->l, 60);
    print_message("# %d pods that cannot run: %.2f s of processor time in a minute of six rounds\n", N_LOST,
                  (double)(clock() - before) / CLOCKS_PER_SEC);
    n_events = lab_count(r->l, "events", "lost");
    print_message("# %u events\n", n_events);
    check_true("events are bounded", n_events > 0 && n_events <= EVENTS_MAX);
    fleet_look(r, &f);
    check_u64("as many machines as the others need", f.n_nodes, 1);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unschedulable_pods)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
