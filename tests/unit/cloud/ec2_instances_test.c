/* Fleets and machines: requests that are merged, answers that are handed out, what is remembered (aws 3.3, 4.10; 11.4 B1 to B4, 11.7 L5, L9, L10). */
#include "base/sb.h"
#include "support/aws_lab.h"
#include "support/check.h"
#include "support/class_lab.h"

#define N 8
#define IMAGE "ami-1a87131df27c78482"

enum what { FLEET, GET, FRESH, END, LIST, TAG };

struct job {
    struct class_lab *l;
    enum what what;
    str id;              /* of the machine; FLEET: of the one that came */
    const char *type;    /* FLEET */
    const char *cluster; /* FLEET: whose tags it has; NULL: ours */
    struct ec2_fleet_answer answer;
    struct ec2_instances all;
    struct aws_answer f;
    struct err e;
    bool ok, done;
};

static void fleet(struct job *j)
{
    const struct ec2_tag tags[] = {{STR("eks:eks-cluster-name"), str_c(j->cluster ? j->cluster : "test-cluster")},
                                   {STR("karpenter.k8s.aws/ec2nodeclass"), STR("default")},
                                   {STR("karpenter.sh/nodepool"), STR("pool")}};
    const struct ec2_tags spec = {"instance", tags, ARRAY_LEN(tags)};
    struct ec2_override o = {.type = str_c(j->type),
                             .subnet = STR("subnet-test1"),
                             .image = STR(IMAGE),
                             .zone = STR("test-zone-1a"),
                             .priority = 1,
                             .has_priority = true};
    struct ec2_fleet_config config = {STR("template"), &o, 1};
    struct ec2_fleet r = {.configs = &config,
                          .n_configs = 1,
                          .capacity_type = "on-demand",
                          .demand_strategy = "lowest-price",
                          .tags = &spec,
                          .n_tags = 1,
                          .count = 1};

    j->ok = ec2_fleet_batched(&j->l->p, j->l->a, &r, &j->answer, &j->f, &j->e);
    if (j->ok && j->answer.n_groups)
        j->id = j->answer.groups[0].ids[0];
}

static void work(void *arg)
{
    struct job *j = arg;
    struct ec2_instance i;

    if (j->what == FLEET)
        fleet(j);
    else if (j->what == END)
        j->ok = ec2_instance_end(&j->l->p, j->l->a, j->id, &j->e);
    else if (j->what == TAG)
        j->ok = ec2_instance_tag(&j->l->p, j->l->a, j->id, &(struct ec2_tag){STR("Name"), STR("n")}, 1, &j->e);
    else if (j->what == LIST)
        j->ok = ec2_instance_list(&j->l->p, j->l->a, &j->all, &j->e);
    else
        j->ok = ec2_instance_get(&j->l->p, j->l->a, j->id, j->what == FRESH, &i, &j->e);
    j->done = true;
}

static void go(struct class_lab *l, struct job *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].l = l;
        v[i].done = v[i].ok = false;
        fiber_go(l->near, "job", work, &v[i]);
    }
    class_lab_run(l, 60000);
    for (uint32_t i = 0; i < n; i++)
        check_true("it came to its end", v[i].done);
}

static void make_template(void *arg)
{
    struct class_lab *l = arg;
    struct ec2_template_data d = {.image = STR(IMAGE), .tenancy = STR("default")};
    struct ec2_template t;
    struct aws_answer f;
    struct err e;

    check_ok("template", ec2_create_template(l->aws, l->a, STR("template"), &d, NULL, &t, &f, &e), &e);
}

static void prepare(struct class_lab *l)
{
    l->p.machines = ec2_machines_new(&l->p);
    class_lab_go(l, make_template, l);
}

static void open_with(struct class_lab *l, const char *members)
{
    class_lab_close(l);
    class_lab_open(l, members);
    prepare(l);
}

static int setup(void **state)
{
    int r = class_lab_setup(state);

    open_with(*state, NULL);
    return r;
}

