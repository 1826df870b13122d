/* Replicas that a workload wants and the input does not contain become pending pods <name>-<i>, the claims they would
 * bring along become claims. A pod belongs to the workload its controller names; a ReplicaSet's pods belong to the
 * Deployment behind it, also when the ReplicaSet itself is not in the input. */

#include "model/evict.h"
#include "state/build.h"

struct owners {
    struct u64map by_name[4]; /* Deployment, ReplicaSet, StatefulSet, Job: (namespace, name) -> workload */
    uint32_t *have;           /* per workload: pods that exist and are not finished */
};

static uint32_t owner_find(const struct owners *w, enum object_kind kind, sym ns, sym name)
{
    return u64map_get(&w->by_name[kind - OBJ_DEPLOYMENT], u64_pair(ns.v, name.v));
}

static void owners_init(const struct build *b, struct owners *w)
{
    *w = (struct owners){.have = arena_new_array(b->arena, uint32_t, b->o->workloads.n)};
    for (uint32_t i = 0; i < b->o->workloads.n; i++) {
        const struct workload *x = &b->o->workloads.v[i];

        u64map_put(&w->by_name[x->kind - OBJ_DEPLOYMENT], u64_pair(x->ns.v, sym_of(b->syms, x->name).v), i);
    }
}

static void owners_fini(struct owners *w)
{
    for (size_t i = 0; i < ARRAY_LEN(w->by_name); i++)
        u64map_fini(&w->by_name[i]);
}

/* The Deployment that made a ReplicaSet called <deployment>-<hash>, the hash being a label of the pod. */
static uint32_t deployment_by_hash(const struct build *b, const struct owners *w, const struct pod *p)
{
    str set = sym_str(b->syms, p->owner_name);
    bool known;
    sym key = sym_find(b->syms, STR("pod-template-hash"), &known), hash;

    if (!known || !lset_value(b->syms, p->labels, key, &hash))
        return MAP_NONE;
    str text = sym_str(b->syms, hash);
    if (text.n == 0 || set.n <= text.n + 1 || !str_ends(set, text) || set.p[set.n - text.n - 1] != '-')
        return MAP_NONE;
    sym name = sym_find(b->syms, str_sub(set, 0, set.n - text.n - 1), &known);
    return known ? owner_find(w, OBJ_DEPLOYMENT, p->ns, name) : MAP_NONE;
}

static uint32_t workload_of(const struct build *b, const struct owners *w, uint32_t pod)
{
    static const enum object_kind kinds[] = {OBJ_DEPLOYMENT, OBJ_REPLICASET, OBJ_STATEFULSET, OBJ_JOB};
    const struct pod *p = &b->o->pods.v[pod];
    str kind = sym_str(b->syms, b->o->pod_owner_kinds.v[pod]);

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(kind, object_kind_name(kinds[i])))
            continue;
        uint32_t ix = owner_find(w, kinds[i], p->ns, p->owner_name);
        if (kinds[i] != OBJ_REPLICASET)
            return ix;
        if (ix == MAP_NONE)
            return deployment_by_hash(b, w, p);
        uint32_t above = owner_find(w, OBJ_DEPLOYMENT, p->ns, b->o->workloads.v[ix].owner);
        return above != MAP_NONE ? above : ix;
    }
    return MAP_NONE;
}

static void add_claim(struct build *b, const struct claim_source *c, sym ns, str name)
{
    struct object_id id = {.kind = OBJ_PVC, .ns = ns, .name = name};
    struct err taken;

    if (!objects_claim_id(b->o, &id, &taken))
        return; /* left over from an earlier pod of that name */
    vec_push(&b->o->pvcs,
             (struct pvc){.ns = ns, .name = name, .storage_class = c->storage_class, .no_class = !c->has_class});
}

/* The spec of one pod: shared, unless the pod has claims of its own (volumeClaimTemplates). */
static const struct podspec *spec_with_claims(struct build *b, const struct workload *w, str pod)
{
    struct podspec *s = w->spec;
    uint32_t own = 0;

    for (uint32_t i = 0; i < w->n_claims; i++)
        own += !w->claims[i].ephemeral;
    if (own) {
        s = arena_dup_array(b->o->arena, struct podspec, w->spec, 1);
        s->base = w->spec->base ? w->spec->base : w->spec;
        s->volumes = arena_new_array(b->o->arena, struct pod_volume, w->spec->n_volumes + own);
        if (w->spec->n_volumes)
            memcpy(s->volumes, w->spec->volumes, w->spec->n_volumes * sizeof(*s->volumes));
    }
    for (uint32_t i = 0; i < w->n_claims; i++) {
        const struct claim_source *c = &w->claims[i];
        str of = sym_str(b->syms, c->name), first = c->ephemeral ? pod : of, second = c->ephemeral ? of : pod;
        str name = arena_printf(b->o->arena, STR_FMT "-" STR_FMT, STR_ARG(first), STR_ARG(second));

        add_claim(b, c, w->ns, name);
        if (!c->ephemeral)
            s->volumes[s->n_volumes++] = (struct pod_volume){.name = sym_of(b->syms, name)};
    }
    return s;
}

