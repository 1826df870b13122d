/* shrink - makes a failing case smaller while it keeps failing: fewer parts, fewer deeds, less time, fewer apps. */
#pragma once

#include "sim/chaos.h"

/* Whether the case fails. */
typedef bool (*shrink_fn)(void *ctx, const struct chaos_case *c);

/* `c` fails, and had deeds up to this number, for so many hours. At most `tries` runs. Returns how many there were. */
uint32_t shrink(struct chaos_case *c, uint32_t n_deeds, double hours, uint32_t tries, shrink_fn fails, void *ctx);
