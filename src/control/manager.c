/* A name that is ready gets a fiber, if its controller has a worker left. A run that ends starts the next one, on the stack that it leaves behind; otherwise one is started
 * when the last one has had its first turn. So a flood of names whose runs never park needs one stack and not a thousand. What a run allocates is in an arena of its own,
 * from a pool.
 */
#include "control/manager.h"

#include <stdlib.h>

#include "control/manager_metrics.h"
#include "control/workq.h"
#include "net/fiber.h"
#include "net/uuid.h"

#define MS 1000ll
#define SECOND (1000 * MS)
#define MAX_ARENAS 64u
#define ARENA_KEEP ((size_t)256 << 10) /* one that has grown beyond is not kept */

const struct limiter_spec limiter_default = {.base_us = 5 * MS, .max_us = 1000 * SECOND};
const struct limiter_spec limiter_reasonable = {.base_us = 100 * MS, .max_us = 60 * SECOND, .qps = 10, .burst = 100};
const struct limiter_spec limiter_singleton = {.base_us = 5 * MS, .max_us = 1000 * SECOND, .qps = 10, .burst = 100};

enum outcome { OUT_ERROR, OUT_REQUEUE, OUT_REQUEUE_AFTER, OUT_SUCCESS, N_OUTCOMES };

static const char *const outcomes[N_OUTCOMES] = {"error", "requeue", "requeue_after", "success"};

struct queue {
    struct manager *m;
    struct controller_spec spec;
    struct workq work;
    struct timer pump;                    /* starts the next run */
    uint32_t n_fresh;                     /* runs that have not had their first turn yet */
    struct series *waited, *ran, *worked; /* from the first run on */
    struct series *ended[N_OUTCOMES];
};

struct manager {
    struct world *w;
    struct log *log;
    struct manager_metrics metrics;
    VEC(struct queue *) queues;
    VEC(struct arena *) arenas;
    uint32_t n_runs;
    int64_t started_us; /* once it has */
    bool started, stopped, freed;
};

struct run {
    struct queue *q;
    struct workq_item *item;
    struct arena *arena;
    struct reconcile r;
};

struct result result_after_ms(int64_t ms)
{
    return (struct result){RESULT_AFTER, sat_mul(ms, MS)};
}

struct result result_requeue(void)
{
    return (struct result){RESULT_REQUEUE, 0};
}

struct result result_error(void)
{
    return (struct result){RESULT_ERROR, 0};
}

struct result result_min(struct result a, struct result b)
{
    static const enum result_kind order[] = {RESULT_ERROR, RESULT_REQUEUE};

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (a.kind == order[i] || b.kind == order[i])
            return a.kind == order[i] ? a : b;
    if (a.kind == RESULT_DONE || b.kind == RESULT_DONE)
        return a.kind == RESULT_DONE ? b : a;
    return a.after_us <= b.after_us ? a : b;
}

struct limiter_spec limiter_scaled(int64_t base_us, int64_t max_us, uint32_t qps, uint32_t per_workers,
                                   uint32_t workers)
{
    uint64_t all = ((uint64_t)workers * qps + per_workers - 1) / per_workers;

    return (struct limiter_spec){base_us, max_us, (double)all, (uint32_t)MIN(10 * all, UINT32_MAX)};
}

uint32_t workers_linear(uint32_t min, uint32_t max, int64_t cpu_milli)
{
    int64_t cores = MIN(60, (MAX(1, cpu_milli) + 999) / 1000);

    return min + (uint32_t)((int64_t)(max - min) * (cores - 1) / 59);
}

/* ---- metrics ---- */

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

static void busy_times(const struct queue *q, double *ret_sum, double *ret_longest)
{
    int64_t now_us = world_mono_us(q->m->w);

    *ret_sum = *ret_longest = 0;
    for (const struct workq_item *it = q->work.busy.first; it; it = it->next) {
        double s = seconds(now_us - it->since_us);

        *ret_sum += s;
        *ret_longest = MAX(*ret_longest, s);
    }
}

