/* rng - an explicit, seeded generator: the same seed gives the same numbers everywhere, for ever. */
#pragma once

#include "base/base.h"

struct rng {
    uint64_t s[2];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0 … n-1, n > 0 */
double rng_unit(struct rng *r);                /* [0, 1) */
