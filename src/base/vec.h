/* vec - a growable array as three fields: VEC(struct pod) pods = {0}; vec_push(&pods, p); pods.v[i]; vec_fini(&pods). */
#pragma once

#include <stdlib.h> /* the macros below use free() and memset() */
#include <string.h>

#include "base/base.h"

#define VEC(T)                                                                                                         \
    struct {                                                                                                           \
        T *v;                                                                                                          \
        uint32_t n, cap;                                                                                               \
    }

void *vec_grow(void *v, uint32_t *cap, uint32_t need, size_t elem);

#define vec_reserve(vec, need)                                                                                         \
    ((need) > (vec)->cap ? (void)((vec)->v = vec_grow((vec)->v, &(vec)->cap, (uint32_t)(need), sizeof(*(vec)->v)))     \
                         : (void)0)
#define vec_push(vec, ...) (vec_reserve(vec, (vec)->n + 1), (void)((vec)->v[(vec)->n++] = (__VA_ARGS__)))
/* A zeroed element at the end; the answer points at it until the next push. */
#define vec_add(vec)                                                                                                   \
    (vec_reserve(vec, (vec)->n + 1), memset(&(vec)->v[(vec)->n], 0, sizeof(*(vec)->v)), &(vec)->v[(vec)->n++])
#define vec_last(vec) ((vec)->v[(vec)->n - 1])
#define vec_fini(vec) (free((vec)->v), (void)((vec)->v = NULL), (void)((vec)->n = (vec)->cap = 0))
/* The content as an exact-size array in an arena; the vec stays as it is. */
#define vec_to_arena(vec, a) ((__typeof__((vec)->v))arena_memdup((a), (vec)->v, sizeof(*(vec)->v) * (vec)->n, 8))

/* Stable merge sort with a context argument: equal elements keep their order, on every libc. */
typedef int (*sort_cmp_fn)(const void *a, const void *b, void *ctx);
void sort_stable(void *base, size_t n, size_t size, sort_cmp_fn cmp, void *ctx);
