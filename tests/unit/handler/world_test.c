/* The handler on a machine of the simulated account, whose node is in the simulated cluster: what EC2 says, and what becomes of the pods. */
#include "handler/handler.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/aws_account.h"
#include "support/check.h"
#include "support/far.h"

#define IMDS "http://169.254.169.254"
#define HOOK "https://hooks.test"
#define UPTIME_FILE "handler-uptime.txt"

struct stand {
    struct far *f;
    struct aws_account t;
    struct sim_aws_local local;
    struct kube_config *config;
    struct handler_settings settings;
    struct log *log;
    struct handler *h;
    struct sb lines, posted;
    const char *nonsense_at, *nonsense; /* what IMDS answers at a path that ends like this */
    bool deaf;                          /* IMDS answers nothing but 500 */
    uint32_t n_tokens, n_asked;
    int status; /* of the end; -1: it goes on */
};

/* ---- the other side ---- */

static void serve_imds(void *server, struct exchange *x)
{
    struct stand *s = server;

    s->n_asked++;
    s->n_tokens += strcmp(x->method, "PUT") == 0;
    if (s->deaf)
        reply_all(x, 500, "text/plain", STR("no"));
    else if (s->nonsense && str_ends(x->path, str_c(s->nonsense_at)))
        reply_all(x, 200, "text/plain", str_c(s->nonsense));
    else
        sim_aws_serve_machine(&s->local, x);
}

static void serve_hook(void *server, struct exchange *x)
{
    struct stand *s = server;

    sb_printf(&s->posted, "%s [" STR_FMT "] " STR_FMT "\n", x->method,
              STR_ARG(http_header_get(x->headers, x->n_headers, "X-Secret")), STR_ARG(x->body));
    reply_all(x, 200, "text/plain", STR("ok"));
}

static void keep_line(void *ctx, str line)
{
    sb_str(&((struct stand *)ctx)->lines, line);
}

static int64_t clock_ms(void *clock)
{
    return world_now_ms(clock);
}

static void on_end(void *ctx, int status)
{
    ((struct stand *)ctx)->status = status;
}

#define NODE                                                                                                           \
    "apiVersion: v1\nkind: Node\nmetadata: {name: n0, annotations: {kwok.x-k8s.io/node: fake}}\n"                      \
    "spec: {providerID: 'aws:///us-west-2a/%s'}\n"                                                                     \
    "status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}, allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n"

static int setup(void **state)
{
    struct stand *s = xcalloc(1, sizeof(*s));
    struct sim_aws_options o = {.any_signature = true, .unlimited = true};
    struct err e = {0};
    char node[1000];

    s->f = far_new(7);
    s->t = (struct aws_account){.sim = s->f->sim, .far = sim_process(s->f->sim, "aws"), .a = s->f->a};
    s->t.near = s->t.far;
    o.world = s->t.far;
    o.account = account_tree(s->f->a, NULL);
    s->t.aws = sim_aws_new(&o, &e);
    check_ok("the account", s->t.aws != NULL, &e);
    sim_mount(s->f->sim, ACCOUNT_URL, s->t.far, sim_aws_serve, s->t.aws);
    sim_mount(s->f->sim, IMDS, s->t.far, serve_imds, s);
    sim_mount(s->f->sim, HOOK, s->t.far, serve_hook, s);
    const struct tree *r =
        account_do(&s->t, "ec2",
                   "Action=RunInstances&MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a"
                   "&InstanceMarketOptions.MarketType=spot");
    str id = tree_str(tree_get(&tree_get(r, "instancesSet")->items[0], "instanceId"));
    s->local = (struct sim_aws_local){s->t.aws, arena_strdup(s->f->a, id)};
    s->config = kube_config_fixed(STR("https://kube"), (str){0}, NULL);
    (void)snprintf(node, sizeof(node), NODE, arena_printf(s->f->a, STR_FMT "%c", STR_ARG(id), 0).p);
    far_apply(s->f, node);
    far_run(s->f, 2);
    s->status = -1;
    *state = s;
    return 0;
}

static void stop(struct stand *s)
{
    far_kill(s->f);
    handler_free(s->h);
    log_free(s->log);
    s->h = NULL;
    s->log = NULL;
}

