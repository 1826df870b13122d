/* Deleting: preconditions, grace, finalizers, propagation.
 *
 * A deletion is either a mark (a deletion timestamp: somebody has to finish something first) or the removal itself. Pods are
 * deleted gracefully: the kubelet removes them, with a grace period of 0. Namespaces and definitions of custom kinds wait until
 * what they hold is gone. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"

struct removal {
    struct kube *k;
    struct arena *a;
    const struct object *old;
    struct tree *obj; /* its metadata alone; all of it for kinds that hold others */
    const struct delete_options *d;
    struct status *st;
};

static struct tree *meta_of(const struct removal *r)
{
    return tree_sub(r->a, r->obj, "metadata");
}

bool remove_is_due(const struct kube *k, const struct kind *kind, const struct tree *obj)
{
    const struct tree *meta = tree_get(obj, "metadata"), *finalizers = tree_get(meta, "finalizers");
    const struct tree *held = kind == k->namespaces ? tree_at(obj, "spec", "finalizers", NULL) : NULL;
    int64_t grace = 0;

    (void)tree_to_i64(tree_get(meta, "deletionGracePeriodSeconds"), &grace);
    return tree_get(meta, "deletionTimestamp") && grace == 0 && (!finalizers || finalizers->n == 0) &&
           (!held || held->n == 0);
}

/* ---- preconditions ---- */

/* quirk: namespaces and definitions word it in another way, with the name of the resource. */
static bool unmet(struct removal *r, const char *what, str wanted, str found)
{
    const struct kind *kind = r->old->kind;
    bool uid = what[0] == 'U';

    if (kind == r->k->namespaces || kind == r->k->crds) {
        str why =
            arena_printf(r->a, "Precondition failed: %s in precondition: " STR_FMT ", %s in object meta: " STR_FMT,
                         what, STR_ARG(wanted), what, STR_ARG(found));

        return status_conflict(r->a, r->st, kind, r->old->name, why.p);
    }
    struct kind named = *kind;
    named.plural = kind->name;
    str why =
        arena_printf(r->a,
                     "the %s in the precondition (" STR_FMT ") does not match the %s in record (" STR_FMT
                     "). The object might have been %s",
                     what, STR_ARG(wanted), what, STR_ARG(found), uid ? "deleted and then recreated" : "modified");
    return status_conflict(r->a, r->st, &named, r->old->name, why.p);
}

static bool preconditions_hold(struct removal *r)
{
    if (r->d->uid.n && !str_eq(r->d->uid, r->old->uid))
        return unmet(r, "UID", r->d->uid, r->old->uid);
    if (r->d->rv && r->d->rv != r->old->rv)
        return unmet(r, "ResourceVersion", arena_printf(r->a, "%llu", (unsigned long long)r->d->rv),
                     arena_printf(r->a, "%llu", (unsigned long long)r->old->rv));
    return true;
}

static bool may_be_deleted(struct removal *r)
{
    static const char *const kept[] = {"default", "kube-system", "kube-public"};

    for (size_t i = 0; r->old->kind == r->k->namespaces && i < ARRAY_LEN(kept); i++)
        if (str_is(r->old->name, kept[i]))
            return status_forbidden(r->a, r->st, r->old->kind, r->old->name, "this namespace may not be deleted");
    return true;
}

/* ---- marks ---- */

static void mark(struct removal *r, int64_t grace_s, bool with_grace)
{
    struct tree *meta = meta_of(r);
    int64_t generation = 0, now_ms = world_now_ms(r->k->world);

    tree_set_str(r->a, meta, "deletionTimestamp", meta_time(r->a, sat_add(now_ms, sat_mul(grace_s, 1000))));
    if (with_grace)
        tree_set_i64(r->a, meta, "deletionGracePeriodSeconds", grace_s);
    if (tree_to_i64(tree_get(meta, "generation"), &generation) && generation > 0 && with_grace)
        tree_set_i64(r->a, meta, "generation", generation + 1);
}

/* How long a pod that is deleted now has to stop. */
static int64_t pod_grace(const struct removal *r)
{
    str phase = object_field(r->old, "status.phase");
    int64_t grace = 0;

    if (object_field(r->old, "spec.nodeName").n == 0 || str_is(phase, "Failed") || str_is(phase, "Succeeded"))
        return 0;
    if (r->d->grace_s >= 0)
        return r->d->grace_s;
    (void)str_to_i64(object_member(r->old, STR("spec"), STR("terminationGracePeriodSeconds")), &grace);
    return grace < 0 ? 1 : grace;
}

enum grace { AT_ONCE, GRACEFUL, PENDING };

/* A second deletion may only shorten the time. */
static enum grace shorten(struct removal *r)
{
    struct tree *meta = meta_of(r);
    int64_t grace = 0;

