/* bad_day - what can go wrong between an API server and those who watch it, and somebody who writes all the while: for tests of watchers.
 *
 * The numbers are the ones that make a run of minutes see all of it. Who needs longer quiet takes a copy and lowers some.
 */
#pragma once

#include "base/rng.h"
#include "support/kube_bench.h"

extern const struct kube_options bad_day_server; /* its window is short: watches fall behind it */
extern const struct kube_faults bad_day;
extern const struct sim_faults bad_day_net;

struct bad_day_write {
    const struct kind *kind;
    str ns, name;
    const char *body; /* YAML: what a new one has beside its name */
    bool labels;      /* what changes is a label; otherwise an entry of `data` */
    uint32_t deaths;  /* of those that are there one in so many goes */
};

/* Creates, changes or deletes, from inside the server; whether it was done. */
bool bad_day_write(struct kube_bench *b, struct rng *rng, const struct bad_day_write *w);
