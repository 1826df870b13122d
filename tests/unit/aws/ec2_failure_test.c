#include "aws/ec2_failure.h"

#include "support/check.h"

static const struct {
    const char *text, *reason, *message; /* message: its begin */
} cases[] = {
    {"AuthFailure.ServiceLinkedRoleCreationNotPermitted: no", "SpotSLRCreationFailed", "User does not have"},
    {"UnauthorizedOperation: x with an explicit deny in a permissions boundary", "Unauthorized",
     "User is not authorized to perform this operation due to a permission boundary"},
    {"AccessDenied: x with an explicit deny in a service control policy", "Unauthorized",
     "User is not authorized to perform this operation due to a service control policy"},
    {"AuthFailure: Not authorized for images: [ami-1]", "AMIAuthorizationFailure", "User is not authorized for AMI"},
    {"UnauthorizedOperation: You are not", "Unauthorized",
     "User is not authorized to perform this operation because no identity-based policy allows it"},
    {"with an explicit deny in a permissions boundary", "LaunchFailed", "Instance launch failed"},
    {"InvalidParameter: sg-1 and subnet-1 belong to different networks.", "SecurityGroupSubnetVPCMismatch",
     "Security groups and subnets must be in the same VPC."},
    {"InvalidParameter: something else", "LaunchFailed", "Instance launch failed"},
    {"InvalidParameterValue: Value (x) for parameter iamInstanceProfile.name is invalid.", "InstanceProfileNameInvalid",
     "Instance profile name"},
    {"InvalidLaunchTemplateId.NotFound: gone", "LaunchTemplateNotFound", "Launch template used"},
    {"InvalidUserData.Malformed: User data is limited to 16384 bytes", "UserDataSizeLimitExceeded", "Rendered"},
    {"InvalidAMIID.Malformed: x", "InvalidAMIID", "AMI used for instance launch is invalid"},
    {"InvalidAMIID.NotFound: x", "AMINotFound", "AMI used for instance launch either"},
    {"RequestLimitExceeded: slow down", "RequestLimitExceeded", "Request limit exceeded"},
    {"InternalError: x", "InternalError", "An internal error has occurred"},
    {"InvalidParameterCombination: The specified instance type is not eligible for Free Tier", "FreeTierIneligible",
     "The specified"},
    {"MaxFleetCountExceeded: x", "FleetQuotaExceeded", "A fleet launch"},
    {"PendingVerification: x", "AccountPendingVerification", "An instance launch was requested but the request"},
    {"MaxSpotInstanceCountExceeded: x", "SpotQuotaExceeded", "A spot instance launch"},
    {"VcpuLimitExceeded: x", "VCPULimitExceeded", "An instance was requested"},
    {"InsufficientFreeAddressesInSubnet: x", "InsufficientFreeAddressesInSubnet", "There are not enough"},
    {"VcpuLimitExceeded and RequestLimitExceeded", "RequestLimitExceeded", "Request limit exceeded"},
    {"InsufficientInstanceCapacity: none", "LaunchFailed", "Instance launch failed"},
    {"", "LaunchFailed", "Instance launch failed"},
};

static void the_first_reason_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct launch_failure f = ec2_classify(str_c(cases[i].text));

        check_str(cases[i].text, str_c(f.reason), cases[i].reason);
        check_true(cases[i].text, str_starts(str_c(f.message), str_c(cases[i].message)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_reason_counts)};

    return cmocka_run_group_tests_name("aws/ec2_failure", tests, NULL, NULL);
}
