/* Creating and changing objects: decode, defaults, metadata, admission, validation, and then a revision or nothing.
 *
 * Whatever is refused is refused before the store is touched. A write that changes nothing makes no revision; a dry run stops
 * in front of the store and answers with what would have been. */
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"
#include "sim/kube/write_judge.h"

/* ---- managed fields ---- */

bool write_is_managed(const struct write *w)
{
    return w->o && w->o->manager.n && !w->applied;
}

void write_manage(struct write *w, struct tree *meant, const struct tree *old)
{
    struct apply_options o = {.manager = w->o->manager,
                              .subresource = str_c(w->sub ? w->sub : ""),
                              .api_version = kind_api_version(w->a, judge_asked(w)),
                              .kind = w->kind->name,
                              .has_status = w->kind->has_status,
                              .now_ms = world_now_ms(w->k->world)};

    if (w->asked) {
        meant = shape_tree(w->a, w->asked, meant);
        old = old ? shape_tree(w->a, w->asked, old) : NULL;
    }
    managed_after_update(w->a, judge_asked(w)->schema, old, meant, &o);
    const struct tree *managed = tree_at(meant, "metadata", "managedFields", NULL);
    (void)tree_drop(judge_meta(w), STR("managedFields"));
    if (managed)
        tree_set(w->a, judge_meta(w), "managedFields", *managed);
}

/* The object as it is now, for write_manage(). Nothing but metadata is changed from here on in what a custom kind holds. */
static struct tree *as_meant(struct write *w)
{
    if (!w->kind->crd)
        return tree_twin(w->a, w->obj);
    struct tree *t = tree_new_map(w->a);

    for (uint32_t i = 0; i < w->obj->n; i++)
        *tree_put(w->a, t, w->obj->keys[i]) = w->obj->items[i];
    tree_set(w->a, t, "metadata", *tree_twin(w->a, judge_meta(w)));
    return t;
}

/* ---- the end of every write ---- */

bool write_answer(struct write *w, const struct object *o)
{
    if (w->ret)
        *w->ret = o;
    return true;
}

static bool is_dry(const struct write *w)
{
    return w->o && w->o->dry_run;
}

/* What is written from inside has not been decoded, and is trusted to add no fields to what was before. */
const struct object *write_keep_judged(struct write *w, const struct object *old)
{
    struct draft *d = &w->k->draft;

    d->r.valid_by = w->kind->crd ? w->kind->schema : NULL;
    if (w->o)
        d->r.known_by = w->asked ? NULL : w->kind->schema;
    else if (old)
        d->r.known_by = revision_of(old)->known_by;
    return draft_keep(d);
}

/* ---- create ---- */

static bool create_rv(struct write *w)
{
    if (!w->o || tree_str(tree_get(judge_meta(w), "resourceVersion")).n == 0)
        return true;
    (void)status_bad_request(w->a, w->st, 500, "resourceVersion should not be set on objects to be created");
    w->st->reason = "";
    return false;
}

bool write_create(struct write *w)
{
    struct kube *k = w->k;
    struct tree *meant = NULL;

    if (!judge_decode(w, NULL) || !create_rv(w))
        return false;
    judge_shape(w);
    judge_defaults(w);
    meta_create(k, w->a, w->kind, judge_meta(w));
    if (!judge_namespace(w))
        return false;
    if (w->kind->crd && w->kind->has_status && tree_drop(w->obj, STR("status")) && w->kind->schema)
        schema_default(w->a, w->kind->schema, w->obj); /* a real server does so whenever it reads what it has stored */
    if (write_is_managed(w))
        meant = as_meant(w);
    if (!judge_admit(w, NULL) || !judge_validate(w, NULL, NULL))
        return false;
    str ns = tree_str(tree_get(judge_meta(w), "namespace"));
    if (store_find(k, w->kind, ns, judge_name(w)))
        return status_exists(w->a, w->st, judge_asked(w), judge_name(w));
    if (meant)
        write_manage(w, meant, NULL);
    draft_write(&k->draft, w->a, w->kind, w->obj, is_dry(w) ? 0 : kube_next_rv(k), NULL);
    const struct object *o = write_keep_judged(w, NULL);
    if (is_dry(w))
        return write_answer(w, kube_lend(k, o));
    k->hint = w->obj;
    kube_commit(k, NULL, o);
    return write_answer(w, o);
}

/* ---- update ---- */

static bool rv_required(struct write *w)
{
    struct causes c = {.a = w->a};
    struct kind named = *w->kind; /* quirk: this refusal names the resource, not the kind */

    named.name = named.plural;
    cause_invalid(&c, STR("metadata.resourceVersion"), STR("0"), "must be specified for an update");
    (void)status_invalid(w->a, w->st, &named, judge_name(w), &c);
    causes_fini(&c);
    return false;
}

