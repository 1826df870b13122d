#include "cloud/ec2/choose.h"

#include <math.h>

#include "base/map.h"
#include "base/vec.h"
#include "cloud/ec2/choose_int.h"

#define MAX_TYPES 60 /* of one fleet request */

/* ---- what the claim says ---- */

static bool allows(const struct chooser *x, sym key, sym val)
{
    uint32_t k = space_key(&x->s, key), r = k == KEY_NONE ? REQ_NONE : rs_get(&x->s, x->want, k), v;

    if (r == REQ_NONE)
        return true;
    v = space_val(&x->s, k, val);
    return v != VAL_NONE && req_has(&x->s, r, v);
}

static void announce(struct reqspace *s, const struct req_expr *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        reqspace_expr(s, &v[i]);
}

/* A claim of the scheduler's lists its types: no other one has to be looked at. */
static bool is_listed(const struct nodeclaim *c, sym type)
{
    for (uint32_t i = 0; i < c->n_requirements; i++) {
        const struct req_expr *r = &c->requirements[i];
        bool found = false;

        if (!sym_eq(r->key, SYM(ITYPE)) || r->op != OP_IN)
            continue;
        for (uint32_t v = 0; v < r->n_vals && !found; v++)
            found = sym_eq(r->vals[v], type);
        if (!found)
            return false;
    }
    return true;
}

static void chooser_init(struct chooser *x, struct arena *scratch, const struct ec2_choose_input *in)
{
    static const sym ways[] = {{SYM_IX_ON_DEMAND}, {SYM_IX_SPOT}, {SYM_IX_RESERVED}};
    const struct nodeclaim *c = in->claim;

    x->in = in;
    x->reservation = ec2_label_key(in->syms, EC2_L_RESERVATION_ID);
    x->kind = ec2_label_key(in->syms, EC2_L_RESERVATION_TYPE);
    x->interruptible = ec2_label_key(in->syms, EC2_L_RESERVATION_INTERRUPTIBLE);
    x->tenancy = ec2_label_key(in->syms, EC2_L_TENANCY);
    x->partition = ec2_label_key(in->syms, EC2_L_PLACEMENT_PARTITION);
    x->capacity_block = sym_of(in->syms, STR("capacity-block"));
    x->yes = sym_of(in->syms, STR("true"));
    reqspace_init(&x->s, scratch, in->syms, in->rules);
    announce(&x->s, c->requirements, c->n_requirements);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        reqspace_value(&x->s, SYM(CT), ways[i]);
    reqspace_value(&x->s, x->tenancy, SYM(DEFAULT));
    reqspace_value(&x->s, x->tenancy, sym_of(in->syms, STR("dedicated")));
    for (uint32_t i = 0; i < in->n; i++) {
        const struct itype *t = &in->types[i];

        if (!is_listed(c, t->name))
            continue;
        announce(&x->s, t->requirements, t->n_requirements);
        for (uint32_t o = 0; o < t->n_offerings; o++)
            announce(&x->s, t->offerings[o].requirements, t->offerings[o].n_requirements);
    }
    reqspace_freeze(&x->s);
    x->want = rs_of_exprs(&x->s, c->requirements, c->n_requirements);
    x->allows_reserved = allows(x, SYM(CT), SYM(RESERVED));
    x->allows_spot = allows(x, SYM(CT), SYM(SPOT));
    x->allows_on_demand = allows(x, SYM(CT), SYM(ON_DEMAND));
    x->has_min_values = rs_has_min_values(&x->s, x->want);
}

/* ---- offers ---- */

static struct ec2_offer offer_of(struct chooser *x, const struct offering *o)
{
    struct ec2_offer r = {.offering = o};

    for (uint32_t i = 0; i < o->n_requirements; i++) {
        const struct req_expr *q = &o->requirements[i];
        sym v = q->op == OP_IN && q->n_vals == 1 ? q->vals[0] : SYM(NONE);

        if (sym_eq(q->key, SYM(CT)))
            r.capacity_type = v;
        else if (sym_eq(q->key, SYM(ZONE)))
            r.zone = v;
        else if (sym_eq(q->key, x->reservation))
            r.reservation = v;
        else if (sym_eq(q->key, x->kind))
            r.kind = v;
        else if (sym_eq(q->key, x->interruptible))
            r.interruptible = sym_eq(v, x->yes);
    }
    r.fits = o->available &&
             rs_compatible(&x->s, x->want, rs_of_exprs(&x->s, o->requirements, o->n_requirements), COMPAT_LENIENT);
    return r;
}

/* The requests fit what pods can have on the machine. */
static bool has_room(struct arena *a, const struct itype *t, const struct offering *o, const struct reslist *requests)
{
    struct reslist room = reslist_dup(a, &t->capacity);

    reslist_add(a, &room, &o->capacity_override);
    reslist_sub(&room, &t->overhead);
    reslist_sub(&room, &o->overhead_override);
    for (uint32_t i = 0; i < room.n; i++)
        if (room.q[i].v < 0)
            return false;
    for (uint32_t i = 0; i < requests->n; i++)
        if (requests->q[i].v > reslist_value(&room, requests->q[i].name))
            return false;
    return true;
}

double option_price(const struct ec2_option *o)
{
    double best = INFINITY;

    for (uint32_t i = 0; i < o->n_offers; i++)
        if (o->offers[i].fits)
            best = MIN(best, o->offers[i].offering->price_usd_per_h);
    return best;
}

