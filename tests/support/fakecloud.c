#include "support/fakecloud.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "data/edit.h"
#include "net/fiber.h"

struct fake_machine {
    struct arena *arena;
    struct machine m;
    str claim, uid;
    int64_t gone_us; /* on its way out until then; 0: it is not */
};

struct fakecloud {
    struct cloud cloud;
    struct world *world;
    struct syms *syms;
    const struct catalog *catalog;
    const struct machine *fixed;
    VEC(struct fake_machine *) machines;
    enum fake_outcome outcome[FAKE_N_CALLS];
    uint32_t n_left[FAKE_N_CALLS], n_calls[FAKE_N_CALLS];
    int64_t slow_us[FAKE_N_CALLS], linger_us;
    const char *drift;
    struct cloud_hook hook;
    uint32_t serial;
};

static const struct cloud_class classes[] = {
    {"karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses", NULL},
};

/* ---- outcomes ---- */

static enum fake_outcome begin(struct fakecloud *f, enum fake_call call)
{
    f->n_calls[call]++;
    if (f->slow_us[call])
        fiber_sleep_us(f->world, f->slow_us[call]);
    if (f->n_left[call] == 0)
        return FAKE_WELL;
    f->n_left[call]--;
    return f->outcome[call];
}

static bool end(enum fake_outcome o, struct err *e)
{
    switch (o) {
    case FAKE_WELL:
        return true;
    case FAKE_NO_CAPACITY:
        return err_set(e, ERR_CAPACITY, "all offerings are sold out");
    case FAKE_NOT_READY:
        (void)err_set(e, ERR_INVALID, "the class is not ready");
        (void)snprintf(e->code, sizeof(e->code), CLOUD_NOT_READY);
        return false;
    case FAKE_TYPED:
        (void)err_set(e, ERR_INVALID, "the role is missing");
        (void)snprintf(e->code, sizeof(e->code), "RoleMissing");
        return false;
    case FAKE_ERROR:
    case FAKE_LOST:
        return err_set(e, ERR_IO, "the cloud is away");
    }
    return false;
}

/* ---- machines ---- */

static void drop(struct fakecloud *f, uint32_t at)
{
    struct fake_machine *m = f->machines.v[at];

    f->machines.n--;
    memmove(&f->machines.v[at], &f->machines.v[at + 1], (f->machines.n - at) * sizeof(*f->machines.v));
    arena_free(m->arena);
    free(m);
}

static void reap(struct fakecloud *f)
{
    for (uint32_t i = f->machines.n; i-- > 0;)
        if (f->machines.v[i]->gone_us && f->machines.v[i]->gone_us <= world_mono_us(f->world))
            drop(f, i);
}

static struct fake_machine *by_id(const struct fakecloud *f, str id, uint32_t *ret_at)
{
    for (uint32_t i = 0; i < f->machines.n; i++)
        if (str_eq(f->machines.v[i]->m.provider_id, id)) {
            *ret_at = i;
            return f->machines.v[i];
        }
    return NULL;
}

static bool lists(const struct req_expr *x, sym val)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (sym_eq(x->vals[i], val))
            return true;
    return false;
}

/* Whether the claim's In requirements leave something of what is offered. */
static bool meets(const struct nodeclaim *c, const struct req_expr *offer, uint32_t n)
{
    for (uint32_t i = 0; i < c->n_requirements; i++)
        for (uint32_t k = 0; c->requirements[i].op == OP_IN && k < n; k++) {
            bool any = !sym_eq(c->requirements[i].key, offer[k].key) || offer[k].op != OP_IN;

            for (uint32_t v = 0; !any && v < offer[k].n_vals; v++)
                any = lists(&c->requirements[i], offer[k].vals[v]);
            if (!any)
                return false;
        }
    return true;
}

static struct reslist allocatable(struct arena *a, const struct itype *t)
{
    struct reslist l = reslist_dup(a, &t->capacity);

    reslist_sub(&l, &t->overhead);
    return l;
}

static bool fits(struct arena *a, const struct nodeclaim *c, const struct itype *t)
{
    struct reslist have = allocatable(a, t);

    for (uint32_t i = 0; i < c->requests.n; i++)
        if (c->requests.q[i].v > reslist_value(&have, c->requests.q[i].name))
            return false;
    return true;
}

static const struct itype *choose(const struct fakecloud *f, struct arena *a, const struct nodeclaim *c,
                                  const struct offering **ret)
{
    const struct itype *best = NULL;

    for (uint32_t i = 0; i < f->catalog->n; i++) {
        const struct itype *t = &f->catalog->types[i];

        if (!meets(c, t->requirements, t->n_requirements) || !fits(a, c, t))
            continue;
        for (uint32_t k = 0; k < t->n_offerings; k++) {
            const struct offering *o = &t->offerings[k];

            if (!o->available || !meets(c, o->requirements, o->n_requirements) ||
                (best && o->price_usd_per_h >= (*ret)->price_usd_per_h))
                continue;
            best = t;
            *ret = o;
        }
    }
    return best;
}

