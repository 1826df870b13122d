/* Changes that leave most of an object as it is: what the server itself changes, and one part alone. */
#include "data/edit.h"
#include "data/json_own.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"
#include "sim/kube/write_judge.h"

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
        judge_defaults(w);
    if (!judge_admit(w, old))
        return false;
    judge_by_rules(w, old, &c);
    if (!judge_ends(w, o->name, &c))
        return false;
    draft_splice(&k->draft, w->a, o, w->obj, NULL, kube_next_rv(k));
    if (draft_equals(&k->draft, o))
        return write_answer(w, o);
    const struct object *next = draft_keep(&k->draft);
    k->hint_parts = w->obj;
    kube_commit(k, o, next);
    return write_answer(w, next);
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

/* ---- the status of a custom object, patched ---- */

/* The field, if what a status is allowed to be has nothing to do with the rest of the object, and the rest may stay whatever it is: no rule looks at both, and none
 * wants what is the same to be another. */
static const struct schema_field *status_apart(const struct schema *s)
{
    const struct schema_field *status = schema_field(s, STR("status"));

    if (s->n_rules || s->n_all_of || s->n_any_of || s->n_one_of || s->not_)
        return NULL;
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (&s->fields[i] != status && s->fields[i].schema && s->fields[i].schema->transitions_within)
            return NULL;
    return status;
}

/* A schema of objects that have a status and nothing else. */
static const struct schema *schema_alone(struct arena *a, const struct schema *s, const struct schema_field *status)
{
    struct schema *alone = arena_dup_array(a, struct schema, s, 1);

    alone->fields = status;
    alone->n_fields = 1;
    alone->rules_within = status->schema->rules_within;
    alone->transitions_within = status->schema->transitions_within;
    return alone;
}

/* All that the patch says: a status, and of which revision. */
static bool patches_status_alone(const struct object *old, const struct tree *patch)
{
    const struct revision *r = revision_of(old);

    for (uint32_t i = 0; patch->kind == TREE_MAP && i < patch->n; i++) {
        const struct tree *t = &patch->items[i];

        if (str_is(patch->keys[i], "status") && t->kind == TREE_MAP)
            continue;
        if (!str_is(patch->keys[i], "metadata") || t->kind != TREE_MAP || t->n != 1 ||
            !str_is(t->keys[0], "resourceVersion") ||
            !str_eq(tree_str(&t->items[0]), str_sub(old->json, r->rv_at, r->rv_at + r->rv_n)))
            return false;
    }
    return patch->kind == TREE_MAP && tree_get(patch, "status");
}

/* The object with a status and the managed fields alone. */
static struct tree *with_managed(struct arena *a, const struct tree *status, const struct tree *managed)
{
    struct tree *t = tree_new_map(a);

    tree_set(a, tree_sub(a, t, "metadata"), "managedFields", *managed);
    tree_set(a, t, "status", *status);
    return t;
}

static struct tree *managed_fields(struct arena *a, const struct object *o)
{
    static const str key = STR_INIT(",\"managedFields\":");
    const struct revision *r = revision_of(o);
    str text = str_sub(o->json, r->managed_at, r->managed_end);

    return str_starts(text, key) ? json_read_own(a, str_sub(text, key.n, text.n)) : NULL;
}

/* w->obj and was: the status alone, now and before. */
static bool is_valid_alone(struct write *w, const struct schema *alone, const struct tree *was)
{
    struct causes c = {.a = w->a};

    schema_unknown(w->a, alone, w->obj, /* prune= */ false, &c);
    if (c.list.n == 0) {
        schema_default(w->a, alone, w->obj);
        schema_validate(w->a, alone, w->obj, was, /* old_is_valid= */ true, &c);
    }
    bool ok = c.list.n == 0;
    causes_fini(&c);
    return ok;
}

static bool commit_status(struct write *w, const struct object *old, const struct tree *was, struct tree *managed)
{
    struct kube *k = w->k;
    struct tree *alone = w->obj, *status = tree_find(alone, STR("status"));
    uint64_t rv = kube_next_rv(k);

    draft_splice(&k->draft, w->a, old, alone, NULL, rv);
    if (draft_equals(&k->draft, old))
        return write_answer(w, old);
    if (write_is_managed(w)) {
        w->obj = with_managed(w->a, status, managed);
        write_manage(w, with_managed(w->a, status, managed), with_managed(w->a, tree_get(was, "status"), managed));
        managed = tree_find(judge_meta(w), STR("managedFields"));
        if (!managed)
            return false; /* the last who managed something: there is no entry to take the place of the old ones */
        draft_splice(&k->draft, w->a, old, alone, managed, rv);
    }
    const struct object *o = write_keep_judged(w, old);
    k->hint_parts = alone;
    kube_commit(k, old, o);
    return write_answer(w, o);
}

static bool has_own_rules(const struct kind *k)
{
    const struct kind_rules *r = k->rules;

    return r && (r->defaults || r->on_update || r->validate);
}

bool write_patched_status(struct write *w, const struct object *old, const struct tree *patch)
{
    const struct kind *kind = w->kind;
    const struct revision *r = revision_of(old);
    const struct schema *s = kind->crd && kind->has_status && !kind->has_scale ? kind->schema : NULL;

    if (!s || has_own_rules(kind) || kind->shape_of || r->valid_by != s || r->known_by != s || !w->o || w->o->dry_run ||
        !patches_status_alone(old, patch))
        return false;
    const struct schema_field *field = status_apart(s);
    struct tree *status = object_part_tree(w->a, old, STR("status")), *managed = managed_fields(w->a, old);
    if (!field || !status || status->kind != TREE_MAP || !managed)
        return false;
    const struct tree *was = map_of(w->a, "status", tree_twin(w->a, status));
    w->obj = map_of(w->a, "status", status);
    return patch_merge(w->a, status, tree_get(patch, "status"), w->st) &&
           is_valid_alone(w, schema_alone(w->a, s, field), was) && commit_status(w, old, was, managed);
}
