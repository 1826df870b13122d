/* What the provider finds out at its start and now and then: endpoint, version, types, prices, memory (aws 1.1, 5.9, 5.10, 7.11, 9.6; 11.6 P1 to P3, P5, 11.10 S6, O2). */
#include "support/check.h"
#include "support/provider_lab.h"

static bool said(const struct provider_lab *x, const char *what)
{
    return str_contains(sb_view(&x->told), str_c(what));
}

/* ---- O2, S6 ---- */

static void o2_the_endpoint(void **state)
{
    struct provider_lab *x = *state;
    struct ec2_settings s = provider_lab_settings();

    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_str("asked of EKS", x->p->cluster.endpoint, "https://test-cluster");
    s.cluster_endpoint = STR("https://mine");
    s.eks_control_plane = false;
    provider_lab_reopen(x, NULL, &s);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_str("as the user says", x->p->cluster.endpoint, "https://mine");
    check_u64("without a question", class_lab_calls(x->l, "DescribeCluster"), 0);
    provider_lab_reopen(x, "{\"faults\":{\"calls\":{\"DescribeCluster\":[{\"code\":\"AccessDeniedException\"}]}}}",
                        NULL);
    check_true("an error of EKS is ours", !provider_lab_go(x, LAB_START));
    check_true("and says what it was for", str_contains(str_c(x->e.msg), STR("detecting cluster endpoint")));
}

static void s6_p3_the_version(void **state)
{
    struct provider_lab *x = *state;
    struct ec2_settings s = provider_lab_settings();

    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_str("S6 asked of EKS", x->p->cluster.version, "1.32");
    check_ok("P3 again", provider_lab_go(x, LAB_VERSION), &x->e);
    check_true("told", said(x, "info: discovered kubernetes version 1.32\n"));
    sb_reset(&x->told);
    check_ok("and again", provider_lab_go(x, LAB_VERSION), &x->e);
    check_true("told once", !said(x, "discovered kubernetes"));
    s.eks_control_plane = false;
    provider_lab_reopen(x, NULL, &s);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_str("S6 asked of the API server", x->p->cluster.version, "1.31");
    provider_lab_reopen(
        x,
        "{\"cluster\":{\"name\":\"test-cluster\",\"endpoint\":\"https://test-cluster\",\"caBundle\":\"Y2E=\",\"version\":"
        "\"1.99\",\"serviceIpv4Cidr\":\"10.100.0.0/16\"}}",
        NULL);
    check_ok("a version that nobody has tried is no reason not to start", provider_lab_go(x, LAB_START), &x->e);
    check_true("but it is told", !provider_lab_go(x, LAB_VERSION));
    check_true("in words", str_contains(str_c(x->e.msg), STR("1.99")));
    check_str("and used", x->p->cluster.version, "1.99");
    check_ok("once", provider_lab_go(x, LAB_VERSION), &x->e);
    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"DescribeCluster\":[{},{},{\"code\":\"AccessDeniedException\"}]}}}", NULL);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_true("an error", !provider_lab_go(x, LAB_VERSION));
    check_str("keeps what is known", x->p->cluster.version, "1.32");
}

/* kube-dns: only an address is one. */
static void addresses_of_dns(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {{"10.0.100.10", "10.0.100.10"}, {"fd00::a", "fd00::a"}, {"None", ""}, {"", ""}, {"10.0.0", ""}};
    struct provider_lab *x = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        provider_lab_reopen(x, NULL, NULL);
        x->dns = str_c(cases[i].text);
        check_ok("start", provider_lab_go(x, LAB_START), &x->e);
        check_str(cases[i].text, x->p->cluster.dns, cases[i].want);
        check_true(cases[i].text, said(x, "unable to detect the IP of the kube-dns service") == !cases[i].want[0]);
    }
}

static void no_types_no_start(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"DescribeInstanceTypes\":[{\"code\":\"UnauthorizedOperation\"}]}}}", NULL);
    check_true("EC2 does not tell", !provider_lab_go(x, LAB_START));
    check_true("which is the end", str_contains(str_c(x->e.msg), STR("UnauthorizedOperation")));
    check_str("the call that failed: whose", str_c(x->e.call.peer), "aws");
    check_str("its service", str_c(x->e.call.service), "EC2");
    check_str("its name", str_c(x->e.call.operation), "DescribeInstanceTypes");
    check_i64("its status", x->e.call.status, 403);
    check_true("AWS's name for it", x->e.call.request[0] != 0);
}

/* ---- P1 ---- */

static void p1_types(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"DescribeInstanceTypeOfferings\":[{},{\"code\":\"UnauthorizedOperation\"}]}}}",
        NULL);
    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    const struct catalog *c = x->cloud->catalog(x->cloud->self);
    uint64_t version = c->version;
    uint32_t n = c->n;
    check_true("an error", !provider_lab_go(x, LAB_TYPES));
    c = x->cloud->catalog(x->cloud->self);
    check_true("keeps what is known", c->n == n && c->version == version);
    check_ok("the same again", provider_lab_go(x, LAB_TYPES), &x->e);
    check_u64("changes nothing", x->cloud->catalog(x->cloud->self)->version, version);
    check_u64("told once", str_contains(sb_view(&x->told), STR("discovered instance types")), 1);
}

