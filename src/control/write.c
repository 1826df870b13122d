/* Writes of controllers. The object is read from its text in the store, and has a twin: one stays as it was, the other is changed, and what is sent is the
 * difference. */
#include "control/write.h"

#include "control/feed.h"
#include "data/edit.h"
#include "data/json_own.h"
#include "k8s/diff.h"
#include "model/duration.h"
#include "net/fiber.h"

/* ---- which kind ---- */

/* "karpenter.kwok.sh/KWOKNodeClass/default": a kind that the provider knows. NULL: it does not. */
static const struct api_kind *class_kind(const struct control *c, struct arena *a, str name, str *ret_name)
{
    str group, kind, rest;

    if (!str_cut(name, '/', &group, &rest) || !str_cut(rest, '/', &kind, ret_name))
        return NULL;
    for (uint32_t i = 0; i < c->cloud->n_classes; i++) {
        const struct cloud_class *k = &c->cloud->classes[i];

        if (!str_is(group, k->group) || !str_is(kind, k->kind))
            continue;
        struct api_kind *ret = arena_new_one(a, struct api_kind);
        *ret = (struct api_kind){.group = k->group, .version = k->version, .plural = k->plural, .kind = k->kind};
        return ret;
    }
    return NULL;
}

static const struct api_kind *kind_of(const struct control *c, struct arena *a, enum object_kind kind, str *name)
{
    if (kind == OBJ_NODECLAIM)
        return &api_nodeclaims;
    if (kind == OBJ_NODEPOOL)
        return &api_nodepools;
    if (kind == OBJ_NODE)
        return &api_nodes;
    if (kind == OBJ_BUFFER)
        return &api_capacitybuffers;
    if (kind == OBJ_OVERLAY)
        return &api_nodeoverlays;
    assert(kind == OBJ_NODECLASS);
    return class_kind(c, a, *name, name);
}

/* ---- drafts ---- */

bool draft_hold(struct draft *d, struct control *c, struct arena *a, enum object_kind kind, str name)
{
    const struct kept *k = store_kept(c->store, kind, name);

    if (!k)
        return false;
    *d = (struct draft){.c = c,
                        .arena = a,
                        .kind = kind_of(c, a, kind, &name),
                        .object_kind = kind,
                        .text = arena_strdup(a, k->text)}; /* the store's own may be gone after the next call */
    return d->kind != NULL;
}

void draft_read(struct draft *d)
{
    d->before = json_read_own(d->arena, d->text);
    d->obj = tree_twin(d->arena, d->before);
}

bool draft_open(struct draft *d, struct control *c, struct arena *a, enum object_kind kind, str name)
{
    if (!draft_hold(d, c, a, kind, name))
        return false;
    draft_read(d);
    return true;
}

bool draft_changed(const struct draft *d)
{
    return !tree_equal(d->before, d->obj);
}

/* A write that is not locked must not undo what another controller has written since: of lists, which a merge patch replaces as a
 * whole, only conditions have several writers. */
static void keep_others_conditions(struct draft *d, struct tree *patch)
{
    struct tree *status = tree_find(patch, STR("status")), *list = status ? tree_find(status, STR("conditions")) : NULL;
    const struct kept *k = store_kept(d->c->store, d->object_kind, obj_name(d->before));

    if (!list || list->kind != TREE_LIST || !k)
        return;
    const struct tree *latest = json_read_own(d->arena, arena_strdup(d->arena, k->text));
    conds_merge(d->arena, list, tree_at(d->before, "status", "conditions", NULL),
                tree_at(latest, "status", "conditions", NULL));
}

static bool send(struct draft *d, const char *sub, const struct tree *patch, struct tree **ret, struct err *e)
{
    struct api_ref ref = {.kind = d->kind, .ns = obj_namespace(d->before), .name = obj_name(d->before)};

    if (!api_patch(d->c->api, d->arena, &ref, sub, API_MERGE, patch, ret, e))
        return false;
    feed_answer(d->c->feed, d->object_kind, *ret);
    return true;
}

bool draft_patch(struct draft *d, unsigned flags, struct err *e)
{
    struct tree *now = NULL, *patch;

    conds_round(d->arena, d->obj);
    patch =
        flags & DRAFT_LOCKED ? merge_diff_locked(d->arena, d->before, d->obj) : merge_diff(d->arena, d->before, d->obj);
    if (!patch)
        return true;
    if (!(flags & DRAFT_LOCKED))
        keep_others_conditions(d, patch);
    if (!send(d, flags & DRAFT_STATUS ? "status" : NULL, patch, &now, e))
        return false;
    if (flags & DRAFT_BOTH) {
        keep_others_conditions(d, patch);
        if (!send(d, "status", patch, &now, e))
            return false;
    }
    d->before = now;
    d->obj = tree_twin(d->arena, now);
    return true;
}

