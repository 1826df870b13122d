/* Calls that take more than one request, and what comes of refusals. */
#include <stdio.h>

#include "aws/services.h"
#include "support/aws_lab.h"
#include "support/check.h"

static const char *const env[] = {"AWS_REGION=eu-west-3", "AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKID",
                                  "AWS_SECRET_ACCESS_KEY=hush", NULL};

/* The answers come one after the other, the last one again and again. */
struct script {
    int status;
    const char *body;
};

struct bench {
    struct aws_lab lab;
    struct arena *a;
    struct err e;
    const struct script *answers;
    uint32_t n_answers, n_served;
    str bodies[8];
    void (*fn)(struct bench *b, struct aws *c);
};

static void serve(struct aws_lab *l, struct exchange *x)
{
    struct bench *b = l->ctx;
    const struct script *s = &b->answers[MIN(b->n_served, b->n_answers - 1)];

    if (b->n_served < ARRAY_LEN(b->bodies))
        b->bodies[b->n_served] = arena_strdup(b->a, x->body);
    b->n_served++;
    lab_reply(x, s->status, s->body);
}

static void begin(void *arg)
{
    struct bench *b = arg;

    b->fn(b, b->lab.aws);
}

static void play(void (*fn)(struct bench *b, struct aws *c), const struct script *answers, uint32_t n)
{
    struct bench b = {.a = arena_new(0), .fn = fn, .answers = answers, .n_answers = n, .lab = {.serve = serve}};

    b.lab.ctx = &b;
    aws_lab_init(&b.lab, 1, env);
    aws_lab_go(&b.lab, begin, &b);
    aws_lab_run(&b.lab, 600000);
    aws_lab_fini(&b.lab);
    arena_free(b.a);
}

#define PLAY(fn, ...)                                                                                                  \
    do {                                                                                                               \
        static const struct script answers[] = {__VA_ARGS__};                                                          \
        play(fn, answers, ARRAY_LEN(answers));                                                                         \
    } while (0)

#define REFUSED(code, message)                                                                                         \
    "<Response><Errors><Error><Code>" code "</Code><Message>" message "</Message></Error></Errors></Response>"
#define SUBNET(id) "<item><subnetId>" id "</subnetId></item>"

/* ---- pages ---- */

static void read_pages(struct bench *b, struct aws *c)
{
    struct ec2_filter f = {"vpc-id", &(str)STR_INIT("vpc-1"), 1};
    struct ec2_subnet *v;
    uint32_t n;

    check_ok("subnets", ec2_describe_subnets(c, b->a, &f, 1, &v, &n, &b->e), &b->e);
    check_u64("asked", b->n_served, 3);
    check_true("all pages", n == 3 && str_is(v[0].id, "a") && str_is(v[2].id, "c"));
    check_str("the first", b->bodies[0],
              "Action=DescribeSubnets&Version=2016-11-15&Filter.1.Name=vpc-id&Filter.1.Value.1=vpc-1&MaxResults=500");
    check_str("the next", b->bodies[1],
              "Action=DescribeSubnets&Version=2016-11-15&Filter.1.Name=vpc-id&Filter.1.Value.1=vpc-1&MaxResults=500"
              "&NextToken=t%2F1%3D");
    check_true("the last", str_ends(b->bodies[2], STR("&MaxResults=500&NextToken=t2")));
}

static void read_circle(struct bench *b, struct aws *c)
{
    struct ec2_subnet *v = NULL;
    uint32_t n = 77;

    check_true("subnets", !ec2_describe_subnets(c, b->a, NULL, 0, &v, &n, &b->e));
    check_str("why", str_c(b->e.msg), "DescribeSubnets: page 2 of the answer leads back to one before it");
    check_true("nothing is written", v == NULL && n == 77);
}

static void fail_later(struct bench *b, struct aws *c)
{
    struct ec2_subnet *v = NULL;
    uint32_t n = 77;

    check_true("subnets", !ec2_describe_subnets(c, b->a, NULL, 0, &v, &n, &b->e));
    check_true("denied", b->e.kind == ERR_DENIED && v == NULL && n == 77);
}

static void read_bad_page(struct bench *b, struct aws *c)
{
    struct ec2_subnet *v;
    uint32_t n;

    check_true("subnets", !ec2_describe_subnets(c, b->a, NULL, 0, &v, &n, &b->e));
    check_str("why", str_c(b->e.msg),
              "DescribeSubnets: availableIpAddressCount in the answer (1:21) is \"many\", want a whole number from 0");
}

