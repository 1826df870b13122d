/* json_tree - one JSON value, whole in memory, into a tree. */
#pragma once

#include "data/source.h"
#include "data/tree.h"

#define JSON_PAD 4u /* bytes after the value that must be writable */

/* The bytes are overwritten: strings of the tree point into them. */
struct json_slice {
    const struct source *src;
    char *p;
    size_t n;
    uint64_t line, col;       /* of p[0] */
    const uint32_t *newlines; /* offsets of all line feeds outside strings, ascending */
    uint32_t n_newlines;
    const uint32_t *marks; /* offsets of every { [ t f n outside strings, ascending: containers and literals */
    uint32_t n_marks;
    bool no_places; /* it was not scanned: newlines and marks are not there, values get no places; errors still do */
};

bool json_tree(const struct json_slice *s, struct arena *a, struct tree *ret, struct err *e);
