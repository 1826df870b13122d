/* kubelet_expr - expressions in a kubelet's settings: maxPods and reservations that depend on the machine (aws 2.5.3).
 *
 * A string for maxPods, or a reservation that is not a quantity, is an expression. The language is that of model/cel.h.
 */
#pragma once

#include "cloud/ec2/class.h"

struct ec2_expr_vars {
    int64_t vcpus, memory_mib, default_enis, ips_per_eni, max_pods;
    str instance_type;
};

/* It compiles, and gives a number. Nothing is left in the arena. */
bool ec2_expr_check(struct arena *a, str source, struct err *e);
/* A double is cut off; division by zero, NaN, an infinity and what does not fit are errors. Compiling is part of it: some microseconds. */
bool ec2_expr_eval(struct arena *a, str source, const struct ec2_expr_vars *v, int64_t *ret, struct err *e);
/* Reservations with their expressions worked out and written as quantities; what cannot be worked out, or is negative, is left out and named in *ret_dropped (may
 * be NULL). gate: whether expressions count at all. */
struct ec2_kvs ec2_kvs_resolve(struct arena *a, const struct ec2_kvs *m, const struct ec2_expr_vars *v, bool gate,
                               str *ret_dropped);
