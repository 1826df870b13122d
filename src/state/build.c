/* The order of the steps: replicas become pods before anybody counts pods, volumes are indexed before pods are
 * validated, nodes know their pods before moving ones are collected. */
#include "state/build.h"

#include "model/evict.h"

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

/* In `plan` nobody waits for kube-scheduler to say Unschedulable first (scheduling 8.2 without its first condition). */
static bool pod_is_pending(const struct pod *p)
{
    return !sym_some(p->node) && !pod_is_finished(p) && !p->nominated && !p->foreign_scheduler &&
           p->owner != OWNER_DAEMONSET && p->owner != OWNER_NODE;
}

static void pick_pending(struct build *b)
{
    VEC(uint32_t) waiting = {0}, of_buffers = {0};

    for (uint32_t i = 0; i < b->s->n_pods; i++)
        if (b->s->pods[i].of_buffer)
            vec_push(&of_buffers, i);
        else if (pod_is_pending(&b->s->pods[i]))
            vec_push(&waiting, i);
    build_pending(b, waiting.v, waiting.n, of_buffers.v, of_buffers.n);
    vec_fini(&waiting);
    vec_fini(&of_buffers);
}

/* Indexes by name; the text of their keys is in the arena. */
struct storage_names {
    struct strmap pvcs; /* "namespace/name" */
    struct strmap pvs, classes;
};

static str claim_key(const struct build *b, sym ns, str name)
{
    return arena_printf(b->arena, STR_FMT "/" STR_FMT, STR_ARG(sym_str(b->syms, ns)), STR_ARG(name));
}

static uint32_t find_pvc(const struct build *b, sym ns, str name)
{
    const struct storage_names *names = b->finder;

    return strmap_get(&names->pvcs, claim_key(b, ns, name));
}

static uint32_t find_pv(const struct build *b, str name)
{
    return strmap_get(&((const struct storage_names *)b->finder)->pvs, name);
}

static uint32_t find_class(const struct build *b, str name)
{
    return strmap_get(&((const struct storage_names *)b->finder)->classes, name);
}

static void name_storage(const struct build *b, struct storage_names *names)
{
    const struct snapshot *s = b->s;

    for (uint32_t i = 0; i < s->n_pvcs; i++)
        strmap_put(&names->pvcs, claim_key(b, s->pvcs[i].ns, s->pvcs[i].name), i);
    for (uint32_t i = 0; i < s->n_pvs; i++)
        strmap_put(&names->pvs, s->pvs[i].name, i);
    for (uint32_t i = 0; i < s->n_classes; i++)
        strmap_put(&names->classes, s->classes[i].name, i);
}

/* The catalogue as the NodeOverlays of the input change it. */
static const struct catalog *overlaid(struct build *b, const struct catalog *c, bool open)
{
    struct objects *o = b->o;
    struct overlay_verdict *v = arena_new_array(b->arena, struct overlay_verdict, o->overlays.n);

    if (open)
        c = overlays_apply(b->arena, o->syms, c, o->pools.v, o->pools.n, o->overlays.v, o->overlays.n, v);
    for (uint32_t i = 0; i < o->overlays.n; i++)
        if (!open)
            objects_note(o, "NodeOverlay " STR_FMT ": left out, the feature gate NodeOverlay is closed",
                         STR_ARG(o->overlays.v[i].name));
        else if (v[i].fate != OVERLAY_APPLIES)
            objects_note(o, "NodeOverlay " STR_FMT ": left out, " STR_FMT, STR_ARG(o->overlays.v[i].name),
                         STR_ARG(v[i].message));
    return c;
}

struct snapshot *state_build(struct arena *a, struct objects *o, const struct catalog *c, const struct settings *st,
                             int64_t now_ms, struct err *e)
{
    static const struct build_lookups by_name = {find_pvc, find_pv, find_class};
    struct storage_names names = {0};
    struct build b = {.arena = a,
                      .o = o,
                      .syms = o->syms,
                      .s = arena_new_one(a, struct snapshot),
                      .find = &by_name,
                      .finder = &names};

    b.s->syms = o->syms;
    b.s->now_ms = now_ms;
    b.s->settings = *st;
    b.s->catalog = overlaid(&b, c, st->node_overlays);
    if (!build_workloads(&b, e) || !build_buffers(&b, e))
        return NULL;
    share_objects(&b);
    build_pools(&b);
    build_default_class(&b);
    build_nodes(&b);
    build_daemons(&b);
    name_storage(&b, &names);
    pick_pending(&b);
    strmap_fini(&names.pvcs);
    strmap_fini(&names.pvs);
    strmap_fini(&names.classes);
    return b.s;
}
