/* What the collectors of metrics_objects.h share. */
#pragma once

#include "base/htab.h"
#include "control/metrics.h"
#include "control/metrics_objects.h"

struct object_metrics {
    struct control *c;
    const struct podbook *book; /* NULL */
    struct arena *tmp;
    sym *node_keys;      /* symbols of metrics->node_keys */
    struct htab started; /* pods that were seen waiting and are not ready yet, by uid */
};

void node_metrics_register(struct object_metrics *m);
void pod_metrics_register(struct object_metrics *m);
void nodepool_metrics_register(struct object_metrics *m);
void pod_metrics_forget(struct object_metrics *m);

/* A quantity as metrics have it: cpu in cores, all else whole. */
double metric_amount(sym resource, int64_t v);
/* "ephemeral-storage" -> "ephemeral_storage" */
str metric_resource(struct object_metrics *m, sym resource);
str metric_label(const struct object_metrics *m, lset_id labels, sym key); /* "" when absent */
