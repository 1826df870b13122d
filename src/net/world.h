/* world - the one seam between the program and everything that is not arithmetic: time, chance, the network.
 *
 * There are two worlds. The real one (net/loop.h) is an epoll loop with libcurl and libmicrohttpd behind it; the
 * simulated one (sim/world.h) is a queue of events under a virtual clock whose HTTP calls end in servers of the same
 * program. Code that gets a `struct world *` cannot tell which one it has. One thread owns a world and everything in it:
 * every callback runs on that thread, from world_run(), never from inside the call that asked for it.
 *
 * A world may die: a simulated process is killed, or the program shuts down. Then no timer fires any more, every HTTP call
 * under way ends with ERR_IO, every new one fails the same way without being sent, fibers that sleep or are parked wake at
 * once, and exchanges that it served are over. So all that was under way unwinds by itself, without effects outside, and
 * whoever loops has to look at world_dead().
 */
#pragma once

#include "base/base.h"

struct world;

int64_t world_now_ms(const struct world *w);  /* wall clock since 1970; may jump */
int64_t world_mono_us(const struct world *w); /* steady clock from an arbitrary start; timers follow this one */
uint64_t world_random(struct world *w);       /* real: from the kernel; simulated: from the seed */
bool world_dead(const struct world *w);

/* A timer belongs to whoever embeds it; zeroed and with fn set it is ready. It fires once. Timers that are due at the same
 * microsecond fire in the order in which they were set. In a dead world no timer is set, and none can be. */
struct timer {
    void (*fn)(void *ctx);
    void *ctx;
    int64_t due_us; /* read only; means something while the timer is set */
    uint32_t at;    /* private: place in the heap + 1; 0: not set */
};

/* Set anew if it was set. 0: as soon as we return to the loop. */
void timer_set(struct world *w, struct timer *t, int64_t after_us);
void timer_stop(struct world *w, struct timer *t); /* fine when not set */

static inline bool timer_is_set(const struct timer *t)
{
    return t->at != 0;
}

/* Runs callbacks. Real: until world_quit(). Simulated: until world_quit(), or until nothing is left to happen. A quit that
 * comes first makes the next run return at once. */
void world_run(struct world *w);
void world_quit(struct world *w);
