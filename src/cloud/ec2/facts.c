#include "cloud/ec2/facts.h"

#include "cloud/ec2/facts_data.inc"

uint32_t ec2_facts(const struct ec2_fact **ret)
{
    *ret = fact_rows;
    return ARRAY_LEN(fact_rows);
}

const struct ec2_fact *ec2_fact_of(str type)
{
    size_t lo = 0, hi = ARRAY_LEN(fact_rows);

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = str_cmp(type, str_c(fact_rows[mid].type));

        if (c == 0)
            return &fact_rows[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

uint32_t ec2_fact_region(str region)
{
    for (uint32_t i = 0; i < EC2_FACT_REGIONS; i++)
        if (str_is(region, price_regions[i]))
            return i;
    return 0;
}

const char *ec2_fact_region_name(uint32_t i)
{
    assert(i < EC2_FACT_REGIONS);
    return price_regions[i];
}

const char *ec2_fact_prices_of(void)
{
    return FACTS_PRICES_OF;
}
