/* Claims and what they keep a pod from (scheduling 15.2). */
#include "state/build.h"

/* The newest of the classes marked as default; of two equally old ones the first by name. */
static const struct storage_class *default_class(const struct snapshot *s)
{
    const struct storage_class *best = NULL;

    for (uint32_t i = 0; i < s->n_classes; i++) {
        const struct storage_class *c = &s->classes[i];

        if (!c->is_default)
            continue;
        if (!best || c->created_ms > best->created_ms ||
            (c->created_ms == best->created_ms && str_cmp(c->name, best->name) < 0))
            best = c;
    }
    return best;
}

void build_default_class(struct build *b)
{
    struct snapshot *s = b->s;
    const struct storage_class *dflt = default_class(s);

    for (uint32_t i = 0; dflt && i < s->n_pvcs; i++)
        if (s->pvcs[i].no_class && s->pvcs[i].volume_name.n == 0)
            s->pvcs[i].storage_class = dflt->name;
}

static str bound_refuses(struct build *b, const struct pvc *c, str name)
{
    uint32_t ix = b->find->pv(b, c->volume_name);

    if (ix == MAP_NONE)
        return arena_printf(b->arena, "PersistentVolume " STR_FMT " of claim " STR_FMT " does not exist",
                            STR_ARG(c->volume_name), STR_ARG(name));
    if (b->s->pvs[ix].deleting)
        return arena_printf(b->arena, "PersistentVolume " STR_FMT " of claim " STR_FMT " is being deleted",
                            STR_ARG(c->volume_name), STR_ARG(name));
    if (!c->bind_completed)
        return arena_printf(b->arena, "PersistentVolumeClaim " STR_FMT " is not bound yet", STR_ARG(name));
    return (str){0};
}

static str unbound_refuses(struct build *b, const struct pvc *c, str name)
{
    uint32_t ix = b->find->storage_class(b, c->storage_class);

    if (c->storage_class.n == 0)
        return arena_printf(b->arena, "PersistentVolumeClaim " STR_FMT " has neither a volume nor a storage class",
                            STR_ARG(name));
    if (ix == MAP_NONE)
        return arena_printf(b->arena, "StorageClass " STR_FMT " of claim " STR_FMT " does not exist",
                            STR_ARG(c->storage_class), STR_ARG(name));
    if (b->s->classes[ix].immediate)
        return arena_printf(b->arena,
                            "PersistentVolumeClaim " STR_FMT " is not bound, and StorageClass " STR_FMT
                            " does not wait for the pod (volumeBindingMode Immediate)",
                            STR_ARG(name), STR_ARG(c->storage_class));
    return (str){0};
}

static str claim_refuses(struct build *b, sym ns, str name)
{
    uint32_t ix = b->find->pvc(b, ns, name);

    if (ix == MAP_NONE)
        return arena_printf(b->arena, "PersistentVolumeClaim " STR_FMT " does not exist", STR_ARG(name));
    const struct pvc *c = &b->s->pvcs[ix];
    if (c->deleting)
        return arena_printf(b->arena, "PersistentVolumeClaim " STR_FMT " is being deleted", STR_ARG(name));
    if (c->lost)
        return arena_printf(b->arena, "PersistentVolumeClaim " STR_FMT " has lost its volume", STR_ARG(name));
    return c->volume_name.n ? bound_refuses(b, c, name) : unbound_refuses(b, c, name);
}

str volumes_refuse(struct build *b, const struct pod *p)
{
    for (uint32_t i = 0; i < p->spec->n_volumes; i++) {
        const struct pod_volume *v = &p->spec->volumes[i];
        str name = sym_str(b->syms, v->name);

        if (v->ephemeral)
            name = arena_printf(b->arena, STR_FMT "-" STR_FMT, STR_ARG(p->name), STR_ARG(name));
        str why = claim_refuses(b, p->ns, name);
        if (why.n)
            return why;
    }
    return (str){0};
}
