/* live_replay - a recorded scenario, done again in the simulated world.
 *
 * live_replay.c reads the files of a scenario and goes through its steps; live_replay_steps.c does them, live_replay_see.c waits for what was seen, live_replay_print.c writes
 * down what the controller did.
 */
#pragma once

#include "sim/kube/work.h"
#include "support/rig.h"

#define LIVE_PATIENCE_S 40.0

struct replay {
    struct rig *r;
    struct arena *a;
    const struct tree **objects; /* of objects.yaml */
    uint32_t n_objects;
    double t0;
    size_t n_logged[RIG_REPLICAS]; /* bytes of the logs before the scenario */
    uint32_t n_written;            /* of rig.writes, likewise */
    VEC(str) claims;               /* NodeClaims that were made for NodePools, in order of appearance */
    VEC(str) old;                  /* NodeClaims there were when they were last seen Initialized */
};

double live_now(const struct replay *p); /* seconds since the scenario began */

/* A C string in the arena. */
static inline const char *live_cstr(struct arena *a, str s)
{
    return arena_printf(a, STR_FMT "%c", STR_ARG(s), 0).p;
}

/* ---- steps ---- */

/* What a row of steps.md says, done; false: it cannot be. `took_s`: how long it took when it was recorded. */
bool live_step(struct replay *p, str text, double took_s);

/* ---- what is seen ---- */

/* Waits for it: "pod Running", "3 NodeClaims Initialized", "old NodeClaim and Node gone" …; false: it never was. */
bool live_see(struct replay *p, str text, double took_s);
bool live_leads(struct rig *r, const void *i);                       /* for rig_until(): replica *(uint32_t *)i */
const struct tree *live_condition(const struct tree *obj, str type); /* NULL: it has none */

/* The first object of a kind, in order of names, that is like this; NULL: there is none. `fits` NULL: any. */
typedef bool (*live_fits_fn)(const struct replay *p, const struct object *o, const struct tree *t);
const char *live_find(struct replay *p, const char *plural, live_fits_fn fits);
uint32_t live_count(struct replay *p, const char *plural, live_fits_fn fits);
bool live_is_new_claim(const struct replay *p, const struct object *o, const struct tree *t); /* none of `old` */
bool live_is_managed_node(const struct replay *p, const struct object *o, const struct tree *t);

/* ---- what is printed ---- */

void live_watch(struct replay *p);      /* from now on changes are printed as they come */
void live_print_rest(struct replay *p); /* at the end: writes, log lines, metrics */
