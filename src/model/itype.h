/* itype - instance types and their offerings: what a node could be, where, and at what price. */
#pragma once

#include "model/labels.h"
#include "model/quantity.h"

struct offering {
    struct req_expr *requirements; /* capacity type, zone, …: In with values, or DoesNotExist */
    uint32_t n_requirements;
    double price_usd_per_h;
    bool available;
    int32_t reservation_capacity;
    struct reslist capacity_override, overhead_override; /* added to the type's own (scheduling 4.2) */
};

struct itype {
    sym name;
    struct req_expr *requirements; /* includes instance-type, arch, os, zone, capacity-type */
    uint32_t n_requirements;
    struct offering *offerings;
    uint32_t n_offerings;
    struct reslist capacity, overhead; /* overhead: kube-reserved + system-reserved + eviction threshold */
    sym *pools;                        /* NodePools that see it like this; NULL: all do */
    uint32_t n_pools;
    bool price_overlaid, capacity_overlaid; /* by a NodeOverlay (overlay.h) */
};

/* One list of types, shared by every NodePool. A type that is not the same for all occurs several times, one after the other. */
struct catalog {
    struct itype *types;
    uint32_t n;
    struct label_rules rules;
    uint64_t version; /* another one when anything here has changed */
    str origin;       /* for people: "kwok", "aws us-east-1, prices of 2026-07-01", a file name */
};

bool itype_is_for(const struct itype *t, sym pool);
/* Of the types of one name, the first of which is at `first`: how the pool sees it; UINT32_MAX: it does not. */
uint32_t catalog_for_pool(const struct catalog *c, uint32_t first, sym pool);

/* Makes offerings with equal requirements point to one copy: whoever compiles the catalogue then does so once for
 * each. Loaders call it when they are done. */
void catalog_share_requirements(struct catalog *c, struct arena *a);
