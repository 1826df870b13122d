/* labels - the label keys that the provider adds to core's (aws 2.8.1). */
#pragma once

#include "model/labels.h"

/* In the order in which a type's requirements have them. The last two are for node classes with a placement group only. */
#define EC2_LABELS(X)                                                                                                  \
    X(ZONE_ID, "topology.k8s.aws/zone-id")                                                                             \
    X(CPU, "karpenter.k8s.aws/instance-cpu")                                                                           \
    X(CPU_MAKER, "karpenter.k8s.aws/instance-cpu-manufacturer")                                                        \
    X(CLOCK, "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz")                                               \
    X(MEMORY, "karpenter.k8s.aws/instance-memory")                                                                     \
    X(EBS, "karpenter.k8s.aws/instance-ebs-bandwidth")                                                                 \
    X(NETWORK, "karpenter.k8s.aws/instance-network-bandwidth")                                                         \
    X(CATEGORY, "karpenter.k8s.aws/instance-category")                                                                 \
    X(GENERATION, "karpenter.k8s.aws/instance-generation")                                                             \
    X(FAMILY, "karpenter.k8s.aws/instance-family")                                                                     \
    X(SIZE, "karpenter.k8s.aws/instance-size")                                                                         \
    X(FLEX, "karpenter.k8s.aws/instance-capability-flex")                                                              \
    X(NVME, "karpenter.k8s.aws/instance-local-nvme")                                                                   \
    X(GPU_NAME, "karpenter.k8s.aws/instance-gpu-name")                                                                 \
    X(GPU_MAKER, "karpenter.k8s.aws/instance-gpu-manufacturer")                                                        \
    X(GPU_COUNT, "karpenter.k8s.aws/instance-gpu-count")                                                               \
    X(GPU_MEMORY, "karpenter.k8s.aws/instance-gpu-memory")                                                             \
    X(ACCEL_NAME, "karpenter.k8s.aws/instance-accelerator-name")                                                       \
    X(ACCEL_MAKER, "karpenter.k8s.aws/instance-accelerator-manufacturer")                                              \
    X(ACCEL_COUNT, "karpenter.k8s.aws/instance-accelerator-count")                                                     \
    X(HYPERVISOR, "karpenter.k8s.aws/instance-hypervisor")                                                             \
    X(ENCRYPTION, "karpenter.k8s.aws/instance-encryption-in-transit-supported")                                        \
    X(ENCLAVES, "karpenter.k8s.aws/nitro-sandbox")                                                                     \
    X(TENANCY, "karpenter.k8s.aws/instance-tenancy")                                                                   \
    X(RESERVATION_ID, "karpenter.k8s.aws/capacity-reservation-id")                                                     \
    X(RESERVATION_TYPE, "karpenter.k8s.aws/capacity-reservation-type")                                                 \
    X(RESERVATION_INTERRUPTIBLE, "karpenter.k8s.aws/capacity-reservation-interruptible")                               \
    X(PLACEMENT_GROUP, "karpenter.k8s.aws/placement-group-id")                                                         \
    X(PLACEMENT_PARTITION, "karpenter.k8s.aws/placement-group-partition")

enum ec2_label {
#define X(name, text) EC2_L_##name,
    EC2_LABELS(X)
#undef X
        EC2_N_LABELS,
    EC2_N_LABELS_ON_TYPES = EC2_L_PLACEMENT_GROUP,
};

str ec2_label_name(enum ec2_label l);
sym ec2_label_key(struct syms *t, enum ec2_label l);

/* Core's well-known labels and these, the domain that is kept for them, and which one names a reservation. */
struct label_rules ec2_label_rules(struct arena *a, struct syms *t);
