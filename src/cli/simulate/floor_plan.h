/* floor_plan - the least that any nodes cost on which so many pods run: the lower bound of plan/, asked again and again of the same NodePools. Apart from floor.h, because the
 * far end of the wire has names of its own.
 */
#pragma once

#include "base/err.h"
#include "cli/simulate/manifests.h"

struct floor_plan;

struct floor_group { /* pods that are alike as far as the question goes */
    str pod;         /* a pod template as JSON */
    uint32_t n;
};

/* NodePools, node classes, overlays and DaemonSets of the manifests. types: the file with instance types and prices. settings: KEY=VALUE, as the controller has them. */
struct floor_plan *floor_plan_new(const struct manifests *m, const char *types, const char *const *settings,
                                  uint32_t n_settings, struct err *e);
void floor_plan_free(struct floor_plan *p);
AUTO_DEFINE(floor_plan)

/* USD an hour. Pods that no NodePool would take are left out. false: it cannot be said. */
bool floor_plan_least(struct floor_plan *p, const struct floor_group *v, uint32_t n, double *ret, struct err *e);
