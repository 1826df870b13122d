/* Changes that leave most of an object as it is: what the server itself changes, and one part alone. */
#include "data/edit.h"
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
