/* Creating and changing objects: decode, defaults, metadata, admission, validation, and then a revision or nothing.
 *
 * Whatever is refused is refused before the store is touched. A write that changes nothing makes no revision; a dry run stops
 * in front of the store and answers with what would have been. */
#include "data/edit.h"
#include "data/json.h"
#include "sim/kube/kube_int.h"
#include "sim/kube/patch.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/schema.h"

#define CHANGED_SINCE "the object has been modified; please apply your changes to the latest version and try again"

/* ---- what a client sent ---- */

static str joined(struct arena *a, const struct causes *c)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < c->list.n; i++) {
        sb_c(&b, i ? ", " : "");
        sb_str(&b, c->list.v[i].message);
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* The object with its own members in order of their names, as a patched object of a built-in kind is shown. */
static const struct tree *sorted_members(struct arena *a, struct tree *t)
{
    uint32_t *order = arena_new_array(a, uint32_t, t->n);
    struct tree *sorted = tree_new_map(a);

    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    sort_stable(order, t->n, sizeof(*order), by_key, t);
    for (uint32_t i = 0; i < t->n; i++)
        *tree_put(a, sorted, t->keys[order[i]]) = t->items[order[i]];
    return sorted;
}

/* quirk: what is wrong with a patched object is said of a field "patch", with all of the object before the reason. */
static bool refuse_patched(struct write *w, str why)
{
    struct sb text = {0};
    struct jw jw = {.out = &text};

    if (w->kind->crd)
        json_sorted(&jw, w->obj);
    else
        jw_tree(&jw, sorted_members(w->a, w->obj));
    (void)patch_misfits(w->a, w->st, sb_view(&text), why);
    sb_fini(&text);
    return false;
}

static bool refuse_decoding(struct write *w, str why)
{
    const struct kind *k = w->kind;

    if (w->patch)
        return refuse_patched(w, why);
    return status_bad_request(w->a, w->st, 400,
                              STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": " STR_FMT,
                              STR_ARG(k->name), STR_ARG(k->version), STR_ARG(k->name), STR_ARG(why));
}

/* Those members that are not as they are in `known`, which was decoded before; NULL: all. */
static struct tree *news_of(struct write *w, const struct tree *known)
{
    if (!known)
        return w->obj;
    struct tree *news = tree_new_map(w->a);

    for (uint32_t i = 0; i < w->obj->n; i++) {
        const struct tree *was = tree_find((struct tree *)known, w->obj->keys[i]);

        if (!was || !tree_same(&w->obj->items[i], was))
            *tree_put(w->a, news, w->obj->keys[i]) = w->obj->items[i];
    }
    return news;
}

static bool has_unknown_fields(struct write *w, struct tree *news)
{
    struct causes unknown = {.a = w->a};

    schema_unknown(w->a, w->kind->schema, news, /* prune= */ false, &unknown);
    bool any = unknown.list.n > 0;
    causes_fini(&unknown);
    return any;
}

static bool known_fields(struct write *w, struct tree *news)
{
    struct causes unknown = {.a = w->a};
    bool ok = true;

    if (!has_unknown_fields(w, news))
        return true;
    schema_unknown(w->a, w->kind->schema, w->obj, /* prune= */ w->o->fields != FIELDS_STRICT, &unknown);
    if (unknown.list.n && w->o->fields == FIELDS_STRICT)
        ok = refuse_decoding(w, arena_printf(w->a, "strict decoding error: " STR_FMT, STR_ARG(joined(w->a, &unknown))));
    else if (w->o->fields == FIELDS_WARN && w->o->warnings)
        for (uint32_t i = 0; i < unknown.list.n; i++)
            vec_push(&w->o->warnings->list, unknown.list.v[i].message);
    causes_fini(&unknown);
    return ok;
}

/* known: the object before, all of whose fields this schema knows; NULL: there is none. */
static bool decode(struct write *w, const struct tree *known)
{
    struct err e;

    if (w->obj->kind != TREE_MAP)
        return refuse_decoding(w, STR("json: cannot unmarshal array into Go value of type map[string]interface {}"));
    if (!meta_decodes(w->a, w->kind, w->obj, w->st))
        return false;
    str kind = tree_str(tree_get(w->obj, "kind"));
    if (w->patch && kind.n && !str_eq(kind, w->kind->name))
        return refuse_decoding(
            w,
            arena_printf(w->a, "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT "): unknown conversion",
                         STR_ARG(w->kind->version), STR_ARG(kind),
                         STR_ARG(w->kind->group.n ? w->kind->group : STR("core")), STR_ARG(w->kind->name)));
    if (!w->o || !w->kind->schema)
        return true;
    struct tree *news = news_of(w, known);
    if (!known_fields(w, news))
        return false;
    if (!w->kind->crd && !schema_decodes(w->kind->schema, news, &e))
        return refuse_decoding(w, arena_strdup(w->a, str_c(e.msg)));
    return true;
}

