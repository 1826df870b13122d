/* Garbage collection: what is owned goes when all its owners are gone, or before them (foreground), or is let go (orphan).
 *
 * Subscribers note the uids of objects to look at; the loop brings them back one by one. The index of owners (owners.c) says who
 * depends on whom. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

#define ORPHAN "orphan"
#define FOREGROUND "foregroundDeletion"

static bool has_finalizer(struct arena *a, const struct object *o, const char *name)
{
    return o->n_finalizers && finalizers_have(object_tree(a, o), name);
}

/* ---- what became of an owner ---- */

enum fate { SOLID, DANGLING, WAITING };

static bool is_served(const struct kube *k, const struct owner *ref)
{
    str group, version;

    if (!str_cut(ref->api_version, '/', &group, &version))
        group = (str){0};
    return kube_kind(k, group, ref->kind) != NULL;
}

/* An owner whose kind nobody serves is left alone: it may come back. */
static enum fate fate_of(struct kube *k, struct arena *a, const struct object *o, const struct owner *ref)
{
    const struct object *owner = kube_by_uid(k, ref->uid);

    if (!owner)
        return is_served(k, ref) ? DANGLING : SOLID;
    if (!str_eq(owner->kind->name, ref->kind) || !str_eq(owner->name, ref->name) ||
        (owner->kind->namespaced && !str_eq(owner->ns, o->ns)))
        return DANGLING;
    return owner->deleted_ms && has_finalizer(a, owner, FOREGROUND) ? WAITING : SOLID;
}

/* ---- noting what to look at ---- */

static void note(void *ctx, const struct object *o)
{
    struct kube *k = ctx;

    work_add(k->gc, o->uid);
}

static bool same_owners(const struct object *a, const struct object *b)
{
    if (a->n_owners != b->n_owners)
        return false;
    for (uint32_t i = 0; i < a->n_owners; i++)
        if (!str_eq(a->owners[i].uid, b->owners[i].uid) || a->owners[i].blocks != b->owners[i].blocks)
            return false;
    return true;
}

static void note_owners_that_wait(struct kube *k, const struct object *o)
{
    for (uint32_t i = 0; i < o->n_owners; i++) {
        const struct object *owner = kube_by_uid(k, o->owners[i].uid);

        if (owner && owner->deleted_ms)
            work_add(k->gc, owner->uid);
    }
}

static bool all_owners_live(struct kube *k, const struct object *o)
{
    for (uint32_t i = 0; i < o->n_owners; i++) {
        const struct object *owner = kube_by_uid(k, o->owners[i].uid);

        if (!owner || owner->deleted_ms || !str_eq(owner->name, o->owners[i].name))
            return false;
    }
    return true;
}

static void on_change(void *ctx, const struct change *c)
{
    struct kube *k = ctx;

    if (!c->new) {
        owners_each(k, c->old->uid, note, k);
        note_owners_that_wait(k, c->old);
        return;
    }
    if (c->new->deleted_ms && c->new->n_finalizers)
        work_add(k->gc, c->new->uid);
    if (c->old && same_owners(c->old, c->new))
        return;
    if (c->old)
        note_owners_that_wait(k, c->old);
    if (c->new->n_owners && !all_owners_live(k, c->new))
        work_add(k->gc, c->new->uid);
}

/* ---- doing it ---- */

struct uids {
    struct arena *a;
    VEC(str) list;
};

static void collect(void *ctx, const struct object *o)
{
    struct uids *u = ctx;

    vec_push(&u->list, arena_strdup(u->a, o->uid));
}

/* Drops the references for which `drop` says so. */
static void drop_owners(struct kube *k, struct arena *a, const struct object *o, const bool *drop)
{
    struct tree *obj = object_tree(a, o);
    struct tree *refs = tree_sublist(a, tree_sub(a, obj, "metadata"), "ownerReferences");

    object_ref(o);
    for (uint32_t i = o->n_owners; i-- > 0;)
        if (drop[i])
            tree_remove(refs, i);
    (void)write_revision(k, a, o, obj);
    object_unref(o);
}

