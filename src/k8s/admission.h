/* admission - what the schemas of NodePool and NodeClaim demand beyond types (scheduling 2.2, 2.3). Inner header.
 *
 * An API server would have refused such objects, so they are errors here. Rules that depend on the cloud provider's
 * labels are checked later, when a snapshot is built.
 */
#pragma once

#include "k8s/fragment.h"

enum admission { ADMIT_NODEPOOL, ADMIT_NODECLAIM, ADMIT_OVERLAY };

bool admit_reqs(struct decoder *d, const struct tree *list, const struct req_expr *reqs, enum admission who,
                struct err *e);
bool admit_labels(struct decoder *d, const struct tree *labels, struct err *e); /* of a NodePool's template */
bool admit_taints(struct decoder *d, const struct tree *list, struct err *e);

/* ^([0-9]+(s|m|h))+$, and `Never` where allowed; *ret keeps its value when the field is absent. */
bool dec_duration(struct decoder *d, const struct tree *t, const char *key, bool never, int64_t *ret_ns, struct err *e);
/* A budget's duration: hours, minutes or both, optionally followed by 0s. */
bool dec_budget_duration(struct decoder *d, const struct tree *t, const char *key, int64_t *ret_ns, struct err *e);
bool budget_nodes_is_valid(str s);    /* "10%" or "3" */
bool budget_schedule_is_valid(str s); /* five fields or @daily and the like; cron_parse() is stricter */
