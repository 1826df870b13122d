/* EC2's catalogue: the provider's rules on types that everybody knows, and what must hold for every type of every
 * region. Figures that a refresh of the data may change (prices, zones) are checked for shape only. */
#include "cloud/ec2/catalog.h"

#include "base/sb.h"
#include "support/check.h"
#include "support/fixture.h"

#define AWS "karpenter.k8s.aws/"

/* With the catalogue of the default region. */
static int setup(void **state)
{
    struct fixture *f;
    struct err e;

    (void)fixture_setup(state);
    f = *state;
    f->c = ec2_catalog(f->a, f->t, STR(""), &e);
    assert_non_null(f->c);
    return 0;
}

static const struct itype *find(struct fixture *f, const char *name)
{
    sym s = sym_of(f->t, str_c(name));

    for (uint32_t i = 0; i < f->c->n; i++)
        if (sym_eq(f->c->types[i].name, s))
            return &f->c->types[i];
    fail_msg("%s is not in the catalogue", name);
    return NULL;
}

static const struct req_expr *requirement(const struct req_expr *x, uint32_t n, sym key)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(x[i].key, key))
            return &x[i];
    return NULL;
}

/* "a,b"; "!" for DoesNotExist; "?" when nothing is said. */
static str label(struct fixture *f, const struct itype *it, const char *key)
{
    const struct req_expr *x = requirement(it->requirements, it->n_requirements, sym_of(f->t, str_c(key)));
    struct sb b = {0};

    if (!x)
        return STR("?");
    if (x->op == OP_DOES_NOT_EXIST)
        return STR("!");
    for (uint32_t i = 0; i < x->n_vals; i++)
        sb_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(sym_str(f->t, x->vals[i])));
    str ret = sb_dup(&b, f->a);
    sb_fini(&b);
    return ret;
}

static str resources(struct fixture *f, const struct reslist *l)
{
    struct sb b = {0};

    reslist_print_json(&b, f->t, l);
    str ret = sb_dup(&b, f->a);
    sb_fini(&b);
    return ret;
}

static const struct {
    const char *name, *capacity, *overhead;
} sizes[] = {
    {"m5.large",
     "{\"cpu\":\"2\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"7577Mi\",\"pods\":\"29\","
     "\"vpc.amazonaws.com/pod-eni\":\"9\"}",
     "{\"cpu\":\"70m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"674Mi\"}"},
    {"m5.xlarge",
     "{\"cpu\":\"4\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"15155Mi\",\"pods\":\"58\","
     "\"vpc.amazonaws.com/pod-eni\":\"18\"}",
     "{\"cpu\":\"80m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"993Mi\"}"},
    {"t3.large", "{\"cpu\":\"2\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"7577Mi\",\"pods\":\"35\"}",
     "{\"cpu\":\"70m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"740Mi\"}"},
    {"m6g.large", /* Arm: 64Mi go before the share is taken */
     "{\"cpu\":\"2\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"7518Mi\",\"pods\":\"29\","
     "\"vpc.amazonaws.com/pod-eni\":\"9\"}",
     "{\"cpu\":\"70m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"674Mi\"}"},
    {"t4g.small", "{\"cpu\":\"2\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"1835Mi\",\"pods\":\"11\"}",
     "{\"cpu\":\"70m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"476Mi\"}"},
    {"t4g.medium", "{\"cpu\":\"2\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"3729Mi\",\"pods\":\"17\"}",
     "{\"cpu\":\"70m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"542Mi\"}"},
    {"t4g.xlarge", "{\"cpu\":\"4\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"15096Mi\",\"pods\":\"58\"}",
     "{\"cpu\":\"80m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"993Mi\"}"},
    {"g4dn.8xlarge",
     "{\"cpu\":\"32\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"121241Mi\",\"nvidia.com/gpu\":\"1\",\"pods\":\"58\","
     "\"vpc.amazonaws.com/efa\":\"1\",\"vpc.amazonaws.com/pod-eni\":\"58\"}",
     "{\"cpu\":\"150m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"993Mi\"}"},
    {"trn1.32xlarge", /* several network cards: the default one counts */
     "{\"aws.amazon.com/neuron\":\"16\",\"aws.amazon.com/neuroncore\":\"32\",\"cpu\":\"128\",\"ephemeral-storage\":"
     "\"20Gi\",\"memory\":\"484966Mi\",\"pods\":\"247\",\"vpc.amazonaws.com/efa\":\"8\","
     "\"vpc.amazonaws.com/pod-eni\":\"82\"}",
     "{\"cpu\":\"390m\",\"ephemeral-storage\":\"3Gi\",\"memory\":\"3Gi\"}"},
};

static void capacity_and_overhead(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const struct itype *it = find(f, sizes[i].name);

        check_str(sizes[i].name, resources(f, &it->capacity), sizes[i].capacity);
        check_str(sizes[i].name, resources(f, &it->overhead), sizes[i].overhead);
    }
}

