/* fan - the same for many, side by side: a fiber for each, and the caller waits until all have ended. */
#pragma once

#include "net/fiber.h"

/* Calls fn(ctx, i) for i below n, at most `width` at a time, in fibers. Parks; to be called from a fiber. */
void fan_out(struct world *w, const char *name, uint32_t n, uint32_t width, void (*fn)(void *ctx, uint32_t i),
             void *ctx);
