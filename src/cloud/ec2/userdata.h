/* userdata - what a machine is told when it starts, for every family of images (aws 6.5 to 6.10). Pure. */
#pragma once

#include "cloud/ec2/class.h"
#include "model/taint.h"

struct ec2_boot {
    str cluster, endpoint, ca_bundle, cidr; /* ca_bundle: base64; empty: unknown */
    const struct ec2_kv *labels;            /* of the Node to be: filtered and complete, by key */
    uint32_t n_labels;
    const struct taint_text { /* in order, with karpenter.sh/unregistered */
        str key, value, effect;
    } * taints;
    uint32_t n_taints;
    int64_t max_pods;                              /* always known */
    struct ec2_kvs kube_reserved, system_reserved; /* worked out; in place of the class's when not empty */
    const str *dns;                                /* the class's, or the cluster's */
    uint32_t n_dns;
    str ami_version; /* Bottlerocket (aws 6.8) */
};

/* Plain text, not encoded. ERR_INVALID: the class's own user data cannot be merged. */
bool ec2_user_data(struct arena *a, const struct ec2_class *k, const struct ec2_boot *b, str *ret, struct err *e);

/* Labels that a kubelet may not give itself are left out of user data (aws 6.5). */
bool ec2_label_is_for_user_data(str key);
/* "1.46.0" out of alias, name terms and resolved images (aws 6.8); empty: unknown. */
str ec2_bottlerocket_version(const struct ec2_class *k);
