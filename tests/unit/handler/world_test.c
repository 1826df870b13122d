/* The handler on a machine of the simulated account, whose node is in the simulated cluster: what EC2 says, and what becomes of the pods. */
#include <stdio.h>

#include "support/check.h"
#include "support/handler_lab.h"

#define HOOK_URL "https://hooks.test/services/T000/hush"
#define UPTIME_FILE "handler-uptime.txt"
#define PLAIN ENV("DRY_RUN", "false")

/* ---- what is done ---- */

static void a_spot_machine_is_taken_back(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_budget(s);
    handler_lab_start(
        s, ENV("TAINT_NODE", "true", "EXCLUDE_FROM_LOAD_BALANCERS", "true", "EMIT_KUBERNETES_EVENTS", "true"));
    far_run(s->f, 60);
    handler_lab_cordoned(s, "nothing happens by itself", false);
    check_str("nothing was written", far_writes(s->f), "");
    check_true("one token for many questions", s->n_tokens == 1 && s->n_asked > 60);

    check_true("notice", sim_aws_interrupt(s->t.aws, s->local.instance));
    far_run(s->f, 15);
    handler_lab_cordoned(s, "cordoned", true);
    check_str("tainted", far_get(s->f, "nodes", "n0", "spec.taints.0.key"),
              "\"aws-node-termination-handler/spot-itn\"");
    check_true("labelled", far_get(s->f, "nodes", "n0", "metadata.labels").n > 0 &&
                               str_contains(far_get(s->f, "nodes", "n0", "metadata.labels"),
                                            STR("\"node.kubernetes.io/exclude-from-external-load-balancers\":"
                                                "\"aws-node-termination-handler\"")));
    check_true("drained", !handler_lab_has(s, "web") && !handler_lab_has(s, "cache"));
    check_true("the daemon stays", handler_lab_has(s, "agent"));
    check_true("so does the one that its budget keeps", handler_lab_has(s, "kept"));
    check_u64("said once", handler_lab_told(s, "a disruption budget does not let a pod go yet"), 1);
    check_true("Event",
               str_contains(far_events(s->f, "SpotInterruption", "n0"), STR("EC2 takes the spot machine back")));
    check_true("Event of the pod", far_events(s->f, "PodEviction", "web").n > 0);

    far_delete(s->f, "poddisruptionbudgets", "kept");
    far_run(s->f, 15);
    check_true("then it goes", !handler_lab_has(s, "kept") && handler_lab_has(s, "agent"));
    check_str("Event", far_events(s->f, "CordonAndDrain", "n0"), "Node successfully cordoned and drained");
    (void)far_writes(s->f);
    far_run(s->f, 20);
    check_str("and that is all", far_writes(s->f), "");
    check_u64("no errors", handler_lab_told(s, "\"level\":\"ERROR\""), 0);
}

static void a_budget_outlasts_the_grace_period(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_budget(s);
    handler_lab_start(s, ENV("NODE_TERMINATION_GRACE_PERIOD", "30", "ENABLE_REBALANCE_DRAINING", "true"));
    (void)sim_aws_notify(s->t.aws, s->local.instance, SIM_AWS_REBALANCE);
    far_run(s->f, 60);
    check_true("still there", handler_lab_has(s, "kept"));
    check_true("said",
               handler_lab_told(s, "1 pods are still there when the node's grace period is over: default/kept") >= 1);
    far_delete(s->f, "poddisruptionbudgets", "kept");
    far_run(s->f, 45);
    check_true("it was tried again", !handler_lab_has(s, "kept"));
    check_u64("drained", handler_lab_told(s, "the node was cordoned and drained"), 1);
}

