/* sort - a stable merge sort for one element type, with the comparison in line.
 *
 * SORT_DEFINE(sort_queue, struct queued, queued_before) defines
 *     static void sort_queue(struct queued *v, size_t n, const void *ctx)
 * where queued_before(const struct queued *a, const struct queued *b, const void *ctx) says whether a must come
 * before b. sort_stable() in vec.h does the same for any type, more slowly.
 */
#pragma once

#include <stdlib.h>

#include "base/arena.h"

#define SORT_DEFINE(name, T, before)                                                                                   \
    static void name(T *v, size_t n, const void *ctx)                                                                  \
    {                                                                                                                  \
        size_t sorted = 1;                                                                                             \
                                                                                                                       \
        while (sorted < n && !before(&v[sorted], &v[sorted - 1], ctx))                                                 \
            sorted++;                                                                                                  \
        if (sorted >= n)                                                                                               \
            return;                                                                                                    \
        T *spare = xmalloc(n * sizeof(T)), *from = v, *to = spare;                                                     \
        for (size_t run = 1; run < n; run *= 2) {                                                                      \
            for (size_t at = 0; at < n; at += 2 * run) {                                                               \
                size_t i = at, mid = MIN(at + run, n), j = mid, end = MIN(at + 2 * run, n), o = at;                    \
                                                                                                                       \
                while (i < mid && j < end)                                                                             \
                    to[o++] = before(&from[j], &from[i], ctx) ? from[j++] : from[i++];                                 \
                while (i < mid)                                                                                        \
                    to[o++] = from[i++];                                                                               \
                while (j < end)                                                                                        \
                    to[o++] = from[j++];                                                                               \
            }                                                                                                          \
            T *swap = from;                                                                                            \
            from = to;                                                                                                 \
            to = swap;                                                                                                 \
        }                                                                                                              \
        if (from != v)                                                                                                 \
            memcpy(v, from, n * sizeof(T));                                                                            \
        free(spare);                                                                                                   \
    }
