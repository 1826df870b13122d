/* election - one leader among replicas, by a Lease (lifecycle 9.2).
 *
 * Lease 15 s, renewed every 2 s, given up after 10 s without success; others try every 2 s and some. The clock of the other is never believed: a
 * lease has run out when it did not change for its duration on our own steady clock.
 */
#pragma once

#include "k8s/api.h"

struct election_options {
    str ns, name, identity;
    void *ctx;
    void (*on_lead)(void *ctx);
    void (*on_lost)(void *ctx); /* was leader and may no longer act: the process ends */
    void (*on_event)(void *ctx, str message,
                     const struct tree *lease); /* "<identity> became leader"; NULL: nobody wants it */
    void (*on_log)(void *ctx, const char *message, const struct err *e); /* e NULL: for information */
};

struct election;

struct election *election_new(struct api *c, const struct election_options *o);
/* From a fiber: gives the lease back if it is held, so that the next one need not wait. */
void election_resign(struct election *l);
void election_free(struct election *l);
AUTO_DEFINE(election)
bool election_leads(const struct election *l);
