/* json_scan - finds where JSON values end, without understanding them: strings and brackets only.
 *
 * Everything is relative to the start of the window of the source ("the slice"), which stays where it is between
 * json_scan_start() and the next one. On the way the places of line feeds, containers and literals are noted.
 */
#pragma once

#include "base/vec.h"
#include "data/json_tree.h"
#include "data/source.h"

#define JSON_END (-1) /* instead of a byte: the input has ended */

struct json_scan {
    struct source *src;
    size_t at;          /* the next byte */
    uint64_t line, col; /* of the slice's first byte */
    uint32_t n_values;  /* roughly: brackets and commas */
    bool keep;          /* the slice is wanted; without it bytes are forgotten as they pass */
    VEC(uint32_t) newlines;
    VEC(uint32_t) marks;
};

void json_scan_fini(struct json_scan *s);
void json_scan_start(struct json_scan *s, bool keep); /* the next byte becomes the slice's first */

/* The next byte that is not white space, not consumed. */
bool json_scan_peek(struct json_scan *s, int *ret, struct err *e);
void json_scan_mark(struct json_scan *s); /* notes the next byte's place */

/* Past one value that starts with the next byte, `depth` levels down in what is handed out. */
bool json_scan_value(struct json_scan *s, unsigned depth, struct err *e);

/* The slice up to the next byte. */
struct json_slice json_scan_slice(struct json_scan *s);
/* Both return false. The second is for an input that ends too early: it finds the first mistake in the slice. */
PRINTF(4, 5) bool json_scan_error(struct json_scan *s, size_t at, struct err *e, const char *fmt, ...);
bool json_scan_truncated(struct json_scan *s, struct err *e);
