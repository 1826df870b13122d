/* Objects by kind and name, in and out, and who is told. What an object means for others is in store_nodes.c; pods are in
 * store_pods.c. */
#include <stdlib.h>

#include "state/store_int.h"

#define MAX_TOMBS 8192u

bool kind_is_stored(enum object_kind kind)
{
    return kind < OBJ_OTHER && kind != OBJ_POD && kind != OBJ_DEPLOYMENT && kind != OBJ_JOB;
}

static bool has_text(enum object_kind kind)
{
    return kind == OBJ_NODE || kind == OBJ_NODECLAIM || kind == OBJ_NODEPOOL || kind == OBJ_NODECLASS ||
           kind == OBJ_BUFFER || kind == OBJ_OVERLAY;
}

struct store *store_new(const struct store_options *o)
{
    struct store *s = xcalloc(1, sizeof(*s));

    s->syms = o->syms;
    s->specs = podspecs_new(NULL);
    s->own = arena_new(0);
    s->pass = arena_new(0);
    s->scratch = arena_new(0);
    s->unpacked = xcalloc(1, sizeof(*s->unpacked));
    s->nomination_ms = o->nomination_ms;
    s->n_classes = o->n_classes;
    s->classes = arena_new_array(s->own, struct nodeclass_ref, o->n_classes);
    for (uint32_t i = 0; i < o->n_classes; i++)
        s->classes[i] = (struct nodeclass_ref){
            arena_strdup(s->own, o->classes[i].group), arena_strdup(s->own, o->classes[i].kind), {0}};
    for (uint32_t k = 0; k < OBJ_OTHER; k++)
        s->tables[k].kind = (enum object_kind)k;
    return s;
}

void store_free(struct store *s)
{
    if (!s)
        return;
    hosts_fini(s);
    stand_ins_fini(s);
    reservations_fini(s);
    makers_fini(s);
    pods_fini(s);
    for (uint32_t k = 0; k < OBJ_OTHER; k++) {
        struct table *t = &s->tables[k];

        for (uint32_t i = 0; i < t->all.n; i++)
            stored_free(s, t->all.v[i]);
        vec_fini(&t->all);
        vec_fini(&t->spare);
        vec_fini(&t->names);
        ixset_fini(&t->by_name);
        free(t->dense);
        reference_drop(t->like);
        free(t->places);
    }
    free(s->unpacked);
    sb_fini(&s->packing);
    groups_fini(&s->nodes_by_id);
    groups_fini(&s->claims_by_id);
    groups_fini(&s->claims_of_pool);
    groups_fini(&s->attachments);
    vec_fini(&s->subscribers);
    vec_fini(&s->tombs);
    vec_fini(&s->found_nodes);
    vec_fini(&s->found_claims);
    vec_fini(&s->found_of_pool);
    vec_fini(&s->found_pods);
    vec_fini(&s->found_attachments);
    free(s->found_usage.q);
    podspecs_free(s->specs);
    arena_free(s->scratch);
    arena_free(s->pass);
    arena_free(s->own);
    free(s);
}

struct syms *store_syms(struct store *s)
{
    return s->syms;
}

struct podspecs *store_specs(struct store *s)
{
    return s->specs;
}

const struct nodeclass_ref *store_classes(const struct store *s, uint32_t *ret_n)
{
    *ret_n = s->n_classes;
    return s->classes;
}

/* --- by name --------------------------------------------------------------------------------------------------------- */

struct full_name {
    str ns, name;
};

static uint64_t name_hash(str ns, str name)
{
    return hash_bytes(name.p, name.n, hash_bytes(ns.p, ns.n, 0));
}

static uint64_t object_hash(const void *owner, uint32_t ix)
{
    const struct object *x = ((const struct table *)owner)->all.v[ix];

    return name_hash(x->ns, x->kept.name);
}

static bool object_has(const void *owner, uint32_t ix, const void *key)
{
    const struct object *x = ((const struct table *)owner)->all.v[ix];
    const struct full_name *n = key;

    return str_eq(x->kept.name, n->name) && str_eq(x->ns, n->ns);
}

static const struct ixset_keys by_name = {object_hash, object_has};

