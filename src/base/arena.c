/* Blocks form a singly linked list, newest first; each new block is twice as large as the last, up to a limit. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_BLOCK 4096u
#define LARGEST_BLOCK (4u << 20)
#define SMALL_PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

struct block {
    struct block *older;
    size_t size; /* of data[] */
    alignas(max_align_t) char data[];
};

struct arena {
    struct block *now;
    size_t used; /* of now->data */
    size_t held;
    size_t most; /* what a block grows to */
};

/* Faulting in small pages took a fifth of a planning pass over a million pods. A wish: without it things are slower,
 * not wrong. */
static void wish_for_huge_pages(void *p, size_t size)
{
    uintptr_t from = ((uintptr_t)p + SMALL_PAGE - 1) & ~(uintptr_t)(SMALL_PAGE - 1);
    uintptr_t to = ((uintptr_t)p + size) & ~(uintptr_t)(SMALL_PAGE - 1);

    if (size >= HUGE_PAGE && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static void *check(void *p, size_t n, size_t size)
{
    if (!p) {
        (void)fprintf(stderr, "karpenter: out of memory (%zu x %zu bytes)\n", n, size);
        abort();
    }
    wish_for_huge_pages(p, n * size);
    return p;
}

void *xmalloc(size_t size)
{
    return check(malloc(size ? size : 1), 1, size);
}

void *xcalloc(size_t n, size_t size)
{
    return check(calloc(n ? n : 1, size ? size : 1), n, size);
}

void *xrealloc(void *p, size_t size)
{
    return check(realloc(p, size ? size : 1), 1, size);
}

/* Large blocks are whole huge pages. */
static struct block *large_block(size_t *size)
{
    size_t all = (sizeof(struct block) + *size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    struct block *b = check(aligned_alloc(HUGE_PAGE, all), 1, all);

    *size = all - sizeof(struct block);
    return b;
}

static void arena_add_block(struct arena *a, size_t size)
{
    struct block *b = size >= HUGE_PAGE / 2 ? large_block(&size) : xmalloc(sizeof(*b) + size);

    b->older = a->now;
    b->size = size;
    a->now = b;
    a->used = 0;
    a->held += size;
}

struct arena *arena_new(size_t first_block)
{
    struct arena *a = xcalloc(1, sizeof(*a));

    a->most = LARGEST_BLOCK;
    arena_add_block(a, first_block ? first_block : FIRST_BLOCK);
    return a;
}

void arena_limit_blocks(struct arena *a, size_t most)
{
    a->most = most;
}

static void arena_drop_until(struct arena *a, const struct block *keep)
{
    while (a->now != keep) {
        struct block *b = a->now;

        a->now = b->older;
        a->held -= b->size;
        free(b);
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    arena_drop_until(a, NULL);
    free(a);
}

void arena_free_wiped(struct arena *a)
{
    for (struct block *b = a ? a->now : NULL; b; b = b->older)
        explicit_bzero(b->data, b->size);
    arena_free(a);
}

void arena_reset(struct arena *a)
{
    struct block *first = a->now;

    while (first->older)
        first = first->older;
    arena_drop_until(a, first);
    a->used = 0;
}

static __attribute__((noinline)) void *take_from_next(struct arena *a, size_t size)
{
    arena_add_block(a, MAX(MIN(a->now->size * 2, a->most), size));
    a->used = size;
    return a->now->data;
}

static inline void *arena_take(struct arena *a, size_t size, size_t align)
{
    size_t at = (a->used + align - 1) & ~(align - 1);

    assert(align != 0 && (align & (align - 1)) == 0 && align <= alignof(max_align_t));
    if (at > a->now->size || size > a->now->size - at)
        return take_from_next(a, size);
    a->used = at + size;
    return a->now->data + at;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    return memset(arena_take(a, size, align), 0, size);
}

void *arena_memdup(struct arena *a, const void *p, size_t size, size_t align)
{
    void *q = arena_take(a, size, align);

    return size ? memcpy(q, p, size) : q;
}

str arena_strdup(struct arena *a, str s)
{
    return (str){arena_memdup(a, s.p, s.n, 1), s.n};
}

str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = a->now->size - a->used;
    int n = vsnprintf(a->now->data + a->used, room, fmt, ap); /* mostly it fits */
    va_end(ap);
    assert(n >= 0);
    char *p = arena_take(a, (size_t)n + 1, 1);
    if ((size_t)n >= room)
        (void)vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (str){p, (size_t)n};
}

size_t arena_bytes(const struct arena *a)
{
    return a->held;
}

size_t arena_used(const struct arena *a)
{
    return a->held - a->now->size + a->used;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->now, a->used};
}

void arena_rewind(struct arena *a, struct arena_mark m)
{
    arena_drop_until(a, m.block);
    a->used = m.used;
}
