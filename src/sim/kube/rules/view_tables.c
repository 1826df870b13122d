/* Types of Kubernetes 1.36 as its server prints them. Kinds of volumes that hardly anybody has are shown as they are in the API. */
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

static const struct view view_object_field_selector[] = {
    {"APIVersion", "apiVersion", VIEW_STR, NULL},
    {"FieldPath", "fieldPath", VIEW_STR, NULL},
    {0},
};

static const struct view view_resource_field_selector[] = {
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

static const struct view view_local_object_reference[] = {
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

static const struct view view_volume[] = {
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

static const struct view view_container_port[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"HostPort", "hostPort", VIEW_INT, NULL},
    {"ContainerPort", "containerPort", VIEW_INT, NULL},
    {"Protocol", "protocol", VIEW_STR, NULL},
    {"HostIP", "hostIP", VIEW_STR, NULL},
    {0},
};

static const struct view view_config_map_env_source[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_secret_env_source[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_env_from_source[] = {
    {"Prefix", "prefix", VIEW_STR, NULL},
    {"ConfigMapRef", "configMapRef", VIEW_PTR, view_config_map_env_source},
    {"SecretRef", "secretRef", VIEW_PTR, view_secret_env_source},
    {0},
};

static const struct view view_config_map_key_selector[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Key", "key", VIEW_STR, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_secret_key_selector[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Key", "key", VIEW_STR, NULL},
    {"Optional", "optional", VIEW_ANY, NULL},
    {0},
};

static const struct view view_env_var_source[] = {
    {"FieldRef", "fieldRef", VIEW_PTR, view_object_field_selector},
    {"ResourceFieldRef", "resourceFieldRef", VIEW_PTR, view_resource_field_selector},
    {"ConfigMapKeyRef", "configMapKeyRef", VIEW_PTR, view_config_map_key_selector},
    {"SecretKeyRef", "secretKeyRef", VIEW_PTR, view_secret_key_selector},
    {"FileKeyRef", "fileKeyRef", VIEW_ANY, NULL},
    {0},
};

static const struct view view_env_var[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {"ValueFrom", "valueFrom", VIEW_PTR, view_env_var_source},
    {0},
};

static const struct view view_resource_requirements[] = {
    {"Limits", "limits", VIEW_ANY, NULL},
    {"Requests", "requests", VIEW_ANY, NULL},
    {"Claims", "claims", VIEW_ANY, NULL},
    {0},
};

static const struct view view_container_resize_policy[] = {
    {"ResourceName", "resourceName", VIEW_STR, NULL},
    {"RestartPolicy", "restartPolicy", VIEW_STR, NULL},
    {0},
};

static const struct view view_volume_mount[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"ReadOnly", "readOnly", VIEW_BOOL, NULL},
    {"RecursiveReadOnly", "recursiveReadOnly", VIEW_ANY, NULL},
    {"MountPath", "mountPath", VIEW_STR, NULL},
    {"SubPath", "subPath", VIEW_STR, NULL},
    {"MountPropagation", "mountPropagation", VIEW_ANY, NULL},
    {"SubPathExpr", "subPathExpr", VIEW_STR, NULL},
    {0},
};

static const struct view view_http_header[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {0},
};

static const struct view view_http_get_action[] = {
    {"Path", "path", VIEW_STR, NULL},
    {"Port", "port", VIEW_INT, NULL},
    {"Host", "host", VIEW_STR, NULL},
    {"Scheme", "scheme", VIEW_STR, NULL},
    {"HTTPHeaders", "httpHeaders", VIEW_LIST, view_http_header},
    {0},
};

static const struct view view_tcp_socket_action[] = {
    {"Port", "port", VIEW_STR, NULL},
    {"Host", "host", VIEW_STR, NULL},
    {0},
};

static const struct view view_grpc_action[] = {
    {"Port", "port", VIEW_INT, NULL},
    {"Service", "service", VIEW_STR, NULL},
    {0},
};

static const struct view view_probe[] = {
    {"Exec", "exec", VIEW_ANY, NULL},
    {"HTTPGet", "httpGet", VIEW_PTR, view_http_get_action},
    {"TCPSocket", "tcpSocket", VIEW_PTR, view_tcp_socket_action},
    {"GRPC", "grpc", VIEW_PTR, view_grpc_action},
    {"InitialDelaySeconds", "initialDelaySeconds", VIEW_INT, NULL},
    {"TimeoutSeconds", "timeoutSeconds", VIEW_INT, NULL},
    {"PeriodSeconds", "periodSeconds", VIEW_INT, NULL},
    {"SuccessThreshold", "successThreshold", VIEW_INT, NULL},
    {"FailureThreshold", "failureThreshold", VIEW_INT, NULL},
    {"TerminationGracePeriodSeconds", "terminationGracePeriodSeconds", VIEW_ANY, NULL},
    {0},
};

static const struct view view_exec_action[] = {
    {"Command", "command", VIEW_ANY, NULL},
    {0},
};

static const struct view view_sleep_action[] = {
    {"Seconds", "seconds", VIEW_INT, NULL},
    {0},
};

static const struct view view_lifecycle_handler[] = {
    {"Exec", "exec", VIEW_PTR, view_exec_action},
    {"HTTPGet", "httpGet", VIEW_ANY, NULL},
    {"TCPSocket", "tcpSocket", VIEW_ANY, NULL},
    {"Sleep", "sleep", VIEW_PTR, view_sleep_action},
    {0},
};

static const struct view view_lifecycle[] = {
    {"PostStart", "postStart", VIEW_PTR, view_lifecycle_handler},
    {"PreStop", "preStop", VIEW_PTR, view_lifecycle_handler},
    {"StopSignal", "stopSignal", VIEW_ANY, NULL},
    {0},
};

static const struct view view_capabilities[] = {
    {"Add", "add", VIEW_ANY, NULL},
    {"Drop", "drop", VIEW_ANY, NULL},
    {0},
};

static const struct view view_se_linux_options[] = {
    {"User", "user", VIEW_STR, NULL},
    {"Role", "role", VIEW_STR, NULL},
    {"Type", "type", VIEW_STR, NULL},
    {"Level", "level", VIEW_STR, NULL},
    {0},
};

static const struct view view_seccomp_profile[] = {
    {"Type", "type", VIEW_STR, NULL},
    {"LocalhostProfile", "localhostProfile", VIEW_ANY, NULL},
    {0},
};

static const struct view view_app_armor_profile[] = {
    {"Type", "type", VIEW_STR, NULL},
    {"LocalhostProfile", "localhostProfile", VIEW_ANY, NULL},
    {0},
};

const struct view view_security_context[] = {
    {"Capabilities", "capabilities", VIEW_PTR, view_capabilities},
    {"Privileged", "privileged", VIEW_ANY, NULL},
    {"SELinuxOptions", "seLinuxOptions", VIEW_PTR, view_se_linux_options},
    {"WindowsOptions", "windowsOptions", VIEW_ANY, NULL},
    {"RunAsUser", "runAsUser", VIEW_ANY, NULL},
    {"RunAsGroup", "runAsGroup", VIEW_ANY, NULL},
    {"RunAsNonRoot", "runAsNonRoot", VIEW_ANY, NULL},
    {"ReadOnlyRootFilesystem", "readOnlyRootFilesystem", VIEW_ANY, NULL},
    {"AllowPrivilegeEscalation", "allowPrivilegeEscalation", VIEW_ANY, NULL},
    {"ProcMount", "procMount", VIEW_ANY, NULL},
    {"SeccompProfile", "seccompProfile", VIEW_PTR, view_seccomp_profile},
    {"AppArmorProfile", "appArmorProfile", VIEW_PTR, view_app_armor_profile},
    {0},
};

static const struct view view_container[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Image", "image", VIEW_STR, NULL},
    {"Command", "command", VIEW_ANY, NULL},
    {"Args", "args", VIEW_ANY, NULL},
    {"WorkingDir", "workingDir", VIEW_STR, NULL},
    {"Ports", "ports", VIEW_LIST, view_container_port},
    {"EnvFrom", "envFrom", VIEW_LIST, view_env_from_source},
    {"Env", "env", VIEW_LIST, view_env_var},
    {"Resources", "resources", VIEW_STRUCT, view_resource_requirements},
    {"ResizePolicy", "resizePolicy", VIEW_LIST, view_container_resize_policy},
    {"RestartPolicy", "restartPolicy", VIEW_ANY, NULL},
    {"RestartPolicyRules", "restartPolicyRules", VIEW_ANY, NULL},
    {"VolumeMounts", "volumeMounts", VIEW_LIST, view_volume_mount},
    {"VolumeDevices", "volumeDevices", VIEW_ANY, NULL},
    {"LivenessProbe", "livenessProbe", VIEW_PTR, view_probe},
    {"ReadinessProbe", "readinessProbe", VIEW_PTR, view_probe},
    {"StartupProbe", "startupProbe", VIEW_PTR, view_probe},
    {"Lifecycle", "lifecycle", VIEW_PTR, view_lifecycle},
    {"TerminationMessagePath", "terminationMessagePath", VIEW_STR, NULL},
    {"TerminationMessagePolicy", "terminationMessagePolicy", VIEW_STR, NULL},
    {"ImagePullPolicy", "imagePullPolicy", VIEW_STR, NULL},
    {"SecurityContext", "securityContext", VIEW_PTR, view_security_context},
    {"Stdin", "stdin", VIEW_BOOL, NULL},
    {"StdinOnce", "stdinOnce", VIEW_BOOL, NULL},
    {"TTY", "tty", VIEW_BOOL, NULL},
    {0},
};

static const struct view view_sysctl[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {0},
};

static const struct view view_pod_security_context[] = {
    {"HostNetwork", "^hostNetwork", VIEW_BOOL, NULL},
    {"HostPID", "^hostPID", VIEW_BOOL, NULL},
    {"HostIPC", "^hostIPC", VIEW_BOOL, NULL},
    {"ShareProcessNamespace", "^shareProcessNamespace", VIEW_ANY, NULL},
    {"HostUsers", "^hostUsers", VIEW_ANY, NULL},
    {"SELinuxOptions", "seLinuxOptions", VIEW_PTR, view_se_linux_options},
    {"WindowsOptions", "windowsOptions", VIEW_ANY, NULL},
    {"RunAsUser", "runAsUser", VIEW_ANY, NULL},
    {"RunAsGroup", "runAsGroup", VIEW_ANY, NULL},
    {"RunAsNonRoot", "runAsNonRoot", VIEW_ANY, NULL},
    {"SupplementalGroups", "supplementalGroups", VIEW_ANY, NULL},
    {"SupplementalGroupsPolicy", "supplementalGroupsPolicy", VIEW_ANY, NULL},
    {"FSGroup", "fsGroup", VIEW_ANY, NULL},
    {"FSGroupChangePolicy", "fsGroupChangePolicy", VIEW_ANY, NULL},
    {"Sysctls", "sysctls", VIEW_LIST, view_sysctl},
    {"SeccompProfile", "seccompProfile", VIEW_PTR, view_seccomp_profile},
    {"AppArmorProfile", "appArmorProfile", VIEW_PTR, view_app_armor_profile},
    {"SELinuxChangePolicy", "seLinuxChangePolicy", VIEW_ANY, NULL},
    {0},
};

static const struct view view_node_selector_requirement[] = {
    {"Key", "key", VIEW_STR, NULL},
    {"Operator", "operator", VIEW_STR, NULL},
    {"Values", "values", VIEW_ANY, NULL},
    {0},
};

static const struct view view_node_selector_term[] = {
    {"MatchExpressions", "matchExpressions", VIEW_LIST, view_node_selector_requirement},
    {"MatchFields", "matchFields", VIEW_LIST, view_node_selector_requirement},
    {0},
};

static const struct view view_node_selector[] = {
    {"NodeSelectorTerms", "nodeSelectorTerms", VIEW_LIST, view_node_selector_term},
    {0},
};

static const struct view view_preferred_scheduling_term[] = {
    {"Weight", "weight", VIEW_INT, NULL},
    {"Preference", "preference", VIEW_STRUCT, view_node_selector_term},
    {0},
};

static const struct view view_node_affinity[] = {
    {"RequiredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution", VIEW_PTR,
     view_node_selector},
    {"PreferredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution", VIEW_LIST,
     view_preferred_scheduling_term},
    {0},
};

static const struct view view_pod_affinity_term[] = {
    {"LabelSelector", "labelSelector", VIEW_PTR, view_label_selector},
    {"Namespaces", "namespaces", VIEW_ANY, NULL},
    {"TopologyKey", "topologyKey", VIEW_STR, NULL},
    {"NamespaceSelector", "namespaceSelector", VIEW_PTR, view_label_selector},
    {"MatchLabelKeys", "matchLabelKeys", VIEW_ANY, NULL},
    {"MismatchLabelKeys", "mismatchLabelKeys", VIEW_ANY, NULL},
    {0},
};

static const struct view view_weighted_pod_affinity_term[] = {
    {"Weight", "weight", VIEW_INT, NULL},
    {"PodAffinityTerm", "podAffinityTerm", VIEW_STRUCT, view_pod_affinity_term},
    {0},
};

static const struct view view_pod_affinity[] = {
    {"RequiredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution", VIEW_LIST,
     view_pod_affinity_term},
    {"PreferredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution", VIEW_LIST,
     view_weighted_pod_affinity_term},
    {0},
};

static const struct view view_pod_anti_affinity[] = {
    {"RequiredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution", VIEW_LIST,
     view_pod_affinity_term},
    {"PreferredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution", VIEW_ANY,
     NULL},
    {0},
};

static const struct view view_affinity[] = {
    {"NodeAffinity", "nodeAffinity", VIEW_PTR, view_node_affinity},
    {"PodAffinity", "podAffinity", VIEW_PTR, view_pod_affinity},
    {"PodAntiAffinity", "podAntiAffinity", VIEW_PTR, view_pod_anti_affinity},
    {0},
};

static const struct view view_toleration[] = {
    {"Key", "key", VIEW_STR, NULL},
    {"Operator", "operator", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {"Effect", "effect", VIEW_STR, NULL},
    {"TolerationSeconds", "tolerationSeconds", VIEW_ANY, NULL},
    {0},
};

static const struct view view_host_alias[] = {
    {"IP", "ip", VIEW_STR, NULL},
    {"Hostnames", "hostnames", VIEW_ANY, NULL},
    {0},
};

static const struct view view_pod_dns_config_option[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"Value", "value", VIEW_STR, NULL},
    {0},
};

static const struct view view_pod_dns_config[] = {
    {"Nameservers", "nameservers", VIEW_ANY, NULL},
    {"Searches", "searches", VIEW_ANY, NULL},
    {"Options", "options", VIEW_LIST, view_pod_dns_config_option},
    {0},
};

static const struct view view_pod_readiness_gate[] = {
    {"ConditionType", "conditionType", VIEW_STR, NULL},
    {0},
};

static const struct view view_topology_spread_constraint[] = {
    {"MaxSkew", "maxSkew", VIEW_INT, NULL},
    {"TopologyKey", "topologyKey", VIEW_STR, NULL},
    {"WhenUnsatisfiable", "whenUnsatisfiable", VIEW_STR, NULL},
    {"LabelSelector", "labelSelector", VIEW_PTR, view_label_selector},
    {"MinDomains", "minDomains", VIEW_ANY, NULL},
    {"NodeAffinityPolicy", "nodeAffinityPolicy", VIEW_ANY, NULL},
    {"NodeTaintsPolicy", "nodeTaintsPolicy", VIEW_ANY, NULL},
    {"MatchLabelKeys", "matchLabelKeys", VIEW_ANY, NULL},
    {0},
};

static const struct view view_pod_os[] = {
    {"Name", "name", VIEW_STR, NULL},
    {0},
};

static const struct view view_pod_scheduling_gate[] = {
    {"Name", "name", VIEW_STR, NULL},
    {0},
};

static const struct view view_pod_resource_claim[] = {
    {"Name", "name", VIEW_STR, NULL},
    {"ResourceClaimName", "resourceClaimName", VIEW_STR, NULL},
    {"ResourceClaimTemplateName", "resourceClaimTemplateName", VIEW_ANY, NULL},
    {0},
};

const struct view view_pod_spec[] = {
    {"Volumes", "volumes", VIEW_LIST, view_volume},
    {"InitContainers", "initContainers", VIEW_LIST, view_container},
    {"Containers", "containers", VIEW_LIST, view_container},
    {"EphemeralContainers", "ephemeralContainers", VIEW_ANY, NULL},
    {"RestartPolicy", "restartPolicy", VIEW_STR, NULL},
    {"TerminationGracePeriodSeconds", "terminationGracePeriodSeconds", VIEW_INT, NULL},
    {"ActiveDeadlineSeconds", "activeDeadlineSeconds", VIEW_ANY, NULL},
    {"DNSPolicy", "dnsPolicy", VIEW_STR, NULL},
    {"NodeSelector", "nodeSelector", VIEW_ANY, NULL},
    {"ServiceAccountName", "serviceAccountName", VIEW_STR, NULL},
    {"AutomountServiceAccountToken", "automountServiceAccountToken", VIEW_ANY, NULL},
    {"NodeName", "nodeName", VIEW_STR, NULL},
    {"SecurityContext", "securityContext", VIEW_PTR, view_pod_security_context},
    {"ImagePullSecrets", "imagePullSecrets", VIEW_LIST, view_local_object_reference},
    {"Hostname", "hostname", VIEW_STR, NULL},
    {"Subdomain", "subdomain", VIEW_STR, NULL},
    {"SetHostnameAsFQDN", "setHostnameAsFQDN", VIEW_ANY, NULL},
    {"Affinity", "affinity", VIEW_PTR, view_affinity},
    {"SchedulerName", "schedulerName", VIEW_STR, NULL},
    {"Tolerations", "tolerations", VIEW_LIST, view_toleration},
    {"HostAliases", "hostAliases", VIEW_LIST, view_host_alias},
    {"PriorityClassName", "priorityClassName", VIEW_STR, NULL},
    {"Priority", "priority", VIEW_ANY, NULL},
    {"PreemptionPolicy", "preemptionPolicy", VIEW_ANY, NULL},
    {"DNSConfig", "dnsConfig", VIEW_PTR, view_pod_dns_config},
    {"ReadinessGates", "readinessGates", VIEW_LIST, view_pod_readiness_gate},
    {"RuntimeClassName", "runtimeClassName", VIEW_ANY, NULL},
    {"Overhead", "overhead", VIEW_ANY, NULL},
    {"EnableServiceLinks", "enableServiceLinks", VIEW_ANY, NULL},
    {"TopologySpreadConstraints", "topologySpreadConstraints", VIEW_LIST, view_topology_spread_constraint},
    {"OS", "os", VIEW_PTR, view_pod_os},
    {"SchedulingGates", "schedulingGates", VIEW_LIST, view_pod_scheduling_gate},
    {"ResourceClaims", "resourceClaims", VIEW_LIST, view_pod_resource_claim},
    {"Resources", "resources", VIEW_ANY, NULL},
    {"HostnameOverride", "hostnameOverride", VIEW_ANY, NULL},
    {"SchedulingGroup", "schedulingGroup", VIEW_ANY, NULL},
    {0},
};

const struct view view_pod_template[] = {
    {"labels", "metadata.labels", VIEW_TAGGED, NULL},
    {"annotations", "metadata.annotations", VIEW_TAGGED, NULL},
    {"Spec", "spec", VIEW_STRUCT, view_pod_spec},
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