    if (!tree_to_i64(tree_get(meta, "deletionGracePeriodSeconds"), &grace) || grace == 0)
        return AT_ONCE;
    if (r->d->grace_s < 0 || r->d->grace_s >= grace)
        return PENDING;
    int64_t due_ms = sat_sub(r->old->deleted_ms, sat_mul(grace - r->d->grace_s, 1000));
    tree_set_str(r->a, meta, "deletionTimestamp", meta_time(r->a, due_ms));
    tree_set_i64(r->a, meta, "deletionGracePeriodSeconds", r->d->grace_s);
    return GRACEFUL;
}

static enum grace begin(struct removal *r)
{
    if (r->old->deleted_ms)
        return shorten(r);
    if (r->old->kind != r->k->pods)
        return AT_ONCE;
    mark(r, pod_grace(r), true);
    return GRACEFUL;
}

/* The finalizers by which the garbage collection knows what to do with dependents. */
static bool set_propagation(struct removal *r)
{
    const char *how = r->d->propagation;
    bool orphan = finalizers_have(r->obj, "orphan"), foreground = finalizers_have(r->obj, "foregroundDeletion");
    bool want_orphan = how ? strcmp(how, "Orphan") == 0 : orphan;
    bool want_foreground = how ? strcmp(how, "Foreground") == 0 : foreground && !orphan;

    if (r->old->kind == r->k->events || (want_orphan == orphan && want_foreground == foreground))
        return false;
    (void)finalizers_drop(r->obj, "orphan");
    (void)finalizers_drop(r->obj, "foregroundDeletion");
    if (want_orphan)
        finalizers_add(r->a, r->obj, STR("orphan"));
    if (want_foreground)
        finalizers_add(r->a, r->obj, STR("foregroundDeletion"));
    return true;
}

/* ---- kinds that hold others ---- */

static bool holds_others(const struct kube *k, const struct kind *kind)
{
    return kind == k->namespaces || kind == k->crds;
}

static bool waits_for_content(const struct removal *r)
{
    return holds_others(r->k, r->old->kind) && !r->old->deleted_ms;
}

static const struct object *begin_emptying(struct removal *r)
{
    mark(r, 0, false);
    if (r->old->kind == r->k->namespaces) {
        (void)set_propagation(r);
        tree_set_str(r->a, tree_sub(r->a, r->obj, "status"), "phase", STR("Terminating"));
    } else {
        finalizers_add(r->a, r->obj, STR(CRD_FINALIZER));
        condition_set(r->a, r->obj, "Terminating", "True", "InstanceDeletionPending",
                      "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
                      world_now_ms(r->k->world));
    }
    return write_revision(r->k, r->a, r->old, r->obj);
}

/* ---- the whole of it ---- */

/* The answer is what is left of it, or was there last. */
static const struct object *carry_out(struct removal *r)
{
    const struct object *old = r->old;
    const struct tree *held = NULL;

    if (waits_for_content(r))
        return begin_emptying(r);
    if (old->kind == r->k->namespaces && (held = tree_at(r->obj, "spec", "finalizers", NULL)) && held->n)
        return old;
    enum grace how = begin(r);
    if (how == PENDING)
        return old;
    bool changed = set_propagation(r);
    if (how == GRACEFUL || changed || old->n_finalizers) {
        if (!old->deleted_ms && how == AT_ONCE)
            mark(r, 0, true);
        old = write_parts(r->k, r->a, old, r->obj);
    }
    if (old->deleted_ms && !remove_is_due(r->k, old->kind, r->obj))
        return old;
    object_ref(old);
    kube_commit_removal(r->k, old);
    return kube_lend(r->k, old);
}

static struct tree *metadata_alone(struct arena *a, const struct object *o)
{
    struct tree *t = tree_new_map(a);

    tree_set(a, t, "metadata", *object_part_tree(a, o, STR("metadata")));
    return t;
}

bool kube_delete_as(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                    const struct delete_options *d, const struct write_options *o, const struct object **ret,
                    struct status *st)
{
    static const struct delete_options usual = {.grace_s = -1};
    const struct object *old = kube_get(k, kind, ns, name);

    if (!old)
        return status_not_found(a, st, kind, name);
    struct removal r = {.k = k, .a = a, .old = old, .d = d ? d : &usual, .st = st};
    if (!may_be_deleted(&r) || !preconditions_hold(&r))
        return false;
    object_ref(old);
    const struct object *left = old;
    if (!o || !o->dry_run) {
        r.obj = holds_others(k, kind) ? object_tree(a, old) : metadata_alone(a, old);
        left = carry_out(&r);
    }
    if (ret)
        *ret = left;
    object_unref(old);
    return true;
}

bool kube_delete(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name,
                 const struct delete_options *o, struct status *st)
{
    return kube_delete_as(k, a, kind, ns, name, o, NULL, NULL, st);
}

void remove_by_server(struct kube *k, struct arena *a, const struct object *o, const char *propagation)
{
    struct delete_options d = {.grace_s = -1, .uid = arena_strdup(a, o->uid), .propagation = propagation};
    struct status st;

    (void)kube_delete(k, a, o->kind, arena_strdup(a, o->ns), arena_strdup(a, o->name), &d, &st);
}
