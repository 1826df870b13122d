/* Pods: an array with gaps, their names and uids packed beside it, and the lists that others ask for. A list that ascends
 * by number is the same whatever the order of events within it was. */
#include "model/evict.h"
#include "state/store_int.h"

/* --- by name --------------------------------------------------------------------------------------------------------- */

struct pod_name {
    str ns, name;
};

static uint64_t name_hash(str ns, str name)
{
    return hash_bytes(name.p, name.n, ns.n);
}

static uint64_t pod_hash(const void *owner, uint32_t ix)
{
    const struct store *s = owner;

    return name_hash(sym_str(s->syms, s->pods.v[ix].ns), s->pods.v[ix].name);
}

static bool pod_has(const void *owner, uint32_t ix, const void *key)
{
    const struct store *s = owner;
    const struct pod_name *n = key;

    return str_eq(s->pods.v[ix].name, n->name) && str_eq(sym_str(s->syms, s->pods.v[ix].ns), n->ns);
}

static const struct ixset_keys by_name = {pod_hash, pod_has};

uint32_t pods_find(const struct store *s, str ns, str name)
{
    struct pod_name n = {ns, name};

    return ixset_get(&s->pods_by_name, &by_name, s, name_hash(ns, name), &n);
}

const struct pod *store_pod(const struct store *s, str ns, str name)
{
    uint32_t ix = pods_find(s, ns, name);

    return ix == MAP_NONE ? NULL : &s->pods.v[ix];
}

/* --- lists ----------------------------------------------------------------------------------------------------------- */

static bool is_apart(const struct pod *p)
{
    return p->spec->anti_required.n != 0;
}

static void list_as(struct ascending *l, uint32_t ix, bool was, bool is)
{
    if (was && !is)
        ascending_remove(l, ix);
    else if (is && !was)
        ascending_add(l, ix);
}

/* The pod is (or was) in one of two lists of its node. */
static struct groups *home_of(struct store *s, const struct pod *p)
{
    if (!p || !sym_some(p->node))
        return NULL;
    return pod_is_finished(p) ? &s->ended : &s->running;
}

static void settle(struct store *s, uint32_t ix, const struct pod *was, const struct pod *is)
{
    struct groups *from = home_of(s, was), *to = home_of(s, is);

    if (from != to || (from && !sym_eq(was->node, is->node))) {
        if (from)
            groups_remove(from, was->node.v, ix);
        if (to)
            groups_add(to, is->node.v, ix);
    }
    if (from == &s->running)
        hosts_touch(s, was->node);
    if (to == &s->running)
        hosts_touch(s, is->node);
    if (to == &s->running && (!was || !sym_eq(was->node, is->node)))
        s->epoch++;
}

static bool of_daemon(const struct pod *p)
{
    return p && p->owner == OWNER_DAEMONSET;
}

static void file(struct store *s, uint32_t ix, const struct pod *was, const struct pod *is)
{
    bool same_owner = of_daemon(was) && of_daemon(is) && sym_eq(was->owner_name, is->owner_name);

    settle(s, ix, was, is);
    list_as(&s->waiting, ix, was && pod_is_provisionable(was), is && pod_is_provisionable(is));
    list_as(&s->apart, ix, was && is_apart(was), is && is_apart(is));
    if (of_daemon(was) && !same_owner) /* whoever stands for the others is found again when somebody asks */
        groups_remove(&s->daemon_pods, u64_pair(was->ns.v, was->owner_name.v), ix);
    if (of_daemon(is) && !same_owner)
        groups_add(&s->daemon_pods, u64_pair(is->ns.v, is->owner_name.v), ix);
}

const struct pod *store_pods(const struct store *s)
{
    return s->pods.v;
}

uint32_t store_pod_count(const struct store *s)
{
    return s->pods_by_name.n;
}

uint32_t store_pods_room(const struct store *s)
{
    return s->pods.n;
}

