/* Machines: a Node and a NodeClaim with one provider id are one. What a machine is like is found out when one of its halves
 * changes; what its pods ask for when somebody wants to know. */
#include <stdlib.h>

#include "model/change.h"
#include "state/store_int.h"

static uint64_t host_hash(const void *owner, uint32_t ix)
{
    return hash_mix(0, ((const struct store *)owner)->hosts.v[ix].id.v);
}

static bool host_has(const void *owner, uint32_t ix, const void *key)
{
    return sym_eq(((const struct store *)owner)->hosts.v[ix].id, *(const sym *)key);
}

static const struct ixset_keys by_id = {host_hash, host_has};

static uint32_t host_find(const struct store *s, sym id)
{
    if (!sym_some(id))
        return MAP_NONE;
    return ixset_get(&s->hosts_by_id, &by_id, s, hash_mix(0, id.v), &id);
}

static uint32_t host_make(struct store *s, sym id)
{
    uint32_t ix = host_find(s, id);

    if (ix != MAP_NONE)
        return ix;
    ix = s->hosts.n;
    vec_push(&s->hosts, (struct host){.id = id, .nominated_until_ms = INT64_MIN});
    (void)vec_add(&s->nodes);
    ixset_add(&s->hosts_by_id, &by_id, s, ix);
    return ix;
}

/* --- what it is ------------------------------------------------------------------------------------------------------ */

static void *put_list(char **p, const void *v, size_t size)
{
    char *at = *p;

    if (size)
        memcpy(at, v, size);
    *p += size;
    return at;
}

static void move_list(char **p, struct reslist *l)
{
    l->q = put_list(p, l->q, l->n * sizeof(*l->q));
}

/* The lists of `n`, which are scratch, into one block. */
static void keep_lists(struct host *h, struct state_node *n)
{
    size_t lists = (n->capacity.n + n->allocatable.n) * sizeof(struct resq),
           taints = n->taints.n * sizeof(struct taint);
    char *p = xmalloc(lists + taints);

    free(h->block);
    h->block = p;
    move_list(&p, &n->capacity);
    move_list(&p, &n->allocatable);
    n->taints.v = put_list(&p, n->taints.v, taints);
}

static void mark_stale(struct store *s, uint32_t ix)
{
    if (s->hosts.v[ix].stale)
        return;
    s->hosts.v[ix].stale = true;
    vec_push(&s->stale, s->hosts.v[ix].id);
}

static void set_counted(struct store *s, uint32_t ix, bool counted)
{
    struct host *h = &s->hosts.v[ix];

    if (h->counted)
        usage_count(s, h->counted_in, &s->nodes.v[ix].capacity, /* more= */ false);
    h->counted = false;
    if (!counted)
        return;
    h->counted = true;
    h->counted_in = s->nodes.v[ix].pool;
    usage_count(s, h->counted_in, &s->nodes.v[ix].capacity, /* more= */ true);
}

/* One of its halves, or its mark, has changed. */
static void describe(struct store *s, uint32_t ix, bool is_new)
{
    struct host *h = &s->hosts.v[ix];
    struct state_node was = s->nodes.v[ix], *n = &s->nodes.v[ix];
    struct state_node is = {.node = h->node ? h->node->decoded : NULL, .claim = h->claim ? h->claim->decoded : NULL};

    arena_reset(s->scratch);
    build_machine(s->scratch, s->syms, &is);
    is.deleting = is.deleting || h->marked;
    is.nominated = was.nominated;
    is.n_buffer_pods = was.n_buffer_pods;
    is.requests = was.requests;
    is.daemon_requests = was.daemon_requests;
    set_counted(s, ix, false);
    keep_lists(h, &is);
    *n = is;
    h->node_name = is.node ? is.node->name_sym : SYM(NONE);
    set_counted(s, ix, !n->deleting && sym_some(n->pool));
    mark_stale(s, ix);
    if (is_new || was.initialized != n->initialized || was.deleting != n->deleting)
        s->epoch++;
}

static void host_remove(struct store *s, uint32_t ix)
{
    uint32_t last = s->hosts.n - 1;
    struct host *h = &s->hosts.v[ix];

    set_counted(s, ix, false);
    ixset_remove(&s->hosts_by_id, &by_id, s, ix);
    free(h->block);
    free(h->load);
    if (ix != last) {
        ixset_rename(&s->hosts_by_id, &by_id, s, last, ix);
        *h = s->hosts.v[last];
        s->nodes.v[ix] = s->nodes.v[last];
        if (h->node)
            h->node->host = ix;
        if (h->claim)
            h->claim->host = ix;
    }
    s->hosts.n--;
    s->nodes.n--;
}

/* --- halves ---------------------------------------------------------------------------------------------------------- */

static struct object **half_of(struct host *h, enum object_kind kind)
{
    return kind == OBJ_NODE ? &h->node : &h->claim;
}

