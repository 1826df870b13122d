#include "model/overlay.h"

#include "base/vec.h"
#include "model/req.h"

/* ---- prices ---- */

static uint32_t digits(str s, size_t *at)
{
    size_t from = *at;

    while (*at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9')
        ++*at;
    return (uint32_t)(*at - from);
}

bool price_parse(str text, struct price_change *ret)
{
    size_t at = 0;
    double v;

    if (digits(text, &at) == 0)
        return false;
    if (at < text.n && (text.p[at++] != '.' || digits(text, &at) == 0))
        return false;
    if (at != text.n || !str_to_double(text, &v))
        return false;
    *ret = (struct price_change){PRICE_IS, v};
    return true;
}

/* \d*\.?\d+ */
static bool is_amount(str s)
{
    size_t at = 0;
    uint32_t before = digits(s, &at);

    if (at == s.n)
        return before != 0;
    return s.p[at++] == '.' && digits(s, &at) != 0 && at == s.n;
}

/* Of a percentage that takes away: up to two digits before the point, or 100. */
static bool is_reduction(str s)
{
    size_t at = 0;
    uint32_t n = digits(s, &at);

    return str_is(s, "100") || (n >= 1 && n <= 2 && (at == s.n || (at + 1 < s.n && is_amount(s))));
}

bool price_adjustment_parse(str text, struct price_change *ret)
{
    bool percent = text.n && text.p[text.n - 1] == '%', minus = text.n && text.p[0] == '-';
    double v;

    if (text.n < 2 || (!minus && text.p[0] != '+'))
        return false;
    str amount = str_sub(text, 1, text.n - percent);
    if (!is_amount(amount) || (percent && minus && !is_reduction(amount)) || !str_to_double(amount, &v))
        return false;
    *ret = (struct price_change){percent ? PRICE_PERCENT : PRICE_PLUS, minus ? -v : v};
    return true;
}

double price_changed(double price, struct price_change c)
{
    double v = price;

    if (c.kind == PRICE_IS)
        v = c.v;
    else if (c.kind == PRICE_PLUS)
        v = price + c.v;
    else if (c.kind == PRICE_PERCENT)
        v = price * (1 + c.v / 100);
    return v < 0 ? 0 : v;
}

/* ---- which offerings of which types ---- */

#define NOBODY UINT32_MAX

struct price_update {
    uint32_t overlay; /* whose price it is; NOBODY */
    int32_t lowest;   /* weight of the last overlay for it */
};

struct capacity_update {
    sym resource;
    uint32_t overlay;
};

/* What changes about one type for one pool. */
struct update {
    struct price_update *prices; /* [n_offerings] */
    VEC(struct capacity_update) capacity;
    uint32_t last_capacity; /* the overlay that came last for it; NOBODY */
    bool any_price;
};

struct work {
    struct arena *a; /* scratch */
    const struct syms *t;
    const struct catalog *base;
    const struct nodepool *pools;
    uint32_t n_pools;
    const struct overlay *v;
    uint32_t n;
    struct overlay_verdict *verdicts; /* [n] */
    struct reqspace space;
    uint32_t *want;          /* [n] */
    uint32_t *type_rs;       /* [types] */
    uint32_t *pool_rs;       /* [pools] */
    struct update **updates; /* [pools][types]: NULL where nothing changes */
};

static bool is_valid(const struct work *w, uint32_t overlay)
{
    return w->verdicts[overlay].fate != OVERLAY_INVALID;
}

static void announce_offering(struct work *w, const struct offering *o)
{
    for (uint32_t i = 0; i < o->n_requirements; i++)
        if (!label_is_well_known(&w->base->rules, o->requirements[i].key) ||
            space_key(&w->space, o->requirements[i].key) != KEY_NONE)
            reqspace_expr(&w->space, &o->requirements[i]);
}

static struct label *labels_of_pool(struct work *w, const struct nodepool *p, uint32_t *ret_n)
{
    uint32_t n;
    const struct label *l = lset_get(w->t, p->tmpl.labels, &n);
    struct label *v = arena_new_array(w->a, struct label, n + 1);
    bool known;

    *ret_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        sym key = sym_find(w->t, label_key_normalise(sym_str(w->t, l[i].key)), &known);

        if (known) /* else no overlay names it */
            v[(*ret_n)++] = (struct label){key, l[i].val};
    }
    v[(*ret_n)++] = (struct label){SYM(NP), p->name_sym};
    return v;
}

