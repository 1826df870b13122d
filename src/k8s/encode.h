/* encode - pieces of objects that we write, from structs of model/. */
#pragma once

#include "data/tree.h"
#include "model/quantity.h"

/* {cpu: 1900m, memory: 4Gi}: quantities as Kubernetes prints them. */
struct tree tree_of_resources(struct arena *a, const struct syms *t, const struct reslist *l);
