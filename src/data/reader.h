/* reader - objects out of files: JSON and YAML, one after the other, never a whole list in memory.
 *
 * A reader hands out one object at a time, always a map: each document of a multi-document YAML stream, each JSON
 * value of a concatenated stream, the members of a list at the top, and the members of `items` of any document whose
 * `kind` ends in `List` or has not been given when `items` begins; Lists within Lists likewise. A document of
 * another kind is handed out whole, whatever it contains. A member that does not say its kind gets it from a typed
 * List (a PodList holds Pods), and its apiVersion. What was handed out is valid until the next call.
 *
 * Format: a name that ends in .json is JSON. Anything else is JSON when it begins with { or [ and its first 64 KiB
 * consist of JSON tokens, and YAML otherwise. After JSON, "---" begins YAML.
 *
 * Errors are final and name the place in the whole input; columns count bytes in JSON, characters in YAML. A key that
 * appears twice in a map is an error. Limits: READER_MAX_DEPTH levels, READER_MAX_TEXT bytes in one scalar,
 * READER_MAX_OBJECT bytes of source in one object, READER_MAX_NODES values in one object, aliases written out.
 */
#pragma once

#include "data/tree.h"

#define READER_MAX_DEPTH 100
#define READER_MAX_TEXT (4u << 20)
#define READER_MAX_OBJECT (64u << 20)
#define READER_MAX_NODES (4u << 20)

struct reader;

/* `path` "-" is standard input. Errors name the file. */
struct reader *reader_open(const char *path, struct err *e);
struct reader *reader_open_bytes(const char *name, str bytes, struct err *e); /* bytes outlive the reader */
void reader_free(struct reader *r);
AUTO_DEFINE(reader)

/* true with *ret NULL at the end. Errors read "file:line:column: what". Empty documents are passed over. */
bool reader_next(struct reader *r, const struct tree **ret, struct err *e);
const char *reader_name(const struct reader *r);

/* Whole small inputs into a caller's arena, for settings and catalogues: any one value, Lists stay as they are. Empty
 * YAML is null, empty JSON an error. */
bool tree_parse_json(struct arena *a, const char *name, str bytes, const struct tree **ret, struct err *e);
bool tree_parse_yaml(struct arena *a, const char *name, str bytes, const struct tree **ret, struct err *e);

/* Bytes off the wire, in place: strings of the tree point into them, they are overwritten, and READER_PAD writable bytes follow.
 * Values have no places. The tree may be edited. */
#define READER_PAD 16u
bool tree_read_json(struct arena *a, const char *name, char *bytes, size_t n, struct tree **ret, struct err *e);
