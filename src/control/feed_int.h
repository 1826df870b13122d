/* feed_int - the inside of the feed. */
#pragma once

#include "base/sb.h"
#include "base/vec.h"
#include "control/feed.h"
#include "k8s/one.h"

struct watch;

struct complaint { /* an object that was reported */
    uint64_t object, what;
};

struct feed {
    struct feed_options o;
    struct store *store;
    struct decoder *decoder;
    struct arena *scratch; /* of one object */
    struct sb text;
    VEC(struct complaint) complaints; /* a ring */
    uint32_t next_complaint;
    VEC(struct watch *) watches;
    void (*end_watches)(struct feed *f); /* NULL: none were begun */
    bool listed;
};
