/* checker - does a plan keep its promises? Judges the answer of `karpenter plan -o json` from the outside.
 *
 * Written from the specification and sharing nothing with the planner: own quantities, own requirement algebra on
 * strings, own reading of the cluster. It verifies what must hold of the final placement whatever the order in
 * which pods were placed: every pod once, nothing over capacity, requirements, taints, ports, volumes, spread and
 * (anti-)affinity, limits, minValues, the launch choice and the sums. Rules that depend on a moment in the middle of
 * the run are checked in the form that survives to the end, so a violation is always one and never a matter of order.
 * One checker judges one plan.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

struct checker;

struct checker *checker_new(FILE *violations); /* one line each */
void checker_free(struct checker *c);
AUTO_DEFINE(checker)

/* Instance types first: what they say decides which labels are well known. */
bool checker_types_file(struct checker *c, const char *path, struct err *e);
bool checker_types_builtin(struct checker *c, const char *name, struct err *e); /* "kwok" or "fake:N" */
bool checker_setting(struct checker *c, const char *key_value, struct err *e);  /* KEY=VALUE as for plan */
bool checker_objects(struct checker *c, const char *path, struct err *e);
bool checker_now(struct checker *c, const char *rfc3339, struct err *e); /* before the objects; else the time it is */
/* After everything else. False when the plan cannot be read; violations are counted, not errors. */
bool checker_plan(struct checker *c, const char *path, struct err *e);
/* The same for the answer of `karpenter plan --disrupt -o json`: may these nodes go, together and in this order, do
 * budgets allow it, does it save what it says, and has every pod that runs there another place? Where a command does
 * not say where its pods go, places are looked for; pods for which none is found count as not verified. */
bool checker_disruption(struct checker *c, const char *path, struct err *e);
uint64_t checker_unverified(const struct checker *c);
uint64_t checker_violations(const struct checker *c);
uint64_t checker_pods(const struct checker *c); /* pods that had to be placed */
