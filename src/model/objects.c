/* Identities are found by a 64-bit hash and then compared; should two names share a hash, the next seed is tried. */
#include "model/objects.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define OTHER_THAN_POD 0x80000000u

static const char *const kind_names[] = {
    [OBJ_NODEPOOL] = "NodePool",
    [OBJ_NODECLAIM] = "NodeClaim",
    [OBJ_NODECLASS] = "NodeClass",
    [OBJ_NODE] = "Node",
    [OBJ_POD] = "Pod",
    [OBJ_DAEMONSET] = "DaemonSet",
    [OBJ_DEPLOYMENT] = "Deployment",
    [OBJ_REPLICASET] = "ReplicaSet",
    [OBJ_STATEFULSET] = "StatefulSet",
    [OBJ_JOB] = "Job",
    [OBJ_RC] = "ReplicationController",
    [OBJ_PVC] = "PersistentVolumeClaim",
    [OBJ_PV] = "PersistentVolume",
    [OBJ_STORAGECLASS] = "StorageClass",
    [OBJ_CSINODE] = "CSINode",
    [OBJ_PDB] = "PodDisruptionBudget",
    [OBJ_NAMESPACE] = "Namespace",
    [OBJ_SERVICE] = "Service",
    [OBJ_ATTACHMENT] = "VolumeAttachment",
    [OBJ_PODTEMPLATE] = "PodTemplate",
    [OBJ_BUFFER] = "CapacityBuffer",
    [OBJ_OVERLAY] = "NodeOverlay",
    [OBJ_OTHER] = "object",
};

const char *object_kind_name(enum object_kind k)
{
    return kind_names[k];
}

struct objects *objects_new(struct syms *syms)
{
    struct objects *o = xcalloc(1, sizeof(*o));

    o->arena = arena_new(64 << 10);
    o->syms = syms;
    return o;
}

void objects_free(struct objects *o)
{
    if (!o)
        return;
    vec_fini(&o->pools);
    vec_fini(&o->claims);
    vec_fini(&o->classes);
    vec_fini(&o->nodes);
    vec_fini(&o->pods);
    vec_fini(&o->pod_owner_kinds);
    vec_fini(&o->daemons);
    vec_fini(&o->workloads);
    vec_fini(&o->templates);
    vec_fini(&o->buffers);
    vec_fini(&o->overlays);
    vec_fini(&o->pvcs);
    vec_fini(&o->pvs);
    vec_fini(&o->storage_classes);
    vec_fini(&o->csi_limits);
    vec_fini(&o->attachments);
    vec_fini(&o->pdbs);
    vec_fini(&o->namespaces);
    vec_fini(&o->services);
    vec_fini(&o->controllers);
    vec_fini(&o->ignored);
    vec_fini(&o->notes);
    vec_fini(&o->ids);
    u64map_fini(&o->by_name);
    u64map_fini(&o->by_uid);
    arena_free(o->arena);
    free(o);
}

void objects_reset(struct objects *o, struct arena *next)
{
    o->arena = next;
    o->pools.n = o->claims.n = o->classes.n = o->nodes.n = o->pods.n = o->pod_owner_kinds.n = 0;
    o->daemons.n = o->workloads.n = o->controllers.n = 0;
    o->templates.n = o->buffers.n = o->overlays.n = 0;
    o->pvcs.n = o->pvs.n = o->storage_classes.n = o->csi_limits.n = o->attachments.n = 0;
    o->pdbs.n = o->namespaces.n = o->services.n = 0;
    o->ignored.n = o->notes.n = o->ids.n = 0;
    u64map_clear(&o->by_name);
    u64map_clear(&o->by_uid);
}

static struct object_id id_at(const struct objects *o, uint32_t ref)
{
    if (ref & OTHER_THAN_POD)
        return o->ids.v[ref & ~OTHER_THAN_POD];
    const struct pod *p = &o->pods.v[ref];
    return (struct object_id){OBJ_POD, p->ns, p->name, p->uid};
}

/* The holder of the same name (or uid), or MAP_NONE with the free hash to put it under. */
static uint32_t find_holder(const struct objects *o, const struct object_id *id, bool by_uid, uint64_t *ret_hash)
{
    const struct u64map *m = by_uid ? &o->by_uid : &o->by_name;
    for (uint64_t seed = 0;; seed++) {
        uint64_t hash =
            by_uid ? uid_hash(id->uid, seed)
                   : hash_mix(hash_bytes(id->name.p, id->name.n, seed), u64_pair(id->ns.v, (uint32_t)id->kind));

        uint32_t ref = u64map_get(m, hash);
        if (ref == MAP_NONE) {
            *ret_hash = hash;
            return MAP_NONE;
        }
        struct object_id other = id_at(o, ref);
        if (by_uid ? uid_eq(other.uid, id->uid)
                   : other.kind == id->kind && sym_eq(other.ns, id->ns) && str_eq(other.name, id->name))
            return ref;
    }
}

static str id_text(struct objects *o, const struct object_id *id)
{
    const char *kind = object_kind_name(id->kind);

    if (!sym_some(id->ns))
        return arena_printf(o->arena, "%s " STR_FMT, kind, STR_ARG(id->name));
    return arena_printf(o->arena, "%s " STR_FMT "/" STR_FMT, kind, STR_ARG(sym_str(o->syms, id->ns)),
                        STR_ARG(id->name));
}

bool objects_claim_id(struct objects *o, const struct object_id *id, struct err *e)
{
    uint64_t name_hash, uid_hash = 0;
    bool has_uid = uid_some(id->uid);

    if (find_holder(o, id, /* by_uid= */ false, &name_hash) != MAP_NONE)
        return err_set(e, ERR_INVALID, STR_FMT " occurs twice", STR_ARG(id_text(o, id)));
    if (has_uid) {
        uint32_t ref = find_holder(o, id, /* by_uid= */ true, &uid_hash);

        if (ref != MAP_NONE) {
            struct object_id other = id_at(o, ref);

            return err_set(e, ERR_INVALID, STR_FMT " and " STR_FMT " have the same uid " STR_FMT,
                           STR_ARG(id_text(o, &other)), STR_ARG(id_text(o, id)), STR_ARG(UID_STR(id->uid)));
        }
    }
    uint32_t ref = o->pods.n;
    if (id->kind != OBJ_POD) {
        struct object_id keep = *id;

        keep.name = arena_strdup(o->arena, id->name);
        if (!uid_is_number(id->uid))
            keep.uid = uid_of(arena_strdup(o->arena, UID_STR(id->uid)));
        ref = o->ids.n | OTHER_THAN_POD;
        vec_push(&o->ids, keep);
    }
    u64map_put(&o->by_name, name_hash, ref);
    if (has_uid)
        u64map_put(&o->by_uid, uid_hash, ref);
    return true;
}

uint32_t objects_find_pod(const struct objects *o, sym ns, str name)
{
    struct object_id id = {.kind = OBJ_POD, .ns = ns, .name = name};
    uint64_t hash;

    return find_holder(o, &id, /* by_uid= */ false, &hash);
}

void objects_ignore(struct objects *o, str api_version, str kind)
{
    str text = arena_printf(o->arena, STR_FMT "/" STR_FMT, STR_ARG(api_version), STR_ARG(kind));

    for (uint32_t i = 0; i < o->ignored.n; i++)
        if (str_eq(o->ignored.v[i].kind, text)) {
            o->ignored.v[i].n++;
            return;
        }
    vec_push(&o->ignored, (struct ignored_kind){text, 1});
}

void objects_note(struct objects *o, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    vec_push(&o->notes, arena_strdup(o->arena, str_c(text)));
}
