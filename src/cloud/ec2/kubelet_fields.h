/* kubelet_fields - which fields a kubelet's configuration has, at every depth, and of which type (aws A.1). */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

/* Adds what is wrong with `raw` to `b`, joined by "; ": the first value of a wrong type, or else every field that is not known. */
void ec2_kubelet_check_fields(struct sb *b, struct arena *a, const struct tree *raw);