static void add_labels(const struct fakecloud *f, struct machine *m, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].op == OP_IN && x[i].n_vals == 1)
            m->labels[m->n_labels++] = (struct annotation){sym_str(f->syms, x[i].key), sym_str(f->syms, x[i].vals[0])};
}

static bool make_machine(struct fakecloud *f, struct fake_machine *n, const struct nodeclaim *c, struct err *e)
{
    const struct offering *o = NULL;

    n->m.provider_id = arena_printf(n->arena, "fake:///%u", ++f->serial);
    if (f->fixed) {
        str id = n->m.provider_id;

        n->m = *f->fixed;
        n->m.provider_id = id;
        if (n->m.capacity.n == 0)
            n->m.capacity = reslist_dup(n->arena, &c->requests);
        return true;
    }
    const struct itype *t = choose(f, n->arena, c, &o);
    if (!t)
        return err_set(e, ERR_CAPACITY, "no offering fits");
    n->m.labels = arena_new_array(n->arena, struct annotation, t->n_requirements + o->n_requirements);
    add_labels(f, &n->m, t->requirements, t->n_requirements);
    add_labels(f, &n->m, o->requirements, o->n_requirements);
    n->m.image_id = STR("image-1");
    n->m.capacity = reslist_dup(n->arena, &t->capacity);
    n->m.allocatable = allocatable(n->arena, t);
    return true;
}

static struct fake_machine *machine_for(struct fakecloud *f, const struct nodeclaim *c, struct err *e)
{
    for (uint32_t i = 0; i < f->machines.n; i++)
        if (str_eq(f->machines.v[i]->uid, c->uid))
            return f->machines.v[i];
    struct fake_machine *n = xcalloc(1, sizeof(*n));
    n->arena = arena_new(1024);
    n->claim = arena_strdup(n->arena, c->name);
    n->uid = arena_strdup(n->arena, c->uid);
    if (!make_machine(f, n, c, e)) {
        arena_free(n->arena);
        free(n);
        return NULL;
    }
    vec_push(&f->machines, n);
    return n;
}

static struct annotation *dup_labels(struct arena *a, const struct annotation *v, uint32_t n)
{
    struct annotation *ret = arena_new_array(a, struct annotation, n);

    for (uint32_t i = 0; i < n; i++)
        ret[i] = (struct annotation){arena_strdup(a, v[i].key), arena_strdup(a, v[i].val)};
    return ret;
}

static struct machine answer(struct arena *a, const struct fake_machine *n)
{
    struct machine m = n->m;

    m.provider_id = arena_strdup(a, m.provider_id);
    m.image_id = arena_strdup(a, m.image_id);
    m.labels = dup_labels(a, m.labels, m.n_labels);
    m.annotations = dup_labels(a, m.annotations, m.n_annotations);
    m.capacity = reslist_dup(a, &m.capacity);
    m.allocatable = reslist_dup(a, &m.allocatable);
    m.deleting = n->gone_us != 0;
    return m;
}

/* ---- calls ---- */

static bool create(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k,
                   struct machine *ret, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_CREATE);

    (void)t;
    reap(f);
    if (o != FAKE_WELL && o != FAKE_LOST)
        return end(o, e);
    if (!k)
        return err_set(e, ERR_CAPACITY, "the node class is not there");
    struct fake_machine *n = machine_for(f, c, e);
    if (!n || o == FAKE_LOST)
        return n ? end(o, e) : false;
    *ret = answer(a, n);
    return true;
}

static bool destroy(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_DESTROY);
    uint32_t at;

    (void)a;
    reap(f);
    if (o != FAKE_WELL)
        return end(o, e);
    struct fake_machine *n = by_id(f, c->provider_id, &at);
    if (!n)
        return err_set(e, ERR_NOT_FOUND, "no such machine");
    if (f->linger_us == 0) {
        drop(f, at);
        return err_set(e, ERR_NOT_FOUND, "no such machine");
    }
    if (!n->gone_us)
        n->gone_us = world_mono_us(f->world) + f->linger_us;
    return true;
}

static bool get(void *self, struct arena *a, str id, struct machine *ret, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_GET);
    uint32_t at;

    reap(f);
    if (o != FAKE_WELL)
        return end(o, e);
    const struct fake_machine *n = by_id(f, id, &at);
    if (!n)
        return err_set(e, ERR_NOT_FOUND, "no such machine");
    *ret = answer(a, n);
    return true;
}

static bool list(void *self, struct arena *a, struct machines *ret, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_LIST);

    reap(f);
    if (o != FAKE_WELL)
        return end(o, e);
    *ret = (struct machines){arena_new_array(a, struct machine, f->machines.n), f->machines.n};
    for (uint32_t i = 0; i < f->machines.n; i++)
        ret->v[i] = answer(a, f->machines.v[i]);
    return true;
}

static bool drifted(void *self, struct arena *a, const struct nodeclaim *c, str *ret, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_DRIFTED);

    (void)c;
    if (o != FAKE_WELL)
        return end(o, e);
    *ret = f->drift ? arena_strdup(a, str_c(f->drift)) : (str){0};
    return true;
}

