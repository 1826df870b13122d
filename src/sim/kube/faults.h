/* faults - an API server that misbehaves on request: an http_serve_fn around kube_serve().
 *
 * Everything it does a real server does too on a bad day, and nothing it does breaks a promise that a real server keeps: what was
 * written stays written, and a watch never leaves out an event without breaking or saying 410. Chances are per 65,536 and drawn from
 * a seed, in the order in which requests come: the same requests meet the same faults.
 */
#pragma once

#include "base/rng.h"
#include "sim/kube/kube.h"

struct kube_faults {
    uint32_t conflict;        /* a write is refused with 409 */
    uint32_t gone;            /* a list gets 410; a watch gets it as an event */
    uint32_t throttle;        /* 429, Retry-After: 1 */
    uint32_t error;           /* 500 or 503, and nothing is done */
    uint32_t lose_reply;      /* a write is done, then the connection breaks */
    uint32_t delay;           /* a request waits … */
    int64_t delay_us[2];      /* … this long, from … to */
    uint32_t duplicate;       /* an event of a watch is sent twice */
    uint32_t drop_watch;      /* a watch breaks … */
    int64_t drop_after_us[2]; /* … after so long */
    uint32_t restart; /* a request finds the server dying: all connections break, the watch window is forgotten … */
    int64_t restart_us[2]; /* … and for so long nobody answers */
};

struct faults;

/* seed 0: drawn from the world. */
struct faults *faults_new(struct kube *k, const struct kube_faults *what, uint64_t seed);
void faults_free(struct faults *f); /* after the last exchange, or with the kube still there */
void faults_set(struct faults *f, const struct kube_faults *what);
void faults_serve(void *faults, struct exchange *x); /* an http_serve_fn */
void faults_restart(struct faults *f, int64_t down_us);
uint64_t faults_count(const struct faults *f); /* how many there were */
