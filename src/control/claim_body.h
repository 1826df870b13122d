/* claim_body - the NodeClaim that is sent to the API server for a claim of a plan (scheduling 24.1). */
#pragma once

#include "data/tree.h"
#include "plan/plan.h"

/* pool_obj: the NodePool as it is stored, for what a claim copies from it word for word. `random` picks values where a
 * requirement leaves a number open. The body lives in the arena and refers to neither snapshot nor plan. */
struct tree *claim_body(struct arena *a, const struct snapshot *s, const struct plan_claim *c,
                        const struct tree *pool_obj, uint64_t random);
/* Of a static pool: the template as it is, and no requests (lifecycle 5.6). */
struct tree *claim_body_static(struct arena *a, const struct syms *t, const struct nodepool *pool,
                               const struct tree *pool_obj);
