/* source - the bytes of a file, of standard input or of memory, through one window that is moved forward.
 *
 * The window holds the bytes [lo, hi) of buf; whoever reads moves lo. source_more() appends what comes next and may
 * move the window to the front of buf, so positions are kept relative to lo. A byte order mark in front is dropped.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#define SOURCE_CHUNK (256u << 10)
#define SOURCE_PAD 16u /* bytes after hi that may be written to */

struct source {
    const char *name; /* for messages; owned */
    int fd;           /* -1: memory */
    str memory;       /* what is left of it */
    char *buf;
    size_t lo, hi, cap;
    bool started, ended;
};

bool source_open(struct source *s, const char *path, struct err *e);
void source_open_bytes(struct source *s, const char *name, str bytes);
void source_fini(struct source *s);

/* Reads on. false on failure; at the end it is true and s->ended. */
bool source_more(struct source *s, struct err *e);

static inline size_t source_held(const struct source *s)
{
    return s->hi - s->lo;
}

/* "name:line:column: what"; returns false. */
PRINTF(5, 6)
bool source_error(const struct source *s, uint64_t line, uint64_t col, struct err *e, const char *fmt, ...);
