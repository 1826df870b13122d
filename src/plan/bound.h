/* bound - a proven lower bound on the hourly cost of any plan for the same pods.
 *
 * Fluid relaxation: pods are water, nodes may be bought in fractions. Pods that may use the same offerings form a
 * group. Weak duality gives the proof: prices per group and resource (`dual`) such that no node can carry pods
 * worth more than it costs. bound_is_feasible() checks that with its own arithmetic; a bound that does not pass
 * is not printed.
 */
#pragma once

#include "base/arena.h"

#define BOUND_DIMS_MAX 16u

struct bound_group {
    const int64_t *demand; /* [n_dims]: sum over the group's pods */
    const double *price;   /* [n_types]: cheapest offering of the type that the group can use; INFINITY: none */
};

struct bound_in {
    uint32_t n_dims, n_types, n_groups; /* n_dims ≤ BOUND_DIMS_MAX, n_groups < 65536 */
    const int64_t *alloc;               /* [n_types][n_dims]: room for pods on a node of that type */
    const struct bound_group *groups;
};

/* The bound, ≥ 0, with its certificate [n_groups][n_dims] in the arena. A group that no type can host counts as 0.
 * Up to a few dozen groups the bound is the optimum of the relaxation; beyond that, the best that a fixed amount of
 * work finds. A negative or NaN price makes no sense: the bound is then 0 and its certificate does not pass. */
double bound_solve(struct arena *a, const struct bound_in *in, const double **ret_dual);
bool bound_is_feasible(const struct bound_in *in, const double *dual);
/* What a feasible certificate proves, rounded down. */
double bound_value(const struct bound_in *in, const double *dual);
