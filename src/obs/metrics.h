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

#define METRIC_LABELS 64 /* that a family may have at most */

struct metric_spec {
    const char *name, *help;
    enum metric_kind kind;
    const char *const *labels; /* NULL-terminated; NULL: none */
    const double *buckets;     /* histograms: ascending, without +Inf */
    uint32_t n_buckets;
};

/* A name that is taken is a broken promise. The spec and what it points to live as long as the registry. */
struct metric *metrics_add(struct metrics *m, const struct metric_spec *s);
/* A second name, for dashboards that know no other (docs/metrics.md). Of a counter or gauge with labels it shows the sum, in one series without labels that is there
 * from the start: so such names can be subtracted from each other. Anything else must have no labels, and is shown as it is. */
void metrics_alias(struct metrics *m, const struct metric_spec *alias, const struct metric *of);

/* vals: one str for each label; NULL without labels. */
void metric_inc(struct metric *f, double by, const str *vals); /* counters, gauges; by 0: from now on it is there */
void metric_set(struct metric *f, double v, const str *vals);  /* gauges */
void metric_observe(struct metric *f, double v, const str *vals,
                    int64_t now_ms); /* histograms, summaries (whose quantiles forget after 10 min) */
/* What is counted all the time is looked up once: the series, from now on there, of a family none of whose series are dropped. */
struct series;
struct series *metric_series(struct metric *f, const str *vals);
void series_inc(struct series *s, double by);                                      /* of a counter or gauge */
void series_observe(struct metric *f, struct series *s, double v, int64_t now_ms); /* of a histogram or summary */
void metric_drop(struct metric *f, const str *vals);
/* Every series whose label number `at` has this value. Looks at them all. */
void metric_drop_where(struct metric *f, uint32_t at, str val);
double metric_value(
    const struct metric *f,
    const str *vals); /* of a counter or gauge, the count of the others; 0 when there is none. For tests */
uint32_t metric_count(const struct metric *f); /* series */

/* Called while the text is made, once for each family that it was registered for; it writes that one's series with metric_emit(), in an order that does not change by itself. */
typedef void (*metric_collect_fn)(void *ctx, const struct metric *f, struct sb *out);
void metrics_collector(struct metric *const *families, uint32_t n, metric_collect_fn fn, void *ctx);
/* For families that are large: writes the series of the thing number i, if there are any; false: nothing has this number or a higher one. The text may be made in
 * parts, between which things come and go: numbers of those that stay do not change. */
typedef bool (*metric_collect_one_fn)(void *ctx, const struct metric *f, uint32_t i, struct sb *out);
void metrics_collector_by_one(struct metric *const *families, uint32_t n, metric_collect_one_fn fn, void *ctx);
void metric_emit(struct sb *out, const struct metric *f, double v, const str *vals);

/* Text format 0.0.4. Families by name, labels by name, series in the order of their labels' values. A family without series is left out. */
void metrics_text(struct metrics *m, int64_t now_ms, struct sb *out);
/* The same in parts of some METRICS_PART bytes, so that nobody has to hold the text of a large cluster: appends the next part, false when it was the last. Families that
 * are not collected one by one are never parted. */
#define METRICS_PART 32768u
struct metrics_place { /* zeroed at first */
    uint32_t family;   /* the next, or the one that is parted */
    uint32_t thing;    /* the next of its things */
    bool parted;
};
bool metrics_text_part(struct metrics *m, struct metrics_place *at, int64_t now_ms, struct sb *out);

/* What is registered, by name: for the reference. `of`: what the alias stands for, or NULL. */
typedef void (*metric_visit_fn)(void *ctx, const struct metric_spec *s, const struct metric_spec *of);
void metrics_each(const struct metrics *m, metric_visit_fn fn, void *ctx);

#define METRIC_VALS(...) ((const str[]){__VA_ARGS__})
