/* fiber - sequences of calls that read top to bottom: a small stack each, switched on the world's thread.
 *
 * A fiber runs until it parks (fiber_park(), fiber_sleep_us(), http_fetch(), http_read()) or its function returns. What it
 * held before it parked may be gone afterwards: keep names and ids across a park, never pointers into shared state.
 * Stacks come from a pool, have a guard page and FIBER_STACK bytes: no large arrays in functions that fibers call.
 */
#pragma once

#include "net/world.h"

#define FIBER_STACK (64u << 10)

struct fiber;

/* Starts when control returns to the loop. */
void fiber_go(struct world *w, const char *name, void (*fn)(void *arg), void *arg);
struct fiber *fiber_self(void); /* NULL outside of fibers */
const char *fiber_name(void);   /* of the running one; "" outside of fibers */

/* Parks the running fiber until fiber_wake(). A wake that comes first is remembered: the next park returns at once. So is one
 * that comes while the fiber sleeps or waits for a call. In a dead world a park only lets the others have a turn. */
void fiber_park(void);
void fiber_wake(struct fiber *f);                 /* it runs when control returns to the loop */
void fiber_sleep_us(struct world *w, int64_t us); /* w is the fiber's own; returns early when it dies */

uint32_t fiber_count(const struct world *w); /* that have not returned; for tests and shutdown */
