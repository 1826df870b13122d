#include "control/manager_metrics.h"

static const char *const by_controller[] = {"controller", NULL};
static const char *const by_result[] = {"controller", "result", NULL};
static const char *const by_queue[] = {"name", "controller", NULL};
static const char *const by_priority[] = {"name", "controller", "priority", NULL};

static const double reconcile_buckets[] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1,  1.25, 1.5,
    1.75,  2,    2.5,   3,    3.5, 4,    4.5, 5,    6,   7,    8,   9,    10,  15,  20,  25,  30,  40, 50,   60};
/* Powers of ten as repeated multiplication gives them: the bounds that are recorded of Karpenter. */
static const double queue_buckets[] = {
    1e-08, 1e-07, 1e-06, 9.999999999999999e-06, 9.999999999999999e-05, 0.001, 0.01, 0.1, 1, 10, 100, 1000};

#define AT(field) offsetof(struct manager_metrics, field)
#define BUCKETS(b) .buckets = (b), .n_buckets = ARRAY_LEN(b)

static const struct {
    size_t at;
    struct metric_spec spec;
} table[] = {
    {AT(reconcile_total),
     {.name = "controller_runtime_reconcile_total",
      .help = "Runs of a controller, by how they ended: success, error, requeue, requeue_after.",
      .kind = METRIC_COUNTER,
      .labels = by_result}},
    {AT(reconcile_errors),
     {.name = "controller_runtime_reconcile_errors_total",
      .help = "Runs of a controller that failed.",
      .kind = METRIC_COUNTER,
      .labels = by_controller}},
    {AT(reconcile_terminal_errors),
     {.name = "controller_runtime_terminal_reconcile_errors_total",
      .help = "Runs of a controller that failed for good. Always 0: every failure is tried again.",
      .kind = METRIC_COUNTER,
      .labels = by_controller}},
    {AT(reconcile_panics),
     {.name = "controller_runtime_reconcile_panics_total",
      .help = "Runs of a controller that crashed. Always 0: a broken assertion ends the process.",
      .kind = METRIC_COUNTER,
      .labels = by_controller}},
    {AT(reconcile_timeouts),
     {.name = "controller_runtime_reconcile_timeouts_total",
      .help = "Runs of a controller that were cut off. Always 0: calls have deadlines, runs have none.",
      .kind = METRIC_COUNTER,
      .labels = by_controller}},
    {AT(reconcile_time),
     {.name = "controller_runtime_reconcile_time_seconds",
      .help = "How long a run of a controller took.",
      .kind = METRIC_HISTOGRAM,
      .labels = by_controller,
      BUCKETS(reconcile_buckets)}},
    {AT(queue_duration),
     {.name = "workqueue_queue_duration_seconds",
      .help = "How long a name was ready before a worker took it.",
      .kind = METRIC_HISTOGRAM,
      .labels = by_queue,
      BUCKETS(queue_buckets)}},
    {AT(work_duration),
     {.name = "workqueue_work_duration_seconds",
      .help = "How long a worker had a name.",
      .kind = METRIC_HISTOGRAM,
      .labels = by_queue,
      BUCKETS(queue_buckets)}},
    {AT(max_concurrent),
     {.name = "controller_runtime_max_concurrent_reconciles",
      .help = "How many runs of a controller there may be at a time.",
      .kind = METRIC_GAUGE,
      .labels = by_controller}},
    {AT(active_workers),
     {.name = "controller_runtime_active_workers",
      .help = "How many runs of a controller there are now.",
      .kind = METRIC_GAUGE,
      .labels = by_controller}},
    {AT(depth),
     {.name = "workqueue_depth",
      .help = "Names that are ready and wait for a worker.",
      .kind = METRIC_GAUGE,
      .labels = by_priority}},
    {AT(adds),
     {.name = "workqueue_adds_total",
      .help = "How often a name became ready.",
      .kind = METRIC_COUNTER,
      .labels = by_queue}},
    {AT(retries),
     {.name = "workqueue_retries_total",
      .help = "How often a name was put back with a back-off.",
      .kind = METRIC_COUNTER,
      .labels = by_queue}},
    {AT(unfinished),
     {.name = "workqueue_unfinished_work_seconds",
      .help = "How long the names that are worked on have been so, added up.",
      .kind = METRIC_GAUGE,
      .labels = by_queue}},
    {AT(longest_running),
     {.name = "workqueue_longest_running_processor_seconds",
      .help = "How long the name that is worked on for longest has been so.",
      .kind = METRIC_GAUGE,
      .labels = by_queue}},
};

void manager_metrics_add(struct manager_metrics *mm, struct metrics *m, metric_collect_fn collect, void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct metric *f = metrics_add(m, &table[i].spec);

        memcpy((char *)mm + table[i].at, &f, sizeof(struct metric *));
        if (table[i].at >= AT(max_concurrent))
            metrics_collector(&f, 1, collect, ctx);
    }
}