static void attach(struct store *s, enum object_kind kind, struct object *x, sym id)
{
    uint32_t n = s->hosts.n, ix = host_make(s, id);
    struct object **half = half_of(&s->hosts.v[ix], kind);

    if (*half)
        (*half)->host = MAP_NONE; /* the same object as it was, or another that claims to be the machine */
    *half = x;
    x->host = ix;
    describe(s, ix, /* is_new= */ ix == n);
}

/* Another Node or NodeClaim that says it is the same machine, the first by number. */
static struct object *stand_in(const struct store *s, enum object_kind kind, sym id)
{
    const struct group *g = groups_get(kind == OBJ_NODE ? &s->nodes_by_id : &s->claims_by_id, id.v);

    for (uint32_t i = 0; g && i < g->n; i++) {
        struct object *x = s->tables[kind].all.v[g->v[i]];

        if (x && x->host == MAP_NONE && x->decoded && (kind == OBJ_NODE || x->kept.managed))
            return x;
    }
    return NULL;
}

static void detach(struct store *s, enum object_kind kind, struct object *x)
{
    uint32_t ix = x->host;

    if (ix == MAP_NONE)
        return;
    struct host *h = &s->hosts.v[ix];
    x->host = MAP_NONE;
    *half_of(h, kind) = NULL;
    s->epoch++;
    struct object *next = stand_in(s, kind, h->id);
    if (next && (kind != OBJ_NODE || build_machine_id(s->syms, next->decoded).n))
        attach(s, kind, next, h->id);
    else if (h->node || h->claim)
        describe(s, ix, /* is_new= */ false);
    else
        host_remove(s, ix);
}

static void index_id(struct store *s, struct groups *g, const struct object *x, str id, bool there)
{
    if (id.n == 0)
        return;
    if (there)
        groups_add(g, sym_of(s->syms, id).v, x->number);
    else
        groups_remove(g, sym_of(s->syms, id).v, x->number);
}

static bool is_untracked(const struct store *s, const struct object *x)
{
    return x && x->decoded && build_machine_id(s->syms, x->decoded).n == 0;
}

void hosts_node(struct store *s, struct object *was, struct object *is)
{
    const struct node *old = was ? was->decoded : NULL, *new = is ? is->decoded : NULL;
    str id = new ? build_machine_id(s->syms, new) : (str){0};

    if (old)
        index_id(s, &s->nodes_by_id, was, old->provider_id, false);
    if (new)
        index_id(s, &s->nodes_by_id, is, new->provider_id, true);
    s->n_untracked += (uint32_t)is_untracked(s, is);
    s->n_untracked -= (uint32_t)is_untracked(s, was);
    if (id.n)
        attach(s, OBJ_NODE, is, sym_of(s->syms, id));
    if (was)
        detach(s, OBJ_NODE, was);
}

static bool is_unlaunched(const struct object *x)
{
    return x && x->kept.managed && x->decoded && ((const struct nodeclaim *)x->decoded)->provider_id.n == 0;
}

static void index_pool(struct store *s, const struct object *x, bool there)
{
    const struct nodeclaim *c = x ? x->decoded : NULL;
    sym pool;

    if (!c || !lset_value(s->syms, c->labels, SYM(NP), &pool))
        return;
    if (there)
        groups_add(&s->claims_of_pool, pool.v, x->number);
    else
        groups_remove(&s->claims_of_pool, pool.v, x->number);
}

void hosts_claim(struct store *s, struct object *was, struct object *is)
{
    const struct nodeclaim *old = was ? was->decoded : NULL, *new = is ? is->decoded : NULL;

    if (old)
        index_id(s, &s->claims_by_id, was, old->provider_id, false);
    if (new)
        index_id(s, &s->claims_by_id, is, new->provider_id, true);
    index_pool(s, was, false);
    index_pool(s, is, true);
    s->n_unlaunched += (uint32_t)is_unlaunched(is);
    s->n_unlaunched -= (uint32_t)is_unlaunched(was);
    if (new &&new->provider_id.n && is->kept.managed)
        attach(s, OBJ_NODECLAIM, is, sym_of(s->syms, new->provider_id));
    if (was)
        detach(s, OBJ_NODECLAIM, was);
}

/* --- pods on it ------------------------------------------------------------------------------------------------------ */

void hosts_touch(struct store *s, sym node)
{
    const struct object *x = table_find(s, OBJ_NODE, (str){0}, sym_str(s->syms, node));

    if (x && x->host != MAP_NONE)
        mark_stale(s, x->host);
}

static void load(struct store *s, uint32_t ix)
{
    struct host *h = &s->hosts.v[ix];
    struct state_node *n = &s->nodes.v[ix];
    const struct group *g = sym_some(h->node_name) ? groups_get(&s->running, h->node_name.v) : NULL;

    n->pods = g ? g->v : NULL;
    n->n_pods = g ? g->n : 0;
    n->cap_pods = 0;
    n->requests = n->daemon_requests = (struct reslist){0};
    arena_reset(s->scratch);
    node_sum_requests(s->scratch, &s->snap, n);
    char *p = xmalloc((n->requests.n + n->daemon_requests.n) * sizeof(struct resq));
    free(h->load);
    h->load = p;
    move_list(&p, &n->requests);
    move_list(&p, &n->daemon_requests);
    h->stale = false;
}