static int teardown(void **state)
{
    struct class_lab *l = *state;

    class_lab_stop(l);
    ec2_machines_free(l->p.machines);
    l->p.machines = NULL;
    return class_lab_teardown(state);
}

static void reopen(struct class_lab *l, const char *members)
{
    class_lab_stop(l);
    ec2_machines_free(l->p.machines);
    open_with(l, members);
}

static void equal_fleets_become_one(void **state)
{
    struct class_lab *l = *state;
    struct job v[N + 1] = {0};

    for (uint32_t i = 0; i < N + 1; i++)
        v[i].type = i < N ? "m5.large" : "m5.xlarge";
    go(l, v, N + 1);
    check_u64("two requests", class_lab_calls(l, "CreateFleet"), 2);
    for (uint32_t i = 0; i < N + 1; i++) {
        check_ok("each has one", v[i].ok, &v[i].e);
        check_u64("each has one", v[i].answer.n_groups == 1 ? v[i].answer.groups[0].n : 0, 1);
        check_str("of its type", v[i].answer.groups[0].type, v[i].type);
        for (uint32_t x = 0; x < i; x++)
            check_true("of its own", !str_eq(v[i].id, v[x].id));
    }
}

static void errors_reach_everybody(void **state)
{
    struct class_lab *l = *state;
    struct job v[3] = {{.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}};

    reopen(l, "{\"faults\":{\"fleet\":[{\"instanceType\":\"m5.*\",\"errorCode\":\"InsufficientInstanceCapacity\","
              "\"errorMessage\":\"none\"}]}}");
    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++) {
        check_ok("the call went well", v[i].ok, &v[i].e);
        check_u64("nobody has one", v[i].answer.n_groups, 0);
        check_u64("the shortage is told", v[i].answer.n_errors, 1);
        check_str("to each", v[i].answer.errors[0].code, "InsufficientInstanceCapacity");
        check_str("with its place", v[i].answer.errors[0].override.zone, "test-zone-1a");
    }
    reopen(l, "{\"faults\":{\"calls\":{\"CreateFleet\":[{\"code\":\"UnauthorizedOperation\",\"message\":\"no\"}]}}}");
    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++) {
        check_true("refused", !v[i].ok);
        check_str("AWS's word", v[i].f.code, "UnauthorizedOperation");
    }
}

/* B2: EC2 has fewer than were asked for. */
static void some_get_none(void **state)
{
    struct class_lab *l = *state;
    struct job v[5] = {
        {.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}};
    uint32_t served = 0, n_told = 0;

    class_lab_stop(l);
    ec2_machines_free(l->p.machines);
    class_lab_close(l);
    class_lab_open_exact(l, NULL);
    prepare(l);
    (void)sim_aws_set_pool(l->server, STR("m5.large"), STR("test-zone-1a"), STR("on-demand"), 3);
    go(l, v, ARRAY_LEN(v));
    check_u64("one request for all", class_lab_calls(l, "CreateFleet"), 1);
    for (uint32_t i = 0; i < ARRAY_LEN(v); i++) {
        check_ok("the call went well", v[i].ok, &v[i].e);
        served += v[i].answer.n_groups == 1 && v[i].answer.groups[0].n == 1;
        n_told += v[i].answer.n_errors > 0;
        for (uint32_t x = 0; x < i; x++)
            check_true("each its own", v[i].id.n == 0 || !str_eq(v[i].id, v[x].id));
        if (v[i].answer.n_groups == 0)
            check_str("why", v[i].answer.errors[0].code, "InsufficientInstanceCapacity");
    }
    check_u64("as many as there were", served, 3);
    check_u64("everybody hears of the shortage", n_told, ARRAY_LEN(v));
    check_u64("no machine is lost", sim_aws_bill(l->server).launched, 3);
}

/* An account that answers fleets in its own way. */
static const char *odd_answer;

static void answer_fleets(void *server, struct exchange *x)
{
    if (str_is(lab_form(x, "Action"), "CreateFleet"))
        lab_reply(x, 200, odd_answer);
    else
        sim_aws_serve(server, x);
}

