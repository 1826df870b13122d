#include "base/bucket.h"

#include <math.h>

static void refill(struct bucket *b, int64_t now_us)
{
    double back = (double)(now_us - b->at_us) * b->qps / 1e6;

    b->used = MAX(0.0, b->used - back);
    b->at_us = now_us;
}

int64_t bucket_reserve_us(struct bucket *b, int64_t now_us)
{
    if (b->qps <= 0)
        return 0;
    refill(b, now_us);
    b->used += 1;
    /* Less than a thousandth of a microsecond is an error of rounding. */
    return b->used <= b->burst ? 0 : (int64_t)ceil((b->used - b->burst) / b->qps * 1e6 - 1e-3);
}

bool bucket_take(struct bucket *b, int64_t now_us)
{
    if (b->qps <= 0)
        return true;
    refill(b, now_us);
    if (b->used + 1 > b->burst + 1e-9)
        return false;
    b->used += 1;
    return true;
}
