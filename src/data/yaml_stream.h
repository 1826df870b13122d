/* yaml_stream - objects out of YAML, members of Lists one by one. Used by reader.c only. */
#pragma once

#include "data/source.h"
#include "data/tree.h"

struct yaml_stream;

/* whole: one document, Lists are not taken apart, and the tree does not depend on the stream. */
struct yaml_stream *yaml_stream_new(struct source *src, uint64_t first_line, bool whole);
void yaml_stream_free(struct yaml_stream *y);
AUTO_DEFINE(yaml_stream)

bool yaml_stream_next(struct yaml_stream *y, struct arena *a, const struct tree **ret, struct err *e);