static void collect(void *ctx, const struct metric *f, struct sb *out)
{
    const struct manager *m = ctx;

    for (uint32_t i = 0; m->started && i < m->queues.n; i++) { /* what waits for us to lead is no backlog */
        const struct queue *q = m->queues.v[i];
        str name = str_c(q->spec.name);
        const str *vals = METRIC_VALS(name, name, STR("0")); /* families take as many as they have labels */
        double sum, longest;

        busy_times(q, &sum, &longest);
        if (f == m->metrics.max_concurrent)
            metric_emit(out, f, q->spec.workers, vals);
        else if (f == m->metrics.active_workers)
            metric_emit(out, f, q->work.busy.n, vals);
        else if (f == m->metrics.depth)
            metric_emit(out, f, q->work.ready.n, vals);
        else if (f == m->metrics.adds)
            metric_emit(out, f, (double)q->work.n_added, vals);
        else if (f == m->metrics.retries)
            metric_emit(out, f, (double)q->work.n_retried, vals);
        else
            metric_emit(out, f, f == m->metrics.unfinished ? sum : longest, vals);
    }
}

/* Series that are there from the start. */
static void count_zeros(struct queue *q)
{
    struct manager *m = q->m;
    str name = str_c(q->spec.name);

    for (size_t i = 0; i < N_OUTCOMES; i++)
        q->ended[i] = metric_series(m->metrics.reconcile_total, METRIC_VALS(name, str_c(outcomes[i])));
    metric_inc(m->metrics.reconcile_errors, 0, &name);
    metric_inc(m->metrics.reconcile_terminal_errors, 0, &name);
    metric_inc(m->metrics.reconcile_panics, 0, &name);
    metric_inc(m->metrics.reconcile_timeouts, 0, &name);
}

static void observe(struct metric *f, struct series **s, const struct queue *q, int64_t us, int64_t now_ms)
{
    if (!*s)
        *s = metric_series(f, METRIC_VALS(str_c(q->spec.name), str_c(q->spec.name)));
    series_observe(f, *s, seconds(us), now_ms);
}

/* ---- runs ---- */

static void pump(void *ctx);
static void start(struct queue *q);

static void manager_release(struct manager *m)
{
    for (uint32_t i = 0; i < m->queues.n; i++) {
        workq_fini(&m->queues.v[i]->work);
        free(m->queues.v[i]);
    }
    for (uint32_t i = 0; i < m->arenas.n; i++)
        arena_free(m->arenas.v[i]);
    vec_fini(&m->queues);
    vec_fini(&m->arenas);
    free(m);
}

static void arena_give_back(struct manager *m, struct arena *a)
{
    if (m->arenas.n >= MAX_ARENAS || arena_bytes(a) > ARENA_KEEP) {
        arena_free(a);
        return;
    }
    arena_reset(a);
    vec_push(&m->arenas, a);
}

static struct log *run_log(const struct run *run)
{
    const struct controller_spec *s = &run->q->spec;
    str ns = run->r.ns, name = run->r.name, id = uuid_new(run->arena, run->q->m->w);
    struct log_field f[7];
    uint32_t n = 0;

    f[n++] = LOG_STR("controller", str_c(s->name));
    if (s->kind) {
        f[n++] = LOG_STR("controllerGroup", str_c(s->group));
        f[n++] = LOG_STR("controllerKind", str_c(s->kind));
        f[n++] = LOG_OBJ(s->kind, ns, name);
    }
    f[n++] = LOG_STR("namespace", ns);
    f[n++] = LOG_STR("name", name);
    f[n++] = LOG_STR("reconcileID", id);
    return log_with(run->arena, run->q->m->log, f, n);
}

/* What the result means for the name, and how it is counted. */
static enum outcome settle(struct run *run, struct result res)
{
    struct workq *work = &run->q->work;

    switch (res.kind) {
    case RESULT_DONE:
        workq_forget(work, run->item);
        return OUT_SUCCESS;
    case RESULT_REQUEUE:
        workq_again_limited(work, run->item);
        return OUT_REQUEUE;
    case RESULT_AFTER:
        workq_again_after(work, run->item, res.after_us);
        return OUT_REQUEUE_AFTER;
    case RESULT_ERROR:
        break;
    }
    log_write(run->r.log, LOG_ERROR, "Reconciler error", &run->r.err, run->r.err_fields, run->r.n_err_fields);
    metric_inc(run->q->m->metrics.reconcile_errors, 1, METRIC_VALS(str_c(run->q->spec.name)));
    workq_again_limited(work, run->item);
    return OUT_ERROR;
}

