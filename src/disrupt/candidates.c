/* Which nodes are candidates: a pass over the nodes, then one over the pods in the order of memory, which is what makes
 * half a million of them cheap. Nothing here writes text; see blockers.c. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "disrupt/candidate.h"

#define FEW_NODES 16

/* --- construction ---------------------------------------------------------------------------------------------------- */

static sym label_of(const struct snapshot *s, const struct state_node *n, sym key)
{
    sym val;

    return lset_value(s->syms, n->labels, key, &val) ? val : SYM(NONE);
}

static bool offers(const struct offering *o, sym key, sym val)
{
    for (uint32_t i = 0; i < o->n_requirements; i++) {
        const struct req_expr *x = &o->requirements[i];

        if (sym_eq(x->key, key))
            return x->op == OP_IN && x->n_vals && sym_eq(x->vals[0], val);
    }
    return false;
}

/* Of the first offering in the node's zone with its capacity type, whether it is to be had today or not. */
static double price_of(const struct snapshot *s, const struct state_node *n, uint32_t type)
{
    sym zone = label_of(s, n, SYM(ZONE)), ct = label_of(s, n, SYM(CT));

    if (type == NO_INDEX || !sym_some(zone) || !sym_some(ct))
        return 0;
    const struct itype *t = &s->catalog->types[type];
    for (uint32_t i = 0; i < t->n_offerings; i++)
        if (offers(&t->offerings[i], SYM(ZONE), zone) && offers(&t->offerings[i], SYM(CT), ct))
            return isnan(t->offerings[i].price_usd_per_h) ? 0 : t->offerings[i].price_usd_per_h;
    return 0;
}

double node_price(const struct snapshot *s, uint32_t node)
{
    sym name = label_of(s, &s->nodes[node], SYM(ITYPE));

    for (uint32_t i = 0; i < s->catalog->n; i++)
        if (sym_eq(s->catalog->types[i].name, name))
            return price_of(s, &s->nodes[node], i);
    return 0;
}

/* Whether the node's labels leave the offering possible; labels it does not have leave everything possible. */
static bool offering_matches(const struct snapshot *s, const struct state_node *n, const struct offering *o)
{
    for (uint32_t i = 0; i < o->n_requirements; i++) {
        sym val = label_of(s, n, o->requirements[i].key);

        if (sym_some(val) && !offers(o, o->requirements[i].key, val))
            return false;
    }
    return true;
}

double candidate_cheapest_offering(const struct candidates *c, const struct candidate *x)
{
    const struct itype *t = &c->s->catalog->types[x->type];
    double least = INFINITY;

    for (uint32_t i = 0; i < t->n_offerings; i++)
        if (offering_matches(c->s, &c->s->nodes[x->node], &t->offerings[i]))
            least = fmin(least, t->offerings[i].price_usd_per_h);
    return isinf(least) ? 0 : least;
}

/* Rows 2 to 9 of lifecycle 8.3, in their order. */
static enum blocker_kind node_obstacle(const struct candidates *c, const struct state_node *n, uint32_t pool)
{
    if (!n->claim)
        return BLOCK_UNMANAGED;
    if (!n->node)
        return BLOCK_NO_NODE;
    if (!n->initialized)
        return BLOCK_UNINITIALIZED;
    if (n->deleting)
        return BLOCK_DELETING;
    if (n->nominated)
        return BLOCK_NOMINATED;
    if (n->node->do_not_disrupt)
        return BLOCK_NODE_ANNOTATION;
    if (!sym_some(n->pool))
        return BLOCK_NO_POOL_LABEL;
    return pool == NO_INDEX || c->s->catalog->n == 0 ? BLOCK_POOL_MISSING : BLOCK_NONE;
}

/* A map of all types takes longer to make than a look at all of them for a few nodes. */
static uint32_t type_named(const struct candidates *c, sym name)
{
    const struct catalog *all = c->s->catalog;

    if (c->many)
        return u64map_get(&c->type_of_sym, name.v);
    for (uint32_t i = 0; i < all->n; i++)
        if (sym_eq(all->types[i].name, name))
            return i;
    return MAP_NONE;
}

/* As the node's pool sees it. */
static uint32_t type_of(const struct candidates *c, sym type, sym pool)
{
    uint32_t first = sym_some(type) ? type_named(c, type) : MAP_NONE;

    return first == MAP_NONE ? NO_INDEX : catalog_for_pool(c->s->catalog, first, pool);
}

static void describe(struct candidates *c, uint32_t ix)
{
    const struct state_node *n = &c->s->nodes[ix];
    struct candidate *x = &c->all[ix];
    sym type = label_of(c->s, n, SYM(ITYPE));
    bool drifted = n->claim && n->claim->drifted == COND_TRUE;

    *x = (struct candidate){
        .node = ix,
        .pool = sym_some(n->pool) ? u64map_get(&c->pool_of_sym, n->pool.v) : NO_INDEX,
        .type = type_of(c, type, n->pool),
        .spot = sym_eq(label_of(c->s, n, SYM(CT)), SYM(SPOT)),
        .reschedule_cost = 1,
        .drifted_ms = drifted ? n->claim->drifted_ms : INT64_MAX,
        .protected_pod = NO_INDEX,
        .refused_pod = NO_INDEX,
    };
    x->price = price_of(c->s, n, x->type);
    x->obstacle = node_obstacle(c, n, x->pool);
}