/* From here on the object is in the shape in which it is stored. */
static void take_stored_shape(struct write *w)
{
    w->asked = w->kind->shape_of ? w->kind : NULL;
    w->kind = shape_to_stored(w->a, w->kind, w->obj);
}

static const struct kind *asked(const struct write *w)
{
    return w->asked ? w->asked : w->kind;
}

static void set_defaults(struct write *w)
{
    if (w->kind->crd && w->kind->schema)
        schema_default(w->a, w->kind->schema, w->obj);
    if (w->kind->rules && w->kind->rules->defaults)
        w->kind->rules->defaults(w->a, w->obj);
}

static struct tree *meta_of(struct write *w)
{
    return tree_sub(w->a, w->obj, "metadata");
}

static str name_of(struct write *w)
{
    return tree_str(tree_get(meta_of(w), "name"));
}

/* ---- admission and validation ---- */

static bool namespace_is_open(struct write *w)
{
    str ns = tree_str(tree_get(meta_of(w), "namespace"));

    if (!w->kind->namespaced || ns.n == 0)
        return true;
    const struct object *o = kube_get(w->k, w->k->namespaces, (str){0}, ns);
    if (!o)
        return status_not_found(w->a, w->st, w->k->namespaces, ns);
    if (!o->deleted_ms)
        return true;
    struct cause *c = arena_new_one(w->a, struct cause);
    *c = (struct cause){STR("NamespaceTerminating"),
                        arena_printf(w->a, "namespace " STR_FMT " is being terminated", STR_ARG(ns)),
                        STR("metadata.namespace")};
    (void)status_forbidden(w->a, w->st, asked(w), name_of(w),
                           "unable to create new content in namespace " STR_FMT " because it is being terminated",
                           STR_ARG(ns));
    w->st->causes = c;
    w->st->n_causes = 1;
    return false;
}

static struct rule_context rule_context(struct write *w)
{
    return (struct rule_context){.a = w->a,
                                 .kube = w->k,
                                 .kind = asked(w),
                                 .sub = w->sub,
                                 .user = w->o ? w->o->user : (str){0},
                                 .now_ms = world_now_ms(w->k->world)};
}

static bool admit(struct write *w, const struct tree *old)
{
    const struct kind_rules *r = w->kind->rules;
    struct rule_context c = rule_context(w);
    str denied = {0};

    if (r && !old && r->on_create)
        r->on_create(&c, w->obj, &denied);
    else if (r && old && r->on_update)
        r->on_update(&c, w->obj, old, &denied);
    if (denied.n)
        return status_forbidden(w->a, w->st, asked(w), name_of(w), STR_FMT, STR_ARG(denied));
    return true;
}

static void validate_by_rules(struct write *w, const struct tree *old, struct causes *out)
{
    struct rule_context rc = rule_context(w);

    if (rc.kind->rules && rc.kind->rules->validate)
        rc.kind->rules->validate(&rc, w->obj, old, out);
}

/* Ends a validation: false, and the refusal is written, when something is wrong. */
static bool is_valid(struct write *w, str name, struct causes *c)
{
    bool ok = c->list.n == 0 || status_invalid(w->a, w->st, w->kind, name, c);

    causes_fini(c);
    return ok;
}

