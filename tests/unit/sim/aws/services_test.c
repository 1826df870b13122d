/* The other services: queues in time, keys that end, credentials of machines; and our own clients, whose requests are signed, against all of it. */
#include <stdio.h>

#include "aws/services.h"
#include "aws/sigv4.h"
#include "data/edit.h"
#include "data/json.h"
#include "net/fiber.h"
#include "support/aws_account.h"
#include "support/aws_lab.h"
#include "support/check.h"

#define ALWAYS 65536u
#define QUEUE "{\"QueueUrl\":\"https://sqs.us-west-2.amazonaws.com/123456789012/c1\""

/* ---- queues ---- */

static void send_text(struct aws_account *t, const char *text)
{
    (void)account_do(t, "AmazonSQS.SendMessage", account_line(t, QUEUE ",\"MessageBody\":\"%s\"}", text));
}

/* The bodies that come, in order. */
static str receive(struct aws_account *t, const char *more)
{
    const struct tree *list = tree_get(
        account_do(t, "AmazonSQS.ReceiveMessage", account_line(t, QUEUE ",\"MaxNumberOfMessages\":10%s}", more)),
        "Messages");
    struct sb b = {0};

    for (uint32_t i = 0; list && i < list->n; i++)
        sb_printf(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(tree_str(tree_get(&list->items[i], "Body"))));
    str text = sb_dup(&b, t->a);
    sb_fini(&b);
    return text;
}

static void hidden_for_a_while(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    send_text(&t, "a");
    send_text(&t, "b");
    check_str("both", receive(&t, ",\"VisibilityTimeout\":20"), "a b");
    check_str("hidden", receive(&t, ""), "");
    account_run(&t, 19 * 1000);
    check_str("still", receive(&t, ""), "");
    account_run(&t, 2 * 1000);
    check_str("again", receive(&t, ",\"VisibilityTimeout\":20"), "a b");
    account_run(&t, 300 * 1000);
    check_str("too old", receive(&t, ""), "");
    account_close(&t);
}

/* What is hidden for 20 s is not hidden for longer because clocks are set. */
static void a_clock_that_jumps(void **state)
{
    struct aws_account t;
    int64_t oldest_ms;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    send_text(&t, "a");
    check_str("taken", receive(&t, ",\"VisibilityTimeout\":20"), "a");
    sim_jump(t.sim, -7200 * 1000);
    account_run(&t, 21 * 1000);
    check_u64("it is there", sim_aws_messages(t.aws, STR("c1"), &oldest_ms), 1);
    check_true("for so long", oldest_ms >= 21 * 1000 && oldest_ms < 22 * 1000);
    check_str("and seen again", receive(&t, ""), "a");
    check_u64("no such queue", sim_aws_messages(t.aws, STR("c2"), NULL), 0);
    account_close(&t);
}

static void long_polls(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    int64_t began = sim_now_us(t.sim);

    check_str("nothing comes", receive(&t, ",\"WaitTimeSeconds\":20"), "");
    check_i64("after twenty seconds", (sim_now_us(t.sim) - began) / 1000000, 20);
    send_text(&t, "a");
    check_str("hidden for five seconds", receive(&t, ",\"VisibilityTimeout\":5"), "a");
    began = sim_now_us(t.sim);
    check_str("a poll sees it return", receive(&t, ",\"WaitTimeSeconds\":20"), "a");
    check_i64("then", (sim_now_us(t.sim) - began) / 1000000, 5);
    check_str("too long", account_ask(&t, "AmazonSQS.ReceiveMessage", QUEUE ",\"WaitTimeSeconds\":21}").code,
              "com.amazonaws.sqs#InvalidParameterValue");
    check_str("no such queue", account_ask(&t, "AmazonSQS.GetQueueUrl", "{\"QueueName\":\"other\"}").code,
              "com.amazonaws.sqs#QueueDoesNotExist");
    account_close(&t);
}

/* A receiver that goes away while it waits, and an account that does. */
static void polls_that_end(void **state)
{
    struct aws_account t;
    struct http_header target = {STR("X-Amz-Target"), STR("AmazonSQS.ReceiveMessage")};
    struct http_request r = {.method = "POST",
                             .url = STR(ACCOUNT_URL "/"),
                             .headers = &target,
                             .n_headers = 1,
                             .body = STR(QUEUE ",\"WaitTimeSeconds\":20}")};

    (void)state;
    account_open(&t, 1, NULL, NULL);
    struct http_call *one = http_start(t.near, &r, &(struct http_events){0});

    (void)http_start(t.near, &r, &(struct http_events){0});
    account_run(&t, 1000);
    http_cancel(one);
    account_run(&t, 1000);
    send_text(&t, "a");
    account_run(&t, 1000);
    check_str("who stayed has it", receive(&t, ""), "");
    (void)http_start(t.near, &r, &(struct http_events){0});
    account_run(&t, 1000);
    account_close(&t);
}