struct pod_list store_pods_waiting(const struct store *s)
{
    return (struct pod_list){s->waiting.v, s->waiting.n};
}

struct pod_list store_pods_apart(const struct store *s)
{
    return (struct pod_list){s->apart.v, s->apart.n};
}

struct pod_list store_pods_on(struct store *s, str node)
{
    sym name = find_sym(s, node);
    const struct group *a = sym_some(name) ? groups_get(&s->running, name.v) : NULL;
    const struct group *b = sym_some(name) ? groups_get(&s->ended, name.v) : NULL;
    uint32_t i = 0, k = 0;

    s->found_pods.n = 0;
    while ((a && i < a->n) || (b && k < b->n)) {
        bool first = a && i < a->n && (!b || k == b->n || a->v[i] < b->v[k]);

        vec_push(&s->found_pods, first ? a->v[i++] : b->v[k++]);
    }
    return (struct pod_list){s->found_pods.v, s->found_pods.n};
}

const struct pod *store_daemon_pod(const struct store *s, str ns, str daemonset)
{
    return pods_daemon(s, find_sym(s, ns), find_sym(s, daemonset));
}

const struct pod *pods_daemon(const struct store *s, sym ns, sym daemonset)
{
    struct group *g = groups_get(&s->daemon_pods, u64_pair(ns.v, daemonset.v));

    if (!g)
        return NULL;
    for (uint32_t i = 0, open = g->head == MAP_NONE; open && i < g->n; i++)
        if (build_stands_for(&s->pods.v[g->v[i]], i ? &s->pods.v[g->head] : NULL))
            g->head = g->v[i];
    return &s->pods.v[g->head];
}

/* --- in and out ------------------------------------------------------------------------------------------------------ */

static void tell(struct store *s, const struct pod *was, const struct pod *is)
{
    const struct pod *p = is ? is : was;

    store_tell(s, &(struct store_event){.kind = OBJ_POD,
                                        .change = !was ? STORE_ADDED
                                                  : is ? STORE_CHANGED
                                                       : STORE_GONE,
                                        .ns = sym_str(s->syms, p->ns),
                                        .name = p->name,
                                        .was = was,
                                        .is = is});
}

/* The text of a uid that is none of an API server's. */
static str own_uid(const struct pod *p)
{
    return uid_is_number(p->uid) ? (str){0} : uid_text(p->uid, NULL);
}

static void take_text(struct store *s, struct pod *p)
{
    str uid = own_uid(p);
    char *at = texts_add(&s->texts, p->name, uid);

    p->name.p = at;
    if (uid.n)
        p->uid = uid_of((str){at + p->name.n, uid.n});
}

/* When many pods have gone: the texts of those that are left move together. */
static void pack_texts(struct store *s)
{
    struct texts old = s->texts;

    if (!texts_want_packing(&old))
        return;
    s->texts = (struct texts){0};
    for (uint32_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].spec)
            take_text(s, &s->pods.v[i]);
    texts_fini(&old);
}

static uint32_t free_number(struct store *s)
{
    if (s->spare_pods.n)
        return s->spare_pods.v[--s->spare_pods.n];
    (void)vec_add(&s->pods);
    vec_push(&s->stamps, 0);
    return s->pods.n - 1;
}

static void add(struct store *s, const struct pod *p, uint64_t version)
{
    uint32_t ix = free_number(s);

    s->pods.v[ix] = *p;
    s->stamps.v[ix] = version << 1 | 1;
    take_text(s, &s->pods.v[ix]);
    ixset_add(&s->pods_by_name, &by_name, s, ix);
    file(s, ix, NULL, &s->pods.v[ix]);
    tell(s, NULL, &s->pods.v[ix]);
}

