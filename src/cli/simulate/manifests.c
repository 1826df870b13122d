#include "cli/simulate/manifests.h"

#include <string.h>

#include "cli/input.h"
#include "data/edit.h"

#define KWOK_GROUP "karpenter.kwok.sh"
#define KWOK_VERSION "karpenter.kwok.sh/v1alpha1"
#define KWOK_CLASS "KWOKNodeClass"
#define POOL_LABEL "karpenter.sh/nodepool"

void manifests_init(struct manifests *m, struct arena *a)
{
    *m = (struct manifests){.arena = a};
}

void manifests_fini(struct manifests *m)
{
    vec_fini(&m->v);
    vec_fini(&m->ignored);
}

static str kind_of(const struct tree *obj)
{
    return tree_str(tree_get(obj, "kind"));
}

static bool is_kind(const struct tree *obj, const char *kind)
{
    return str_is(kind_of(obj), kind);
}

static bool is_class(const struct tree *obj)
{
    return str_ends(kind_of(obj), STR("NodeClass"));
}

/* Kinds in the order in which a cluster needs them; what is not here is applied with the workloads. */
static const struct {
    const char *kind;
    uint32_t rank;
} ranks[] = {
    {"CustomResourceDefinition", 1},
    {"Namespace", 2},
    {"PriorityClass", 3},
    {"ServiceAccount", 4},
    {"StorageClass", 5},
    {"LimitRange", 6},
    {"NodeOverlay", 10},
    {"Node", 20},
    {"DaemonSet", 30},
    {"PersistentVolumeClaim", 100},
    {"Service", 100},
    {"PodDisruptionBudget", 100},
    {"Deployment", 110},
    {"StatefulSet", 110},
    {"ReplicaSet", 110},
    {"ReplicationController", 110},
    {"Job", 110},
    {"CronJob", 110},
    {"CapacityBuffer", 110},
    {"Pod", 120},
};

/* Kinds that are left out without a word: what a cluster makes by itself, and what has no part in where pods run. */
static const char *const left_out[] = {
    "Event",
    "Lease",
    "Endpoints",
    "EndpointSlice",
    "NodeClaim",
    "ControllerRevision",
    "ComponentStatus",
    "PersistentVolume",
    "CSINode",
    "VolumeAttachment",
    "ConfigMap",
    "Secret",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "CSIDriver",
    "NetworkPolicy",
    "Ingress",
    "IngressClass",
    "APIService",
    "PodMetrics",
    "NodeMetrics",
};

/* 0: no part in a simulation. */
static uint32_t rank_of(const struct tree *obj)
{
    if (is_class(obj))
        return 11;
    if (is_kind(obj, "NodePool"))
        return 12;
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
        if (is_kind(obj, ranks[i].kind))
            return ranks[i].rank;
    return 0;
}

static void note_ignored(struct manifests *m, const struct tree *obj)
{
    str name = arena_printf(m->arena, STR_FMT " " STR_FMT, STR_ARG(tree_str(tree_get(obj, "apiVersion"))),
                            STR_ARG(kind_of(obj)));

    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (is_kind(obj, left_out[i]))
            return;
    for (uint32_t i = 0; i < m->ignored.n; i++)
        if (str_eq(m->ignored.v[i].kind, name)) {
            m->ignored.v[i].n++;
            return;
        }
    vec_push(&m->ignored, (struct ignored){name, 1});
}

/* ---- what is taken along ---- */

static bool has_controller(const struct tree *obj)
{
    const struct tree *owners = tree_at(obj, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; owners && i < owners->n; i++)
        if (tree_is_true(tree_get(&owners->items[i], "controller")))
            return true;
    return false;
}

static bool is_over(const struct tree *obj)
{
    str phase = tree_str(tree_at(obj, "status", "phase", NULL));

    return is_kind(obj, "Pod") && (str_is(phase, "Succeeded") || str_is(phase, "Failed"));
}

static bool is_made_again(const struct tree *obj)
{
    return has_controller(obj) || is_over(obj) || tree_at(obj, "metadata", "deletionTimestamp", NULL) ||
           (is_kind(obj, "Node") && tree_at(obj, "metadata", "labels", POOL_LABEL, NULL));
}

