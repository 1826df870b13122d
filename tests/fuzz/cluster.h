/* cluster - fuzz input as a snapshot. */
#pragma once

#include "model/objects.h"
#include "model/snapshot.h"

struct cluster {
    struct arena *a;
    struct syms *t;
    struct objects *o;
};

/* The first byte chooses catalogue and settings, the rest are objects. NULL: it cannot be read, or is too large. */
struct snapshot *cluster_open(struct cluster *c, const uint8_t *data, size_t size);
void cluster_close(struct cluster *c);
