/* The first row whose texts are all there wins. */
#include "aws/ec2_failure.h"

static const struct {
    const char *has, *also; /* also: NULL when nothing else is wanted */
    bool denied;            /* and it is about permissions */
    struct launch_failure is;
} rows[] = {
    {"AuthFailure.ServiceLinkedRoleCreationNotPermitted",
     NULL,
     false,
     {"SpotSLRCreationFailed",
      "User does not have sufficient permission to create the Spot ServiceLinkedRole to launch spot instances"}},
    {"with an explicit deny in a permissions boundary",
     NULL,
     true,
     {"Unauthorized", "User is not authorized to perform this operation due to a permission boundary"}},
    {"with an explicit deny in a service control policy",
     NULL,
     true,
     {"Unauthorized", "User is not authorized to perform this operation due to a service control policy"}},
    {"Not authorized for images",
     NULL,
     true,
     {"AMIAuthorizationFailure", "User is not authorized for AMI used in instance launch"}},
    {"",
     NULL,
     true,
     {"Unauthorized", "User is not authorized to perform this operation because no identity-based policy allows it"}},
    {"InvalidParameter",
     "belong to different networks",
     false,
     {"SecurityGroupSubnetVPCMismatch", "Security groups and subnets must be in the same VPC."}},
    {"iamInstanceProfile.name is invalid",
     NULL,
     false,
     {"InstanceProfileNameInvalid", "Instance profile name used from EC2NodeClass status does not exist"}},
    {"InvalidLaunchTemplateId.NotFound",
     NULL,
     false,
     {"LaunchTemplateNotFound", "Launch template used for instance launch wasn't found"}},
    {"User data is limited to",
     NULL,
     false,
     {"UserDataSizeLimitExceeded", "Rendered user data exceeds the EC2 user data size limit"}},
    {"InvalidAMIID.Malformed", NULL, false, {"InvalidAMIID", "AMI used for instance launch is invalid"}},
    {"InvalidAMIID.NotFound",
     NULL,
     false,
     {"AMINotFound", "AMI used for instance launch either does not exist or you don't have permissions to use it"}},
    {"RequestLimitExceeded", NULL, false, {"RequestLimitExceeded", "Request limit exceeded"}},
    {"InternalError", NULL, false, {"InternalError", "An internal error has occurred"}},
    {"not eligible for Free Tier",
     NULL,
     false,
     {"FreeTierIneligible", "The specified instance type is not eligible for Free Tier"}},
    {"MaxFleetCountExceeded",
     NULL,
     false,
     {"FleetQuotaExceeded", "A fleet launch was requested but this would exceed your fleet request quota"}},
    {"PendingVerification",
     NULL,
     false,
     {"AccountPendingVerification",
      "An instance launch was requested but the request for launching resources in this region is still being verified"}},
    {"MaxSpotInstanceCountExceeded",
     NULL,
     false,
     {"SpotQuotaExceeded", "A spot instance launch was requested but this would exceed your spot instance quota"}},
    {"VcpuLimitExceeded",
     NULL,
     false,
     {"VCPULimitExceeded", "An instance was requested that would exceed your VCPU quota"}},
    {"InsufficientFreeAddressesInSubnet",
     NULL,
     false,
     {"InsufficientFreeAddressesInSubnet",
      "There are not enough free IP addresses to launch an instance in this subnet"}},
};

static bool contains(str text, const char *part)
{
    return !part || str_contains(text, str_c(part));
}

static bool is_denied(str text)
{
    return contains(text, "UnauthorizedOperation") || contains(text, "AccessDenied") || contains(text, "AuthFailure");
}

struct launch_failure ec2_classify(str text)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (contains(text, rows[i].has) && contains(text, rows[i].also) && (!rows[i].denied || is_denied(text)))
            return rows[i].is;
    return (struct launch_failure){"LaunchFailed", "Instance launch failed"};
}