struct object *table_find(const struct store *s, enum object_kind kind, str ns, str name)
{
    const struct table *t = &s->tables[kind];
    struct full_name n = {ns, name};
    uint32_t ix = ixset_get(&t->by_name, &by_name, t, name_hash(ns, name), &n);

    return ix == MAP_NONE ? NULL : t->all.v[ix];
}

sym find_sym(const struct store *s, str text)
{
    bool known;

    return sym_find(s->syms, text, &known);
}

const struct kept *store_meta(const struct store *s, enum object_kind kind, str name)
{
    const struct object *x = table_find(s, kind, (str){0}, name);

    return x ? &x->kept : NULL;
}

const struct kept *store_kept(const struct store *s, enum object_kind kind, str name)
{
    struct object *x = table_find(s, kind, (str){0}, name);

    if (!x)
        return NULL;
    stored_unpack(s, x);
    return &x->kept;
}

const void *store_object(const struct store *s, enum object_kind kind, str ns, str name)
{
    const struct object *x = table_find(s, kind, ns, name);

    return x ? x->decoded : NULL;
}

const struct node *store_node(const struct store *s, str name)
{
    return store_object(s, OBJ_NODE, (str){0}, name);
}

const struct nodeclaim *store_claim(const struct store *s, str name)
{
    return store_object(s, OBJ_NODECLAIM, (str){0}, name);
}

const struct nodepool *store_pool(const struct store *s, str name)
{
    return store_object(s, OBJ_NODEPOOL, (str){0}, name);
}

const struct nodeclass *store_class(const struct store *s, const struct nodeclass_ref *r)
{
    const struct table *t = &s->tables[OBJ_NODECLASS];

    for (uint32_t i = 0; i < t->all.n; i++) { /* there are a few */
        const struct nodeclass *c = t->all.v[i] ? t->all.v[i]->decoded : NULL;

        if (c && str_eq(c->name, r->name) && str_eq(c->kind, r->kind) && str_eq(c->group, r->group))
            return c;
    }
    return NULL;
}

uint64_t store_version(const struct store *s, enum object_kind kind, str ns, str name)
{
    if (kind == OBJ_POD) {
        uint32_t ix = pods_find(s, ns, name);

        return ix == MAP_NONE ? 0 : s->stamps.v[ix] >> 1;
    }
    const struct object *x = table_find(s, kind, ns, name);
    return x ? x->kept.version : 0;
}

uint32_t store_numbers(const struct store *s, enum object_kind kind)
{
    return s->tables[kind].all.n;
}

str store_name_at(const struct store *s, enum object_kind kind, uint32_t number)
{
    const struct object *x = s->tables[kind].all.v[number];

    return x ? x->kept.name : (str){0};
}

struct names store_names(struct store *s, enum object_kind kind)
{
    struct table *t = &s->tables[kind];

    if (t->listed_anew) {
        t->names.n = 0;
        for (uint32_t i = 0; i < t->all.n; i++)
            if (t->all.v[i])
                vec_push(&t->names, t->all.v[i]->kept.name);
        t->listed_anew = false;
    }
    return (struct names){t->names.v, t->names.n};
}

/* --- in and out ------------------------------------------------------------------------------------------------------ */

void store_subscribe(struct store *s, store_event_fn fn, void *ctx)
{
    vec_push(&s->subscribers, (struct subscriber){fn, ctx});
}

void store_tell(struct store *s, const struct store_event *ev)
{
    bool passing = syms_set_passing(s->syms, false); /* what subscribers name is theirs */

    s->telling = true;
    for (uint32_t i = 0; i < s->subscribers.n; i++)
        s->subscribers.v[i].fn(s->subscribers.v[i].ctx, ev);
    s->telling = false;
    (void)syms_set_passing(s->syms, passing);
}

static void tell(struct store *s, enum object_kind kind, struct object *was, struct object *is)
{
    const struct object *x = is ? is : was;
    bool text = has_text(kind);

    if (s->subscribers.n == 0)
        return;
    if (was && text)
        stored_unpack(s, was);
    if (is && text)
        stored_unpack(s, is);
    store_tell(s, &(struct store_event){
                      .kind = kind,
                      .change = !was ? STORE_ADDED
                                : is ? STORE_CHANGED
                                     : STORE_GONE,
                      .ns = x->ns,
                      .name = x->kept.name,
                      .was = was ? was->decoded : NULL,
                      .is = is ? is->decoded : NULL,
                      .kept_was = was && text ? &was->kept : NULL,
                      .kept_is = is && text ? &is->kept : NULL,
                  });
}