static void dry_runs(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_start(s, ENV("DRY_RUN", "true", "EMIT_KUBERNETES_EVENTS", "true", "TAINT_NODE", "true"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 30);
    handler_lab_cordoned(s, "not cordoned", false);
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_str("nothing was written", far_writes(s->f), "");
    check_str("no Event", far_events(s->f, "", "n0"), "");
    check_u64("said", handler_lab_told(s, "dry run: would evict pod"), 3);
    check_u64("said", handler_lab_told(s, "dry run: would change the node"), 1);
}

static void nonsense(void **state)
{
    static const struct {
        const char *path, *text;
    } cases[] = {
        {"spot/instance-action", "<html>not found</html>"},
        {"spot/instance-action", "{\"action\":\"terminate\"}"},
        {"spot/instance-action", "{\"action\":\"terminate\",\"time\":\"soon\"}"},
        {"spot/instance-action", "[]"},
        {"maintenance/scheduled", "{}"},
        {"maintenance/scheduled", "[{\"Code\":\"system-reboot\",\"EventId\":\"a b\",\"State\":\"active\"}]"},
        {"recommendations/rebalance", "{\"noticeTime\":7}"},
        {"target-lifecycle-state", "Terminated; rm -rf"},
    };
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_start(s, ENV("ENABLE_REBALANCE_DRAINING", "true", "ENABLE_ASG_LIFECYCLE_DRAINING", "true"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        s->nonsense_at = cases[i].path;
        s->nonsense = cases[i].text;
        far_run(s->f, 20);
        check_u64(cases[i].text, handler_lab_told(s, "an answer that makes no sense: nothing is done"), i + 1);
    }
    check_str("nothing was written", far_writes(s->f), "");
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_i64("it goes on", s->status, -1);
    s->nonsense = NULL;
    (void)sim_aws_set_target_state(s->t.aws, s->local.instance, STR("InService"));
    far_run(s->f, 10);
    handler_lab_cordoned(s, "in service", false);
    (void)sim_aws_set_target_state(s->t.aws, s->local.instance, STR("Terminated"));
    far_run(s->f, 15);
    handler_lab_cordoned(s, "a good answer counts again", true);
    check_u64("the daemon is left", far_count(s->f, "pods", ""), 1);
}

static void only_cordoned(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_start(
        s, ENV("ENABLE_REBALANCE_MONITORING", "true", "TAINT_NODE", "true", "TAINT_EFFECT", "PreferNoSchedule"));
    (void)sim_aws_notify(s->t.aws, s->local.instance, SIM_AWS_REBALANCE);
    far_run(s->f, 15);
    handler_lab_cordoned(s, "cordoned", true);
    check_str("tainted", far_get(s->f, "nodes", "n0", "spec.taints.0.key"),
              "\"aws-node-termination-handler/rebalance-recommendation\"");
    check_str("as was asked", far_get(s->f, "nodes", "n0", "spec.taints.0.effect"), "\"PreferNoSchedule\"");
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 15);
    check_u64("the real thing drains", far_count(s->f, "pods", ""), 1);
}

static void refused_drains(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_start(s, ENV("DELETE_LOCAL_DATA", "false"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 15);
    handler_lab_cordoned(s, "cordoned", true);
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_true("said",
               handler_lab_told(s, "pod default/cache has an emptyDir volume (delete-local-data is false)") >= 1);
}

/* ---- maintenance ---- */

static void write_uptime(const char *text)
{
    FILE *f = fopen(UPTIME_FILE, "we");

    check_true("written", f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void a_reboot(void **state)
{
    struct handler_lab *s = *state;
    const char *const *env = ENV("UPTIME_FROM_FILE", UPTIME_FILE, "TAINT_NODE", "true");

    write_uptime("100000.00 1.00\n");
    handler_lab_pods(s);
    handler_lab_start(s, env);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "active");
    far_run(s->f, 15);
    handler_lab_cordoned(s, "cordoned", true);
    check_u64("drained", far_count(s->f, "pods", ""), 1);
    str labels = far_get(s->f, "nodes", "n0", "metadata.labels");
    check_true("for later",
               str_contains(labels, STR("\"aws-node-termination-handler/action\":\"UncordonAfterReboot\"")) &&
                   str_contains(labels, STR("aws-node-termination-handler/event-id")));

    handler_lab_start(s, env); /* the program, not the machine */
    far_run(s->f, 10);
    handler_lab_cordoned(s, "still cordoned", true);

    write_uptime("3.14 1.00\n"); /* EC2 goes on to say that it is active for a while */
    handler_lab_start(s, env);
    far_run(s->f, 20);
    handler_lab_cordoned(s, "uncordoned", false);
    check_true("no labels",
               !str_contains(far_get(s->f, "nodes", "n0", "metadata.labels"), STR("aws-node-termination-handler")));
    check_true("no taint", !str_contains(far_get(s->f, "nodes", "n0", "spec"), STR("aws-node-termination-handler")));
    check_u64("no errors", handler_lab_told(s, "\"level\":\"ERROR\""), 0);
}

static void a_cancelled_event(void **state)
{
    struct handler_lab *s = *state;

    write_uptime("100000.00 1.00\n");
    handler_lab_start(s, ENV("UPTIME_FROM_FILE", UPTIME_FILE, "TAINT_NODE", "true", "EMIT_KUBERNETES_EVENTS", "true"));
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "instance-stop", "active");
    far_run(s->f, 10);
    handler_lab_cordoned(s, "cordoned", true);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "instance-stop", "canceled");
    far_run(s->f, 10);
    handler_lab_cordoned(s, "uncordoned", false);
    check_true("nothing is left",
               !str_contains(far_get(s->f, "nodes", "n0", ""), STR("aws-node-termination-handler/")));
    check_str("Event", far_events(s->f, "Uncordon", "n0"), "Node successfully uncordoned");
}

static void somebody_else_had_cordoned(void **state)
{
    struct handler_lab *s = *state;

    far_patch(s->f, "nodes", "n0", "{\"spec\":{\"unschedulable\":true}}");
    handler_lab_start(s, PLAIN);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "active");
    far_run(s->f, 10);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "canceled");
    far_run(s->f, 10);
    handler_lab_cordoned(s, "it stays cordoned", true);
}

