/* Offerings of types: zones, prices, availability, reservations, partitions (aws 5.6, 5.7); and how they follow what changes. */
#include <math.h>

#include "cloud/ec2/types.h"
#include "model/overlay.h"
#include "support/check.h"
#include "support/ec2_lab.h"

static void every_zone_both_ways(void **state)
{
    struct ec2_lab *l = *state;

    ec2_lab_resolve(l);
    check_str("z-c has no subnet of the class", ec2_lab_offerings(l, "m5.large"),
              "on-demand z-a id-a 0.096 yes\n"
              "spot z-a id-a 0.096 yes\n"
              "on-demand z-b id-b 0.096 yes\n"
              "spot z-b id-b 0.096 yes\n"
              "on-demand z-c 0.096 no\n"
              "spot z-c 0.096 no\n");
    check_str("in no price list", ec2_lab_offerings(l, "x9z.large"),
              "on-demand z-a id-a 0 no\n"
              "spot z-a id-a 0 no\n"
              "on-demand z-b id-b 0 no\n"
              "spot z-b id-b 0 no\n"
              "on-demand z-c 0 no\n"
              "spot z-c 0 no\n");
    check_str("AL2023 does not run on a1", ec2_lab_offerings(l, "a1.large"),
              "on-demand z-a id-a 0.051 no\n"
              "spot z-a id-a 0.051 no\n"
              "on-demand z-b id-b 0.051 no\n"
              "spot z-b id-b 0.051 no\n"
              "on-demand z-c 0.051 no\n"
              "spot z-c 0.051 no\n");
    const struct itype *x = &l->types.v[ec2_lab_ix(l, "m5.large")], *y = &l->types.v[ec2_lab_ix(l, "t3.large")];
    for (uint32_t i = 0; i < x->n_offerings; i++)
        check_true("all types share them", x->offerings[i].requirements == y->offerings[i].requirements);
}

static void not_in_every_zone(void **state)
{
    struct ec2_lab *l = *state;
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_offered; i++) /* m5.large is in z-b alone */
        if (!str_is(l->offered[i].type, "m5.large") || str_is(l->offered[i].zone, "z-b"))
            l->offered[n++] = l->offered[i];
    l->n_offered = n;
    ec2_lab_resolve(l);
    check_str("label", ec2_lab_label(l, "m5.large", "topology.kubernetes.io/zone"), "z-b");
    check_str("offerings", ec2_lab_offerings(l, "m5.large"),
              "on-demand z-a id-a 0.096 no\n"
              "spot z-a id-a 0.096 no\n"
              "on-demand z-b id-b 0.096 yes\n"
              "spot z-b id-b 0.096 yes\n"
              "on-demand z-c 0.096 no\n"
              "spot z-c 0.096 no\n");
}

static void spot_needs_a_price_in_the_zone(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_spot_price spot[] = {{STR("m5.large"), STR("z-b"), 0.03, 1}};

    check_true("set", ec2_prices_set_spot(l->prices, spot, 1));
    ec2_lab_resolve(l);
    check_str("offerings", ec2_lab_offerings(l, "m5.large"),
              "on-demand z-a id-a 0.096 yes\n"
              "spot z-a id-a 0 no\n"
              "on-demand z-b id-b 0.096 yes\n"
              "spot z-b id-b 0.03 yes\n"
              "on-demand z-c 0.096 no\n"
              "spot z-c 0 no\n");
}

static void zones_without_ids(void **state)
{
    struct ec2_lab *l = *state;

    l->k.status.subnets[0].zone_id = l->k.status.subnets[1].zone_id = (str){0};
    ec2_lab_resolve(l);
    check_str("no label", ec2_lab_label(l, "m5.large", "topology.k8s.aws/zone-id"), "?");
    check_true("the name is enough", str_starts(ec2_lab_offerings(l, "m5.large"), STR("on-demand z-a 0.096 yes\n")));
}