static bool validate(struct write *w, const struct object *was, const struct tree *old)
{
    bool was_valid = was && revision_of(was)->valid_by == w->kind->schema;
    struct causes c = {.a = w->a};
    const struct tree *meta = meta_of(w);

    if (old)
        meta_validate_update(&c, w->kind, meta, tree_get(old, "metadata"));
    else
        meta_validate(&c, w->kind, meta);
    if (w->kind->crd && w->kind->schema)
        schema_validate(w->a, w->kind->schema, w->obj, old, was_valid, &c);
    if (w->kind->crd && w->kind->has_scale)
        scale_validate(&c, w->kind, w->obj);
    validate_by_rules(w, old, &c);
    return is_valid(w, name_of(w), &c);
}

/* ---- managed fields ---- */

static bool is_managed(const struct write *w)
{
    return w->o && w->o->manager.n && !w->applied;
}

/* `meant` is the object as the client meant it, before the server added to it. */
static void manage(struct write *w, struct tree *meant, const struct tree *old)
{
    struct apply_options o = {.manager = w->o->manager,
                              .subresource = str_c(w->sub ? w->sub : ""),
                              .api_version = kind_api_version(w->a, asked(w)),
                              .kind = w->kind->name,
                              .has_status = w->kind->has_status,
                              .now_ms = world_now_ms(w->k->world)};

    if (w->asked) {
        meant = shape_tree(w->a, w->asked, meant);
        old = old ? shape_tree(w->a, w->asked, old) : NULL;
    }
    managed_after_update(w->a, asked(w)->schema, old, meant, &o);
    const struct tree *managed = tree_at(meant, "metadata", "managedFields", NULL);
    (void)tree_drop(meta_of(w), STR("managedFields"));
    if (managed)
        tree_set(w->a, meta_of(w), "managedFields", *managed);
}

/* The object as it is now, for manage(). Nothing but metadata is changed from here on in what a custom kind holds. */
static struct tree *as_meant(struct write *w)
{
    if (!w->kind->crd)
        return tree_copy(w->a, w->obj);
    struct tree *t = tree_new_map(w->a);

    for (uint32_t i = 0; i < w->obj->n; i++)
        *tree_put(w->a, t, w->obj->keys[i]) = w->obj->items[i];
    tree_set(w->a, t, "metadata", *tree_copy(w->a, meta_of(w)));
    return t;
}

/* ---- the end of every write ---- */

static bool answer(struct write *w, const struct object *o)
{
    if (w->ret)
        *w->ret = o;
    return true;
}

static bool is_dry(const struct write *w)
{
    return w->o && w->o->dry_run;
}

/* A revision of the draft, which validate() has found nothing wrong with. What is written from inside has not been decoded, and is trusted to add no
 * fields to what was before. */
static const struct object *keep_judged(struct write *w, const struct object *old)
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
    if (!w->o || tree_str(tree_get(meta_of(w), "resourceVersion")).n == 0)
        return true;
    (void)status_bad_request(w->a, w->st, 500, "resourceVersion should not be set on objects to be created");
    w->st->reason = "";
    return false;
}

bool write_create(struct write *w)
{
    struct kube *k = w->k;
    struct tree *meant = NULL;

    if (!decode(w, NULL) || !create_rv(w))
        return false;
    take_stored_shape(w);
    set_defaults(w);
    meta_create(k, w->a, w->kind, meta_of(w));
    if (!namespace_is_open(w))
        return false;
    if (w->kind->crd && w->kind->has_status && tree_drop(w->obj, STR("status")) && w->kind->schema)
        schema_default(w->a, w->kind->schema, w->obj); /* a real server does so whenever it reads what it has stored */
    if (is_managed(w))
        meant = as_meant(w);
    if (!admit(w, NULL) || !validate(w, NULL, NULL))
        return false;
    str ns = tree_str(tree_get(meta_of(w), "namespace"));
    if (store_find(k, w->kind, ns, name_of(w)))
        return status_exists(w->a, w->st, asked(w), name_of(w));
    if (meant)
        manage(w, meant, NULL);
    draft_write(&k->draft, w->a, w->kind, w->obj, is_dry(w) ? 0 : kube_next_rv(k), NULL);
    const struct object *o = keep_judged(w, NULL);
    if (is_dry(w))
        return answer(w, kube_lend(k, o));
    k->hint = w->obj;
    kube_commit(k, NULL, o);
    return answer(w, o);
}

