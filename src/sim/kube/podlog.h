/* podlog - what one container of a pod has said: the last lines with their times, and those who follow.
 *
 * Bounded in bytes and lines: the oldest lines go first. A line has a number that never changes; a reader keeps the number of the
 * line it wants next and asks again when it is told that there is more, so a slow one holds nothing and may miss lines.
 * Everything happens on the thread of the world.
 */
#pragma once

#include "base/str.h"

#define PODLOG_MAX_BYTES (1u << 20)
#define PODLOG_MAX_LINES 20000u
#define PODLOG_MAX_LINE (64u << 10) /* longer ones are cut into several */

struct podlog;

struct podlog *podlog_new(void); /* with one reference */
struct podlog *podlog_ref(struct podlog *l);
void podlog_unref(struct podlog *l);

/* One line, or several separated by line feeds; one at the end is not needed. */
void podlog_add(struct podlog *l, int64_t at_ms, str text);
/* Nothing will be said any more. What there is can still be read. */
void podlog_end(struct podlog *l);
void podlog_reset(struct podlog *l); /* forgets all lines; numbers go on */

bool podlog_has_ended(const struct podlog *l);
uint64_t podlog_first(const struct podlog *l); /* number of the oldest line that is still there */
uint64_t podlog_next(const struct podlog *l);  /* number that the next line will have */
/* A line without its line feed; number within first … next - 1. Good until the log is written to. */
str podlog_line(const struct podlog *l, uint64_t number, int64_t *ret_at_ms);

/* Told of every addition and of the end, in the middle of them: it may note that there is more, and nothing else. Holds a
 * reference to what it follows. */
struct podlog_follower {
    void (*on_more)(void *ctx);
    void *ctx;
    struct podlog *log; /* NULL: none (any more) */
    struct podlog_follower *prev, *next;
};

void podlog_follow(struct podlog *l, struct podlog_follower *f);
void podlog_leave(struct podlog_follower *f);