static void queues_behave_badly(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.duplicate = ALWAYS});
    send_text(&t, "a");
    check_str("once", receive(&t, ""), "a");
    check_str("twice", receive(&t, ""), "a");
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.reorder = ALWAYS});
    send_text(&t, "b");
    check_str("overtaken", receive(&t, ""), "b a");
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.throttle = ALWAYS});
    check_str("too many", account_ask(&t, "AmazonSQS.PurgeQueue", QUEUE "}").code,
              "com.amazonaws.sqs#RequestThrottled");
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.server_error = ALWAYS});
    check_i64("500", account_ask(&t, "iam", "Action=GetRole&RoleName=node").status, 500);
    account_close(&t);
}

/* ---- bad requests ---- */

static void bad_requests(void **state)
{
    static const struct {
        const char *what, *body, *code;
        int status;
    } cases[] = {
        {"AmazonSSM.GetParameter", "{", "SerializationException", 400},
        {"AmazonSSM.GetParameter", "[]", "SerializationException", 400},
        {"AmazonSSM.GetParameter", "{}", "ValidationException", 400},
        {"AmazonSSM.GetParameter", "{\"Name\":\"/none\"}", "ParameterNotFound", 400},
        {"AmazonSSM.Launch", "{}", "UnknownOperationException", 400},
        {"AWSEvents.ListTargetsByRule", "{\"Rule\":\"none\"}", "ResourceNotFoundException", 404},
        {"AWSEvents.ListRules", "{\"NextToken\":\"zzz\"}", "InvalidNextToken", 400},
        {"AWSPriceListService.GetProducts", "{\"ServiceCode\":\"AmazonS3\"}", "InvalidParameterException", 400},
        {"GET /clusters/none", "", "ResourceNotFoundException", 404},
        {"GET /managedresources/arn%3Aaws%3Aeks%3Aus-west-2%3A1%3Acluster%2Fx", "", "ResourceNotFoundException", 404},
        {"GET /clusters/c1/nodes", "", "ResourceNotFoundException", 404},
        {"iam", "Action=GetInstanceProfile", "ValidationError", 400},
        {"iam", "Action=GetInstanceProfile&InstanceProfileName=none", "NoSuchEntity", 404},
        {"iam", "Action=CreateInstanceProfile&InstanceProfileName=x&Path=no-slash", "ValidationError", 400},
        {"sts", "Action=AssumeRole&RoleSessionName=x&RoleArn=arn:aws:iam::123456789012:role/nobody", "AccessDenied",
         403},
        {"sts", "Action=AssumeRole&RoleSessionName=x&RoleArn=role/", "AccessDenied", 403},
        {"sts", "Action=AssumeRole&RoleSessionName=x&RoleArn=arn:aws:iam::123456789012:role/node&DurationSeconds=1",
         "ValidationError", 400},
        {"Nobody.Knows", "x", "InvalidAction", 400},
    };
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct aws_reply r = account_ask(&t, cases[i].what, cases[i].body);

        check_str(cases[i].body, r.code, cases[i].code);
        check_i64(cases[i].body, r.status, cases[i].status);
    }
    account_close(&t);
}

/* ---- our own clients ---- */

struct session {
    struct aws_lab lab;
    struct sim_aws *aws;
    struct arena *a;
};

static void serve(struct aws_lab *l, struct exchange *x)
{
    struct session *s = l->ctx;

    if (lab_is(x, "169.254"))
        sim_aws_serve_local(s->aws, x);
    else
        sim_aws_serve(s->aws, x);
}

static void session_open(struct session *s, const char *const *vars)
{
    struct err e;

    *s = (struct session){.a = arena_new(0)};
    s->lab.serve = serve;
    s->lab.ctx = s;
    aws_lab_init(&s->lab, 1, vars);
    s->aws = sim_aws_new(&(struct sim_aws_options){.world = s->lab.far, .account = account_tree(s->a, NULL)}, &e);
    check_ok("the account", s->aws != NULL, &e);
}

static void session_close(struct session *s)
{
    aws_lab_fini(&s->lab);
    arena_free(s->a);
}