static void read_markers(struct bench *b, struct aws *c)
{
    struct iam_profile *v;
    uint32_t n;

    check_ok("profiles", iam_list_profiles(c, b->a, STR("/"), &v, &n, &b->e), &b->e);
    check_true("both pages", n == 2 && b->n_served == 2);
    check_true("marker", str_ends(b->bodies[1], STR("&PathPrefix=%2F&Marker=m")));
}

static void read_json_pages(struct bench *b, struct aws *c)
{
    struct aws_price *v;
    uint32_t n;

    check_ok("prices", pricing_on_demand(c, b->a, false, &v, &n, &b->e), &b->e);
    check_u64("asked", b->n_served, 2);
    check_true("token", str_ends(b->bodies[1], STR("}],\"NextToken\":\"a\\\"b\"}")));
}

static void pages_are_put_together(void **state)
{
    (void)state;
    PLAY(read_pages, {200, "<R><subnetSet>" SUBNET("a") SUBNET("b") "</subnetSet><nextToken>t/1=</nextToken></R>"},
         {200, "<R><subnetSet/><nextToken>t2</nextToken></R>"}, {200, "<R><subnetSet>" SUBNET("c") "</subnetSet></R>"});
    PLAY(read_circle, {200, "<R><subnetSet>" SUBNET("a") "</subnetSet><nextToken>t</nextToken></R>"});
    PLAY(fail_later, {200, "<R><subnetSet>" SUBNET("a") "</subnetSet><nextToken>t</nextToken></R>"},
         {403, REFUSED("UnauthorizedOperation", "no")});
    PLAY(read_bad_page,
         {200, "<R><subnetSet><item><availableIpAddressCount>many</availableIpAddressCount></item></subnetSet></R>"});
    PLAY(read_markers,
         {200, "<R><ListInstanceProfilesResult><InstanceProfiles><member><Path>/a</Path></member></InstanceProfiles>"
               "<IsTruncated>true</IsTruncated><Marker>m</Marker></ListInstanceProfilesResult></R>"},
         {200, "<R><ListInstanceProfilesResult><InstanceProfiles><member><Path>/b</Path></member></InstanceProfiles>"
               "<IsTruncated>false</IsTruncated></ListInstanceProfilesResult></R>"});
    PLAY(read_json_pages, {200, "{\"PriceList\": [], \"NextToken\": \"a\\\"b\"}"}, {200, "{\"PriceList\": []}"});
}

/* ---- refusals ---- */

static void create_again(struct bench *b, struct aws *c)
{
    struct ec2_template_data d = {.image = STR("ami-1")};
    struct ec2_template t;

    check_ok("create", ec2_create_template(c, b->a, STR("n"), &d, NULL, &t, NULL, &b->e), &b->e);
    check_u64("sent", b->n_served, 2);
    check_true("the same request again", b->bodies[0].n && str_eq(b->bodies[0], b->bodies[1]));
    check_ok("create", ec2_create_template(c, b->a, STR("n"), &d, NULL, &t, NULL, &b->e), &b->e);
    check_true("another call is another request", !str_eq(b->bodies[0], b->bodies[2]));
}

static const struct ec2_fleet dry = {.capacity_type = "on-demand", .count = 1, .dry_run = true};

static void try_dry(struct bench *b, struct aws *c)
{
    struct ec2_run run = {.template_name = STR("t")};

    check_ok("fleet", ec2_create_fleet(c, b->a, &dry, NULL, NULL, &b->e), &b->e);
    check_ok("run", ec2_run_dry(c, b->a, &run, NULL, &b->e), &b->e);
    check_ok("probe", ec2_probe(c, b->a, &b->e), &b->e);
    check_true("no error stays", b->e.kind == ERR_NONE);
}

static void refuse_dry(struct bench *b, struct aws *c)
{
    struct aws_answer f;

    check_true("fleet", !ec2_create_fleet(c, b->a, &dry, NULL, &f, &b->e));
    check_u64("sent once", b->n_served, 1);
    check_str("code", f.code, "RequestLimitExceeded");
    check_str("message", f.message, "slow down");
    check_true("kind", b->e.kind == ERR_THROTTLED && f.status == 503);
}

static void not_so_dry(struct bench *b, struct aws *c)
{
    check_true("fleet", !ec2_create_fleet(c, b->a, &dry, NULL, NULL, &b->e));
    check_str("why", str_c(b->e.msg), "CreateFleet was carried out though it was a dry run");
}

static void deny_probe(struct bench *b, struct aws *c)
{
    check_true("probe", !ec2_probe(c, b->a, &b->e) && b->e.kind == ERR_DENIED);
}

