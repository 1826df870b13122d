/* input - the objects of `-f FILE|DIR|-`, read one by one, into a collection or into other hands. */
#pragma once

#include "base/err.h"
#include "model/objects.h"

struct decoder;
struct tree;

/* Called after every object; may be all zero. */
struct input_watch {
    void (*tick)(void *ctx);
    void *ctx;
};

/* Reads a file, standard input ("-") or every .yaml, .yml and .json file of a directory, in order of name.
 * Errors name the place: file:line:column. */
bool input_read(struct decoder *d, const char *path, const struct input_watch *w, struct err *e);

/* The same objects as trees, each good until take() returns, with the name of its file for messages. false ends the reading. */
struct input_taker {
    bool (*take)(void *ctx, const char *file, const struct tree *t, struct err *e);
    void *ctx;
};

bool input_each(const char *path, const struct input_taker *to, struct err *e);
