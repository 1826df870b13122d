#include "aws/retry.h"

#define SECOND_US INT64_C(1000000)

bool retry_pay(struct retry_budget *b, uint32_t cost)
{
    if (b->used + cost > RETRY_BUDGET)
        return false;
    b->used += cost;
    return true;
}

void retry_earn(struct retry_budget *b, uint32_t paid)
{
    b->used -= MIN(b->used, paid ? paid : 1);
}

int64_t retry_jitter(int64_t max, uint64_t random)
{
    return (int64_t)((double)max * ((double)(random >> 11) * 0x1p-53));
}

int64_t retry_delay_us(uint32_t n, uint64_t random)
{
    return retry_jitter(n < 5 ? SECOND_US << n : RETRY_MAX_US, random);
}
