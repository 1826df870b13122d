/* class_int - the parts of decoding an EC2NodeClass. Private to class*.c and kubelet*.c. */
#pragma once

#include "cloud/ec2/class.h"
#include "k8s/fragment.h"

bool ec2_kubelet_decode(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_kubelet *ret,
                        struct err *e);
bool ec2_status_decode(struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k,
                       struct err *e);
