#include "cloud/ec2/family.h"

#define WINDOWS(build)                                                                                                 \
    {                                                                                                                  \
        .pods_per_core = true, .volumes = {{"/dev/sda1", 50}}, .ephemeral_device = "/dev/sda1",                        \
        .windows_build = (build)                                                                                       \
    }
#define AMAZON_LINUX                                                                                                   \
    {                                                                                                                  \
        .eni_memory = true, .pods_per_core = true, .eni_pods = true, .volumes = {{"/dev/xvda", 20}},                   \
        .ephemeral_device = "/dev/xvda"                                                                                \
    }

static const struct ec2_family_traits traits[] = {
    [EC2_CUSTOM] = {.eni_memory = true, .pods_per_core = true, .eni_pods = true},
    [EC2_AL2] = AMAZON_LINUX,
    [EC2_AL2023] = AMAZON_LINUX,
    [EC2_BOTTLEROCKET] = {.eni_pods = true,
                          .volumes = {{"/dev/xvda", 4}, {"/dev/xvdb", 20}},
                          .ephemeral_device = "/dev/xvdb"},
    [EC2_WINDOWS2019] = WINDOWS("10.0.17763"),
    [EC2_WINDOWS2022] = WINDOWS("10.0.20348"),
    [EC2_WINDOWS2025] = WINDOWS("10.0.26100"),
};

const struct ec2_family_traits *ec2_family_traits(enum ec2_family f)
{
    assert((size_t)f < ARRAY_LEN(traits));
    return &traits[f];
}
