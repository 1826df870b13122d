/* Which rules and columns a built-in kind has. */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

/* Kinds whose objects are kept as they come. */
const struct kind_rules rules_plain = {.defaults = compact, .on_update = keep_other_half};

static const struct column named_columns[] = {COLUMN_NAME, COLUMN_AGE};

static void named_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_age(c, obj);
}

KIND_COLUMNS(named);

static const struct column created_columns[] = {COLUMN_NAME, COLUMN_CREATED};

static void created_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_created(c, obj);
}

KIND_COLUMNS(created);

#define ADMISSION "admissionregistration.k8s.io"
#define NETWORKING "networking.k8s.io"
#define RBAC "rbac.authorization.k8s.io"
#define STORAGE "storage.k8s.io"

static const struct {
    const char *group, *kind;
    const struct kind_rules *rules;
    const struct kind_columns *columns;
} table[] = {
    {"", "ConfigMap", &rules_config_map, &columns_config_map},
    {"", "Endpoints", &rules_endpoints, &columns_endpoints},
    {"", "Event", &rules_event, &columns_event},
    {"", "LimitRange", &rules_limit_range, &columns_created},
    {"", "Namespace", &rules_namespace, &columns_namespace},
    {"", "Node", &rules_node, &columns_node},
    {"", "PersistentVolume", &rules_pv, &columns_pv},
    {"", "PersistentVolumeClaim", &rules_pvc, &columns_pvc},
    {"", "Pod", &rules_pod, &columns_pod},
    {"", "PodTemplate", &rules_pod_template, &columns_pod_template},
    {"", "ReplicationController", &rules_replication_controller, &columns_replica_set},
    {"", "ResourceQuota", &rules_resource_quota, &columns_resource_quota},
    {"", "Secret", &rules_secret, &columns_secret},
    {"", "Service", &rules_service, &columns_service},
    {"", "ServiceAccount", &rules_plain, &columns_named},
    {ADMISSION, "MutatingWebhookConfiguration", &rules_mutating_webhook, &columns_webhooks},
    {ADMISSION, "ValidatingWebhookConfiguration", &rules_validating_webhook, &columns_webhooks},
    {"apiextensions.k8s.io", "CustomResourceDefinition", &rules_crd, &columns_created},
    {"apps", "ControllerRevision", &rules_controller_revision, &columns_controller_revision},
    {"apps", "DaemonSet", &rules_daemon_set, &columns_daemon_set},
    {"apps", "Deployment", &rules_deployment, &columns_deployment},
    {"apps", "ReplicaSet", &rules_replica_set, &columns_replica_set},
    {"apps", "StatefulSet", &rules_stateful_set, &columns_stateful_set},
    {"autoscaling", "HorizontalPodAutoscaler", &rules_hpa, &columns_hpa},
    {"batch", "CronJob", &rules_cron_job, &columns_cron_job},
    {"batch", "Job", &rules_job, &columns_job},
    {"coordination.k8s.io", "Lease", &rules_lease, &columns_lease},
    {"discovery.k8s.io", "EndpointSlice", &rules_endpoint_slice, &columns_endpoint_slice},
    {"events.k8s.io", "Event", &rules_new_event, &columns_new_event},
    {NETWORKING, "Ingress", &rules_ingress, &columns_ingress},
    {NETWORKING, "IngressClass", &rules_plain, &columns_ingress_class},
    {NETWORKING, "NetworkPolicy", &rules_network_policy, &columns_network_policy},
    {"policy", "PodDisruptionBudget", &rules_pdb, &columns_pdb},
    {RBAC, "ClusterRole", &rules_cluster_role, &columns_created},
    {RBAC, "ClusterRoleBinding", &rules_cluster_role_binding, &columns_binding},
    {RBAC, "Role", &rules_role, &columns_created},
    {RBAC, "RoleBinding", &rules_role_binding, &columns_binding},
    {"scheduling.k8s.io", "PriorityClass", &rules_priority_class, &columns_priority_class},
    {STORAGE, "CSIDriver", &rules_csi_driver, &columns_csi_driver},
    {STORAGE, "CSINode", &rules_csi_node, &columns_csi_node},
    {STORAGE, "CSIStorageCapacity", &rules_plain, &columns_created},
    {STORAGE, "StorageClass", &rules_storage_class, &columns_storage_class},
    {STORAGE, "VolumeAttachment", &rules_volume_attachment, &columns_volume_attachment},
};

static size_t find(str group, str name)
{
    size_t i = 0;

    while (i < ARRAY_LEN(table) && !(str_is(name, table[i].kind) && str_is(group, table[i].group)))
        i++;
    return i;
}

const struct kind_rules *kind_rules_of(str group, str name)
{
    size_t i = find(group, name);

    return i < ARRAY_LEN(table) ? table[i].rules : NULL;
}

const struct kind_columns *kind_columns_of(str group, str name)
{
    size_t i = find(group, name);

    return i < ARRAY_LEN(table) ? table[i].columns : NULL;
}
