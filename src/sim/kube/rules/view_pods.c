/* Types of Kubernetes 1.36 as its server prints them: pods and what is in them, but for volumes. */
#include "sim/kube/rules/view.h"

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
