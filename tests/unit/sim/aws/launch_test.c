/* Templates, fleets and machines: which override gets the machine, why others do not, and what is recorded of it. */
#include <stdio.h>

#include "data/edit.h"
#include "data/json.h"
#include "support/aws_account.h"
#include "support/check.h"

#define TEMPLATE                                                                                                        \
    "Action=CreateLaunchTemplate&LaunchTemplateName=tpl&LaunchTemplateData.ImageId=ami-x86"                             \
    "&LaunchTemplateData.UserData=aGVsbG8=&LaunchTemplateData.IamInstanceProfile.Name=profile"                          \
    "&LaunchTemplateData.NetworkInterface.1.DeviceIndex=0&LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-1" \
    "&TagSpecification.1.ResourceType=launch-template&TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v"

#define OVERRIDE(n, type, subnet, priority)                                                                            \
    "&LaunchTemplateConfigs.1.Overrides." #n ".InstanceType=" type "&LaunchTemplateConfigs.1.Overrides." #n            \
    ".SubnetId=" subnet "&LaunchTemplateConfigs.1.Overrides." #n ".Priority=" priority

#define FLEET(count, kind)                                                                                             \
    "Action=CreateFleet&Type=instant&LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName=tpl"       \
    "&LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version=%24Latest"                                           \
    "&TargetCapacitySpecification.TotalTargetCapacity=" #count                                                         \
    "&TargetCapacitySpecification.DefaultTargetCapacityType=" kind

static const struct tree *items(const struct tree *t, const char *key)
{
    const struct tree *l = tree_get(t, key);

    return l && l->kind == TREE_LIST ? l : NULL;
}

/* "m5.large/subnet-a×2 …": who got machines; then "CODE@subnet …": who was refused. */
static str outcome(struct aws_account *t, const struct tree *reply)
{
    const struct tree *made = items(reply, "fleetInstanceSet"), *errors = items(reply, "errorSet");
    struct sb b = {0};

    for (uint32_t i = 0; made && i < made->n; i++) {
        const struct tree *o = tree_at(&made->items[i], "launchTemplateAndOverrides", "overrides", NULL);

        sb_printf(&b, STR_FMT "/" STR_FMT "x%u ", STR_ARG(tree_str(tree_get(o, "instanceType"))),
                  STR_ARG(tree_str(tree_get(o, "subnetId"))), items(&made->items[i], "instanceIds")->n);
    }
    for (uint32_t i = 0; errors && i < errors->n; i++)
        sb_printf(
            &b, STR_FMT "@" STR_FMT " ", STR_ARG(tree_str(tree_get(&errors->items[i], "errorCode"))),
            STR_ARG(tree_str(tree_at(&errors->items[i], "launchTemplateAndOverrides", "overrides", "subnetId", NULL))));
    str text = sb_dup(&b, t->a);
    sb_fini(&b);
    return str_trim(text);
}

