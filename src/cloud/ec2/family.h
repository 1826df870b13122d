/* family - what differs between families of images, besides what their machines are told (aws 5.3, 6.2). */
#pragma once

#include "cloud/ec2/class.h"

struct ec2_default_volume { /* gp3, encrypted */
    const char *device;
    int32_t gib;
};

struct ec2_family_traits {
    bool eni_memory;    /* memory for the kubelet grows with the network addresses, not with the pods */
    bool pods_per_core; /* podsPerCore counts */
    bool eni_pods;      /* as many pods as there are network addresses; else 110 */
    struct ec2_default_volume volumes[2]; /* where the class lists none; an empty device ends them */
    const char *ephemeral_device;         /* the disk that pods share; NULL: not known */
    const char *windows_build;            /* NULL: Linux */
};

const struct ec2_family_traits *ec2_family_traits(enum ec2_family f);