/* Which of a type's offerings are there, as "od-a sp-a od-b sp-b". */
static str available(struct ec2_lab *l, const char *type)
{
    const struct itype *it = &l->types.v[ec2_lab_ix(l, type)];
    struct sb b = {0};

    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct req_expr *x = it->offerings[i].requirements;

        if (it->offerings[i].available)
            sb_printf(&b, "%s%c%c-%c", b.n ? " " : "", sym_str(l->t, x[0].vals[0]).p[0],
                      sym_str(l->t, x[0].vals[0]).p[1], sym_str(l->t, x[1].vals[0]).p[2]);
    }
    str ret = arena_strdup(l->a, (str){sb_cstr(&b), b.n + 1});
    sb_fini(&b);
    return str_sub(ret, 0, ret.n - 1);
}

static uint32_t again(struct ec2_lab *l, int64_t now_ms)
{
    l->in.now_ms = now_ms;
    (void)ec2_unavailable_sweep(l->unavailable, now_ms);
    return ec2_types_offerings(l->a, &l->in, &l->types);
}

static void what_was_not_there_a_moment_ago(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_offering_key spot_a = {.capacity_type = STR("spot"), .type = STR("m5.large"), .zone = STR("z-a")};

    ec2_lab_resolve(l);
    const struct offering *other = l->types.v[ec2_lab_ix(l, "t3.large")].offerings;
    check_u64("nothing has changed", again(l, 1), 0);
    ec2_unavailable_mark(l->unavailable, &spot_a, 2);
    check_u64("one type", again(l, 2), 1);
    check_str("one offering", available(l, "m5.large"), "on-a on-b sp-b");
    check_true("others are not touched", l->types.v[ec2_lab_ix(l, "t3.large")].offerings == other);
    check_u64("and then nothing again", again(l, 3), 0);
    ec2_unavailable_mark_subnet(l->unavailable, STR("subnet-2"), 4);
    check_u64("its only subnet: the zone is gone for all but the three that nobody can have", again(l, 4),
              l->types.n - 3);
    check_str("both", available(l, "m5.large"), "on-a");
    ec2_unavailable_mark_capacity_type(l->unavailable, STR("on-demand"), 5);
    check_true("for all", again(l, 5) > 5);
    check_str("no on-demand", available(l, "m5.large"), "");
    check_str("no on-demand", available(l, "t3.large"), "sp-a");
    check_u64("the first is over", again(l, 2 + EC2_UNAVAILABLE_MS), 1);
    check_str("the first is over", available(l, "m5.large"), "sp-a");
    check_true("all is over", again(l, 5 + EC2_UNAVAILABLE_MS) > 5);
    check_str("all is over", available(l, "m5.large"), "on-a sp-a on-b sp-b");
}

static void marks_that_run_out_unswept(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_offering_key spot_a = {.capacity_type = STR("spot"), .type = STR("m5.large"), .zone = STR("z-a")};

    ec2_unavailable_mark(l->unavailable, &spot_a, 0);
    ec2_lab_resolve(l);
    check_str("marked before", available(l, "m5.large"), "on-a on-b sp-b");
    l->in.now_ms = EC2_UNAVAILABLE_MS;
    check_u64("time alone", ec2_types_offerings(l->a, &l->in, &l->types), 1);
    check_str("back again", available(l, "m5.large"), "on-a sp-a on-b sp-b");
}

static void a_zone_with_two_subnets(void **state)
{
    struct ec2_lab *l = *state;

    l->k.status.subnets[l->k.status.n_subnets++] = (struct ec2_class_subnet){STR("subnet-3"), STR("z-a"), STR("id-a")};
    ec2_lab_resolve(l);
    ec2_unavailable_mark_subnet(l->unavailable, STR("subnet-1"), 0);
    (void)again(l, 0);
    check_str("one is left", available(l, "m5.large"), "on-a sp-a on-b sp-b");
    ec2_unavailable_mark_subnet(l->unavailable, STR("subnet-3"), 0);
    (void)again(l, 0);
    check_str("none is left", available(l, "m5.large"), "on-b sp-b");
}

static void a_zone_that_traffic_was_shifted_away_from(void **state)
{
    struct ec2_lab *l = *state;
    str ids[] = {STR("id-a")};

    ec2_lab_resolve(l);
    l->in.shifted_zones = ids;
    l->in.n_shifted_zones = 1;
    check_true("changed", again(l, 0) > 5);
    check_str("the other one", available(l, "m5.large"), "on-b sp-b");
}

