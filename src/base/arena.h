/* arena - bump allocation for everything that dies together.
 *
 * One arena per unit of work: a planning pass, a decoded input, a request. There is no free();
 * arena_reset() forgets the lot and keeps the first block. Out of memory aborts, so nobody checks for NULL.
 * Not thread-safe: an arena belongs to one thread at a time.
 */
#pragma once

#include <stdalign.h>
#include <stddef.h>

#include "base/str.h"

struct arena;

struct arena_mark {
    void *block;
    size_t used;
};

struct arena *arena_new(size_t first_block); /* 0: a sensible size */
/* Blocks double in size, up to megabytes, unless they are told to stop earlier: for what stays and grows slowly. */
void arena_limit_blocks(struct arena *a, size_t most);
void arena_free(struct arena *a);
void arena_reset(struct arena *a);
void arena_free_wiped(struct arena *a); /* of one that held credentials: nothing of them stays in memory */
AUTO_DEFINE(arena)

void *arena_alloc(struct arena *a, size_t size, size_t align); /* zeroed */
void *arena_memdup(struct arena *a, const void *p, size_t size, size_t align);
str arena_strdup(struct arena *a, str s);
PRINTF(2, 3) str arena_printf(struct arena *a, const char *fmt, ...);
size_t arena_bytes(const struct arena *a); /* held from the system */
size_t arena_used(const struct arena *a);  /* of that: handed out; blocks that were full count as a whole */

/* Whatever was allocated after the mark is gone after the rewind: try, look, undo. */
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m);

#define arena_new_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n), alignof(T)))
#define arena_new_one(a, T) arena_new_array(a, T, 1)
#define arena_dup_array(a, T, p, n) ((T *)arena_memdup((a), (p), sizeof(T) * (size_t)(n), alignof(T)))

/* The heap for what must grow or live on its own; aborts instead of answering NULL. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
