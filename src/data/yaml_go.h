/* yaml_go - block-style YAML to the byte as Kubernetes' YAML library for Go writes it, for texts that are compared with what is there.
 *
 * Keys are in its order, in which numbers inside them count as numbers. Strings are plain where they can be; in double quotes where a reader could take
 * them for something else; in single quotes where plain is not allowed; literal blocks where they have line feeds. Long ones are folded. json.h writes
 * YAML for people.
 */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

/* A map, with a line feed at its end. */
void yaml_go_write(struct sb *out, const struct tree *t);
