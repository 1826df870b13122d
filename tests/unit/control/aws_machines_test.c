/* The controllers of machines, with a simulated cluster, a simulated account with its queue, and a provider that only notes what it is told (aws 11.6 T1 to T4, R1, R2, G1, G2, P2). */
#include "control/aws/machines_int.h"

#include <stdlib.h>

#include "control/feed.h"
#include "data/json.h"
#include "model/duration.h"
#include "sim/aws/aws.h"
#include "sim/world.h"
#include "support/aws_account.h"
#include "support/check.h"
#include "support/far.h"

#define MAX_INSTANCES 4

/* What stands in for the provider. */
struct ec2 {
    struct sb told;
    struct ec2_instance v[MAX_INSTANCES];
    uint32_t n;
    struct world *world;
    bool shifted;
    const struct catalog *catalog;
};

static str instance_id(str provider_id)
{
    size_t at = provider_id.n;

    while (at > 0 && provider_id.p[at - 1] != '/')
        at--;
    return at > 4 ? str_sub(provider_id, at, provider_id.n) : (str){0};
}

static void mark_unavailable(struct ec2 *p, str ct, str type, str zone)
{
    sb_printf(&p->told, "unavailable " STR_FMT " " STR_FMT " " STR_FMT "\n", STR_ARG(ct), STR_ARG(type), STR_ARG(zone));
}

static void mark_reservation(struct ec2 *p, str id)
{
    sb_printf(&p->told, "no more of " STR_FMT "\n", STR_ARG(id));
}

static bool instance_get(struct ec2 *p, struct arena *a UNUSED, str id, bool fresh, struct ec2_instance *ret,
                         struct err *e)
{
    for (uint32_t i = 0; i < p->n && fresh; i++)
        if (str_eq(p->v[i].id, id))
            return *ret = p->v[i], true;
    return err_set(e, ERR_NOT_FOUND, "no such instance");
}

static bool instance_list(struct ec2 *p, struct arena *a, struct ec2_instances *ret, struct err *e UNUSED)
{
    *ret = (struct ec2_instances){arena_dup_array(a, struct ec2_instance, p->v, p->n), p->n};
    return true;
}

static bool instance_tag(struct ec2 *p, struct arena *a UNUSED, str id, const struct ec2_tag *tags, uint32_t n,
                         struct err *e UNUSED)
{
    sb_printf(&p->told, "tag " STR_FMT, STR_ARG(id));
    for (uint32_t i = 0; i < n; i++)
        sb_printf(&p->told, " " STR_FMT "=" STR_FMT, STR_ARG(tags[i].key), STR_ARG(tags[i].value));
    sb_char(&p->told, '\n');
    return true;
}

static bool refresh(struct ec2 *p UNUSED, struct err *e UNUSED)
{
    return true;
}

static bool zone_is_shifted(const struct ec2 *p, str zone_id)
{
    return p->shifted && str_is(zone_id, "ida");
}

static void learn_memory(struct ec2 *p, str type, str class, str image, int64_t bytes)
{
    sb_printf(&p->told, "memory " STR_FMT " " STR_FMT " " STR_FMT " %lld\n", STR_ARG(type), STR_ARG(class),
              STR_ARG(image), (long long)bytes);
}

/* Of the cloud only ends are asked for, and what there is to buy. */
static bool destroy(void *self, struct arena *a UNUSED, const struct nodeclaim *c, struct err *e UNUSED)
{
    sb_printf(&((struct ec2 *)self)->told, "destroy " STR_FMT "\n", STR_ARG(c->provider_id));
    return true;
}

static const struct catalog *catalog(void *self)
{
    return ((const struct ec2 *)self)->catalog;
}

/* ---- the lab ---- */

struct lab {
    struct far *far;
    struct world *account_world;
    struct sim_aws *account;
    struct aws_config *config;
    struct aws *aws;
    struct ec2 p;
    struct cloud cloud;
    struct options options;
    struct control c;
    struct metrics *registry;
    struct aws_machines *s;
    struct sb log;
};

static void keep_line(void *ctx, str line)
{
    sb_str(ctx, line);
}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void ignore(void *ctx UNUSED, enum object_kind kind UNUSED, str ns UNUSED, str name UNUSED,
                   const struct err *e UNUSED)
{
}

static const struct cloud_class classes[] = {{"karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", NULL}};

