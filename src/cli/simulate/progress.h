/* progress - one line on the terminal that says how far a long simulation has come, how fast it goes and when it will be done. */
#pragma once

#include "base/base.h"

struct progress {
    bool on, shown; /* standard error is a terminal */
    const char *name;
    uint32_t i, n;
    int64_t for_us;
    int64_t began_us, next_us; /* of the wall clock */
};

void progress_init(struct progress *p);
void progress_begin(struct progress *p, const char *name, uint32_t i, uint32_t n, int64_t for_us);
void progress_show(struct progress *p, int64_t done_us);
void progress_end(struct progress *p); /* wipes it */
