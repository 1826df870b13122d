/* Updates that send the stored text back with another last member.
 *
 * Whoever leads renews a lease every two seconds for ever: what is sent is, byte for byte, what was read, with another spec. The text in front of the spec was written here and names
 * the current revision, so it is neither read nor judged again. The member itself is decoded, judged and owned as in write.c, and the answer is what write.c would have said. Whatever
 * is not as simple as that is left to write.c: nothing has been done then. */
#include "data/edit.h"
#include "data/json.h"
#include "data/json_own.h"
#include "data/reader.h"
#include "sim/kube/kube_int.h"
#include "sim/kube/managed.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"

#define MAX_TEXT 4096u /* of the member */

/* The member that is written, as it was and as it is to be. */
struct last {
    const struct object *old;
    str key, was, text;
};

/* Kinds that are judged by what they hold now, and whose writes change nothing besides. */
static bool suits(const struct kind *k)
{
    return k->judged_by_itself && k->schema && k->rules && !k->rules->on_update && !k->has_status &&
           !k->has_generation && !k->crd && !k->shape_of;
}

/* An object with one member besides metadata. */
static bool last_of(const struct object *o, struct last *ret)
{
    const struct revision *r = revision_of(o);
    str rest = str_sub(o->json, r->body_at, o->json.n);

    ret->old = o;
    return r->body_end > r->body_at && r->body_end == o->json.n - 1 && member_next(&rest, &ret->key, &ret->was) &&
           ret->was.p + ret->was.n == o->json.p + r->body_end;
}

/* Whether the body is the stored text but for this member. */
static bool cut_body(struct last *l, str body)
{
    size_t at = (size_t)(l->was.p - l->old->json.p);

    if (body.n <= at + 1 || body.n - at > MAX_TEXT || body.p[body.n - 1] != '}' ||
        memcmp(body.p, l->old->json.p, at) != 0)
        return false;
    l->text = str_sub(body, at, body.n - 1);
    return true;
}

static struct tree *with_member(struct arena *a, str key, const struct tree *value)
{
    struct tree *t = tree_new_map(a);

    *tree_put(a, t, key) = *value;
    return t;
}

/* The object with this member and no other; NULL: something is wrong with it. */
static struct tree *read_member(struct arena *a, const struct kind *kind, const struct last *l)
{
    char *bytes = arena_alloc(a, l->text.n + READER_PAD, 1);
    struct causes unknown = {.a = a};
    struct tree *value;
    struct err e;

    memcpy(bytes, l->text.p, l->text.n);
    if (!tree_read_json(a, "body", bytes, l->text.n, &value, &e) || value->kind != TREE_MAP)
        return NULL;
    struct tree *obj = with_member(a, l->key, value);
    schema_unknown(a, kind->schema, obj, /* prune= */ false, &unknown);
    bool known = unknown.list.n == 0;
    causes_fini(&unknown);
    return known && schema_decodes(kind->schema, obj, &e) ? obj : NULL;
}

static bool judge(struct kube *k, struct arena *a, const struct kind *kind, struct tree *obj, const struct tree *old,
                  str user)
{
    struct rule_context rc = {.a = a, .kube = k, .kind = kind, .user = user, .now_ms = world_now_ms(k->world)};
    struct causes c = {.a = a};

    if (kind->rules->defaults)
        kind->rules->defaults(a, obj);
    if (kind->rules->validate)
        kind->rules->validate(&rc, obj, old, &c);
    bool ok = c.list.n == 0;
    causes_fini(&c);
    return ok;
}

/* metadata.managedFields as they are; empty: there are none. */
static str managed_text(const struct object *o)
{
    const struct revision *r = revision_of(o);
    size_t key = sizeof(",\"managedFields\":") - 1;

    return r->managed_end > r->managed_at ? str_sub(o->json, r->managed_at + key, r->managed_end) : (str){0};
}

/* Whether the member would be written as it is. */
static bool is_unchanged(struct kube *k, const struct last *l, const struct tree *obj)
{
    struct sb *text = &k->draft.body;

    sb_reset(text);
    json_compact(text, tree_get_str(obj, l->key), /* nulls= */ false);
    return str_eq(sb_view(text), l->was);
}

static bool is_scalar(const struct tree *t)
{
    return t->kind == TREE_STRING || t->kind == TREE_NUMBER || t->kind == TREE_BOOL;
}