static const struct {
    const char *type, *key, *want;
} label_cases[] = {
    {"g4dn.8xlarge", "node.kubernetes.io/instance-type", "g4dn.8xlarge"},
    {"g4dn.8xlarge", "kubernetes.io/arch", "amd64"},
    {"g4dn.8xlarge", "kubernetes.io/os", "linux"},
    {"g4dn.8xlarge", "topology.kubernetes.io/region", "us-east-1"},
    {"g4dn.8xlarge", "node.kubernetes.io/windows-build", "!"},
    {"g4dn.8xlarge", "karpenter.sh/capacity-type", "on-demand,spot"},
    {"g4dn.8xlarge", AWS "instance-category", "g"},
    {"g4dn.8xlarge", AWS "instance-generation", "4"},
    {"g4dn.8xlarge", AWS "instance-family", "g4dn"},
    {"g4dn.8xlarge", AWS "instance-size", "8xlarge"},
    {"g4dn.8xlarge", AWS "instance-cpu", "32"},
    {"g4dn.8xlarge", AWS "instance-cpu-manufacturer", "intel"},
    {"g4dn.8xlarge", AWS "instance-cpu-sustained-clock-speed-mhz", "2500"},
    {"g4dn.8xlarge", AWS "instance-memory", "131072"},
    {"g4dn.8xlarge", AWS "instance-ebs-bandwidth", "9500"},
    {"g4dn.8xlarge", AWS "instance-network-bandwidth", "50000"},
    {"g4dn.8xlarge", AWS "instance-gpu-name", "t4"},
    {"g4dn.8xlarge", AWS "instance-gpu-manufacturer", "nvidia"},
    {"g4dn.8xlarge", AWS "instance-gpu-count", "1"},
    {"g4dn.8xlarge", AWS "instance-gpu-memory", "16384"},
    {"g4dn.8xlarge", AWS "instance-accelerator-name", "!"},
    {"g4dn.8xlarge", AWS "instance-local-nvme", "900"},
    {"g4dn.8xlarge", AWS "instance-hypervisor", "nitro"},
    {"g4dn.8xlarge", AWS "instance-capability-flex", "false"},
    {"g4dn.8xlarge", AWS "instance-encryption-in-transit-supported", "true"},
    {"g4dn.8xlarge", AWS "instance-tenancy", "default,dedicated"},
    {"g4dn.8xlarge", AWS "nitro-sandbox", "true"},
    {"g4dn.8xlarge", AWS "capacity-reservation-id", "!"},
    {"g4dn.8xlarge", AWS "capacity-reservation-type", "!"},
    {"g4dn.8xlarge", AWS "capacity-reservation-interruptible", "!"},
    {"g4dn.8xlarge", AWS "placement-group-id", "?"},
    {"m5.large", AWS "instance-gpu-name", "!"},
    {"m5.large", AWS "instance-gpu-count", "!"},
    {"m5.large", AWS "instance-local-nvme", "!"},
    {"m5.metal", AWS "instance-hypervisor", ""},
    {"m6g.large", "kubernetes.io/arch", "arm64"},
    {"m6g.large", AWS "instance-cpu-manufacturer", "aws"},
    {"m7i-flex.large", AWS "instance-capability-flex", "true"},
    {"m7i-flex.large", AWS "instance-family", "m7i-flex"},
    {"m7i-flex.large", AWS "instance-category", "m"},
    {"u-6tb1.112xlarge", AWS "instance-category", "u"},
    {"u-6tb1.112xlarge", AWS "instance-generation", "1"},
    {"u-6tb1.112xlarge", "karpenter.sh/capacity-type", "on-demand"},
    {"p5.48xlarge", AWS "instance-gpu-name", "h100"},
    {"inf2.xlarge", AWS "instance-accelerator-name", "inferentia2"},
    {"inf2.xlarge", AWS "instance-accelerator-manufacturer", "aws"},
    {"inf2.xlarge", AWS "instance-accelerator-count", "1"},
    {"inf2.xlarge", AWS "instance-gpu-name", "!"},
    {"t2.micro", "kubernetes.io/arch", "amd64"}, /* i386 comes first in its list */
    {"t2.micro", AWS "instance-hypervisor", "xen"},
    {"t2.micro", AWS "instance-ebs-bandwidth", "!"},
    {"t2.micro", AWS "nitro-sandbox", "false"},
};

static void labels(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(label_cases); i++)
        check_str(arena_printf(f->a, "%s %s", label_cases[i].type, label_cases[i].key).p,
                  label(f, find(f, label_cases[i].type), label_cases[i].key), label_cases[i].want);
}

static bool has_value(const struct req_expr *x, sym v)
{
    for (uint32_t i = 0; x && i < x->n_vals; i++)
        if (sym_eq(x->vals[i], v))
            return true;
    return false;
}