/* Filter 1: what the claim may have at all, and is there now. */
static void options_init(struct chooser *x, struct arena *a, struct arena *scratch)
{
    const struct ec2_choose_input *in = x->in;

    x->v = arena_new_array(a, struct ec2_option, in->n);
    for (uint32_t i = 0; i < in->n; i++) {
        const struct itype *t = &in->types[i];
        struct ec2_option option = {.type = t, .detail = &in->detail[i], .n_offers = t->n_offerings};
        bool fits = false;

        if (!is_listed(in->claim, t->name) ||
            !rs_compatible(&x->s, x->want, rs_of_exprs(&x->s, t->requirements, t->n_requirements), COMPAT_LENIENT))
            continue;
        option.offers = arena_new_array(a, struct ec2_offer, t->n_offerings);
        for (uint32_t o = 0; o < t->n_offerings; o++) {
            option.offers[o] = offer_of(x, &t->offerings[o]);
            fits = fits || (option.offers[o].fits && has_room(scratch, t, &t->offerings[o], &in->claim->requests));
        }
        if (fits)
            x->v[x->n++] = option;
    }
}

/* ---- the cheapest sixty ---- */

static int by_price(const void *a, const void *b, void *ctx)
{
    const struct ec2_option *x = a, *y = b;

    if (x->price < y->price || x->price > y->price)
        return x->price < y->price ? -1 : 1;
    return str_cmp(sym_str(ctx, x->type->name), sym_str(ctx, y->type->name));
}

/* How many values of the key the types have among them. */
static uint32_t n_values(const struct chooser *x, sym key)
{
    struct u64map seen = {0};
    uint32_t n;

    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t r = 0; r < x->v[i].type->n_requirements; r++) {
            const struct req_expr *q = &x->v[i].type->requirements[r];

            for (uint32_t v = 0; sym_eq(q->key, key) && q->op == OP_IN && v < q->n_vals; v++)
                u64map_put(&seen, q->vals[v].v, 0);
        }
    n = seen.n;
    u64map_fini(&seen);
    return n;
}

static bool truncate(struct chooser *x, struct err *e)
{
    const struct nodeclaim *c = x->in->claim;
    struct sb missing = {0};

    for (uint32_t i = 0; i < x->n; i++)
        x->v[i].price = option_price(&x->v[i]);
    sort_stable(x->v, x->n, sizeof(*x->v), by_price, x->in->syms);
    x->n = MIN(x->n, (uint32_t)MAX_TYPES);
    for (uint32_t i = 0; i < c->n_requirements && !x->in->best_effort; i++)
        if (c->requirements[i].min_values > 0 &&
            n_values(x, c->requirements[i].key) < (uint32_t)c->requirements[i].min_values)
            sb_printf(&missing, "%s" STR_FMT, missing.n ? " " : "",
                      STR_ARG(sym_str(x->in->syms, c->requirements[i].key)));
    bool ok = missing.n == 0;
    if (!ok)
        (void)err_set(e, ERR_CAPACITY,
                      "truncating instance types based on the passed-in requirements, validating minValues, minValues "
                      "requirement is not met for label(s) (label(s)=[" STR_FMT "])",
                      STR_ARG(sb_view(&missing)));
    sb_fini(&missing);
    return ok;
}

/* ---- how to buy ---- */

static bool any_offer(const struct chooser *x, sym capacity_type)
{
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t o = 0; o < x->v[i].n_offers; o++)
            if (x->v[i].offers[o].fits && sym_eq(x->v[i].offers[o].capacity_type, capacity_type))
                return true;
    return false;
}

static sym way_to_buy(const struct chooser *x)
{
    if (x->allows_reserved && any_offer(x, SYM(RESERVED)))
        return SYM(RESERVED);
    return x->allows_spot && any_offer(x, SYM(SPOT)) ? SYM(SPOT) : SYM(ON_DEMAND);
}

static const char *tenancy_of(const struct chooser *x)
{
    if (allows(x, x->tenancy, SYM(DEFAULT)) || !allows(x, x->tenancy, sym_of(x->in->syms, STR("dedicated"))))
        return "default";
    return "dedicated";
}

/* quirk: the first as text, so that 10 comes before 2 (aws 12, 14). */
static str partition_of(const struct chooser *x)
{
    uint32_t key = space_key(&x->s, x->partition), r = key == KEY_NONE ? REQ_NONE : rs_get(&x->s, x->want, key);

    if (r == REQ_NONE || req_op(&x->s, r) != OP_IN)
        return (str){0};
    for (uint32_t v = 0; v < x->s.keys.v[key].n_vals; v++) /* in byte order */
        if (req_has(&x->s, r, v))
            return sym_str(x->in->syms, x->s.keys.v[key].vals[v]);
    return (str){0};
}

static bool choose(struct chooser *x, struct arena *a, struct arena *scratch, struct err *e)
{
    options_init(x, a, scratch);
    if (x->n == 0 || !choose_filter(x, a))
        return err_set(e, ERR_CAPACITY, "all requested instance types were unavailable during launch");
    return truncate(x, e);
}

bool ec2_choose(struct arena *a, const struct ec2_choose_input *in, struct ec2_choice *ret, struct err *e)
{
    AUTO(arena) struct arena *scratch = arena_new(0);
    struct chooser x = {0};

    chooser_init(&x, scratch, in);
    bool ok = choose(&x, a, scratch, e);
    if (ok)
        *ret = (struct ec2_choice){
            .v = x.v,
            .n = x.n,
            .capacity_type = way_to_buy(&x),
            .tenancy = tenancy_of(&x),
            .partition = partition_of(&x),
            .allows_spot = x.allows_spot,
            .has_min_values = x.has_min_values,
        };
    reqspace_fini(&x.s);
    return ok;
}
