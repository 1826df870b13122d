/* Types as classes see them now, and the catalogue that is made of them (aws 5.1).
 *
 * A view is what classes that say the same have in common. It is worked out once, follows prices and availability after that, and goes when nobody uses it any more.
 */
#include <math.h>
#include <stdlib.h>

#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/labels.h"
#include "data/json.h"

#define MAX_VIEWS 64
#define MEMORY_MS (60 * INT64_C(86400000)) /* what a Node had is believed for so long */
#define GROWN (32u << 20)                  /* of a view: worked out anew, which forgets old offerings */

struct era { /* what EC2 said at one time */
    struct ec2_universe u;
    struct arena *a;
    uint32_t refs;
};

struct overlaid { /* a view as a NodePool sees it with its NodeOverlays */
    sym pool;
    uint64_t news, changes; /* it was worked out from */
    const struct catalog *catalog;
};

struct ec2_view {
    uint64_t key; /* of what it was worked out from */
    struct arena *a;
    struct ec2_types types;
    struct era *era;
    size_t first_bytes;
    uint64_t serial;  /* no other view has it */
    uint64_t changes; /* of offerings, so far */
    VEC(struct overlaid) overlaid;
    uint32_t refs;
};

struct seen { /* a NodePool and what it sees */
    sym pool;
    str class;
    uint32_t view; /* UINT32_MAX: nothing */
};

struct ec2_market {
    struct ec2 *p;
    struct era *era;               /* NULL: not asked yet */
    VEC(struct ec2_view *) views;  /* the last used ones first */
    VEC(struct ec2_memory) memory; /* texts live as long as the provider */
    VEC(int64_t) memory_until_ms;  /* beside it */
    int64_t memory_due_ms;         /* when the first of them runs out */
    uint64_t memory_version, n_views;
    struct catalog catalog;
    struct arena *arena;           /* the catalogue's */
    VEC(struct ec2_view *) in_use; /* by the catalogue */
    uint64_t print, content;       /* what the catalogue was made for, and of */
    bool built;
};

/* ---- lives ---- */

static void era_release(struct era *x)
{
    if (!x || --x->refs > 0)
        return;
    arena_free(x->a);
    free(x);
}

static void view_release(struct ec2_view *v)
{
    if (--v->refs > 0)
        return;
    era_release(v->era);
    vec_fini(&v->overlaid);
    arena_free(v->a);
    free(v);
}

struct ec2_market *ec2_market_new(struct ec2 *p)
{
    struct ec2_market *m = xcalloc(1, sizeof(*m));

    m->p = p;
    m->memory_due_ms = INT64_MAX;
    m->arena = arena_new(0);
    m->catalog = (struct catalog){.rules = ec2_label_rules(m->arena, p->syms), .origin = STR("aws")};
    return m;
}

static void forget_views(struct ec2_market *m)
{
    for (uint32_t i = 0; i < m->views.n; i++)
        view_release(m->views.v[i]);
    m->views.n = 0;
}

static void leave_catalog(struct ec2_market *m)
{
    for (uint32_t i = 0; i < m->in_use.n; i++)
        view_release(m->in_use.v[i]);
    m->in_use.n = 0;
    arena_free(m->arena);
}

void ec2_market_free(struct ec2_market *m)
{
    if (!m)
        return;
    leave_catalog(m);
    forget_views(m);
    era_release(m->era);
    vec_fini(&m->views);
    vec_fini(&m->in_use);
    vec_fini(&m->memory);
    vec_fini(&m->memory_until_ms);
    free(m);
}

bool ec2_market_set(struct ec2_market *m, struct arena *a, const struct ec2_universe *u)
{
    if (m->era && m->era->u.hash == u->hash) {
        arena_free(a);
        return false;
    }
    era_release(m->era);
    m->era = xcalloc(1, sizeof(*m->era));
    *m->era = (struct era){*u, a, 1};
    forget_views(m);
    return true;
}

const struct ec2_universe *ec2_market_universe(const struct ec2_market *m)
{
    return m->era ? &m->era->u : NULL;
}

/* ---- memory of Nodes ---- */

