/* protobuf - bodies in the protobuf form of the built-in kinds, which kubectl prefers for what it creates itself, into trees.
 *
 * Answers are always JSON: clients that send protobuf take that too.
 */
#pragma once

#include "base/err.h"
#include "data/tree.h"

#define PROTOBUF_TYPE "application/vnd.kubernetes.protobuf"

/* Errors are sentences for people. Depth and lengths are bounded by the input's own size and PROTOBUF_MAX_DEPTH. */
#define PROTOBUF_MAX_DEPTH 48
bool protobuf_decode(struct arena *a, str bytes, struct tree **ret, struct err *e);
