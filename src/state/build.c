/* The order of the steps: replicas become pods before anybody counts pods, volumes are indexed before pods are
 * validated, nodes know their pods before moving ones are collected. */
#include "state/build.h"

static void share_objects(struct build *b)
{
    struct snapshot *s = b->s;
    struct objects *o = b->o;

    s->pools = o->pools.v;
    s->n_pools = o->pools.n;
    s->node_classes = o->classes.v;
    s->n_node_classes = o->classes.n;
    s->pods = o->pods.v;
    s->n_pods = o->pods.n;
    s->daemons = o->daemons.v;
    s->n_daemons = o->daemons.n;
    s->pvcs = o->pvcs.v;
    s->n_pvcs = o->pvcs.n;
    s->pvs = o->pvs.v;
    s->n_pvs = o->pvs.n;
    s->classes = o->storage_classes.v;
    s->n_classes = o->storage_classes.n;
    s->csi_limits = o->csi_limits.v;
    s->n_csi_limits = o->csi_limits.n;
    s->pdbs = o->pdbs.v;
    s->n_pdbs = o->pdbs.n;
    s->namespaces = o->namespaces.v;
    s->n_namespaces = o->namespaces.n;
    s->services = o->services.v;
    s->n_services = o->services.n;
    s->controllers = o->controllers.v;
    s->n_controllers = o->controllers.n;
}

struct snapshot *state_build(struct arena *a, struct objects *o, const struct catalog *c, const struct settings *st,
                             int64_t now_ms, struct err *e)
{
    struct build b = {.arena = a, .o = o, .syms = o->syms, .s = arena_new_one(a, struct snapshot)};
    struct snapshot *s = NULL;

    b.s->syms = o->syms;
    b.s->now_ms = now_ms;
    b.s->settings = *st;
    b.s->catalog = c;
    if (!build_workloads(&b, e))
        goto out;
    share_objects(&b);
    build_pools(&b);
    build_volumes(&b);
    build_nodes(&b);
    build_daemons(&b);
    build_pending(&b);
    s = b.s;
out:
    strmap_fini(&b.pvcs);
    strmap_fini(&b.pvs);
    strmap_fini(&b.classes);
    return s;
}
