/* bits - sets of small integers as arrays of 64-bit words. */
#pragma once

#include <string.h>

#include "base/base.h"

#define BITS_WORDS(n) (((uint32_t)(n) + 63) / 64)

static inline bool bit_test(const uint64_t *w, uint32_t i)
{
    return w[i / 64] >> (i % 64) & 1;
}

static inline void bit_set(uint64_t *w, uint32_t i)
{
    w[i / 64] |= 1ull << (i % 64);
}

static inline void bit_clear(uint64_t *w, uint32_t i)
{
    w[i / 64] &= ~(1ull << (i % 64));
}

static inline uint32_t bit_lowest(uint64_t w)
{
    return (uint32_t)__builtin_ctzll(w);
}

static inline void bits_copy(uint64_t *to, const uint64_t *from, uint32_t words)
{
    memcpy(to, from, words * sizeof(uint64_t));
}

static inline void bits_zero(uint64_t *w, uint32_t words)
{
    memset(w, 0, words * sizeof(uint64_t));
}

static inline void bits_fill(uint64_t *w, uint32_t n_bits)
{
    bits_zero(w, BITS_WORDS(n_bits));
    for (uint32_t i = 0; i < n_bits / 64; i++)
        w[i] = ~0ull;
    if (n_bits % 64)
        w[n_bits / 64] = (1ull << (n_bits % 64)) - 1;
}

static inline void bits_and(uint64_t *w, const uint64_t *o, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        w[i] &= o[i];
}

static inline void bits_or(uint64_t *w, const uint64_t *o, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        w[i] |= o[i];
}

static inline bool bits_any(const uint64_t *w, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (w[i])
            return true;
    return false;
}

static inline bool bits_meet(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}

static inline bool bits_equal(const uint64_t *a, const uint64_t *b, uint32_t words)
{
    return memcmp(a, b, words * sizeof(uint64_t)) == 0;
}

static inline uint32_t bits_count(const uint64_t *w, uint32_t words)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < words; i++)
        n += (uint32_t)__builtin_popcountll(w[i]);
    return n;
}

/* for (BITS_EACH(i, w, words)) { … } visits the members in ascending order. */
static inline uint32_t bits_next(const uint64_t *w, uint32_t words, uint32_t from)
{
    uint32_t i = from / 64;

    if (i >= words)
        return UINT32_MAX;
    uint64_t x = w[i] & (~0ull << (from % 64));
    for (;;) {
        if (x)
            return i * 64 + bit_lowest(x);
        if (++i >= words)
            return UINT32_MAX;
        x = w[i];
    }
}

#define BITS_EACH(i, w, words)                                                                                         \
    uint32_t i = bits_next((w), (words), 0);                                                                           \
    i != UINT32_MAX;                                                                                                   \
    i = bits_next((w), (words), i + 1)
