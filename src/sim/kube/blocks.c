#include "sim/kube/blocks.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/arena.h"

#define SMALL ((size_t)2048) /* in steps of 64 up to here, … */
#define SMALL_STEP ((size_t)64)
#define LARGE ((size_t)16384) /* … of 512 up to here; what is larger is malloc's */
#define LARGE_STEP ((size_t)512)
#define N_SIZES (SMALL / SMALL_STEP + (LARGE - SMALL) / LARGE_STEP)

/* Where a sanitizer watches, every block is malloc's own, so that it sees who uses one that is gone. */
#if defined(__SANITIZE_ADDRESS__)
#define WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define WATCHED true
#endif
#endif
#ifndef WATCHED
#define WATCHED false
#endif

struct idle {
    struct idle *next;
};

struct blocks {
    struct arena *a;
    size_t n_out;
    bool left;
    struct idle *idle[N_SIZES];
};

struct blocks *blocks_new(void)
{
    struct blocks *b = xcalloc(1, sizeof(*b));

    b->a = arena_new(32 << 10);
    return b;
}

static void free_if_done(struct blocks *b)
{
    if (!b->left || b->n_out)
        return;
    arena_free(b->a);
    free(b);
}

void blocks_leave(struct blocks *b)
{
    b->left = true;
    free_if_done(b);
}

/* Which list, and how long its blocks are: the next revision of an object, which is mostly a little longer, fits where another
 * one was. */
static size_t list_of(size_t size, size_t *ret_size)
{
    if (size <= SMALL) {
        size_t at = size ? (size - 1) / SMALL_STEP : 0;

        *ret_size = (at + 1) * SMALL_STEP;
        return at;
    }
    size_t at = (size - SMALL - 1) / LARGE_STEP;
    *ret_size = SMALL + (at + 1) * LARGE_STEP;
    return SMALL / SMALL_STEP + at;
}

void *blocks_take(struct blocks *b, size_t size)
{
    size_t whole, at;

    b->n_out++;
    if (WATCHED || size > LARGE)
        return xmalloc(size);
    at = list_of(size, &whole);
    struct idle *first = b->idle[at];
    if (!first)
        return arena_alloc(b->a, whole, alignof(max_align_t));
    b->idle[at] = first->next;
    return first;
}

void blocks_give(struct blocks *b, void *p, size_t size)
{
    size_t whole;

    b->n_out--;
    if (WATCHED || size > LARGE) {
        free(p);
    } else {
        struct idle **list = &b->idle[list_of(size, &whole)], *mine = p;

        mine->next = *list;
        *list = mine;
    }
    free_if_done(b);
}
