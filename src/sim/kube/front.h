/* front - the HTTP side of the API server: from a request to calls of the store (store.h), and from its answers to bytes.
 *
 * A front belongs to one kube, which makes it in kube_new() and frees it in kube_free(). kube_serve() is front_serve() without
 * faults.
 */
#pragma once

#include "base/rng.h"
#include "sim/kube/kube.h"

struct front;

struct front *front_new(struct kube *k);
void front_free(struct front *f); /* breaks the watches that are open */

/* What shall go wrong with one exchange; see faults.h. */
struct front_fault {
    bool lose_reply;       /* do what is asked, then break the connection */
    bool gone;             /* a watch is told 410 */
    uint32_t duplicate;    /* chance per 65,536 that a watch event is sent twice */
    int64_t drop_after_us; /* a watch breaks after so long; 0: it does not */
    struct rng *rng;       /* for `duplicate`; outlives the exchange */
};

/* Answers with this Status, as any other refusal. */
void front_refuse(struct kube *k, struct exchange *x, const struct status *st);
void front_serve(struct kube *k, struct exchange *x, const struct front_fault *fault); /* NULL: nothing goes wrong */
