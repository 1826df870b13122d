/* roundtrip - what must hold for every tree that was read from somewhere. Failing is abort(), which fuzzers notice. */
#pragma once

#include "data/tree.h"

/* Every node is in order. False for trees that are too large to be written out again and again. */
bool tree_is_sound(const struct tree *t);
/* Written as JSON, or as YAML, and read again, the tree is the same. */
void tree_roundtrip(const struct tree *t, bool yaml, unsigned indent);
