/* input - the objects of `-f FILE|DIR|-`, read one by one into a collection. */
#pragma once

#include "base/err.h"
#include "model/objects.h"

struct decoder;

/* Called after every object; may be all zero. */
struct input_watch {
    void (*tick)(void *ctx);
    void *ctx;
};

/* Reads a file, standard input ("-") or every .yaml, .yml and .json file of a directory, in order of name.
 * Errors name the place: file:line:column. */
bool input_read(struct decoder *d, const char *path, const struct input_watch *w, struct err *e);
