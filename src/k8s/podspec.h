/* podspec - pod specs, each different one decoded once. Inner header of k8s/. */
#pragma once

#include "k8s/requests.h"

bool dec_podspec(struct decoder *d, const struct pod_source *p, lset_id labels, struct podspec **ret, struct err *e);
/* Names another scheduler than the default one. */
bool dec_scheduler(struct decoder *d, const struct tree *spec, bool *ret_foreign, struct err *e);
