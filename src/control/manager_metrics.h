/* manager_metrics - what is counted about controllers and their queues (lifecycle 10.5). Names are those of the framework that Karpenter is built on. */
#pragma once

#include "obs/metrics.h"

struct manager_metrics {
    struct metric *reconcile_total, *reconcile_errors, *reconcile_terminal_errors, *reconcile_panics,
        *reconcile_timeouts, *reconcile_time;
    struct metric *queue_duration, *work_duration;
    /* Told from the queues when somebody asks. */
    struct metric *max_concurrent, *active_workers, *depth, *adds, *retries, *unfinished, *longest_running;
};

/* The collector writes max_concurrent … longest_running. */
void manager_metrics_add(struct manager_metrics *mm, struct metrics *m, metric_collect_fn collect, void *ctx);
