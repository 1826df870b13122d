/* The server itself: its beginning and end, and the one place where a change happens: the store, the window, the watches, the
 * subscribers, in this order. */
#include "sim/kube/kube.h"

#include <stdlib.h>

#include "data/edit.h"
#include "sim/kube/kube_int.h"

struct change_trees {
    struct tree *old, *new;
    struct tree *parts; /* members of the new side that are known without the rest; NULL: none */
    bool read;          /* something of it is in the arena for trees */
};

static const char *keep(struct arena *a, const char *s)
{
    return s ? arena_dup_array(a, char, s, strlen(s) + 1) : NULL;
}

struct kube *kube_new(struct world *w, const struct kube_options *o)
{
    struct kube *k = xcalloc(1, sizeof(*k));

    k->world = w;
    k->forever = arena_new(64 << 10);
    k->trees = arena_new(64 << 10);
    k->options = *o;
    k->options.token = keep(k->forever, o->token);
    k->options.version = keep(k->forever, o->version);
    k->draft.blocks = blocks_new();
    store_init(k);
    kinds_init(k);
    gc_init(k);
    namespaces_init(k);
    crd_init(k);
    events_init(k);
    logs_init(k);
    bootstrap(k);
    k->front = front_new(k);
    return k;
}

void kube_free(struct kube *k)
{
    if (!k)
        return;
    front_free(k->front);
    watchlog_fini(k);
    object_unref(k->lent);
    work_free(k->gc);
    work_free(k->namespaces_work);
    work_free(k->crds_work);
    events_fini(k);
    logs_fini(k);
    store_fini(k);
    vec_fini(&k->subscribers);
    vec_fini(&k->kinds);
    vec_fini(&k->custom_kinds);
    draft_fini(&k->draft);
    arena_free(k->trees);
    arena_free(k->forever);
    free(k);
}

struct world *kube_world(const struct kube *k)
{
    return k->world;
}

uint64_t kube_rv(const struct kube *k)
{
    return k->rv;
}

const struct kube_options *kube_settings(const struct kube *k)
{
    return &k->options;
}

struct front *kube_front(const struct kube *k)
{
    return k->front;
}

/* ---- changes ---- */

void kube_subscribe(struct kube *k, const struct kind *kind, change_fn fn, void *ctx)
{
    vec_push(&k->subscribers, (struct subscriber){kind, fn, ctx});
}

static struct tree *read_all(const struct change *c, const struct object *o)
{
    c->trees->read = true;
    return object_tree(c->kube->trees, o);
}

const struct tree *change_old(const struct change *c)
{
    if (c->old && !c->trees->old)
        c->trees->old = read_all(c, c->old);
    return c->trees->old;
}

const struct tree *change_new(const struct change *c)
{
    if (c->new && !c->trees->new)
        c->trees->new = read_all(c, c->new);
    return c->trees->new;
}

const struct tree *change_part(const struct change *c, const char *name)
{
    struct change_trees *t = c->trees;
    struct arena *a = c->kube->trees;

    if (t->new || !c->new)
        return tree_get(t->new, name);
    const struct tree *known = tree_get(t->parts, name);
    if (known)
        return known;
    t->read = true;
    struct tree *part = object_part_tree(a, c->new, str_c(name));
    if (!part)
        return NULL;
    if (!t->parts || t->parts == c->kube->hint_parts) { /* the writer's own is not ours to add to */
        struct tree *mine = tree_new_map(a);

        for (uint32_t i = 0; t->parts && i < t->parts->n; i++)
            *tree_put(a, mine, t->parts->keys[i]) = t->parts->items[i];
        t->parts = mine;
    }
    *tree_put(a, t->parts, str_c(name)) = *part;
    return tree_get(t->parts, name);
}

static void ask_new_subscribers(struct kube *k, const struct kind *kind)
{
    struct table *t = &k->tables.v[kind->ix];

    for (; t->n_asked < k->subscribers.n; t->n_asked++) {
        const struct kind *wanted = k->subscribers.v[t->n_asked].kind;

        if (!wanted || wanted == kind)
            vec_push(&t->hear, t->n_asked);
    }
}

static void tell(struct kube *k, const struct object *old, const struct object *new)
{
    const struct kind *kind = new ? new->kind : old->kind;
    struct change_trees trees = {.new = k->hint, .parts = k->hint_parts};
    struct change c = {.kube = k, .old = old, .new = new, .trees = &trees};

    if (k->hint_parts && k->hint_parts->n == 1)
        c.only = k->hint_parts->keys[0];
    k->telling = true;
    ask_new_subscribers(k, kind);
    for (uint32_t i = 0; i < k->tables.v[kind->ix].hear.n; i++) {
        const struct subscriber *s = &k->subscribers.v[k->tables.v[kind->ix].hear.v[i]];

        s->fn(s->ctx, &c);
    }
    k->telling = false;
    k->hint = k->hint_parts = NULL;
    if (trees.read)
        arena_reset(k->trees);
}

uint64_t kube_next_rv(const struct kube *k)
{
    return k->rv + 1;
}

void kube_commit(struct kube *k, const struct object *old, const struct object *o)
{
    assert(!k->telling && o->rv > k->rv);
    k->rv = o->rv;
    if (old)
        object_ref(old);
    store_keep(k, old, o);
    watchlog_add(k, old ? WATCH_MODIFIED : WATCH_ADDED, old, o);
    tell(k, old, o);
    object_unref(old);
}

void kube_commit_removal(struct kube *k, const struct object *old)
{
    struct entry *e = revision_of(old)->entry;
    const struct object *gone = object_at_rv(old, kube_next_rv(k));

    assert(!k->telling && e && e->now == old);
    k->rv = gone->rv;
    object_ref(old);
    store_drop(k, e);
    watchlog_add(k, WATCH_DELETED, old, gone);
    object_unref(gone);
    tell(k, old, NULL);
    object_unref(old);
}

void kube_put_back(struct kube *k, const struct object *o)
{
    struct entry *e = store_find(k, o->kind, o->ns, o->name);
    const struct object *old = e ? e->now : NULL;

    assert(!k->telling);
    if (old) {
        object_ref(old);
        store_drop(k, e);
    }
    store_keep(k, NULL, o);
    k->rv = MAX(k->rv, o->rv);
    watchlog_forget(k);
    tell(k, old, o);
    object_unref(old);
}

const struct object *kube_lend(struct kube *k, const struct object *o)
{
    object_unref(k->lent);
    k->lent = o;
    return o;
}
