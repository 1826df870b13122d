/* The kinds that the program itself names. */
#include "k8s/api.h"

#define CORE(name, plural, kind, namespaced) const struct api_kind name = {"", "v1", plural, kind, namespaced}

CORE(api_pods, "pods", "Pod", true);
CORE(api_nodes, "nodes", "Node", false);
CORE(api_events, "events", "Event", true);
CORE(api_namespaces, "namespaces", "Namespace", false);
CORE(api_services, "services", "Service", true);
CORE(api_pvcs, "persistentvolumeclaims", "PersistentVolumeClaim", true);
CORE(api_pvs, "persistentvolumes", "PersistentVolume", false);
CORE(api_rcs, "replicationcontrollers", "ReplicationController", true);
CORE(api_podtemplates, "podtemplates", "PodTemplate", true);

const struct api_kind api_nodepools = {"karpenter.sh", "v1", "nodepools", "NodePool", false};
const struct api_kind api_nodeclaims = {"karpenter.sh", "v1", "nodeclaims", "NodeClaim", false};
const struct api_kind api_nodeoverlays = {"karpenter.sh", "v1alpha1", "nodeoverlays", "NodeOverlay", false};
const struct api_kind api_capacitybuffers = {"autoscaling.x-k8s.io", "v1beta1", "capacitybuffers", "CapacityBuffer",
                                             true};
const struct api_kind api_daemonsets = {"apps", "v1", "daemonsets", "DaemonSet", true};
const struct api_kind api_deployments = {"apps", "v1", "deployments", "Deployment", true};
const struct api_kind api_replicasets = {"apps", "v1", "replicasets", "ReplicaSet", true};
const struct api_kind api_statefulsets = {"apps", "v1", "statefulsets", "StatefulSet", true};
const struct api_kind api_pdbs = {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true};
const struct api_kind api_storageclasses = {"storage.k8s.io", "v1", "storageclasses", "StorageClass", false};
const struct api_kind api_csinodes = {"storage.k8s.io", "v1", "csinodes", "CSINode", false};
const struct api_kind api_volumeattachments = {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false};
const struct api_kind api_leases = {"coordination.k8s.io", "v1", "leases", "Lease", true};

str api_kind_version(struct arena *a, const struct api_kind *k)
{
    return k->group[0] ? arena_printf(a, "%s/%s", k->group, k->version) : str_c(k->version);
}
