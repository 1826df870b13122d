/* NodeConfigs, as nodeadm of Amazon Linux 2023 takes them: those that come later say more, or otherwise. */
#include "base/vec.h"
#include "data/edit.h"
#include "data/reader.h"
#include "sim/boot/told.h"

/* Maps are merged at every depth, flags are all kept, anything else is replaced. */
static void merge(struct arena *a, struct tree *into, const struct tree *from)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const struct tree *v = &from->items[i];
        struct tree *old = tree_put(a, into, from->keys[i]);

        if (v->kind == TREE_MAP && old->kind == TREE_MAP) {
            merge(a, old, v);
        } else if (v->kind == TREE_LIST && old->kind == TREE_LIST && str_is(from->keys[i], "flags")) {
            for (uint32_t k = 0; k < v->n; k++)
                (void)tree_push(a, old, v->items[k]);
        } else {
            *old = *v;
        }
    }
}

bool told_nodeadm(struct arena *a, struct tree *all, str text, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open_bytes("NodeConfig", text, e);
    const struct tree *t;

    if (!r)
        return false;
    for (;;) {
        if (!reader_next(r, &t, e))
            return false;
        if (!t)
            return true;
        if (!str_starts(tree_str(tree_get(t, "apiVersion")), STR("node.eks.aws/")) ||
            !str_is(tree_str(tree_get(t, "kind")), "NodeConfig"))
            return err_set(e, ERR_INVALID, "not a NodeConfig of node.eks.aws");
        const struct tree *spec = tree_get(t, "spec");
        if (spec && spec->kind != TREE_MAP)
            return err_set(e, ERR_INVALID, "NodeConfig: spec is not a map");
        if (spec)
            merge(a, all, tree_copy(a, spec)); /* the reader's own is gone with it */
    }
}

static bool read_taints(struct arena *a, const struct tree *list, struct told *t, struct err *e)
{
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *v = &list->items[i];

        if (!told_taint(a, t, tree_scalar(tree_get(v, "key")), tree_scalar(tree_get(v, "value")),
                        tree_scalar(tree_get(v, "effect")), e))
            return false;
    }
    return true;
}

static bool read_config(struct arena *a, const struct tree *config, struct told *t, struct err *e)
{
    return read_taints(a, tree_get(config, "registerWithTaints"), t, e) &&
           told_count(tree_get(config, "maxPods"), "maxPods", &t->max_pods, e) &&
           told_count(tree_get(config, "podsPerCore"), "podsPerCore", &t->pods_per_core, e) &&
           told_merge(a, &t->kube, tree_get(config, "kubeReserved"), "kubeReserved", e) &&
           told_merge(a, &t->system, tree_get(config, "systemReserved"), "systemReserved", e) &&
           told_merge(a, &t->hard, tree_get(config, "evictionHard"), "evictionHard", e);
}

/* What nodeadm does not do without. (It wants a certificate too; a simulated cluster may have none.) */
static bool read_cluster(const struct tree *cluster, struct told *t, struct err *e)
{
    static const char *const needed[] = {"name", "apiServerEndpoint", "cidr"};

    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (tree_str(tree_get(cluster, needed[i])).n == 0)
            return err_set(e, ERR_INVALID, "NodeConfig: spec.cluster has no %s", needed[i]);
    t->cluster = tree_str(tree_get(cluster, "name"));
    t->endpoint = tree_str(tree_get(cluster, "apiServerEndpoint"));
    return true;
}

bool told_nodeadm_end(struct arena *a, const struct tree *all, struct told *t, struct err *e)
{
    const struct tree *flags = tree_at(all, "kubelet", "flags", NULL);
    str disks = tree_str(tree_at(all, "instance", "localStorage", "strategy", NULL));

    t->by_interfaces = true;
    t->local_disks = str_is(disks, "RAID0") || str_is(disks, "RAID10");
    if (!read_cluster(tree_get(all, "cluster"), t, e) || !read_config(a, tree_at(all, "kubelet", "config", NULL), t, e))
        return false;
    for (uint32_t i = 0; flags && i < flags->n; i++)
        if (!told_flags(a, t, tree_scalar(&flags->items[i]), e))
            return false;
    return true;
}