/* env: name, value, …, NULL. */
static void start(struct stand *s, const char *const *env)
{
    static char command[] = "termination-handler", name[] = "--node-name=n0"; /* settings refer to them */
    char *argv[] = {command, name, NULL};
    struct err e;

    if (s->h) {
        stop(s);
        far_start(s->f);
    }
    check_ok("settings", handler_settings_parse(&s->settings, 2, argv, env, &e), &e);
    s->log = log_new(LOG_DEBUG, &(struct log_sink){s, keep_line}, clock_ms, s->f->world);
    s->h = handler_new(&(struct handler_setup){.world = s->f->world,
                                               .config = s->config,
                                               .settings = &s->settings,
                                               .log = s->log,
                                               .on_end = on_end,
                                               .ctx = s},
                       &e);
    check_ok("handler", s->h != NULL, &e);
    far_run(s->f, 5);
    (void)far_writes(s->f);
}

static int teardown(void **state)
{
    struct stand *s = *state;

    if (s->h)
        stop(s);
    kube_config_free(s->config);
    sim_aws_free(s->t.aws);
    sb_fini(&s->lines);
    sb_fini(&s->posted);
    far_free(s->f);
    (void)remove(UPTIME_FILE);
    free(s);
    return 0;
}

/* ---- looking ---- */

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PLAIN ENV("DRY_RUN", "false")

static uint32_t told(const struct stand *s, const char *what)
{
    str rest = sb_view(&s->lines), line;
    uint32_t n = 0;

    while (str_cut(rest, '\n', &line, &rest))
        n += str_contains(line, str_c(what));
    return n;
}

#define POD(name, label, meta, spec)                                                                                   \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name ", labels: {app: " label "}" meta "}\n"                        \
    "spec: {nodeName: n0, terminationGracePeriodSeconds: 5, containers: [{name: c, image: i}]" spec "}\n---\n"
#define DAEMON                                                                                                         \
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n"  \
    "  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}\n"

static void add_pods(struct stand *s)
{
    far_apply(s->f, POD("web", "web", "", "") POD("cache", "cache", "", ", volumes: [{name: v, emptyDir: {}}]")
                        POD("kept", "kept", "", "") DAEMON);
    far_run(s->f, 3);
}

static void add_budget(struct stand *s)
{
    far_apply(s->f, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: kept}\n"
                    "spec: {minAvailable: 1, selector: {matchLabels: {app: kept}}}\n");
    far_run(s->f, 1);
}

static bool pod_is_there(struct stand *s, const char *name)
{
    return far_count(s->f, "pods", name) == 1;
}

static void check_cordoned(struct stand *s, const char *name, bool want)
{
    check_str(name, far_get(s->f, "nodes", "n0", "spec.unschedulable"), want ? "true" : "");
}

/* ---- what is done ---- */

static void a_spot_machine_is_taken_back(void **state)
{
    struct stand *s = *state;

    add_pods(s);
    add_budget(s);
    start(s, ENV("TAINT_NODE", "true", "EXCLUDE_FROM_LOAD_BALANCERS", "true", "EMIT_KUBERNETES_EVENTS", "true"));
    far_run(s->f, 60);
    check_cordoned(s, "nothing happens by itself", false);
    check_str("nothing was written", far_writes(s->f), "");
    check_true("one token for many questions", s->n_tokens == 1 && s->n_asked > 60);

    check_true("notice", sim_aws_interrupt(s->t.aws, s->local.instance));
    far_run(s->f, 15);
    check_cordoned(s, "cordoned", true);
    check_str("tainted", far_get(s->f, "nodes", "n0", "spec.taints.0.key"),
              "\"aws-node-termination-handler/spot-itn\"");
    check_true("labelled", far_get(s->f, "nodes", "n0", "metadata.labels").n > 0 &&
                               str_contains(far_get(s->f, "nodes", "n0", "metadata.labels"),
                                            STR("\"node.kubernetes.io/exclude-from-external-load-balancers\":"
                                                "\"aws-node-termination-handler\"")));
    check_true("drained", !pod_is_there(s, "web") && !pod_is_there(s, "cache"));
    check_true("the daemon stays", pod_is_there(s, "agent"));
    check_true("so does the one that its budget keeps", pod_is_there(s, "kept"));
    check_u64("said once", told(s, "a disruption budget does not let a pod go yet"), 1);
    check_true("Event",
               str_contains(far_events(s->f, "SpotInterruption", "n0"), STR("EC2 takes the spot machine back")));
    check_true("Event of the pod", far_events(s->f, "PodEviction", "web").n > 0);

    far_delete(s->f, "poddisruptionbudgets", "kept");
    far_run(s->f, 15);
    check_true("then it goes", !pod_is_there(s, "kept") && pod_is_there(s, "agent"));
    check_str("Event", far_events(s->f, "CordonAndDrain", "n0"), "Node successfully cordoned and drained");
    (void)far_writes(s->f);
    far_run(s->f, 20);
    check_str("and that is all", far_writes(s->f), "");
    check_u64("no errors", told(s, "\"level\":\"ERROR\""), 0);
}

