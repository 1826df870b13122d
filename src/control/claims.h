/* claims - the controllers that carry NodeClaims from their creation to their end, and those that keep NodePools up to date (lifecycle 3 to 5).
 *
 * All of them share what is known of claims and pools only here: machines that were bought and not yet written down, when something was last looked at, how
 * registrations of a pool have gone of late.
 */
#pragma once

#include "control/control.h"

struct claims;

/* Adds the controllers to the manager; they begin when it does. The manager ends before claims_free(). */
struct claims *claims_new(struct control *c);
void claims_free(struct claims *s);
AUTO_DEFINE(claims)

/* How many claims a pool with replicas may have; INT64_MAX: no limit. */
int64_t static_limit(const struct nodepool *p);
