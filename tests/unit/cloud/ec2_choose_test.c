/* Which machines a launch asks for (aws 4.3, 4.4, 4.6.1, 4.7; 11.7 L1, F1 to F6). */
#include "cloud/ec2/choose.h"

#include "support/check.h"
#include "support/ec2_lab.h"

#define MOST 8

struct wish { /* a claim: requirements as "key=a,b", resources as "cpu=1 memory=2Gi" */
    const char *requirements[MOST];
    const char *requests;
    int32_t min_types; /* minValues of the instance type */
    bool best_effort;
};

static struct req_expr expr_of(struct ec2_lab *l, const char *text)
{
    struct req_expr x = {.op = OP_IN, .vals = arena_new_array(l->a, sym, 32)};
    str key, values, one;

    (void)str_cut(str_c(text), '=', &key, &values);
    x.key = sym_of(l->t, key);
    while (values.n) {
        (void)str_cut(values, ',', &one, &values);
        x.vals[x.n_vals++] = sym_of(l->t, one);
    }
    return x;
}

static struct nodeclaim *claim_of(struct ec2_lab *l, const struct wish *w)
{
    struct nodeclaim *c = arena_new_one(l->a, struct nodeclaim);
    struct ec2_kvs requests = ec2_lab_kvs(l, w->requests ? w->requests : "cpu=100m");
    struct err e;

    c->requirements = arena_new_array(l->a, struct req_expr, MOST + 1);
    for (uint32_t i = 0; i < MOST && w->requirements[i]; i++)
        c->requirements[c->n_requirements++] = expr_of(l, w->requirements[i]);
    if (w->min_types)
        c->requirements[c->n_requirements++] =
            (struct req_expr){.key = SYM(ITYPE), .op = OP_EXISTS, .min_values = w->min_types};
    for (uint32_t i = 0; i < requests.n; i++) {
        sym name = sym_of(l->t, requests.v[i].key);
        int64_t v;
        bool binary;

        check_ok("quantity", quantity_parse(requests.v[i].value, name, &v, &binary, &e), &e);
        reslist_set(l->a, &c->requests, name, v, binary);
    }
    return c;
}

static bool choose(struct ec2_lab *l, const struct wish *w, struct ec2_choice *ret, struct err *e)
{
    struct label_rules rules = ec2_label_rules(l->a, l->t);
    struct ec2_choose_input in = {.syms = l->t,
                                  .rules = &rules,
                                  .claim = claim_of(l, w),
                                  .types = l->types.v,
                                  .detail = l->types.detail,
                                  .n = l->types.n,
                                  .best_effort = w->best_effort};

    return ec2_choose(l->a, &in, ret, e);
}

/* "spot: t3.large m5.large", or the error's words. */
static str chosen(struct ec2_lab *l, struct wish w)
{
    struct ec2_choice c;
    struct sb b = {0};
    struct err e;

    if (!choose(l, &w, &c, &e)) {
        check_true("a shortage", e.kind == ERR_CAPACITY);
        return arena_printf(l->a, "%s", e.msg);
    }
    sb_printf(&b, STR_FMT ":", STR_ARG(sym_str(l->t, c.capacity_type)));
    for (uint32_t i = 0; i < c.n; i++)
        sb_printf(&b, " " STR_FMT, STR_ARG(sym_str(l->t, c.v[i].type->name)));
    str s = sb_dup(&b, l->a);
    sb_fini(&b);
    return s;
}

#define TYPES "node.kubernetes.io/instance-type="
#define CT "karpenter.sh/capacity-type="
#define NONE "all requested instance types were unavailable during launch"