static void release(struct kube *k, struct arena *a, const struct object *o, const char *finalizer)
{
    struct tree *obj = object_tree(a, o);

    object_ref(o);
    if (finalizers_drop(obj, finalizer))
        write_finalizers(k, a, o, obj);
    object_unref(o);
}

static void orphan_dependents(struct kube *k, struct arena *a, const struct object *o)
{
    struct uids u = {.a = a};
    str uid = arena_strdup(a, o->uid);

    owners_each(k, uid, collect, &u);
    for (uint32_t i = 0; i < u.list.n; i++) {
        const struct object *dep = kube_by_uid(k, u.list.v[i]);
        bool *drop = dep ? arena_new_array(a, bool, dep->n_owners) : NULL;

        for (uint32_t j = 0; dep && j < dep->n_owners; j++)
            drop[j] = str_eq(dep->owners[j].uid, uid);
        if (dep)
            drop_owners(k, a, dep, drop);
    }
    vec_fini(&u.list);
    o = kube_by_uid(k, uid);
    if (o)
        release(k, a, o, ORPHAN);
}

static bool blocks(const struct object *dep, str uid)
{
    for (uint32_t i = 0; i < dep->n_owners; i++)
        if (dep->owners[i].blocks && str_eq(dep->owners[i].uid, uid))
            return true;
    return false;
}

/* The owner goes when nothing that blocks it is left. */
static void delete_dependents(struct kube *k, struct arena *a, const struct object *o)
{
    struct uids u = {.a = a};
    bool blocked = false;

    owners_each(k, o->uid, collect, &u);
    for (uint32_t i = 0; i < u.list.n; i++) {
        const struct object *dep = kube_by_uid(k, u.list.v[i]);

        if (!blocks(dep, o->uid))
            continue;
        blocked = true;
        if (!dep->deleted_ms)
            work_add(k->gc, dep->uid);
    }
    vec_fini(&u.list);
    if (!blocked)
        release(k, a, o, FOREGROUND);
}

static const char *propagation_of(struct arena *a, const struct object *o)
{
    if (has_finalizer(a, o, ORPHAN))
        return "Orphan";
    return has_finalizer(a, o, FOREGROUND) ? "Foreground" : "Background";
}

static void consider(struct kube *k, struct arena *a, const struct object *o)
{
    bool *drop = arena_new_array(a, bool, o->n_owners);
    uint32_t n[3] = {0};

    for (uint32_t i = 0; i < o->n_owners; i++) {
        enum fate f = fate_of(k, a, o, &o->owners[i]);

        n[f]++;
        drop[i] = f != SOLID;
    }
    if (n[SOLID] && n[DANGLING] + n[WAITING])
        drop_owners(k, a, o, drop);
    else if (n[SOLID] == 0 && n[WAITING] && owners_any(k, o->uid))
        remove_by_server(k, a, o, "Foreground");
    else if (n[SOLID] == 0)
        remove_by_server(k, a, o, propagation_of(a, o));
}

static void look_at(void *ctx, str uid)
{
    struct kube *k = ctx;
    AUTO(arena) struct arena *a = arena_new(16 << 10);
    const struct object *o = kube_by_uid(k, uid);

    if (!o)
        return;
    if (!o->deleted_ms) {
        if (o->n_owners)
            consider(k, a, o);
    } else if (has_finalizer(a, o, ORPHAN)) {
        orphan_dependents(k, a, o);
    } else if (has_finalizer(a, o, FOREGROUND)) {
        delete_dependents(k, a, o);
    }
}

void gc_init(struct kube *k)
{
    k->gc = work_new(k->world, "gc", look_at, k);
    kube_subscribe(k, NULL, on_change, k);
}
