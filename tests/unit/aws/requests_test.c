/* Every call as it goes over the wire, compared with requests.txt; tests/e2e/aws_wire.py shows that file to AWS's own models. Every field of every request is
 * set somewhere, and left out somewhere else. */
#include "aws/services.h"
#include "support/aws_lab.h"
#include "support/check.h"
#include "support/golden.h"

static const char *const env[] = {"AWS_REGION=eu-west-3", "AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKID",
                                  "AWS_SECRET_ACCESS_KEY=hush", NULL};

/* ---- a server that writes down what it is asked ---- */

static void note_pairs(struct sb *out, str body)
{
    str pair;

    while (body.n) {
        (void)str_cut(body, '&', &pair, &body);
        if (str_starts(pair, STR("ClientToken="))) {
            check_u64("a token is a UUID", pair.n, strlen("ClientToken=") + 36);
            check_true("of version 4", pair.p[strlen("ClientToken=") + 14] == '4');
            pair = STR("ClientToken=TOKEN");
        }
        sb_str(out, pair);
        sb_char(out, '\n');
    }
}

/* The service is the last but one part of the signature's scope. */
static str service_of(const struct exchange *x)
{
    str scope = http_header_get(x->headers, x->n_headers, "Authorization"), part;

    for (int i = 0; i < 3; i++)
        (void)str_cut(scope, '/', &part, &scope);
    (void)str_cut(scope, '/', &part, &scope);
    return part;
}

static void serve(struct aws_lab *l, struct exchange *x)
{
    struct sb *out = l->ctx;
    str service = service_of(x), target = http_header_get(x->headers, x->n_headers, "X-Amz-Target");
    bool form = str_is(service, "ec2") || str_is(service, "iam"), dry = str_is(lab_form(x, "DryRun"), "true");

    sb_printf(out, "== " STR_FMT " %s " STR_FMT "%s" STR_FMT "\n", STR_ARG(service), x->method, STR_ARG(x->path),
              target.n ? " " : "", STR_ARG(target));
    if (form)
        note_pairs(out, x->body);
    else if (x->body.n)
        sb_printf(out, STR_FMT "\n", STR_ARG(x->body));
    if (dry)
        lab_reply(x, 412, "<Response><Errors><Error><Code>DryRunOperation</Code></Error></Errors></Response>");
    else
        lab_reply(x, 200, form ? "<Response><requestId>1</requestId></Response>" : "{}");
}

/* ---- the calls ---- */

static const str groups[] = {STR_INIT("sg-1"), STR_INIT("sg-2")};
static const struct ec2_tag tags[] = {{STR_INIT("karpenter.sh/nodepool"), STR_INIT("de fault")},
                                      {STR_INIT("empty"), STR_INIT("")},
                                      {STR_INIT("k&=+"), STR_INIT("\xc3\xa9%/?")}};
static const struct ec2_tags specs[] = {{"instance", tags, 3}, {"volume", tags, 1}, {"fleet", tags, 2}};

static void ask_types(struct aws *c, struct arena *a, struct err *e)
{
    struct ec2_type_infos types;
    struct ec2_type_zone *zones;
    struct ec2_spot_price *prices;
    uint32_t n;

    check_ok("probe", ec2_probe(c, a, e), e);
    check_ok("types", ec2_describe_types(c, a, &types, e), e);
    check_ok("zones", ec2_describe_type_zones(c, a, &zones, &n, e), e);
    check_ok("spot", ec2_describe_spot_prices(c, a, &prices, &n, e), e);
}

static void ask_found(struct aws *c, struct arena *a, struct err *e)
{
    struct ec2_filter f[] = {
        ec2_filter_tag(a, STR("Name"), STR("a b*")), ec2_filter_tag(a, STR("k"), STR("*")), {"subnet-id", groups, 2}};
    str owners[] = {STR_INIT("self"), STR_INIT("123456789012")};
    struct ec2_subnet *subnets;
    struct ec2_group *found;
    struct ec2_image *images;
    struct ec2_reservation *reservations;
    struct ec2_placement_group placement;
    uint32_t n;

    check_ok("subnets", ec2_describe_subnets(c, a, f, 3, &subnets, &n, e), e);
    check_ok("groups", ec2_describe_groups(c, a, f, 1, &found, &n, e), e);
    check_ok("images", ec2_describe_images(c, a, f, 1, owners, 2, &images, &n, e), e);
    check_ok("images of anybody", ec2_describe_images(c, a, f, 0, NULL, 0, &images, &n, e), e);
    check_ok("reservation", ec2_describe_reservations(c, a, STR("cr-1"), NULL, 0, &reservations, &n, e), e);
    check_ok("reservations", ec2_describe_reservations(c, a, (str){0}, f, 2, &reservations, &n, e), e);
    check_true("by id", !ec2_describe_placement_group(c, a, STR("pg-1"), (str){0}, &placement, e));
    check_true("by name", !ec2_describe_placement_group(c, a, (str){0}, STR("mine"), &placement, e));
}

