/* json_plain - JSON as servers write it, into a tree, in one pass.
 *
 * Most of what a controller reads all day is JSON without places, without mistakes and nearly without escapes. This reads it, checks all that a parser has to check, and gives up
 * on whatever is out of the ordinary, so that there is one place that says what is wrong: json_tree(), which asks here first.
 */
#pragma once

#include "data/tree.h"

/* True: the tree is what json_tree() makes of these bytes, which are not changed; its strings point into them or live in the arena. False: look closer. */
bool json_plain(str bytes, struct arena *a, struct tree *ret);
