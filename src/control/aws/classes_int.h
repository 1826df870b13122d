/* What the controllers of EC2NodeClasses share. */
#pragma once

#include "cloud/ec2/reconcile.h"
#include "control/aws/classes.h"
#include "control/write.h"

#define CLASS_GROUP "karpenter.k8s.aws"
#define CLASS_KIND "EC2NodeClass"
#define CLASS_FINALIZER "karpenter.k8s.aws/termination"
#define MINUTE_MS (60 * 1000ll)

struct aws_classes {
    struct control *c;
    struct ec2 *p;
    struct queue *nodeclass, *hash, *profiles;
};

bool class_open(struct draft *d, struct aws_classes *s, struct reconcile *r); /* false: it is gone */
/* The name of an EC2NodeClass out of the store's "group/kind/name"; empty: it is of another kind. */
str class_name(str store_name);
/* The claims that refer to the class, by name, in the arena. */
uint32_t class_claims(struct aws_classes *s, struct arena *a, str class, str **ret);
struct queue *class_controller(struct aws_classes *s, const char *name, reconcile_fn fn);

void nodeclass_register(struct aws_classes *s);
void nodeclass_hash_register(struct aws_classes *s);
void profile_gc_register(struct aws_classes *s);

/* "Waiting on NodeClaim termination for a, b and 3 other(s)". */
str waiting_message(struct arena *a, const str *claims, uint32_t n);
/* What becomes of an outcome. The log gets what will not be tried again. */
struct result nodeclass_result(struct reconcile *r, const struct ec2_reconciled *out);
