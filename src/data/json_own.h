/* json_own - reads back JSON that our own writer wrote (json.h, compact): several times faster than reading what others wrote.
 *
 * Nothing is checked but what keeps the reader inside the text: a text that is not ours trips an assertion. Places (line, col)
 * are unknown. Never for bytes from outside: those go through reader.h.
 */
#pragma once

#include "data/tree.h"

/* Strings without escapes point into `text`, which must live as long as the tree. The tree may be edited. */
struct tree *json_read_own(struct arena *a, str text);
/* The value that the text begins with; what follows it is not looked at. */
struct tree *json_read_own_first(struct arena *a, str text);
/* How long the value is that the text begins with, without reading it; what follows it is not looked at. */
size_t json_own_length(str text);
