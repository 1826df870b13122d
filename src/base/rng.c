/* xoroshiro128++ seeded by splitmix64. */
#include "base/rng.h"

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

void rng_init(struct rng *r, uint64_t seed)
{
    r->s[0] = splitmix(&seed);
    r->s[1] = splitmix(&seed);
}

uint64_t rng_next(struct rng *r)
{
    uint64_t a = r->s[0], b = r->s[1], out = rotl(a + b, 17) + a;

    b ^= a;
    r->s[0] = rotl(a, 49) ^ b ^ (b << 21);
    r->s[1] = rotl(b, 28);
    return out;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    assert(n > 0);
    return (uint32_t)(((rng_next(r) >> 32) * (uint64_t)n) >> 32);
}

double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