/* Keys that no overlay names do not matter. */
static void announce(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t k = 0; is_valid(w, i) && k < w->v[i].n_requirements; k++)
            reqspace_expr(&w->space, &w->v[i].requirements[k]);
    for (uint32_t i = 0; i < w->base->n; i++) {
        const struct itype *x = &w->base->types[i];

        for (uint32_t k = 0; k < x->n_requirements; k++)
            if (space_key(&w->space, x->requirements[k].key) != KEY_NONE)
                reqspace_expr(&w->space, &x->requirements[k]);
        for (uint32_t k = 0; k < x->n_offerings; k++)
            announce_offering(w, &x->offerings[k]);
    }
    for (uint32_t i = 0; i < w->n_pools; i++) {
        uint32_t n;
        const struct label *l = labels_of_pool(w, &w->pools[i], &n);

        for (uint32_t k = 0; k < n; k++)
            if (space_key(&w->space, l[k].key) != KEY_NONE)
                reqspace_value(&w->space, l[k].key, l[k].val);
    }
    reqspace_freeze(&w->space);
}

static void compile(struct work *w)
{
    announce(w);
    w->want = arena_new_array(w->a, uint32_t, w->n);
    for (uint32_t i = 0; i < w->n; i++)
        if (is_valid(w, i))
            w->want[i] = rs_of_exprs(&w->space, w->v[i].requirements, w->v[i].n_requirements);
    w->type_rs = arena_new_array(w->a, uint32_t, w->base->n);
    for (uint32_t i = 0; i < w->base->n; i++)
        w->type_rs[i] = rs_of_known(&w->space, w->base->types[i].requirements, w->base->types[i].n_requirements);
    w->pool_rs = arena_new_array(w->a, uint32_t, w->n_pools);
    for (uint32_t i = 0; i < w->n_pools; i++) {
        uint32_t n;
        const struct label *l = labels_of_pool(w, &w->pools[i], &n);

        w->pool_rs[i] = rs_of_labels(&w->space, l, n);
    }
    w->updates = arena_new_array(w->a, struct update *, (size_t)w->n_pools * w->base->n);
}

static bool matches_offering(struct work *w, uint32_t overlay, const struct offering *o)
{
    return rs_compatible(&w->space, w->want[overlay], rs_of_known(&w->space, o->requirements, o->n_requirements),
                         COMPAT_LENIENT);
}

/* The requirements of the pool itself do not count, only what its template says for sure. */
static bool matches_type(struct work *w, uint32_t overlay, uint32_t pool, uint32_t type)
{
    const struct itype *x = &w->base->types[type];

    if (!itype_is_for(x, w->pools[pool].name_sym))
        return false;
    uint32_t have = rs_union(&w->space, w->type_rs[type], w->pool_rs[pool]);
    if (!rs_compatible(&w->space, have, w->want[overlay], COMPAT_STRICT))
        return false;
    for (uint32_t i = 0; i < x->n_offerings; i++)
        if (matches_offering(w, overlay, &x->offerings[i]))
            return true;
    return false;
}

/* ---- conflicts, and what is left ---- */

static struct update *update_at(const struct work *w, uint32_t pool, uint32_t type)
{
    return w->updates[(size_t)pool * w->base->n + type];
}

static bool shares_resource(const struct reslist *a, const struct reslist *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (reslist_get(b, a->q[i].name))
            return true;
    return false;
}

static bool conflicts_at(struct work *w, uint32_t overlay, const struct update *u, uint32_t type)
{
    const struct overlay *x = &w->v[overlay];
    const struct itype *it = &w->base->types[type];

    if (x->price.kind != PRICE_AS_IT_IS)
        for (uint32_t i = 0; i < it->n_offerings; i++)
            if (u->prices[i].overlay != NOBODY && u->prices[i].lowest == x->weight &&
                matches_offering(w, overlay, &it->offerings[i]))
                return true;
    /* quirk: only the overlay that came last is remembered */
    return u->last_capacity != NOBODY && w->v[u->last_capacity].weight == x->weight &&
           shares_resource(&x->capacity, &w->v[u->last_capacity].capacity);
}

static bool conflicts(struct work *w, uint32_t overlay)
{
    for (uint32_t p = 0; p < w->n_pools; p++)
        for (uint32_t i = 0; i < w->base->n; i++) {
            const struct update *u = update_at(w, p, i);

            if (u && matches_type(w, overlay, p, i) && conflicts_at(w, overlay, u, i))
                return true;
        }
    return false;
}

