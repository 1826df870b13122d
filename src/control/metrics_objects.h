/* metrics_objects - what there is: series for every Node, pod and NodePool (lifecycle 10.2, 10.3).
 *
 * Nothing of it is kept: collectors read it out of the store when somebody asks. What is counted as it happens is how long pods took to be bound and to start.
 */
#pragma once

#include "control/control.h"
#include "control/podbook.h"

struct object_metrics;

/* Outlives the store's last change, and the last scrape. book: since when pods have had an answer; NULL: nobody plans. */
struct object_metrics *object_metrics_new(struct control *c, const struct podbook *book);
void object_metrics_free(struct object_metrics *m);
AUTO_DEFINE(object_metrics)
