/* Fleets and machines: requests that are merged, answers that are handed out, what is remembered (aws 3.3, 4.10; 11.4 B1 to B3, 11.7 L5, L9, L10). */
#include "base/sb.h"
#include "support/check.h"
#include "support/class_lab.h"

#define N 8

enum what { FLEET, GET, FRESH, END, LIST };

struct job {
    struct class_lab *l;
    enum what what;
    str id;           /* of the machine; FLEET: of the one that came */
    const char *type; /* FLEET */
    struct ec2_fleet_answer answer;
    struct ec2_instances all;
    struct aws_answer f;
    struct err e;
    bool ok, done;
};

static void fleet(struct job *j)
{
    static const struct ec2_tag tags[] = {{STR_INIT("eks:eks-cluster-name"), STR_INIT("test-cluster")},
                                          {STR_INIT("karpenter.k8s.aws/ec2nodeclass"), STR_INIT("default")},
                                          {STR_INIT("karpenter.sh/nodepool"), STR_INIT("pool")}};
    static const struct ec2_tags spec = {"instance", tags, ARRAY_LEN(tags)};
    struct ec2_override o = {.type = str_c(j->type),
                             .subnet = STR("subnet-test1"),
                             .image = STR("ami-1"),
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
    struct ec2_template_data d = {.image = STR("ami-1"), .tenancy = STR("default")};
    struct ec2_template t;
    struct aws_answer f;
    struct err e;

    check_ok("template", ec2_create_template(l->aws, l->a, STR("template"), &d, NULL, &t, &f, &e), &e);
}

static void open_with(struct class_lab *l, const char *members)
{
    class_lab_close(l);
    class_lab_open(l, members);
    l->p.machines = ec2_machines_new(&l->p);
    class_lab_go(l, make_template, l);
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
        cmocka_unit_test_setup_teardown(machines_are_asked_for_together, setup, teardown),
        cmocka_unit_test_setup_teardown(machines_end_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_listing_forgets_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(trouble_is_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(shifted_zones_are_left_alone, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