static void reconcile(struct run *run)
{
    struct queue *q = run->q;
    struct manager *m = q->m;
    struct manager_metrics *mm = &m->metrics;
    int64_t start_us = world_mono_us(m->w), now_ms = world_now_ms(m->w);
    struct result res;

    if (world_dead(m->w) || m->freed)
        return;
    observe(mm->queue_duration, &q->waited, q, start_us - MAX(run->item->since_us, m->started_us), now_ms);
    run->item->since_us = start_us;
    run->r.log = run_log(run);
    res = q->spec.fn(&run->r);
    if (world_dead(m->w) || m->freed)
        return; /* what it says is only that everything fails */
    int64_t took_us = world_mono_us(m->w) - start_us;
    enum outcome outcome = settle(run, res);
    observe(mm->reconcile_time, &q->ran, q, took_us, now_ms);
    observe(mm->work_duration, &q->worked, q, took_us, now_ms);
    series_inc(q->ended[outcome], 1);
}

static void run_main(void *arg)
{
    struct run *run = arg;
    struct queue *q = run->q;
    struct manager *m = q->m;

    q->n_fresh--;
    pump(q);
    reconcile(run);
    workq_done(&q->work, run->item);
    arena_give_back(m, run->arena); /* and with it the run */
    m->n_runs--;
    if (m->freed && m->n_runs == 0)
        manager_release(m);
    else if (!world_dead(m->w))
        start(q);
}

static bool may_start(const struct queue *q)
{
    return q->m->started && !q->m->stopped && q->work.ready.n > 0 && q->work.busy.n < q->spec.workers;
}

/* Something may have become possible: the next run is started when control is back in the loop. */
static void pump(void *ctx)
{
    struct queue *q = ctx;

    if (may_start(q) && q->n_fresh == 0 && !timer_is_set(&q->pump) && !world_dead(q->m->w))
        timer_set(q->m->w, &q->pump, 0);
}

static void pumped(void *ctx)
{
    struct queue *q = ctx;

    if (q->n_fresh == 0) /* else its first turn comes here again */
        start(q);
}

static void start(struct queue *q)
{
    struct manager *m = q->m;

    if (!may_start(q))
        return;
    struct arena *a = m->arenas.n ? m->arenas.v[--m->arenas.n] : arena_new(0);
    struct run *run = arena_new_one(a, struct run);

    run->q = q;
    run->arena = a;
    run->item = workq_take(&q->work);
    run->r.ctx = q->spec.ctx;
    run->r.ns = workq_ns(run->item);
    run->r.name = workq_name(run->item);
    run->r.arena = a;
    m->n_runs++;
    q->n_fresh++;
    fiber_go(m->w, q->spec.name, run_main, run);
}

/* ---- the manager ---- */

struct manager *manager_new(struct world *w, struct log *l, struct metrics *metrics)
{
    struct manager *m = xcalloc(1, sizeof(*m));

    m->w = w;
    m->log = l;
    manager_metrics_add(&m->metrics, metrics, collect, m);
    return m;
}

void manager_free(struct manager *m)
{
    if (!m)
        return;
    m->stopped = m->freed = true;
    for (uint32_t i = 0; i < m->queues.n; i++) {
        timer_stop(m->w, &m->queues.v[i]->pump);
        timer_stop(m->w, &m->queues.v[i]->work.alarm);
    }
    if (m->n_runs == 0)
        manager_release(m);
}

struct queue *manager_add(struct manager *m, const struct controller_spec *s)
{
    struct queue *q = xcalloc(1, sizeof(*q));

    assert(s->workers > 0 && s->fn && (!s->kind || s->group));
    q->m = m;
    q->spec = *s;
    q->pump = (struct timer){.fn = pumped, .ctx = q};
    workq_init(&q->work, m->w, &s->limit, pump, q);
    vec_push(&m->queues, q);
    count_zeros(q);
    return q;
}

void manager_start(struct manager *m)
{
    m->started = true;
    m->started_us = world_mono_us(m->w);
    for (uint32_t i = 0; i < m->queues.n; i++) {
        struct queue *q = m->queues.v[i];

        if (!q->spec.kind && !q->spec.in_memory)
            queue_add(q, STR(""), STR(""));
        pump(q);
    }
}

void manager_stop(struct manager *m)
{
    m->stopped = true;
}

bool manager_idle(const struct manager *m)
{
    for (uint32_t i = 0; i < m->queues.n && !m->stopped; i++)
        if (m->queues.v[i]->work.ready.n > 0)
            return false;
    return m->n_runs == 0;
}

void queue_add(struct queue *q, str ns, str name)
{
    workq_add(&q->work, ns, name);
}

void queue_add_after(struct queue *q, str ns, str name, int64_t us)
{
    workq_add_after(&q->work, ns, name, us);
}

uint32_t queue_depth(const struct queue *q)
{
    return q->work.ready.n;
}
