/* What EC2 had none of a moment ago (aws 3.5; I1, I2, I3). */
#include "cloud/ec2/unavailable.h"

#include "support/check.h"
#include "support/fixture.h"

#define M5A .capacity_type = STR("spot"), .type = STR("m5.large"), .zone = STR("z-a")

static int setup(void **state)
{
    *state = ec2_unavailable_new();
    return 0;
}

static int teardown(void **state)
{
    ec2_unavailable_free(*state);
    return 0;
}

static bool is(const struct ec2_unavailable *u, const struct ec2_offering_key *k, int64_t now_ms)
{
    return ec2_unavailable_is(u, k, NULL, 0, now_ms);
}

static void for_three_minutes(void **state)
{
    struct ec2_unavailable *u = *state;
    struct ec2_offering_key k = {M5A}, other = {M5A};

    other.zone = STR("z-b");
    check_true("not yet", !is(u, &k, 0) && ec2_unavailable_none(u));
    ec2_unavailable_mark(u, &k, 1000);
    check_true("marked", is(u, &k, 1000) && !ec2_unavailable_none(u));
    check_true("another zone", !is(u, &other, 1000));
    check_true("still", is(u, &k, 1000 + EC2_UNAVAILABLE_MS - 1));
    check_true("over", !is(u, &k, 1000 + EC2_UNAVAILABLE_MS));
    ec2_unavailable_mark(u, &k, 2000);
    check_true("marked again, the time begins anew", is(u, &k, 1500 + EC2_UNAVAILABLE_MS));
}

static void capacity_types_and_subnets(void **state)
{
    struct ec2_unavailable *u = *state;
    struct ec2_offering_key spot = {M5A}, on_demand = {M5A};
    str subnets[] = {STR("subnet-1"), STR("subnet-2")};

    on_demand.capacity_type = STR("on-demand");
    ec2_unavailable_mark_capacity_type(u, STR("spot"), 0);
    check_true("all of spot", is(u, &spot, 0));
    check_true("not on-demand", !is(u, &on_demand, 0));
    ec2_unavailable_mark_subnet(u, STR("subnet-1"), 0);
    check_true("one of two", !ec2_unavailable_is(u, &on_demand, subnets, 2, 0));
    check_true("one of one", ec2_unavailable_is(u, &on_demand, subnets, 1, 0));
    ec2_unavailable_mark_subnet(u, STR("subnet-2"), 0);
    check_true("both", ec2_unavailable_is(u, &on_demand, subnets, 2, 0));
    check_true("without subnets nothing is said of them", !is(u, &on_demand, 0));
}

static void placement_groups(void **state)
{
    struct ec2_unavailable *u = *state;
    struct ec2_offering_key general = {M5A}, group = {M5A, .placement = STR("pg-1")};
    struct ec2_offering_key partition = {M5A, .placement = STR("pg-1"), .partition = STR("3")};

    ec2_unavailable_mark(u, &partition, 0);
    check_true("quirk: a partition's mark is not read", !is(u, &partition, 0) && !is(u, &group, 0));
    ec2_unavailable_mark(u, &group, 0);
    check_true("the group", is(u, &group, 0) && is(u, &partition, 0));
    check_true("not in general", !is(u, &general, 0));
    ec2_unavailable_mark(u, &general, 1);
    check_true("in general is also for groups",
               is(u, &general, EC2_UNAVAILABLE_MS) && is(u, &group, EC2_UNAVAILABLE_MS));
}

static void versions_and_sweeps(void **state)
{
    struct ec2_unavailable *u = *state;
    struct ec2_offering_key k = {M5A};
    uint64_t v = ec2_unavailable_version(u), w;

    check_i64("nothing", ec2_unavailable_sweep(u, 0), INT64_MAX);
    check_u64("nothing", ec2_unavailable_version(u), v);
    ec2_unavailable_mark(u, &k, 0);
    ec2_unavailable_mark_subnet(u, STR("s"), 10);
    ec2_unavailable_mark_capacity_type(u, STR("spot"), 20);
    w = ec2_unavailable_version(u);
    check_true("rises with every mark", w >= v + 3);
    ec2_unavailable_mark(u, &k, 0);
    check_true("also with one that was there", ec2_unavailable_version(u) > w);
    w = ec2_unavailable_version(u);
    check_i64("the next one", ec2_unavailable_sweep(u, EC2_UNAVAILABLE_MS - 1), EC2_UNAVAILABLE_MS);
    check_u64("none has run out", ec2_unavailable_version(u), w);
    check_i64("one has", ec2_unavailable_sweep(u, EC2_UNAVAILABLE_MS), EC2_UNAVAILABLE_MS + 10);
    check_true("rises with that", ec2_unavailable_version(u) > w);
    check_i64("all have", ec2_unavailable_sweep(u, EC2_UNAVAILABLE_MS + 20), INT64_MAX);
    check_true("nothing is left", ec2_unavailable_none(u));
}

static void listing(void **state)
{
    struct ec2_unavailable *u = *state;
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_offering_key k = {M5A}, old = {M5A}, group = {M5A, .placement = STR("pg-1"), .partition = STR("2")};
    str *offerings, *types, *subnets;
    uint32_t n_offerings, n_types, n_subnets;

    old.zone = STR("z-0");
    ec2_unavailable_mark(u, &old, -1);
    ec2_unavailable_mark(u, &group, 0);
    ec2_unavailable_mark(u, &k, 0);
    ec2_unavailable_mark_subnet(u, STR("subnet-2"), 0);
    ec2_unavailable_mark_subnet(u, STR("subnet-1"), 0);
    ec2_unavailable_list(u, a, EC2_UNAVAILABLE_MS - 1, &offerings, &n_offerings, &types, &n_types, &subnets,
                         &n_subnets);
    check_u64("those that hold", n_offerings, 2);
    check_str("by text", offerings[0], "spot:m5.large:z-a");
    check_str("by text", offerings[1], "spot:m5.large:z-a:pg-1:2");
    check_u64("no capacity types", n_types, 0);
    check_u64("subnets", n_subnets, 2);
    check_str("by text", subnets[0], "subnet-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(for_three_minutes, setup, teardown),
        cmocka_unit_test_setup_teardown(capacity_types_and_subnets, setup, teardown),
        cmocka_unit_test_setup_teardown(placement_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_and_sweeps, setup, teardown),
        cmocka_unit_test_setup_teardown(listing, setup, teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/unavailable", tests, NULL, NULL);
}
