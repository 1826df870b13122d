/* affinity - node affinity, pod (anti-)affinity and spread constraints of a pod spec. Inner header of k8s/. */
#pragma once

#include "k8s/fragment.h"

bool dec_affinity(struct decoder *d, const struct tree *spec, lset_id labels, struct podspec *s, struct err *e);
bool dec_spreads(struct decoder *d, const struct tree *spec, struct podspec *s, struct err *e);
/* Terms with matchLabelKeys depend on the labels of the pod that carries them. */
bool affinity_uses_labels(const struct tree *affinity);
