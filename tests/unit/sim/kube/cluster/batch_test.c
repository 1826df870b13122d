/* Jobs, CronJobs and budgets. */
#include "support/check.h"
#include "support/lab.h"

#define TEMPLATE(annotations)                                                                                          \
    "template: {metadata: {annotations: {" annotations "}}, "                                                          \
    "spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}"
#define JOB(name, spec, annotations)                                                                                   \
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " name "}\nspec: {" spec TEMPLATE(annotations) "}"

static str job(struct lab *l, const char *name, const char *path)
{
    return lab_get(l, "jobs", name, path);
}

static void a_job_completes(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, JOB("j", "completions: 3, parallelism: 2, ", "sim.karpenter.sh/run-for: 10s"));
    lab_run(l, 3);
    check_str("two at a time", job(l, "j", "status.active"), "2");
    check_str("ready", job(l, "j", "status.ready"), "2");
    lab_run(l, 10);
    check_str("two done", job(l, "j", "status.succeeded"), "2");
    lab_run(l, 15);
    check_str("all done", job(l, "j", "status.succeeded"), "3");
    check_str("none left", job(l, "j", "status.active"), "");
    check_str("complete", lab_condition(l, "jobs", "j", "Complete"),
              "True CompletionsReached: Reached expected number of succeeded pods");
    check_str("said", lab_events(l, "Completed", "j"), "Job completed");
    check_i64("their pods stay", lab_count(l, "pods", "j-"), 3);
    check_true("as they ended", str_contains(lab_pods(l, "j-"), STR("Succeeded n0")));
    lab_delete(l, "jobs", "j");
    lab_run(l, 5);
    check_i64("gone", lab_count(l, "pods", "j-"), 0);
}

static void an_indexed_job(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, JOB("ji", "completions: 4, parallelism: 4, completionMode: Indexed, ", ""));
    lab_run(l, 10);
    check_str("all", job(l, "ji", "status.completedIndexes"), "\"0-3\"");
    check_i64("each once", lab_count(l, "pods", "ji-"), 4);
    check_i64("the first", lab_count(l, "pods", "ji-0-"), 1);
}

static void a_job_fails(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, JOB("jf", "backoffLimit: 2, ", "sim.karpenter.sh/run-for: 1s, sim.karpenter.sh/exit-code: '3'"));
    lab_run(l, 5);
    check_str("once", job(l, "jf", "status.failed"), "1");
    lab_run(l, 10);
    check_str("again after 10 s", job(l, "jf", "status.failed"), "2");
    lab_run(l, 60);
    check_str("given up", lab_condition(l, "jobs", "jf", "Failed"),
              "True BackoffLimitExceeded: Job has reached the specified backoff limit");
    check_str("thrice", job(l, "jf", "status.failed"), "3");
    lab_apply(l, JOB("jd", "activeDeadlineSeconds: 20, ", "sim.karpenter.sh/run-for: 1h"));
    lab_run(l, 25);
    check_str("too slow", lab_condition(l, "jobs", "jd", "Failed"),
              "True DeadlineExceeded: Job was active longer than specified deadline");
    check_i64("stopped", lab_count(l, "pods", "jd-"), 0);
}

static void a_job_is_suspended_and_forgotten(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, JOB("js", "suspend: true, ttlSecondsAfterFinished: 30, ", ""));
    lab_run(l, 5);
    check_str("suspended", lab_condition(l, "jobs", "js", "Suspended"), "True JobSuspended: Job suspended");
    check_i64("no pods", lab_count(l, "pods", "js-"), 0);
    lab_patch(l, "jobs", "js", "spec: {suspend: false}");
    lab_run(l, 10);
    check_str("resumed", lab_condition(l, "jobs", "js", "Suspended"), "False JobResumed: Job resumed");
    check_true("complete", str_starts(lab_condition(l, "jobs", "js", "Complete"), STR("True")));
    lab_run(l, 40);
    check_str("forgotten", job(l, "js", "metadata.name"), "");
    check_i64("with its pods", lab_count(l, "pods", "js-"), 0);
}