static struct update *update_make(struct work *w, uint32_t pool, uint32_t type)
{
    struct update **u = &w->updates[(size_t)pool * w->base->n + type];
    uint32_t n = w->base->types[type].n_offerings;

    if (*u)
        return *u;
    *u = arena_new_one(w->a, struct update);
    (*u)->last_capacity = NOBODY;
    (*u)->prices = arena_new_array(w->a, struct price_update, n);
    for (uint32_t i = 0; i < n; i++)
        (*u)->prices[i].overlay = NOBODY;
    return *u;
}

static void take_price(struct work *w, uint32_t overlay, struct update *u, uint32_t type)
{
    const struct itype *it = &w->base->types[type];

    for (uint32_t i = 0; i < it->n_offerings; i++) {
        if (!matches_offering(w, overlay, &it->offerings[i]))
            continue;
        if (u->prices[i].overlay == NOBODY)
            u->prices[i].overlay = overlay;
        u->prices[i].lowest = w->v[overlay].weight;
        u->any_price = true;
    }
}

static void take_capacity(struct work *w, uint32_t overlay, struct update *u)
{
    const struct reslist *l = &w->v[overlay].capacity;

    for (uint32_t i = 0; i < l->n; i++) {
        bool taken = false;

        for (uint32_t k = 0; k < u->capacity.n; k++)
            taken |= sym_eq(u->capacity.v[k].resource, l->q[i].name);
        if (!taken)
            vec_push(&u->capacity, (struct capacity_update){l->q[i].name, overlay});
    }
    u->last_capacity = overlay;
}

static void take(struct work *w, uint32_t overlay)
{
    const struct overlay *x = &w->v[overlay];

    for (uint32_t p = 0; p < w->n_pools; p++)
        for (uint32_t i = 0; i < w->base->n; i++) {
            if (!matches_type(w, overlay, p, i))
                continue;
            struct update *u = update_make(w, p, i);
            if (x->price.kind != PRICE_AS_IT_IS)
                take_price(w, overlay, u, i);
            if (x->capacity.n)
                take_capacity(w, overlay, u);
        }
}

static bool validate(const struct work *w, const struct overlay *x, struct err *e)
{
    const sym fixed[] = {SYM(CPU), SYM(MEMORY), SYM(EPHEMERAL), SYM(PODS)};

    for (uint32_t i = 0; i < x->n_requirements; i++) {
        const struct req_expr *r = &x->requirements[i];

        if (!req_expr_validate(&w->base->rules, w->t, r, e))
            return false;
        if (r->op == OP_NOT_IN && r->n_vals == 0)
            return err_set(e, ERR_INVALID, "key " STR_FMT " with operator NotIn must have a value defined",
                           STR_ARG(sym_str(w->t, r->key)));
    }
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (reslist_get(&x->capacity, fixed[i]))
            return err_set(e, ERR_INVALID, "invalid capacity: " STR_FMT " is restricted",
                           STR_ARG(sym_str(w->t, fixed[i])));
    return true;
}

static int by_weight(const void *a, const void *b, void *ctx)
{
    const struct overlay *v = ctx, *x = &v[*(const uint32_t *)a], *y = &v[*(const uint32_t *)b];

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return str_cmp(y->name, x->name);
}

static void validate_all(struct work *w, struct arena *a)
{
    struct err e;

    for (uint32_t i = 0; i < w->n; i++) {
        w->verdicts[i] = (struct overlay_verdict){.fate = OVERLAY_APPLIES};
        if (!validate(w, &w->v[i], &e))
            w->verdicts[i] = (struct overlay_verdict){OVERLAY_INVALID, arena_strdup(a, str_c(e.msg))};
    }
}

static void take_all(struct work *w)
{
    uint32_t *order = arena_new_array(w->a, uint32_t, w->n);

    for (uint32_t i = 0; i < w->n; i++)
        order[i] = i;
    sort_stable(order, w->n, sizeof(*order), by_weight, (void *)(uintptr_t)w->v);
    for (uint32_t i = 0; i < w->n; i++) {
        if (!is_valid(w, order[i]))
            continue;
        if (conflicts(w, order[i]))
            w->verdicts[order[i]] = (struct overlay_verdict){OVERLAY_CONFLICTS, STR("conflict with another overlay")};
        else
            take(w, order[i]);
    }
}

/* ---- the catalogue that comes of it ---- */

