/* One reflector for each kind. */
#include <stdlib.h>

#include "control/feed_int.h"
#include "data/edit.h"
#include "k8s/reflector.h"

struct watch {
    struct feed *feed;
    enum object_kind kind;
    const struct api_kind *api;
    struct api_kind own; /* of a node class */
    str scope;           /* node classes: "group/kind/" */
    struct reflector *reflector;
};

static const struct {
    enum object_kind kind;
    const struct api_kind *api;
    enum { ALWAYS, OWNERS, BUFFERS, OVERLAYS } when;
} kinds[] = {
    {OBJ_NODEPOOL, &api_nodepools, ALWAYS},
    {OBJ_NODECLAIM, &api_nodeclaims, ALWAYS},
    {OBJ_NODE, &api_nodes, ALWAYS},
    {OBJ_POD, &api_pods, ALWAYS},
    {OBJ_DAEMONSET, &api_daemonsets, ALWAYS},
    {OBJ_PVC, &api_pvcs, ALWAYS},
    {OBJ_PV, &api_pvs, ALWAYS},
    {OBJ_STORAGECLASS, &api_storageclasses, ALWAYS},
    {OBJ_CSINODE, &api_csinodes, ALWAYS},
    {OBJ_ATTACHMENT, &api_volumeattachments, ALWAYS},
    {OBJ_PDB, &api_pdbs, ALWAYS},
    {OBJ_NAMESPACE, &api_namespaces, ALWAYS},
    {OBJ_SERVICE, &api_services, OWNERS},
    {OBJ_REPLICASET, &api_replicasets, OWNERS},
    {OBJ_STATEFULSET, &api_statefulsets, OWNERS},
    {OBJ_RC, &api_rcs, OWNERS},
    {OBJ_BUFFER, &api_capacitybuffers, BUFFERS},
    {OBJ_PODTEMPLATE, &api_podtemplates, BUFFERS},
    {OBJ_OVERLAY, &api_nodeoverlays, OVERLAYS},
};

static void on_list_begin(void *ctx)
{
    struct watch *w = ctx;

    store_list_begin(w->feed->store, w->kind, w->scope);
}

/* Members of a typed list do not say what they are. */
static void name_kind(struct watch *w, struct tree *obj)
{
    struct arena *a = w->feed->scratch;

    if (w->kind != OBJ_NODECLASS || tree_get(obj, "kind"))
        return;
    arena_reset(a);
    tree_set_str(a, obj, "apiVersion", api_kind_version(a, w->api));
    tree_set_str(a, obj, "kind", str_c(w->api->kind));
}

static void on_object(void *ctx, struct tree *obj)
{
    struct watch *w = ctx;

    name_kind(w, obj);
    feed_put(w->feed, w->kind, obj);
}

static void on_gone(void *ctx, const struct tree *obj)
{
    struct watch *w = ctx;

    feed_gone(w->feed, w->kind, obj);
}

static void on_list_end(void *ctx)
{
    struct watch *w = ctx;
    struct feed *f = w->feed;

    store_list_end(f->store, w->kind, w->scope);
    for (uint32_t i = 0; i < f->watches.n; i++)
        if (f->watches.v[i] != w && !reflector_synced(f->watches.v[i]->reflector))
            return;
    if (f->listed)
        return;
    f->listed = true;
    store_set_listed(f->store);
    if (f->o.on_listed)
        f->o.on_listed(f->o.ctx);
}

static void on_error(void *ctx, const struct err *e)
{
    struct watch *w = ctx;

    w->feed->o.on_error(w->feed->o.ctx, w->kind, (str){0}, (str){0}, e);
}

static struct watch *add(struct feed *f, enum object_kind kind, const struct api_kind *api)
{
    struct watch *w = xcalloc(1, sizeof(*w));

    w->feed = f;
    w->kind = kind;
    w->api = api;
    vec_push(&f->watches, w);
    return w;
}

static void add_class(struct feed *f, const struct cloud_class *c)
{
    struct watch *w = add(f, OBJ_NODECLASS, NULL);
    struct sb scope = {0};

    w->own = (struct api_kind){.group = c->group, .version = c->version, .plural = c->plural, .kind = c->kind};
    w->api = &w->own;
    sb_printf(&scope, "%s/%s/", c->group, c->kind);
    w->scope = (str){scope.p, scope.n};
}

static void end_watches(struct feed *f)
{
    for (uint32_t i = 0; i < f->watches.n; i++) {
        reflector_free(f->watches.v[i]->reflector);
        free((char *)(uintptr_t)f->watches.v[i]->scope.p);
        free(f->watches.v[i]);
    }
    vec_fini(&f->watches);
}

void feed_watch(struct feed *f, struct api *c)
{
    const bool wanted[] = {
        [ALWAYS] = true, [OWNERS] = f->o.owners, [BUFFERS] = f->o.buffers, [OVERLAYS] = f->o.overlays};
    const struct reflector_options defaults = {0};

    assert(!f->end_watches);
    f->end_watches = end_watches;
    for (uint32_t i = 0; i < f->o.n_classes; i++)
        add_class(f, &f->o.classes[i]);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (wanted[kinds[i].when])
            (void)add(f, kinds[i].kind, kinds[i].api);
    for (uint32_t i = 0; i < f->watches.n; i++) {
        struct watch *w = f->watches.v[i];
        const struct reflector_events ev = {w, on_list_begin, on_object, on_gone, on_list_end, on_error};

        w->reflector = reflector_new(c, w->api, &defaults, &ev);
    }
}
