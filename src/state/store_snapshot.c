/* The snapshot of the moment. Pods and machines are the store's own arrays. Of the small kinds (pools, daemons, claims,
 * budgets …) arrays are laid out anew when one of the kind has changed: a few bytes an object, for kinds that a plan
 * goes through anyway. What depends on the moment, that is who waits and who moves, is found out each time. */
#include <stdlib.h>

#include "state/store_int.h"

static bool is_shown(const struct object *x, enum object_kind kind)
{
    return x && x->decoded && (kind != OBJ_NODEPOOL || x->kept.managed);
}

/* Side by side; `dense` of each object says where it is. */
static void lay_out(struct table *t, size_t size)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->all.n; i++)
        n += is_shown(t->all.v[i], t->kind);
    free(t->dense);
    t->dense = xmalloc(n * size);
    t->n_dense = 0;
    for (uint32_t i = 0; i < t->all.n; i++) {
        if (!is_shown(t->all.v[i], t->kind))
            continue;
        memcpy(t->dense + t->n_dense * size, t->all.v[i]->decoded, size);
        t->all.v[i]->dense = t->n_dense++;
    }
    t->changed = false;
}

/* Of a CSINode there is an element for each of its drivers. */
static void lay_out_limits(struct table *t)
{
    const size_t size = sizeof(struct csi_limit);
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->all.n; i++)
        n += t->all.v[i] ? ((const struct csi_drivers *)t->all.v[i]->decoded)->n : 0;
    free(t->dense);
    t->dense = xmalloc(n * size);
    t->n_dense = 0;
    for (uint32_t i = 0; i < t->all.n; i++) {
        const struct csi_drivers *d = t->all.v[i] ? t->all.v[i]->decoded : NULL;

        if (!d || d->n == 0)
            continue;
        memcpy(t->dense + t->n_dense * size, d->limits, d->n * size);
        t->n_dense += d->n;
    }
    t->changed = false;
}

static void *shown(struct store *s, enum object_kind kind, size_t size, uint32_t *ret_n)
{
    struct table *t = &s->tables[kind];

    if (t->changed)
        lay_out(t, size);
    *ret_n = t->n_dense;
    return t->dense;
}

#define SHOW(field, count, kind) (s->snap.field = shown(s, (kind), sizeof(*s->snap.field), &s->snap.count))

/* Three kinds of controllers are one array. */
static void show_controllers(struct store *s)
{
    static const enum object_kind kinds[] = {OBJ_REPLICASET, OBJ_STATEFULSET, OBJ_RC};
    const size_t size = sizeof(struct controller);
    const struct controller *of[ARRAY_LEN(kinds)];
    uint32_t n[ARRAY_LEN(kinds)], all = 0;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        of[i] = shown(s, kinds[i], size, &n[i]);
        all += n[i];
    }
    s->snap.n_controllers = all;
    s->snap.controllers = arena_new_array(s->pass, struct controller, all);
    all = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (n[i])
            memcpy(s->snap.controllers + all, of[i], n[i] * size);
        all += n[i];
    }
}

static void show_objects(struct store *s)
{
    struct snapshot *n = &s->snap;

    if (s->tables[OBJ_STORAGECLASS].changed)
        s->tables[OBJ_PVC].changed = true; /* another class may be the default */
    SHOW(node_classes, n_node_classes, OBJ_NODECLASS);
    SHOW(daemons, n_daemons, OBJ_DAEMONSET);
    SHOW(pvcs, n_pvcs, OBJ_PVC);
    SHOW(pvs, n_pvs, OBJ_PV);
    SHOW(classes, n_classes, OBJ_STORAGECLASS);
    SHOW(pdbs, n_pdbs, OBJ_PDB);
    SHOW(namespaces, n_namespaces, OBJ_NAMESPACE);
    SHOW(services, n_services, OBJ_SERVICE);
    if (s->tables[OBJ_CSINODE].changed)
        lay_out_limits(&s->tables[OBJ_CSINODE]);
    n->csi_limits = (struct csi_limit *)(void *)s->tables[OBJ_CSINODE].dense;
    n->n_csi_limits = s->tables[OBJ_CSINODE].n_dense;
    show_controllers(s);
    /* Which pools may be used depends on the catalogue and on other objects: a copy for each moment. */
    const struct nodepool *pools = shown(s, OBJ_NODEPOOL, sizeof(*pools), &n->n_pools);
    n->pools = arena_dup_array(s->pass, struct nodepool, pools, n->n_pools);
}