static void change(struct store *s, uint32_t ix, const struct pod *p, uint64_t version)
{
    struct pod was = s->pods.v[ix];

    s->pods.v[ix] = *p;
    s->pods.v[ix].name = was.name;
    s->pods.v[ix].uid = was.uid;
    s->stamps.v[ix] = version << 1 | 1;
    file(s, ix, &was, &s->pods.v[ix]);
    tell(s, &was, &s->pods.v[ix]);
    podspecs_unref(s->specs, was.spec);
}

static void drop(struct store *s, uint32_t ix)
{
    struct pod was = s->pods.v[ix];

    ixset_remove(&s->pods_by_name, &by_name, s, ix);
    file(s, ix, &was, NULL);
    s->pods.v[ix] = (struct pod){.phase = PHASE_SUCCEEDED}; /* a gap: counts nowhere */
    s->stamps.v[ix] = 0;
    vec_push(&s->spare_pods, ix);
    s->epoch++;
    tell(s, &was, NULL);
    podspecs_unref(s->specs, was.spec);
    texts_drop(&s->texts, was.name.n + own_uid(&was).n);
}

uint32_t pods_take(struct store *s, const struct pod *p)
{
    uint32_t ix = free_number(s);

    podspecs_ref(s->specs, p->spec);
    s->pods.v[ix] = *p;
    take_text(s, &s->pods.v[ix]);
    return ix;
}

void pods_release(struct store *s, uint32_t ix)
{
    const struct pod was = s->pods.v[ix];

    s->pods.v[ix] = (struct pod){.phase = PHASE_SUCCEEDED};
    vec_push(&s->spare_pods, ix);
    podspecs_unref(s->specs, was.spec);
    texts_drop(&s->texts, was.name.n + own_uid(&was).n);
}

void pods_put(struct store *s, const struct store_object *o)
{
    uint32_t ix = pods_find(s, o->meta->ns, o->meta->name);
    uint64_t version = o->meta->version;
    const struct pod *p = o->decoded;

    if (ix != MAP_NONE) {
        s->stamps.v[ix] |= 1;
        if (version && version <= s->stamps.v[ix] >> 1)
            return;
    }
    if (p)
        podspecs_ref(s->specs, p->spec); /* before the pod that it replaces, perhaps the only other user, lets go */
    if (ix != MAP_NONE) {
        if (!p || !uid_eq(p->uid, s->pods.v[ix].uid)) {
            drop(s, ix);
            ix = MAP_NONE;
        }
    }
    if (p && ix == MAP_NONE)
        add(s, p, version);
    else if (p)
        change(s, ix, p, version);
    pack_texts(s);
}

void pods_remove(struct store *s, str ns, str name, uint64_t version)
{
    uint32_t ix = pods_find(s, ns, name);

    if (ix == MAP_NONE || (version && s->stamps.v[ix] >> 1 > version))
        return;
    drop(s, ix);
    pack_texts(s);
}

bool pods_touch(struct store *s, str ns, str name, uint64_t version)
{
    uint32_t ix = pods_find(s, ns, name);

    if (ix == MAP_NONE || version == 0 || s->stamps.v[ix] >> 1 < version)
        return false;
    s->stamps.v[ix] |= 1;
    return true;
}

void pods_list_begin(struct store *s)
{
    for (uint32_t i = 0; i < s->stamps.n; i++)
        s->stamps.v[i] &= ~(uint64_t)1;
}

void pods_list_end(struct store *s)
{
    for (uint32_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].spec && !s->pods.v[i].of_buffer && !(s->stamps.v[i] & 1))
            drop(s, i);
    pack_texts(s);
}

void pods_fini(struct store *s)
{
    for (uint32_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].spec)
            podspecs_unref(s->specs, s->pods.v[i].spec);
    vec_fini(&s->pods);
    vec_fini(&s->stamps);
    vec_fini(&s->spare_pods);
    ixset_fini(&s->pods_by_name);
    texts_fini(&s->texts);
    groups_fini(&s->running);
    groups_fini(&s->ended);
    groups_fini(&s->daemon_pods);
    free(s->waiting.v);
    free(s->apart.v);
}
