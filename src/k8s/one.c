/* How much an object takes is known when it is decoded, and a box should not be larger. So it is decoded into a box as large as the last one of its kind needed, and when that
 * does not fit well, as if there had been none: first into memory that is used again and again, to see how much it takes, then into a box of that size. There is no second description of what each kind consists of, as a copying function would be. */
#include "k8s/one.h"

#include <stdlib.h>

#include "k8s/kinds.h"

#define MEASURED_ROOM (32u << 10)
#define SLACK 16u /* a box may be larger than it has to be by this part */

struct decoder *decoder_new_single(struct syms *t, struct podspecs *specs)
{
    struct decoder *d = xcalloc(1, sizeof(*d));

    d->single = true;
    d->tmp = arena_new(16 << 10);
    d->measured = arena_new(MEASURED_ROOM);
    d->specs = specs;
    d->o = objects_new(t);
    arena_free(d->o->arena);
    d->o->arena = NULL;
    return d;
}

void decoder_fini_single(struct decoder *d)
{
    d->o->arena = d->measured; /* goes with it */
    objects_free(d->o);
}

static str lower(struct arena *a, str s)
{
    char *p = arena_new_array(a, char, s.n);

    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + ('a' - 'A') : s.p[i]);
    return (str){p, s.n};
}

/* "karpenter.k8s.aws/ec2nodeclass": the label that a node of the class carries. */
static bool has_class_label(struct arena *a, const struct tree *obj, const struct nodeclass_ref *c)
{
    const struct tree *labels = tree_at(obj, "metadata", "labels", NULL);
    str kind = lower(a, c->kind);

    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++) {
        str group, rest;

        if (str_cut(labels->keys[i], '/', &group, &rest) && str_eq(group, c->group) && str_eq(rest, kind))
            return true;
    }
    return false;
}

static bool refers_to(const struct tree *spec, const struct nodeclass_ref *c)
{
    const struct tree *ref = tree_get(spec, "nodeClassRef");

    return ref && str_eq(tree_str(tree_get(ref, "group")), c->group) &&
           str_eq(tree_str(tree_get(ref, "kind")), c->kind);
}

static bool is_managed(struct arena *a, const struct tree *obj, enum object_kind kind, const struct nodeclass_ref *c)
{
    if (kind == OBJ_NODE)
        return has_class_label(a, obj, c);
    if (kind == OBJ_NODECLAIM)
        return refers_to(tree_get(obj, "spec"), c);
    return kind == OBJ_NODEPOOL && refers_to(tree_at(obj, "spec", "template", "spec", NULL), c);
}

static str class_name(struct arena *a, const struct tree *obj, str name)
{
    str group, version;

    (void)str_cut(tree_str(tree_get(obj, "apiVersion")), '/', &group, &version);
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(tree_str(tree_get(obj, "kind"))),
                        STR_ARG(name));
}

/* Kinds whose name alone does not tell them apart, and that are kept by name all the same. */
static str kept_name(struct arena *a, const struct tree *obj, enum object_kind kind, str ns, str name)
{
    if (kind == OBJ_NODECLASS)
        return class_name(a, obj, name);
    if (kind == OBJ_BUFFER)
        return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
    return name;
}

static int64_t time_or_none(const struct tree *meta, const char *key)
{
    str text = tree_str(tree_get(meta, key));
    int64_t ms = INT64_MIN;
    struct err unread;

    if (text.n)
        (void)time_parse_rfc3339(text, &ms, &unread);
    return ms;
}

bool k8s_meta(struct arena *a, const struct tree *obj, enum object_kind kind, const struct nodeclass_ref *classes,
              uint32_t n_classes, struct object_meta *ret, struct err *e)
{
    const struct tree *m = tree_get(obj, "metadata");
    str name = tree_str(tree_get(m, "name"));
    int64_t version = 0, generation = 0;

    if (name.n == 0)
        return err_set(e, ERR_INVALID, "an object without a name");
    (void)str_to_i64(tree_str(tree_get(m, "resourceVersion")), &version);
    (void)str_to_i64(tree_scalar(tree_get(m, "generation")), &generation);
    str ns = tree_str(tree_get(m, "namespace"));
    *ret = (struct object_meta){
        .ns = kind == OBJ_BUFFER ? (str){0} : ns,
        .name = kept_name(a, obj, kind, ns, name),
        .uid = tree_str(tree_get(m, "uid")),
        .version = version > 0 ? (uint64_t)version : 0,
        .generation = generation,
        .created_ms = time_or_none(m, "creationTimestamp"),
        .deleted_ms = time_or_none(m, "deletionTimestamp"),
    };
    for (uint32_t i = 0; i < n_classes && !ret->managed; i++)
        ret->managed = is_managed(a, obj, kind, &classes[i]);
    return true;
}