/* Every offering lies in a zone and capacity type of its type, spot costs the documented share, a price means usable. */
static void check_offerings(struct fixture *f, const struct itype *it, const char *name)
{
    sym zone_id = sym_of(f->t, STR("topology.k8s.aws/zone-id"));
    double on_demand = it->offerings[0].price_usd_per_h;
    bool a1 = str_starts(sym_str(f->t, it->name), STR("a1."));

    check_true(name, it->n_offerings > 0);
    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct offering *o = &it->offerings[i];
        static const uint32_t shared[] = {SYM_IX_CT, SYM_IX_ZONE};
        bool spot = has_value(requirement(o->requirements, o->n_requirements, SYM(CT)), SYM(SPOT));

        for (size_t k = 0; k < 3; k++) {
            sym key = k < 2 ? (sym){shared[k]} : zone_id;
            const struct req_expr *x = requirement(o->requirements, o->n_requirements, key);

            assert(x);
            check_u64(name, x->n_vals, 1);
            check_true(name, has_value(requirement(it->requirements, it->n_requirements, key), x->vals[0]));
        }
        check_double(name, o->price_usd_per_h, spot ? on_demand * 0.4 : on_demand);
        check_true(name, o->available == (on_demand > 0 && !a1));
    }
}

static void every_region(void **state)
{
    (void)state;
    check_true("there are regions", ec2_regions() >= 20);
    for (uint32_t r = 0; r < ec2_regions(); r++) {
        AUTO(arena) struct arena *a = arena_new(0);
        AUTO(syms) struct syms *t = syms_new();
        struct fixture g = {.a = a, .t = t};
        struct err e = {0};
        const char *name = arena_printf(a, STR_FMT, STR_ARG(ec2_region_name(r))).p;

        g.c = ec2_catalog(a, t, ec2_region_name(r), &e);
        check_ok(name, g.c != NULL, &e);
        assert(g.c);
        check_true(name, g.c->n > 100 && g.c->n <= 4096);
        check_true(name, str_starts(g.c->origin, arena_printf(a, "aws %s: ", name)));
        check_true(name, str_contains(g.c->origin, STR(" in us-east-1")) == !str_is(str_c(name), "us-east-1"));
        for (uint32_t i = 0; i < g.c->n; i++) {
            const struct itype *it = &g.c->types[i];

            check_true(name, i == 0 || str_cmp(sym_str(t, g.c->types[i - 1].name), sym_str(t, it->name)) < 0);
            check_true(name, reslist_value(&it->capacity, SYM(MEMORY)) > reslist_value(&it->overhead, SYM(MEMORY)) ||
                                 str_ends(sym_str(t, it->name), STR(".nano")) ||
                                 str_ends(sym_str(t, it->name), STR(".micro")));
            check_true(name, reslist_value(&it->capacity, SYM(PODS)) >= 4000);
            check_true(name, str_is(label(&g, it, AWS "instance-category"), "!") == false);
            check_offerings(&g, it, name);
        }
    }
}

static void prices(void **state)
{
    struct fixture *f = *state;
    uint32_t priced = 0;

    for (uint32_t i = 0; i < f->c->n; i++)
        priced += f->c->types[i].offerings[0].price_usd_per_h > 0;
    check_true("nearly all types have a price", priced * 100 > f->c->n * 95);
    check_double("m5.large", find(f, "m5.large")->offerings[0].price_usd_per_h, 0.096);
    check_true("AL2023 does not run on a1", !find(f, "a1.large")->offerings[0].available);
}

static void rules(void **state)
{
    struct fixture *f = *state;
    const struct label_rules *r = &f->c->rules;
    const struct itype *it = find(f, "m5.large");

    for (uint32_t i = 0; i < it->n_requirements; i++)
        check_true(sym_str(f->t, it->requirements[i].key).p, label_is_well_known(r, it->requirements[i].key));
    check_true("placement groups", label_is_well_known(r, sym_of(f->t, STR(AWS "placement-group-id"))));
    check_true("the provider's domain is restricted", label_is_restricted(r, f->t, sym_of(f->t, STR(AWS "other"))));
    check_true("its own keys are not", !label_is_restricted(r, f->t, sym_of(f->t, STR(AWS "instance-cpu"))));
    check_true("reservation id", sym_eq(r->reservation_id, SYM(AWS_RESERVATION_ID)));
}

static void unknown_region(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};

    check_true("moon", !ec2_catalog(f->a, f->t, STR("moon-north-1"), &e));
    check_true("moon", str_starts(str_c(e.msg), STR("unknown region \"moon-north-1\": af-south-1 ")));
    check_true("the last region fits in", str_ends(str_c(e.msg), ec2_region_name(ec2_regions() - 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(capacity_and_overhead, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(labels, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(every_region, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(prices, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(rules, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(unknown_region, setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/catalog", tests, NULL, NULL);
}