static void open_account(struct lab *l, const char *members)
{
    static const char *const vars[] = {"AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                       "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=us-west-2", NULL};
    struct aws_environment env = {.vars = vars};
    struct sim_aws_options o = {.any_signature = true, .unlimited = true};
    struct err e;

    l->account_world = o.world = sim_process(l->far->sim, "aws");
    o.account = account_tree(l->far->a, members);
    l->account = sim_aws_new(&o, &e);
    check_ok("the account", l->account != NULL, &e);
    sim_mount(l->far->sim, "https://aws.test", o.world, sim_aws_serve, l->account);
    l->config = aws_config_load(&env, &e);
    check_ok("configuration", l->config != NULL, &e);
    l->aws = aws_new(&(struct aws_options){
        .world = l->far->world, .config = l->config, .observer = {&l->c, aws_count_attempt, aws_count_call}});
}

static void begin(struct lab *l, const char *queue)
{
    const struct nodeclass_ref class = {STR("karpenter.k8s.aws"), STR("EC2NodeClass"), {0}};

    l->c.world = l->p.world = l->far->world;
    l->c.api = l->far->api;
    l->c.options = &l->options;
    l->c.syms = syms_new();
    l->c.log = log_new(LOG_DEBUG, &(struct log_sink){&l->log, keep_line}, now_ms, l->far->world);
    l->registry = metrics_new();
    l->c.metrics = control_metrics_new(l->registry, NULL);
    l->cloud = (struct cloud){
        .name = "aws", .self = &l->p, .classes = classes, .n_classes = 1, .destroy = destroy, .catalog = catalog};
    l->c.cloud = &l->cloud;
    l->c.store = store_new(&(struct store_options){l->c.syms, &class, 1, 20000});
    l->c.feed = feed_new(
        &(struct feed_options){.store = l->c.store, .classes = classes, .n_classes = 1, .ctx = l, .on_error = ignore});
    l->c.manager = manager_new(l->far->world, l->c.log, l->registry);
    l->c.recorder = recorder_new(l->c.api, STR("karpenter"), l->c.log);
    l->s = aws_machines_new(&l->c, &(struct aws_machines_options){
                                       .aws = l->aws,
                                       .provider = {&l->p, instance_id, mark_unavailable, mark_reservation,
                                                    instance_get, instance_list, instance_tag, refresh, refresh,
                                                    refresh, refresh, refresh, zone_is_shifted, learn_memory, refresh},
                                       .cluster_name = STR("c1"),
                                       .interruption_queue = str_c(queue)});
    feed_watch(l->c.feed, l->c.api);
    for (int i = 0; i < 100 && !feed_listed(l->c.feed); i++)
        far_run(l->far, 0.01);
    manager_start(l->c.manager);
    far_run(l->far, 0.1);
}

static struct lab *lab_new(const char *queue, const char *members)
{
    struct lab *l = xcalloc(1, sizeof(*l));

    l->far = far_new(1);
    open_account(l, members);
    begin(l, queue);
    return l;
}

static void lab_free(struct lab *l)
{
    feed_free(l->c.feed);
    far_kill(l->far);
    manager_free(l->c.manager);
    recorder_free(l->c.recorder);
    aws_machines_free(l->s);
    store_free(l->c.store);
    metrics_free(l->registry);
    control_metrics_free(l->c.metrics);
    log_free(l->c.log);
    aws_free(l->aws);
    aws_config_free(l->config);
    sim_aws_free(l->account);
    far_free(l->far);
    syms_free(l->c.syms);
    sb_fini(&l->p.told);
    sb_fini(&l->log);
    free(l);
}

static int setup(void **state)
{
    *state = lab_new("c1", NULL);
    return 0;
}

static int teardown(void **state)
{
    lab_free(*state);
    return 0;
}

/* A claim and its Node, on a machine. */
static void add_claim(struct lab *l, const char *name, const char *id, const char *more_labels)
{
    struct arena *a = l->far->a;

    far_apply(
        l->far,
        arena_printf(
            a,
            "apiVersion: karpenter.sh/v1\nkind: NodeClaim\n"
            "metadata: {name: %s, finalizers: [karpenter.sh/termination], labels: {karpenter.sh/nodepool: pool, "
            "node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: za%s}}\n"
            "spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\n%c",
            name, more_labels, 0)
            .p);
    far_patch_status(
        l->far, "nodeclaims", name,
        arena_printf(a, "{\"status\":{\"providerID\":\"aws:///za/%s\",\"imageID\":\"ami-x86\"}}%c", id, 0).p);
    far_apply(l->far,
              arena_printf(
                  a,
                  "apiVersion: v1\nkind: Node\nmetadata: {name: node-%s, labels: {karpenter.sh/registered: \"true\", "
                  "node.kubernetes.io/instance-type: m5.large%s}}\n"
                  "spec: {providerID: \"aws:///za/%s\"}\nstatus: {capacity: {memory: 8Gi}}\n%c",
                  name, more_labels, id, 0)
                  .p);
    far_run(l->far, 0.1);
}

struct sending {
    struct lab *l;
    const char *body;
};

static void send(void *arg)
{
    struct sending *x = arg;
    struct arena *a = x->l->far->a;
    struct aws_answer r;
    struct err e;
    struct aws_call call = {.service = AWS_SQS, .action = "SendMessage"};
    struct sb b = {0};

    sb_c(&b, "{\"QueueUrl\":");
    str url;
    check_ok("the queue", sqs_queue_url(x->l->aws, a, STR("c1"), &url, &e), &e);
    sb_str(&b, json_quoted(a, url));
    sb_c(&b, ",\"MessageBody\":");
    sb_str(&b, json_quoted(a, str_c(x->body)));
    sb_char(&b, '}');
    call.body = sb_dup(&b, a);
    sb_fini(&b);
    check_ok("sent", aws_do(x->l->aws, &call, a, &r, &e), &e);
}

static void tell(struct lab *l, const char *source, const char *type, const char *detail)
{
    str text =
        arena_printf(l->far->a,
                     "{\"version\":\"0\",\"detail-type\":\"%s\",\"source\":\"%s\",\"time\":\"2026-01-02T03:04:05Z\","
                     "\"detail\":%s}%c",
                     type, source, detail, 0);

    far_do(l->far, send, &(struct sending){l, text.p});
    far_run(l->far, 1);
}

static bool deleting(struct lab *l, const char *claim)
{
    return far_get(l->far, "nodeclaims", claim, "metadata.deletionTimestamp").n != 0;
}

static double deleted_messages(const struct lab *l)
{
    return metric_value(l->c.metrics->interruption_deleted_messages_total, NULL);
}

/* ---- the queue ---- */

/* T1, T2 */
static void warnings_delete_claims(void **state)
{
    static const struct {
        const char *name, *source, *type, *detail, *kind, *told, *event;
        bool deleted;
    } cases[] = {
        {"spot", "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-spot\"}",
         "spot_interrupted", "unavailable spot m5.large za\n", "SpotInterrupted", true},
        {"reservation", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning",
         "{\"instance-id\":\"i-reservation\"}", "capacity_reservation_interrupted", "no more of cr-1\n",
         "CapacityReservationInstanceInterrupted", true},
        {"change", "aws.health", "AWS Health Event",
         "{\"service\":\"EC2\",\"eventTypeCategory\":\"scheduledChange\",\"affectedEntities\":[{\"entityValue\":\"i-change\"}]}",
         "scheduled_change", "", "InstanceUnhealthy", true},
        {"stopping", "aws.ec2", "EC2 Instance State-change Notification",
         "{\"instance-id\":\"i-stopping\",\"state\":\"stopping\"}", "instance_stopped", "", "InstanceStopping", true},
        {"terminated", "aws.ec2", "EC2 Instance State-change Notification",
         "{\"instance-id\":\"i-terminated\",\"state\":\"terminated\"}", "instance_terminated", "",
         "InstanceTerminating", true},
        {"rebalance", "aws.ec2", "EC2 Instance Rebalance Recommendation", "{\"instance-id\":\"i-rebalance\"}",
         "rebalance_recommendation", "", "SpotRebalanceRecommendation", false},
    };
    struct lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = cases[i].name;

        add_claim(l, name, arena_printf(l->far->a, "i-%s%c", name, 0).p,
                  ", karpenter.sh/capacity-type: reserved, karpenter.k8s.aws/capacity-reservation-id: cr-1");
        sb_reset(&l->p.told);
        tell(l, cases[i].source, cases[i].type, cases[i].detail);
        check_true(name, deleting(l, name) == cases[i].deleted);
        check_str(name, sb_view(&l->p.told), cases[i].told);
        check_true("on claim and Node",
                   far_events(l->far, cases[i].event, name).n && far_events(l->far, cases[i].event, "node-").n);
        check_u64(name,
                  (uint64_t)metric_value(l->c.metrics->interruption_received_messages_total,
                                         METRIC_VALS(str_c(cases[i].kind))),
                  1);
        check_u64(name,
                  (uint64_t)metric_value(l->c.metrics->nodeclaims_disrupted_total,
                                         METRIC_VALS(str_c(cases[i].kind), STR("pool"), STR("reserved"))),
                  cases[i].deleted);
        check_u64("the message is gone", (uint64_t)deleted_messages(l), i + 1);
    }
    check_true("the log has a line",
               str_contains(sb_view(&l->log), STR("\"level\":\"WARN\"")) &&
                   str_contains(sb_view(&l->log), STR("\"interruption received\"")) &&
                   str_contains(sb_view(&l->log), STR("\"node\":\"i-spot\",\"action\":\"terminate\"")));
}

