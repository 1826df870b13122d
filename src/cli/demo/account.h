/* account - the AWS account that the demo begins with: what the manifests that people have at hand refer to, and what is for sale. */
#pragma once

#include "data/tree.h"

struct cli_env;

#define DEMO_REGION "us-west-2"
#define DEMO_CLUSTER "eks-cluster-dev"
#define DEMO_QUEUE "karpenter-" DEMO_CLUSTER

struct account_setup {
    const struct cli_env *env;
    str endpoint, ca_bundle; /* of the cluster; ca_bundle in base64 */
    str key_id, secret;      /* who may sign */
    str version;             /* of Kubernetes: "1.36" */
};

/* As sim/aws reads it; in `a`. NULL: no figures for the region. */
struct tree *account_of(struct arena *a, const struct account_setup *s, struct err *e);

/* Images of one family, as they are published together: "al2023", "bottlerocket", "windows". `fn` gets each with the parameters that point to it from then on; the first of them is the
 * one that images are found by. false: there is no such family. */
struct account_image {
    struct tree *image;
    str parameters[2]; /* the second may be empty */
};
bool account_images(struct arena *a, str family, str kube_version, str version, str created,
                    void (*fn)(void *ctx, const struct account_image *i), void *ctx);
