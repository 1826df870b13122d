/* The table of kinds, and what happens to objects that are not in it. */
#include "k8s/decode.h"

#include <stdlib.h>

#include "k8s/kinds.h"

typedef bool (*decode_fn)(struct decoder *d, struct err *e);

/* Recognised, but nothing in a plan depends on it. */
static bool dec_unused(struct decoder *d, struct err *e)
{
    struct meta m;

    return dec_meta(d, /* namespaced= */ false, &m, e);
}

static bool dec_later(struct decoder *d, struct err *e)
{
    str kind = tree_str(tree_get(d->root, "kind"));
    struct meta m;

    if (!dec_meta(d, /* namespaced= */ false, &m, e))
        return false;
    objects_note(d->o, STR_FMT " " STR_FMT ": left out, this version does not plan with objects of this kind",
                 STR_ARG(kind), STR_ARG(m.name));
    return true;
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
} kinds[] = {
    {"Pod", "", "v1", dec_pod},
    {"Node", "", "v1", dec_node},
    {"NodePool", "karpenter.sh", "v1", dec_nodepool},
    {"NodeClaim", "karpenter.sh", "v1", dec_nodeclaim},
    {"EC2NodeClass", "karpenter.k8s.aws", "v1", dec_nodeclass},
    {"KWOKNodeClass", "karpenter.kwok.sh", "v1alpha1", dec_nodeclass},
    {"DaemonSet", "apps", "v1", dec_daemonset},
    {"Deployment", "apps", "v1", dec_deployment},
    {"ReplicaSet", "apps", "v1", dec_replicaset},
    {"StatefulSet", "apps", "v1", dec_statefulset},
    {"Job", "batch", "v1", dec_job},
    {"ReplicationController", "", "v1", dec_replication_controller},
    {"PersistentVolumeClaim", "", "v1", dec_pvc},
    {"PersistentVolume", "", "v1", dec_pv},
    {"StorageClass", "storage.k8s.io", "v1", dec_storage_class},
    {"CSINode", "storage.k8s.io", "v1", dec_csinode},
    {"PodDisruptionBudget", "policy", "v1", dec_pdb},
    {"Namespace", "", "v1", dec_namespace},
    {"Service", "", "v1", dec_service},
    {"NodeOverlay", "karpenter.sh", NULL, dec_later},
    {"CapacityBuffer", "autoscaling.x-k8s.io", NULL, dec_later},
    {"PriorityClass", "scheduling.k8s.io", NULL, dec_unused},
    {"LimitRange", "", NULL, dec_unused},
    {"ResourceClaim", "resource.k8s.io", NULL, dec_unused},
    {"ResourceClaimTemplate", "resource.k8s.io", NULL, dec_unused},
    {"ResourceSlice", "resource.k8s.io", NULL, dec_unused},
    {"DeviceClass", "resource.k8s.io", NULL, dec_unused},
    {"Provisioner", "karpenter.sh", NULL, dec_provisioner},
};

struct decoder *decoder_new(struct objects *o)
{
    struct decoder *d = xcalloc(1, sizeof(*d));

    d->o = o;
    d->tmp = arena_new(16 << 10);
    d->keys = arena_new(0);
    return d;
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    strmap_fini(&d->specs);
    vec_fini(&d->spec_list);
    sb_fini(&d->key);
    arena_free(d->keys);
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

    d->root = t;
    arena_reset(d->tmp);
    if (!dec_is_map(d, t, e) || !dec_need_str(d, t, "apiVersion", &api_version, e) ||
        !dec_need_str(d, t, "kind", &kind, e))
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