static const struct {
    const char *name, *members;
    bool loose;
    const char *fleet, *want;
} fleets[] = {
    {"priority first", NULL, false,
     FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.2") OVERRIDE(2, "m5.large", "subnet-b", "0.1"),
     "m5.large/subnet-bx1"},
    {"then type, then subnet", NULL, true,
     FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1") OVERRIDE(2, "c7g.large", "subnet-b", "1")
         OVERRIDE(3, "c7g.large", "subnet-a", "1"),
     "c7g.large/subnet-ax1"},
    {"what runs out goes on elsewhere", NULL, false,
     FLEET(3, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.2") OVERRIDE(2, "m5.large", "subnet-b", "0.1"),
     "m5.large/subnet-bx2 m5.large/subnet-ax1 InsufficientFreeAddressesInSubnet@subnet-b"},
    {"spot", NULL, false, FLEET(1, "spot") OVERRIDE(1, "m5.large", "subnet-a", "0.1"), "m5.large/subnet-ax1"},
    {"types that are not for spot", NULL, false,
     FLEET(1, "spot")
         OVERRIDE(1, "c7g.large", "subnet-a", "0.1") "&LaunchTemplateConfigs.1.Overrides.1.ImageId=ami-arm",
     "Unsupported@subnet-a"},
    {"the image of another architecture", NULL, false,
     FLEET(1, "on-demand") OVERRIDE(1, "c7g.large", "subnet-a", "0.1"), "InvalidParameterValue@subnet-a"},
    {"a type that is not in the zone", NULL, false,
     FLEET(1, "on-demand")
         OVERRIDE(1, "c7g.large", "subnet-b", "0.1") "&LaunchTemplateConfigs.1.Overrides.1.ImageId=ami-arm",
     "Unsupported@subnet-b"},
    {"groups of another network", NULL, false, FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-c", "0.1"),
     "InvalidParameter@subnet-c"},
    {"pools have an end", "{\"capacity\":{\"m5.large\":{\"za\":{\"on-demand\":1}}}}", false,
     FLEET(2, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.1"),
     "m5.large/subnet-ax1 InsufficientInstanceCapacity@subnet-a"},
    {"quotas too", "{\"quotas\":{\"onDemandVcpus\":3}}", false,
     FLEET(2, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.1"),
     "m5.large/subnet-ax1 VcpuLimitExceeded@subnet-a"},
    {"refused ones are told of though another one did it",
     "{\"faults\":{\"fleet\":[{\"availabilityZone\":\"zb\",\"errorCode\":\"InsufficientInstanceCapacity\",\"errorMessage\":\"none\"}]}}",
     true, FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.1") OVERRIDE(2, "m5.large", "subnet-b", "0.2"),
     "m5.large/subnet-ax1 InsufficientInstanceCapacity@subnet-b"},
    {"the first fault that fits counts",
     "{\"faults\":{\"fleet\":[{\"capacityType\":\"spot\",\"errorCode\":\"A\"},{\"instanceType\":\"m5.*\",\"subnetId\":\"subnet-a\",\"errorCode\":\"B\"},"
     "{\"errorCode\":\"C\"}]}}",
     true, FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "0.1") OVERRIDE(2, "m5.large", "subnet-b", "0.2"),
     "B@subnet-a C@subnet-b"},
};

static void fleets_choose(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fleets); i++) {
        struct aws_account t;

        account_open(&t, i + 1, fleets[i].members,
                     &(struct sim_aws_options){.any_signature = true, .loose = fleets[i].loose});
        (void)account_do(&t, "ec2", TEMPLATE);
        check_str(fleets[i].name, outcome(&t, account_do(&t, "ec2", fleets[i].fleet)), fleets[i].want);
        account_close(&t);
    }
}

static const struct {
    const char *name, *request, *code;
    int status;
} refusals[] = {
    {"no such template",
     FLEET(1, "on-demand") "&LaunchTemplateConfigs.2.LaunchTemplateSpecification.LaunchTemplateName=nothing",
     "InvalidLaunchTemplateName.NotFoundException", 400},
    {"by id", "Action=DeleteLaunchTemplate&LaunchTemplateId=lt-nothing", "InvalidLaunchTemplateId.NotFound", 400},
    {"neither", "Action=DeleteLaunchTemplate", "MissingParameter", 400},
    {"again", TEMPLATE, "InvalidLaunchTemplateName.AlreadyExistsException", 400},
    {"no data", "Action=CreateLaunchTemplate&LaunchTemplateName=other", "MissingParameter", 400},
    {"user data is no base64", "Action=CreateLaunchTemplate&LaunchTemplateName=other&LaunchTemplateData.UserData=***",
     "InvalidUserData.Malformed", 400},
    {"a dry run", FLEET(1, "on-demand") "&DryRun=true", "DryRunOperation", 412},
    {"a dry run that would fail",
     "Action=RunInstances&MinCount=1&MaxCount=1&DryRun=true&ImageId=ami-none&InstanceType=m5.large",
     "InvalidAMIID.NotFound", 400},
    {"a profile that is not there",
     "Action=RunInstances&MinCount=1&MaxCount=1&DryRun=true&ImageId=ami-x86&InstanceType=m5.large&IamInstanceProfile.Name=none",
     "InvalidParameterValue", 400},
    {"other fleets", "Action=CreateFleet&Type=maintain", "InvalidParameterValue", 400},
    {"none wanted", FLEET(0, "on-demand"), "InvalidParameterValue", 400},
    {"no such action", "Action=LaunchRockets", "InvalidAction", 400},
    {"no such machine", "Action=TerminateInstances&InstanceId.1=i-00000000000000000", "InvalidInstanceID.NotFound",
     400},
    {"no machine", "Action=TerminateInstances", "MissingParameter", 400},
    {"no number", "Action=DescribeSubnets&MaxResults=many", "MalformedQueryString", 400},
    {"a resource that is not there",
     "Action=CreateTags&ResourceId.1=subnet-a&ResourceId.2=subnet-none&Tag.1.Key=x&Tag.1.Value=y", "InvalidID", 400},
    {"tags of AWS", "Action=CreateTags&ResourceId.1=subnet-a&Tag.1.Key=aws:x&Tag.1.Value=y", "InvalidParameterValue",
     400},
};