/* Nobody is nominated for longer than that: further ahead it is only when the clock was set back. */
static bool is_nominated(const struct store *s, uint32_t ix, int64_t now_ms)
{
    int64_t until_ms = s->hosts.v[ix].nominated_until_ms;

    return until_ms > now_ms && sat_sub(until_ms, now_ms) <= s->nomination_ms;
}

void hosts_catch_up(struct store *s, int64_t now_ms)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->stale.n; i++) {
        uint32_t ix = host_find(s, s->stale.v[i]);

        if (ix != MAP_NONE && s->hosts.v[ix].stale)
            load(s, ix);
    }
    s->stale.n = 0;
    for (uint32_t i = 0; i < s->nominated.n; i++) {
        uint32_t ix = host_find(s, s->nominated.v[i]);

        if (ix == MAP_NONE)
            continue;
        s->nodes.v[ix].nominated = is_nominated(s, ix, now_ms);
        if (s->nodes.v[ix].nominated)
            s->nominated.v[kept++] = s->nominated.v[i];
    }
    s->nominated.n = kept;
}

void hosts_fini(struct store *s)
{
    for (uint32_t i = 0; i < s->hosts.n; i++) {
        free(s->hosts.v[i].block);
        free(s->hosts.v[i].load);
    }
    vec_fini(&s->hosts);
    vec_fini(&s->nodes);
    vec_fini(&s->stale);
    vec_fini(&s->nominated);
    for (uint32_t i = 0; i < s->usages.n; i++)
        vec_fini(&s->usages.v[i].v);
    vec_fini(&s->usages);
    ixset_fini(&s->hosts_by_id);
}

/* --- what only we know ----------------------------------------------------------------------------------------------- */

void store_nominate(struct store *s, str provider_id, int64_t now_ms)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    if (ix == MAP_NONE)
        return;
    if (s->hosts.v[ix].nominated_until_ms == INT64_MIN || !s->nodes.v[ix].nominated)
        vec_push(&s->nominated, s->hosts.v[ix].id);
    s->hosts.v[ix].nominated_until_ms = sat_add(now_ms, s->nomination_ms);
    s->nodes.v[ix].nominated = true;
}

bool store_has_nominations(const struct store *s)
{
    return s->nominated.n != 0;
}

bool store_is_nominated(const struct store *s, str provider_id, int64_t now_ms)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    return ix != MAP_NONE && is_nominated(s, ix, now_ms);
}

void store_count_buffers(struct store *s, const struct buffer_count *v, uint32_t n)
{
    uint32_t had = 0;

    for (uint32_t i = 0; i < s->nodes.n; i++) {
        had += s->nodes.v[i].n_buffer_pods;
        s->nodes.v[i].n_buffer_pods = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ix = host_find(s, find_sym(s, v[i].provider_id));

        if (ix != MAP_NONE)
            s->nodes.v[ix].n_buffer_pods = v[i].n;
    }
    if (had && n == 0)
        s->epoch++; /* machines that were kept for buffers may go */
}

void store_mark(struct store *s, str provider_id, bool deleting)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    if (ix == MAP_NONE)
        return;
    s->hosts.v[ix].pending = false;
    if (s->hosts.v[ix].marked == deleting)
        return;
    bool passing = syms_set_passing(s->syms, true);
    s->hosts.v[ix].marked = deleting;
    s->n_changes++;
    describe(s, ix, /* is_new= */ false);
    (void)syms_set_passing(s->syms, passing);
}

void store_set_pending(struct store *s, str provider_id)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    if (ix != MAP_NONE)
        s->hosts.v[ix].pending = true;
}

bool store_is_pending(const struct store *s, str provider_id)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    return ix != MAP_NONE && s->hosts.v[ix].pending;
}

const struct state_node *store_machine(const struct store *s, str provider_id)
{
    uint32_t ix = host_find(s, find_sym(s, provider_id));

    return ix == MAP_NONE ? NULL : &s->nodes.v[ix];
}

uint32_t store_machine_count(const struct store *s)
{
    return s->hosts.n;
}

bool store_is_marked(const struct store *s, str provider_id)
{
    const struct state_node *n = store_machine(s, provider_id);

    return n && n->deleting;
}

void store_set_listed(struct store *s)
{
    s->listed = true;
}

bool store_synced(struct store *s)
{
    if (s->n_unlaunched || (!s->synced_once && (!s->listed || s->n_untracked)))
        return false;
    s->synced_once = true;
    return true;
}

uint64_t store_consolidation_epoch(const struct store *s)
{
    return s->epoch;
}
