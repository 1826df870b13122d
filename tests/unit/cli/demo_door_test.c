/* The demo's AWS account and its door: the account can be loaded and has what manifests refer to; what passes the door, and what does not. */
#include "cli/demo/door.h"

#include <stdlib.h>

#include "app/ec2_of.h"
#include "cli/cli.h"
#include "cli/demo/account.h"
#include "cli/demo/aws.h"
#include "sim/world.h"
#include "support/check.h"

#define URL "https://aws"
#define START_MS 1768478400000LL /* 2026-01-15T12:00:00Z */

struct lab {
    struct sim *sim;
    struct world *far, *near;
    struct arena *a;
    const struct tree *account;
    struct demo_aws aws;
};

static void serve(void *ctx, struct exchange *x)
{
    door_serve(ctx, x);
}

static int setup(void **state)
{
    static const struct cli_env env = {.ec2_of = ec2_of};
    struct lab *l = xcalloc(1, sizeof(*l));
    struct err e;

    l->sim = sim_new(1, START_MS);
    l->far = sim_process(l->sim, "aws");
    l->near = sim_process(l->sim, "person");
    l->a = arena_new(0);
    l->account = account_of(l->a,
                            &(struct account_setup){.env = &env,
                                                    .endpoint = STR("https://e"),
                                                    .ca_bundle = STR("Y2E="),
                                                    .key_id = STR("AKIA"),
                                                    .secret = STR("secret"),
                                                    .version = STR("1.36")},
                            &e);
    check_ok("account", l->account != NULL, &e);
    l->aws = (struct demo_aws){.secret = STR("secret"), .s = {.world = l->far, .version = STR("1.36")}, .a = l->a};
    l->aws.account = sim_aws_new(
        &(struct sim_aws_options){.world = l->far, .account = l->account, .any_signature = true, .unlimited = true},
        &e);
    check_ok("account", l->aws.account != NULL, &e);
    sim_mount(l->sim, URL "/demo", l->far, serve, &l->aws);
    sim_mount(l->sim, URL, l->far, sim_aws_serve, l->aws.account);
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    struct lab *l = *state;

    sim_aws_free(l->aws.account);
    arena_free(l->a);
    sim_free(l->sim);
    free(l);
    return 0;
}

struct asking {
    int status;
    struct sb body;
};

static void on_head(void *ctx, int status, const struct http_header *h, uint32_t n)
{
    (void)h;
    (void)n;
    ((struct asking *)ctx)->status = status;
}

static void on_data(void *ctx, str bytes)
{
    sb_str(&((struct asking *)ctx)->body, bytes);
}

/* "STATUS body", without the end of the line. */
static str ask(struct lab *l, const char *method, const char *path, const char *authorization, const char *body)
{
    const struct http_header h[] = {{STR("Authorization"), str_c(authorization)},
                                    {STR("Content-Type"), STR("application/x-www-form-urlencoded")}};
    struct asking k = {0};

    (void)http_start(l->near,
                     &(struct http_request){.method = method,
                                            .url = arena_printf(l->a, URL "%s", path),
                                            .headers = h,
                                            .n_headers = ARRAY_LEN(h),
                                            .body = str_c(body)},
                     &(struct http_events){.ctx = &k, .on_head = on_head, .on_data = on_data});
    sim_run_for(l->sim, 1000000);
    str text = arena_printf(l->a, "%d " STR_FMT, k.status, STR_ARG(str_trim(sb_view(&k.body))));
    sb_fini(&k.body);
    return text;
}

