/* probes - /healthz and /readyz as Go services answer them (lifecycle 9.3): checks by name, one line each when somebody asks or something is wrong. */
#pragma once

#include "net/http.h"

#define PROBES_MAX 8

struct probe_check {
    const char *name;
    bool ok;
};

/* `under`: "/healthz" or "/readyz", what the path begins with; checks in order of name. */
void probes_reply(struct exchange *x, str under, const struct probe_check *checks, uint32_t n);