static const char *const with_keys[] = {"AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                        "AWS_REGION=us-west-2", "AWS_ENDPOINT_URL=https://aws.test", NULL};

static void launch_like_a_provider(struct session *s)
{
    struct aws *c = s->lab.aws;
    struct ec2_tag tag = {STR("owner"), STR("me")};
    struct ec2_tags tags = {"instance", &tag, 1}, lt_tags = {"launch-template", &tag, 1};
    struct ec2_interface nic = {.card = -1,
                                .groups = &(str){"sg-1", 4},
                                .n_groups = 1,
                                .public_ip = -1,
                                .ipv4_prefixes = -1,
                                .ipv6_prefixes = -1};
    struct ec2_template_data data = {.image = STR("ami-x86"),
                                     .profile = STR("profile"),
                                     .user_data = STR("#!/bin/sh"),
                                     .interfaces = &nic,
                                     .n_interfaces = 1,
                                     .tenancy = STR("default")};
    struct ec2_override o[2] = {{STR("m5.large"), STR("subnet-b"), STR("ami-x86"), STR("zb"), 0.02, true},
                                {STR("m5.large"), STR("subnet-a"), STR("ami-x86"), STR("za"), 0.03, true}};
    struct ec2_fleet_config config = {STR("one"), o, 2};
    struct ec2_fleet fleet = {.configs = &config,
                              .n_configs = 1,
                              .capacity_type = "spot",
                              .spot_strategy = "price-capacity-optimized",
                              .tags = &tags,
                              .n_tags = 1,
                              .count = 3};
    struct ec2_template made;
    struct ec2_fleet_answer answer;
    struct ec2_instances list;
    struct ec2_state_change *change;
    uint32_t n_change;
    struct aws_answer f;
    struct err e = {0};

    check_ok("a template", ec2_create_template(c, s->a, STR("one"), &data, &lt_tags, &made, &f, &e), &e);
    check_ok("is found", ec2_describe_template(c, s->a, STR("one"), &made, &f, &e), &e);
    check_ok("a fleet", ec2_create_fleet(c, s->a, &fleet, &answer, &f, &e), &e);
    check_u64("of two kinds", answer.n_groups, 2);
    check_str("the cheaper one is full", answer.errors[0].code, "InsufficientFreeAddressesInSubnet");
    check_str("there", answer.errors[0].override.subnet, "subnet-b");
    struct ec2_filter by_tag = ec2_filter_tag(s->a, STR("owner"), STR("me"));

    check_ok("instances", ec2_describe_instances(c, s->a, NULL, 0, &by_tag, 1, &list, &e), &e);
    check_u64("all of them", list.n, 3);
    check_str("spot", list.v[0].lifecycle, "spot");
    check_str("zone id", list.v[0].zone_id, "idb");
    check_str("group", list.v[0].groups[0], "sg-1");
    check_ok("ended", ec2_terminate(c, s->a, &list.v[0].id, 1, &change, &n_change, &e), &e);
    check_str("on its way", change[0].is, "shutting-down");
    fleet.dry_run = true;
    check_ok("a dry run", ec2_create_fleet(c, s->a, &fleet, &answer, &f, &e), &e);
    check_ok("no more", ec2_delete_template(c, s->a, STR(""), STR("one"), &e), &e);
    check_true("not found", !ec2_describe_template(c, s->a, STR("one"), &made, &f, &e) && e.kind == ERR_NOT_FOUND);
}

static void look_like_a_provider(struct session *s)
{
    struct aws *c = s->lab.aws;
    struct ec2_type_infos types;
    struct ec2_spot_price *spot;
    struct aws_price *prices;
    struct ec2_subnet *nets;
    struct ec2_image *images;
    struct eks_cluster cluster;
    struct iam_profile profile;
    struct zonal_shift *shifts;
    struct aws_answer f;
    struct err e = {0};
    uint32_t n;
    str text;

    check_ok("a probe", ec2_probe(c, s->a, &e), &e);
    check_ok("types", ec2_describe_types(c, s->a, &types, &e), &e);
    check_u64("two", types.n, 2);
    check_i64("memory", types.v[0].memory_mib, 8192);
    check_ok("spot prices", ec2_describe_spot_prices(c, s->a, &spot, &n, &e), &e);
    check_u64("of two pools", n, 2);
    struct ec2_filter named = ec2_filter_tag(s->a, STR("Name"), STR("net*"));

    check_ok("subnets", ec2_describe_subnets(c, s->a, &named, 1, &nets, &n, &e), &e);
    check_u64("with that name", n, 2);
    check_i64("addresses", nets[1].free_ips, 2);
    check_ok("images", ec2_describe_images(c, s->a, NULL, 0, &(str){"amazon", 6}, 1, &images, &n, &e), &e);
    check_str("deprecated too", images[0].id, "ami-arm");
    check_ok("prices", pricing_on_demand(c, s->a, false, &prices, &n, &e), &e);
    check_true("of two types", n == 2 && prices[1].per_hour > 0.0999 && prices[1].per_hour < 0.1001);
    check_ok("the cluster", eks_describe_cluster(c, s->a, STR("c1"), &cluster, &f, &e), &e);
    check_str("its version", cluster.version, "1.32");
    sim_aws_shift_zone(s->aws, STR("ida"), 60000);
    check_ok("shifts", zonal_shifts(c, s->a, cluster.arn, &shifts, &n, &e), &e);
    check_true("one", n == 1 && shifts[0].applied && str_is(shifts[0].zone_id, "ida"));
    check_ok("a parameter", ssm_get_parameter(c, s->a, STR("/aws/service/x"), &text, &e), &e);
    check_str("its value", text, "ami-x86");
    check_ok("a profile", iam_create_profile(c, s->a, STR("p"), STR("/karpenter/x/"), NULL, 0, &e), &e);
    check_true("a role that is not there",
               !iam_add_role(c, s->a, STR("p"), STR("nobody"), &f, &e) && str_contains(f.message, STR("role")));
    check_ok("a role", iam_add_role(c, s->a, STR("p"), STR("node"), &f, &e), &e);
    check_ok("the profile", iam_get_profile(c, s->a, STR("p"), &profile, &e), &e);
    check_str("with its role", profile.role, "node");
}

static void listen_like_a_provider(struct session *s)
{
    struct aws *c = s->lab.aws;
    struct sqs_message *messages;
    struct err e = {0};
    uint32_t n;
    str url;

    check_ok("the queue", sqs_queue_url(c, s->a, STR("c1"), &url, &e), &e);
    check_ok("its messages", sqs_receive(c, s->a, url, &messages, &n, &e), &e);
    check_true("there are some",
               n > 0 && str_contains(messages[0].body, STR("EC2 Instance State-change Notification")));
    check_ok("deleted", sqs_delete(c, s->a, url, messages[0].receipt, &e), &e);
}

static void provider(void *arg)
{
    struct session *s = arg;

    look_like_a_provider(s);
    launch_like_a_provider(s);
    listen_like_a_provider(s);
}

static void our_own_clients(void **state)
{
    struct session s;

    (void)state;
    session_open(&s, with_keys);
    aws_lab_go(&s.lab, provider, &s);
    aws_lab_run(&s.lab, 120 * 1000);
    sim_aws_free(s.aws);
    session_close(&s);
}

/* ---- who asks ---- */

static void ask_wrongly(void *arg)
{
    struct session *s = arg;
    struct ec2_subnet *nets;
    struct err e = {0};
    uint32_t n;
    str text;

    check_true("refused", !ec2_describe_subnets(s->lab.aws, s->a, NULL, 0, &nets, &n, &e));
    check_str("EC2's word", str_c(e.code), "SignatureDoesNotMatch");
    check_true("refused", !ssm_get_parameter(s->lab.aws, s->a, STR("/aws/service/x"), &text, &e));
    check_str("SSM's word", str_c(e.code), "InvalidSignatureException");
}

static void wrong_secrets(void **state)
{
    static const char *const vars[] = {"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=wrong",
                                       "AWS_REGION=us-west-2", "AWS_ENDPOINT_URL=https://aws.test", NULL};
    struct session s;

    (void)state;
    session_open(&s, vars);
    aws_lab_go(&s.lab, ask_wrongly, &s);
    aws_lab_run(&s.lab, 120 * 1000);
    sim_aws_free(s.aws);
    session_close(&s);
}

/* Keys of the machine's role: for six hours, and renewed in time. */
static void ask_for_days(void *arg)
{
    struct session *s = arg;
    struct err e = {0};
    str text;

    for (int i = 0; i < 24; i++) {
        check_ok("with keys of IMDS", ssm_get_parameter(s->lab.aws, s->a, STR("/aws/service/x"), &text, &e), &e);
        fiber_sleep_us(s->lab.near, 2LL * 3600 * 1000000);
    }
}

static void keys_end(void **state)
{
    static const char *const vars[] = {"AWS_REGION=us-west-2", "AWS_ENDPOINT_URL=https://aws.test", NULL};
    struct session s;

    (void)state;
    session_open(&s, vars);
    aws_lab_go(&s.lab, ask_for_days, &s);
    aws_lab_run(&s.lab, 72LL * 3600 * 1000);
    sim_aws_free(s.aws);
    session_close(&s);
}

/* Somebody revokes them while they are in use; and secrets are known where they are seen. */
static void ask_with_revoked(void *arg)
{
    struct session *s = arg;
    struct err e = {0};
    str text;

    check_ok("before", ssm_get_parameter(s->lab.aws, s->a, STR("/aws/service/x"), &text, &e), &e);
    sim_aws_end_keys(s->aws);
    check_ok("with others", ssm_get_parameter(s->lab.aws, s->a, STR("/aws/service/x"), &text, &e), &e);
}

static void keys_are_revoked(void **state)
{
    static const char *const vars[] = {"AWS_REGION=us-west-2", "AWS_ENDPOINT_URL=https://aws.test", NULL};
    struct session s;

    (void)state;
    session_open(&s, vars);
    aws_lab_go(&s.lab, ask_with_revoked, &s);
    aws_lab_run(&s.lab, 60 * 1000);
    check_u64("refused once", sim_aws_calls(s.aws, "GetParameter"), 3);
    check_true("a secret", sim_aws_is_told(s.aws, STR("{\"key\":\"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\"}")));
    check_true("none", !sim_aws_is_told(s.aws, STR("AKIDEXAMPLE")));
    sim_aws_free(s.aws);
    session_close(&s);
}

/* Times, tokens, regions and bodies that were signed otherwise. */
static void ask_signed(void *arg)
{
    struct session *s = arg;
    const struct {
        const char *name;
        int64_t skew_ms;
        str token, region, body;
        int status;
        const char *code;
    } cases[] = {
        {"as it should be", 0, STR(""), STR("us-west-2"), STR("Action=DescribeVpcs&Version=2016-11-15"), 200, ""},
        {"a clock that is four minutes late", -240000, STR(""), STR("us-west-2"),
         STR("Action=DescribeVpcs&Version=2016-11-15"), 200, ""},
        {"ten minutes", -600000, STR(""), STR("us-west-2"), STR("Action=DescribeVpcs&Version=2016-11-15"), 400,
         "RequestExpired"},
        {"ten minutes ahead", 600000, STR(""), STR("us-west-2"), STR("Action=DescribeVpcs&Version=2016-11-15"), 400,
         "RequestExpired"},
        {"a token that it does not have", 0, STR("abc"), STR("us-west-2"),
         STR("Action=DescribeVpcs&Version=2016-11-15"), 401, "AuthFailure"},
        {"another region", 0, STR(""), STR("eu-west-3"), STR("Action=DescribeVpcs&Version=2016-11-15"), 403,
         "SignatureDoesNotMatch"},
        {"another body", 0, STR(""), STR("us-west-2"), STR("Action=DescribeVpcs&Version=2016-11-15&MaxResults=5"), 403,
         "SignatureDoesNotMatch"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header h[3];
        struct aws_keys keys = {STR("AKIDEXAMPLE"), STR("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), cases[i].token};
        struct sigv4_request r = {.method = "POST",
                                  .host = STR("aws.test"),
                                  .path = STR("/"),
                                  .body = STR("Action=DescribeVpcs&Version=2016-11-15"),
                                  .service = STR("ec2"),
                                  .region = cases[i].region,
                                  .now_ms = world_now_ms(s->lab.near) + cases[i].skew_ms};
        struct http_request q = {
            .method = "POST", .url = STR("https://aws.test/"), .headers = h, .body = cases[i].body};
        struct http_response got;
        struct err e = {0};

        q.n_headers = sigv4_sign(s->a, &r, &keys, h);
        check_ok(cases[i].name, http_fetch(s->lab.near, &q, s->a, &got, &e), &e);
        check_i64(cases[i].name, got.status, cases[i].status);
        check_true(cases[i].name, str_contains(got.body, str_c(cases[i].code)));
    }
}

static void signatures(void **state)
{
    struct session s;

    (void)state;
    session_open(&s, with_keys);
    aws_lab_go(&s.lab, ask_signed, &s);
    aws_lab_run(&s.lab, 120 * 1000);
    sim_aws_free(s.aws);
    session_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_for_a_while), cmocka_unit_test(long_polls),      cmocka_unit_test(a_clock_that_jumps),
        cmocka_unit_test(keys_are_revoked),   cmocka_unit_test(polls_that_end),  cmocka_unit_test(queues_behave_badly),
        cmocka_unit_test(bad_requests),       cmocka_unit_test(our_own_clients), cmocka_unit_test(wrong_secrets),
        cmocka_unit_test(keys_end),           cmocka_unit_test(signatures),
    };

    return cmocka_run_group_tests_name("sim/aws/services", tests, NULL, NULL);
}