/* Whether the set has "f:" and this name; *ret: what is below. */
static bool has_field(const struct tree *set, str name, const struct tree **ret)
{
    for (uint32_t i = 0; set && i < set->n; i++)
        if (str_starts(set->keys[i], STR("f:")) && str_eq(str_sub(set->keys[i], 2, set->keys[i].n), name)) {
            *ret = &set->items[i];
            return true;
        }
    return false;
}

/* Whether all that changes is the value of scalars that are in the set already. */
static bool changes_own(const struct tree *set, const struct tree *was, const struct tree *now)
{
    const struct tree *leaf;

    if (was->kind != TREE_MAP || was->n != now->n)
        return false;
    for (uint32_t i = 0; i < now->n; i++) {
        if (!str_eq(was->keys[i], now->keys[i]) || !is_scalar(&was->items[i]) || !is_scalar(&now->items[i]))
            return false;
        if (!tree_same(&was->items[i], &now->items[i]) && !has_field(set, now->keys[i], &leaf))
            return false;
    }
    return true;
}

/* One who owns everything and writes what it owns: its entry gets another time, and that is all. */
static bool renew_entry(struct arena *a, struct tree *list, const struct last *l, const struct tree *was,
                        const struct tree *now, const struct apply_options *o)
{
    struct tree *entry = list->n == 1 && list->items[0].kind == TREE_MAP ? &list->items[0] : NULL;
    const struct tree *below;

    if (!entry || !str_eq(tree_str(tree_get(entry, "manager")), o->manager) ||
        !str_is(tree_str(tree_get(entry, "operation")), "Update") || tree_get(entry, "subresource") ||
        !str_eq(tree_str(tree_get(entry, "apiVersion")), o->api_version) || !tree_get(entry, "time") ||
        !has_field(tree_get(entry, "fieldsV1"), l->key, &below) || !changes_own(below, was, now))
        return false;
    tree_set_str(a, entry, "time", managed_time(a, o->now_ms));
    return true;
}

/* metadata.managedFields after the write; NULL: there are none. Of metadata nothing else is looked at. */
static const struct tree *managed_by(struct kube *k, struct arena *a, const struct kind *kind, const struct last *l,
                                     const struct tree *obj, const struct tree *old, str manager)
{
    struct apply_options o = {.manager = manager,
                              .api_version = kind_api_version(a, kind),
                              .kind = kind->name,
                              .now_ms = world_now_ms(k->world)};
    str text = managed_text(l->old);
    struct tree *was = tree_find((struct tree *)old, l->key), *now = tree_find((struct tree *)obj, l->key);
    struct tree *list = text.n ? json_read_own(a, text) : NULL;

    if (list && renew_entry(a, list, l, was, now, &o))
        return list;
    struct tree *before = with_member(a, l->key, was), *after = with_member(a, l->key, now);
    struct tree *meta = tree_new_map(a);

    if (list)
        tree_set(a, meta, "managedFields", *list);
    tree_set(a, before, "metadata", *meta); /* the same one: nothing in it is compared */
    tree_set(a, after, "metadata", *meta);
    managed_after_update(a, kind->schema, before, after, &o);
    return tree_at(after, "metadata", "managedFields", NULL);
}

bool kube_put_text(struct kube *k, struct arena *a, const struct kind *kind, str ns, str name, str body,
                   const struct write_options *o, const struct object **ret)
{
    const struct object *old = kube_get(k, kind, ns, name);
    struct last l;

    if (!suits(kind) || !old || old->deleted_ms || o->dry_run || revision_of(old)->known_by != kind->schema ||
        !last_of(old, &l) || !cut_body(&l, body))
        return false;
    struct tree *obj = read_member(a, kind, &l), *was = with_member(a, l.key, json_read_own(a, l.was));
    if (!obj || !judge(k, a, kind, obj, was, o->user) || !tree_find(obj, l.key))
        return false;
    if (is_unchanged(k, &l, obj)) {
        *ret = old;
        return true;
    }
    const struct tree *managed = o->manager.n ? managed_by(k, a, kind, &l, obj, was, o->manager) : NULL;
    if (o->manager.n && !managed && managed_text(old).n)
        return false;
    draft_splice(&k->draft, a, old, obj, managed, kube_next_rv(k));
    *ret = draft_keep(&k->draft);
    k->hint_parts = obj;
    kube_commit(k, old, *ret);
    return true;
}