/* The one object of the collection. */
static const void *only(struct objects *o, enum object_kind kind, struct csi_drivers *csi, size_t *ret_size)
{
#define ONLY(vec) (*ret_size = sizeof(*o->vec.v), (const void *)o->vec.v)
    switch (kind) {
    case OBJ_NODEPOOL:
        return ONLY(pools);
    case OBJ_NODECLAIM:
        return ONLY(claims);
    case OBJ_NODECLASS:
        return ONLY(classes);
    case OBJ_NODE:
        return ONLY(nodes);
    case OBJ_POD:
        return ONLY(pods);
    case OBJ_DAEMONSET:
        return ONLY(daemons);
    case OBJ_REPLICASET:
    case OBJ_STATEFULSET:
    case OBJ_RC:
        return ONLY(controllers);
    case OBJ_PVC:
        return ONLY(pvcs);
    case OBJ_PV:
        return ONLY(pvs);
    case OBJ_STORAGECLASS:
        return ONLY(storage_classes);
    case OBJ_PDB:
        return ONLY(pdbs);
    case OBJ_NAMESPACE:
        return ONLY(namespaces);
    case OBJ_SERVICE:
        return ONLY(services);
    case OBJ_ATTACHMENT:
        return ONLY(attachments);
    case OBJ_PODTEMPLATE:
        return ONLY(templates);
    case OBJ_BUFFER:
        return ONLY(buffers);
    case OBJ_OVERLAY:
        return ONLY(overlays);
    case OBJ_CSINODE:
        *csi = (struct csi_drivers){vec_to_arena(&o->csi_limits, o->arena), o->csi_limits.n};
        *ret_size = sizeof(*csi);
        return csi;
    case OBJ_DEPLOYMENT:
    case OBJ_JOB:
    case OBJ_OTHER:
        break;
    }
#undef ONLY
    *ret_size = 0;
    return NULL;
}

/* Into an arena, the last step included, which needs *ret_need there. NULL: it cannot be read. */
static const void *decode_into(struct decoder *d, struct arena *a, const struct tree *obj, enum object_kind kind,
                               size_t *ret_need, struct err *e)
{
    struct csi_drivers csi;
    size_t size;

    objects_reset(d->o, a);
    if (!k8s_decode_as(d, obj, kind, e))
        return NULL;
    const void *what = only(d->o, kind, &csi, &size);
    assert(what); /* nobody asks for other kinds */
    *ret_need = arena_used(a) + size + alignof(max_align_t);
    return kind == OBJ_POD ? what : arena_memdup(a, what, size, alignof(max_align_t));
}

bool k8s_decode_one(struct decoder *d, const struct tree *obj, enum object_kind kind, struct decoded *ret,
                    struct err *e)
{
    size_t room = d->room[kind], need = 0;
    struct arena *box = room ? arena_new(room) : NULL;
    const void *what = box ? decode_into(d, box, obj, kind, &need, e) : NULL;

    if (what && need <= room && need >= room - room / SLACK) {
        *ret = (struct decoded){what, box};
        return true;
    }
    arena_free(box);
    arena_reset(d->measured);
    what = decode_into(d, d->measured, obj, kind, &need, e);
    if (!what)
        return false;
    if (kind == OBJ_POD) {
        *ret = (struct decoded){what, NULL};
        return true;
    }
    d->room[kind] = need;
    box = arena_new(need);
    what = decode_into(d, box, obj, kind, &need, e);
    if (!what) {
        arena_free(box);
        return false;
    }
    *ret = (struct decoded){what, box};
    return true;
}
