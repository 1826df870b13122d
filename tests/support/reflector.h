/* reflector - a client that keeps a copy of a collection by list and watch, the way client libraries do, as short as can be.
 *
 * It lives in a fiber of the client's world. Pages, bookmarks, broken streams, repeated events, 410, 429 and 5xx are all
 * met; whatever the server promises, the copy is the server's state once things are quiet.
 */
#pragma once

#include "base/vec.h"
#include "net/world.h"

struct reflected {
    char *key; /* namespace/name */
    uint64_t rv;
};

struct reflector {
    struct world *world;
    const char *url;             /* of the collection: "https://kube/api/v1/configmaps" */
    const char *query;           /* selectors: "labelSelector=a%3Db"; "" for none */
    bool stream_list;            /* sendInitialEvents instead of lists */
    uint32_t limit;              /* of a page; 0: no pages */
    VEC(struct reflected) items; /* in order of key */
    uint64_t rv;
    uint32_t n_lists, n_watches, n_events;
    bool stop, stopped;
    const char *wrong; /* the server broke a promise; NULL: it has not */
};

void reflector_go(struct reflector *r); /* in a fiber of its own, until r->stop or the world is dead */
void reflector_fini(struct reflector *r);
