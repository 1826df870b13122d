/* Prices (aws 5.9), and the tables that they begin with (aws A.4). */
#include "cloud/ec2/prices.h"

#include <math.h>

#include "cloud/ec2/facts.h"
#include "support/check.h"

static void tables(void **state)
{
    const struct ec2_fact *all, *m5;
    uint32_t n = ec2_facts(&all), priced = 0, limits = 0, bandwidth = 0;

    (void)state;
    for (uint32_t i = 0; i < n; i++) {
        check_true(all[i].type, i == 0 || strcmp(all[i - 1].type, all[i].type) < 0);
        check_true(all[i].type, ec2_fact_of(str_c(all[i].type)) == &all[i]);
        priced += all[i].price[0] > 0;
        limits += all[i].ipv4 > 0;
        bandwidth += all[i].network_mbps > 0;
    }
    check_true("sizes", priced > 1300 && limits > 1300 && bandwidth > 1300);
    m5 = ec2_fact_of(STR("m5.large"));
    assert(m5);
    check_u64("addresses", m5->ipv4, 10);
    check_u64("branches", m5->branches, 9);
    check_u64("bandwidth", m5->network_mbps, 750);
    check_double("price", m5->price[0], 0.096);
    check_u64("t3 has no branches", ec2_fact_of(STR("t3.large"))->branches, 0);
    check_true("too new", !ec2_fact_of(STR("x9z.large")));
    check_true("nothing", !ec2_fact_of(STR("")));
    check_u64("Frankfurt has no table", ec2_fact_region(STR("eu-central-1")), 0);
    check_str("the others", str_c(ec2_fact_region_name(ec2_fact_region(STR("us-gov-west-1")))), "us-gov-west-1");
    check_str("the others", str_c(ec2_fact_region_name(ec2_fact_region(STR("cn-north-1")))), "cn-north-1");
}

static void first_prices(void **state)
{
    (void)state;
    AUTO(ec2_prices) struct ec2_prices *home = ec2_prices_new(STR("us-east-1"));
    AUTO(ec2_prices) struct ec2_prices *abroad = ec2_prices_new(STR("eu-west-1"));
    AUTO(ec2_prices) struct ec2_prices *gov = ec2_prices_new(STR("us-gov-west-1"));
    AUTO(ec2_prices) struct ec2_prices *china = ec2_prices_new(STR("cn-north-1"));

    check_double("on demand", ec2_price_on_demand(home, STR("m5.large")), 0.096);
    check_double("spot begins with it, in every zone", ec2_price_spot(home, STR("m5.large"), STR("anywhere")), 0.096);
    check_double("a region without a table", ec2_price_on_demand(abroad, STR("m5.large")), 0.096);
    check_true("one with its own", ec2_price_on_demand(gov, STR("m5.large")) > 0.1);
    check_true("in its own currency", ec2_price_on_demand(china, STR("m5.large")) > 0.5);
    check_true("unknown", isnan(ec2_price_on_demand(home, STR("x9z.large"))));
    check_true("unknown", isnan(ec2_price_spot(home, STR("x9z.large"), STR("a"))));
}

static void on_demand(void **state)
{
    (void)state;
    AUTO(ec2_prices) struct ec2_prices *p = ec2_prices_new(STR("us-east-1"));
    uint64_t v = ec2_prices_version(p);
    struct aws_price news[] = {{STR("m5.large"), 0.2},
                               {STR("m5.large"), 0.3},
                               {STR("x9z.large"), 1},
                               {STR("t3.large"), 0},
                               {STR("t3.nano"), NAN}};

    check_true("taken", ec2_prices_set_on_demand(p, news, ARRAY_LEN(news)));
    check_true("another version", ec2_prices_version(p) > v);
    check_double("the last one counts", ec2_price_on_demand(p, STR("m5.large")), 0.3);
    check_double("new types", ec2_price_on_demand(p, STR("x9z.large")), 1);
    check_true("they have no first spot price", isnan(ec2_price_spot(p, STR("x9z.large"), STR("a"))));
    check_double("spot stays", ec2_price_spot(p, STR("m5.large"), STR("a")), 0.096);
    check_double("nothing costs nothing", ec2_price_on_demand(p, STR("t3.large")), 0.0832);
    check_double("others stay", ec2_price_on_demand(p, STR("m5.xlarge")), 0.192);
    v = ec2_prices_version(p);
    check_true("again", ec2_prices_set_on_demand(p, &news[1], 2));
    check_u64("the same version", ec2_prices_version(p), v);
    check_true("nothing that counts", !ec2_prices_set_on_demand(p, &news[3], 2));
    check_true("nothing at all", !ec2_prices_set_on_demand(p, NULL, 0));
}

static void spot(void **state)
{
    (void)state;
    AUTO(ec2_prices) struct ec2_prices *p = ec2_prices_new(STR("us-east-1"));
    struct ec2_spot_price bad[] = {{STR("m5.large"), STR("a"), NAN, 1}, {STR("m5.large"), STR("a"), 0.1, INT64_MIN}};
    struct ec2_spot_price first[] = {{STR("m5.large"), STR("a"), 0.03, 1}, {STR("t3.large"), STR("b"), 0.02, 1}};
    struct ec2_spot_price next[] = {{STR("m5.large"), STR("b"), 0.04, 2}};
    uint64_t v = ec2_prices_version(p);

    check_true("nothing that counts", !ec2_prices_set_spot(p, bad, ARRAY_LEN(bad)));
    check_true("an empty answer", !ec2_prices_set_spot(p, NULL, 0));
    check_u64("changes nothing", ec2_prices_version(p), v);
    check_double("the first price holds still", ec2_price_spot(p, STR("m5.large"), STR("a")), 0.096);
    check_true("taken", ec2_prices_set_spot(p, first, ARRAY_LEN(first)));
    check_true("another version", ec2_prices_version(p) > v);
    check_double("a", ec2_price_spot(p, STR("m5.large"), STR("a")), 0.03);
    check_true("from now on by zone", isnan(ec2_price_spot(p, STR("m5.large"), STR("b"))));
    check_true("of all types", isnan(ec2_price_spot(p, STR("m5.xlarge"), STR("a"))));
    check_true("unknown zone", isnan(ec2_price_spot(p, STR("m5.large"), STR("z"))));
    check_true("taken", ec2_prices_set_spot(p, next, ARRAY_LEN(next)));
    check_double("merged", ec2_price_spot(p, STR("m5.large"), STR("a")), 0.03);
    check_double("merged", ec2_price_spot(p, STR("m5.large"), STR("b")), 0.04);
    v = ec2_prices_version(p);
    check_true("again", ec2_prices_set_spot(p, next, ARRAY_LEN(next)));
    check_u64("the same version", ec2_prices_version(p), v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(first_prices),
        cmocka_unit_test(on_demand),
        cmocka_unit_test(spot),
    };

    return cmocka_run_group_tests_name("cloud/ec2/prices", tests, NULL, NULL);
}