static void show_daemon_pods(struct store *s)
{
    struct snapshot *n = &s->snap;

    n->daemon_pods = arena_new_array(s->pass, const struct pod *, n->n_daemons);
    for (uint32_t i = 0; i < n->n_daemons; i++) {
        const struct pod *live = pods_daemon(s, n->daemons[i].ns, n->daemons[i].name);

        if (live)
            n->daemon_pods[i] = build_representative(s->pass, &n->daemons[i], live);
    }
}

static uint32_t find_dense(const struct build *b, enum object_kind kind, str ns, str name)
{
    const struct object *x = table_find(b->finder, kind, ns, name);

    return x && x->decoded ? x->dense : MAP_NONE;
}

static uint32_t find_pvc(const struct build *b, sym ns, str name)
{
    return find_dense(b, OBJ_PVC, sym_str(b->syms, ns), name);
}

static uint32_t find_pv(const struct build *b, str name)
{
    return find_dense(b, OBJ_PV, (str){0}, name);
}

static uint32_t find_class(const struct build *b, str name)
{
    return find_dense(b, OBJ_STORAGECLASS, (str){0}, name);
}

struct snapshot *store_snapshot(struct store *s, const struct settings *st, const struct catalog *c, int64_t now_ms)
{
    static const struct build_lookups lookups = {find_pvc, find_pv, find_class};
    struct build b = {.arena = s->pass, .syms = s->syms, .s = &s->snap, .find = &lookups, .finder = s};

    assert(!s->telling);
    arena_reset(s->pass);
    symbols_sweep(s);
    s->snap.syms = s->syms;
    s->snap.now_ms = now_ms;
    s->snap.settings = *st;
    s->snap.catalog = c;
    s->snap.pods = s->pods.v;
    s->snap.n_pods = s->pods.n;
    s->snap.none_apart = s->apart.n == 0;
    hosts_catch_up(s, now_ms);
    s->snap.nodes = s->nodes.v;
    s->snap.n_nodes = s->nodes.n;
    show_objects(s);
    build_pools(&b);
    build_default_class(&b);
    show_daemon_pods(s);
    stand_ins_list(s);
    build_pending(&b, s->waiting.v, s->waiting.n, s->found_stand_ins.v, s->found_stand_ins.n);
    return &s->snap;
}

static size_t table_bytes(const struct table *t)
{
    size_t n = t->all.cap * sizeof(*t->all.v) + t->spare.cap * sizeof(*t->spare.v) + ixset_bytes(&t->by_name) +
               t->names.cap * sizeof(*t->names.v);

    for (uint32_t i = 0; i < t->all.n; i++) {
        const struct object *x = t->all.v[i];

        if (x)
            n += sizeof(*x) + x->ns.n + x->kept.name.n + x->kept.uid.n + x->packed.n +
                 (x->box ? arena_bytes(x->box) : 0);
    }
    return n;
}

size_t store_bytes(const struct store *s)
{
    size_t n = sizeof(*s) + podspecs_bytes(s->specs) + arena_bytes(s->own) + arena_bytes(s->pass) +
               arena_bytes(s->scratch) + s->tombs.cap * sizeof(*s->tombs.v);

    for (uint32_t k = 0; k < OBJ_OTHER; k++)
        n += table_bytes(&s->tables[k]);
    n += s->pods.cap * sizeof(*s->pods.v) + s->stamps.cap * sizeof(*s->stamps.v) + ixset_bytes(&s->pods_by_name) +
         s->spare_pods.cap * sizeof(uint32_t) + texts_bytes(&s->texts);
    n += groups_bytes(&s->running) + groups_bytes(&s->ended) + groups_bytes(&s->daemon_pods) +
         (s->waiting.cap + s->apart.cap) * sizeof(uint32_t);
    n += groups_bytes(&s->nodes_by_id) + groups_bytes(&s->claims_by_id) + groups_bytes(&s->claims_of_pool) +
         groups_bytes(&s->attachments);
    n += s->hosts.cap * sizeof(*s->hosts.v) + s->nodes.cap * sizeof(*s->nodes.v) + ixset_bytes(&s->hosts_by_id);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const struct state_node *x = &s->nodes.v[i];

        n += (x->capacity.n + x->allocatable.n + x->requests.n + x->daemon_requests.n) * sizeof(struct resq) +
             x->taints.n * sizeof(struct taint);
    }
    return n;
}
