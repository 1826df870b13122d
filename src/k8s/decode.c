/* The table of kinds, and what happens to objects that are not in it. */
#include "k8s/decode.h"

#include <stdlib.h>

#include "k8s/kinds.h"
#include "k8s/one.h"

typedef bool (*decode_fn)(struct decoder *d, struct err *e);

/* Recognised, but nothing in a plan depends on it. */
static bool dec_unused(struct decoder *d, struct err *e)
{
    struct meta m;

    return dec_meta(d, /* namespaced= */ false, &m, e);
}

static bool dec_provisioner(struct decoder *d, struct err *e)
{
    return dec_fail(d, d->root, "kind", e,
                    "Provisioner is not supported: its successor is NodePool of apiVersion karpenter.sh/v1");
}

static const struct {
    const char *kind, *group;
    const char *version; /* NULL: any */
    decode_fn decode;
    enum object_kind object;
} kinds[] = {
    {"Pod", "", "v1", dec_pod, OBJ_POD},
    {"Node", "", "v1", dec_node, OBJ_NODE},
    {"NodePool", "karpenter.sh", "v1", dec_nodepool, OBJ_NODEPOOL},
    {"NodeClaim", "karpenter.sh", "v1", dec_nodeclaim, OBJ_NODECLAIM},
    {"EC2NodeClass", "karpenter.k8s.aws", "v1", dec_nodeclass, OBJ_NODECLASS},
    {"KWOKNodeClass", "karpenter.kwok.sh", "v1alpha1", dec_nodeclass, OBJ_NODECLASS},
    {"DaemonSet", "apps", "v1", dec_daemonset, OBJ_DAEMONSET},
    {"Deployment", "apps", "v1", dec_deployment, OBJ_DEPLOYMENT},
    {"ReplicaSet", "apps", "v1", dec_replicaset, OBJ_REPLICASET},
    {"StatefulSet", "apps", "v1", dec_statefulset, OBJ_STATEFULSET},
    {"Job", "batch", "v1", dec_job, OBJ_JOB},
    {"ReplicationController", "", "v1", dec_replication_controller, OBJ_RC},
    {"PersistentVolumeClaim", "", "v1", dec_pvc, OBJ_PVC},
    {"PersistentVolume", "", "v1", dec_pv, OBJ_PV},
    {"StorageClass", "storage.k8s.io", "v1", dec_storage_class, OBJ_STORAGECLASS},
    {"CSINode", "storage.k8s.io", "v1", dec_csinode, OBJ_CSINODE},
    {"VolumeAttachment", "storage.k8s.io", "v1", dec_attachment, OBJ_ATTACHMENT},
    {"PodDisruptionBudget", "policy", "v1", dec_pdb, OBJ_PDB},
    {"Namespace", "", "v1", dec_namespace, OBJ_NAMESPACE},
    {"Service", "", "v1", dec_service, OBJ_SERVICE},
    {"NodeOverlay", "karpenter.sh", "v1alpha1", dec_overlay, OBJ_OVERLAY},
    {"PodTemplate", "", "v1", dec_podtemplate, OBJ_PODTEMPLATE},
    {"CapacityBuffer", "autoscaling.x-k8s.io", "v1beta1", dec_buffer, OBJ_BUFFER},
    {"PriorityClass", "scheduling.k8s.io", NULL, dec_unused, OBJ_OTHER},
    {"LimitRange", "", NULL, dec_unused, OBJ_OTHER},
    {"ResourceClaim", "resource.k8s.io", NULL, dec_unused, OBJ_OTHER},
    {"ResourceClaimTemplate", "resource.k8s.io", NULL, dec_unused, OBJ_OTHER},
    {"ResourceSlice", "resource.k8s.io", NULL, dec_unused, OBJ_OTHER},
    {"DeviceClass", "resource.k8s.io", NULL, dec_unused, OBJ_OTHER},
    {"Provisioner", "karpenter.sh", NULL, dec_provisioner, OBJ_OTHER},
};

struct decoder *decoder_new(struct objects *o)
{
    struct decoder *d = xcalloc(1, sizeof(*d));

    d->o = o;
    d->tmp = arena_new(16 << 10);
    d->specs = podspecs_new(o->arena);
    return d;
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    if (d->single)
        decoder_fini_single(d);
    else
        podspecs_free(d->specs);
    sb_fini(&d->key);
    arena_free(d->tmp);
    free(d);
}

static bool decode_kind(struct decoder *d, size_t ix, str api_version, str version, struct err *e)
{
    const char *want = kinds[ix].version, *group = kinds[ix].group;

    if (want && !str_is(version, want))
        return dec_fail(d, tree_get(d->root, "apiVersion"), NULL, e,
                        "\"" STR_FMT "\" is not supported for %s, only %s%s%s is", STR_ARG(api_version), kinds[ix].kind,
                        group, *group ? "/" : "", want);
    return kinds[ix].decode(d, e);
}

bool k8s_decode(struct decoder *d, const struct tree *t, struct err *e)
{
    str api_version, kind, group, version;
    const struct tree *items;

    d->root = t;
    arena_reset(d->tmp);
    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "apiVersion", &api_version, e) ||
        !dec_need_str(d, t, "kind", &kind, e))
        return false;
    /* A List that can be read was taken apart before. */
    if (str_ends(kind, STR("List")) && !dec_list(d, t, "items", &items, e))
        return false;
    if (!str_cut(api_version, '/', &group, &version)) {
        version = api_version;
        group = (str){0};
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(kind, kinds[i].kind) && str_is(group, kinds[i].group))
            return decode_kind(d, i, api_version, version, e);
    objects_ignore(d->o, api_version, kind);
    return true;
}

bool k8s_decode_as(struct decoder *d, const struct tree *t, enum object_kind kind, struct err *e)
{
    d->root = t;
    arena_reset(d->tmp);
    if (!dec_is_map(d, t, e))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].object == kind)
            return kinds[i].decode(d, e);
    return err_set(e, ERR_INVALID, "objects of this kind are not read");
}