static void no_uptime(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_start(s, ENV("UPTIME_FROM_FILE", "/nonexistent/uptime"));
    check_u64("said", handler_lab_told(s, "nobody knows when the machine was booted"), 1);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 10);
    handler_lab_cordoned(s, "it listens all the same", true);
}

/* ---- telling others ---- */

static void the_webhook(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_start(s, ENV("WEBHOOK_URL", HOOK_URL, "WEBHOOK_HEADERS",
                             "{\"Content-type\":\"application/json\",\"X-Secret\":\"hush\"}", "WEBHOOK_TEMPLATE",
                             "{\"text\":\"{{ .Kind }} {{.NodeName}} {{- .InstanceType -}} !\"}"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 15);
    check_str("posted", sb_view(&s->posted), "POST [hush] {\"text\":\"SPOT_ITN n0m5.large!\"}\n");
    check_u64("no secret in the log", handler_lab_told(s, "hush"), 0);
    sim_mount(s->f->sim, HOOK, NULL, NULL, NULL);
}

static void by_provider_id(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_start(s, ENV("USE_PROVIDER_ID", "true"));
    check_u64("found", handler_lab_told(s, "\"node\":\"n0\""), 1);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 10);
    handler_lab_cordoned(s, "cordoned", true);
}

/* ---- nobody answers ---- */

static void imds_is_away(void **state)
{
    struct handler_lab *s = *state;

    s->deaf = true;
    handler_lab_start(s, ENV("METADATA_TRIES", "1"));
    check_i64("not at once", s->status, -1);
    far_run(s->f, 30);
    check_i64("it gives up", s->status, 1);
    check_u64("with a sentence", handler_lab_told(s, "cannot begin; giving up"), 1);

    s->deaf = false;
    s->status = -1;
    handler_lab_start(s, PLAIN);
    far_run(s->f, 10);
    s->deaf = true;
    far_run(s->f, 6);
    s->deaf = false;
    far_run(s->f, 60);
    check_i64("a short silence is nothing", s->status, -1);
    s->deaf = true;
    far_run(s->f, 120);
    check_i64("a long one is", s->status, 1);
    check_true("with a sentence", handler_lab_told(s, "needs hostNetwork or a hop limit of 2") >= 1);
}

static void tokens_run_out(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_start(s, PLAIN);
    far_run(s->f, 1200); /* a token is good for five minutes */
    check_true("some tokens", s->n_tokens >= 4 && s->n_tokens <= 8);
    s->stale = 1;
    far_run(s->f, 10);
    check_u64("one that is refused is got anew", handler_lab_told(s, "the instance metadata service does not answer"),
              0);
    check_i64("it goes on", s->status, -1);
}

/* ---- what it shows ---- */

struct peek {
    struct handler_lab *s;
    const char *url;
    int status;
    str text;
};

static void peek_now(void *arg)
{
    struct peek *p = arg;
    struct http_request r = {.url = str_c(p->url)};
    struct http_response got;
    struct err e;

    check_ok(p->url, http_fetch(p->s->f->world, &r, p->s->f->a, &got, &e), &e);
    p->status = got.status;
    p->text = got.body;
}