static void refusals_change_nothing(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    (void)account_do(&t, "ec2", TEMPLATE);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct aws_reply r = account_ask(&t, "ec2", refusals[i].request);

        check_str(refusals[i].name, r.code, refusals[i].code);
        check_i64(refusals[i].name, r.status, refusals[i].status);
        check_true(refusals[i].name, r.message.n > 0);
    }
    check_u64("no machine", sim_aws_bill(t.aws).launched, 0);
    const struct tree *left = account_do(&t, "ec2", "Action=DescribeLaunchTemplates");

    check_u64("one template", items(left, "launchTemplates")->n, 1);
    account_close(&t);
}

/* ---- a template that vanishes, tokens, eventual consistency ---- */

static void ordered_faults(void **state)
{
    struct aws_account t;
    static const char members[] =
        "{\"faults\":{\"calls\":{\"CreateFleet\":[{},{\"code\":\"InvalidLaunchTemplateName.NotFoundException\",\"message\":\"gone\"}],"
        "\"CreateFleet/dry-run\":[{\"code\":\"UnauthorizedOperation\",\"message\":\"no\"}]}}}";

    (void)state;
    account_open(&t, 1, members, NULL);
    (void)account_do(&t, "ec2", TEMPLATE);
    struct aws_reply dry =
        account_ask(&t, "ec2", FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1") "&DryRun=true");

    check_str("the dry run", dry.code, "UnauthorizedOperation");
    check_i64("its status", dry.status, 403);
    check_str("an entry without code lets it pass",
              outcome(&t, account_do(&t, "ec2", FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1"))),
              "m5.large/subnet-ax1");
    check_str("the second", account_ask(&t, "ec2", FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1")).code,
              "InvalidLaunchTemplateName.NotFoundException");
    check_str("the template is gone",
              account_ask(&t, "ec2", "Action=DescribeLaunchTemplates&LaunchTemplateName.1=tpl").code,
              "InvalidLaunchTemplateName.NotFoundException");
    account_close(&t);
}

static void same_token(void **state)
{
    struct aws_account t;
    static const char fleet[] = FLEET(1, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1") "&ClientToken=once";

    (void)state;
    account_open(&t, 1, NULL, NULL);
    (void)account_do(&t, "ec2", TEMPLATE);
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.lose_reply = 65536});
    check_i64("the answer is lost", account_ask(&t, "ec2", fleet).status, 0);
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){0});
    check_str("asked again", outcome(&t, account_do(&t, "ec2", fleet)), "m5.large/subnet-ax1");
    check_u64("one machine", sim_aws_bill(t.aws).launched, 1);
    check_str(
        "another request",
        account_ask(&t, "ec2", FLEET(2, "on-demand") OVERRIDE(1, "m5.large", "subnet-a", "1") "&ClientToken=once").code,
        "IdempotentParameterMismatch");
    account_run(&t, 25LL * 3600 * 1000);
    (void)account_do(&t, "ec2", "Action=CreateTags&ResourceId.1=subnet-a&Tag.1.Key=a&Tag.1.Value=b&ClientToken=other");
    (void)account_do(&t, "ec2", fleet);
    check_u64("a day later it is forgotten", sim_aws_bill(t.aws).launched, 2);
    account_close(&t);
}

static void seen_later(void **state)
{
    struct aws_account t;

    (void)state;
    account_open(&t, 3, NULL, NULL);
    sim_aws_set_faults(t.aws, &(struct sim_aws_faults){.consistency_ms = 5000});
    (void)account_do(&t, "ec2", TEMPLATE);
    check_str("not yet", account_ask(&t, "ec2", "Action=DescribeLaunchTemplates&LaunchTemplateName.1=tpl").code,
              "InvalidLaunchTemplateName.NotFoundException");
    check_str("but it is there", account_ask(&t, "ec2", TEMPLATE).code,
              "InvalidLaunchTemplateName.AlreadyExistsException");
    account_run(&t, 5001);
    (void)account_do(&t, "ec2", "Action=DescribeLaunchTemplates&LaunchTemplateName.1=tpl");
    account_close(&t);
}

static void too_many(void **state)
{
    struct aws_account t;
    uint32_t done = 0;

    (void)state;
    account_open(&t, 1, NULL, NULL);
    for (int i = 0; i < 150; i++)
        done += account_ask(&t, "ec2", "Action=DescribeSubnets&MaxResults=5").status == 200;
    check_u64("a hundred at once", done, 100);
    check_u64("counted", sim_aws_throttled(t.aws, "DescribeSubnets"), 50);
    check_u64("all of them", sim_aws_calls(t.aws, "ec2"), 150);
    check_str("other actions have their own", account_ask(&t, "ec2", "Action=DescribeVpcs").code, "");
    account_run(&t, 1000);
    for (int i = 0; i < 50; i++)
        done += account_ask(&t, "ec2", "Action=DescribeSubnets&MaxResults=5").status == 200;
    check_u64("twenty a second", done, 120);
    check_i64("as EC2 says it", account_ask(&t, "ec2", "Action=DescribeSubnets&MaxResults=5").status, 503);
    account_close(&t);
}

/* ---- what is recorded ---- */

static void remember(void *ctx, const struct sim_aws_call *c)
{
    struct sb *log = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    if (c->mutating)
        sb_printf(log, "%s:%s " STR_FMT " " STR_FMT "\n", c->service, c->action, STR_ARG(json_text(a, c->input)),
                  STR_ARG(c->error));
}

static void recorded(void **state)
{
    struct aws_account t;
    struct sb log = {0};

    (void)state;
    account_open(&t, 1, NULL, &(struct sim_aws_options){.any_signature = true, .on_call = remember, .ctx = &log});
    (void)account_do(&t, "ec2", TEMPLATE "&ClientToken=x");
    (void)account_ask(&t, "iam", "Action=AddRoleToInstanceProfile&InstanceProfileName=profile&RoleName=nobody");
    (void)account_do(&t, "iam",
                     "Action=CreateInstanceProfile&InstanceProfileName=p&Tags.member.1.Key=k&Tags.member.1.Value=v");
    (void)account_do(&t, "ec2", "Action=DescribeVpcs");
    check_str(
        "calls", sb_view(&log),
        "ec2:CreateLaunchTemplate {\"LaunchTemplateName\":\"tpl\",\"LaunchTemplateData\":{\"ImageId\":\"ami-x86\",\"UserData\":\"hello\","
        "\"IamInstanceProfile\":{\"Name\":\"profile\"},\"NetworkInterfaces\":[{\"DeviceIndex\":0,\"Groups\":[\"sg-1\"]}]},"
        "\"TagSpecifications\":{\"launch-template\":{\"k\":\"v\"}}} \n"
        "iam:AddRoleToInstanceProfile {\"InstanceProfileName\":\"profile\",\"RoleName\":\"nobody\"} NoSuchEntity\n"
        "iam:CreateInstanceProfile {\"InstanceProfileName\":\"p\",\"Tags\":{\"k\":\"v\"}} \n");
    sb_fini(&log);
    account_close(&t);
}

static void bad_accounts(void **state)
{
    static const char *const cases[][2] = {
        {"{\"region\":null}", "region"},
        {"{\"zones\":{}}", "zones: want a list"},
        {"{\"subnets\":[{}]}", "subnets[0]: SubnetId is missing"},
        {"{\"subnets\":[{\"SubnetId\":\"s\",\"AvailabilityZone\":\"elsewhere\"}]}", "zone elsewhere"},
        {"{\"images\":[{\"ImageId\":\"ami-1\"},{\"ImageId\":\"ami-1\"}]}", "twice"},
        {"{\"keys\":{\"a\":\"\"}}", "keys[0]"},
        {"{\"rules\":[{\"Name\":\"r\",\"EventPattern\":{},\"queue\":\"none\"}]}", "no queue none"},
        {"{\"instanceTypeOfferings\":{\"t\":\"za\"}}", "instanceTypeOfferings.t"},
    };
    struct sim *sim = sim_new(1, ACCOUNT_START_MS);
    struct world *w = sim_process(sim, "aws");

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct err e = {0};
        struct sim_aws *s =
            sim_aws_new(&(struct sim_aws_options){.world = w, .account = account_tree(a, cases[i][0])}, &e);

        check_true(cases[i][0], s == NULL);
        check_true(e.msg, str_contains(str_c(e.msg), str_c(cases[i][1])));
    }
    sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleets_choose),  cmocka_unit_test(refusals_change_nothing),
        cmocka_unit_test(ordered_faults), cmocka_unit_test(same_token),
        cmocka_unit_test(seen_later),     cmocka_unit_test(too_many),
        cmocka_unit_test(recorded),       cmocka_unit_test(bad_accounts),
    };

    return cmocka_run_group_tests_name("sim/aws/launch", tests, NULL, NULL);
}
