/* Pods of capacity buffers, of the objects of a file: what their PodTemplate or workload says, as many as there should be. In a
 * cluster that is watched the controller finds out both (control/buffers.c), and the store has the pods (store_buffers.c). */
#include "state/build.h"

static const struct workload *named(const struct workload *v, uint32_t n, sym ns, str name, str kind)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(v[i].ns, ns) && str_eq(v[i].name, name) && str_is(kind, object_kind_name(v[i].kind)))
            return &v[i];
    return NULL;
}

/* What its pods look like; NULL: the input does not say, and a note does. */
static const struct workload *resolve(struct build *b, const struct buffer *x)
{
    const struct workload *w = NULL;
    str kind = x->ref == BUFFER_REF_TEMPLATE ? STR("PodTemplate") : x->ref_kind;

    if (x->ref == BUFFER_REF_TEMPLATE)
        w = named(b->o->templates.v, b->o->templates.n, x->ns, x->ref_name, kind);
    else if (x->ref == BUFFER_REF_SCALABLE && buffer_ref_is_known(x->ref_group, x->ref_kind))
        w = named(b->o->workloads.v, b->o->workloads.n, x->ns, x->ref_name, kind);
    if (!w && x->ref == BUFFER_REF_NONE)
        objects_note(b->o, "CapacityBuffer " STR_FMT ": left out, it names neither a PodTemplate nor a workload",
                     STR_ARG(x->name));
    else if (!w)
        objects_note(b->o,
                     "CapacityBuffer " STR_FMT ": left out, there is no " STR_FMT " " STR_FMT " it could keep room for",
                     STR_ARG(x->name), STR_ARG(kind), STR_ARG(x->ref_name));
    return w;
}

static void add(struct build *b, const struct buffer *x, const struct workload *w, uint32_t n)
{
    sym buffer = sym_of(b->syms, x->name);

    for (uint32_t i = 1; i <= n; i++) {
        str name = buffer_pod_name(b->o->arena, x->name, i);
        str uid = x->uid.n ? buffer_pod_uid(b->o->arena, x->uid, i) : (str){0};
        struct object_id id = {.kind = OBJ_POD, .ns = x->ns, .name = name, .uid = uid_of(uid)};
        struct err taken;

        (void)objects_claim_id(b->o, &id, &taken);
        vec_push(&b->o->pods, buffer_pod(w->spec, w->labels, x->ns, buffer, name, uid));
        vec_push(&b->o->pod_owner_kinds, SYM(NONE));
    }
}

bool build_buffers(struct build *b, struct err *e)
{
    for (uint32_t i = 0; i < b->o->buffers.n; i++) {
        const struct buffer *x = &b->o->buffers.v[i];

        if (!b->s->settings.capacity_buffers) {
            objects_note(b->o, "CapacityBuffer " STR_FMT ": left out, the feature gate CapacityBuffer is closed",
                         STR_ARG(x->name));
            continue;
        }
        const struct workload *w = x->deleting ? NULL : resolve(b, x);
        if (!w)
            continue;
        int64_t n = buffer_replicas(x, w->replicas, &w->spec->requests);
        if (n > BUFFER_MAX_PODS || b->o->pods.n + (uint32_t)n > STATE_MAX_PODS)
            return err_set(e, ERR_INVALID, "CapacityBuffer " STR_FMT " asks for room for %lld pods: more than %u",
                           STR_ARG(x->name), (long long)n, BUFFER_MAX_PODS);
        add(b, x, w, (uint32_t)n);
    }
    return true;
}
