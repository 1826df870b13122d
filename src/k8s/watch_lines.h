/* watch_lines - events out of the bytes of a watch: one JSON object per line, in pieces of any size.
 *
 * This is where most of the controller's input passes. A piece is copied once, into a buffer that holds no more than the line at
 * hand and one piece; a line is parsed where it lies. Nothing grows with the number of events.
 */
#pragma once

#include "data/tree.h"

#define WATCH_MAX_LINE (8u << 20) /* far more than any object a server would store */

struct watch_lines {
    char *buf;
    size_t n, cap;
    size_t looked;       /* no line feed before here */
    struct arena *arena; /* of the event at hand */
};

void watch_lines_init(struct watch_lines *l);
void watch_lines_fini(struct watch_lines *l);
void watch_lines_reset(struct watch_lines *l); /* a new stream begins */

/* obj may be edited; NULL when the event has none. false: no more, forget the rest. */
typedef bool (*watch_event_fn)(void *ctx, str type, struct tree *obj);

/* false: what came is no watch, or a line is too long; nothing can be made of what follows. */
bool watch_lines_feed(struct watch_lines *l, str bytes, watch_event_fn fn, void *ctx, struct err *e);
