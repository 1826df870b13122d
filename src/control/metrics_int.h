/* metrics_int - what metrics.c and metrics_status.c share. */
#pragma once

#include "control/metrics.h"

#define METRICS_DURATION_BUCKETS 45
#define METRICS_DEFAULT_BUCKETS 11
extern const double metrics_duration_buckets[METRICS_DURATION_BUCKETS];
extern const double metrics_default_buckets[METRICS_DEFAULT_BUCKETS];

void status_metrics_add(struct control_metrics *c, struct metrics *m, const struct control_metrics_options *o);
