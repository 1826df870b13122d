/* reconcile - what is to be said about an EC2NodeClass: its status, found anew (aws 7.2), and what has to go with it (aws 7.1).
 *
 * The object is changed in memory; the caller writes the difference. Each part does what it can whatever became of the parts before it.
 */
#pragma once

#include "cloud/ec2/provider.h"
#include "k8s/conditions.h"

struct ec2_reconciled {
    int64_t after_ms; /* look again then; 0: after a back-off, INT64_MAX: at the next change */
    bool terminal;    /* the error will not go away by itself: wait for a change of the object */
    bool failed;      /* err says how */
    struct err err;
};

/* The dependents of Ready; the gate ReservedCapacity adds one. */
const struct cond_set *ec2_class_conds(bool reserved_capacity);

/* obj: the object to change, in the arena. */
struct ec2_reconciled ec2_class_reconcile(struct ec2 *p, struct arena *a, struct tree *obj);
/* All that AWS has of the class, instance profiles and launch templates, goes; so does what is remembered of it. */
bool ec2_class_finalize(struct ec2 *p, struct arena *a, const struct tree *obj, struct err *e);
/* Instance profiles that nobody uses any more (aws 7.9); in_use: of claims. */
bool ec2_profiles_collect(struct ec2 *p, const str *in_use, uint32_t n, struct err *e);

/* ---- drift hashes (aws 2.9) ---- */

#define EC2_HASH_ANNOTATION "karpenter.k8s.aws/ec2nodeclass-hash"
#define EC2_HASH_VERSION_ANNOTATION "karpenter.k8s.aws/ec2nodeclass-hash-version"
#define EC2_PROFILE_ANNOTATION "karpenter.k8s.aws/instance-profile-name"

/* The value of the annotation for an object as it is, with EC2_HASH_VERSION beside it. */
struct ec2_hash_text {
    str hash;
    str v5; /* what it would be in v1.14.1; empty: it has settings that v1.14.1 does not know */
};

bool ec2_class_hash_text(struct ec2 *p, struct arena *a, const struct tree *obj, struct ec2_hash_text *ret,
                         struct err *e);
/* A claim that was hashed in another way gets the class' hash as it is now, or it would seem to have drifted. Unless it has: it is said to, or its own hash, which
 * v1.14.1 has made, is not the class'. Whether anything changed. */
bool ec2_hash_adopt(struct arena *a, struct tree *claim, const struct ec2_hash_text *h);