static void a_budget_outlasts_the_grace_period(void **state)
{
    struct stand *s = *state;

    add_pods(s);
    add_budget(s);
    start(s, ENV("NODE_TERMINATION_GRACE_PERIOD", "30", "ENABLE_REBALANCE_DRAINING", "true"));
    (void)sim_aws_notify(s->t.aws, s->local.instance, SIM_AWS_REBALANCE);
    far_run(s->f, 60);
    check_true("still there", pod_is_there(s, "kept"));
    check_true("said", told(s, "1 pods are still there when the node's grace period is over: default/kept") >= 1);
    far_delete(s->f, "poddisruptionbudgets", "kept");
    far_run(s->f, 45);
    check_true("it was tried again", !pod_is_there(s, "kept"));
    check_u64("drained", told(s, "the node was cordoned and drained"), 1);
}

static void dry_runs(void **state)
{
    struct stand *s = *state;

    add_pods(s);
    start(s, ENV("DRY_RUN", "true", "EMIT_KUBERNETES_EVENTS", "true", "TAINT_NODE", "true"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 30);
    check_cordoned(s, "not cordoned", false);
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_str("nothing was written", far_writes(s->f), "");
    check_str("no Event", far_events(s->f, "", "n0"), "");
    check_u64("said", told(s, "dry run: would evict pod"), 3);
    check_u64("said", told(s, "dry run: would change the node"), 1);
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
    struct stand *s = *state;

    add_pods(s);
    start(s, ENV("ENABLE_REBALANCE_DRAINING", "true", "ENABLE_ASG_LIFECYCLE_DRAINING", "true"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        s->nonsense_at = cases[i].path;
        s->nonsense = cases[i].text;
        far_run(s->f, 20);
        check_u64(cases[i].text, told(s, "an answer that makes no sense: nothing is done"), i + 1);
    }
    check_str("nothing was written", far_writes(s->f), "");
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_i64("it goes on", s->status, -1);
    s->nonsense = NULL;
    (void)sim_aws_set_target_state(s->t.aws, s->local.instance, STR("InService"));
    far_run(s->f, 10);
    check_cordoned(s, "in service", false);
    (void)sim_aws_set_target_state(s->t.aws, s->local.instance, STR("Terminated"));
    far_run(s->f, 15);
    check_cordoned(s, "a good answer counts again", true);
    check_u64("the daemon is left", far_count(s->f, "pods", ""), 1);
}

static void only_cordoned(void **state)
{
    struct stand *s = *state;

    add_pods(s);
    start(s, ENV("ENABLE_REBALANCE_MONITORING", "true", "TAINT_NODE", "true", "TAINT_EFFECT", "PreferNoSchedule"));
    (void)sim_aws_notify(s->t.aws, s->local.instance, SIM_AWS_REBALANCE);
    far_run(s->f, 15);
    check_cordoned(s, "cordoned", true);
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
    struct stand *s = *state;

    add_pods(s);
    start(s, ENV("DELETE_LOCAL_DATA", "false"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 15);
    check_cordoned(s, "cordoned", true);
    check_u64("all are there", far_count(s->f, "pods", ""), 4);
    check_true("said", told(s, "pod default/cache has an emptyDir volume (delete-local-data is false)") >= 1);
}

/* ---- maintenance ---- */

static void write_uptime(const char *text)
{
    FILE *f = fopen(UPTIME_FILE, "we");

    check_true("written", f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void a_reboot(void **state)
{
    struct stand *s = *state;
    const char *const *env = ENV("UPTIME_FROM_FILE", UPTIME_FILE, "TAINT_NODE", "true");

    write_uptime("100000.00 1.00\n");
    add_pods(s);
    start(s, env);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "active");
    far_run(s->f, 15);
    check_cordoned(s, "cordoned", true);
    check_u64("drained", far_count(s->f, "pods", ""), 1);
    str labels = far_get(s->f, "nodes", "n0", "metadata.labels");
    check_true("for later",
               str_contains(labels, STR("\"aws-node-termination-handler/action\":\"UncordonAfterReboot\"")) &&
                   str_contains(labels, STR("aws-node-termination-handler/event-id")));

    start(s, env); /* the program, not the machine */
    far_run(s->f, 10);
    check_cordoned(s, "still cordoned", true);

    write_uptime("3.14 1.00\n"); /* EC2 goes on to say that it is active for a while */
    start(s, env);
    far_run(s->f, 20);
    check_cordoned(s, "uncordoned", false);
    check_true("no labels",
               !str_contains(far_get(s->f, "nodes", "n0", "metadata.labels"), STR("aws-node-termination-handler")));
    check_true("no taint", !str_contains(far_get(s->f, "nodes", "n0", "spec"), STR("aws-node-termination-handler")));
    check_u64("no errors", told(s, "\"level\":\"ERROR\""), 0);
}

static void a_cancelled_event(void **state)
{
    struct stand *s = *state;

    write_uptime("100000.00 1.00\n");
    start(s, ENV("UPTIME_FROM_FILE", UPTIME_FILE, "TAINT_NODE", "true", "EMIT_KUBERNETES_EVENTS", "true"));
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "instance-stop", "active");
    far_run(s->f, 10);
    check_cordoned(s, "cordoned", true);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "instance-stop", "canceled");
    far_run(s->f, 10);
    check_cordoned(s, "uncordoned", false);
    check_true("nothing is left",
               !str_contains(far_get(s->f, "nodes", "n0", ""), STR("aws-node-termination-handler/")));
    check_str("Event", far_events(s->f, "Uncordon", "n0"), "Node successfully uncordoned");
}

static void somebody_else_had_cordoned(void **state)
{
    struct stand *s = *state;

    far_patch(s->f, "nodes", "n0", "{\"spec\":{\"unschedulable\":true}}");
    start(s, PLAIN);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "active");
    far_run(s->f, 10);
    (void)sim_aws_schedule(s->t.aws, s->local.instance, "system-reboot", "canceled");
    far_run(s->f, 10);
    check_cordoned(s, "it stays cordoned", true);
}

/* ---- telling others ---- */

static void the_webhook(void **state)
{
    struct stand *s = *state;

    start(s, ENV("WEBHOOK_URL", HOOK "/services/T000/hush", "WEBHOOK_HEADERS",
                 "{\"Content-type\":\"application/json\",\"X-Secret\":\"hush\"}", "WEBHOOK_TEMPLATE",
                 "{\"text\":\"{{ .Kind }} {{.NodeName}} {{- .InstanceType -}} !\"}"));
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 15);
    check_str("posted", sb_view(&s->posted), "POST [hush] {\"text\":\"SPOT_ITN n0m5.large!\"}\n");
    check_u64("no secret in the log", told(s, "hush"), 0);
    sim_mount(s->f->sim, HOOK, NULL, NULL, NULL);
}