/* T1: unparseable and irrelevant messages are deleted; a claim that is deleted already is no error. */
static void other_messages_are_deleted(void **state)
{
    struct lab *l = *state;

    add_claim(l, "one", "i-1", "");
    far_do(l->far, send, &(struct sending){l, "not json"});
    far_do(l->far, send, &(struct sending){l, "{\"version\":\"0\",\"source\":\"aws.s3\"}"});
    tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-nobody\"}");
    check_u64("all three", (uint64_t)deleted_messages(l), 3);
    check_true("nothing happened", !deleting(l, "one"));
    for (int i = 0; i < 2; i++)
        tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-1\"}");
    check_u64("twice the same", (uint64_t)deleted_messages(l), 5);
    check_u64("counts once", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 1);
}

/* What could not be done is tried again when the message comes again. */
static void failures_keep_the_message(void **state)
{
    struct lab *l = *state;

    add_claim(l, "one", "i-1", "");
    far_refuse(l->far, "DELETE", "/nodeclaims/one", 500, "no", 1);
    tell(l, "aws.ec2", "EC2 Spot Instance Interruption Warning", "{\"instance-id\":\"i-1\"}");
    check_true("not yet", !deleting(l, "one") && deleted_messages(l) == 0);
    far_run(l->far, 45);
    check_true("then it is", deleting(l, "one"));
    check_u64("and the message gone", (uint64_t)deleted_messages(l), 1);
}