/* ---- P5 ---- */

static double price(const struct provider_lab *x)
{
    return ec2_price_on_demand_at(x->p->prices, ec2_prices_type(x->p->prices, STR("m5.large")));
}

static void p5_prices(void **state)
{
    struct provider_lab *x = *state;
    struct ec2_settings s = provider_lab_settings();

    provider_lab_reopen(x, "{\"onDemandPrices\":{\"m5.large\":7,\"m5.metal\":70}}", NULL);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    double first = price(x);
    check_true("out of the table", first > 0.01 && first < 1);
    check_ok("asked for", provider_lab_go(x, LAB_PRICES), &x->e);
    check_double("what AWS says", price(x), 7);
    check_u64("machines and bare metal", class_lab_calls(x->l, "GetProducts"), 2);

    provider_lab_reopen(x, "{\"faults\":{\"calls\":{\"GetProducts\":[{\"code\":\"AccessDeniedException\"}]}}}", NULL);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_true("an error", !provider_lab_go(x, LAB_PRICES));
    check_double("keeps the table", price(x), first);
    check_u64("spot is asked for all the same", class_lab_calls(x->l, "DescribeSpotPriceHistory"), 1);

    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"DescribeSpotPriceHistory\":[{\"code\":\"UnauthorizedOperation\"}]}}}", NULL);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_true("an error of spot", !provider_lab_go(x, LAB_PRICES));
    uint32_t type = ec2_prices_type(x->p->prices, STR("m5.large"));
    check_double("keeps the table",
                 ec2_price_spot_at(x->p->prices, type, ec2_prices_zone(x->p->prices, STR("test-zone-1a"))), price(x));

    s.isolated_vpc = true;
    provider_lab_reopen(x, "{\"onDemandPrices\":{\"m5.large\":7,\"m5.metal\":70}}", &s);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("in an isolated VPC", provider_lab_go(x, LAB_PRICES), &x->e);
    check_double("the table", price(x), first);
    check_u64("nobody was asked", class_lab_calls(x->l, "GetProducts"), 0);
    check_u64("but for spot", class_lab_calls(x->l, "DescribeSpotPriceHistory"), 1);

    provider_lab_reopen(x, "{\"region\":\"us-gov-west-1\"}", NULL);
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("GovCloud", provider_lab_go(x, LAB_PRICES), &x->e);
    check_u64("has no such service", class_lab_calls(x->l, "GetProducts"), 0);
}

/* ---- P2: memory of Nodes ---- */

#define GIB (INT64_C(1) << 30)
#define DAY_MS INT64_C(86400000)

static int64_t memory(struct provider_lab *x)
{
    const struct catalog *c = x->cloud->catalog(x->cloud->self);

    for (uint32_t i = 0; i < c->n; i++)
        if (str_is(sym_str(x->p->syms, c->types[i].name), "m5.large"))
            return reslist_value(&c->types[i].capacity, SYM(MEMORY)) / 1000;
    return 0;
}

static void learn(struct provider_lab *x, str image, int64_t bytes)
{
    ec2_learn_memory(x->p, STR("m5.large"), STR("default"), image, bytes);
}

static void p2_memory(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_launch(x);
    int64_t guess = memory(x);
    learn(x, STR("ami-other"), 7 * GIB);
    check_i64("of an image that the class would not choose", memory(x), guess);
    learn(x, x->claim.image_id, 7 * GIB);
    check_i64("learnt", memory(x), 7 * GIB);
    learn(x, x->claim.image_id, 7 * GIB + 1);
    check_i64("the least counts", memory(x), 7 * GIB);
    learn(x, x->claim.image_id, 6 * GIB);
    check_i64("less", memory(x), 6 * GIB);
    class_lab_run(x->l, 59 * DAY_MS);
    check_i64("for long", memory(x), 6 * GIB);
    learn(x, x->claim.image_id, 6 * GIB);
    class_lab_run(x->l, 59 * DAY_MS);
    check_i64("longer when it is confirmed", memory(x), 6 * GIB);
    class_lab_run(x->l, 2 * DAY_MS);
    check_i64("not for ever", memory(x), guess);
    learn(x, x->claim.image_id, 7 * GIB);
    check_i64("learnt anew", memory(x), 7 * GIB);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, provider_lab_setup, provider_lab_teardown)
    const struct CMUnitTest tests[] = {
        T(o2_the_endpoint), T(s6_p3_the_version), T(addresses_of_dns), T(no_types_no_start),
        T(p1_types),        T(p5_prices),         T(p2_memory),
    };

    return cmocka_run_group_tests_name("cloud/ec2_refresh", tests, NULL, NULL);
}