static bool hook(void *self, struct arena *a, const struct nodeclaim *c, struct cloud_hook *ret, struct err *e)
{
    struct fakecloud *f = self;
    enum fake_outcome o = begin(f, FAKE_HOOK);

    (void)a;
    (void)c;
    if (o != FAKE_WELL)
        return end(o, e);
    *ret = f->hook;
    return true;
}

static const struct catalog *catalog(void *self)
{
    return ((struct fakecloud *)self)->catalog;
}

/* ---- for tests ---- */

struct fakecloud *fakecloud_new(struct world *w, struct syms *t, const struct catalog *c)
{
    struct fakecloud *f = xcalloc(1, sizeof(*f));

    f->world = w;
    f->syms = t;
    f->catalog = c;
    f->cloud = (struct cloud){
        .name = "fake",
        .self = f,
        .classes = classes,
        .n_classes = ARRAY_LEN(classes),
        .create = create,
        .destroy = destroy,
        .get = get,
        .list = list,
        .catalog = catalog,
        .drifted = drifted,
        .hook_name = "FakeHook",
        .hook = hook,
    };
    return f;
}

void fakecloud_free(struct fakecloud *f)
{
    if (!f)
        return;
    while (f->machines.n)
        drop(f, f->machines.n - 1);
    vec_fini(&f->machines);
    free(f);
}

struct cloud *fakecloud_cloud(struct fakecloud *f)
{
    return &f->cloud;
}

void fakecloud_move(struct fakecloud *f, struct world *w)
{
    f->world = w;
}

void fakecloud_then(struct fakecloud *f, enum fake_call call, enum fake_outcome o, uint32_t n)
{
    f->outcome[call] = o;
    f->n_left[call] = n;
}

void fakecloud_slow(struct fakecloud *f, enum fake_call call, int64_t us)
{
    f->slow_us[call] = us;
}

void fakecloud_linger(struct fakecloud *f, int64_t us)
{
    f->linger_us = us;
}

void fakecloud_set_hook(struct fakecloud *f, struct cloud_hook answer)
{
    f->hook = answer;
}

void fakecloud_set_drift(struct fakecloud *f, const char *reason)
{
    f->drift = reason;
}

void fakecloud_set_machine(struct fakecloud *f, const struct machine *m)
{
    f->fixed = m;
}

uint32_t fakecloud_calls(const struct fakecloud *f, enum fake_call call)
{
    return f->n_calls[call];
}

uint32_t fakecloud_count(const struct fakecloud *f)
{
    return f->machines.n;
}

str fakecloud_machine_of(const struct fakecloud *f, str claim)
{
    for (uint32_t i = 0; i < f->machines.n; i++)
        if (str_eq(f->machines.v[i]->claim, claim))
            return f->machines.v[i]->m.provider_id;
    return (str){0};
}

bool fakecloud_power_off(struct fakecloud *f, str id)
{
    uint32_t at;

    if (!by_id(f, id, &at))
        return false;
    drop(f, at);
    return true;
}

static void set_resources(const struct fakecloud *f, struct arena *a, struct tree *status, const char *key,
                          const struct reslist *l)
{
    struct tree *map = tree_sub(a, status, key);
    struct sb b = {0};

    for (uint32_t i = 0; i < l->n; i++) {
        sb_reset(&b);
        quantity_print(&b, l->q[i].name, l->q[i].v, l->q[i].binary);
        *tree_put(a, map, sym_str(f->syms, l->q[i].name)) = tree_of_str(sb_dup(&b, a));
    }
    sb_fini(&b);
}

struct tree *fakecloud_node(struct fakecloud *f, struct arena *a, str id)
{
    struct tree *t = tree_new_map(a), *taint = tree_new_map(a);
    uint32_t at;
    const struct fake_machine *n = by_id(f, id, &at);

    if (!n)
        return NULL;
    tree_set_str(a, t, "apiVersion", STR("v1"));
    tree_set_str(a, t, "kind", STR("Node"));
    tree_set_str(a, tree_sub(a, t, "metadata"), "name", arena_strdup(a, n->claim));
    for (uint32_t i = 0; i < n->m.n_labels; i++)
        *tree_put(a, tree_path(a, t, "metadata", "labels", NULL), arena_strdup(a, n->m.labels[i].key)) =
            tree_of_str(arena_strdup(a, n->m.labels[i].val));
    tree_set_str(a, tree_sub(a, t, "spec"), "providerID", arena_strdup(a, id));
    tree_set_str(a, taint, "key", STR("karpenter.sh/unregistered"));
    tree_set_str(a, taint, "effect", STR("NoExecute"));
    tree_push(a, tree_sublist(a, tree_sub(a, t, "spec"), "taints"), *taint);
    set_resources(f, a, tree_sub(a, t, "status"), "capacity", &n->m.capacity);
    set_resources(f, a, tree_sub(a, t, "status"), "allocatable", &n->m.allocatable);
    return t;
}