#define FLEET_ANSWER(more) "<CreateFleetResponse><fleetId>fleet-1</fleetId>" more "</CreateFleetResponse>"

/* Neither machines nor errors: that is said in place of EC2 (aws 12, 5 and 12). More than were asked for: nobody is told of them, and they are collected later. */
static void too_few_and_too_many(void **state)
{
    struct class_lab *l = *state;
    struct job v[2] = {{.type = "m5.large"}, {.type = "m5.large"}};

    sim_mount(l->sim, "https://aws.test", l->account.far, answer_fleets, l->server);
    odd_answer = FLEET_ANSWER("");
    go(l, v, 2);
    for (uint32_t i = 0; i < 2; i++) {
        check_ok("the call went well", v[i].ok, &v[i].e);
        check_u64("no machine", v[i].answer.n_groups, 0);
        check_u64("a word about it", v[i].answer.n_errors, 1);
        check_str("of our own", v[i].answer.errors[0].code, EC2_TOO_FEW);
        check_true("of no place", v[i].answer.errors[0].override.zone.n == 0);
    }
    odd_answer = FLEET_ANSWER("<fleetInstanceSet><item><instanceIds><item>i-1</item><item>i-2</item><item>i-3</item>"
                              "</instanceIds><instanceType>m5.large</instanceType></item></fleetInstanceSet>");
    go(l, v, 2);
    check_str("the first", v[0].id, "i-1");
    check_str("the second", v[1].id, "i-2");
}

/* B4 */
static void three_hundred_at_once(void **state)
{
    struct class_lab *l = *state;
    struct job *v = arena_new_array(l->a, struct job, 300);
    int64_t from_us = world_mono_us(l->near);

    for (uint32_t i = 0; i < 300; i++)
        v[i].type = "m5.large";
    for (uint32_t i = 0; i < 300; i++) {
        v[i].l = l;
        fiber_go(l->near, "job", work, &v[i]);
    }
    while (!v[299].done)
        class_lab_run(l, 10);
    check_true("within a second", world_mono_us(l->near) - from_us < 1000000);
    check_u64("in one request", class_lab_calls(l, "CreateFleet"), 1);
    for (uint32_t i = 0; i < 300; i++)
        check_true("for everybody", v[i].done && v[i].ok && v[i].id.n);
}

/* B3: whatever the call for all of them says, each is asked for alone then, and hears its own answer. */
static void calls_that_fail_as_a_whole(void **state)
{
    struct class_lab *l = *state;
    struct job v[2] = {{.type = "m5.large"}, {.type = "m5.large"}};

    reopen(l, "{\"faults\":{\"calls\":{\"DescribeInstances\":[{\"code\":\"UnauthorizedOperation\"},"
              "{\"code\":\"UnauthorizedOperation\"},{\"code\":\"UnauthorizedOperation\"}],"
              "\"TerminateInstances\":[{\"code\":\"UnauthorizedOperation\"},{\"code\":\"UnauthorizedOperation\"}]}}}");
    go(l, v, 2);
    v[0].what = v[1].what = FRESH;
    go(l, v, 2);
    check_true("refused, each by itself",
               !v[0].ok && !v[1].ok && v[0].e.kind == ERR_DENIED && v[1].e.kind == ERR_DENIED);
    check_u64("one call for both, one for each", class_lab_calls(l, "DescribeInstances"), 3);
    v[0].what = v[1].what = END;
    go(l, v, 2);
    check_u64("likewise", class_lab_calls(l, "TerminateInstances"), 3);
    check_true("one of them was", v[0].ok != v[1].ok);
}

