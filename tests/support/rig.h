/* rig - the whole controller against the embedded cluster, in virtual time: what a real cluster with kwok would do, in milliseconds.
 *
 * The cluster is a lab (lab.h) with our custom resource definitions and the Node `system` that nobody manages. Replicas of the controller are processes of their own, which can be
 * stopped, killed and started again. Every request of a replica that changes something is written down.
 */
#pragma once

#include "support/lab.h"
#include "support/replica.h"

#define RIG_REPLICAS 3

struct rig_write { /* of a replica */
    double t;      /* seconds since the rig was made */
    uint32_t replica;
    str method, path, type, body; /* type: of the body, as the header says */
    bool changed;                 /* something came of it */
    int status;                   /* of the answer; 0: there was none yet */
};

struct rig;

struct rig_door { /* every replica has its own way to the server, so that it is known who calls */
    struct rig *r;
    uint32_t i;
};

struct rig {
    struct lab *l;
    struct rig_door doors[RIG_REPLICAS];
    char names[RIG_REPLICAS][32]; /* identities of the replicas started last */
    struct replica *replicas[RIG_REPLICAS];
    struct world *worlds[RIG_REPLICAS];
    struct sb logs[RIG_REPLICAS];
    uint32_t n_started; /* ever: makes identities */
    int64_t began_us;
    VEC(struct rig_write) writes;
    bool forgetful;       /* writes are not kept: for long runs */
    http_serve_fn server; /* behind the doors; kube_serve() unless a test puts something before it */
    void *server_ctx;
    /* Around every request of a replica, when the server has it in hands; each may be NULL. before() false: the connection breaks instead. */
    void *watch_ctx;
    bool (*before)(void *ctx, uint32_t replica, const struct exchange *x);
    void (*after)(void *ctx, uint32_t replica);
    const char *const *env;
    struct replica_files files; /* for replicas that are started from now on; sky.h sets it */
};

/* `env`: settings of the controllers, name, value, …, NULL. `o` NULL: a lab's usual cluster. */
struct rig *rig_new(uint64_t seed, const char *const *env, const struct cluster_options *o);
void rig_free(struct rig *r);

void rig_start(struct rig *r, uint32_t i);
void rig_stop(struct rig *r, uint32_t i); /* SIGTERM; runs until it has ended */
void rig_kill(struct rig *r, uint32_t i); /* kill -9 */
/* As rig_kill(), from inside before() or after(): the process is dead at once, rig_kill() is still to be called. */
void rig_strike(struct rig *r, uint32_t i);
void rig_net_faults(struct rig *r, const struct sim_faults *f); /* between all replicas and the server */
double rig_now(const struct rig *r);
/* Runs until the condition holds, in steps of 50 ms; false: it did not within so many seconds. */
bool rig_until(struct rig *r, double seconds, bool (*holds)(struct rig *r, const void *arg), const void *arg);
/* Until the replica leads and knows the cluster; the test fails when it does not in that time. */
void rig_await_lead(struct rig *r, uint32_t i, double seconds);
