/* scrape - /metrics as a reply in parts: the next one is made when the peer has taken the one before.
 *
 * The text of a cluster with a thousand nodes has megabytes and is never there as a whole. Between two parts the program does whatever else there is to do, so one scrape
 * may show one object before a change and another after it, as two scrapes would.
 */
#pragma once

#include "net/http.h"
#include "obs/metrics.h"

struct scrapes; /* replies under way */

struct scrapes *scrapes_new(struct world *w, struct metrics *m);
void scrapes_free(struct scrapes *s); /* breaks them off */
void scrapes_reply(struct scrapes *s, struct exchange *x);
