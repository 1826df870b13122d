/* proto - objects of built-in kinds in protobuf, the way kubectl and other typed clients send them, into trees.
 *
 * Only what comes in is read: answers are JSON, which every client takes. A struct field that holds its zero value and cannot be
 * absent in protobuf is absent in the tree, as JSON would leave it out.
 */
#pragma once

#include "base/err.h"
#include "data/tree.h"

/* With the four bytes that every such body begins with. The tree has apiVersion and kind. */
bool proto_parse(struct arena *a, str bytes, struct tree **ret, struct err *e);