/* ---- update ---- */

static bool rv_required(struct write *w)
{
    struct causes c = {.a = w->a};
    struct kind named = *w->kind; /* quirk: this refusal names the resource, not the kind */

    named.name = named.plural;
    cause_invalid(&c, STR("metadata.resourceVersion"), STR("0"), "must be specified for an update");
    (void)status_invalid(w->a, w->st, &named, name_of(w), &c);
    causes_fini(&c);
    return false;
}

static bool is_current(struct write *w, const struct object *old)
{
    const struct revision *r = revision_of(old);
    str rv = tree_str(tree_get(meta_of(w), "resourceVersion")), uid = tree_str(tree_get(meta_of(w), "uid"));

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
    struct tree *meta = meta_of(w), *old_meta = tree_sub(w->a, old, "metadata");

    for (uint32_t i = 0; i < old->n; i++)
        if (!str_is(old->keys[i], "status") && !str_is(old->keys[i], "metadata"))
            *tree_put(w->a, next, old->keys[i]) = old->items[i];
    if (w->kind->crd) {
        const struct tree *managed = tree_get(meta, "managedFields");
        struct tree kept = *tree_copy(w->a, old_meta);

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
    struct tree *next = tree_copy(w->a, old), *spec = tree_sub(w->a, next, "spec");

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
    meta_update(w->a, meta_of(w), tree_get(old, "metadata"));
}

/* The managed fields of the old revision, so that a write which changes nothing else is seen to change nothing. */
static void keep_managed(struct write *w, const struct tree *old)
{
    const struct tree *managed = tree_at(old, "metadata", "managedFields", NULL);
    const struct tree *sent = tree_get(meta_of(w), "managedFields");
    bool reset = sent && sent->n == 1 && sent->items[0].kind == TREE_MAP && sent->items[0].n == 0;

    if (reset || (sent && !is_managed(w)))
        return;
    (void)tree_drop(meta_of(w), STR("managedFields"));
    if (managed)
        tree_set(w->a, meta_of(w), "managedFields", *managed);
}

static bool finish_update(struct write *w, const struct object *old, const struct tree *old_tree, struct tree *meant)
{
    struct kube *k = w->k;
    uint64_t rv = is_dry(w) ? old->rv : kube_next_rv(k);

    draft_write(&k->draft, w->a, w->kind, w->obj, rv, old);
    if (draft_equals(&k->draft, old))
        return answer(w, old);
    if (meant) {
        manage(w, meant, old_tree);
        draft_write_metadata(&k->draft, w->a, w->obj); /* the generation has been counted */
    }
    const struct object *o = keep_judged(w, old);
    if (is_dry(w))
        return answer(w, kube_lend(k, o));
    if (remove_is_due(k, w->kind, w->obj)) {
        kube_commit_removal(k, old);
        return answer(w, kube_lend(k, o));
    }
    k->hint = w->obj;
    kube_commit(k, old, o);
    return answer(w, o);
}

bool write_update(struct write *w, const struct object *old)
{
    struct tree *old_tree = object_tree(w->a, old), *meant = NULL;
    bool ok = false;

    bool known = w->kind->schema && revision_of(old)->known_by == w->kind->schema;
    if (!decode(w, known ? old_tree : NULL) || !is_current(w, old))
        return false;
    take_stored_shape(w);
    object_ref(old);
    merge_parts(w, old_tree);
    if (w->o || !w->sub) /* from inside, a status is whole and the rest is as it was: half the cost of such a write */
        set_defaults(w);
    if (is_managed(w))
        meant = as_meant(w);
    if (admit(w, old_tree) && validate(w, old, old_tree)) {
        keep_managed(w, old_tree);
        ok = finish_update(w, old, old_tree, meant);
    }
    object_unref(old);
    return ok;
}

const struct object *write_revision(struct kube *k, struct arena *a, const struct object *old, struct tree *obj)
{
    draft_write(&k->draft, a, old->kind, obj, kube_next_rv(k), NULL);
    k->draft.r.valid_by = revision_of(old)->valid_by;
    k->draft.r.known_by = revision_of(old)->known_by;
    if (draft_equals(&k->draft, old))
        return old;
    const struct object *o = draft_keep(&k->draft);
    k->hint = obj;
    kube_commit(k, old, o);
    return o;
}

const struct object *write_parts(struct kube *k, struct arena *a, const struct object *old, struct tree *parts)
{
    draft_splice(&k->draft, a, old, parts, NULL, kube_next_rv(k));
    if (draft_equals(&k->draft, old))
        return old;
    const struct object *o = draft_keep(&k->draft);
    k->hint_parts = parts;
    kube_commit(k, old, o);
    return o;
}

void write_finalizers(struct kube *k, struct arena *a, const struct object *old, struct tree *obj)
{
    if (remove_is_due(k, old->kind, obj))
        kube_commit_removal(k, old);
    else
        (void)write_revision(k, a, old, obj);
}

/* ---- one part alone ---- */

/* A map of this member alone; the value is not copied. NULL: of none. */
static struct tree *map_of(struct arena *a, const char *key, struct tree *value)
{
    struct tree *t = tree_new_map(a);

    if (!value)
        return t;
    t->n = t->cap = 1;
    t->items = value;
    t->keys = arena_new_one(a, str);
    *t->keys = str_c(key);
    return t;
}

/* The rules see the part and what it was before; metadata stays as it is, and was judged when it was written. Whatever is
 * about to go (remove_is_due()) has gone already. */
static bool update_alone(struct write *w, const struct object *o, const char *name)
{
    struct kube *k = w->k;
    struct tree *was = w->kind->judged_by_itself ? NULL : object_part_tree(w->a, o, str_c(name));
    const struct tree *old = map_of(w->a, name, was);
    struct causes c = {.a = w->a};

    if (!w->sub)
        set_defaults(w);
    if (!admit(w, old))
        return false;
    validate_by_rules(w, old, &c);
    if (!is_valid(w, o->name, &c))
        return false;
    draft_splice(&k->draft, w->a, o, w->obj, NULL, kube_next_rv(k));
    if (draft_equals(&k->draft, o))
        return answer(w, o);
    const struct object *next = draft_keep(&k->draft);
    k->hint_parts = w->obj;
    kube_commit(k, o, next);
    return answer(w, next);
}

static bool goes_alone(const struct kind *kind, const char *name)
{
    if (!kind->judged_alone)
        return false;
    if (kind->has_status)
        return strcmp(name, "status") == 0;
    return strcmp(name, "spec") == 0 && !kind->has_generation; /* which would count */
}

bool kube_update_part(struct kube *k, struct arena *a, const struct object *o, const char *name, struct tree *part,
                      const struct object **ret, struct status *st)
{
    bool status = o->kind->has_status && strcmp(name, "status") == 0;
    struct write w = {.k = k, .a = a, .kind = o->kind, .sub = status ? "status" : NULL, .ret = ret, .st = st};

    if (!revision_of(o)->entry)
        return kube_get(k, o->kind, o->ns, o->name) ? status_conflict(a, st, o->kind, o->name, CHANGED_SINCE)
                                                    : status_not_found(a, st, o->kind, o->name);
    object_ref(o);
    bool ok;
    if (goes_alone(o->kind, name)) {
        w.obj = map_of(a, name, part);
        ok = update_alone(&w, o, name);
    } else {
        w.obj = object_tree(a, o);
        tree_set(a, w.obj, name, *part);
        ok = write_update(&w, o);
    }
    object_unref(o);
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
