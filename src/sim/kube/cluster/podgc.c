/* Pods that nobody will ever finish: those whose node is gone, and those that were deleted before they had one. */
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"

#define QUARANTINE_US 40000000ll /* a node that is gone may come back for so long */

struct podgc {
    struct cluster *c;
    struct work *q; /* uids of pods */
};

static void on_work(void *ctx, str uid)
{
    struct podgc *p = ctx;
    struct cluster *c = p->c;
    const struct pod_entry *e = pods_get(c->pods, uid);
    struct arena *a = cluster_begin(c);

    if (!e || (e->scheduled && kube_get(c->k, c->kinds.node, (str){0}, pod_node(e))))
        return;
    if (!e->scheduled) {
        if (e->o->deleted_ms)
            cluster_delete(c, e->o, 0);
        return;
    }
    if (!pod_is_over(e)) {
        struct tree *status = pod_status(e, a);
        struct condition target = {.type = STR("DisruptionTarget"),
                                   .status = STR("True"),
                                   .reason = STR("DeletionByPodGC"),
                                   .message = STR("PodGC: node no longer exists"),
                                   .flavour = CONDITION_POD};

        tree_set_str(a, status, "phase", STR("Failed"));
        cond_set(a, tree_sublist(a, status, "conditions"), &target, time_text(a, cluster_now_ms(c)));
        cluster_update_part(c, e->o, "status", status);
    }
    e = pods_get(c->pods, uid);
    if (e)
        cluster_delete(c, e->o, 0);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct podgc *p = ctx;

    if (!s->new)
        return;
    const struct pod_entry *e = pods_get(p->c->pods, s->new->uid);
    if (!e->scheduled) {
        if (s->new->deleted_ms)
            work_add(p->q, e->uid);
    } else if (!s->old && !kube_get(p->c->k, p->c->kinds.node, (str){0}, pod_node(e))) {
        work_add_after(p->q, e->uid, QUARANTINE_US);
    }
}

static void on_node(void *ctx, struct seen *s)
{
    struct podgc *p = ctx;

    if (s->new)
        return;
    const struct pod_group *g = pods_of_node(p->c->pods, s->old->name);
    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_node.next)
        work_add_after(p->q, e->uid, QUARANTINE_US);
}

struct podgc *podgc_new(struct cluster *c)
{
    struct podgc *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "pod-gc", on_work, p);
    see(c, c->kinds.pod, on_pod, p);
    see(c, c->kinds.node, on_node, p);
    return p;
}

void podgc_free(struct podgc *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
