/* correlate - what becomes of an Event before it is sent: the rules of the Kubernetes client library, which people know from `kubectl describe`.
 *
 * 1. Ten different messages of one reason about one object within ten minutes: the tenth and those after it are one Event, "(combined from similar events): …".
 * 2. The same Event once more is a count in the first one.
 * 3. One object gets 25 Events at once, then one every five minutes.
 *
 * It remembers up to 4096 of each kind; memory does not grow beyond that.
 */
#pragma once

#include "base/bucket.h"
#include "base/lru.h"
#include "control/recorder.h"

struct correlator {
    str component;
    struct lru similar, seen, spam;
    uint64_t last_ns; /* of names: each is later than the one before */
};

/* What is to be sent. */
struct sighting {
    bool skip;
    bool combined; /* of several: another message, and no reporting component */
    int64_t count; /* 1: create it, else patch it */
    int64_t first_ms;
    str name;
};

void correlator_init(struct correlator *c, str component);
void correlator_fini(struct correlator *c);

/* made_ms: when it was published, on the wall clock. The name lives in the arena. */
struct sighting correlator_see(struct correlator *c, struct arena *a, struct world *w, const struct event *ev,
                               int64_t made_ms);
