/* file - a whole file, bounded: settings, tokens, certificates. What passes through on the way is wiped: it may be a credential. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* ERR_NOT_FOUND, ERR_DENIED, ERR_IO; ERR_INVALID when it is no file or has more than `max` bytes. Errors begin with the path. */
bool file_read(struct arena *a, const char *path, size_t max, str *ret, struct err *e);