static void prices_that_move(void **state)
{
    struct ec2_lab *l = *state;
    struct aws_price now = {STR("m5.large"), 0.2};

    ec2_lab_resolve(l);
    check_true("set", ec2_prices_set_on_demand(l->prices, &now, 1));
    check_u64("one type", again(l, 0), 1);
    check_double("on demand", l->types.v[ec2_lab_ix(l, "m5.large")].offerings[0].price_usd_per_h, 0.2);
    check_true("set again", ec2_prices_set_on_demand(l->prices, &now, 1));
    check_u64("the same price", again(l, 0), 0);
}

struct overlaid {
    const struct syms *t;
    const struct overlay *v;
    uint32_t n;
};

static double overlay_price(void *ctx, str type)
{
    const struct overlaid *o = ctx;

    return ec2_overlay_price(o->t, o->v, o->n, type);
}

static void prices_of_overlays(void **state)
{
    struct ec2_lab *l = *state;
    sym x9z = sym_of(l->t, STR("x9z.large")), m5 = sym_of(l->t, STR("m5.large")), other = sym_of(l->t, STR("a"));
    sym both[] = {x9z, m5};
    struct req_expr in_both = {.key = SYM(ITYPE), .op = OP_IN, .n_vals = 2, .vals = both};
    struct req_expr in_one = {.key = SYM(ITYPE), .op = OP_IN, .n_vals = 1, .vals = &x9z};
    struct req_expr not_in = {.key = SYM(ITYPE), .op = OP_NOT_IN, .n_vals = 1, .vals = &other};
    struct req_expr two[] = {in_one, not_in};
    struct overlay overlays[] = {
        {.requirements = &in_both, .n_requirements = 1, .price = {PRICE_IS, 0.5}},
        {.requirements = &in_one, .n_requirements = 1, .price = {PRICE_IS, 0.7}},
        {.requirements = &in_one, .n_requirements = 1, .price = {PRICE_PLUS, 3}},
        {.requirements = &not_in, .n_requirements = 1, .price = {PRICE_IS, 4}},
        {.requirements = two, .n_requirements = 2, .price = {PRICE_IS, 5}},
    };
    struct overlaid all = {l->t, overlays, ARRAY_LEN(overlays)};

    l->in.overlay_ctx = &all;
    ec2_lab_resolve(l);
    check_str("gate off", available(l, "x9z.large"), "");
    l->in.overlay_price = overlay_price;
    check_u64("one type", again(l, 0), 1);
    check_str("available now", available(l, "x9z.large"), "on-a sp-a on-b sp-b");
    check_double("the last one counts", l->types.v[ec2_lab_ix(l, "x9z.large")].offerings[0].price_usd_per_h, 0.7);
    check_double("only without another", l->types.v[ec2_lab_ix(l, "m5.large")].offerings[0].price_usd_per_h, 0.096);
    all.n = 1;
    check_u64("nobody said that there are news", again(l, 0), 0);
    l->in.overlay_news++;
    check_u64("one overlay", again(l, 0), 1);
    check_double("its price", l->types.v[ec2_lab_ix(l, "x9z.large")].offerings[0].price_usd_per_h, 0.5);
    all.n = 0;
    l->in.overlay_news++;
    check_u64("none", again(l, 0), 1);
    check_str("none", available(l, "x9z.large"), "");
}

