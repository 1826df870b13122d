/* drift - which NodeClaims are no longer what their NodePool asks for (lifecycle 4.1.1). */
#pragma once

#include "model/snapshot.h"

/* What the controller would write into the Drifted condition, as far as the objects tell: not AMIs, subnets and the
 * like, which only the cloud knows. */
struct drift;

struct drift *drift_new(const struct snapshot *s);
void drift_free(struct drift *d);
AUTO_DEFINE(drift)
/* "NodePoolDrifted", "RequirementsDrifted", "InstanceTypeNotFound", "NodeClassDrift"; empty: not drifted. */
str drift_reason(struct drift *d, uint32_t node);

/* The same two questions about one claim, without a snapshot. */
bool drift_by_requirements(const struct syms *t, const struct label_rules *rules, const struct claim_template *tmpl,
                           lset_id labels);
/* The claim's instance type is not sold any more, or not where and how the claim has it. */
bool drift_by_type(const struct syms *t, const struct catalog *catalog, const struct nodeclaim *c);

#define DRIFT_TYPE_AFTER_MS (3600 * 1000) /* a younger claim may be ahead of the list of types */
