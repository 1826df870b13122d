/* metrics - counters, gauges, histograms and summaries, and their text for Prometheus.
 *
 * Families are made once, at start; a series exists from its first use on. Values of labels are passed in the order in which the family names them. What can be
 * told from the state of the program at the moment it is asked (one series per pod or node) is not kept at all: a collector writes it into the answer.
 */
#pragma once

#include "base/sb.h"

struct metrics;
struct metric; /* one family */

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
AUTO_DEFINE(metrics)

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_SUMMARY };

struct metric_spec {
    const char *name, *help;
    enum metric_kind kind;
    const char *const *labels; /* NULL-terminated; NULL: none */
    const double *buckets;     /* histograms: ascending, without +Inf */
    uint32_t n_buckets;
};

/* A name that is taken is a broken promise. The spec and what it points to live as long as the registry. */
struct metric *metrics_add(struct metrics *m, const struct metric_spec *s);
/* A second name for the same series (architecture: names that older dashboards use). */
void metrics_alias(struct metrics *m, const char *alias, const char *name);

/* vals: one str for each label; NULL without labels. */
void metric_inc(struct metric *f, double by, const str *vals); /* counters, gauges */
void metric_set(struct metric *f, double v, const str *vals);  /* gauges */
void metric_observe(struct metric *f, double v, const str *vals,
                    int64_t now_ms); /* histograms, summaries (which forget after 10 min) */
void metric_drop(struct metric *f, const str *vals);
/* Every series whose label number `at` has this value. */
void metric_drop_where(struct metric *f, uint32_t at, str val);
double metric_value(
    const struct metric *f,
    const str *vals); /* of a counter or gauge, the count of the others; 0 when there is none. For tests */

/* Called while the text is made, in the order of registration; it writes series of its families with metric_emit(). */
typedef void (*metric_collect_fn)(void *ctx, struct sb *out);
void metrics_collector(struct metrics *m, struct metric *const *families, uint32_t n, metric_collect_fn fn, void *ctx);
void metric_emit(struct sb *out, const struct metric *f, double v, const str *vals);

/* Families by name, series in the order of their labels' values. */
void metrics_text(struct metrics *m, struct sb *out);

#define METRIC_VALS(...) ((const str[]){__VA_ARGS__})
