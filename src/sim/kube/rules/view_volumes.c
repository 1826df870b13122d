/* Types of Kubernetes 1.36 as its server prints them: volumes. Kinds that hardly anybody has are shown as they are in the API. */
#include "sim/kube/rules/view.h"

static const struct view view_host_path_volume_source[] = {
    {"Path", "path", VIEW_STR, NULL},
    {"Type", "type", VIEW_STR, NULL},
    {0},
};

static const struct view view_empty_dir_volume_source[] = {
    {"Medium", "medium", VIEW_STR, NULL},
    {"SizeLimit", "sizeLimit", VIEW_ANY, NULL},
    {0},
};

static const struct view view_key_to_path[] = {
    {"Key", "key", VIEW_STR, NULL},
    {"Path", "path", VIEW_STR, NULL},
    {"Mode", "mode", VIEW_ANY, NULL},
    {0},
};

static const struct view view_secret_volume_source[] = {
    {"SecretName", "secretName", VIEW_STR, NULL},
    {"Items", "items", VIEW_LIST, view_key_to_path},
    {"DefaultMode", "defaultMode", VIEW_INT, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_nfs_volume_source[] = {
    {"Server", "server", VIEW_STR, NULL},
    {"Path", "path", VIEW_STR, NULL},
    {"ReadOnly", "readOnly", VIEW_BOOL, NULL},
    {0},
};

static const struct view view_persistent_volume_claim_volume_source[] = {
    {"ClaimName", "claimName", VIEW_STR, NULL},
    {"ReadOnly", "readOnly", VIEW_BOOL, NULL},
    {0},
};

const struct view view_object_field_selector[] = {
    {"APIVersion", "apiVersion", VIEW_STR, NULL},
    {"FieldPath", "fieldPath", VIEW_STR, NULL},
    {0},
};

const struct view view_resource_field_selector[] = {
    {"ContainerName", "containerName", VIEW_STR, NULL},
    {"Resource", "resource", VIEW_STR, NULL},
    {"Divisor", "divisor", VIEW_STR, NULL},
    {0},
};

static const struct view view_downward_api_volume_file[] = {
    {"Path", "path", VIEW_STR, NULL},
    {"FieldRef", "fieldRef", VIEW_PTR, view_object_field_selector},
    {"ResourceFieldRef", "resourceFieldRef", VIEW_PTR, view_resource_field_selector},
    {"Mode", "mode", VIEW_ANY, NULL},
    {0},
};

static const struct view view_downward_api_volume_source[] = {
    {"Items", "items", VIEW_LIST, view_downward_api_volume_file},
    {"DefaultMode", "defaultMode", VIEW_INT, NULL},
    {0},
};

static const struct view view_config_map_volume_source[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Items", "items", VIEW_LIST, view_key_to_path},
    {"DefaultMode", "defaultMode", VIEW_INT, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_secret_projection[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Items", "items", VIEW_ANY, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_downward_api_projection[] = {
    {"Items", "items", VIEW_LIST, view_downward_api_volume_file},
    {0},
};

static const struct view view_config_map_projection[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Items", "items", VIEW_LIST, view_key_to_path},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_service_account_token_projection[] = {
    {"Audience", "audience", VIEW_STR, NULL},
    {"ExpirationSeconds", "expirationSeconds", VIEW_INT, NULL},
    {"Path", "path", VIEW_STR, NULL},
    {0},
};

static const struct view view_volume_projection[] = {
    {"Secret", "secret", VIEW_PTR, view_secret_projection},
    {"DownwardAPI", "downwardAPI", VIEW_PTR, view_downward_api_projection},
    {"ConfigMap", "configMap", VIEW_PTR, view_config_map_projection},
    {"ServiceAccountToken", "serviceAccountToken", VIEW_PTR, view_service_account_token_projection},
    {"ClusterTrustBundle", "clusterTrustBundle", VIEW_ANY, NULL},
    {"PodCertificate", "podCertificate", VIEW_ANY, NULL},
    {0},
};

static const struct view view_projected_volume_source[] = {
    {"Sources", "sources", VIEW_LIST, view_volume_projection},
    {"DefaultMode", "defaultMode", VIEW_INT, NULL},
    {0},
};

const struct view view_local_object_reference[] = {
    {"Name", "name", VIEW_STR, NULL},
    {0},
};

static const struct view view_csi_volume_source[] = {
    {"Driver", "driver", VIEW_STR, NULL},
    {"ReadOnly", "readOnly", VIEW_ANY, NULL},
    {"FSType", "fsType", VIEW_ANY, NULL},
    {"VolumeAttributes", "volumeAttributes", VIEW_ANY, NULL},
    {"NodePublishSecretRef", "nodePublishSecretRef", VIEW_PTR, view_local_object_reference},
    {0},
};

const struct view view_label_selector[] = {
    {"matchLabels", "matchLabels", VIEW_TAGGED, NULL},
    {"matchExpressions", "matchExpressions", VIEW_TAGGED, NULL},
    {0},
};

static const struct view view_volume_resource_requirements[] = {
    {"Limits", "limits", VIEW_ANY, NULL},
    {"Requests", "requests", VIEW_ANY, NULL},
    {0},
};

static const struct view view_typed_local_object_reference[] = {
    {"APIGroup", "apiGroup", VIEW_ANY, NULL},
    {"Kind", "kind", VIEW_STR, NULL},
    {"Name", "name", VIEW_STR, NULL},
    {0},
};

const struct view view_claim_spec[] = {
    {"AccessModes", "accessModes", VIEW_ANY, NULL},
    {"Selector", "selector", VIEW_PTR, view_label_selector},
    {"Resources", "resources", VIEW_STRUCT, view_volume_resource_requirements},
    {"VolumeName", "volumeName", VIEW_STR, NULL},
    {"StorageClassName", "storageClassName", VIEW_ANY, NULL},
    {"VolumeMode", "volumeMode", VIEW_STR, NULL},
    {"DataSource", "dataSource", VIEW_PTR, view_typed_local_object_reference},
    {"DataSourceRef", "dataSourceRef", VIEW_ANY, NULL},
    {"VolumeAttributesClassName", "volumeAttributesClassName", VIEW_ANY, NULL},
    {0},
};

static const struct view view_persistent_volume_claim_template[] = {
    {"labels", "metadata.labels", VIEW_TAGGED, NULL},
    {"annotations", "metadata.annotations", VIEW_TAGGED, NULL},
    {"Spec", "spec", VIEW_STRUCT, view_claim_spec},
    {0},
};

static const struct view view_ephemeral_volume_source[] = {
    {"VolumeClaimTemplate", "volumeClaimTemplate", VIEW_PTR, view_persistent_volume_claim_template},
    {0},
};

static const struct view view_image_volume_source[] = {
    {"Reference", "reference", VIEW_STR, NULL},
    {"PullPolicy", "pullPolicy", VIEW_STR, NULL},
    {0},
};

const struct view view_volume[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"HostPath", "hostPath", VIEW_PTR, view_host_path_volume_source},
    {"EmptyDir", "emptyDir", VIEW_PTR, view_empty_dir_volume_source},
    {"GCEPersistentDisk", "gcePersistentDisk", VIEW_ANY, NULL},
    {"AWSElasticBlockStore", "awsElasticBlockStore", VIEW_ANY, NULL},
    {"GitRepo", "gitRepo", VIEW_ANY, NULL},
    {"Secret", "secret", VIEW_PTR, view_secret_volume_source},
    {"NFS", "nfs", VIEW_PTR, view_nfs_volume_source},
    {"ISCSI", "iscsi", VIEW_ANY, NULL},
    {"Glusterfs", "glusterfs", VIEW_ANY, NULL},
    {"PersistentVolumeClaim", "persistentVolumeClaim", VIEW_PTR, view_persistent_volume_claim_volume_source},
    {"RBD", "rbd", VIEW_ANY, NULL},
    {"Quobyte", "quobyte", VIEW_ANY, NULL},
    {"FlexVolume", "flexVolume", VIEW_ANY, NULL},
    {"Cinder", "cinder", VIEW_ANY, NULL},
    {"CephFS", "cephfs", VIEW_ANY, NULL},
    {"Flocker", "flocker", VIEW_ANY, NULL},
    {"DownwardAPI", "downwardAPI", VIEW_PTR, view_downward_api_volume_source},
    {"FC", "fc", VIEW_ANY, NULL},
    {"AzureFile", "azureFile", VIEW_ANY, NULL},
    {"ConfigMap", "configMap", VIEW_PTR, view_config_map_volume_source},
    {"VsphereVolume", "vsphereVolume", VIEW_ANY, NULL},
    {"AzureDisk", "azureDisk", VIEW_ANY, NULL},
    {"PhotonPersistentDisk", "photonPersistentDisk", VIEW_ANY, NULL},
    {"Projected", "projected", VIEW_PTR, view_projected_volume_source},
    {"PortworxVolume", "portworxVolume", VIEW_ANY, NULL},
    {"ScaleIO", "scaleIO", VIEW_ANY, NULL},
    {"StorageOS", "storageos", VIEW_ANY, NULL},
    {"CSI", "csi", VIEW_PTR, view_csi_volume_source},
    {"Ephemeral", "ephemeral", VIEW_PTR, view_ephemeral_volume_source},
    {"Image", "image", VIEW_PTR, view_image_volume_source},
    {0},
};

static const struct view view_local_persistent[] = {
    {"Path", "path", VIEW_STR, NULL},
    {"FSType", "fsType", VIEW_ANY, NULL},
    {0},
};

static const struct view view_csi_persistent[] = {
    {"Driver", "driver", VIEW_STR, NULL},
    {"VolumeHandle", "volumeHandle", VIEW_STR, NULL},
    {"ReadOnly", "readOnly", VIEW_BOOL, NULL},
    {"FSType", "fsType", VIEW_STR, NULL},
    {"VolumeAttributes", "volumeAttributes", VIEW_ANY, NULL},
    {"ControllerPublishSecretRef", "controllerPublishSecretRef", VIEW_ANY, NULL},
    {"NodeStageSecretRef", "nodeStageSecretRef", VIEW_ANY, NULL},
    {"NodePublishSecretRef", "nodePublishSecretRef", VIEW_ANY, NULL},
    {"ControllerExpandSecretRef", "controllerExpandSecretRef", VIEW_ANY, NULL},
    {"NodeExpandSecretRef", "nodeExpandSecretRef", VIEW_ANY, NULL},
    {0},
};

const struct view view_volume_source[] = {
    {"GCEPersistentDisk", "gcePersistentDisk", VIEW_ANY, NULL},
    {"AWSElasticBlockStore", "awsElasticBlockStore", VIEW_ANY, NULL},
    {"HostPath", "hostPath", VIEW_PTR, view_host_path_volume_source},
    {"Glusterfs", "glusterfs", VIEW_ANY, NULL},
    {"NFS", "nfs", VIEW_PTR, view_nfs_volume_source},
    {"RBD", "rbd", VIEW_ANY, NULL},
    {"Quobyte", "quobyte", VIEW_ANY, NULL},
    {"ISCSI", "iscsi", VIEW_ANY, NULL},
    {"FlexVolume", "flexVolume", VIEW_ANY, NULL},
    {"Cinder", "cinder", VIEW_ANY, NULL},
    {"CephFS", "cephfs", VIEW_ANY, NULL},
    {"FC", "fc", VIEW_ANY, NULL},
    {"Flocker", "flocker", VIEW_ANY, NULL},
    {"AzureFile", "azureFile", VIEW_ANY, NULL},
    {"VsphereVolume", "vsphereVolume", VIEW_ANY, NULL},
    {"AzureDisk", "azureDisk", VIEW_ANY, NULL},
    {"PhotonPersistentDisk", "photonPersistentDisk", VIEW_ANY, NULL},
    {"PortworxVolume", "portworxVolume", VIEW_ANY, NULL},
    {"ScaleIO", "scaleIO", VIEW_ANY, NULL},
    {"Local", "local", VIEW_PTR, view_local_persistent},
    {"StorageOS", "storageos", VIEW_ANY, NULL},
    {"CSI", "csi", VIEW_PTR, view_csi_persistent},
    {0},
};
