/* What EC2 answered, put in order (aws 5.1). */
#include "cloud/ec2/universe.h"

#include "support/check.h"
#include "support/fixture.h"

static struct ec2_type_info infos[] = {{.name = STR_INIT("b.large"), .vcpus = 4},
                                       {.name = STR_INIT("a.large"), .vcpus = 2},
                                       {.name = STR_INIT("b.large"), .vcpus = 8},
                                       {.name = STR_INIT("c.large"), .vcpus = 1}};
static const struct ec2_type_zone offered[] = {{STR_INIT("b.large"), STR_INIT("z-2")},
                                               {STR_INIT("a.large"), STR_INIT("z-3")},
                                               {STR_INIT("b.large"), STR_INIT("z-1")},
                                               {STR_INIT("b.large"), STR_INIT("z-2")},
                                               {STR_INIT("gone.large"), STR_INIT("z-4")}};

static struct ec2_universe build(struct fixture *f)
{
    struct ec2_type_infos all = {infos, ARRAY_LEN(infos)};
    struct ec2_universe u;
    struct err e;

    check_ok("build", ec2_universe_build(f->a, &all, offered, ARRAY_LEN(offered), &u, &e), &e);
    return u;
}

static void in_order(void **state)
{
    struct ec2_universe u = build(*state);

    check_u64("each type once", u.n, 3);
    check_str("by name", u.types[0].name, "a.large");
    check_i64("the first that was listed", u.types[1].vcpus, 4);
    check_u64("all zones of any offering", u.n_zones, 4);
    check_str("by name", u.zones[0], "z-1");
    check_u64("a", u.where[0].n, 1);
    check_u64("a", u.where[0].v[0], 2);
    check_u64("b, each zone once", u.where[1].n, 2);
    check_u64("b", u.where[1].v[0], 0);
    check_u64("b", u.where[1].v[1], 1);
    check_u64("c is nowhere", u.where[2].n, 0);
    check_true("found", ec2_universe_find(&u, STR("b.large")) == &u.types[1]);
    check_true("not found", !ec2_universe_find(&u, STR("d.large")));
}

static void the_hash_tells_changes(void **state)
{
    struct fixture *f = *state;
    uint64_t before = build(f).hash;

    check_u64("the same again", build(f).hash, before);
    infos[1].max_efa = 1;
    check_true("a type has changed", build(f).hash != before);
    infos[1].max_efa = 0;
    struct ec2_card card = {0, 4};
    infos[3].cards = &card;
    infos[3].n_cards = 1;
    uint64_t carded = build(f).hash;
    card.max_interfaces = 5;
    check_true("deep inside", carded != before && build(f).hash != carded);
    infos[3].n_cards = 0;
    check_u64("as it was", build(f).hash, before);
}

static void nothing(void **state)
{
    struct fixture *f = *state;
    struct ec2_type_infos none = {NULL, 0}, all = {infos, ARRAY_LEN(infos)};
    struct ec2_type_infos too_many = {infos, EC2_MAX_TYPES + 1};
    struct ec2_universe u;
    struct err e;

    check_true("no types", !ec2_universe_build(f->a, &none, offered, 1, &u, &e));
    check_str("no types", str_c(e.msg), "no instance types found");
    check_true("no offerings", !ec2_universe_build(f->a, &all, NULL, 0, &u, &e));
    check_str("no offerings", str_c(e.msg), "no instance type offerings found");
    check_true("absurd", !ec2_universe_build(f->a, &too_many, offered, 1, &u, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(in_order, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_hash_tells_changes, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(nothing, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/universe", tests, NULL, NULL);
}