/* T1: many at once. */
static void many_messages(void **state)
{
    struct lab *l = *state;

    for (int i = 0; i < 25; i++)
        add_claim(l, arena_printf(l->far->a, "c%d%c", i, 0).p, arena_printf(l->far->a, "i-%d%c", i, 0).p, "");
    for (int i = 0; i < 25; i++) {
        str body = arena_printf(l->far->a,
                                "{\"version\":\"0\",\"detail-type\":\"EC2 Spot Instance Interruption Warning\","
                                "\"source\":\"aws.ec2\",\"detail\":{\"instance-id\":\"i-%d\"}}%c",
                                i, 0);

        far_do(l->far, send, &(struct sending){l, body.p});
    }
    far_run(l->far, 5);
    check_u64("every message", (uint64_t)deleted_messages(l), 25);
    check_u64("every claim", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 25);
}

/* Messages that come twice and calls that fail change nothing but the time it takes. */
static void bad_days(void **state)
{
    struct lab *l = *state;

    for (int i = 0; i < 12; i++)
        add_claim(l, arena_printf(l->far->a, "c%d%c", i, 0).p, arena_printf(l->far->a, "i-%d%c", i, 0).p, "");
    for (int i = 0; i < 12; i++) {
        str body =
            arena_printf(l->far->a,
                         "{\"version\":\"0\",\"detail-type\":\"EC2 Instance State-change Notification\","
                         "\"source\":\"aws.ec2\",\"detail\":{\"instance-id\":\"i-%d\",\"state\":\"stopping\"}}%c",
                         i, 0);

        far_do(l->far, send, &(struct sending){l, body.p});
        if (i == 0)
            sim_aws_set_faults(l->account, &(struct sim_aws_faults){.duplicate = 20000, .reorder = 20000});
    }
    sim_aws_set_faults(l->account, &(struct sim_aws_faults){
                                       .throttle = 8000, .server_error = 8000, .lose_reply = 8000, .duplicate = 20000});
    far_run(l->far, 600);
    check_u64("every claim, once", (uint64_t)metric_value(l->c.metrics->interruption_actions_performed, NULL), 12);
    sim_aws_set_faults(l->account, &(struct sim_aws_faults){0});
    far_run(l->far, 60);
    uint64_t received = sim_aws_calls(l->account, "DeleteMessage");
    far_run(l->far, 60);
    check_u64("the queue is empty", sim_aws_calls(l->account, "DeleteMessage"), received);
}