static void reservations(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_class_reservation v[] = {
        {.id = STR("cr-1"),
         .zone = STR("z-a"),
         .type = STR("m5.large"),
         .kind = STR("default"),
         .state = STR("active")},
        {.id = STR("cr-2"),
         .zone = STR("z-b"),
         .type = STR("m5.large"),
         .kind = STR("capacity-block"),
         .state = STR("active"),
         .interruptible = true},
        {.id = STR("cr-3"),
         .zone = STR("z-c"),
         .type = STR("m5.large"),
         .kind = STR("default"),
         .state = STR("active")},
        {.id = STR("cr-4"), .zone = STR("z-a"), .type = STR("gone.large"), .kind = STR("default")},
    };
    struct ec2_reserved left[] = {{STR("cr-1"), 3}, {STR("cr-2"), 1}, {STR("cr-3"), 9}};

    l->k.status.reservations = v;
    l->k.status.n_reservations = ARRAY_LEN(v);
    l->in.reserved = left;
    l->in.n_reserved = ARRAY_LEN(left);
    ec2_lab_resolve(l);
    check_str("capacity types", ec2_lab_label(l, "m5.large", "karpenter.sh/capacity-type"), "on-demand,spot,reserved");
    check_str("ids", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/capacity-reservation-id"), "cr-1,cr-2,cr-3");
    check_str("kinds", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/capacity-reservation-type"),
              "default,capacity-block");
    check_str("interruptible", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/capacity-reservation-interruptible"),
              "false,true");
    check_str("of another type", ec2_lab_label(l, "m5.xlarge", "karpenter.sh/capacity-type"), "on-demand,spot");
    check_true("after the others", str_ends(ec2_lab_offerings(l, "m5.large"),
                                            STR("reserved z-a id-a cr-1 default false 9.6e-09 yes 3\n"
                                                "reserved z-b id-b cr-2 capacity-block true 9.6e-09 yes 1\n"
                                                "reserved z-c cr-3 default false 9.6e-09 no 9\n")));
    left[0].left = 0;
    v[1].state = STR("expiring");
    check_u64("counts and ends", again(l, 0), 1);
    check_str("none is left, and one ends soon", available(l, "m5.large"), "on-a sp-a on-b sp-b");
    l->in.reserved_capacity = false;
    check_u64("gate off", again(l, 0), 1);
    check_u64("gate off", l->types.v[ec2_lab_ix(l, "m5.large")].n_offerings, 6);
}

static void a_reservation_without_a_price(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_class_reservation r = {.id = STR("cr-1"),
                                      .zone = STR("z-a"),
                                      .type = STR("x9z.large"),
                                      .kind = STR("default"),
                                      .state = STR("active")};
    struct ec2_reserved left = {STR("cr-1"), 3};

    l->k.status.reservations = &r;
    l->k.status.n_reservations = 1;
    l->in.reserved = &left;
    l->in.n_reserved = 1;
    ec2_lab_resolve(l);
    check_str("it is paid for", available(l, "x9z.large"), "re-a");
}

static void placement_groups(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_placement_group g = {.id = STR("pg-1"), .strategy = STR("cluster")};
    struct ec2_offering_key marked = {
        .capacity_type = STR("spot"), .type = STR("m5.large"), .zone = STR("z-a"), .placement = STR("pg-1")};

    l->in.placement = &g;
    ec2_lab_resolve(l);
    check_str("its label", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/placement-group-id"), "pg-1");
    check_str("no partitions", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/placement-group-partition"), "?");
    check_str("types that cannot", available(l, "t3.large"), "");
    ec2_unavailable_mark(l->unavailable, &marked, 0);
    (void)again(l, 0);
    check_str("marked for the group", available(l, "m5.large"), "on-a on-b sp-b");
    l->in.placement = NULL;
    ec2_lab_resolve(l);
    check_str("not for others", available(l, "m5.large"), "on-a sp-a on-b sp-b");
}

static void partitions(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_placement_group g = {.id = STR("pg-1"), .strategy = STR("partition"), .partitions = 2};
    struct ec2_offering_key marked = {.capacity_type = STR("on-demand"),
                                      .type = STR("m5.large"),
                                      .zone = STR("z-a"),
                                      .placement = STR("pg-1"),
                                      .partition = STR("2")};

    l->in.placement = &g;
    ec2_unavailable_mark(l->unavailable, &marked, 0); /* never asked for */
    ec2_lab_resolve(l);
    check_str("label", ec2_lab_label(l, "m5.large", "karpenter.k8s.aws/placement-group-partition"), "1,2");
    check_true("each offering for each",
               str_starts(ec2_lab_offerings(l, "m5.large"), STR("on-demand z-a id-a 1 0.096 yes\n"
                                                                "on-demand z-a id-a 2 0.096 yes\n"
                                                                "spot z-a id-a 1 0.096 yes\n")));
    check_u64("twice as many", l->types.v[0].n_offerings, 12);
    g.partitions = 0;
    ec2_lab_resolve(l);
    check_u64("none of them", l->types.v[0].n_offerings, 6);
}

/* ---- compatibility ---- */

static void compatibility(void **state)
{
    struct ec2_lab *l = *state;
    static str nested[] = {STR_INIT("nested-virtualization")};
    struct ec2_nic nic = {0, 0, STR("interface")}, many[5];
    struct ec2_type_info *m5 = ec2_lab_type(l, "m5.large"), *p4d = ec2_lab_type(l, "p4d.24xlarge");

    l->k.family = EC2_BOTTLEROCKET;
    check_true("Bottlerocket runs on a1", ec2_type_compatible(ec2_lab_type(l, "a1.large"), &l->k, NULL));
    l->k.nics = &nic;
    l->k.n_nics = 1;
    check_true("an interface", ec2_type_compatible(m5, &l->k, NULL));
    nic.device = 3;
    check_true("m5.large has three", !ec2_type_compatible(m5, &l->k, NULL));
    nic = (struct ec2_nic){1, 0, STR("interface")};
    check_true("and one card", !ec2_type_compatible(m5, &l->k, NULL));
    check_true("p4d has four", ec2_type_compatible(p4d, &l->k, NULL));
    p4d->cards[1].index = 7;
    check_true("the number is not there", !ec2_type_compatible(p4d, &l->k, NULL));
    p4d->cards[1].index = 1;
    nic = (struct ec2_nic){0, 1, STR("efa-only")};
    check_true("m5.large has no EFA", !ec2_type_compatible(m5, &l->k, NULL));
    check_true("p4d has", ec2_type_compatible(p4d, &l->k, NULL));
    for (int32_t i = 0; i < 5; i++)
        many[i] = (struct ec2_nic){i % 4, 1 + i / 4, STR("efa-only")};
    l->k.nics = many;
    l->k.n_nics = 4;
    check_true("four of them", ec2_type_compatible(p4d, &l->k, NULL));
    l->k.n_nics = 5;
    check_true("not five", !ec2_type_compatible(p4d, &l->k, NULL));
    l->k.n_nics = 1;
    p4d->ena = STR("unsupported");
    check_true("no ENA", !ec2_type_compatible(p4d, &l->k, NULL));
    p4d->ena = STR("required");
    p4d->n_cards = 0;
    check_true("no cards", !ec2_type_compatible(p4d, &l->k, NULL));
    l->k.n_nics = 0;
    check_true("nothing is asked", ec2_type_compatible(p4d, &l->k, NULL));
    l->k.nested_virtualization = STR("enabled");
    check_true("no nested virtualization", !ec2_type_compatible(m5, &l->k, NULL));
    m5->features = nested;
    m5->n_features = 1;
    check_true("nested virtualization", ec2_type_compatible(m5, &l->k, NULL));
    l->k.nested_virtualization = STR("disabled");
    check_true("not wanted", ec2_type_compatible(ec2_lab_type(l, "m5.xlarge"), &l->k, NULL));
    l->k.has_tracking = true;
    check_true("connection tracking on nitro", ec2_type_compatible(m5, &l->k, NULL));
    check_true("and on nothing else", !ec2_type_compatible(ec2_lab_type(l, "u-6tb1.metal"), &l->k, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_zone_both_ways, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(not_in_every_zone, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(spot_needs_a_price_in_the_zone, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(zones_without_ids, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(what_was_not_there_a_moment_ago, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(marks_that_run_out_unswept, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(a_zone_with_two_subnets, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(a_zone_that_traffic_was_shifted_away_from, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(prices_that_move, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(prices_of_overlays, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(reservations, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(a_reservation_without_a_price, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(placement_groups, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(partitions, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(compatibility, ec2_lab_setup, ec2_lab_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/offerings", tests, NULL, NULL);
}