static uint64_t tomb_id(enum object_kind kind, str ns, str name)
{
    return hash_mix(name_hash(ns, name), (uint64_t)kind);
}

/* An answer to a write may come after the news that the object has gone. */
static void bury(struct store *s, enum object_kind kind, str ns, str name, uint64_t version)
{
    struct tomb t = {tomb_id(kind, ns, name), version};

    if (version == 0 || !has_text(kind))
        return; /* others are not written */
    if (s->tombs.n < MAX_TOMBS) {
        vec_push(&s->tombs, t);
        return;
    }
    s->tombs.v[s->next_tomb] = t;
    s->next_tomb = (s->next_tomb + 1) % MAX_TOMBS;
}

static bool is_buried(const struct store *s, enum object_kind kind, const struct object_meta *m)
{
    uint64_t id = tomb_id(kind, m->ns, m->name);

    for (uint32_t i = 0; m->version && has_text(kind) && i < s->tombs.n; i++)
        if (s->tombs.v[i].id == id && s->tombs.v[i].version >= m->version)
            return true;
    return false;
}

/* The spec that the object has a share in; NULL: none. */
static const struct podspec *spec_of(enum object_kind kind, const struct object *x)
{
    if (kind == OBJ_DAEMONSET)
        return ((const struct daemonset *)x->decoded)->spec;
    return kind == OBJ_PODTEMPLATE ? ((const struct workload *)x->decoded)->spec : NULL;
}

static void hold_spec(struct store *s, enum object_kind kind, const struct object *x)
{
    const struct podspec *spec = spec_of(kind, x);

    if (spec)
        podspecs_ref(s->specs, spec);
}

static void release_spec(struct store *s, enum object_kind kind, const struct object *x)
{
    const struct podspec *spec = spec_of(kind, x);

    if (spec)
        podspecs_unref(s->specs, spec);
}

/* What follows from the change, when the table is right again. */
static void follow(struct store *s, enum object_kind kind, struct object *was, struct object *is)
{
    if (kind == OBJ_NODE)
        hosts_node(s, was, is);
    else if (kind == OBJ_NODECLAIM)
        hosts_claim(s, was, is);
    else if ((kind == OBJ_NODEPOOL && is && (!was || was->kept.generation != is->kept.generation)) ||
             (kind == OBJ_OVERLAY && (!was || !is || was->kept.generation != is->kept.generation)))
        s->epoch++;
    if (was)
        release_spec(s, kind, was);
    if (kind == OBJ_ATTACHMENT) {
        const struct attachment *old = was ? was->decoded : NULL, *new = is ? is->decoded : NULL;

        if (old)
            groups_remove(&s->attachments, sym_of(s->syms, old->node).v, was->number);
        if (new)
            groups_add(&s->attachments, sym_of(s->syms, new->node).v, is->number);
    }
}

static void remove_object(struct store *s, enum object_kind kind, struct object *x)
{
    struct table *t = &s->tables[kind];

    ixset_remove(&t->by_name, &by_name, t, x->number);
    t->all.v[x->number] = NULL;
    t->listed_anew = t->changed = true;
    follow(s, kind, x, NULL);
    vec_push(&t->spare, x->number);
    tell(s, kind, x, NULL);
    stored_free(s, x);
}

static void add_object(struct store *s, enum object_kind kind, struct object *x)
{
    struct table *t = &s->tables[kind];

    if (t->spare.n) {
        x->number = t->spare.v[--t->spare.n];
        t->all.v[x->number] = x;
    } else {
        x->number = t->all.n;
        vec_push(&t->all, x);
    }
    ixset_add(&t->by_name, &by_name, t, x->number);
    t->listed_anew = t->changed = true;
    follow(s, kind, NULL, x);
    tell(s, kind, NULL, x);
}

static void replace_object(struct store *s, enum object_kind kind, struct object *was, struct object *is)
{
    struct table *t = &s->tables[kind];

    is->number = was->number;
    t->all.v[is->number] = is;
    t->listed_anew = t->changed = true;
    follow(s, kind, was, is);
    tell(s, kind, was, is);
    stored_free(s, was);
}

