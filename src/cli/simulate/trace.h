/* trace - what happens in a simulation, and when: workloads that are scaled, follow the day, run and end, come and go (docs/simulate.md has the format).
 *
 * A trace is read once and not changed afterwards; it lives in the caller's arena. Whether what it names exists is for whoever plays it to find out.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "data/tree.h"
#include "model/cron.h"

#define TRACE_START_MS INT64_C(1767571200000) /* a Monday: 2026-01-05T00:00:00Z */
#define TRACE_EVENTS_MAX 10000
#define TRACE_REPLICAS_MAX 1000000
#define TRACE_MANIFESTS_MAX 1000 /* in one apply */

enum trace_what { TRACE_SCALE, TRACE_CURVE, TRACE_RUN, TRACE_APPLY, TRACE_DELETE, TRACE_WHATS };

struct trace_when {
    enum { TRACE_ONCE, TRACE_DAILY, TRACE_CRON } how;
    int64_t us;       /* since the beginning; of the day */
    struct cron cron; /* in UTC */
};

struct trace_ref { /* an object; kind as it is written */
    str kind, ns, name;
};

struct trace_range { /* "30m", "20m..40m": drawn evenly */
    int64_t from, to;
};

struct trace_curve {
    int64_t min, max; /* replicas */
    int64_t peak_us;  /* of the day */
    double jitter;    /* share of the value, up and down */
    double weekend;   /* factor on Saturdays and Sundays */
    int64_t every_us;
};

struct trace_job {
    str name, ns;
    struct trace_range pods;
    struct trace_range run_us;
    str cpu, memory;             /* requests of each pod; empty: none */
    const struct tree *template; /* of its pods, instead of these two; NULL: made of them */
};

struct trace_event {
    enum trace_what what;
    uint32_t line;
    struct trace_when when;
    int64_t until_us;            /* INT64_MAX: for ever. Of what happens more than once */
    struct trace_ref target;     /* scale, curve, delete */
    struct trace_range replicas; /* scale */
    struct trace_curve curve;
    struct trace_job job;
    const struct tree *const *manifests; /* apply */
    uint32_t n_manifests;
};

struct trace {
    const char *file;
    int64_t start_ms;
    const struct trace_event *events;
    uint32_t n;
};

/* Manifests that an event names by file are read from there, beside `dir`. NULL: any file is refused. */
bool trace_read(struct trace *t, struct arena *a, const char *name, str bytes, const char *dir, struct err *e);
bool trace_load(struct trace *t, struct arena *a, const char *path, struct err *e);

/* When it happens for the first time after `after_us` (-1: at the beginning or later); false: never again. */
bool trace_next(const struct trace *t, const struct trace_event *v, int64_t after_us, int64_t *ret_us);
int64_t trace_curve_at(const struct trace *t, const struct trace_curve *c, int64_t us, struct rng *rng);
int64_t trace_draw(const struct trace_range *r, struct rng *rng);

/* "30d", "1w2d", "2h30m", "0": Go's durations with days and weeks before them. Not negative. */
bool trace_duration(str s, int64_t *ret_us);