static void what_fits_and_is_there(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_offering_key key = {.capacity_type = STR("on-demand"), .type = STR("m5.large"), .zone = STR("z-a")};

    ec2_lab_resolve(l);
    check_str("the cheapest first",
              chosen(l, (struct wish){.requirements = {TYPES "m5.large,t3.large,m5.xlarge", CT "on-demand"}}),
              "on-demand: t3.large m5.large m5.xlarge");
    check_str(
        "by requests",
        chosen(l, (struct wish){.requirements = {TYPES "m5.large,m5.xlarge", CT "on-demand"}, .requests = "cpu=3"}),
        "on-demand: m5.xlarge");
    check_str(
        "by labels",
        chosen(l, (struct wish){.requirements = {"kubernetes.io/arch=arm64", CT "on-demand"}, .requests = "cpu=3"}),
        "on-demand: t4g.xlarge");
    check_str("nothing fits", chosen(l, (struct wish){.requirements = {TYPES "m5.large"}, .requests = "cpu=64"}), NONE);
    check_str("a resource that nobody has",
              chosen(l, (struct wish){.requirements = {TYPES "m5.large"}, .requests = "example.com/x=1"}), NONE);
    check_str("no subnet there",
              chosen(l, (struct wish){.requirements = {TYPES "m5.large", "topology.kubernetes.io/zone=z-c"}}), NONE);
    ec2_unavailable_mark(l->unavailable, &key, 1);
    l->in.now_ms = 2;
    (void)ec2_types_offerings(l->a, &l->in, &l->types);
    check_str(
        "not at the moment",
        chosen(l, (struct wish){.requirements = {TYPES "m5.large", CT "on-demand", "topology.kubernetes.io/zone=z-a"}}),
        NONE);
    check_str("the other zone", chosen(l, (struct wish){.requirements = {TYPES "m5.large", CT "on-demand"}}),
              "on-demand: m5.large");
}

static void nothing_exotic_unless_asked_for(void **state)
{
    struct ec2_lab *l = *state;

    ec2_lab_resolve(l);
    check_str("dropped",
              chosen(l, (struct wish){.requirements = {TYPES "g4dn.8xlarge,u-6tb1.metal,trn1.32xlarge,m5.large",
                                                       CT "on-demand"}}),
              "on-demand: m5.large");
    check_str("there is nothing else",
              chosen(l, (struct wish){.requirements = {TYPES "g4dn.8xlarge,trn1.32xlarge", CT "on-demand"}}),
              "on-demand: g4dn.8xlarge trn1.32xlarge");
    check_str("kept for the number of values",
              chosen(l, (struct wish){.requirements = {TYPES "g4dn.8xlarge,m5.large", CT "on-demand"}, .min_types = 2}),
              "on-demand: m5.large g4dn.8xlarge");
}

static void values_that_are_too_few(void **state)
{
    struct ec2_lab *l = *state;
    struct wish w = {.requirements = {TYPES "m5.large,t3.large", CT "on-demand"}, .min_types = 3};

    ec2_lab_resolve(l);
    check_true("a shortage", str_contains(chosen(l, w), STR("minValues requirement is not met")));
    w.best_effort = true;
    check_str("as many as there are", chosen(l, w), "on-demand: t3.large m5.large");
}

static void no_spot_that_is_dearer(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_spot_price spot[] = {{STR("m5.large"), STR("z-a"), 0.03, 1},
                                    {STR("m5.xlarge"), STR("z-a"), 0.19, 1},
                                    {STR("m5.xlarge"), STR("z-b"), 0.05, 1}};
    struct wish both = {.requirements = {TYPES "m5.large,m5.xlarge"}};
    struct ec2_choice c;
    struct err e;

    check_true("prices", ec2_prices_set_spot(l->prices, spot, 3));
    ec2_lab_resolve(l);
    check_ok("both", choose(l, &both, &c, &e), &e);
    check_str("spot comes first", sym_str(l->t, c.capacity_type), "spot");
    check_u64("both types", c.n, 2);
    for (uint32_t i = 0; i < c.n; i++)
        for (uint32_t o = 0; o < c.v[i].n_offers; o++)
            check_true("cheaper than the cheapest on demand", !sym_eq(c.v[i].offers[o].capacity_type, SYM(SPOT)) ||
                                                                  c.v[i].offers[o].offering->price_usd_per_h <= 0.096);
    check_str(
        "only spot is wanted: dear or not",
        chosen(l, (struct wish){.requirements = {TYPES "m5.xlarge", CT "spot", "topology.kubernetes.io/zone=z-a"}}),
        "spot: m5.xlarge");
}

