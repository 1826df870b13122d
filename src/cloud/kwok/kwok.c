#include "cloud/kwok/kwok.h"

#include <stdlib.h>

#include "base/vec.h"
#include "cloud/catalog.h"
#include "cloud/kwok/node.h"
#include "data/edit.h"
#include "k8s/itypes.h"
#include "net/fiber.h"

enum {
    RETRY_FIRST_MS = 1000,
    RETRY_MAX_MS = 30 * 1000,
    RETRIES = 40, /* some 17 minutes: longer than a claim waits for its Node */
};

struct kwok;

/* A Node on its way. Belongs to its fiber. */
struct birth {
    struct kwok *k;
    struct arena *arena;
    struct tree *node;
    str name;
    str claim, uid; /* whose it is */
    int64_t delay_us;
    bool again;     /* another process may have begun it: what we know of the claim may be old */
    bool asked;     /* the server may have made it, whatever it answered */
    bool cancelled; /* its claim has gone */
    bool calling;   /* the server */
};

struct kwok {
    struct cloud cloud;
    struct kwok_options o;
    struct arena *arena; /* the catalogue's */
    struct kwok_types types;
    VEC(struct birth *) births;
    bool stopping; /* nothing more is asked of the server, but for what must not stay */
    bool freed;    /* only births are left */
};

static const struct cloud_class classes[] = {
    {"karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses", NULL}};
static const char *const node_labels[] = {"karpenter.kwok.sh/instance-cpu", "karpenter.kwok.sh/instance-family",
                                          "karpenter.kwok.sh/instance-memory", "karpenter.kwok.sh/instance-size", NULL};
static const struct repair_policy repairs[] = {{"Ready", "False", 10 * 60 * 1000},
                                               {"Ready", "Unknown", 10 * 60 * 1000}};

static void release(struct kwok *k)
{
    if (!k->freed || k->births.n)
        return;
    vec_fini(&k->births);
    kwok_types_fini(&k->types);
    arena_free(k->arena);
    free(k);
}

static void kwok_free(void *self)
{
    struct kwok *k = self;

    k->freed = true;
    for (uint32_t i = 0; i < k->births.n; i++)
        k->births.v[i]->cancelled = true;
    release(k);
}

/* ---- Nodes in the background ---- */

static struct birth *birth_find(const struct kwok *k, str name)
{
    for (uint32_t i = 0; i < k->births.n; i++)
        if (str_eq(k->births.v[i]->name, name))
            return k->births.v[i];
    return NULL;
}

static void birth_end(struct birth *b)
{
    struct kwok *k = b->k;

    for (uint32_t i = 0; i < k->births.n; i++)
        if (k->births.v[i] == b)
            k->births.v[i] = k->births.v[--k->births.n];
    arena_free(b->arena);
    free(b);
    release(k);
}

/* Whether the claim is still there and wants its Node: asked of the server, because a watch may be behind. */
static bool is_wanted(struct birth *b, struct arena *a)
{
    struct tree *claim;
    struct err e;

    if (!api_get(b->k->o.api, a, &(struct api_ref){&api_nodeclaims, {0}, b->claim}, &claim, &e))
        return e.kind != ERR_NOT_FOUND;
    return str_eq(tree_str(tree_at(claim, "metadata", "uid", NULL)), b->uid) &&
           !tree_at(claim, "metadata", "deletionTimestamp", NULL);
}

/* True: there is nothing more to try. */
static bool birth_try(struct birth *b, bool last)
{
    struct kwok *k = b->k;
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct err e;

    if (b->again && !is_wanted(b, tmp))
        b->cancelled = true;
    if (b->cancelled)
        return true;
    b->asked = true;
    if (api_create(k->o.api, tmp, &api_nodes, (str){0}, b->node, NULL, &e) || e.kind == ERR_CONFLICT)
        return true; /* conflict: an earlier launch of the same claim was first */
    bool over = last || e.kind == ERR_INVALID;
    if (k->o.on_error && !b->cancelled)
        k->o.on_error(k->o.ctx, b->name, over, &e);
    return over;
}

/* Its claim went while we were asking: the Node goes too, whether or not we were told that it was made. */
static bool birth_undo(struct birth *b)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct err e;

    return !b->cancelled || !b->asked || b->k->freed ||
           api_delete(b->k->o.api, tmp, &(struct api_ref){&api_nodes, {0}, b->name}, NULL, &e) ||
           e.kind == ERR_NOT_FOUND;
}

