#include "cli/demo/kept.h"

#include "base/vec.h"
#include "cli/demo/files.h"
#include "data/edit.h"
#include "sim/kube/cluster.h"

struct listed {
    VEC(const struct object *) v;
};

static void list_one(void *ctx, const struct object *o)
{
    struct listed *l = ctx;

    object_ref(o);
    vec_push(&l->v, o);
}

static void drop_list(struct listed *l)
{
    for (uint32_t i = 0; i < l->v.n; i++)
        object_unref(l->v.v[i]);
    vec_fini(&l->v);
}

/* A Node or a NodeClaim with a machine of AWS, or a pod whose Node has been left out. */
static bool is_gone(struct kube *k, const struct tree *obj)
{
    str node = tree_str(tree_at(obj, "spec", "providerID", NULL));
    str claim = tree_str(tree_at(obj, "status", "providerID", NULL));
    str home = tree_str(tree_at(obj, "spec", "nodeName", NULL));

    return str_starts(node, STR("aws:///")) || str_starts(claim, STR("aws:///")) ||
           (home.n && !kube_get(k, kube_kind(k, STR(""), STR("Node")), (str){0}, home));
}

/* At once: nobody is there yet who could do what its finalizers are for. */
static void leave_out(struct kube *k, struct arena *a, const struct object *o)
{
    struct tree *meta = kube_part(a, o, "metadata");
    const struct delete_options now = {.grace_s = 0};
    const struct object *free_one = o;
    struct status st;

    if (tree_drop(meta, STR("finalizers")) && !kube_update_part(k, a, o, "metadata", meta, &free_one, &st))
        return;
    (void)kube_delete(k, a, o->kind, o->ns, o->name, &now, &st);
}

static void boot_again(struct cluster *c, const struct object *o, const struct tree *node)
{
    if (tree_get(tree_at(node, "metadata", "annotations", NULL), "kwok.x-k8s.io/node"))
        return; /* has got one by itself */
    cluster_boot(c, &(struct machine){.name = o->name,
                                      .capacity = tree_at(node, "status", "capacity", NULL),
                                      .allocatable = tree_at(node, "status", "allocatable", NULL)});
}

static void bring_back(struct kube *k, struct cluster *c, const struct kind *kind)
{
    struct listed all = {0};

    kube_each(k, kind, (str){0}, list_one, &all);
    for (uint32_t i = 0; i < all.v.n; i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        const struct tree *t = kube_tree(a, all.v.v[i]);

        if (is_gone(k, t))
            leave_out(k, a, all.v.v[i]);
        else if (str_is(tree_str(tree_get(t, "kind")), "Node"))
            boot_again(c, all.v.v[i], t);
    }
    drop_list(&all);
}

bool kept_restore(struct kube *k, struct cluster *c, const char *path, struct err *e)
{
    const struct kind *claims;
    struct sb b = {0};
    bool ok = demo_read_file(path, &b, e) && kube_restore(k, path, sb_view(&b), e);

    sb_fini(&b);
    if (!ok)
        return false;
    claims = kube_kind(k, STR("karpenter.sh"), STR("NodeClaim"));
    if (claims)
        bring_back(k, c, claims);
    bring_back(k, c, kube_kind(k, STR(""), STR("Node")));
    bring_back(k, c, kube_kind(k, STR(""), STR("Pod")));
    return true;
}