static void miss_reservation(struct bench *b, struct aws *c)
{
    struct ec2_reservation *v;
    uint32_t n = 77;

    check_ok("by id", ec2_describe_reservations(c, b->a, STR("cr-1"), NULL, 0, &v, &n, &b->e), &b->e);
    check_true("none", n == 0 && b->e.kind == ERR_NONE);
    check_true("by filters it is an error", !ec2_describe_reservations(c, b->a, (str){0}, NULL, 0, &v, &n, &b->e));
}

static void miss_placement_group(struct bench *b, struct aws *c)
{
    struct ec2_placement_group p;

    check_true("group", !ec2_describe_placement_group(c, b->a, (str){0}, STR("mine"), &p, &b->e));
    check_true("kind", b->e.kind == ERR_NOT_FOUND);
    check_str("why", str_c(b->e.msg), "there is no placement group mine");
}

static void miss_template(struct bench *b, struct aws *c)
{
    struct ec2_template t;

    check_true("template", !ec2_describe_template(c, b->a, STR("n"), &t, NULL, &b->e));
    check_true("kind", b->e.kind == ERR_NOT_FOUND);
}

static void two_templates(struct bench *b, struct aws *c)
{
    struct ec2_template t;

    check_true("template", !ec2_describe_template(c, b->a, STR("n"), &t, NULL, &b->e));
    check_str("why", str_c(b->e.msg), "2 launch templates are called n");
}

static void miss_role(struct bench *b, struct aws *c)
{
    struct iam_profile p;
    struct aws_answer f;

    check_true("role", !iam_add_role(c, b->a, STR("p"), STR("r"), &f, &b->e));
    check_str("message", f.message, "The role with name r cannot be found.");
    check_true("kind", b->e.kind == ERR_NOT_FOUND);
    check_true("profile", !iam_get_profile(c, b->a, STR("p"), &p, &b->e) && b->e.kind == ERR_NOT_FOUND);
}

static void read_page_of_a_proxy(struct bench *b, struct aws *c)
{
    struct ec2_reservation *v;
    uint32_t n;

    check_true("reservations", !ec2_describe_reservations(c, b->a, STR("cr-1"), NULL, 0, &v, &n, &b->e));
    check_true("kind", b->e.kind == ERR_IO);
}

static void miss_others(struct bench *b, struct aws *c)
{
    struct eks_cluster cluster;
    struct aws_answer f;
    str text;

    check_true("parameter", !ssm_get_parameter(c, b->a, STR("/p"), &text, &b->e) && b->e.kind == ERR_NOT_FOUND);
    check_true("cluster", !eks_describe_cluster(c, b->a, STR("c"), &cluster, &f, &b->e) && b->e.kind == ERR_NOT_FOUND);
    check_true("queue", !sqs_queue_url(c, b->a, STR("q"), &text, &b->e) && b->e.kind == ERR_NOT_FOUND);
}

static void refusals_have_their_meaning(void **state)
{
    (void)state;
    PLAY(create_again, {503, REFUSED("Unavailable", "later")}, {200, "<R/>"});
    PLAY(try_dry, {412, REFUSED("DryRunOperation", "would have")});
    PLAY(refuse_dry, {503, REFUSED("RequestLimitExceeded", "slow down")});
    PLAY(not_so_dry, {200, "<R><fleetId>f</fleetId></R>"});
    PLAY(deny_probe, {403, REFUSED("UnauthorizedOperation", "no")});
    PLAY(miss_reservation, {400, REFUSED("InvalidCapacityReservationId.NotFound", "no")});
    PLAY(miss_placement_group, {400, REFUSED("InvalidPlacementGroup.Unknown", "no")});
    PLAY(miss_placement_group, {200, "<R><placementGroupSet/></R>"});
    PLAY(miss_template, {400, REFUSED("InvalidLaunchTemplateName.NotFoundException", "no")});
    PLAY(miss_template, {200, "<R><launchTemplates/></R>"});
    PLAY(two_templates, {200, "<R><launchTemplates><item/><item/></launchTemplates></R>"});
    PLAY(miss_role,
         {404, "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>The role with name r cannot be found."
               "</Message></Error></ErrorResponse>"});
    PLAY(read_page_of_a_proxy, {500, "<html><body>Internal Server Error<br></body></html>"});
    PLAY(miss_others, {400, "{\"__type\": \"ParameterNotFound\"}"},
         {404, "{\"__type\": \"x#ResourceNotFoundException\"}"},
         {400, "{\"__type\": \"com.amazonaws.sqs#QueueDoesNotExist\", \"message\": \"no\"}"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_put_together),
        cmocka_unit_test(refusals_have_their_meaning),
    };

    return cmocka_run_group_tests_name("aws/calls", tests, NULL, NULL);
}
