/* What does not depend on the kind of world: timers, and how a world dies. */
#include "net/world_int.h"

int64_t world_now_ms(const struct world *w)
{
    return w->ops->now_ms(w);
}

int64_t world_mono_us(const struct world *w)
{
    return w->ops->mono_us(w);
}

uint64_t world_random(struct world *w)
{
    return w->ops->random(w);
}

bool world_dead(const struct world *w)
{
    return w->dead;
}

void world_run(struct world *w)
{
    assert(!fiber_self());
    w->ops->run(w);
}

void world_quit(struct world *w)
{
    w->quit = true;
}

void timer_set(struct world *w, struct timer *t, int64_t after_us)
{
    if (!w->dead)
        timers_set(&w->core->timers, t, w, sat_add(w->ops->mono_us(w), MAX(after_us, 0)));
}

void timer_stop(struct world *w, struct timer *t)
{
    timers_stop(&w->core->timers, t);
}

void world_inner_timer(struct world *w, struct timer *t, int64_t after_us)
{
    timers_set(&w->core->timers, t, NULL, sat_add(w->ops->mono_us(w), MAX(after_us, 0)));
}

void world_soon(struct world *w, struct timer *t)
{
    world_inner_timer(w, t, 0);
}

void world_die(struct world *w)
{
    if (w->dead)
        return;
    w->dead = true;
    timers_drop(&w->core->timers, w);
    http_calls_die(w);
    fibers_die(w);
}

void world_core_fini(struct world_core *core)
{
    fiber_pool_fini(core);
    http_call_pool_fini(core);
    timers_fini(&core->timers);
}
