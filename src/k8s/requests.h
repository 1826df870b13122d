/* requests - what one pod asks for, all of its containers taken together (scheduling 5.1). Inner header of k8s/. */
#pragma once

#include "k8s/fragment.h"

struct pod_source {
    const struct tree *spec;
    const struct tree *status; /* NULL: a template, or a pod that nobody runs */
    bool fill_in;              /* no API server has seen it: a missing request beside a limit is the limit */
};

/* The result lives with the objects. */
bool dec_requests(struct decoder *d, const struct pod_source *p, struct reslist *ret, struct err *e);
/* The same sums over limits. */
bool dec_limits(struct decoder *d, const struct tree *spec, struct reslist *ret, struct err *e);
