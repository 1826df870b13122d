/* pods/binding: the scheduler's decision. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

static bool refuse(struct kube *k, struct arena *a, str name, struct status *st, str why)
{
    struct kind named = *k->pods;

    named.plural = STR("pods/binding");
    return status_conflict(a, st, &named, name, why.p);
}

static bool may_bind(struct kube *k, struct arena *a, const struct object *pod, const struct tree *obj,
                     struct status *st)
{
    str node = tree_str(tree_at(obj, "spec", "nodeName", NULL));
    const struct tree *gates = tree_at(obj, "spec", "schedulingGates", NULL);

    if (pod->deleted_ms)
        return refuse(
            k, a, pod->name, st,
            arena_printf(a, "pod " STR_FMT " is being deleted, cannot be assigned to a host", STR_ARG(pod->name)));
    if (node.n)
        return refuse(k, a, pod->name, st,
                      arena_printf(a, "pod " STR_FMT " is already assigned to node \"" STR_FMT "\"", STR_ARG(pod->name),
                                   STR_ARG(node)));
    if (gates && gates->n)
        return refuse(k, a, pod->name, st,
                      arena_printf(a, "pod " STR_FMT " has non-empty .spec.schedulingGates", STR_ARG(pod->name)));
    return true;
}

/* The pod is told where it is: the zone and the region of its node become labels of its own. */
static void copy_topology(struct kube *k, struct arena *a, struct tree *pod, str node)
{
    static const char *const keys[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"};
    const struct object *o = kube_get(k, kube_kind(k, STR(""), STR("Node")), (str){0}, node);

    for (size_t i = 0; o && i < ARRAY_LEN(keys); i++) {
        str value = object_label(o, str_c(keys[i]));

        if (value.n)
            tree_set_str(a, tree_path(a, pod, "metadata", "labels", NULL), keys[i], arena_strdup(a, value));
    }
}

bool kube_bind(struct kube *k, struct arena *a, str ns, str name, str node, struct status *st)
{
    const struct object *pod = kube_get(k, k->pods, ns, name);

    if (!pod)
        return status_not_found(a, st, k->pods, name);
    struct tree *obj = object_tree(a, pod);
    if (!may_bind(k, a, pod, obj, st))
        return false;
    object_ref(pod);
    tree_set_str(a, tree_sub(a, obj, "spec"), "nodeName", node);
    copy_topology(k, a, obj, node);
    (void)tree_drop(tree_sub(a, obj, "status"), STR("nominatedNodeName"));
    condition_set(a, obj, "PodScheduled", "True", "", "", world_now_ms(k->world));
    (void)write_revision(k, a, pod, obj);
    object_unref(pod);
    return true;
}