static void add_pod(struct build *b, const struct workload *w, str name)
{
    static const enum owner_kind owner[] = {OWNER_REPLICASET, OWNER_REPLICASET, OWNER_STATEFULSET, OWNER_JOB};

    vec_push(&b->o->pods, (struct pod){
                              .ns = w->ns,
                              .name = name,
                              .created_ms = INT64_MAX,
                              .started_ms = INT64_MIN,
                              .spec = w->spec,
                              .labels = w->labels,
                              .owner = owner[w->kind - OBJ_DEPLOYMENT],
                              .owner_name = sym_of(b->syms, w->name),
                              .do_not_disrupt = w->do_not_disrupt,
                              .deletion_cost = w->deletion_cost,
                              .priority = w->priority,
                              .foreign_scheduler = w->foreign_scheduler,
                          });
    vec_push(&b->o->pod_owner_kinds, sym_of(b->syms, str_c(object_kind_name(w->kind))));
    vec_last(&b->o->pods).spec = spec_with_claims(b, w, name);
}

static str pod_name(const struct build *b, const struct workload *w, int64_t i)
{
    return arena_printf(b->o->arena, STR_FMT "-%lld", STR_ARG(w->name), (long long)i);
}

/* A StatefulSet's pods have fixed names: each that is missing or finished is made (again). */
static void expand_ordinals(struct build *b, const struct workload *w)
{
    for (int64_t i = 0; i < w->replicas; i++) {
        str name = pod_name(b, w, w->ordinals + i);
        struct object_id id = {.kind = OBJ_POD, .ns = w->ns, .name = name};
        uint32_t ix = objects_find_pod(b->o, w->ns, name);
        struct err taken;

        if (ix != MAP_NONE && !pod_is_finished(&b->o->pods.v[ix]))
            continue;
        (void)objects_claim_id(b->o, &id, &taken);
        add_pod(b, w, name);
    }
}

static void expand_replicas(struct build *b, const struct workload *w, int64_t missing)
{
    for (int64_t i = 0; missing > 0; i++) {
        str name = pod_name(b, w, i);
        struct object_id id = {.kind = OBJ_POD, .ns = w->ns, .name = name};
        struct err taken;

        if (!objects_claim_id(b->o, &id, &taken))
            continue;
        add_pod(b, w, name);
        missing--;
    }
}

/* Default spread constraints ask for the controller's selector; a Deployment stands in for its ReplicaSet. */
static void add_controller(struct build *b, const struct workload *w)
{
    if (w->kind == OBJ_DEPLOYMENT)
        vec_push(&b->o->controllers,
                 (struct controller){w->ns, sym_of(b->syms, w->name), OWNER_REPLICASET, w->selector});
}

static bool expand(struct build *b, const struct owners *w, uint32_t ix, struct err *e)
{
    const struct workload *x = &b->o->workloads.v[ix];
    int64_t missing = x->kind == OBJ_STATEFULSET ? x->replicas : x->replicas - (int64_t)w->have[ix];

    if (x->deleting || missing <= 0)
        return true;
    if (x->kind == OBJ_REPLICASET && owner_find(w, OBJ_DEPLOYMENT, x->ns, x->owner) != MAP_NONE)
        return true; /* its Deployment speaks for it */
    if (missing > STATE_MAX_PODS || b->o->pods.n + (uint32_t)missing > STATE_MAX_PODS)
        return err_set(e, ERR_INVALID, "%s " STR_FMT "/" STR_FMT " brings the number of pods above %u",
                       object_kind_name(x->kind), STR_ARG(sym_str(b->syms, x->ns)), STR_ARG(x->name), STATE_MAX_PODS);
    add_controller(b, x);
    if (x->kind == OBJ_STATEFULSET)
        expand_ordinals(b, x);
    else
        expand_replicas(b, x, missing);
    return true;
}

bool build_workloads(struct build *b, struct err *e)
{
    struct owners w;
    bool ok = true;

    if (b->o->workloads.n == 0)
        return true;
    owners_init(b, &w);
    for (uint32_t i = 0; i < b->o->pods.n; i++) {
        uint32_t ix = pod_is_finished(&b->o->pods.v[i]) ? MAP_NONE : workload_of(b, &w, i);

        if (ix != MAP_NONE)
            w.have[ix]++;
    }
    for (uint32_t i = 0; ok && i < b->o->workloads.n; i++)
        ok = expand(b, &w, i, e);
    owners_fini(&w);
    return ok;
}
