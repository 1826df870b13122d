/* play - carries a trace out on a sandbox, at its times. The same trace and seed do the same, whatever the cluster makes of it. */
#pragma once

#include "cli/simulate/sandbox.h"
#include "cli/simulate/trace.h"

struct play;

/* When the sandbox has what it begins with, at its beginning. NULL: the trace names what is not there, or what the server would refuse. */
struct play *play_new(struct sandbox *s, const struct trace *t, uint64_t seed, struct err *e);
void play_free(struct play *p);
AUTO_DEFINE(play)

/* What could not be done, for people: how often, and the first reason. */
uint32_t play_n_missed(const struct play *p);
const char *play_first_missed(const struct play *p);
