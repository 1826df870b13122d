/* world_int - the simulated world, for its two halves: world.c (time, processes) and world_net.c (network). */
#pragma once

#include "base/map.h"
#include "net/world_int.h"
#include "sim/world.h"

struct sim_call;

struct sim_world {
    struct world w;
    struct sim *s;
    char *name;
    struct rng rng;
};

struct sim_mount {
    char *base;
    size_t base_n;
    struct sim_world *server; /* NULL: nobody listens */
    http_serve_fn serve;
    void *ctx;
    struct sim_faults faults;
};

struct sim {
    struct world_core core;
    int64_t now_us;  /* since the start */
    int64_t wall_ms; /* at now_us 0 */
    uint64_t seed;
    struct rng rng, net_rng;
    uint64_t trace, step;
    bool untraced;
    uint64_t n_faults;
    void (*on_step)(void *ctx, uint64_t step);
    void *on_step_ctx;
    VEC(struct sim_world *) processes; /* that have not been reaped */
    uint32_t n_born;
    VEC(struct sim_mount) mounts; /* longest base first */
    struct sim_call *calls;       /* whose client or server still needs them, newest first */
    struct sim_call *idle_calls;  /* to be used again, with their arenas */
};

static inline struct sim_world *sim_world_of(const struct world *w)
{
    return (struct sim_world *)((char *)(uintptr_t)w - offsetof(struct sim_world, w));
}

static inline void sim_mix(struct sim *s, uint64_t v)
{
    s->trace = hash_mix(s->trace, v);
}

void sim_mix_bytes(struct sim *s, str bytes);

/* The network. */
bool sim_call_start(struct http_call *c, const struct http_request *r, struct err *e);
void sim_call_cut(struct http_call *c);
void sim_call_pause(struct http_call *c, bool on);
void sim_net_kill(struct sim_world *w);   /* it serves nobody any more */
bool sim_net_forget(struct sim_world *w); /* true: nothing of it is left; false: not yet */
void sim_net_fini(struct sim *s);