static uint32_t memory_find(const struct ec2_market *m, str type, uint64_t amis)
{
    uint32_t i = 0;

    while (i < m->memory.n && (m->memory.v[i].amis != amis || !str_eq(m->memory.v[i].type, type)))
        i++;
    return i;
}

void ec2_market_learn(struct ec2_market *m, str type, uint64_t amis, int64_t bytes)
{
    uint32_t i = memory_find(m, type, amis);
    bool known = i < m->memory.n && ec2_clock_ms(m->p) < m->memory_until_ms.v[i];

    if (known && bytes > m->memory.v[i].bytes)
        return;
    if (i == m->memory.n) {
        vec_push(&m->memory, (struct ec2_memory){.type = arena_strdup(m->p->arena, type), .amis = amis});
        vec_push(&m->memory_until_ms, 0);
    }
    m->memory_until_ms.v[i] = sat_add(ec2_clock_ms(m->p), MEMORY_MS);
    m->memory_due_ms = MIN(m->memory_due_ms, m->memory_until_ms.v[i]);
    if (m->memory.v[i].bytes == bytes)
        return;
    m->memory.v[i].bytes = bytes;
    m->memory_version++;
}

/* What no Node has confirmed for two months is forgotten. */
static void memory_sweep(struct ec2_market *m)
{
    uint32_t n = 0;

    if (ec2_clock_ms(m->p) < m->memory_due_ms)
        return;
    m->memory_due_ms = INT64_MAX;
    for (uint32_t i = 0; i < m->memory.n; i++) {
        if (m->memory_until_ms.v[i] <= ec2_clock_ms(m->p))
            continue;
        m->memory_due_ms = MIN(m->memory_due_ms, m->memory_until_ms.v[i]);
        m->memory.v[n] = m->memory.v[i];
        m->memory_until_ms.v[n++] = m->memory_until_ms.v[i];
    }
    m->memory_version += n < m->memory.n;
    m->memory.n = m->memory_until_ms.n = n;
}

/* ---- a class' types ---- */

static uint64_t hash_part(struct arena *a, const struct tree *t, uint64_t h)
{
    str text = t ? json_text(a, t) : STR("");

    return hash_bytes(text.p, text.n, h);
}

/* All that types depend on, but for what offerings follow. */
static uint64_t key_of(const struct ec2_market *m, const struct ec2_class *k, const struct ec2_placement_group *g)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint64_t h = hash_mix(m->memory_version, m->era->u.hash);

    h = hash_part(a, tree_get(k->object, "spec"), h);
    h = hash_part(a, tree_at(k->object, "status", "subnets", NULL), h);
    h = hash_part(a, tree_at(k->object, "status", "amis", NULL), h);
    h = hash_part(a, tree_at(k->object, "status", "capacityReservations", NULL), h);
    if (g) {
        h = hash_bytes(g->id.p, g->id.n, h);
        h = hash_mix(hash_bytes(g->strategy.p, g->strategy.n, h), (uint64_t)g->partitions);
    }
    return h;
}

/* Zones that nothing is launched in; the arena's. */
static uint32_t shifted_zones(const struct ec2 *p, struct arena *a, str **ret)
{
    uint32_t n = 0;

    *ret = arena_new_array(a, str, p->shifts.n);
    for (uint32_t i = 0; i < p->shifts.n; i++)
        if (ec2_zone_is_shifted(p, p->shifts.v[i].zone_id))
            (*ret)[n++] = p->shifts.v[i].zone_id;
    return n;
}

