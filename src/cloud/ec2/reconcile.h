/* reconcile - what is to be said about an EC2NodeClass: its status, found anew (aws 7.2), and what has to go with it (aws 7.1).
 *
 * The object is changed in memory; the caller writes the difference. Each part does what it can whatever became of the parts before it.
 */
#pragma once

#include "cloud/ec2/provider.h"
#include "k8s/conditions.h"

struct ec2_reconciled {
    int64_t after_ms; /* look again then; 0: at once, INT64_MAX: at the next change */
    bool terminal;    /* the error will not go away by itself: wait for a change of the object */
    bool failed;      /* err says how */
    struct err err;
};

extern const struct cond_set conds_ec2nodeclass; /* the dependents of Ready; the gate ReservedCapacity adds one */

/* obj: the object to change, in the arena. */
struct ec2_reconciled ec2_class_reconcile(struct ec2 *p, struct arena *a, struct tree *obj);
/* All that AWS has of the class: instance profiles and launch templates. */
bool ec2_class_finalize(struct ec2 *p, struct arena *a, const struct tree *obj, struct err *e);
/* Instance profiles that nobody uses any more (aws 7.9); in_use: of claims. */
bool ec2_profiles_collect(struct ec2 *p, const str *in_use, uint32_t n, struct err *e);
