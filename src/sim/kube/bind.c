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
    (void)tree_drop(tree_sub(a, obj, "status"), STR("nominatedNodeName"));
    condition_set(a, obj, "PodScheduled", "True", "", "", world_now_ms(k->world));
    (void)write_revision(k, a, pod, obj);
    object_unref(pod);
    return true;
}
