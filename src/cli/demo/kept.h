/* kept - a cluster out of the file that it was kept in. */
#pragma once

#include "base/err.h"

struct cluster;
struct kube;

/* All objects come back, and machines that were booted get their kubelets again. Machines of AWS do not: the account is a new one, so their Nodes and NodeClaims are left out, and the pods on them
 * find others. */
bool kept_restore(struct kube *k, struct cluster *c, const char *path, struct err *e);
