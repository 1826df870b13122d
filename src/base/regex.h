/* regex - regular expressions as Go's package regexp (RE2) reads them, matched in linear time.
 *
 * Matching walks all ways at once, one character of the text at a time: no pattern makes it take longer than the length of the
 * text times the size of the program. Understood: everything of RE2 but Unicode classes by name (\pL, \p{Greek}) and case folding
 * beyond ASCII. Patterns are bounded in length, depth and size of the program. Compiled once, it may be matched from any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#define REGEX_MAX_PATTERN (16u << 10)
#define REGEX_MAX_DEPTH 50
#define REGEX_MAX_PROGRAM 20000
#define REGEX_MAX_REPEAT 1000

struct regex;

/* NULL when it is none; the message says why in Go's words: "missing closing ]: `[a`". */
const struct regex *regex_compile(struct arena *a, str pattern, struct err *e);

bool regex_matches(const struct regex *r, str text); /* somewhere in the text */
/* The first match at or after `from`, preferring as Go does; offsets in bytes. */
bool regex_find(const struct regex *r, str text, size_t from, size_t *ret_start, size_t *ret_end);
/* What a match can cost at most, in single steps. */
uint64_t regex_cost(const struct regex *r, size_t text_length);