static void add_pod(struct candidates *c, struct candidate *x, uint32_t ix)
{
    const struct pod *p = &c->s->pods[ix];
    double cost = pod_eviction_cost(p);

    x->disruption_cost += cost;
    if (pod_is_reschedulable(p)) {
        x->n_pods++;
        x->reschedule_cost += cost < 0 ? 0 : cost;
        if (pod_is_movable(c->pdbs, p))
            bit_set(c->movable, ix);
    }
    if (x->protected_pod == NO_INDEX && pod_is_undisruptable(p, c->s->now_ms))
        x->protected_pod = ix;
    if (x->refused_pod == NO_INDEX && pdb_refusing(c->pdbs, p, PDB_NOW).n)
        x->refused_pod = ix;
}

static void add_pods(struct candidates *c)
{
    const struct snapshot *s = c->s;
    uint32_t *home = xmalloc((s->n_pods + 1) * sizeof(*home));

    memset(home, 0xff, s->n_pods * sizeof(*home)); /* NO_INDEX each */
    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_pods; k++)
            home[s->nodes[i].pods[k]] = i;
    for (uint32_t i = 0; i < s->n_pods; i++)
        if (home[i] != NO_INDEX)
            add_pod(c, &c->all[home[i]], i);
    free(home);
}

/* When all of its pods have been added. */
static void sum_up(const struct candidates *c, struct candidate *x)
{
    const struct nodeclaim *claim = c->s->nodes[x->node].claim;

    x->savings_ratio = x->price / x->reschedule_cost;
    x->empty = x->reschedule_cost <= 1;
    if (claim)
        x->disruption_cost *= nodeclaim_lifetime_left(claim, c->s->now_ms);
}

static void begin(struct candidates *c, struct arena *a, const struct snapshot *s, uint32_t n_nodes)
{
    *c = (struct candidates){.s = s, .a = a, .pdbs = pdb_index_new(s), .many = n_nodes > FEW_NODES};
    for (uint32_t i = 0; i < s->n_pools; i++)
        u64map_put(&c->pool_of_sym, s->pools[i].name_sym.v, i);
    for (uint32_t i = c->many ? s->catalog->n : 0; i-- > 0;) /* the first of a name stays */
        u64map_put(&c->type_of_sym, s->catalog->types[i].name.v, i);
    c->all = arena_new_array(a, struct candidate, s->n_nodes);
    c->movable = arena_new_array(a, uint64_t, BITS_WORDS(s->n_pods));
}

void candidates_init_of(struct candidates *c, struct arena *a, const struct snapshot *s, const uint64_t *nodes)
{
    uint32_t words = BITS_WORDS(s->n_nodes);

    begin(c, a, s, bits_count(nodes, words));
    for (uint32_t i = 0; i < s->n_nodes; i++)
        c->all[i] = (struct candidate){.node = i, .pool = NO_INDEX, .type = NO_INDEX, .obstacle = BLOCK_UNMANAGED};
    for (BITS_EACH(i, nodes, words))
        candidate_refresh(c, i);
}

void candidates_init(struct candidates *c, struct arena *a, const struct snapshot *s)
{
    begin(c, a, s, s->n_nodes);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        describe(c, i);
    add_pods(c);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        sum_up(c, &c->all[i]);
}

void candidates_borrow(struct candidates *c, struct arena *a, const struct candidates *from)
{
    *c = *from;
    c->a = a;
    c->all = arena_dup_array(a, struct candidate, from->all, from->s->n_nodes);
    c->borrowed = true;
}

void candidate_refresh(struct candidates *c, uint32_t node)
{
    const struct state_node *n = &c->s->nodes[node];

    describe(c, node);
    for (uint32_t i = 0; i < n->n_pods; i++) {
        bit_clear(c->movable, n->pods[i]);
        add_pod(c, &c->all[node], n->pods[i]);
    }
    sum_up(c, &c->all[node]);
}

void candidates_fini(struct candidates *c)
{
    if (c->borrowed)
        return;
    pdb_index_free(c->pdbs);
    u64map_fini(&c->pool_of_sym);
    u64map_fini(&c->type_of_sym);
}

/* --- the filter of a method -------------------------------------------------------------------------------------------- */

static enum blocker_kind construction_obstacle(const struct candidates *c, const struct candidate *x, bool eventual)
{
    if (x->obstacle != BLOCK_NONE)
        return x->obstacle;
    if (eventual && c->s->nodes[x->node].claim->has_termination_grace)
        return BLOCK_NONE;
    if (x->protected_pod != NO_INDEX)
        return BLOCK_POD_ANNOTATION;
    if (x->refused_pod == NO_INDEX)
        return BLOCK_NONE;
    return pdb_refusing(c->pdbs, &c->s->pods[x->refused_pod], PDB_NOW).n > 1 ? BLOCK_PDBS : BLOCK_PDB;
}