static bool same_update(const struct work *w, const struct update *a, const struct update *b, uint32_t type)
{
    if (!a || !b)
        return a == b;
    if (a->capacity.n != b->capacity.n)
        return false;
    for (uint32_t i = 0; i < w->base->types[type].n_offerings; i++)
        if (a->prices[i].overlay != b->prices[i].overlay)
            return false;
    for (uint32_t i = 0; i < a->capacity.n; i++)
        if (!sym_eq(a->capacity.v[i].resource, b->capacity.v[i].resource) ||
            a->capacity.v[i].overlay != b->capacity.v[i].overlay)
            return false;
    return true;
}

static struct itype change(const struct work *w, struct arena *a, uint32_t type, const struct update *u)
{
    struct itype x = w->base->types[type];

    if (u && u->any_price) {
        x.price_overlaid = true;
        x.offerings = arena_dup_array(a, struct offering, x.offerings, x.n_offerings);
        for (uint32_t i = 0; i < x.n_offerings; i++)
            if (u->prices[i].overlay != NOBODY)
                x.offerings[i].price_usd_per_h =
                    price_changed(x.offerings[i].price_usd_per_h, w->v[u->prices[i].overlay].price);
    }
    if (u && u->capacity.n) {
        x.capacity_overlaid = true;
        x.capacity = reslist_dup(a, &x.capacity);
        for (uint32_t i = 0; i < u->capacity.n; i++) {
            const struct resq *q = reslist_get(&w->v[u->capacity.v[i].overlay].capacity, u->capacity.v[i].resource);

            reslist_set(a, &x.capacity, q->name, q->v, q->binary);
        }
    }
    return x;
}

/* The type as those pools see it that see it at all: once for each way in which they do. */
static void add_type(const struct work *w, struct arena *a, uint32_t type, uint32_t *seen, struct itype *out,
                     uint32_t *n_out)
{
    const struct itype *base = &w->base->types[type];
    uint32_t first = *n_out;

    for (uint32_t p = 0; p < w->n_pools; p++) {
        uint32_t like = 0;

        if (!itype_is_for(base, w->pools[p].name_sym))
            continue;
        while (!itype_is_for(base, w->pools[like].name_sym) ||
               !same_update(w, update_at(w, like, type), update_at(w, p, type), type))
            like++;
        if (like == p) {
            seen[p] = *n_out;
            out[*n_out] = change(w, a, type, update_at(w, p, type));
            out[*n_out].pools = arena_new_array(a, sym, w->n_pools);
            out[*n_out].n_pools = 0;
            ++*n_out;
        } else {
            seen[p] = seen[like];
        }
        out[seen[p]].pools[out[seen[p]].n_pools++] = w->pools[p].name_sym;
    }
    if (*n_out == first + 1) { /* the same for all who see it */
        out[first].pools = base->pools;
        out[first].n_pools = base->n_pools;
    }
}

static const struct catalog *rebuild(const struct work *w, struct arena *a)
{
    struct catalog *c = arena_dup_array(a, struct catalog, w->base, 1);
    struct itype *out = arena_new_array(w->a, struct itype, (size_t)w->base->n * w->n_pools);
    uint32_t *seen = arena_new_array(w->a, uint32_t, w->n_pools);

    c->n = 0;
    for (uint32_t i = 0; i < w->base->n; i++)
        add_type(w, a, i, seen, out, &c->n);
    c->types = arena_dup_array(a, struct itype, out, c->n);
    return c;
}

const struct catalog *overlays_apply(struct arena *a, const struct syms *t, const struct catalog *base,
                                     const struct nodepool *pools, uint32_t n_pools, const struct overlay *v,
                                     uint32_t n, struct overlay_verdict *ret)
{
    AUTO(arena) struct arena *scratch = arena_new(0);
    struct work w = {
        .a = scratch, .t = t, .base = base, .pools = pools, .n_pools = n_pools, .v = v, .n = n, .verdicts = ret};
    const struct catalog *c = base;
    bool any = false;

    if (n == 0)
        return base;
    reqspace_init(&w.space, scratch, t, &base->rules);
    validate_all(&w, a);
    compile(&w);
    take_all(&w);
    for (size_t i = 0; i < (size_t)n_pools * base->n && !any; i++)
        any = w.updates[i] != NULL;
    if (any)
        c = rebuild(&w, a);
    for (size_t i = 0; i < (size_t)n_pools * base->n; i++)
        if (w.updates[i])
            vec_fini(&w.updates[i]->capacity);
    reqspace_fini(&w.space);
    return c;
}
