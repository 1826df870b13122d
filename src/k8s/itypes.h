/* itypes - the instance types file: the JSON that Karpenter's kwok provider reads, into a catalogue.
 *
 * The format is a list of types with name, architecture, operatingSystems, resources and offerings; our optional
 * additions are described in docs/catalogues.md. Field names match without regard to case, as they do in Go.
 */
#pragma once

#include "base/err.h"
#include "model/itype.h"

#define ITYPES_MAX 4096 /* types in one file */
#define ITYPES_MAX_BYTES (64u << 20)

/* NULL on failure; errors in the content read "file:line:column: what is wrong". The result lives in `a`. */
struct catalog *itypes_load(struct arena *a, struct syms *t, const char *path, struct err *e);
/* The same from memory; `name` stands for the file in messages and in catalog.origin. */
struct catalog *itypes_parse(struct arena *a, struct syms *t, const char *name, str bytes, struct err *e);
