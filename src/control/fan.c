/* Each fiber takes the next number until there is none; the last one to end wakes the caller. */
#include "control/fan.h"

struct fan {
    void (*fn)(void *ctx, uint32_t i);
    void *ctx;
    uint32_t next, n, running;
    struct fiber *caller;
};

static void work(void *arg)
{
    struct fan *f = arg;

    while (f->next < f->n)
        f->fn(f->ctx, f->next++);
    if (--f->running == 0)
        fiber_wake(f->caller);
}

void fan_out(struct world *w, const char *name, uint32_t n, uint32_t width, void (*fn)(void *ctx, uint32_t i),
             void *ctx)
{
    struct fan f = {.fn = fn, .ctx = ctx, .n = n, .caller = fiber_self()};

    assert(width > 0);
    f.running = MIN(n, width);
    for (uint32_t i = f.running; i > 0; i--)
        fiber_go(w, name, work, &f);
    while (f.running > 0)
        fiber_park();
}
