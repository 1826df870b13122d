/* timers - the heap of timers that both worlds run on: earliest first, in the order of setting where times are equal.
 *
 * Whatever has to happen later is an entry here: timers of callers, fibers that are ready to run, calls that have ended.
 * Entries of callers carry their world and go when it dies. Those of the machinery have none and stay: they are what
 * lets a dead world unwind.
 */
#pragma once

#include "base/vec.h"
#include "net/world.h"

struct timer_slot {
    int64_t due_us;
    uint64_t seq;
    struct timer *t;
    struct world *owner; /* NULL: inner */
};

struct timers {
    VEC(struct timer_slot) heap; /* four children to a node: fewer levels, and the children share cache lines */
    uint64_t seq;                /* of the next one to be set */
};

void timers_set(struct timers *ts, struct timer *t, struct world *owner, int64_t due_us);
void timers_stop(struct timers *ts, struct timer *t);
void timers_drop(struct timers *ts, const struct world *owner); /* all that it has set */
void timers_fini(struct timers *ts);                            /* those that are still set are not set any more */

/* The next one, or NULL; it stays in the heap. */
static inline const struct timer_slot *timers_next(const struct timers *ts)
{
    return ts->heap.n ? &ts->heap.v[0] : NULL;
}

struct timer *timers_pop(struct timers *ts); /* there must be one */