/* A Node that says that it is alive, and nothing else: all that is read of it is in the text, so no snapshot is another one. */
static bool is_heartbeat(const struct object *was, const struct store_object *o)
{
    return was && o->kind == OBJ_NODE && o->digest && o->digest == was->kept.digest && was->decoded && o->decoded &&
           str_eq(was->kept.uid, o->meta->uid);
}

static void put(struct store *s, const struct store_object *o)
{
    if (o->kind == OBJ_POD) {
        pods_put(s, o);
        return;
    }
    assert(kind_is_stored(o->kind));
    struct object *was = table_find(s, o->kind, o->meta->ns, o->meta->name);
    if (was)
        was->seen = true;
    if (was ? o->meta->version && o->meta->version <= was->kept.version : is_buried(s, o->kind, o->meta)) {
        arena_free(o->box);
        return;
    }
    if (!o->decoded && !has_text(o->kind)) {
        if (was)
            remove_object(s, o->kind, was);
        return;
    }
    if (is_heartbeat(was, o))
        s->n_changes--;
    struct object *is = stored_new(s, o);
    hold_spec(s, o->kind, is); /* before the object that it replaces, perhaps the only other user, lets go */
    if (was && !str_eq(was->kept.uid, is->kept.uid)) {
        remove_object(s, o->kind, was);
        was = NULL;
    }
    if (was)
        replace_object(s, o->kind, was, is);
    else
        add_object(s, o->kind, is);
}

static void remove_named(struct store *s, enum object_kind kind, str ns, str name, uint64_t version)
{
    if (kind == OBJ_POD) {
        pods_remove(s, ns, name, version);
        return;
    }
    struct object *x = table_find(s, kind, ns, name);
    if (x && version && x->kept.version > version)
        return;
    bury(s, kind, ns, name, x ? MAX(version, x->kept.version) : version);
    if (x)
        remove_object(s, kind, x);
}

bool store_touch(struct store *s, enum object_kind kind, str ns, str name, uint64_t version)
{
    if (kind == OBJ_POD)
        return pods_touch(s, ns, name, version);
    struct object *x = table_find(s, kind, ns, name);
    if (!x || version == 0 || x->kept.version < version)
        return false;
    x->seen = true;
    return true;
}

static bool in_scope(const struct object *x, str scope)
{
    return x && str_starts(x->kept.name, scope);
}

void store_list_begin(struct store *s, enum object_kind kind, str scope)
{
    struct table *t = &s->tables[kind];

    if (kind == OBJ_POD) {
        pods_list_begin(s);
        return;
    }
    for (uint32_t i = 0; i < t->all.n; i++)
        if (in_scope(t->all.v[i], scope))
            t->all.v[i]->seen = false;
}

static void list_end(struct store *s, enum object_kind kind, str scope)
{
    struct table *t = &s->tables[kind];

    if (kind == OBJ_POD) {
        pods_list_end(s);
        return;
    }
    for (uint32_t i = 0; i < t->all.n; i++) {
        struct object *x = t->all.v[i];

        if (!in_scope(x, scope) || x->seen)
            continue;
        bury(s, kind, x->ns, x->kept.name, x->kept.version);
        remove_object(s, kind, x);
    }
}

/* --- the way in ------------------------------------------------------------------------------------------------------ */

/* Symbols that are made on the way are those of objects, and go when these have gone. */
static bool enter(struct store *s)
{
    assert(!s->telling);
    s->n_changes++;
    return syms_set_passing(s->syms, true);
}

uint64_t store_changes(const struct store *s)
{
    return s->n_changes;
}

void store_put(struct store *s, const struct store_object *o)
{
    bool passing = enter(s);

    put(s, o);
    (void)syms_set_passing(s->syms, passing);
}

void store_remove(struct store *s, enum object_kind kind, str ns, str name, uint64_t version)
{
    bool passing = enter(s);

    remove_named(s, kind, ns, name, version);
    (void)syms_set_passing(s->syms, passing);
}

void store_list_end(struct store *s, enum object_kind kind, str scope)
{
    bool passing = enter(s);

    list_end(s, kind, scope);
    (void)syms_set_passing(s->syms, passing);
}