static void ask_templates(struct aws *c, struct arena *a, struct err *e)
{
    struct ec2_volume volumes[] = {
        {STR("/dev/xvda"), 1, 0, 3000, 125, 100, 20, STR("arn:kms"), STR("snap-1"), STR("gp3"), true},
        {.device = STR("/dev/xvdb"), .delete_on_termination = -1, .encrypted = -1, .has_ebs = true},
        {.device = STR("/dev/xvdc"), .delete_on_termination = -1, .encrypted = -1},
    };
    struct ec2_interface interfaces[] = {
        {0, 0, STR("efa"), groups, 2, 1, 0, 2, true, 1, 60, 61, 62, {0}},
        {.card = -1, .device = 1, .public_ip = -1, .ipv4_prefixes = -1, .ipv6_prefixes = -1},
    };
    struct ec2_template_data full = {.image = STR("ami-1"),
                                     .profile = STR("profile"),
                                     .user_data = STR("#!/bin/sh\n\xff"),
                                     .volumes = volumes,
                                     .n_volumes = 3,
                                     .interfaces = interfaces,
                                     .n_interfaces = 2,
                                     .tags = specs,
                                     .n_tags = 2,
                                     .monitoring = true,
                                     .enclaves = true,
                                     .metadata_endpoint = STR("enabled"),
                                     .metadata_ipv6 = STR("disabled"),
                                     .metadata_tokens = STR("required"),
                                     .metadata_hops = 1,
                                     .tenancy = STR("default"),
                                     .placement_group = STR("pg-1"),
                                     .partition = 3,
                                     .nested_virtualization = STR("enabled"),
                                     .reservation_preference = STR("capacity-reservations-only"),
                                     .reservation_id = STR("cr-1"),
                                     .market = STR("capacity-block")};
    struct ec2_template_data least = {.image = STR("ami-1"), .profile = STR("p"), .tenancy = STR("default")};
    struct ec2_tags own = {"launch-template", tags, 1};
    struct ec2_filter f = ec2_filter_tag(a, STR("eks:eks-cluster-name"), STR("c"));
    struct ec2_template one, *many;
    uint32_t n;

    check_ok("all", ec2_create_template(c, a, STR("karpenter.k8s.aws/1"), &full, &own, &one, NULL, e), e);
    check_ok("least", ec2_create_template(c, a, STR("least"), &least, NULL, &one, NULL, e), e);
    check_true("by name", !ec2_describe_template(c, a, STR("karpenter.k8s.aws/1"), &one, NULL, e));
    check_ok("by tag", ec2_describe_templates(c, a, &f, 1, &many, &n, e), e);
    check_ok("delete by id", ec2_delete_template(c, a, STR("lt-1"), (str){0}, e), e);
    check_ok("delete by name", ec2_delete_template(c, a, (str){0}, STR("karpenter.k8s.aws/1"), e), e);
}

static void ask_fleets(struct aws *c, struct arena *a, struct err *e)
{
    struct ec2_override overrides[] = {
        {STR("m5.large"), STR("subnet-1"), STR("ami-1"), STR("eu-west-3a"), 0.096, true},
        {STR("m6g.large"), STR("subnet-2"), {0}, {0}, 0, false},
        {.type = STR("t4g.nano"), .priority = 0.00001, .has_priority = true},
    };
    struct ec2_fleet_config configs[] = {{STR("lt-a"), overrides, 2}, {STR("lt-b"), overrides + 2, 1}};
    struct ec2_fleet spot = {.context = STR("context"),
                             .configs = configs,
                             .n_configs = 2,
                             .capacity_type = "spot",
                             .spot_strategy = "price-capacity-optimized",
                             .tags = specs,
                             .n_tags = 3,
                             .count = 17};
    struct ec2_fleet demand = {.configs = configs,
                               .n_configs = 1,
                               .capacity_type = "on-demand",
                               .demand_strategy = "lowest-price",
                               .count = 1,
                               .dry_run = true};
    struct ec2_fleet reserved = {.configs = configs,
                                 .n_configs = 1,
                                 .capacity_type = "reserved-capacity",
                                 .reservation_type = "interruptible-capacity-reservation",
                                 .count = 1};
    struct ec2_interface at = {.card = 1,
                               .device = 1,
                               .type = STR("efa-only"),
                               .subnet = STR("subnet-1"),
                               .public_ip = -1,
                               .ipv4_prefixes = -1,
                               .ipv6_prefixes = -1};
    struct ec2_run run = {STR("lt-a"), STR("m5.large"), &at, 1, specs, 2};
    struct ec2_fleet_answer answer;

    check_ok("spot", ec2_create_fleet(c, a, &spot, &answer, NULL, e), e);
    check_ok("reserved", ec2_create_fleet(c, a, &reserved, &answer, NULL, e), e);
    check_ok("dry run", ec2_create_fleet(c, a, &demand, &answer, NULL, e), e);
    check_ok("run", ec2_run_dry(c, a, &run, NULL, e), e);
}

