/* pod - the parts of the rules for pods. */
#pragma once

#include "sim/kube/rules/rule.h"

/* What admission plugins add to a new pod: service account, token, priority, tolerations. */
void pod_admit(struct rule_context *c, struct tree *pod, str *ret_denied);
void pod_check_update(struct flaws *f, const struct tree *pod, const struct tree *old);
