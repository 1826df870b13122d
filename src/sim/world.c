/* Time and processes. Everything that happens is an entry in one heap that all processes share; a step takes the earliest
 * and moves the clock to it. Entries at the same microsecond come in the order in which they were made, so the seed and the
 * program decide everything.
 */
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "sim/world_int.h"

void sim_mix_bytes(struct sim *s, str bytes)
{
    if (!s->untraced)
        sim_mix(s, hash_bytes(bytes.p, bytes.n, 0));
}

/* ---- a process's world ---- */

static int64_t sim_wall_ms(const struct world *w)
{
    const struct sim *s = sim_world_of(w)->s;

    return s->wall_ms + s->now_us / 1000;
}

static int64_t sim_mono_us(const struct world *w)
{
    return sim_world_of(w)->s->now_us;
}

static uint64_t sim_random(struct world *w)
{
    return rng_next(&sim_world_of(w)->rng);
}

static void sim_run(struct world *w)
{
    struct sim *s = sim_world_of(w)->s;

    while (!w->quit && sim_step(s))
        ;
    w->quit = false;
}

static const struct world_ops sim_ops = {
    .now_ms = sim_wall_ms,
    .mono_us = sim_mono_us,
    .random = sim_random,
    .run = sim_run,
    .call_start = sim_call_start,
    .call_cut = sim_call_cut,
    .call_pause = sim_call_pause,
};

struct world *sim_process(struct sim *s, const char *name)
{
    struct sim_world *w = xcalloc(1, sizeof(*w));
    size_t n = strlen(name) + 1;

    w->w.ops = &sim_ops;
    w->w.core = &s->core;
    w->s = s;
    w->name = memcpy(xmalloc(n), name, n);
    /* A number more that one process draws must not change what another one sees. */
    rng_init(&w->rng, hash_mix(hash_bytes(name, n - 1, s->seed), s->n_born++));
    vec_push(&s->processes, w);
    return &w->w;
}

void sim_kill(struct world *w)
{
    struct sim_world *sw = sim_world_of(w);

    if (w->dead)
        return;
    sim_mix_bytes(sw->s, str_c(sw->name));
    world_die(w);
    sim_net_kill(sw);
}

static void process_free(struct sim_world *w)
{
    free(w->name);
    free(w);
}

bool sim_reap(struct world *w)
{
    struct sim_world *sw = sim_world_of(w);
    struct sim *s = sw->s;
    uint32_t kept = 0;

    if (!w->dead || w->n_fibers || w->calls || !sim_net_forget(sw))
        return false;
    for (uint32_t i = 0; i < s->processes.n; i++)
        if (s->processes.v[i] != sw)
            s->processes.v[kept++] = s->processes.v[i];
    s->processes.n = kept;
    process_free(sw);
    return true;
}

/* ---- time ---- */

/* The next event that is due by then; false when there is none. */
static bool step_until(struct sim *s, int64_t until_us)
{
    const struct timer_slot *next = timers_next(&s->core.timers);

    if (!next || next->due_us > until_us)
        return false;
    s->step++;
    if (s->on_step) {
        s->on_step(s->on_step_ctx, s->step); /* may take it away, or put another before it */
        next = timers_next(&s->core.timers);
        if (!next || next->due_us > until_us)
            return false;
    }
    assert(next->due_us >= s->now_us);
    s->now_us = next->due_us;
    sim_mix(s, (uint64_t)next->due_us);
    sim_mix(s, next->seq);
    struct timer *t = timers_pop(&s->core.timers);
    t->fn(t->ctx);
    return true;
}

bool sim_step(struct sim *s)
{
    return step_until(s, INT64_MAX);
}

void sim_run_for(struct sim *s, int64_t us)
{
    int64_t until = sat_add(s->now_us, us);

    while (step_until(s, until))
        ;
    s->now_us = until;
}

void sim_jump(struct sim *s, int64_t ms)
{
    s->wall_ms += ms;
}

int64_t sim_now_us(const struct sim *s)
{
    return s->now_us;
}

/* ---- chance and trace ---- */

struct rng *sim_rng(struct sim *s)
{
    return &s->rng;
}

uint64_t sim_trace(const struct sim *s)
{
    return s->trace;
}

void sim_note(struct sim *s, str what)
{
    sim_mix_bytes(s, what);
}

void sim_untraced(struct sim *s)
{
    s->untraced = true;
}

void sim_on_step(struct sim *s, void (*fn)(void *ctx, uint64_t step), void *ctx)
{
    s->on_step = fn;
    s->on_step_ctx = ctx;
}

const struct world *sim_next_owner(const struct sim *s)
{
    const struct timer_slot *next = timers_next(&s->core.timers);

    return next ? next->owner : NULL;
}

/* ---- life ---- */

struct sim *sim_new(uint64_t seed, int64_t start_ms)
{
    struct sim *s = xcalloc(1, sizeof(*s));

    s->seed = seed;
    s->wall_ms = start_ms;
    s->trace = hash_mix(0, seed);
    rng_init(&s->rng, seed);
    rng_init(&s->net_rng, hash_mix(seed, 1));
    return s;
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    s->on_step = NULL;
    for (uint32_t i = 0; i < s->processes.n; i++)
        sim_kill(&s->processes.v[i]->w);
    for (uint32_t n = 0; sim_step(s); n++)
        for (uint32_t i = 0; i < s->processes.n; i++)
            if (s->processes.v[i]->w.fibers)
                fibers_unwinding(&s->processes.v[i]->w, n);
    for (uint32_t i = 0; i < s->processes.n; i++) {
        assert(s->processes.v[i]->w.n_fibers == 0 && !s->processes.v[i]->w.calls);
        process_free(s->processes.v[i]);
    }
    sim_net_fini(s);
    world_core_fini(&s->core);
    vec_fini(&s->processes);
    free(s);
}
