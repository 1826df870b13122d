/* manager - runs controllers: queues of names, workers, back-off (lifecycle 0.2, 9.8).
 *
 * A controller is a function from a name to a result. A name that is asked for while it waits is asked for once; one that is asked for while it is worked on is
 * worked on again afterwards; no name is worked on twice at a time. Workers are fibers, so that a reconcile reads top to bottom and may call the API. A singleton has one name, "".
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "net/world.h"
#include "obs/log.h"
#include "obs/metrics.h"

enum result_kind {
    RESULT_DONE,    /* until the next event */
    RESULT_REQUEUE, /* again, after a back-off that grows */
    RESULT_AFTER,   /* again after a while; the back-off starts anew */
    RESULT_ERROR,   /* logged as "Reconciler error", counted, then as REQUEUE */
};

struct result {
    enum result_kind kind;
    int64_t after_us;
};

#define RESULT_OK ((struct result){RESULT_DONE, 0})
struct result result_after_ms(int64_t ms);
struct result result_requeue(void);
struct result result_error(void);                           /* the err of the reconcile says what */
struct result result_min(struct result a, struct result b); /* lifecycle 0.2; an error wins */

struct limiter_spec {
    int64_t base_us, max_us; /* of a name's back-off, doubled each time */
    double qps;              /* of all names together; 0: no limit */
    uint32_t burst;
};

extern const struct limiter_spec limiter_default;    /* 5 ms to 1000 s */
extern const struct limiter_spec limiter_reasonable; /* 100 ms to 1 min, 10 a second, burst 100 */
extern const struct limiter_spec limiter_singleton;  /* 5 ms to 1000 s, 10 a second, burst 100 */
/* bucket(qps, per_workers, workers) of lifecycle 1.6, with this back-off. */
struct limiter_spec limiter_scaled(int64_t base_us, int64_t max_us, uint32_t qps, uint32_t per_workers,
                                   uint32_t workers);

/* One run of a controller. Lives until it returns. */
struct reconcile {
    void *ctx; /* the controller's own */
    str ns, name;
    struct arena *arena;
    struct log *log; /* with controller, kind, name and reconcileID */
    struct err err;
    /* What the line about the error says besides (lifecycle 9.5: keys of the error). Must live as long as the run. */
    const struct log_field *err_fields;
    uint32_t n_err_fields;
};

typedef struct result (*reconcile_fn)(struct reconcile *r);

struct controller_spec {
    const char *name;         /* "nodeclaim.lifecycle" */
    const char *group, *kind; /* of the objects it is about, for logs; kind NULL: a singleton */
    bool in_memory;           /* no kind and yet no singleton: names come from a queue in memory */
    uint32_t workers;
    struct limiter_spec limit;
    reconcile_fn fn;
    void *ctx;
};

struct manager;
struct queue; /* of one controller */

struct manager *manager_new(struct world *w, struct log *l, struct metrics *m);
/* Nothing is started any more. It goes when the last run has come to its end: at once, or while the world unwinds; until then runs use what they were given. Outcomes are no
 * longer logged or counted. metrics_text() must not be called any more, as the queues are asked for their depth there. */
void manager_free(struct manager *m);
AUTO_DEFINE(manager)

struct queue *manager_add(struct manager *m, const struct controller_spec *s);
/* Names that were asked for before are worked on from here on; singletons run. */
void manager_start(struct manager *m);
void manager_stop(struct manager *m); /* no new work; what is under way ends by itself */
/* Nothing under way and nothing that could be started now; delayed names do not count. For shutdown and tests. */
bool manager_idle(const struct manager *m);

void queue_add(struct queue *q, str ns, str name);
void queue_add_after(struct queue *q, str ns, str name, int64_t us);
uint32_t queue_depth(const struct queue *q);

/* lin(a, b) of lifecycle 1.6 for the given cpu requests in millicores. */
uint32_t workers_linear(uint32_t min, uint32_t max, int64_t cpu_milli);
