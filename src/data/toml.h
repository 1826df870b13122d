/* toml - TOML 1.0 to trees and back.
 *
 * Tables are maps, in the order of their first mention. Integers, floats, dates and times are TREE_NUMBER, with the text that TOML would write for them: decimal
 * integers, floats with a point, `inf`, `nan`, 1979-05-27T07:32:00Z. A tree that holds one of the latter two kinds is no JSON.
 *
 * What is written looks as pelletier's library for Go writes it: sub-tables under headers of their own behind a table's other keys, an empty line before each,
 * literal strings where they can be. Keys come in the order in which the tree has them; toml_sort() puts them in byte order.
 */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

#define TOML_MAX_TEXT (256u << 10)
#define TOML_MAX_DEPTH 64

/* NULL: "line:column: what", ERR_INVALID. The tree may be edited; it points into the text. */
struct tree *toml_read(struct arena *a, str text, struct err *e);

bool toml_is_int(const struct tree *t);
void toml_sort(struct tree *map, bool deep); /* deep: all maps in it as well */
void toml_write(struct sb *out, const struct tree *t);
