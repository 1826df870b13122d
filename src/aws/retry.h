/* retry - how often and how soon a call is tried again: the standard mode of AWS's SDKs (aws 3.1).
 *
 * A retry waits a random part of a time that doubles, and is paid for from a budget. When everything fails the budget is soon used up and calls
 * fail after one attempt, so that a service in trouble is not asked three times as much.
 */
#pragma once

#include "base/base.h"

#define RETRY_BUDGET 500u
#define RETRY_COST 5u
#define RETRY_TIMEOUT_COST 10u
#define RETRY_MAX_US INT64_C(20000000)

struct retry_budget {
    uint32_t used; /* of RETRY_BUDGET; zeroed it is full */
};

bool retry_pay(struct retry_budget *b, uint32_t cost); /* false: there is not that much left */
/* A call has succeeded. paid: what its last retry cost; 0: it needed none, which earns a little. */
void retry_earn(struct retry_budget *b, uint32_t paid);
/* Before attempt n + 1; random: 64 bits of chance. */
int64_t retry_delay_us(uint32_t n, uint64_t random);
/* 0 … max - 1, evenly. */
int64_t retry_jitter(int64_t max, uint64_t random);