static void strip_meta(struct arena *a, struct tree *obj)
{
    static const char *const keep[] = {"name", "namespace", "labels", "annotations", "generateName"};
    struct tree *meta = tree_sub(a, obj, "metadata");

    for (uint32_t i = meta ? meta->n : 0; i-- > 0;) {
        bool kept = false;

        for (size_t k = 0; k < ARRAY_LEN(keep) && !kept; k++)
            kept = str_is(meta->keys[i], keep[k]);
        if (!kept)
            tree_drop(meta, meta->keys[i]);
    }
}

/* A machine that stays as it is: it keeps its size and has a kubelet of the simulation. */
static void adapt_node(struct arena *a, struct tree *obj)
{
    struct tree *status = tree_find(obj, STR("status")), kept = *tree_new_map(a);
    static const char *const sizes[] = {"capacity", "allocatable"};

    for (size_t i = 0; status && i < ARRAY_LEN(sizes); i++) {
        struct tree *t = tree_find(status, str_c(sizes[i]));

        if (t)
            tree_set(a, &kept, sizes[i], *t);
    }
    tree_set(a, obj, "status", kept);
    tree_set_str(a, tree_path(a, obj, "metadata", "annotations", NULL), "kwok.x-k8s.io/node", STR("fake"));
}

static void adapt_pool(struct manifests *m, struct tree *obj)
{
    struct tree *ref = tree_path(m->arena, obj, "spec", "template", "spec", "nodeClassRef", NULL);

    if (!ref || str_is(tree_str(tree_get(ref, "group")), KWOK_GROUP))
        return;
    m->aws = true;
    tree_set_str(m->arena, ref, "group", STR(KWOK_GROUP));
    tree_set_str(m->arena, ref, "kind", STR(KWOK_CLASS));
}

static void adapt_class(struct manifests *m, struct tree *obj)
{
    if (is_kind(obj, KWOK_CLASS))
        return;
    tree_set_str(m->arena, obj, "apiVersion", STR(KWOK_VERSION));
    tree_set_str(m->arena, obj, "kind", STR(KWOK_CLASS));
    tree_drop(obj, STR("spec"));
}

static void adapt(struct manifests *m, struct tree *obj)
{
    struct tree *spec = tree_find(obj, STR("spec"));

    strip_meta(m->arena, obj);
    if (is_kind(obj, "Node")) {
        adapt_node(m->arena, obj);
        return;
    }
    tree_drop(obj, STR("status"));
    if (is_kind(obj, "NodePool"))
        adapt_pool(m, obj);
    else if (is_class(obj))
        adapt_class(m, obj);
    else if (is_kind(obj, "Pod") && spec)
        tree_drop(spec, STR("nodeName"));
    else if (is_kind(obj, "PersistentVolumeClaim") && spec)
        tree_drop(spec, STR("volumeName"));
    else if (is_kind(obj, "Job") && spec && tree_find(spec, STR("selector"))) {
        struct tree *meta = tree_path(m->arena, spec, "template", "metadata", NULL);

        tree_drop(spec, STR("selector")); /* of the uid that it had */
        if (meta)
            tree_drop(meta, STR("labels"));
    }
}

bool manifests_add(struct manifests *m, const char *file, const struct tree *obj, struct err *e)
{
    if (kind_of(obj).n == 0 || tree_str(tree_get(obj, "apiVersion")).n == 0)
        return err_set(e, ERR_INVALID, "%s:%u: this is no Kubernetes object: it has no kind or no apiVersion", file,
                       obj->line);
    if (m->v.n == MANIFESTS_MAX)
        return err_set(e, ERR_INVALID, "%s:%u: more than %d objects", file, obj->line, MANIFESTS_MAX);
    uint32_t rank = rank_of(obj);
    if (rank == 0) {
        note_ignored(m, obj);
        return true;
    }
    if (is_made_again(obj))
        return true;
    struct tree *t = tree_copy(m->arena, obj);
    t->line = obj->line;
    adapt(m, t);
    vec_push(&m->v, (struct manifest){t, file, rank});
    return true;
}

