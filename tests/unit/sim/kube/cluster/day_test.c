/* A busy cluster over a while: the same seed gives the same course of events, to the last byte, and at the end all is as it should be. */
#include <stdio.h>

#include "support/check.h"
#include "support/lab.h"

#define DEPLOYMENTS 6
#define REPLICAS 20
#define MINUTES 20

static void fill(struct lab *l)
{
    lab_nodes(l, 12);
    for (int i = 0; i < DEPLOYMENTS; i++)
        lab_apply(l, arena_printf(l->a,
                                  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%d}\n"
                                  "spec: {replicas: %d, selector: {matchLabels: {app: web%d}}, template: {metadata: "
                                  "{labels: {app: web%d}}, spec: {containers: [{name: c, image: x, resources: "
                                  "{requests: {cpu: 100m}}}]}}}",
                                  i, REPLICAS, i, i)
                         .p);
    lab_apply(l,
              "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: tick}\nspec: {schedule: '* * * * *', jobTemplate: "
              "{spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}}}}");
    lab_run(l, 10);
}

/* Deletes one pod in fifty, by chance; now and then a machine dies and another one comes. */
static void disturb(struct lab *l, int minute)
{
    str pods = lab_pods(l, "web"), line, name, rest;

    while (pods.n) {
        bool more = str_cut(pods, '\n', &line, &pods);

        str_cut(line, ' ', &name, &rest);
        if (rng_below(sim_rng(l->s->sim), 50) == 0)
            lab_delete(l, "pods", arena_printf(l->a, STR_FMT, STR_ARG(name)).p);
        if (!more)
            break;
    }
    if (minute == 5)
        cluster_power_off(l->c, STR("n3"));
    if (minute == 8)
        lab_delete(l, "nodes", "n3");
    if (minute == 9)
        lab_patch(l, "deployments", "web1", "spec: {template: {spec: {containers: [{name: c, image: x2}]}}}");
}

static uint64_t live(uint64_t seed)
{
    struct lab *l = lab_new(seed, &(struct cluster_options){.pod_start = {500, 3000}, .node_ready = {500, 1500}});

    lab_run(l, 0.1);
    fill(l);
    for (int i = 0; i < MINUTES; i++) {
        disturb(l, i);
        lab_run(l, 60);
    }
    lab_run(l, 60);
    for (int i = 0; i < DEPLOYMENTS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "web%d", i);
        check_i64(name, lab_count(l, "pods", arena_printf(l->a, "%s-", name).p), REPLICAS);
        check_str(name, lab_get(l, "deployments", name, "status.availableReplicas"), "20");
        check_str(name, lab_get(l, "deployments", name, "status.updatedReplicas"), "20");
    }
    check_i64("machines", lab_count(l, "nodes", "n"), 11);
    sim_note(l->s->sim, lab_pods(l, ""));
    uint64_t rv = kube_rv(l->s->k), trace = sim_trace(l->s->sim);
    lab_free(l);
    return trace ^ rv * 0x9e3779b97f4a7c15u;
}

static void the_same_again(void **state)
{
    (void)state;
    uint64_t first = live(7);
    check_u64("same seed", live(7), first);
    check_true("another seed", live(8) != first);
}

/* A cluster that is saved and restored goes on where it was. */
static void saved_and_restored(void **state)
{
    struct lab *l = *state, *again = lab_new(2, &(struct cluster_options){0});
    struct sb text = {0};
    struct err e = {0};

    fill(l);
    kube_save(l->s->k, &text);
    check_ok("restored", kube_restore(again->s->k, "saved", sb_view(&text), &e), &e);
    sb_fini(&text);
    lab_run(again, 30);
    check_i64("pods", lab_count(again, "pods", "web"), DEPLOYMENTS * REPLICAS);
    lab_patch(again, "deployments", "web0", "spec: {replicas: 5}");
    lab_run(again, 10);
    check_str("it lives", lab_get(again, "deployments", "web0", "status.readyReplicas"), "5");
    check_true("and so do its machines", str_starts(lab_condition(again, "nodes", "n0", "Ready"), STR("True")));
    lab_free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test_setup_teardown(saved_and_restored, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
