/* process - runs another program and takes what it says, from a fiber. Only in the real world: a simulated one has no programs. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "net/world.h"

struct process_request {
    const char *const *argv; /* NULL at the end; argv[0] is searched for in PATH unless it has a slash */
    const char *const *env;  /* "NAME=value", NULL at the end; NULL: our own */
    size_t max_out;          /* more on its standard output is an error; 0: 1 MiB */
    int64_t timeout_us;      /* then it is killed, with all it has started; 0: 60 s */
};

struct process_result {
    int code; /* what it returned; 128 + the signal that ended it */
    str out;
    str err; /* the first 4 KiB */
};

/* Its standard input is empty. true: it has run, whatever it returned. ERR_NOT_FOUND: there is no such program. */
bool process_run(struct world *w, const struct process_request *r, struct arena *a, struct process_result *ret,
                 struct err *e);