static bool is_current(struct write *w, const struct object *old)
{
    const struct revision *r = revision_of(old);
    str rv = tree_str(tree_get(judge_meta(w), "resourceVersion")), uid = tree_str(tree_get(judge_meta(w), "uid"));

    if (w->put && uid.n && !str_eq(uid, old->uid)) {
        str why =
            arena_printf(w->a,
                         "StorageError: invalid object, Code: 4, Key: /registry/" STR_FMT "%s" STR_FMT "/" STR_FMT
                         ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: " STR_FMT
                         ", UID in object meta: " STR_FMT,
                         STR_ARG(w->kind->plural), old->ns.n ? "/" : "", STR_ARG(old->ns), STR_ARG(old->name),
                         STR_ARG(uid), STR_ARG(old->uid));

        return status_conflict(w->a, w->st, w->kind, old->name, why.p);
    }
    if (rv.n == 0 || str_is(rv, "0"))
        return !w->put || !w->kind->needs_rv || rv_required(w);
    if (rv.p[0] < '0' || rv.p[0] > '9') {
        (void)status_bad_request(w->a, w->st, 500, "strconv.ParseUint: parsing \"" STR_FMT "\": invalid syntax",
                                 STR_ARG(rv));
        w->st->reason = "";
        return false;
    }
    if (!str_eq(rv, str_sub(old->json, r->rv_at, r->rv_at + r->rv_n)))
        return status_conflict(w->a, w->st, w->kind, old->name, CHANGED_SINCE);
    return true;
}

static void keep_member(struct arena *a, struct tree *map, const struct tree *old, const char *key)
{
    const struct tree *was = tree_get(old, key);

    (void)tree_drop(map, str_c(key));
    if (was)
        tree_set(a, map, key, *was);
}

/* A write to the status leaves all else as it is, but for metadata that a real server lets through. */
static void keep_all_but_status(struct write *w, struct tree *old)
{
    struct tree *status = tree_find(w->obj, STR("status"));
    struct tree *next = tree_new_map(w->a);
    struct tree *meta = judge_meta(w), *old_meta = tree_sub(w->a, old, "metadata");

    for (uint32_t i = 0; i < old->n; i++)
        if (!str_is(old->keys[i], "status") && !str_is(old->keys[i], "metadata"))
            *tree_put(w->a, next, old->keys[i]) = old->items[i];
    if (w->kind->crd) {
        const struct tree *managed = tree_get(meta, "managedFields");
        struct tree kept = *tree_twin(w->a, old_meta);

        if (managed)
            tree_set(w->a, &kept, "managedFields", *managed);
        *meta = kept;
    } else {
        keep_member(w->a, meta, old_meta, "ownerReferences");
        if (str_is(w->kind->name, "Deployment"))
            keep_member(w->a, meta, old_meta, "labels");
    }
    tree_set(w->a, next, "metadata", *meta);
    if (status && status->kind != TREE_NULL)
        tree_set(w->a, next, "status", *status);
    w->obj = next;
}

static void keep_status(struct write *w, const struct tree *old)
{
    keep_member(w->a, w->obj, old, "status");
}

/* namespaces/finalize: spec.finalizers and nothing else. */
static void keep_all_but_finalizers(struct write *w, struct tree *old)
{
    const struct tree *list = tree_at(w->obj, "spec", "finalizers", NULL);
    struct tree *next = tree_twin(w->a, old), *spec = tree_sub(w->a, next, "spec");

    (void)tree_drop(spec, STR("finalizers"));
    if (list)
        tree_set(w->a, spec, "finalizers", *list);
    w->obj = next;
}

static void merge_parts(struct write *w, struct tree *old)
{
    if (w->sub && strcmp(w->sub, "status") == 0)
        keep_all_but_status(w, old);
    else if (w->sub && strcmp(w->sub, "finalize") == 0)
        keep_all_but_finalizers(w, old);
    else if (w->kind->has_status)
        keep_status(w, old);
    meta_update(w->a, judge_meta(w), tree_get(old, "metadata"));
}

/* The managed fields of the old revision, so that a write which changes nothing else is seen to change nothing. */
static void keep_managed(struct write *w, const struct tree *old)
{
    const struct tree *managed = tree_at(old, "metadata", "managedFields", NULL);
    const struct tree *sent = tree_get(judge_meta(w), "managedFields");
    bool reset = sent && sent->n == 1 && sent->items[0].kind == TREE_MAP && sent->items[0].n == 0;

    if (reset || (sent && !write_is_managed(w)))
        return;
    (void)tree_drop(judge_meta(w), STR("managedFields"));
    if (managed)
        tree_set(w->a, judge_meta(w), "managedFields", *managed);
}

/* The status, in a map of its own, when nothing else of a custom object is about to change: it was written under the same schema, so that it has all defaults, and nobody has had
 * the managed fields forgotten. NULL: more may change. */
