/* live - what a live cluster has, read through a kubeconfig with the client that the controller uses. Nothing is written. */
#pragma once

#include "cli/simulate/manifests.h"

/* NULL: where the controller looks for them, too. */
bool live_read(struct manifests *m, const char *kubeconfig, const char *context, struct err *e);
