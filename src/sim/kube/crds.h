/* crds - the product's own custom resource definitions (deploy/crds), for the embedded Kubernetes. */
#pragma once

#include "base/err.h"

struct kube;

bool kube_load_crds(struct kube *k, struct err *e);
