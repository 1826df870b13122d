/* sim/world - the simulated world: virtual time, chance from a seed, a network inside the program, and its faults.
 *
 * One `struct sim` holds the clock, the queue of events and the network. Every process that takes part (a controller, its
 * second replica, the cluster itself) has a world of its own in it, which can be killed alone. Servers are mounted under a
 * base url; a call to that base reaches them after the network's delay. The same seed gives the same events in the same
 * order, byte for byte: sim_trace() is a hash over every event that happened.
 */
#pragma once

#include "base/rng.h"
#include "net/http.h"
#include "net/world.h"

struct sim;

/* What the network does to a call. Chances are per 65,536 calls. Zero: nothing bad happens, answers come at once. */
struct sim_faults {
    int64_t delay_us[2];     /* each way, from … to */
    uint32_t refuse;         /* the call never reaches the server */
    uint32_t lose_reply;     /* the server has done it, the client sees a reset */
    uint32_t cut_stream;     /* an answer breaks after a while */
    int64_t cut_after_us[2]; /* … this long after its head */
    uint32_t stall_stream;   /* an answer's data is held back */
    int64_t stall_us[2];     /* … for so long */
    uint32_t slow;           /* the answer's delay is multiplied by 100 */
};

struct sim *sim_new(uint64_t seed, int64_t start_ms);
void sim_free(struct sim *s);

struct world *sim_process(struct sim *s, const char *name);
/* The process is dead from here on (see world.h). What it has sent before that arrives; those it was serving see a reset once
 * the news has travelled. sim_reap() frees it once nothing of it is left, and says whether it did. */
void sim_kill(struct world *w);
bool sim_reap(struct world *w);

/* Calls to urls that begin with `base` ("https://kube", without a slash at the end) are served here, on the server's world: if
 * that is dead, they are refused. Of several bases the longest wins. The path that the server sees is the whole path of the url.
 * serve NULL: no longer; faults stay. */
void sim_mount(struct sim *s, const char *base, struct world *server_world, http_serve_fn serve, void *server);
void sim_set_faults(struct sim *s, const char *base, const struct sim_faults *f);

/* Time. sim_run_for() returns when the clock has moved that far; sim_jump() moves the wall clock alone. */
void sim_run_for(struct sim *s, int64_t us);
bool sim_step(struct sim *s); /* the next event; false when there is none */
void sim_jump(struct sim *s, int64_t ms);
int64_t sim_now_us(const struct sim *s);

uint64_t sim_fault_count(const struct sim *s); /* what the network has done to calls */
struct rng *sim_rng(struct sim *s);            /* for tests that draw from the same seed */
uint64_t sim_trace(const struct sim *s);       /* hash of all that happened so far */
void sim_note(struct sim *s, str what);        /* adds to the trace */
void sim_untraced(struct sim *s);              /* nobody will ask: bytes are not read for it */
/* Called before every event with a serial number, for tests that kill between any two steps. */
void sim_on_step(struct sim *s, void (*fn)(void *ctx, uint64_t step), void *ctx);
/* Whose timer the next event is; NULL: there is none, or it is the network's or a fiber's. */
const struct world *sim_next_owner(const struct sim *s);