static const struct {
    const char *name, *method, *path, *authorization, *want;
} calls[] = {
    {"not a POST", "GET", "/demo/interrupt?node=x", "Bearer secret", "405 POST, please"},
    {"no token", "POST", "/demo/interrupt?node=x", "", "401 Authorization: Bearer and the secret"},
    {"another token", "POST", "/demo/interrupt?node=x", "Bearer secret2", "401 "},
    {"no such door", "POST", "/demo/window", "Bearer secret", "404 there is interrupt, capacity and publish-ami"},
    {"no such parameter", "POST", "/demo/interrupt?name=x", "Bearer secret", "400 parameters are node;"},
    {"nobody of this name", "POST", "/demo/interrupt?node=x%20y", "Bearer secret",
     "404 no machine runs under the name \"x y\""},
    {"no name at all", "POST", "/demo/interrupt", "Bearer secret", "404 no machine runs"},
    {"capacity of what", "POST", "/demo/capacity?more=1", "Bearer secret", "400 capacityType is spot or on-demand"},
    {"how many", "POST", "/demo/capacity?capacityType=spot&more=-2", "Bearer secret",
     "400 more is a number of machines"},
    {"too many", "POST", "/demo/capacity?capacityType=spot&more=100001", "Bearer secret",
     "400 more is a number of machines"},
    {"of a family that is none", "POST", "/demo/publish-ami?family=arch", "Bearer secret", "400 family is al2023"},
    {"capacity", "POST", "/demo/capacity?capacityType=spot&more=2&type=m5.large&zone=us-west-2a", "Bearer secret",
     "200 m5.large spot in us-west-2a: 2 more machines"},
    {"of one", "POST", "/demo/capacity?capacityType=spot&more=1&type=m5.large", "Bearer secret",
     "200 m5.large spot in every zone: 1 more machine"},
    {"capacity of what is not sold", "POST", "/demo/capacity?capacityType=spot&more=2&type=m5.lage", "Bearer secret",
     "404 AWS sells no m5.lage in every zone"},
    {"no such zone", "POST", "/demo/capacity?capacityType=spot&more=2&zone=us-west-2z", "Bearer secret",
     "404 AWS sells no machines in us-west-2z"},
    {"no end of it", "POST", "/demo/capacity?capacityType=on-demand&more=-1", "Bearer secret",
     "200 every type on-demand in every zone: no end of machines"},
    {"an image", "POST", "/demo/publish-ami?family=al2023", "Bearer secret", "200 al2023@v20260115 ami-0"},
    {"the next one", "POST", "/demo/publish-ami?family=al2023", "Bearer secret", "200 al2023@v20260116 ami-0"},
    {"of Bottlerocket", "POST", "/demo/publish-ami?family=bottlerocket", "Bearer secret",
     "200 bottlerocket@1.63.0 ami-0"},
    {"of Windows", "POST", "/demo/publish-ami?family=windows", "Bearer secret", "200 windows@2026.01.18 ami-0"},
};

static void doors(void **state)
{
    struct lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        str got = ask(l, calls[i].method, calls[i].path, calls[i].authorization, "");

        check_str(calls[i].name, str_sub(got, 0, strlen(calls[i].want)), calls[i].want);
    }
}

static str launch(struct lab *l, const char *market)
{
    str image = tree_str(tree_get(tree_get(l->account, "images")->items, "ImageId"));
    str body = arena_printf(l->a,
                            "Action=RunInstances&Version=2016-11-15&ImageId=" STR_FMT
                            "&InstanceType=m5.large&MinCount=1&MaxCount=1&SubnetId=subnet-0dea0000000000001%s%c",
                            STR_ARG(image), market, 0);
    str answer = ask(l, "POST", "/", "", body.p), id = {0};

    for (size_t i = 0; i + 19 < answer.n && !id.n; i++)
        if (str_starts(str_sub(answer, i, answer.n), STR("<instanceId>")))
            id = str_sub(answer, i + 12, i + 31);
    check_true("launched", id.n);
    return id;
}

static void interruptions(void **state)
{
    struct lab *l = *state;
    str paid = launch(l, ""), spot = launch(l, "&InstanceMarketOptions.MarketType=spot");
    str dns = sim_aws_machine(l->aws.account, spot)->private_dns;
    const char *by_id = arena_printf(l->a, "/demo/interrupt?node=" STR_FMT "%c", STR_ARG(paid), 0).p;
    const char *by_name = arena_printf(l->a, "/demo/interrupt?node=" STR_FMT "%c", STR_ARG(dns), 0).p;

    check_u64("two machines", demo_aws_leftovers(&l->aws).instances, 2);
    check_true("not a spot machine", str_contains(ask(l, "POST", by_id, "Bearer secret", ""), STR("409 ")));
    check_true("a node's name", str_contains(ask(l, "POST", by_name, "Bearer secret", ""), STR("200 ")));
    sim_run_for(l->sim, 130 * 1000000ll);
    check_true("gone two minutes later", !sim_aws_machine(l->aws.account, spot));
    check_u64("the other one is left", demo_aws_leftovers(&l->aws).instances, 1);
}

/* What aliases are looked up by. */
static void parameters(void **state)
{
    static const char *const names[] = {
        "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id",
        ("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/"
         "amazon-eks-node-al2023-arm64-nvidia-1.36-v20260605/image_id"),
        "/aws/service/bottlerocket/aws-k8s-1.36/arm64/latest/image_id",
        "/aws/service/bottlerocket/aws-k8s-1.36-nvidia/x86_64/1.58.0/image_id",
        "/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.36/image_id",
        "/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id",
    };
    struct lab *l = *state;
    const struct tree *known = tree_get(l->account, "ssmParameters");

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        check_true(names[i], str_starts(tree_str(tree_get(known, names[i])), STR("ami-0")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(doors, setup, teardown),
        cmocka_unit_test_setup_teardown(interruptions, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters, setup, teardown),
    };

    return cmocka_run_group_tests_name("cli/demo_door", tests, NULL, NULL);
}
