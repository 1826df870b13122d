#include "sim/kube/crds.h"

#include "sim/kube/kube.h"

static const char text[] =
#include "sim/kube/crds_data.inc"
    ;

bool kube_load_crds(struct kube *k, struct err *e)
{
    return kube_load(k, "deploy/crds", (str){text, sizeof(text) - 1}, e);
}
