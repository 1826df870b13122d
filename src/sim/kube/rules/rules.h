/* rules - the rules and columns of the built-in kinds, one file per family; table.c finds them by kind. */
#pragma once

#include "sim/kube/kind.h"

extern const struct kind_rules rules_cluster_role, rules_cluster_role_binding, rules_config_map,
    rules_controller_revision, rules_crd, rules_cron_job, rules_csi_driver, rules_csi_node, rules_daemon_set,
    rules_deployment, rules_endpoint_slice, rules_endpoints, rules_event, rules_hpa, rules_ingress, rules_job,
    rules_lease, rules_limit_range, rules_mutating_webhook, rules_namespace, rules_network_policy, rules_new_event,
    rules_node, rules_pdb, rules_plain, rules_pod, rules_pod_template, rules_priority_class, rules_pv, rules_pvc,
    rules_replica_set, rules_replication_controller, rules_resource_quota, rules_role, rules_role_binding, rules_secret,
    rules_service, rules_stateful_set, rules_storage_class, rules_validating_webhook, rules_volume_attachment;

extern const struct kind_columns columns_binding, columns_config_map, columns_controller_revision, columns_created,
    columns_cron_job, columns_csi_driver, columns_csi_node, columns_daemon_set, columns_deployment,
    columns_endpoint_slice, columns_endpoints, columns_event, columns_hpa, columns_ingress, columns_ingress_class,
    columns_job, columns_lease, columns_named, columns_namespace, columns_network_policy, columns_new_event,
    columns_node, columns_pdb, columns_pod, columns_pod_template, columns_priority_class, columns_pv, columns_pvc,
    columns_replica_set, columns_resource_quota, columns_secret, columns_service, columns_stateful_set,
    columns_storage_class, columns_volume_attachment, columns_webhooks;
