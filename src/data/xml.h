/* xml - XML answers as trees, read whole.
 *
 * AWS writes lists as an element whose children are all called `item` or `member`: that element is a list here. Any other element with children is a map; names
 * that repeat in it make a list of what they hold, in order. An element without children is a string, blank ones included: an empty list cannot be told
 * from an empty text, so whoever wants a list takes an empty string for none. Prefixes of names and attributes are dropped. A DOCTYPE is refused, and so is
 * nesting below XML_MAX_DEPTH.
 */
#pragma once

#include "data/tree.h"

#define XML_MAX_DEPTH 64

/* The content of the root element, whose name is *ret_root. NULL: "line:column: what". */
struct tree *xml_read(struct arena *a, str text, str *ret_root, struct err *e);

/* Writing, for servers: text with the five characters escaped, bytes that XML cannot hold left out. */
struct sb;
void xml_escape(struct sb *out, str text);