static struct tree *status_alone(struct write *w, const struct object *old, const struct tree *old_tree)
{
    const struct revision *r = revision_of(old);
    const struct tree *status = tree_get(w->obj, "status"), *managed = tree_get(judge_meta(w), "managedFields");
    const struct tree *was = tree_at(old_tree, "metadata", "managedFields", NULL);

    if (!w->kind->crd || !w->kind->has_status || !w->sub || strcmp(w->sub, "status") != 0 || !status)
        return NULL;
    if (!w->kind->schema || r->valid_by != w->kind->schema || r->known_by != w->kind->schema)
        return NULL;
    if (!managed != !was || (managed && managed->items != was->items))
        return NULL;
    struct tree *alone = tree_new_map(w->a);
    tree_set(w->a, alone, "status", *status);
    return alone;
}

/* The draft once more, with the managed fields as they are after this write. */
static void write_managed(struct write *w, const struct object *old, const struct tree *old_tree, struct tree *meant,
                          struct tree *alone, uint64_t rv)
{
    struct draft *d = &w->k->draft;

    write_manage(w, meant, old_tree);
    const struct tree *managed = tree_get(judge_meta(w), "managedFields");
    if (alone && managed) {
        draft_splice(d, w->a, old, alone, managed, rv);
        return;
    }
    if (alone)
        draft_write(d, w->a, w->kind, w->obj, rv, old);
    draft_write_metadata(d, w->a, w->obj); /* the generation has been counted */
}

static bool finish_update(struct write *w, const struct object *old, const struct tree *old_tree, struct tree *meant)
{
    struct kube *k = w->k;
    uint64_t rv = is_dry(w) ? old->rv : kube_next_rv(k);
    struct tree *alone = status_alone(w, old, old_tree);

    if (alone)
        draft_splice(&k->draft, w->a, old, alone, NULL, rv);
    else
        draft_write(&k->draft, w->a, w->kind, w->obj, rv, old);
    if (draft_equals(&k->draft, old))
        return write_answer(w, old);
    if (meant)
        write_managed(w, old, old_tree, meant, alone, rv);
    const struct object *o = write_keep_judged(w, old);
    if (is_dry(w))
        return write_answer(w, kube_lend(k, o));
    if (remove_is_due(k, w->kind, w->obj)) {
        kube_commit_removal(k, old);
        return write_answer(w, kube_lend(k, o));
    }
    k->hint = w->obj;
    kube_commit(k, old, o);
    return write_answer(w, o);
}

bool write_update(struct write *w, const struct object *old)
{
    struct tree *old_tree = w->was ? w->was : object_tree(w->a, old), *meant = NULL;
    bool ok = false;

    bool known = w->kind->schema && revision_of(old)->known_by == w->kind->schema;
    if (!judge_decode(w, known ? old_tree : NULL) || !is_current(w, old))
        return false;
    judge_shape(w);
    object_ref(old);
    merge_parts(w, old_tree);
    if (w->o || !w->sub) /* from inside, a status is whole and the rest is as it was: half the cost of such a write */
        judge_defaults(w);
    if (write_is_managed(w))
        meant = as_meant(w);
    if (judge_admit(w, old_tree) && judge_validate(w, old, old_tree)) {
        keep_managed(w, old_tree);
        ok = finish_update(w, old, old_tree, meant);
    }
    object_unref(old);
    return ok;
}

/* ---- the ways in ---- */

bool kube_create_as(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj,
                    const struct write_options *o, const struct object **ret, struct status *st)
{
    return write_create(&(struct write){.k = k, .a = a, .kind = kind, .obj = obj, .o = o, .ret = ret, .st = st});
}

bool kube_update_as(struct kube *k, struct arena *a, const struct kind *kind, const char *sub, struct tree *obj,
                    const struct write_options *o, const struct object **ret, struct status *st)
{
    struct write w = {
        .k = k, .a = a, .kind = kind, .sub = sub, .obj = obj, .o = o, .put = o != NULL, .ret = ret, .st = st};
    const struct tree *meta = tree_get(obj, "metadata");
    str name = tree_str(tree_get(meta, "name"));
    const struct object *old = kube_get(k, kind, tree_str(tree_get(meta, "namespace")), name);

    if (!old && kind->made_by_put && !sub && o) {
        (void)tree_drop((struct tree *)meta, STR("resourceVersion"));
        return write_create(&w);
    }
    return old ? write_update(&w, old) : status_not_found(a, st, kind, name);
}

bool kube_create(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj, const struct object **ret,
                 struct status *st)
{
    return kube_create_as(k, a, kind, obj, NULL, ret, st);
}

bool kube_update(struct kube *k, struct arena *a, const struct kind *kind, const char *sub, struct tree *obj,
                 const struct object **ret, struct status *st)
{
    return kube_update_as(k, a, kind, sub, obj, NULL, ret, st);
}