/* Node classes are their provider's business. */
struct cond_object draft_conds(const struct draft *d)
{
    const struct cond_set *set = d->object_kind == OBJ_NODECLAIM  ? &conds_nodeclaim
                                 : d->object_kind == OBJ_NODEPOOL ? &conds_nodepool
                                 : d->object_kind == OBJ_BUFFER   ? &conds_buffer
                                 : d->object_kind == OBJ_OVERLAY  ? &conds_overlay
                                                                  : NULL;

    assert(set);

    return (struct cond_object){.arena = d->arena, .obj = d->obj, .set = set, .now_ms = world_now_ms(d->c->world)};
}

bool write_retry(struct world *w, bool (*fn)(void *ctx, struct err *e), void *ctx, struct err *e)
{
    static const int64_t pauses_us[] = {10000, 50000, 250000};

    for (size_t i = 0;; i++) {
        if (fn(ctx, e))
            return true;
        if (e->kind == ERR_NOT_FOUND || i == ARRAY_LEN(pauses_us) || world_dead(w))
            return false;
        fiber_sleep_us(w, pauses_us[i]);
    }
}

bool write_delete(struct control *c, struct arena *a, enum object_kind kind, str name, struct err *e)
{
    struct api_ref ref = {.name = name};
    struct tree *now = NULL;

    ref.kind = kind_of(c, a, kind, &ref.name);
    if (!api_delete(c->api, a, &ref, &(struct api_delete_options){.ret = &now}, e))
        return false;
    if (now && str_is(tree_str(tree_get(now, "kind")), ref.kind->kind))
        feed_answer(c->feed, kind, now);
    return true;
}

struct result write_failed(struct reconcile *r, const struct err *e)
{
    if (e->kind == ERR_CONFLICT)
        return result_requeue();
    if (e->kind == ERR_NOT_FOUND)
        return RESULT_OK;
    r->err = *e;
    return result_error();
}

/* ---- objects ---- */

static str meta_str(const struct tree *obj, const char *field)
{
    return tree_str(tree_at(obj, "metadata", field, NULL));
}

str obj_name(const struct tree *obj)
{
    return meta_str(obj, "name");
}

str obj_namespace(const struct tree *obj)
{
    return meta_str(obj, "namespace");
}

str obj_uid(const struct tree *obj)
{
    return meta_str(obj, "uid");
}

str obj_label(const struct tree *obj, const char *key)
{
    return tree_str(tree_at(obj, "metadata", "labels", key, NULL));
}

str obj_annotation(const struct tree *obj, const char *key)
{
    return tree_str(tree_at(obj, "metadata", "annotations", key, NULL));
}

static void set_meta(struct arena *a, struct tree *obj, const char *map, str key, str value)
{
    *tree_put(a, tree_path(a, obj, "metadata", map, NULL), arena_strdup(a, key)) = tree_of_str(arena_strdup(a, value));
}

void obj_set_label(struct arena *a, struct tree *obj, str key, str value)
{
    set_meta(a, obj, "labels", key, value);
}

void obj_set_annotation(struct arena *a, struct tree *obj, str key, str value)
{
    set_meta(a, obj, "annotations", key, value);
}

bool obj_is_deleting(const struct tree *obj)
{
    return meta_str(obj, "deletionTimestamp").n != 0;
}

int64_t obj_time_ms(const struct tree *obj, const char *field)
{
    int64_t ms;
    struct err e;

    return time_parse_rfc3339(meta_str(obj, field), &ms, &e) ? ms : INT64_MIN;
}

static const struct tree *finalizers(const struct tree *obj)
{
    const struct tree *l = tree_at(obj, "metadata", "finalizers", NULL);

    return l && l->kind == TREE_LIST ? l : NULL;
}

bool obj_has_finalizer(const struct tree *obj, const char *name)
{
    const struct tree *l = finalizers(obj);

    for (uint32_t i = 0; l && i < l->n; i++)
        if (str_is(tree_str(&l->items[i]), name))
            return true;
    return false;
}

void obj_add_finalizer(struct arena *a, struct tree *obj, const char *name)
{
    if (!obj_has_finalizer(obj, name))
        tree_push(a, tree_sublist(a, tree_sub(a, obj, "metadata"), "finalizers"), tree_of_str(str_c(name)));
}

bool obj_drop_finalizer(struct tree *obj, const char *name)
{
    struct tree *meta = tree_find(obj, STR("metadata"));
    struct tree *l = meta ? tree_find(meta, STR("finalizers")) : NULL;

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++) {
        if (!str_is(tree_str(&l->items[i]), name))
            continue;
        tree_remove(l, i);
        if (l->n == 0)
            tree_drop(meta, STR("finalizers")); /* the patch says null */
        return true;
    }
    return false;
}
