/* imds - the instance metadata service, version 2: what a machine may know about itself. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct aws;

/* path without its first slash. From a fiber. ERR_NOT_FOUND: the service has no such thing. */
bool imds_get(struct aws *c, struct arena *a, const char *path, str *ret, struct err *e);
bool imds_region(struct aws *c, struct arena *a, str *ret, struct err *e);