static void a_pod_of_a_job_is_evicted(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 1);
    lab_apply(l, JOB("j", "", "sim.karpenter.sh/run-for: 60s"));
    lab_run(l, 5);
    str pods = lab_pods(l, "j-"), name, rest;
    str_cut(pods, ' ', &name, &rest);
    lab_delete(l, "pods", arena_printf(l->a, STR_FMT, STR_ARG(name)).p);
    lab_run(l, 30);
    check_str("counted", job(l, "j", "status.failed"), "1");
    check_i64("replaced", lab_count(l, "pods", "j-"), 1);
    lab_run(l, 60);
    check_true("complete", str_starts(lab_condition(l, "jobs", "j", "Complete"), STR("True")));
}

static void a_cron_job(void **state)
{
    struct lab *l = *state; /* it is 22:13:20 */

    lab_nodes(l, 1);
    lab_apply(l, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: cj}\n"
                 "spec: {schedule: '*/5 * * * *', jobTemplate: {spec: {" TEMPLATE("") "}}}");
    lab_run(l, 60);
    check_i64("not yet", lab_count(l, "jobs", "cj-"), 0);
    lab_run(l, 60);
    check_i64("at 22:15", lab_count(l, "jobs", "cj-28333335"), 1);
    check_str("when", lab_get(l, "cronjobs", "cj", "status.lastScheduleTime"), "\"2023-11-14T22:15:00Z\"");
    lab_run(l, 3600);
    check_i64("three are kept", lab_count(l, "jobs", "cj-"), 3);
    check_true("said", str_contains(lab_events(l, "SawCompletedJob", "cj"), STR("condition: Complete")));
}

/* ---- budgets ---- */

static str budget(struct lab *l, const char *name)
{
    return arena_printf(l->a, "healthy " STR_FMT " desired " STR_FMT " allowed " STR_FMT " expected " STR_FMT,
                        STR_ARG(lab_get(l, "poddisruptionbudgets", name, "status.currentHealthy")),
                        STR_ARG(lab_get(l, "poddisruptionbudgets", name, "status.desiredHealthy")),
                        STR_ARG(lab_get(l, "poddisruptionbudgets", name, "status.disruptionsAllowed")),
                        STR_ARG(lab_get(l, "poddisruptionbudgets", name, "status.expectedPods")));
}

static void budgets(void **state)
{
    struct lab *l = *state;

    lab_nodes(l, 2);
    lab_apply(
        l, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5, selector: {matchLabels: "
           "{app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: x}]}}}");
    for (int i = 0; i < 3; i++) {
        static const char *const limits[] = {"minAvailable: 3", "maxUnavailable: 50%", "minAvailable: 50%"};

        lab_apply(l, arena_printf(l->a,
                                  "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b%d}\n"
                                  "spec: {%s, selector: {matchLabels: {app: web}}}",
                                  i, limits[i])
                         .p);
    }
    lab_run(l, 0.5);
    check_str("none is ready", budget(l, "b0"), "healthy 0 desired 3 allowed 0 expected 5");
    lab_run(l, 5);
    check_str("a number", budget(l, "b0"), "healthy 5 desired 3 allowed 2 expected 5");
    check_str("a share that may go", budget(l, "b1"), "healthy 5 desired 2 allowed 3 expected 5");
    check_str("a share that must stay", budget(l, "b2"), "healthy 5 desired 3 allowed 2 expected 5");
    check_str("condition", lab_condition(l, "poddisruptionbudgets", "b0", "DisruptionAllowed"), "True SufficientPods");

    lab_delete(l, "poddisruptionbudgets", "b1"); /* more than one would forbid every eviction */
    lab_delete(l, "poddisruptionbudgets", "b2");
    str pods = lab_pods(l, "web-"), name, rest;
    uint32_t evicted = 0;
    while (pods.n) {
        struct status st;

        str_cut(pods, ' ', &name, &rest);
        evicted += kube_evict(l->s->k, l->a, STR("default"), name, NULL, &st);
        if (!str_cut(pods, '\n', &name, &pods))
            break;
    }
    check_i64("as many as allowed", evicted, 2);
    lab_run(l, 10);
    check_str("and well again", budget(l, "b0"), "healthy 5 desired 3 allowed 2 expected 5");
    lab_delete(l, "deployments", "web");
    lab_run(l, 5);
    check_str("nobody left", budget(l, "b0"), "healthy 0 desired 3 allowed 0 expected 0");
    check_str("said", lab_events(l, "NoPods", "b0"), "No matching pods found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_completes, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(an_indexed_job, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_job_fails, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_job_is_suspended_and_forgotten, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_pod_of_a_job_is_evicted, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(a_cron_job, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(budgets, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
