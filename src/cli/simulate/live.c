#include "cli/simulate/live.h"

#include "data/edit.h"
#include "k8s/api.h"
#include "net/fiber.h"
#include "net/loop.h"

struct live {
    struct world *world;
    struct manifests *m;
    struct api *api;
    struct err *e;
    const char *name; /* of the cluster, for messages */
    bool ok;
};

/* Pods are not read: their workloads make them again. */
static const struct api_kind kinds[] = {
    {"", "v1", "namespaces", "Namespace", false},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", false},
    {"karpenter.sh", "v1", "nodepools", "NodePool", false},
    {"karpenter.sh", "v1alpha1", "nodeoverlays", "NodeOverlay", false},
    {"karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass", false},
    {"karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses", "KWOKNodeClass", false},
    {"", "v1", "nodes", "Node", false},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true},
    {"", "v1", "limitranges", "LimitRange", true},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
    {"apps", "v1", "daemonsets", "DaemonSet", true},
    {"apps", "v1", "deployments", "Deployment", true},
    {"apps", "v1", "statefulsets", "StatefulSet", true},
    {"apps", "v1", "replicasets", "ReplicaSet", true},
    {"batch", "v1", "cronjobs", "CronJob", true},
    {"batch", "v1", "jobs", "Job", true},
};

static bool read_kind(struct live *l, const struct api_kind *k)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *list;

    if (!api_get(l->api, a, &(struct api_ref){.kind = k}, &list, l->e)) {
        if (l->e->kind == ERR_NOT_FOUND) /* the cluster does not know the kind */
            return true;
        return err_wrap(l->e, "reading %s", k->plural);
    }
    struct tree *items = tree_find(list, STR("items"));
    for (uint32_t i = 0; items && items->kind == TREE_LIST && i < items->n; i++) {
        struct tree *obj = &items->items[i];

        if (obj->kind != TREE_MAP) /* servers leave these out of items */
            return err_set(l->e, ERR_INVALID, "the server's list of %s has something else in it", k->plural);
        tree_set_str(a, obj, "apiVersion", api_kind_version(a, k));
        tree_set_str(a, obj, "kind", str_c(k->kind));
        if (!manifests_add(l->m, l->name, obj, l->e))
            return false;
    }
    return true;
}

static void read_all(void *arg)
{
    struct live *l = arg;

    l->ok = true;
    for (size_t i = 0; i < ARRAY_LEN(kinds) && l->ok; i++)
        l->ok = read_kind(l, &kinds[i]);
    world_quit(l->world);
}

bool live_read(struct manifests *m, const char *kubeconfig, const char *context, struct err *e)
{
    struct world *w = loop_new();
    struct kube_config *config = kube_config_load(w, &(struct kube_config_source){kubeconfig, context}, e);
    struct live l = {.world = w, .m = m, .e = e};

    if (config) {
        l.name = arena_printf(m->arena, STR_FMT "%c", STR_ARG(kube_config_server(config)), 0).p;
        l.api = api_new(w, config, &(struct api_options){.user_agent = "karpenter-simulate/" KARPENTER_VERSION});
        fiber_go(w, "simulate-read", read_all, &l);
        world_run(w);
    }
    loop_free(w);
    api_free(l.api);
    kube_config_free(config);
    return l.ok;
}
