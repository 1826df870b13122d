/* xml - XML answers as trees, read whole.
 *
 * AWS writes lists as an element whose children are all called `item`, or all `member`: that element is a list here. Any other element with children is a map;
 * names that repeat in it make a list of what they hold, in order, where the first of them stood. An element without children is a string, blank ones included:
 * an empty list cannot be told from an empty text, so whoever wants a list takes an empty string for none. Dropped are namespaces, attributes, comments, and text
 * beside children. A DOCTYPE is refused, and with it every entity but XML's own five; so are nesting below XML_MAX_DEPTH and what is larger than the
 * reader's limits (READER_MAX_OBJECT, READER_MAX_NODES).
 */
#pragma once

#include "data/tree.h"

#define XML_MAX_DEPTH 48 /* elements; with the lists that repeated names make, within READER_MAX_DEPTH */

/* The content of the root element, whose name is *ret_root; nothing of it points into the text. NULL: "line:column: what", columns in bytes. */
struct tree *xml_read(struct arena *a, str text, str *ret_root, struct err *e);

/* Writing, for servers: the content of an element, with the five characters and carriage returns escaped. What XML cannot hold is left out: control characters,
 * bytes that are not UTF-8. */
struct sb;
void xml_escape(struct sb *out, str text);