/* T3 */
static void queue_that_is_not_there(void **state UNUSED)
{
    struct lab *l = lab_new("nobody", NULL);

    far_run(l->far, 5);
    check_true("an error, again and again", str_contains(sb_view(&l->log), STR("getting queue url")));
    lab_free(l);
}

/* ---- statuses ---- */

/* T4, S5 */
static void statuses_by_kind(void **state UNUSED)
{
    const int64_t now = 1000000;
    struct ec2_check fresh = {STR("reachability"), STR("failed"), now - 119999},
                     old = {STR("reachability"), STR("failed"), now - 120000},
                     well = {STR("reachability"), STR("passed"), INT64_MIN},
                     unsaid = {STR("reachability"), STR("failed"), INT64_MIN};
    str event = STR("instance-stop");
    const struct {
        const char *name;
        struct ec2_status s;
        unsigned want;
    } cases[] = {
        {"well", {.instance = &well, .n_instance = 1, .system = &well, .n_system = 1}, 0},
        {"for too short", {.instance = &fresh, .n_instance = 1}, 0},
        {"instance", {.instance = &old, .n_instance = 1}, 1u << INTERRUPTION_INSTANCE_STATUS},
        {"nobody knows since when", {.instance = &unsaid, .n_instance = 1}, 1u << INTERRUPTION_INSTANCE_STATUS},
        {"system", {.system = &old, .n_system = 1}, 1u << INTERRUPTION_SYSTEM_STATUS},
        {"volumes", {.ebs = &old, .n_ebs = 1}, 0},
        {"events count when checks are well",
         {.system = &well, .n_system = 1, .events = &event, .n_events = 1},
         1u << INTERRUPTION_EVENT_STATUS},
        {"all",
         {.system = &old, .n_system = 1, .instance = &old, .n_instance = 1, .events = &event, .n_events = 1},
         1u << INTERRUPTION_INSTANCE_STATUS | 1u << INTERRUPTION_SYSTEM_STATUS | 1u << INTERRUPTION_EVENT_STATUS},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_u64(cases[i].name, status_kinds(&cases[i].s, now), cases[i].want);
}

struct launching {
    struct lab *l;
    str id;
};

static void launch(void *arg)
{
    struct launching *x = arg;
    struct aws_call call = {.service = AWS_EC2,
                            .action = "RunInstances",
                            .body =
                                STR("MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a")};
    struct aws_answer r;
    struct err e;

    check_ok("launched", aws_do(x->l->aws, &call, x->l->far->a, &r, &e), &e);
    const struct tree *set = tree_get(r.tree, "instancesSet");
    check_true("one machine", set && set->kind == TREE_LIST && set->n == 1);
    x->id = tree_str(tree_get(&set->items[0], "instanceId"));
}

/* T4: forceful, and counted once while it lasts. */
static void unwell_machines_are_replaced(void **state)
{
    struct lab *l = *state;
    struct launching x = {.l = l};

    far_do(l->far, launch, &x);
    check_true("a machine", x.id.n);
    far_run(l->far, 60);
    add_claim(l, "ill", arena_printf(l->far->a, STR_FMT "%c", STR_ARG(x.id), 0).p, "");
    check_true("impaired", sim_aws_impair(l->account, x.id, SIM_AWS_CHECK_SYSTEM, true));
    far_run(l->far, 100);
    check_true("not at once", !deleting(l, "ill"));
    far_run(l->far, 100);
    check_true("then it goes", deleting(l, "ill"));
    check_true("with a deadline", far_get(l->far, "nodeclaims", "ill", "metadata.annotations").n &&
                                      str_contains(far_get(l->far, "nodeclaims", "ill", "metadata.annotations"),
                                                   STR(TERMINATION_TIME_ANNOTATION)));
    far_run(l->far, 300);
    check_u64("counted once",
              (uint64_t)metric_value(l->c.metrics->interruption_instance_status_unhealthy_total,
                                     METRIC_VALS(STR("SystemStatus"))),
              1);
    check_true("well again", sim_aws_impair(l->account, x.id, SIM_AWS_CHECK_SYSTEM, false));
    far_run(l->far, 120);
    check_true("and ill once more", sim_aws_impair(l->account, x.id, SIM_AWS_CHECK_SYSTEM, true));
    far_run(l->far, 300);
    check_u64("counted again",
              (uint64_t)metric_value(l->c.metrics->interruption_instance_status_unhealthy_total,
                                     METRIC_VALS(STR("SystemStatus"))),
              2);
}

/* ---- orphans, tags, reservations, memory ---- */

/* G1 */
static void orphans_go(void **state)
{
    struct lab *l = *state;
    int64_t now = world_now_ms(l->far->world);

    add_claim(l, "owned", "i-owned", "");
    far_apply(l->far,
              "apiVersion: v1\nkind: Node\nmetadata: {name: lost}\nspec: {providerID: \"aws:///za/i-orphan\"}\n");
    l->p.n = 4;
    l->p.v[0] = (struct ec2_instance){
        .id = STR("i-owned"), .zone = STR("za"), .state = STR("running"), .launched_ms = now - 90000};
    l->p.v[1] = (struct ec2_instance){
        .id = STR("i-orphan"), .zone = STR("za"), .state = STR("running"), .launched_ms = now - 90000};
    l->p.v[2] = (struct ec2_instance){
        .id = STR("i-going"), .zone = STR("za"), .state = STR("shutting-down"), .launched_ms = now - 90000};
    l->p.v[3] =
        (struct ec2_instance){.id = STR("i-young"), .zone = STR("za"), .state = STR("running"), .launched_ms = now};
    sb_reset(&l->p.told);
    far_run(l->far, 11);
    check_true("the orphan", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-orphan\n")));
    check_true("the others stay", !str_contains(sb_view(&l->p.told), STR("i-owned")) &&
                                      !str_contains(sb_view(&l->p.told), STR("i-going")) &&
                                      !str_contains(sb_view(&l->p.told), STR("i-young")));
    check_u64("its Node goes", far_count(l->far, "nodes", "lost"), 0);
    check_u64("the other's does not", far_count(l->far, "nodes", "node-owned"), 1);
    far_run(l->far, 60);
    check_true("older now", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-young\n")));
}

/* G2 */
static void tags_that_are_missing(void **state)
{
    struct lab *l = *state;
    static const struct ec2_tag name[] = {{STR_INIT("Name"), STR_INIT("mine")}};

    l->p.n = 1;
    l->p.v[0] = (struct ec2_instance){.id = STR("i-1"),
                                      .zone = STR("za"),
                                      .state = STR("running"),
                                      .tags = name,
                                      .n_tags = 1,
                                      .launched_ms = world_now_ms(l->far->world)};
    add_claim(l, "one", "i-1", "");
    far_run(l->far, 1);
    check_true("no Node yet", !str_contains(sb_view(&l->p.told), STR("tag ")));
    far_patch_status(l->far, "nodeclaims", "one", "{\"status\":{\"nodeName\":\"node-one\"}}");
    far_run(l->far, 3);
    check_true("what it lacks",
               str_contains(sb_view(&l->p.told), STR("tag i-1 karpenter.sh/nodeclaim=one eks:eks-cluster-name=c1\n")));
    str notes = far_get(l->far, "nodeclaims", "one", "metadata.annotations");
    check_true("noted",
               str_contains(notes, STR("\"karpenter.k8s.aws/tagged\":\"true\"")) &&
                   str_contains(notes, STR("\"compatibility.karpenter.k8s.aws/cluster-name-tagged\":\"true\"")));
    sb_reset(&l->p.told);
    add_claim(l, "lost", "i-lost", "");
    far_patch_status(l->far, "nodeclaims", "lost", "{\"status\":{\"nodeName\":\"node-lost\"}}");
    far_run(l->far, 3);
    check_true("a machine that is gone has none", !str_contains(sb_view(&l->p.told), STR("tag ")));
}

/* R2 */
static void demotion(void **state)
{
    struct lab *l = *state;

    add_claim(
        l, "one", "i-1",
        ", karpenter.sh/capacity-type: reserved, karpenter.k8s.aws/capacity-reservation-id: cr-1, "
        "karpenter.k8s.aws/capacity-reservation-type: default, karpenter.k8s.aws/capacity-reservation-interruptible: \"false\"");
    l->p.n = 1;
    l->p.v[0] = (struct ec2_instance){
        .id = STR("i-1"), .zone = STR("za"), .state = STR("running"), .launched_ms = world_now_ms(l->far->world)};
    far_run(l->far, 61);
    for (int i = 0; i < 2; i++) {
        str labels = far_get(l->far, i ? "nodes" : "nodeclaims", i ? "node-one" : "one", "metadata.labels");

        check_true("on demand", str_contains(labels, STR("\"karpenter.sh/capacity-type\":\"on-demand\"")));
        check_true("of no reservation", !str_contains(labels, STR("capacity-reservation-id")) &&
                                            !str_contains(labels, STR("capacity-reservation-type")));
        check_true("quirk: this one stays", str_contains(labels, STR("capacity-reservation-interruptible")));
    }
    struct ec2_instance spot = {.spot_request = STR("sir-1")},
                        reserved = {.reservation = STR("cr"),
                                    .reservation_preference = STR("capacity-reservations-only")},
                        open = {.reservation = STR("cr"), .reservation_preference = STR("open")};
    check_true("kinds", !instance_is_on_demand(&spot, true) && !instance_is_on_demand(&reserved, true) &&
                            instance_is_on_demand(&reserved, false) && instance_is_on_demand(&open, true));
}

#define RESERVATION(id, type)                                                                                          \
    "{\"CapacityReservationId\":\"" id                                                                                 \
    "\",\"InstanceType\":\"m5.large\",\"AvailabilityZone\":\"za\",\"TotalInstanceCount\":1,"                           \
    "\"AvailableInstanceCount\":1,\"InstanceMatchCriteria\":\"targeted\",\"ReservationType\":\"" type                  \
    "\",\"EndDate\":\"%.*s\"}"

/* R1 */
static void blocks_that_end(void **state UNUSED)
{
    struct lab *l = xcalloc(1, sizeof(*l));
    struct sb at = {0};

    l->far = far_new(1);
    time_print_rfc3339(&at, world_now_ms(l->far->world) + 42 * 60000);
    str end = sb_dup(&at, l->far->a);
    sb_fini(&at);
    open_account(l, arena_printf(l->far->a,
                                 "{\"capacityReservations\":[" RESERVATION("cr-1", "capacity-block") "," RESERVATION(
                                     "cr-2", "default") "]}%c",
                                 STR_ARG(end), STR_ARG(end), 0)
                        .p);
    begin(l, "");
    add_claim(l, "block", "i-1", ", karpenter.k8s.aws/capacity-reservation-id: cr-1");
    add_claim(l, "plain", "i-2", ", karpenter.k8s.aws/capacity-reservation-id: cr-2");
    add_claim(l, "none", "i-3", "");
    far_run(l->far, 61);
    check_true("more than 40 minutes are left", !deleting(l, "block"));
    far_run(l->far, 120);
    check_true("it drains before the block ends", deleting(l, "block"));
    check_true("ordinary reservations are left alone", !deleting(l, "plain") && !deleting(l, "none"));
    lab_free(l);
}

/* M1, M2: for all NodePools together, and nothing where there is no reservation. */
static void offerings_as_gauges(void **state)
{
    struct lab *l = *state;
    struct syms *t = l->c.syms;
    sym spot = sym_of(t, STR("spot")), za = sym_of(t, STR("za")), zb = sym_of(t, STR("zb")), two = sym_of(t, STR("2")),
        mib = sym_of(t, STR("8192"));
    struct req_expr size[] = {{.key = ec2_label_key(t, EC2_L_CPU), .op = OP_IN, .n_vals = 1, .vals = &two},
                              {.key = ec2_label_key(t, EC2_L_MEMORY), .op = OP_IN, .n_vals = 1, .vals = &mib}};
    struct req_expr in_a[] = {{.key = SYM(CT), .op = OP_IN, .n_vals = 1, .vals = &spot},
                              {.key = SYM(ZONE), .op = OP_IN, .n_vals = 1, .vals = &za}};
    struct req_expr in_b[] = {{.key = SYM(CT), .op = OP_IN, .n_vals = 1, .vals = &spot},
                              {.key = SYM(ZONE), .op = OP_IN, .n_vals = 1, .vals = &zb}};
    struct offering one[] = {{.requirements = in_a, .n_requirements = 2, .price_usd_per_h = 0.5},
                             {.requirements = in_b, .n_requirements = 2, .price_usd_per_h = 0.25}};
    struct offering other[] = {{.requirements = in_a, .n_requirements = 2, .price_usd_per_h = 0.5, .available = true}};
    sym name = sym_of(t, STR("m5.large"));
    struct itype types[] = {
        {.name = name, .requirements = size, .n_requirements = 2, .offerings = one, .n_offerings = 2},
        {.name = name, .requirements = size, .n_requirements = 2, .offerings = other, .n_offerings = 1}};
    struct catalog c = {.types = types, .n = 2};
    const struct control_metrics *m = l->c.metrics;
    const str *at_a = METRIC_VALS(STR("m5.large"), STR("spot"), STR("za")),
              *at_b = METRIC_VALS(STR("m5.large"), STR("spot"), STR("zb"));

    l->p.catalog = &c;
    far_run(l->far, 61);
    check_true("one pool can have it", metric_value(m->cloudprovider_instance_type_offering_available, at_a) == 1);
    check_true("none can", metric_value(m->cloudprovider_instance_type_offering_available, at_b) == 0);
    check_true("and yet it has a price",
               metric_value(m->cloudprovider_instance_type_offering_price_estimate, at_b) == 0.25);
    check_u64("the gate is closed", metric_count(m->cloudprovider_instance_type_offering_available), 2);
    check_true("vCPUs", metric_value(m->cloudprovider_instance_type_cpu_cores, METRIC_VALS(STR("m5.large"))) == 2);
    check_true("bytes",
               metric_value(m->cloudprovider_instance_type_memory, METRIC_VALS(STR("m5.large"))) == 8589934592.0);
    l->options.settings.reserved_capacity = true;
    far_run(l->far, 61);
    check_u64("the gate is open", metric_count(m->cloudprovider_instance_type_offering_available), 4);
    l->p.catalog = NULL;
}

/* P2 */
static void memory_is_learnt(void **state)
{
    struct lab *l = *state;

    add_claim(l, "one", "i-1", "");
    far_run(l->far, 1);
    check_true("what the Node has",
               str_contains(sb_view(&l->p.told), STR("memory m5.large default ami-x86 8589934592\n")));
}

/* Z1 */
static void shifts_are_told(void **state)
{
    struct lab *l = *state;

    far_apply(l->far,
              "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"
              "spec: {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}], "
              "securityGroupSelectorTerms: [{id: sg-1}]}\n");
    far_patch_status(l->far, "ec2nodeclasses", "default",
                     "{\"status\":{\"subnets\":[{\"id\":\"subnet-1\",\"zone\":\"za\",\"zoneID\":\"ida\"}]}}");
    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: there}\nspec: {template: {spec: {requirements: [], "
        "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}\n");
    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: elsewhere}\nspec: {template: {spec: {requirements: "
        "[{key: topology.kubernetes.io/zone, operator: NotIn, values: [za]}], "
        "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}\n");
    far_run(l->far, 31);
    check_true("nothing to tell", far_events(l->far, "ZonalShiftActive", "there").n == 0);
    l->p.shifted = true;
    far_run(l->far, 31);
    check_true("away",
               str_contains(far_events(l->far, "ZonalShiftActive", "there"),
                            STR("Zonal shift detected: offerings in zone za (ida) are unavailable for this NodePool")));
    check_true("not for those that cannot be there", far_events(l->far, "ZonalShiftActive", "elsewhere").n == 0);
    l->p.shifted = false;
    far_run(l->far, 31);
    check_true("back",
               str_contains(far_events(l->far, "ZonalShiftCleared", "there"),
                            STR("Zonal shift cleared: offerings in zone za (ida) are restored for this NodePool")));
}

int main(void)
{
#define LAB(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        LAB(warnings_delete_claims),
        LAB(other_messages_are_deleted),
        LAB(failures_keep_the_message),
        LAB(many_messages),
        LAB(bad_days),
        cmocka_unit_test(queue_that_is_not_there),
        cmocka_unit_test(statuses_by_kind),
        LAB(unwell_machines_are_replaced),
        LAB(orphans_go),
        LAB(tags_that_are_missing),
        LAB(demotion),
        cmocka_unit_test(blocks_that_end),
        LAB(offerings_as_gauges),
        LAB(memory_is_learnt),
        LAB(shifts_are_told),
    };

    return cmocka_run_group_tests_name("control/aws_machines", tests, NULL, NULL);
}