/* Whoever acts after us goes on with a birth, but knows nothing of a Node whose claim has gone. */
static bool is_to_be_undone(const struct birth *b)
{
    return b->cancelled && b->asked;
}

static void birth_run(void *arg)
{
    struct birth *b = arg;
    struct world *w = api_world(b->k->o.api);
    int64_t pause_ms = RETRY_FIRST_MS;
    bool made = false;

    if (b->delay_us > 0)
        fiber_sleep_us(w, b->delay_us);
    for (int i = 0; i < RETRIES && !world_dead(w) && (!b->k->stopping || is_to_be_undone(b)); i++) {
        b->calling = true;
        made = made || b->cancelled || birth_try(b, i == RETRIES - 1);
        bool over = made && birth_undo(b);
        b->calling = false;
        if (over)
            break;
        fiber_sleep_us(w, pause_ms * 1000);
        pause_ms = MIN(pause_ms * 2, (int64_t)RETRY_MAX_MS);
    }
    birth_end(b);
}

static void birth_begin(struct kwok *k, const struct nodeclaim *c, const struct machine *m, int64_t delay_ns,
                        bool again)
{
    struct birth *b = xcalloc(1, sizeof(*b));
    struct arena *a = arena_new(0);

    *b = (struct birth){.k = k, .arena = a, .delay_us = delay_ns / 1000, .again = again};
    b->claim = arena_strdup(a, c->name);
    b->uid = arena_strdup(a, c->uid);
    b->node = tree_copy(a, kwok_node(a, k->o.syms, m));
    b->name = tree_str(tree_at(b->node, "metadata", "name", NULL));
    vec_push(&k->births, b);
    fiber_go(api_world(k->o.api), "kwok-node", birth_run, b);
}

/* ---- what a provider does ---- */

static bool kwok_create(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c,
                        const struct nodeclass *class, struct machine *ret, struct err *e)
{
    struct kwok *k = self;
    struct kwok_choice x;

    assert(t == k->o.syms);
    if (!kwok_choose(&k->types, t, c, &x, e))
        return false;
    if (!class)
        return err_set(e, ERR_CAPACITY,
                       "resolving node class from nodeclaim, " STR_FMT "." STR_FMT " \"" STR_FMT "\" not found",
                       STR_ARG(c->class_ref.kind), STR_ARG(c->class_ref.group), STR_ARG(c->class_ref.name));
    if (class->ready == COND_FALSE) {
        err_set(e, ERR_INVALID, STR_FMT, STR_ARG(class->ready_message));
        memcpy(e->code, CLOUD_NOT_READY, sizeof(CLOUD_NOT_READY));
        return false;
    }
    str name = kwok_node_name(a, c);
    struct tree *there = k->o.nodes.get(k->o.nodes.ctx, a, name);
    if (there) {
        *ret = kwok_machine_of(a, t, there);
        return true;
    }
    *ret = kwok_machine(a, t, c, &x);
    if (!birth_find(k, name) && !k->stopping)
        birth_begin(k, c, ret, class->registration_delay_ns, /* again= */ false);
    return true;
}

/* The delay begins anew. */
static void kwok_resume(void *self, struct syms *t, const struct nodeclaim *c, const struct nodeclass *class)
{
    struct kwok *k = self;
    AUTO(arena) struct arena *a = arena_new(0);
    str name = kwok_node_of(c->provider_id);

    if (name.n == 0 || k->stopping || birth_find(k, name) || k->o.nodes.get(k->o.nodes.ctx, a, name))
        return;
    struct machine m = kwok_machine_again(a, t, c);
    birth_begin(k, c, &m, class ? class->registration_delay_ns : 0, /* again= */ true);
}

/* A Node that nobody has registered is not deleted by anybody else: termination takes care of registered ones only. */
static bool drop_unregistered(struct kwok *k, struct arena *a, const struct nodeclaim *c, str name, struct err *e)
{
    struct birth *b = birth_find(k, name);
    struct tree *node = k->o.nodes.get(k->o.nodes.ctx, a, name);

    if (b)
        b->cancelled = true;
    if (!node && c->registered == COND_TRUE)
        return true;
    if (node && (tree_at(node, "metadata", "deletionTimestamp", NULL) ||
                 tree_at(node, "metadata", "labels", "karpenter.sh/registered", NULL)))
        return true;
    return api_delete(k->o.api, a, &(struct api_ref){&api_nodes, {0}, name}, NULL, e) || e->kind == ERR_NOT_FOUND;
}