static struct ec2_types_input input_of(const struct ec2_market *m, struct arena *a, const struct ec2_class *k,
                                       const struct ec2_placement_group *g)
{
    const struct ec2 *p = m->p;
    struct ec2_types_input in = {
        .universe = &m->era->u,
        .class = k,
        .prices = p->prices,
        .unavailable = p->unavailable,
        .placement = g,
        .memory = m->memory.v,
        .n_memory = m->memory.n,
        .overlay_price = p->settings.node_overlays ? p->host.overlay_price : NULL,
        .overlay_ctx = p->host.ctx,
        .overlay_news = p->host.news ? p->host.news(p->host.ctx) : 0,
        .region = aws_region(p->aws),
        .memory_overhead = p->settings.memory_overhead,
        .reserved_enis = p->settings.reserved_enis,
        .reserved_capacity = p->settings.reserved_capacity,
        .expressions = p->settings.expressions,
        .now_ms = ec2_clock_ms(p),
    };
    str *zones;

    in.reserved = ec2_reserved_left(p, &in.n_reserved);
    in.n_shifted_zones = shifted_zones(p, a, &zones);
    in.shifted_zones = zones;
    return in;
}

static struct ec2_view *find_view(struct ec2_market *m, uint64_t key)
{
    for (uint32_t i = 0; i < m->views.n; i++) {
        struct ec2_view *v = m->views.v[i];

        if (v->key != key)
            continue;
        memmove(&m->views.v[1], &m->views.v[0], i * sizeof(struct ec2_view *));
        m->views.v[0] = v;
        if (arena_bytes(v->a) <= v->first_bytes + GROWN)
            return v;
        memmove(&m->views.v[0], &m->views.v[1], --m->views.n * sizeof(struct ec2_view *));
        view_release(v);
        return NULL;
    }
    return NULL;
}

static struct ec2_view *make_view(struct ec2_market *m, uint64_t key, const struct ec2_types_input *in, struct err *e)
{
    struct arena *a = arena_new(0);
    struct ec2_types types;

    if (!ec2_types_resolve(a, m->p->syms, in, &types, e)) {
        arena_free(a);
        return NULL;
    }
    struct ec2_view *v = xcalloc(1, sizeof(*v));
    *v = (struct ec2_view){.key = key,
                           .a = a,
                           .types = types,
                           .era = m->era,
                           .first_bytes = arena_bytes(a),
                           .serial = ++m->n_views,
                           .refs = 1};
    m->era->refs++;
    if (m->views.n == MAX_VIEWS)
        view_release(m->views.v[--m->views.n]);
    vec_push(&m->views, v);
    memmove(&m->views.v[1], &m->views.v[0], (m->views.n - 1) * sizeof(struct ec2_view *));
    m->views.v[0] = v;
    return v;
}

static struct ec2_view *view_of(struct ec2_market *m, const struct ec2_class *k, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_placement_group group;
    const struct ec2_placement_group *g = NULL;

    if (!m->era) {
        (void)err_set(e, ERR_IO, "no instance types found");
        return NULL;
    }
    memory_sweep(m);
    if (k->has_placement && ec2_placement_known(m->p, k, &group))
        g = &group;
    struct ec2_types_input in = input_of(m, a, k, g);
    uint64_t key = key_of(m, k, g);
    struct ec2_view *v = find_view(m, key);
    if (!v)
        v = make_view(m, key, &in, e);
    if (v)
        v->changes += ec2_types_offerings(v->a, &in, &v->types);
    return v;
}

bool ec2_market_types(struct ec2_market *m, const struct ec2_class *k, struct ec2_types *ret, struct err *e)
{
    const struct ec2_view *v = view_of(m, k, e);

    if (v)
        *ret = v->types;
    return v != NULL;
}

struct ec2_view *ec2_market_hold(struct ec2_market *m, const struct ec2_types *t)
{
    uint32_t i = 0;

    while (i < m->views.n && m->views.v[i]->types.v != t->v)
        i++;
    assert(i < m->views.n); /* types that were just asked for are there */
    m->views.v[i]->refs++;
    return m->views.v[i];
}

void ec2_market_release(struct ec2_market *m UNUSED, struct ec2_view *v)
{
    view_release(v);
}

