/* overlay - NodeOverlays: what is believed of instance types instead of what their provider says (scheduling 23).
 *
 * An overlay changes the price of offerings, or the capacity of types, for the NodePools, types and offerings that its requirements match. What comes of all of them
 * together is another catalogue: types that are not the same for every pool occur in it several times, each for some pools (itype.pools).
 */
#pragma once

#include "model/itype.h"
#include "model/nodepool.h"

enum price_change_kind { PRICE_AS_IT_IS, PRICE_IS, PRICE_PLUS, PRICE_PERCENT };

struct price_change {
    enum price_change_kind kind;
    double v; /* USD an hour, or percent */
};

/* spec.price: "0.5". */
bool price_parse(str text, struct price_change *ret);
/* spec.priceAdjustment: "+0.5", "-10%". */
bool price_adjustment_parse(str text, struct price_change *ret);
double price_changed(double price, struct price_change c); /* never below 0 */

struct overlay {
    str name, uid;
    int32_t weight; /* 0 when unset */
    struct req_expr *requirements;
    uint32_t n_requirements;
    struct price_change price;
    struct reslist capacity;
};

enum overlay_fate { OVERLAY_APPLIES, OVERLAY_INVALID, OVERLAY_CONFLICTS };

struct overlay_verdict {
    enum overlay_fate fate;
    str message; /* in the arena of the call; empty when it applies */
};

/* The catalogue as the overlays make it for these pools, and what became of each: [n]. It shares what is as it was with `base`, which outlives it; without a change it
 * is `base` itself. Deterministic: overlays by weight, then from Z to A. */
const struct catalog *overlays_apply(struct arena *a, const struct syms *t, const struct catalog *base,
                                     const struct nodepool *pools, uint32_t n_pools, const struct overlay *v,
                                     uint32_t n, struct overlay_verdict *ret);
