/* base - the few macros that every file may use. */
#pragma once

#include <assert.h> /* on in every build: a broken promise must stop the program (CONTRIBUTING.md) */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define NODISCARD __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args), nonnull(fmt)))
#define UNUSED __attribute__((unused))

/* AUTO(arena) struct arena *a = arena_new(0); frees `a` at the end of the scope. A type opts in with AUTO_DEFINE(arena). */
#define AUTO(name) __attribute__((cleanup(name##_auto)))
#define AUTO_DEFINE(name)                                                                                              \
    static inline void name##_auto(struct name **p)                                                                    \
    {                                                                                                                  \
        name##_free(*p);                                                                                               \
    }

/* Saturating arithmetic: quantities come from outside and may be absurd; a sum never wraps round. */
static inline int64_t sat_add(int64_t a, int64_t b)
{
    int64_t r;

    if (!__builtin_add_overflow(a, b, &r))
        return r;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

static inline int64_t sat_sub(int64_t a, int64_t b)
{
    int64_t r;

    if (!__builtin_sub_overflow(a, b, &r))
        return r;
    return b < 0 ? INT64_MAX : INT64_MIN;
}

static inline int64_t sat_mul(int64_t a, int64_t b)
{
    int64_t r;

    if (!__builtin_mul_overflow(a, b, &r))
        return r;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}