static void tenancy_and_partition(void **state)
{
    struct ec2_lab *l = *state;
    struct wish w = {.requirements = {TYPES "m5.large", "karpenter.k8s.aws/instance-tenancy=dedicated",
                                      "karpenter.k8s.aws/placement-group-partition=2,10"}};
    struct ec2_choice c;
    struct err e;

    ec2_lab_resolve(l);
    check_ok("dedicated", choose(l, &w, &c, &e), &e);
    check_str("dedicated", str_c(c.tenancy), "dedicated");
    check_str("the first as text", c.partition, "10");
    w = (struct wish){.requirements = {TYPES "m5.large", "karpenter.k8s.aws/instance-tenancy=dedicated,default"}};
    check_ok("either", choose(l, &w, &c, &e), &e);
    check_str("either", str_c(c.tenancy), "default");
    check_str("none", c.partition, "");
}

/* ---- reservations ---- */

static void reserve(struct ec2_lab *l)
{
    static struct ec2_class_reservation v[] = {
        {.id = STR_INIT("cr-1"), .zone = STR_INIT("z-a"), .type = STR_INIT("m5.large"), .kind = STR_INIT("default")},
        {.id = STR_INIT("cr-2"), .zone = STR_INIT("z-a"), .type = STR_INIT("m5.large"), .kind = STR_INIT("default")},
        {.id = STR_INIT("cr-3"), .zone = STR_INIT("z-b"), .type = STR_INIT("m5.large"), .kind = STR_INIT("default")},
        {.id = STR_INIT("cb-1"),
         .zone = STR_INIT("z-a"),
         .type = STR_INIT("m5.xlarge"),
         .kind = STR_INIT("capacity-block")},
        {.id = STR_INIT("cb-2"),
         .zone = STR_INIT("z-b"),
         .type = STR_INIT("m5.xlarge"),
         .kind = STR_INIT("capacity-block")},
        {.id = STR_INIT("ir-1"),
         .zone = STR_INIT("z-a"),
         .type = STR_INIT("t3.large"),
         .kind = STR_INIT("default"),
         .interruptible = true}};
    static const struct ec2_reserved left[] = {{STR_INIT("cr-1"), 1}, {STR_INIT("cr-2"), 5}, {STR_INIT("cr-3"), 2},
                                               {STR_INIT("cb-1"), 1}, {STR_INIT("cb-2"), 1}, {STR_INIT("ir-1"), 1}};

    for (size_t i = 0; i < ARRAY_LEN(v); i++)
        v[i].state = STR("active");
    l->k.status.reservations = v;
    l->k.status.n_reservations = ARRAY_LEN(v);
    l->in.reserved = left;
    l->in.n_reserved = ARRAY_LEN(left);
    l->in.reserved_capacity = true;
    ec2_lab_resolve(l);
}

/* "m5.large/cr-2/cr-3": of each type what is left. */
static str reserved(struct ec2_lab *l, const char *types)
{
    struct wish w = {.requirements = {types}};
    struct ec2_choice c;
    struct sb b = {0};
    struct err e;

    check_ok(types, choose(l, &w, &c, &e), &e);
    check_str(types, sym_str(l->t, c.capacity_type), "reserved");
    for (uint32_t i = 0; i < c.n; i++) {
        sb_printf(&b, "%s" STR_FMT, b.n ? " " : "", STR_ARG(sym_str(l->t, c.v[i].type->name)));
        for (uint32_t o = 0; o < c.v[i].n_offers; o++)
            sb_printf(&b, "/" STR_FMT, STR_ARG(sym_str(l->t, c.v[i].offers[o].reservation)));
    }
    str s = sb_dup(&b, l->a);
    sb_fini(&b);
    return s;
}

static void one_kind_of_reservation(void **state)
{
    struct ec2_lab *l = *state;

    reserve(l);
    check_str("in each zone the one with most left", reserved(l, TYPES "m5.large,m6g.large"), "m5.large/cr-2/cr-3");
    check_str("the cheapest kind: interruptible", reserved(l, TYPES "m5.large,t3.large"), "t3.large/ir-1");
    check_str("on demand before blocks", reserved(l, TYPES "m5.large,m5.xlarge"), "m5.large/cr-2/cr-3");
    check_str("one block", reserved(l, TYPES "m5.xlarge"), "m5.xlarge/cb-1");
    check_str("not wanted", chosen(l, (struct wish){.requirements = {TYPES "m5.large,m6g.large", CT "on-demand"}}),
              "on-demand: m6g.large m5.large");
}