static void machines_are_asked_for_together(void **state)
{
    struct class_lab *l = *state;
    struct job v[4] = {{.type = "m5.large"}, {.type = "m5.large"}};

    go(l, v, 2);
    v[2].id = v[0].id;
    v[3].id = STR("i-00000000deadbeef0");
    for (uint32_t i = 0; i < 4; i++)
        v[i].what = FRESH;
    go(l, v, 3);
    check_u64("one call", class_lab_calls(l, "DescribeInstances"), 1);
    for (uint32_t i = 0; i < 3; i++)
        check_ok("found", v[i].ok, &v[i].e);
    for (uint32_t i = 0; i < 3; i++)
        v[i].what = GET;
    go(l, v, 3);
    check_u64("remembered", class_lab_calls(l, "DescribeInstances"), 1);
    for (uint32_t i = 0; i < 3; i++)
        v[i].what = FRESH;
    go(l, v, 4);
    check_u64("one that is not there: each alone", class_lab_calls(l, "DescribeInstances"), 1 + 1 + 4);
    check_true("the others", v[0].ok && v[1].ok && v[2].ok);
    check_true("that one", !v[3].ok && v[3].e.kind == ERR_NOT_FOUND);
}

static void machines_end_together(void **state)
{
    struct class_lab *l = *state;
    struct job v[3] = {{.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}};

    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++)
        v[i].what = END;
    go(l, v, 3);
    check_u64("one call", class_lab_calls(l, "TerminateInstances"), 1);
    for (uint32_t i = 0; i < 3; i++)
        check_ok("on its way", v[i].ok, &v[i].e);
    go(l, v, 1);
    check_true("gone", !v[0].ok && v[0].e.kind == ERR_NOT_FOUND);
    uint64_t n = class_lab_calls(l, "DescribeInstances");
    go(l, v, 3);
    check_u64("what is over is known from one call", class_lab_calls(l, "DescribeInstances"), n + 1);
    for (uint32_t i = 0; i < 3; i++)
        check_true("gone", !v[i].ok && v[i].e.kind == ERR_NOT_FOUND);
}

/* Whoever says that there are too many calls does not get one for each machine instead. */
static void trouble_is_shared(void **state)
{
#define BUSY "{\"code\":\"RequestLimitExceeded\",\"message\":\"too many\"}"
    struct class_lab *l = *state;
    struct job v[3] = {{.type = "m5.large"}, {.type = "m5.large"}, {.type = "m5.large"}};

    reopen(l, "{\"faults\":{\"calls\":{\"DescribeInstances\":[" BUSY "," BUSY "," BUSY "]}}}");
    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++)
        v[i].what = FRESH;
    go(l, v, 3);
    check_u64("three attempts", class_lab_calls(l, "DescribeInstances"), 3);
    for (uint32_t i = 0; i < 3; i++)
        check_true("all are told", !v[i].ok && v[i].e.kind == ERR_THROTTLED);
    reopen(l, "{\"faults\":{\"calls\":{\"TerminateInstances\":[" BUSY "," BUSY "," BUSY "]}}}");
    for (uint32_t i = 0; i < 3; i++)
        v[i] = (struct job){.type = "m5.large"};
    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++)
        v[i].what = END;
    go(l, v, 3);
    check_u64("three attempts", class_lab_calls(l, "TerminateInstances"), 3);
    for (uint32_t i = 0; i < 3; i++)
        check_true("all are told", !v[i].ok && v[i].e.kind == ERR_THROTTLED);
    go(l, v, 3);
    for (uint32_t i = 0; i < 3; i++)
        check_ok("the next time", v[i].ok, &v[i].e);
}

static void a_listing_forgets_the_others(void **state)
{
    struct class_lab *l = *state;
    struct job v[2] = {{.type = "m5.large"}, {.type = "m5.large"}}, all = {.what = LIST};

    go(l, v, 2);
    go(l, &all, 1);
    check_u64("both are there", all.all.n, 2);
    v[0].what = v[1].what = GET;
    (void)sim_aws_crash(l->server, v[0].id);
    class_lab_run(l, 60000);
    go(l, v, 1);
    check_true("still remembered", v[0].ok);
    go(l, &all, 1);
    check_u64("one is left", all.all.n, 1);
    go(l, v, 2);
    check_true("the other one is forgotten", !v[0].ok && v[1].ok);
}

/* L5 */
static void others_are_not_listed(void **state)
{
    struct class_lab *l = *state;
    struct job v[2] = {{.type = "m5.large"}, {.type = "m5.large", .cluster = "another"}}, all = {.what = LIST};

    go(l, v, 2);
    go(l, &all, 1);
    check_u64("ours alone", all.all.n, 1);
    check_str("ours", all.all.v[0].id, arena_printf(l->a, STR_FMT, STR_ARG(v[0].id)).p);
}

