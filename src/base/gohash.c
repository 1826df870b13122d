#include "base/gohash.h"

#define FNV_OFFSET 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

/* FNV-1: multiply, then xor. */
static uint64_t fnv(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = h * FNV_PRIME ^ b[i];
    return h;
}

/* The lowest byte first, whatever machine this is. */
static uint64_t fnv_number(uint64_t h, uint64_t v, int bits)
{
    for (int i = 0; i < bits; i += 8)
        h = (h * FNV_PRIME) ^ (v >> i & 0xff);
    return h;
}

uint64_t gohash_str(str s)
{
    return fnv(FNV_OFFSET, s.p, s.n);
}

uint64_t gohash_bool(bool v)
{
    return fnv_number(FNV_OFFSET, v, 8);
}

uint64_t gohash_i32(int32_t v)
{
    return fnv_number(FNV_OFFSET, (uint32_t)v, 32);
}

uint64_t gohash_i64(int64_t v)
{
    return fnv_number(FNV_OFFSET, (uint64_t)v, 64);
}

uint64_t gohash_struct(const char *type)
{
    return gohash_str(str_c(type));
}

void gohash_field(uint64_t *h, const char *name, uint64_t value)
{
    *h = fnv_number(FNV_OFFSET, *h ^ gohash_entry(gohash_str(str_c(name)), value), 64);
}

void gohash_text(uint64_t *h, const char *name, str value)
{
    if (value.n)
        gohash_field(h, name, gohash_str(value));
}

uint64_t gohash_entry(uint64_t key, uint64_t value)
{
    return fnv_number(fnv_number(FNV_OFFSET, key, 64), value, 64);
}

uint64_t gohash_map(uint64_t entries)
{
    return fnv_number(FNV_OFFSET, entries, 64);
}