/* A block that is used up, or about to end, is no reason to launch nothing. */
static void blocks_that_are_over(void **state)
{
    static const struct ec2_reserved none[] = {{STR_INIT("cb-1"), 0}, {STR_INIT("cb-2"), 0}};
    static const struct ec2_reserved one[] = {{STR_INIT("cb-1"), 0}, {STR_INIT("cb-2"), 1}};
    struct ec2_lab *l = *state;

    reserve(l);
    l->in.reserved = none;
    l->in.n_reserved = ARRAY_LEN(none);
    (void)ec2_types_offerings(l->a, &l->in, &l->types);
    check_str("anything else will do", chosen(l, (struct wish){.requirements = {TYPES "m5.xlarge"}}),
              "spot: m5.xlarge");
    check_str("on demand", chosen(l, (struct wish){.requirements = {TYPES "m5.xlarge", CT "reserved,on-demand"}}),
              "on-demand: m5.xlarge");
    check_str("nothing else will do", chosen(l, (struct wish){.requirements = {TYPES "m5.xlarge", CT "reserved"}}),
              NONE);
    l->in.reserved = one;
    (void)ec2_types_offerings(l->a, &l->in, &l->types);
    check_str("the other one", reserved(l, TYPES "m5.xlarge"), "m5.xlarge/cb-2");
    l->k.status.reservations[4].state = STR("expiring");
    (void)ec2_types_offerings(l->a, &l->in, &l->types);
    check_str("it ends soon", chosen(l, (struct wish){.requirements = {TYPES "m5.xlarge", CT "reserved,on-demand"}}),
              "on-demand: m5.xlarge");
}

/* ---- templates and overrides ---- */

static void groups_and_overrides(void **state)
{
    static const struct ec2_zone_subnet where[] = {{STR_INIT("z-a"), STR_INIT("subnet-1")}};
    struct ec2_lab *l = *state;
    struct req_expr amd = expr_of(l, "kubernetes.io/arch=amd64"), arm = expr_of(l, "kubernetes.io/arch=arm64");
    struct ec2_class_ami amis[] = {{.id = STR("ami-x"), .requirements = &amd, .n_requirements = 1},
                                   {.id = STR("ami-a"), .requirements = &arm, .n_requirements = 1}};
    struct wish w = {.requirements = {TYPES "m5.large,t3.large,m6g.large", CT "on-demand"}};
    struct ec2_launch_group *groups;
    struct ec2_override *o;
    struct ec2_choice c;
    struct err e;
    uint32_t n;

    ec2_lab_resolve(l);
    check_ok("choice", choose(l, &w, &c, &e), &e);
    l->k.status.n_amis = 0;
    check_true("no images", !ec2_launch_groups(l->a, l->t, &c, &l->k, false, &groups, &n, &e));
    l->k.status.amis = amis;
    l->k.status.n_amis = 2;
    check_ok("groups", ec2_launch_groups(l->a, l->t, &c, &l->k, false, &groups, &n, &e), &e);
    check_u64("by image and number of pods", n, 3);
    check_u64("of one zone", ec2_overrides(l->a, l->t, &c, &groups[0], where, 1, &o), 1);
    check_str("its image", o[0].image, groups[0].ami->id.p);
    check_str("its subnet", o[0].subnet, "subnet-1");
    check_i64("addresses", ec2_fewest_pods(l->t, &c, STR("z-a")), 29);
    check_i64("none there", ec2_fewest_pods(l->t, &c, STR("z-c")), 0);
    amis[1].id = amis[0].id;
    check_ok("an image for both", ec2_launch_groups(l->a, l->t, &c, &l->k, false, &groups, &n, &e), &e);
    check_u64("is one image", n, 2);
    l->k.status.n_amis = 1;
    check_ok("one image", ec2_launch_groups(l->a, l->t, &c, &l->k, false, &groups, &n, &e), &e);
    check_u64("types without an image are left out", n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_fits_and_is_there, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(nothing_exotic_unless_asked_for, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(values_that_are_too_few, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(no_spot_that_is_dearer, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(tenancy_and_partition, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(one_kind_of_reservation, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(blocks_that_are_over, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(groups_and_overrides, ec2_lab_setup, ec2_lab_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
