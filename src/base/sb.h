/* sb - builds text. Grows on the heap, cannot fail, no error check per append.
 *
 * struct sb b = {0}; sb_str(&b, …); … sb_fini(&b). The content is not terminated; sb_cstr() terminates it.
 */
#pragma once

#include "base/str.h"

struct arena;

struct sb {
    char *p;
    size_t n, cap;
};

void sb_grow(struct sb *b, size_t more); /* room for so many bytes and one */

static inline void sb_room(struct sb *b, size_t more)
{
    if (more >= b->cap - b->n)
        sb_grow(b, more);
}

void sb_fini(struct sb *b);
void sb_reset(struct sb *b); /* empty, keeps the memory */

static inline void sb_bytes(struct sb *b, const void *p, size_t n)
{
    sb_room(b, n);
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static inline void sb_str(struct sb *b, str s)
{
    sb_bytes(b, s.p, s.n);
}

static inline void sb_c(struct sb *b, const char *s)
{
    sb_bytes(b, s, strlen(s));
}

static inline void sb_char(struct sb *b, char c)
{
    sb_room(b, 1);
    b->p[b->n++] = c;
}

void sb_fill(struct sb *b, char c, size_t n);
PRINTF(2, 3) void sb_printf(struct sb *b, const char *fmt, ...);
void sb_u64(struct sb *b, uint64_t v);
void sb_i64(struct sb *b, int64_t v);
/* The shortest decimal text that reads back as the same double, in plain notation where Go's JSON uses it. */
void sb_double(struct sb *b, double v);
str sb_view(const struct sb *b);                 /* until the next append */
str sb_dup(const struct sb *b, struct arena *a); /* a copy that lives in the arena */
const char *sb_cstr(struct sb *b);
