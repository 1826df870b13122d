#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

void *vec_grow(void *v, uint32_t *cap, uint32_t need, size_t elem)
{
    uint64_t want = MAX((uint64_t)*cap * 2, MAX((uint64_t)need, 8u));

    assert(want <= UINT32_MAX);
    *cap = (uint32_t)want;
    return xrealloc(v, (size_t)want * elem);
}

static void merge(char *out, const char *a, size_t na, const char *b, size_t nb, size_t size, sort_cmp_fn cmp,
                  void *ctx)
{
    while (na && nb) {
        bool left = cmp(a, b, ctx) <= 0;

        memcpy(out, left ? a : b, size);
        out += size;
        if (left)
            a += size, na--;
        else
            b += size, nb--;
    }
    memcpy(out, na ? a : b, (na ? na : nb) * size);
}

void sort_stable(void *base, size_t n, size_t size, sort_cmp_fn cmp, void *ctx)
{
    size_t sorted = 1;

    while (sorted < n && cmp((char *)base + (sorted - 1) * size, (char *)base + sorted * size, ctx) <= 0)
        sorted++;
    if (sorted >= n)
        return; /* as it often is */

    char *from = base, *spare = xmalloc(n * size), *to = spare;

    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t na = MIN(run, n - at), nb = MIN(run, n - at - na);

            merge(to + at * size, from + at * size, na, from + (at + na) * size, nb, size, cmp, ctx);
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != base)
        memcpy(base, from, n * size);
    free(spare);
}
