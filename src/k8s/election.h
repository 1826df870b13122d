/* election - one leader among replicas, by a Lease (lifecycle 9.2).
 *
 * Lease 15 s, renewed every 2 s, given up 10 s after the last renewal that succeeded was sent; others try every 2 s and some. The clock
 * of the other is never believed: a lease has run out when it did not change for its duration on our own steady clock.
 *
 * It has an api of its own, so that no rate limit of others costs the lease, with a timeout of 5 s.
 */
#pragma once

#include "k8s/api.h"

#define ELECTION_TIMEOUT_US INT64_C(5000000) /* for api_options */

/* on_lead and on_lost are called on the loop, the others from a fiber; none may park. */
struct election_options {
    str ns, name, identity;
    void *ctx;
    void (*on_lead)(void *ctx);
    void (*on_lost)(void *ctx); /* was leader and may no longer act: the process ends. Not after a resignation */
    void (*on_event)(void *ctx, str message,
                     const struct tree *lease); /* "<identity> became leader"; NULL: nobody wants it */
    void (*on_log)(void *ctx, const char *message, const struct err *e); /* e NULL: for information */
};

struct election;

str election_identity(struct arena *a, struct world *w, const char *host); /* "host_uuid" */
struct election *election_new(struct api *c, const struct election_options *o);
/* From a fiber: gives the lease back if it is held, so that the next one need not wait. */
void election_resign(struct election *l);
void election_free(struct election *l);
AUTO_DEFINE(election)
bool election_leads(const struct election *l);
