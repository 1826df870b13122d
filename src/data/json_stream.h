/* json_stream - JSON values out of a source, members of Lists one by one. Used by reader.c only. */
#pragma once

#include "data/source.h"
#include "data/tree.h"

struct json_stream;

/* whole: one value, Lists are not taken apart, and the tree does not depend on the stream. */
struct json_stream *json_stream_new(struct source *src, bool whole);
void json_stream_free(struct json_stream *j);
AUTO_DEFINE(json_stream)

/* true with *ret NULL at the end, or, with *ret_yaml_from set to a line, before a "---": what follows is YAML. */
bool json_stream_next(struct json_stream *j, struct arena *a, const struct tree **ret, uint64_t *ret_yaml_from,
                      struct err *e);
