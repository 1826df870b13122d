/* podspec - pod specs, each different one decoded once. Inner header of k8s/. */
#pragma once

#include "k8s/requests.h"

bool dec_podspec(struct decoder *d, const struct pod_source *p, lset_id labels, struct podspec **ret, struct err *e);
/* Names another scheduler than the default one. */
bool dec_scheduler(struct decoder *d, const struct tree *spec, bool *ret_foreign, struct err *e);
bool dec_priority(struct decoder *d, const struct tree *spec, int32_t *ret, struct err *e);
/* Annotation controller.kubernetes.io/pod-deletion-cost. One that is no number is noted for `kind` ns/name and left out. */
double dec_deletion_cost(struct decoder *d, const struct tree *annotations, const char *kind, const struct meta *m);
