/* yaml_events - libyaml's events from a source, with our limits and our words.
 *
 * Input is checked for UTF-8 and forbidden characters before libyaml sees it, so that the place is known. libyaml
 * collects a scalar however long it is; it is starved after twice READER_MAX_TEXT of input
 * without an event instead. It compares every %TAG with all others, so their number is bounded too.
 */
#pragma once

#include <yaml.h>

#include "data/source.h"

struct yaml_events {
    struct source *src;
    yaml_parser_t parser;
    yaml_event_t event; /* the last one; valid when has_event */
    bool has_event;
    uint64_t base_line;    /* lines before the parser's first */
    uint64_t line, col;    /* of the next byte to be fed, from 1 */
    size_t starved_after;  /* bytes that may still be fed before the next event */
    unsigned n_directives; /* lines with % in front since the last event */
    struct err read_err;   /* why feeding failed */
};

void yaml_events_init(struct yaml_events *y, struct source *src, uint64_t first_line);
void yaml_events_fini(struct yaml_events *y);

bool yaml_events_next(struct yaml_events *y, struct err *e); /* into y->event */

/* "name:line:column: what" at the start of the last event; returns false. */
PRINTF(3, 4) bool yaml_events_error(const struct yaml_events *y, struct err *e, const char *fmt, ...);