/* In the view's arena: what is older goes with the view, which is worked out anew when it has grown. */
const struct catalog *ec2_market_overlaid(struct ec2_market *m, struct ec2_view *v, sym pool)
{
    const struct ec2_host *host = &m->p->host;
    uint64_t news = host->news ? host->news(host->ctx) : 0;
    struct overlaid *x = NULL;

    for (uint32_t i = 0; i < v->overlaid.n && !x; i++)
        if (sym_eq(v->overlaid.v[i].pool, pool))
            x = &v->overlaid.v[i];
    if (x && host->news && x->news == news && x->changes == v->changes)
        return x->catalog;
    if (!x)
        x = vec_add(&v->overlaid);
    struct catalog *base = arena_new_one(v->a, struct catalog);
    *base = (struct catalog){
        .types = v->types.v, .n = v->types.n, .rules = ec2_label_rules(v->a, m->p->syms), .origin = STR("aws")};
    *x = (struct overlaid){pool, news, v->changes, base};
    if (m->p->settings.node_overlays && host->overlaid && sym_some(pool))
        x->catalog = host->overlaid(host->ctx, v->a, sym_str(m->p->syms, pool), base);
    assert(x->catalog->n == base->n); /* one for one: there is one pool */
    return x->catalog;
}

/* ---- the catalogue ---- */

struct gathering {
    struct ec2_market *m;
    struct arena *a;
    VEC(struct seen) pools;
};

static void gather_pool(void *arg, const struct nodepool *np)
{
    struct gathering *g = arg;
    str class = np->tmpl.class_ref.name;

    vec_push(&g->pools, (struct seen){np->name_sym, arena_strdup(g->a, class), UINT32_MAX});
}

/* Number of the view in m->in_use; UINT32_MAX: the class cannot be used. */
static uint32_t use_class(struct ec2_market *m, struct arena *a, str pool, str class)
{
    struct err e;
    const struct ec2_class *k = ec2_class_of(m->p, a, class, &e);

    if (!k || k->deleting) {
        if (m->p->host.warn)
            m->p->host.warn(m->p->host.ctx, EC2_ON_POOL, pool, "Failed resolving NodeClass");
        return UINT32_MAX;
    }
    struct ec2_view *v = view_of(m, k, &e);
    if (!v)
        return UINT32_MAX;
    for (uint32_t i = 0; i < m->in_use.n; i++)
        if (m->in_use.v[i] == v)
            return i;
    v->refs++;
    vec_push(&m->in_use, v);
    return m->in_use.n - 1;
}

static bool list_equal(const struct reslist *a, const struct reslist *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!sym_eq(a->q[i].name, b->q[i].name) || a->q[i].v != b->q[i].v)
            return false;
    return true;
}

static bool reqs_equal(const struct req_expr *a, uint32_t n_a, const struct req_expr *b, uint32_t n_b)
{
    if (n_a != n_b)
        return false;
    for (uint32_t i = 0; i < n_a && a != b; i++)
        if (!sym_eq(a[i].key, b[i].key) || a[i].op != b[i].op || a[i].n_vals != b[i].n_vals ||
            (a[i].n_vals && memcmp(a[i].vals, b[i].vals, a[i].n_vals * sizeof(sym)) != 0))
            return false;
    return true;
}

static bool type_equal(const struct itype *a, const struct itype *b)
{
    if (a->n_offerings != b->n_offerings || !list_equal(&a->capacity, &b->capacity) ||
        !list_equal(&a->overhead, &b->overhead) ||
        !reqs_equal(a->requirements, a->n_requirements, b->requirements, b->n_requirements))
        return false;
    for (uint32_t i = 0; i < a->n_offerings; i++) {
        const struct offering *x = &a->offerings[i], *y = &b->offerings[i];

        if (x->available != y->available || x->reservation_capacity != y->reservation_capacity ||
            x->price_usd_per_h < y->price_usd_per_h || x->price_usd_per_h > y->price_usd_per_h ||
            !reqs_equal(x->requirements, x->n_requirements, y->requirements, y->n_requirements))
            return false;
    }
    return true;
}

/* One type as all views see it: an entry for each way to see it. */
static uint32_t put_type(const struct gathering *g, struct itype *out, uint32_t ix, bool for_all)
{
    const struct ec2_market *m = g->m;
    uint32_t n = 0;

    for (uint32_t v = 0; v < m->in_use.n; v++) {
        const struct itype *t = &m->in_use.v[v]->types.v[ix];
        uint32_t at = 0;

        while (at < n && !type_equal(&out[at], t))
            at++;
        if (at == n) {
            out[n] = *t;
            out[n].pools = for_all ? NULL : arena_new_array(m->arena, sym, g->pools.n);
            out[n++].n_pools = 0;
        }
        for (uint32_t i = 0; i < g->pools.n && !for_all; i++)
            if (g->pools.v[i].view == v)
                out[at].pools[out[at].n_pools++] = g->pools.v[i].pool;
    }
    return n;
}

