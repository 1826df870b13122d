/* Where objects are kept: by kind in order of namespace and name, and by name and by uid for looking up.
 *
 * Order is kept in chunks of sorted pointers, which makes insertion cheap at any size and walking as fast as an array. An
 * update only changes the revision in its entry. */
#include <stdlib.h>

#include "base/map.h"
#include "sim/kube/kube_int.h"

struct place {
    const struct kind *kind;
    str ns, name;
};

static uint64_t place_hash(const struct kind *kind, str ns, str name)
{
    return hash_bytes(name.p, name.n, hash_bytes(ns.p, ns.n, kind->ix + 1));
}

static bool entry_is_at(const void *entry, const void *place)
{
    const struct entry *e = entry;
    const struct place *p = place;

    return e->kind == p->kind && str_eq(e->name, p->name) && str_eq(e->ns, p->ns);
}

static bool entry_has_uid(const void *entry, const void *uid)
{
    return str_eq(((const struct entry *)entry)->uid, *(const str *)uid);
}

struct entry *store_find(const struct kube *k, const struct kind *kind, str ns, str name)
{
    struct place p = {kind, kind->namespaced ? ns : (str){0}, name};

    return lookup_get(&k->by_name, place_hash(kind, p.ns, name), &p);
}

struct entry *store_find_uid(const struct kube *k, str uid)
{
    return lookup_get(&k->by_uid, hash_bytes(uid.p, uid.n, 0), &uid);
}

void store_init(struct kube *k)
{
    k->by_name.has = entry_is_at;
    k->by_uid.has = entry_has_uid;
    k->owned.has = owned_by_has;
}

/* ---- order ---- */

static int compare(const struct entry *e, str ns, str name)
{
    int c = str_cmp(e->ns, ns);

    return c ? c : str_cmp(e->name, name);
}

/* The first place whose object does not come before ns/name. A chunk is never empty. */
static struct cursor seek(const struct table *t, str ns, str name)
{
    uint32_t lo = 0, hi = t->chunks.n;