static bool kwok_destroy(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct kwok *k = self;
    str node = kwok_node_of(c->provider_id), name = arena_strdup(a, c->name);

    if (node.n && !drop_unregistered(k, a, c, arena_strdup(a, node), e))
        return err_wrap(e, "deleting node");
    if (!api_delete(k->o.api, a, &(struct api_ref){&api_nodeclaims, {0}, name}, NULL, e))
        return false;
    return err_set(e, ERR_NOT_FOUND, "instance already terminated");
}

/* The Node's name is known all the same. It has been listed, because whoever made it is gone; so nothing is asked of the server when it is not there. */
static bool kwok_abandon(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct kwok *k = self;
    str name = kwok_node_name(a, c);
    bool begun = birth_find(k, name) || k->o.nodes.get(k->o.nodes.ctx, a, name);

    if (begun && !drop_unregistered(k, a, c, name, e))
        return err_wrap(e, "deleting node");
    return true;
}

static bool kwok_get(void *self, struct arena *a, str provider_id, struct machine *ret, struct err *e)
{
    struct kwok *k = self;
    str name = kwok_node_of(provider_id);
    struct tree *node = name.n ? k->o.nodes.get(k->o.nodes.ctx, a, name) : NULL;

    if (!node)
        return err_set(e, ERR_NOT_FOUND, "finding node, nodes \"" STR_FMT "\" not found",
                       STR_ARG(name.n ? name : provider_id));
    if (tree_at(node, "metadata", "deletionTimestamp", NULL))
        return err_set(e, ERR_NOT_FOUND, "node " STR_FMT " is being deleted", STR_ARG(name));
    *ret = kwok_machine_of(a, k->o.syms, node);
    return true;
}

struct listing {
    struct arena *a;
    VEC(struct machine) v;
};

static void list_one(void *arg, str provider_id, bool deleting)
{
    struct listing *l = arg;

    if (kwok_node_of(provider_id).n)
        vec_push(&l->v, (struct machine){.provider_id = arena_strdup(l->a, provider_id), .deleting = deleting});
}

static bool kwok_list(void *self, struct arena *a, struct machines *ret, struct err *e)
{
    struct kwok *k = self;
    struct listing l = {.a = a};

    (void)e;
    k->o.nodes.each(k->o.nodes.ctx, list_one, &l);
    *ret = (struct machines){vec_to_arena(&l.v, a), l.v.n};
    vec_fini(&l.v);
    return true;
}

static bool kwok_stop(void *self)
{
    struct kwok *k = self;

    k->stopping = true;
    for (uint32_t i = 0; i < k->births.n; i++)
        if (k->births.v[i]->calling || is_to_be_undone(k->births.v[i]))
            return false;
    return true;
}

static const struct catalog *kwok_catalog(void *self)
{
    struct kwok *k = self;

    return k->types.catalog;
}

struct cloud *kwok_new(const struct kwok_options *o, struct err *e)
{
    struct arena *a = arena_new(0);
    const char *path = o->instance_types_path;
    struct catalog *c = path && *path ? itypes_load(a, o->syms, path, e) : catalog_builtin(a, o->syms, STR("kwok"), e);

    if (!c) {
        arena_free(a);
        return NULL;
    }
    struct kwok *k = xcalloc(1, sizeof(*k));
    k->o = *o;
    k->arena = a;
    kwok_types_init(&k->types, c);
    k->cloud = (struct cloud){
        .name = "kwok",
        .self = k,
        .classes = classes,
        .n_classes = ARRAY_LEN(classes),
        .repairs = repairs,
        .n_repairs = ARRAY_LEN(repairs),
        .node_labels = node_labels,
        .create = kwok_create,
        .resume = kwok_resume,
        .destroy = kwok_destroy,
        .abandon = kwok_abandon,
        .get = kwok_get,
        .list = kwok_list,
        .catalog = kwok_catalog,
        .stop = kwok_stop,
        .free = kwok_free,
    };
    return &k->cloud;
}
