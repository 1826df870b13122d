/* floor - what the pods of a simulation would have cost at least, whoever had bought the nodes for them.
 *
 * It hears of pods that come to nodes of NodePools and leave them, and keeps for every kind of pod how few there were at any moment of a piece of time. The nodes of that
 * moment cannot have cost less than the lower bound of plan/ for so many pods; these bounds are added up.
 */
#pragma once

#include "cli/simulate/floor_plan.h"

struct kube;
struct floor;

/* The plan is taken over. The server is freed before it. */
struct floor *floor_new(struct kube *k, struct floor_plan *p);
void floor_free(struct floor *f);
AUTO_DEFINE(floor)

void floor_begin(struct floor *f); /* time is counted from here on */
/* The end of a piece and the beginning of the next. */
bool floor_piece(struct floor *f, struct err *e);
/* USD so far; NAN: NodePools, overlays or DaemonSets have changed meanwhile, and it is not known what could have been bought. */
double floor_usd(const struct floor *f);