    while (lo < hi) { /* the first chunk whose last object is not before it */
        uint32_t mid = (lo + hi) / 2;
        const struct chunk *c = t->chunks.v[mid];

        if (compare(c->v[c->n - 1], ns, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    struct cursor cur = {t, lo, 0};
    if (lo == t->chunks.n)
        return cur;
    const struct chunk *c = t->chunks.v[lo];
    uint32_t from = 0, to = c->n;
    while (from < to) {
        uint32_t mid = (from + to) / 2;

        if (compare(c->v[mid], ns, name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    cur.at = from;
    return cur;
}

static void chunk_insert(struct table *t, uint32_t at)
{
    struct chunk *c = xcalloc(1, sizeof(*c));

    vec_push(&t->chunks, NULL);
    memmove(&t->chunks.v[at + 1], &t->chunks.v[at], (t->chunks.n - 1 - at) * sizeof(*t->chunks.v));
    t->chunks.v[at] = c;
}

/* Half of a full chunk moves to a new one behind it. */
static void chunk_split(struct table *t, uint32_t at)
{
    chunk_insert(t, at + 1);
    struct chunk *a = t->chunks.v[at], *b = t->chunks.v[at + 1];

    b->n = a->n / 2;
    a->n -= b->n;
    memcpy(b->v, a->v + a->n, b->n * sizeof(*b->v));
}

static void table_insert(struct table *t, struct entry *e)
{
    struct cursor at = seek(t, e->ns, e->name);

    if (t->chunks.n == 0)
        chunk_insert(t, 0);
    if (at.chunk == t->chunks.n) { /* behind everything: at the end of the last chunk */
        at.chunk--;
        at.at = t->chunks.v[at.chunk]->n;
    }
    if (t->chunks.v[at.chunk]->n == CHUNK) {
        chunk_split(t, at.chunk);
        uint32_t left = t->chunks.v[at.chunk]->n;
        if (at.at > left) {
            at.chunk++;
            at.at -= left;
        }
    }
    struct chunk *c = t->chunks.v[at.chunk];
    memmove(&c->v[at.at + 1], &c->v[at.at], (c->n - at.at) * sizeof(*c->v));
    c->v[at.at] = e;
    c->n++;
    t->n++;
}

static void table_remove(struct table *t, const struct entry *e)
{
    struct cursor at = seek(t, e->ns, e->name);
    struct chunk *c = t->chunks.v[at.chunk];

    assert(c->v[at.at] == e);
    c->n--;
    memmove(&c->v[at.at], &c->v[at.at + 1], (c->n - at.at) * sizeof(*c->v));
    t->n--;
    if (c->n)
        return;
    free(c);
    t->chunks.n--;
    memmove(&t->chunks.v[at.chunk], &t->chunks.v[at.chunk + 1], (t->chunks.n - at.chunk) * sizeof(*t->chunks.v));
}

struct cursor store_from(const struct kube *k, const struct kind *kind, str ns)
{
    return seek(&k->tables.v[kind->ix], ns, (str){0});
}

static const struct entry *entry_next(struct cursor *c)
{
    if (c->chunk < c->table->chunks.n && c->at == c->table->chunks.v[c->chunk]->n) {
        c->chunk++;
        c->at = 0;
    }
    if (c->chunk == c->table->chunks.n)
        return NULL;
    return c->table->chunks.v[c->chunk]->v[c->at++];
}

const struct object *cursor_next(struct cursor *c)
{
    const struct entry *e = entry_next(c);

    return e ? e->now : NULL;
}

/* ---- changes ---- */

static struct entry *entry_new(const struct object *o)
{
    struct entry *e = xcalloc(1, sizeof(*e) + o->ns.n + o->name.n + o->uid.n);
    const str from[] = {o->ns, o->name, o->uid};
    str *const to[] = {&e->ns, &e->name, &e->uid};
    char *p = (char *)(e + 1);

    e->kind = o->kind;
    for (size_t i = 0; i < ARRAY_LEN(from); i++) {
        if (from[i].n)
            memcpy(p, from[i].p, from[i].n);
        *to[i] = (str){p, from[i].n};
        p += from[i].n;
    }
    return e;
}

static void set_current(struct entry *e, const struct object *o)
{
    if (e->now)
        ((struct revision *)revision_of(e->now))->entry = NULL;
    e->now = o;
    if (o)
        ((struct revision *)revision_of(o))->entry = e;
}

void store_keep(struct kube *k, const struct object *old, const struct object *o)
{
    struct entry *e = old ? revision_of(old)->entry : entry_new(o);

    assert(e);
    set_current(e, o);
    owners_set(k, e, o);
    object_unref(old);
    if (old)
        return;
    lookup_add(&k->by_name, place_hash(o->kind, o->ns, o->name), e);
    lookup_add(&k->by_uid, hash_bytes(o->uid.p, o->uid.n, 0), e);
    table_insert(&k->tables.v[o->kind->ix], e);
}

static void entry_free(struct kube *k, struct entry *e)
{
    const struct object *o = e->now;

    owners_set(k, e, NULL);
    set_current(e, NULL);
    object_unref(o);
    free(e);
}

void store_drop(struct kube *k, struct entry *e)
{
    table_remove(&k->tables.v[e->kind->ix], e);
    lookup_remove(&k->by_name, place_hash(e->kind, e->ns, e->name), e);
    lookup_remove(&k->by_uid, hash_bytes(e->uid.p, e->uid.n, 0), e);
    entry_free(k, e);
}

void store_fini(struct kube *k)
{
    for (uint32_t i = 0; i < k->tables.n; i++) {
        struct table *t = &k->tables.v[i];

        for (uint32_t c = 0; c < t->chunks.n; c++) {
            for (uint32_t j = 0; j < t->chunks.v[c]->n; j++)
                entry_free(k, t->chunks.v[c]->v[j]);
            free(t->chunks.v[c]);
        }
        vec_fini(&t->chunks);
        vec_fini(&t->hear);
    }
    vec_fini(&k->tables);
    lookup_fini(&k->by_name);
    lookup_fini(&k->by_uid);
    lookup_fini(&k->owned);
}

/* ---- what others ask ---- */

const struct object *kube_get(struct kube *k, const struct kind *kind, str ns, str name)
{
    const struct entry *e = store_find(k, kind_stored(kind), ns, name);

    return e ? e->now : NULL;
}

const struct object *kube_by_uid(struct kube *k, str uid)
{
    const struct entry *e = store_find_uid(k, uid);

    return e ? e->now : NULL;
}

void kube_each(struct kube *k, const struct kind *kind, str ns, void (*fn)(void *ctx, const struct object *o),
               void *ctx)
{
    struct cursor c = store_from(k, kind, ns);
    const struct entry *e;

    while ((e = entry_next(&c)) && (ns.n == 0 || str_eq(e->ns, ns)))
        fn(ctx, e->now);
}

void kube_each_owned(struct kube *k, str uid, void (*fn)(void *ctx, const struct object *o), void *ctx)
{
    owners_each(k, uid, fn, ctx);
}

uint32_t kube_count(const struct kube *k, const struct kind *kind)
{
    return k->tables.v[kind->ix].n;
}

struct listing *listing_new(struct kube *k, const struct kind *kind, str ns)
{
    struct listing *l = xcalloc(1, sizeof(*l));
    struct cursor c = store_from(k, kind_stored(kind), ns);
    const struct object *o;
    VEC(const struct object *) all = {0};

    l->rv = k->rv;
    while ((o = cursor_next(&c)) && (ns.n == 0 || str_eq(o->ns, ns))) {
        object_ref(o);
        vec_push(&all, o);
    }
    l->objects = all.v;
    l->n = all.n;
    return l;
}

void listing_free(struct listing *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n; i++)
        object_unref(l->objects[i]);
    free(l->objects);
    free(l);
}
