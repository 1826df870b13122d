#include "base/sb.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

#define FIRST_CAP 256u /* most texts are shorter, or much longer */

void sb_grow(struct sb *b, size_t more)
{
    assert(more < SIZE_MAX / 4);   /* a length that went wrong, not a text */
    size_t need = b->n + more + 1; /* one spare byte for sb_cstr() */

    if (need <= b->cap)
        return;
    b->cap = MAX(need, MAX(b->cap * 2, (size_t)FIRST_CAP));
    b->p = xrealloc(b->p, b->cap);
}

void sb_fini(struct sb *b)
{
    free(b->p);
    *b = (struct sb){0};
}

void sb_reset(struct sb *b)
{
    b->n = 0;
}

void sb_fill(struct sb *b, char c, size_t n)
{
    sb_room(b, n);
    memset(b->p + b->n, c, n);
    b->n += n;
}

void sb_printf(struct sb *b, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = b->cap - b->n;
    int n = vsnprintf(room ? b->p + b->n : NULL, room, fmt, ap); /* mostly it fits */
    va_end(ap);
    assert(n >= 0);
    if ((size_t)n >= room) {
        sb_room(b, (size_t)n);
        (void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    b->n += (size_t)n;
}

void sb_u64(struct sb *b, uint64_t v)
{
    char digits[20];
    size_t at = sizeof(digits);

    do
        digits[--at] = (char)('0' + v % 10);
    while (v /= 10);
    sb_bytes(b, digits + at, sizeof(digits) - at);
}

void sb_i64(struct sb *b, int64_t v)
{
    if (v < 0)
        sb_char(b, '-');
    sb_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void sb_double(struct sb *b, double v)
{
    char text[64];

    if (!isfinite(v)) {
        sb_c(b, "null");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    if (strchr(text, 'e') && fabs(v) >= 1e-6 && fabs(v) < 1e21)
        for (int decimals = 0; decimals <= 25; decimals++) {
            (void)snprintf(text, sizeof(text), "%.*f", decimals, v);
            if (strtod(text, NULL) == v)
                break;
        }
    sb_c(b, text);
}

str sb_view(const struct sb *b)
{
    return (str){b->p, b->n};
}

str sb_dup(const struct sb *b, struct arena *a)
{
    return arena_strdup(a, sb_view(b));
}

const char *sb_cstr(struct sb *b)
{
    sb_room(b, 0);
    b->p[b->n] = '\0';
    return b->p;
}