bool candidate_is_constructible(const struct candidates *c, uint32_t node, bool eventual)
{
    return construction_obstacle(c, &c->all[node], eventual) == BLOCK_NONE;
}

static enum blocker_kind emptiness_obstacle(const struct nodepool *p, const struct state_node *n,
                                            const struct candidate *x)
{
    if (p->consolidate_after_ns == DURATION_NEVER)
        return BLOCK_NEVER;
    if (n->n_buffer_pods)
        return BLOCK_BUFFERED;
    if (!x->empty)
        return BLOCK_NOT_EMPTY;
    return n->claim->consolidatable == COND_TRUE ? BLOCK_NONE : BLOCK_NOT_CONSOLIDATABLE;
}

static enum blocker_kind consolidation_obstacle(const struct candidates *c, const struct candidate *x)
{
    const struct state_node *n = &c->s->nodes[x->node];
    const struct nodepool *p = &c->s->pools[x->pool];

    if (x->type == NO_INDEX)
        return BLOCK_UNKNOWN_TYPE;
    if (!sym_some(label_of(c->s, n, SYM(CT))))
        return BLOCK_NO_CAPACITY_TYPE;
    if (!sym_some(label_of(c->s, n, SYM(ZONE))))
        return BLOCK_NO_ZONE;
    if (p->consolidate_after_ns == DURATION_NEVER)
        return BLOCK_NEVER;
    if (x->empty)
        return BLOCK_EMPTY;
    if (p->policy == CONSOLIDATE_EMPTY)
        return BLOCK_POLICY;
    return n->claim->consolidatable == COND_TRUE ? BLOCK_NONE : BLOCK_NOT_CONSOLIDATABLE;
}

static bool is_eventual(enum disrupt_method m)
{
    return m == METHOD_DRIFT || m == METHOD_STATIC_DRIFT;
}

enum blocker_kind candidate_obstacle(const struct candidates *c, uint32_t node, enum disrupt_method m)
{
    const struct candidate *x = &c->all[node];
    enum blocker_kind k = construction_obstacle(c, x, is_eventual(m));

    if (k != BLOCK_NONE)
        return k;
    if (c->s->pools[x->pool].is_static != (m == METHOD_STATIC_DRIFT))
        return BLOCK_STATIC; /* or the other way round: static drift has no other pools */
    switch (m) {
    case METHOD_EMPTINESS:
        return emptiness_obstacle(&c->s->pools[x->pool], &c->s->nodes[node], x);
    case METHOD_STATIC_DRIFT:
    case METHOD_DRIFT:
        return x->drifted_ms == INT64_MAX ? BLOCK_NOT_DRIFTED : BLOCK_NONE;
    case METHOD_MULTI:
    case METHOD_SINGLE:
        return consolidation_obstacle(c, x);
    case N_METHODS:
        break;
    }
    assert(m < N_METHODS);
    return BLOCK_NONE;
}

/* --- order -------------------------------------------------------------------------------------------------------------- */

/* A cost may be no number at all; such nodes still have their place in the order. */
static double rank(double v)
{
    return isnan(v) ? -INFINITY : v;
}

static bool tie_before(const struct candidate *a, const struct candidate *b, const struct snapshot *s)
{
    const struct state_node *x = &s->nodes[a->node], *y = &s->nodes[b->node];
    double p = rank(a->disruption_cost), q = rank(b->disruption_cost);

    if (p < q || q < p)
        return p < q;
    if (x->claim->created_ms != y->claim->created_ms)
        return x->claim->created_ms > y->claim->created_ms;
    return str_cmp(x->name, y->name) < 0;
}

bool candidate_before(const struct candidate *a, const struct candidate *b, const struct snapshot *s)
{
    double x = rank(a->savings_ratio), y = rank(b->savings_ratio);

    return x > y || (!(y > x) && tie_before(a, b, s));
}

typedef struct candidate *candidate_ref;

static inline bool worth_before(const candidate_ref *a, const candidate_ref *b, const void *ctx)
{
    return candidate_before(*a, *b, ctx);
}

static bool drift_before(const candidate_ref *a, const candidate_ref *b, const void *ctx)
{
    bool x = (*a)->n_pods != 0, y = (*b)->n_pods != 0;

    if (x != y)
        return y;
    if ((*a)->drifted_ms != (*b)->drifted_ms)
        return (*a)->drifted_ms < (*b)->drifted_ms;
    return tie_before(*a, *b, ctx);
}

SORT_DEFINE(sort_by_worth, candidate_ref, worth_before)
SORT_DEFINE(sort_by_drift, candidate_ref, drift_before)

struct candidate **candidates_of(const struct candidates *c, struct arena *a, enum disrupt_method m, uint32_t *ret_n)
{
    struct candidate **v = arena_new_array(a, struct candidate *, c->s->n_nodes);
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->s->n_nodes; i++)
        if (candidate_obstacle(c, i, m) == BLOCK_NONE)
            v[n++] = &c->all[i];
    if (is_eventual(m))
        sort_by_drift(v, n, c->s);
    else
        sort_by_worth(v, n, c->s);
    *ret_n = n;
    return v;
}
