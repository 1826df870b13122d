/* bucket - a token bucket: so many at once, then so many a second.
 *
 * Time is a parameter and never runs backwards. Zeroed but for qps and burst it is full.
 */
#pragma once

#include "base/base.h"

struct bucket {
    double qps; /* 0: no limit */
    double burst;
    double used;   /* tokens that are missing; more than burst while somebody waits */
    int64_t at_us; /* when that was so */
};

/* Takes a token and says how long to wait before using it. */
int64_t bucket_reserve_us(struct bucket *b, int64_t now_us);
/* Takes a token if there is one now. */
bool bucket_take(struct bucket *b, int64_t now_us);