static struct peek peek(struct handler_lab *s, const char *url)
{
    struct peek p = {.s = s, .url = url};

    far_do(s->f, peek_now, &p);
    return p;
}

static void servers(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_start(s, PLAIN);
    sim_mount(s->f->sim, "http://metrics", s->f->world, handler_serve_metrics, s->h);
    sim_mount(s->f->sim, "http://probes", s->f->world, handler_serve_probes, s->h);
    check_i64("alive", peek(s, "http://probes/healthz").status, 200);
    check_i64("another path", peek(s, "http://probes/readyz").status, 404);
    check_i64("another path", peek(s, "http://metrics/").status, 404);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    s->nonsense_at = "maintenance/scheduled";
    s->nonsense = "busy";
    far_run(s->f, 10);
    str text = peek(s, "http://metrics/metrics").text;
    check_true("actions",
               str_contains(text, STR("actions_total{node_action=\"cordon-and-drain\",node_status=\"success\"} 1\n")));
    check_true("of the node", str_contains(text, STR("node_name=\"n0\",node_status=\"success\"} 1\n")));
    check_true("errors",
               str_contains(text, STR("events_error_total{event_error_where=\"SCHEDULED_EVENT_MONITOR\"} 1\n")));
    sim_mount(s->f->sim, "http://metrics", NULL, NULL, NULL);
    sim_mount(s->f->sim, "http://probes", NULL, NULL, NULL);
}

static void kube_is_away_for_a_while(void **state)
{
    struct handler_lab *s = *state;

    handler_lab_pods(s);
    handler_lab_start(s, PLAIN);
    far_refuse(s->f, "GET", "/nodes/n0", 503, "away", 1);
    far_refuse(s->f, "PATCH", "/nodes/n0", 409, "somebody was faster", 3);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 40);
    handler_lab_cordoned(s, "cordoned", true);
    check_u64("drained", far_count(s->f, "pods", ""), 1);
}

/* Calls that never arrive, answers that never come back, both to IMDS and to the API server; and a program that is killed and begun anew in the middle of it. */
static void bad_networks(void **state UNUSED)
{
    const struct sim_faults f = {.delay_us = {1000, 200000}, .refuse = 6000, .lose_reply = 6000};

    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct handler_lab *s = handler_lab_new(seed);
        char name[40];

        (void)snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
        handler_lab_pods(s);
        handler_lab_budget(s);
        handler_lab_start(s, ENV("TAINT_NODE", "true", "METADATA_TRIES", "10"));
        sim_set_faults(s->f->sim, IMDS, &f);
        sim_set_faults(s->f->sim, "https://kube", &f);
        (void)sim_aws_interrupt(s->t.aws, s->local.instance);
        far_run(s->f, 4 + (double)(seed % 4));
        sim_set_faults(s->f->sim, "https://kube", &(struct sim_faults){0});
        handler_lab_start(s, ENV("TAINT_NODE", "true", "METADATA_TRIES", "10"));
        sim_set_faults(s->f->sim, "https://kube", &f);
        far_run(s->f, 60);
        handler_lab_cordoned(s, name, true);
        check_true(name, !handler_lab_has(s, "web") && !handler_lab_has(s, "cache"));
        check_true(name, handler_lab_has(s, "agent") && handler_lab_has(s, "kept"));
        check_str(name, far_get(s->f, "nodes", "n0", "spec.taints.2"), ""); /* unschedulable and ours, each once */
        handler_lab_free(s);
    }
}

static int after(void **state)
{
    (void)remove(UPTIME_FILE);
    return handler_lab_teardown(state);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, handler_lab_setup, after)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_spot_machine_is_taken_back),
        CASE(a_budget_outlasts_the_grace_period),
        CASE(dry_runs),
        CASE(nonsense),
        CASE(only_cordoned),
        CASE(refused_drains),
        CASE(a_reboot),
        CASE(a_cancelled_event),
        CASE(somebody_else_had_cordoned),
        CASE(no_uptime),
        CASE(the_webhook),
        CASE(by_provider_id),
        CASE(imds_is_away),
        CASE(tokens_run_out),
        CASE(servers),
        CASE(kube_is_away_for_a_while),
        cmocka_unit_test(bad_networks),
    };

    return cmocka_run_group_tests_name("handler/world", tests, NULL, NULL);
}
