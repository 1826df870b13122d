/* metrics_int - what metrics.c and metrics_text.c share. */
#pragma once

#include "base/htab.h"
#include "base/vec.h"
#include "obs/metrics.h"
#include "obs/quantiles.h"

#define LABEL_END '\1' /* after each value in a key; below every character of a value, so that keys sort as values do */

/* Kinds differ in what follows; a series is one block. */
struct series {
    struct htab_node node; /* key: the values, by label name, each with LABEL_END */
    double value;          /* counter, gauge; sum of the others */
    uint64_t n;            /* observations */
    struct windows *windows;
    uint64_t buckets[]; /* of histograms: not cumulated; the last is +Inf */
};

struct metric {
    const struct metric_spec *spec;
    uint32_t n_labels;
    uint8_t order[METRIC_LABELS]; /* order[i]: number of the label that comes i-th by name */
    struct htab series;
    const struct metric *of;   /* alias */
    metric_collect_fn collect; /* at most one of them */
    metric_collect_one_fn collect_one;
    void *ctx;
};

struct metrics {
    VEC(struct metric *) families; /* by name */
};
