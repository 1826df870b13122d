/* demo_pods - the pods of deployment karpenter/karpenter are the replicas of the controller: a pod that runs is a replica that runs in this process, and `kubectl delete pod` ends it. */
#pragma once

#include "base/err.h"
#include "net/world.h"
#include "sim/kube/kube.h"

struct cli_env;
struct demo_pods;

struct demo_pods_setup {
    struct kube *kube;
    const struct cli_env *env;
    str server, token;
    const char *ca_pem;
    void (*on_lead)(void *ctx); /* the first time that a replica leads; may be NULL */
    void *ctx;
};

struct demo_pods *demo_pods_new(const struct demo_pods_setup *s); /* the setup's texts outlive it */
void demo_pods_free(struct demo_pods *p);