static void ask_instances(struct aws *c, struct arena *a, struct err *e)
{
    static const str ids[] = {STR_INIT("i-0123456789abcdef0"), STR_INIT("i-0123456789abcdef1")},
                     codes[] = {STR_INIT("instance-reboot")};
    struct ec2_filter f[] = {ec2_filter_tag(a, STR("karpenter.sh/nodepool"), STR("*")),
                             ec2_filter_tag(a, STR("eks:eks-cluster-name"), STR("c"))};
    struct ec2_filter event = {"event.code", codes, 1};
    struct ec2_instances instances;
    struct ec2_state_change *changes;
    struct ec2_status *statuses;
    uint32_t n;

    check_ok("by id", ec2_describe_instances(c, a, ids, 2, NULL, 0, &instances, e), e);
    check_ok("by tag", ec2_describe_instances(c, a, NULL, 0, f, 2, &instances, e), e);
    check_ok("terminate", ec2_terminate(c, a, ids, 2, &changes, &n, e), e);
    check_ok("tag", ec2_create_tags(c, a, ids[0], tags, 3, e), e);
    check_ok("status", ec2_describe_status(c, a, &event, &statuses, &n, e), e);
}

static void ask_others(struct aws *c, struct arena *a, struct err *e)
{
    struct iam_profile profile, *profiles;
    struct eks_cluster cluster;
    struct sqs_message *messages;
    struct aws_price *prices;
    struct zonal_shift *shifts;
    uint32_t n;
    str text;

    check_ok("get", iam_get_profile(c, a, STR("p"), &profile, e), e);
    check_ok("create", iam_create_profile(c, a, STR("p"), STR("/karpenter/eu-west-3/c/uid/"), tags, 2, e), e);
    check_ok("add", iam_add_role(c, a, STR("p"), STR("role"), NULL, e), e);
    check_ok("remove", iam_remove_role(c, a, STR("p"), STR("role"), e), e);
    check_ok("delete", iam_delete_profile(c, a, STR("p"), e), e);
    check_ok("list", iam_list_profiles(c, a, STR("/karpenter/"), &profiles, &n, e), e);
    check_ok("parameter", ssm_get_parameter(c, a, STR("/aws/service/\"x\""), &text, e), e);
    check_ok("cluster", eks_describe_cluster(c, a, STR("my-cluster"), &cluster, NULL, e), e);
    check_ok("queue", sqs_queue_url(c, a, STR("q"), &text, e), e);
    check_ok("receive", sqs_receive(c, a, STR("https://sqs/1/q"), &messages, &n, e), e);
    check_ok("done", sqs_delete(c, a, STR("https://sqs/1/q"), STR("receipt+="), e), e);
    check_ok("prices", pricing_on_demand(c, a, false, &prices, &n, e), e);
    check_ok("prices of metal", pricing_on_demand(c, a, true, &prices, &n, e), e);
    check_ok("shifts", zonal_shifts(c, a, STR("arn:aws:eks:eu-west-3:1:cluster/c"), &shifts, &n, e), e);
}

static void ask_all(void *arg)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};

    ask_types(arg, a, &e);
    ask_found(arg, a, &e);
    ask_templates(arg, a, &e);
    ask_fleets(arg, a, &e);
    ask_instances(arg, a, &e);
    ask_others(arg, a, &e);
}

static void requests_are_as_written(void **state)
{
    struct aws_lab lab = {.serve = serve};
    struct sb got = {0};

    (void)state;
    lab.ctx = &got;
    aws_lab_init(&lab, 1, env);
    aws_lab_go(&lab, ask_all, lab.aws);
    aws_lab_run(&lab, 60000);
    aws_lab_fini(&lab);
    golden_check("tests/unit/aws/requests.txt", sb_view(&got));
    sb_fini(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_are_as_written)};

    return cmocka_run_group_tests_name("aws/requests", tests, NULL, NULL);
}
