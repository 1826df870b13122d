/* actions - what can be asked of the account: one table.
 *
 * Each action of EC2 has buckets of its own, as its guide on request throttling describes them: describe calls 100 tokens and 20 a second (50 and 10 when they neither
 * filter nor page). Those of calls that change something are of the right order, and not looked up one by one.
 */
#include "sim/aws/call.h"

#define PLAIN .flags = 0
#define READ .burst = 100, .qps = 20, .units = 50, .units_qps = 10
#define WRITE .flags = MUTATES, .burst = 50, .qps = 5

const struct action aws_actions[] = {
    {EC2, "CreateFleet", serve_create_fleet, .flags = MUTATES | DRY_RUN, .burst = 50, .qps = 5},
    {EC2, "CreateLaunchTemplate", serve_create_launch_template, .flags = MUTATES, .burst = 100, .qps = 5},
    {EC2, "CreateLaunchTemplateVersion", serve_create_launch_template_version, WRITE},
    {EC2, "CreateTags", serve_create_tags, .flags = MUTATES, .burst = 100, .qps = 10},
    {EC2, "DeleteLaunchTemplate", serve_delete_launch_template, .flags = MUTATES, .burst = 100, .qps = 5},
    {EC2, "DeleteTags", serve_delete_tags, .flags = MUTATES, .burst = 100, .qps = 10},
    {EC2, "DescribeAvailabilityZones", serve_describe_availability_zones, READ},
    {EC2, "DescribeCapacityReservations", serve_describe_capacity_reservations, READ},
    {EC2, "DescribeFleets", serve_describe_fleets, READ},
    {EC2, "DescribeImages", serve_describe_images, READ},
    {EC2, "DescribeInstanceStatus", serve_describe_instance_status, READ},
    {EC2, "DescribeInstanceTypeOfferings", serve_describe_instance_type_offerings, READ},
    {EC2, "DescribeInstanceTypes", serve_describe_instance_types, READ},
    {EC2, "DescribeInstances", serve_describe_instances, READ},
    {EC2, "DescribeLaunchTemplateVersions", serve_describe_launch_template_versions, READ},
    {EC2, "DescribeLaunchTemplates", serve_describe_launch_templates, READ},
    {EC2, "DescribePlacementGroups", serve_describe_placement_groups, READ},
    {EC2, "DescribeRegions", serve_describe_regions, READ},
    {EC2, "DescribeSecurityGroups", serve_describe_security_groups, READ},
    {EC2, "DescribeSpotPriceHistory", serve_describe_spot_price_history, READ},
    {EC2, "DescribeSubnets", serve_describe_subnets, READ},
    {EC2, "DescribeTags", serve_describe_tags, READ},
    {EC2, "DescribeVpcs", serve_describe_vpcs, READ},
    {EC2, "RunInstances", serve_run_instances, .flags = MUTATES | DRY_RUN, .burst = 5, .qps = 2, .units = 1000,
     .units_qps = 2},
    {EC2, "TerminateInstances", serve_terminate_instances, .flags = MUTATES, .burst = 100, .qps = 5, .units = 1000,
     .units_qps = 20},

    {IAM, "AddRoleToInstanceProfile", serve_add_role, .flags = MUTATES},
    {IAM, "CreateInstanceProfile", serve_create_instance_profile, .flags = MUTATES},
    {IAM, "DeleteInstanceProfile", serve_delete_instance_profile, .flags = MUTATES},
    {IAM, "GetInstanceProfile", serve_get_instance_profile, PLAIN},
    {IAM, "GetRole", serve_get_role, PLAIN},
    {IAM, "ListInstanceProfiles", serve_list_instance_profiles, PLAIN},
    {IAM, "RemoveRoleFromInstanceProfile", serve_remove_role, .flags = MUTATES},
    {IAM, "TagInstanceProfile", serve_tag_instance_profile, .flags = MUTATES},

    {STS, "AssumeRole", serve_assume_role, PLAIN},
    {STS, "AssumeRoleWithWebIdentity", serve_assume_role_with_web_identity, .flags = UNSIGNED},
    {STS, "GetCallerIdentity", serve_get_caller_identity, PLAIN},

    {SSM, "GetParameter", serve_get_parameter, PLAIN},
    {SSM, "GetParameters", serve_get_parameters, PLAIN},
    {SSM, "GetParametersByPath", serve_get_parameters_by_path, PLAIN},
    {SSM, "PutParameter", serve_put_parameter, .flags = MUTATES},

    {SQS, "ChangeMessageVisibility", serve_change_visibility, PLAIN},
    {SQS, "DeleteMessage", serve_delete_message, PLAIN},
    {SQS, "DeleteMessageBatch", serve_delete_message_batch, PLAIN},
    {SQS, "GetQueueAttributes", serve_get_queue_attributes, PLAIN},
    {SQS, "GetQueueUrl", serve_get_queue_url, PLAIN},
    {SQS, "ListQueues", serve_list_queues, PLAIN},
    {SQS, "PurgeQueue", serve_purge_queue, PLAIN},
    {SQS, "ReceiveMessage", serve_receive_message, PLAIN},
    {SQS, "SendMessage", serve_send_message, PLAIN},

    {EKS, "DescribeCluster", serve_describe_cluster, PLAIN},
    {EKS, "ListClusters", serve_list_clusters, PLAIN},

    {EVENTS, "DescribeRule", serve_describe_rule, PLAIN},
    {EVENTS, "ListRules", serve_list_rules, PLAIN},
    {EVENTS, "ListTargetsByRule", serve_list_targets, PLAIN},
    {EVENTS, "PutEvents", serve_put_events, PLAIN},

    {PRICING, "GetProducts", serve_get_products, PLAIN},

    {ZONAL_SHIFT, "GetManagedResource", serve_get_managed_resource, PLAIN},
};

const uint32_t aws_n_actions = ARRAY_LEN(aws_actions);