static struct sb heard;

static void hear(void *ctx UNUSED, str zone, str zone_id)
{
    sb_printf(&heard, STR_FMT " " STR_FMT, STR_ARG(zone), STR_ARG(zone_id));
}

/* L9: nothing is remembered of it, so EC2 is asked first; L10: what is remembered there stays. */
static void shifted_zones_and_an_empty_memory(void **state)
{
    struct class_lab *l = *state;
    struct job v = {.type = "m5.large"}, all = {.what = LIST};

    go(l, &v, 1);
    vec_push(&l->p.shifts, (struct zonal_shift){STR("tstz1-1a"), INT64_MAX, true});
    v.what = TAG;
    go(l, &v, 1);
    check_ok("tagged: nobody knew where it is", v.ok, &v.e);
    v.what = END;
    go(l, &v, 1);
    check_true("asked, and not ended", !v.ok && v.e.kind != ERR_NOT_FOUND);
    check_u64("asked", class_lab_calls(l, "DescribeInstances"), 1);
    check_u64("not ended", class_lab_calls(l, "TerminateInstances"), 0);
    v.what = TAG;
    go(l, &v, 1);
    check_true("not tagged any more", !v.ok);
    (void)sim_aws_crash(l->server, v.id);
    class_lab_run(l, 60000);
    go(l, &all, 1);
    check_u64("EC2 knows of none", all.all.n, 0);
    v.what = GET;
    go(l, &v, 1);
    check_true("L10 remembered all the same", v.ok);
    l->p.shifts.n = 0;
    go(l, &all, 1);
    go(l, &v, 1);
    check_true("L10 not when the shift is over", !v.ok && v.e.kind == ERR_NOT_FOUND);
    vec_fini(&l->p.shifts);
}

/* L9: a machine that EC2 will not end is counted. */
static void ends_that_fail(void **state)
{
    struct class_lab *l = *state;
    struct job v = {.type = "m5.large"};

    reopen(l, "{\"faults\":{\"calls\":{\"TerminateInstances\":[{\"code\":\"UnauthorizedOperation\"},"
              "{\"code\":\"UnauthorizedOperation\"}]}}}");
    l->p.host.termination_failed = hear;
    go(l, &v, 1);
    v.what = END;
    go(l, &v, 1);
    check_true("refused", !v.ok);
    check_str("counted", sb_view(&heard), "test-zone-1a tstz1-1a");
    sb_fini(&heard);
}

static void shifted_zones_are_left_alone(void **state)
{
    struct class_lab *l = *state;
    struct job v = {.type = "m5.large"};

    go(l, &v, 1);
    v.what = GET;
    go(l, &v, 1);
    vec_push(&l->p.shifts, (struct zonal_shift){STR("tstz1-1a"), INT64_MAX, true});
    v.what = FRESH;
    go(l, &v, 1);
    check_true("as remembered", v.ok);
    check_u64("nobody was asked", class_lab_calls(l, "DescribeInstances"), 1);
    v.what = END;
    go(l, &v, 1);
    check_true("not ended", !v.ok && v.e.kind != ERR_NOT_FOUND);
    check_u64("nobody was asked", class_lab_calls(l, "TerminateInstances"), 0);
    vec_fini(&l->p.shifts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_fleets_become_one, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_reach_everybody, setup, teardown),
        cmocka_unit_test_setup_teardown(some_get_none, setup, teardown),
        cmocka_unit_test_setup_teardown(too_few_and_too_many, setup, teardown),
        cmocka_unit_test_setup_teardown(three_hundred_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_that_fail_as_a_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(machines_are_asked_for_together, setup, teardown),
        cmocka_unit_test_setup_teardown(machines_end_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_listing_forgets_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_not_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(shifted_zones_and_an_empty_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_that_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(trouble_is_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(shifted_zones_are_left_alone, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