static bool take(void *ctx, const char *file, const struct tree *t, struct err *e)
{
    struct manifests *m = ctx;
    const struct manifest *last = m->v.n ? &vec_last(&m->v) : NULL;
    const char *name = last && strcmp(last->file, file) == 0 ? last->file : arena_printf(m->arena, "%s%c", file, 0).p;

    return manifests_add(m, name, t, e);
}

bool manifests_read(struct manifests *m, const char *path, struct err *e)
{
    return input_each(path, &(struct input_taker){take, m}, e);
}

bool manifest_is_config(const struct manifest *m)
{
    return is_class(m->obj) || is_kind(m->obj, "NodePool") || is_kind(m->obj, "NodeOverlay");
}

void manifests_with_config(struct manifests *ret, const struct manifests *base, const struct manifests *config)
{
    for (uint32_t i = 0; i < base->v.n; i++)
        if (!manifest_is_config(&base->v.v[i]))
            vec_push(&ret->v, base->v.v[i]);
    for (uint32_t i = 0; i < config->v.n; i++)
        if (manifest_is_config(&config->v.v[i]))
            vec_push(&ret->v, config->v.v[i]);
    ret->aws = base->aws || config->aws; /* one catalogue for all, or prices could not be compared */
}

/* ---- what is asked for and was not given ---- */

static bool has(const struct manifests *m, const char *kind, str ns, str name)
{
    for (uint32_t i = 0; i < m->v.n; i++) {
        const struct tree *meta = tree_get(m->v.v[i].obj, "metadata");
        str there = tree_str(tree_get(meta, "namespace"));

        if (is_kind(m->v.v[i].obj, kind) && str_eq(tree_str(tree_get(meta, "name")), name) &&
            (ns.n == 0 || str_eq(there.n ? there : STR("default"), ns)))
            return true;
    }
    return false;
}

static struct tree *add_object(struct manifests *m, const char *api, const char *kind, str name, uint32_t rank,
                               const struct manifest *for_whom)
{
    struct tree *t = tree_new_map(m->arena);

    tree_set_str(m->arena, t, "apiVersion", str_c(api));
    tree_set_str(m->arena, t, "kind", str_c(kind));
    tree_set_str(m->arena, tree_sub(m->arena, t, "metadata"), "name", name);
    t->line = for_whom->obj->line;
    vec_push(&m->v, (struct manifest){t, for_whom->file, rank});
    return t;
}

static void need_class(struct manifests *m, const struct manifest *pool)
{
    str name = tree_str(tree_at(pool->obj, "spec", "template", "spec", "nodeClassRef", "name", NULL));

    if (name.n && !has(m, KWOK_CLASS, (str){0}, name))
        (void)add_object(m, KWOK_VERSION, KWOK_CLASS, name, 11, pool);
}

static const struct tree *pod_spec(const struct tree *obj)
{
    if (is_kind(obj, "Pod"))
        return tree_get(obj, "spec");
    if (is_kind(obj, "CronJob"))
        return tree_at(obj, "spec", "jobTemplate", "spec", "template", "spec", NULL);
    return tree_at(obj, "spec", "template", "spec", NULL);
}

static void need_account(struct manifests *m, const struct manifest *user)
{
    str name = tree_str(tree_get(pod_spec(user->obj), "serviceAccountName"));
    str ns = tree_str(tree_at(user->obj, "metadata", "namespace", NULL));

    if (name.n == 0 || str_is(name, "default") || has(m, "ServiceAccount", ns.n ? ns : STR("default"), name))
        return;
    struct tree *t = add_object(m, "v1", "ServiceAccount", name, 4, user);
    if (ns.n)
        tree_set_str(m->arena, tree_sub(m->arena, t, "metadata"), "namespace", ns);
}

static int by_rank(const void *a, const void *b, void *ctx UNUSED)
{
    const struct manifest *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

void manifests_finish(struct manifests *m)
{
    for (uint32_t i = 0, n = m->v.n; i < n; i++) {
        struct manifest one = m->v.v[i]; /* the list may move */

        if (is_kind(one.obj, "NodePool"))
            need_class(m, &one);
        else
            need_account(m, &one);
    }
    sort_stable(m->v.v, m->v.n, sizeof(*m->v.v), by_rank, NULL);
}
