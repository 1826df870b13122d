/* cluster_feed - a store and its feed for tests, and objects for it as YAML.
 *
 * For cmocka_unit_test_setup_teardown(test, cluster_feed_setup, cluster_feed_teardown); *state is the struct. Objects get
 * a uid and rising resource versions unless they bring their own. Our provider's node class is KWOKNodeClass.
 */
#pragma once

#include "base/sb.h"
#include "control/feed.h"
#include "model/itype.h"

#define FEED_NOW_MS 1768478400000 /* 2026-01-15T12:00:00Z */

struct cluster_feed {
    struct arena *a;
    struct syms *t;
    struct store *s;
    struct feed *f;
    uint64_t version; /* of the last object */
    struct sb events; /* what the store told: "+Pod default/a", "~Node n", "-Pod default/a", each followed by a blank */
    struct sb errors; /* what the feed reported: "Pod default/a: why", one line each */
    struct catalog catalog;
    sym well_known[3];
};

int cluster_feed_setup(void **state);
int cluster_feed_teardown(void **state);

/* Documents of any watched kind: there, or changed. A mistake in the YAML fails the test. */
void cluster_put(struct cluster_feed *w, const char *yaml);
void cluster_gone(struct cluster_feed *w, const char *yaml);
void cluster_answer(struct cluster_feed *w, const char *yaml);
/* printf with cluster_put(). */
PRINTF(2, 3) void cluster_putf(struct cluster_feed *w, const char *yaml, ...);
struct snapshot *cluster_snapshot(struct cluster_feed *w);
/* What the store told since the last call. */
str cluster_events(struct cluster_feed *w);
enum object_kind cluster_kind(str kind); /* by the word in `kind:` */