static void put_types(const struct gathering *g)
{
    struct ec2_market *m = g->m;
    uint32_t n_types = m->in_use.n ? m->in_use.v[0]->types.n : 0, n_blind = 0, n = 0;

    for (uint32_t i = 0; i < g->pools.n; i++)
        n_blind += g->pools.v[i].view == UINT32_MAX;
    m->catalog.types = arena_new_array(m->arena, struct itype, (size_t)n_types * m->in_use.n);
    for (uint32_t i = 0; i < n_types; i++)
        n += put_type(g, &m->catalog.types[n], i, m->in_use.n == 1 && n_blind == 0);
    m->catalog.n = n;
}

static uint64_t content_of(const struct gathering *g)
{
    uint64_t h = g->m->in_use.n;

    for (uint32_t i = 0; i < g->m->in_use.n; i++)
        h = hash_mix(hash_mix(h, g->m->in_use.v[i]->serial), g->m->in_use.v[i]->changes);
    for (uint32_t i = 0; i < g->pools.n; i++)
        h = hash_mix(h, u64_pair(g->pools.v[i].pool.v, g->pools.v[i].view));
    return h;
}

static void rebuild(struct ec2_market *m)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct gathering g = {.m = m, .a = a};
    struct arena *old = m->arena;
    VEC(struct ec2_view *) before = {m->in_use.v, m->in_use.n, m->in_use.cap};

    m->in_use.v = NULL;
    m->in_use.n = m->in_use.cap = 0;
    m->p->host.each_pool(m->p->host.ctx, gather_pool, &g);
    for (uint32_t i = 0; i < g.pools.n; i++)
        g.pools.v[i].view = use_class(m, a, sym_str(m->p->syms, g.pools.v[i].pool), g.pools.v[i].class);
    uint64_t content = content_of(&g);
    if (!m->built || content != m->content) {
        m->arena = arena_new(0);
        m->catalog = (struct catalog){
            .rules = ec2_label_rules(m->arena, m->p->syms),
            .version = m->catalog.version + 1,
            .origin = arena_printf(m->arena, "aws " STR_FMT, STR_ARG(aws_region(m->p->aws))),
        };
        put_types(&g);
        arena_free(old);
        m->content = content;
        m->built = true;
    }
    for (uint32_t i = 0; i < before.n; i++)
        view_release(before.v[i]);
    vec_fini(&before);
    vec_fini(&g.pools);
}

/* Cheap to ask for: whether anything can have changed. */
static uint64_t print_of(struct ec2_market *m)
{
    AUTO(arena) struct arena *a = arena_new(256);
    const struct ec2 *p = m->p;
    str *zones;
    uint32_t n = shifted_zones(p, a, &zones);

    memory_sweep(m);
    uint64_t h = hash_mix(m->era->u.hash, m->memory_version);
    (void)ec2_unavailable_sweep(p->unavailable, ec2_clock_ms(p));
    h = hash_mix(h, p->host.news ? p->host.news(p->host.ctx) : 0);
    h = hash_mix(h, ec2_prices_version(p->prices));
    h = hash_mix(h, ec2_unavailable_version(p->unavailable));
    h = hash_mix(h, ec2_reserved_version(p));
    for (uint32_t i = 0; i < n; i++)
        h = hash_bytes(zones[i].p, zones[i].n, h);
    return h;
}

const struct catalog *ec2_market_catalog(struct ec2_market *m)
{
    if (!m->era || !m->p->host.each_pool)
        return &m->catalog;
    uint64_t print = print_of(m);
    if (!m->built || print != m->print) {
        rebuild(m);
        m->print = print;
    }
    return &m->catalog;
}
