#include "control/node_volumes.h"

#include "model/evict.h"

/* The claim that the volume uses, or NULL. */
static const struct pvc *claim_of(const struct syms *t, struct store *s, const struct pod *p,
                                  const struct pod_volume *v)
{
    str ns = sym_str(t, p->ns), name = sym_str(t, v->name);

    if (!v->ephemeral)
        return store_object(s, OBJ_PVC, ns, name);
    AUTO(arena) struct arena *tmp = arena_new(512);
    return store_object(s, OBJ_PVC, ns, arena_printf(tmp, STR_FMT "-" STR_FMT, STR_ARG(p->name), STR_ARG(name)));
}

static bool uses(const struct syms *t, struct store *s, const struct pod *p, str volume)
{
    for (uint32_t i = 0; i < p->spec->n_volumes; i++) {
        const struct pvc *c = claim_of(t, s, p, &p->spec->volumes[i]);

        if (c && str_eq(c->volume_name, volume))
            return true;
    }
    return false;
}

static bool stays(const struct syms *t, struct store *s, str node, str volume, int64_t now_ms)
{
    struct pod_list on = store_pods_on(s, node);
    const struct pod *pods = store_pods(s);

    for (uint32_t i = 0; i < on.n; i++)
        if (!pod_is_drainable(&pods[on.v[i]], t, now_ms) && uses(t, s, &pods[on.v[i]], volume))
            return true;
    return false;
}

struct volumes_left volumes_left(struct arena *a, const struct syms *t, struct store *s, str node, int64_t now_ms)
{
    struct attachments all = store_attachments(s, node);
    struct volumes_left left = {.v = arena_new_array(a, str, all.n)};

    for (uint32_t i = 0; i < all.n; i++)
        if (all.v[i]->volume.n && !stays(t, s, node, all.v[i]->volume, now_ms))
            left.v[left.n++] = arena_strdup(a, all.v[i]->name);
    return left;
}
