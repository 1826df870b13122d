/* config - how a user tells AWS programs whom to be and whom to ask: environment variables and the shared files (aws 3.1, 9.6, 9.7).
 *
 * Read once, at start, from a list of variables that is given: tests have their own. Files are read through `read`, so that a simulated world can have some.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct aws_config;

struct aws_environment {
    const char *const *vars; /* "NAME=value", NULL at the end */
    /* The whole of a file; false with ERR_NOT_FOUND, ERR_IO. NULL: the real files. */
    bool (*read)(void *ctx, struct arena *a, const char *path, str *ret, struct err *e);
    void *ctx;
};

/* Bad values (a profile that is not there, a malformed file) are errors that name file and line. */
struct aws_config *aws_config_load(const struct aws_environment *env, struct err *e);
void aws_config_free(struct aws_config *c);
AUTO_DEFINE(aws_config)