static void by_provider_id(void **state)
{
    struct stand *s = *state;

    start(s, ENV("USE_PROVIDER_ID", "true"));
    check_u64("found", told(s, "\"node\":\"n0\""), 1);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 10);
    check_cordoned(s, "cordoned", true);
}

/* ---- nobody answers ---- */

static void imds_is_away(void **state)
{
    struct stand *s = *state;

    s->deaf = true;
    start(s, ENV("METADATA_TRIES", "1"));
    check_i64("not at once", s->status, -1);
    far_run(s->f, 30);
    check_i64("it gives up", s->status, 1);
    check_u64("with a sentence", told(s, "cannot begin; giving up"), 1);

    s->deaf = false;
    s->status = -1;
    start(s, PLAIN);
    far_run(s->f, 10);
    s->deaf = true;
    far_run(s->f, 6);
    s->deaf = false;
    far_run(s->f, 60);
    check_i64("a short silence is nothing", s->status, -1);
    s->deaf = true;
    far_run(s->f, 120);
    check_i64("a long one is", s->status, 1);
    check_true("with a sentence", told(s, "needs hostNetwork or a hop limit of 2") >= 1);
}

static void kube_is_away_for_a_while(void **state)
{
    struct stand *s = *state;

    add_pods(s);
    start(s, PLAIN);
    far_refuse(s->f, "GET", "/nodes/n0", 503, "away", 1);
    far_refuse(s->f, "PATCH", "/nodes/n0", 409, "somebody was faster", 3);
    (void)sim_aws_interrupt(s->t.aws, s->local.instance);
    far_run(s->f, 40);
    check_cordoned(s, "cordoned", true);
    check_u64("drained", far_count(s->f, "pods", ""), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        CASE(the_webhook),
        CASE(by_provider_id),
        CASE(imds_is_away),
        CASE(kube_is_away_for_a_while),
    };

    return cmocka_run_group_tests_name("handler/world", tests, NULL, NULL);
}
