/* What is left out of a launch, one filter after the other (aws 4.3). Offerings are shared: a filter makes a shorter list of them, and changes none. */
#include <math.h>

#include "cloud/ec2/choose_int.h"

/* ---- lists ---- */

typedef bool (*offer_test)(const struct chooser *x, const struct ec2_offer *o, const void *ctx);

static void keep_offers(const struct chooser *x, struct arena *a, struct ec2_option *o, offer_test keep,
                        const void *ctx)
{
    struct ec2_offer *left = arena_new_array(a, struct ec2_offer, o->n_offers);
    uint32_t n = 0;

    for (uint32_t i = 0; i < o->n_offers; i++)
        if (keep(x, &o->offers[i], ctx))
            left[n++] = o->offers[i];
    o->offers = left;
    o->n_offers = n;
}

static bool has_offer(const struct chooser *x, const struct ec2_option *o, offer_test test, const void *ctx)
{
    for (uint32_t i = 0; i < o->n_offers; i++)
        if (test(x, &o->offers[i], ctx))
            return true;
    return false;
}

static bool is_reserved(const struct ec2_offer *o)
{
    return sym_eq(o->capacity_type, SYM(RESERVED));
}

/* ---- 2: one kind of reservation ---- */

struct part { /* of the reservations */
    sym kind;
    bool interruptible;
};

static bool in_part(const struct chooser *x UNUSED, const struct ec2_offer *o, const void *ctx)
{
    const struct part *p = ctx;

    return is_reserved(o) && sym_eq(o->kind, p->kind) && o->interruptible == p->interruptible;
}

static bool fits_part(const struct chooser *x, const struct ec2_offer *o, const void *ctx)
{
    return o->fits && in_part(x, o, ctx);
}

static void one_kind_of_reservation(struct chooser *x, struct arena *a)
{
    const struct part parts[] = {{SYM(DEFAULT), false}, {x->capacity_block, false}, {SYM(DEFAULT), true}};
    const struct part *best = NULL;
    double best_price = INFINITY;
    uint32_t n = 0;

    for (size_t p = 0; p < ARRAY_LEN(parts); p++)
        for (uint32_t i = 0; i < x->n; i++)
            for (uint32_t o = 0; o < x->v[i].n_offers; o++) {
                const struct ec2_offer *offer = &x->v[i].offers[o];

                if (fits_part(x, offer, &parts[p]) && (!best || offer->offering->price_usd_per_h < best_price)) {
                    best = &parts[p];
                    best_price = offer->offering->price_usd_per_h;
                }
            }
    if (!best)
        return;
    for (uint32_t i = 0; i < x->n; i++)
        if (has_offer(x, &x->v[i], fits_part, best)) {
            keep_offers(x, a, &x->v[i], in_part, best);
            x->v[n++] = x->v[i];
        }
    x->n = n;
}

/* ---- 3: one capacity block ---- */

static bool is_offer(const struct chooser *x UNUSED, const struct ec2_offer *o, const void *ctx)
{
    return o->offering == ctx;
}

/* After filter 2 blocks fit only where nothing else is left. Where none does, all are used up or about to end, and the claim has what it allows besides: there is nothing to
 * choose here. */
static void one_capacity_block(struct chooser *x, struct arena *a)
{
    const struct offering *best = NULL;
    struct ec2_option option = {0};

    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t o = 0; o < x->v[i].n_offers; o++) {
            const struct ec2_offer *offer = &x->v[i].offers[o];

            if (offer->fits && sym_eq(offer->kind, x->capacity_block) &&
                (!best || offer->offering->price_usd_per_h < best->price_usd_per_h)) {
                best = offer->offering;
                option = x->v[i];
            }
        }
    if (!best)
        return;
    keep_offers(x, a, &option, is_offer, best);
    x->v[0] = option;
    x->n = 1;
}

/* ---- 4: in each zone the reservation that has most left ---- */

struct zone_best {
    const struct ec2_option *option;
};

static bool is_best_of_zone(const struct chooser *x UNUSED, const struct ec2_offer *o, const void *ctx)
{
    const struct ec2_option *option = ((const struct zone_best *)ctx)->option;

    if (!o->fits || !is_reserved(o))
        return false;
    for (uint32_t i = 0; i < option->n_offers; i++) {
        const struct ec2_offer *other = &option->offers[i];
        int32_t mine = o->offering->reservation_capacity, theirs = other->offering->reservation_capacity;

        if (!other->fits || !is_reserved(other) || !sym_eq(other->zone, o->zone) || other->offering == o->offering)
            continue;
        if (theirs > mine || (theirs == mine && other->offering < o->offering)) /* of equals the first */
            return false;
    }
    return true;
}

static void best_reservations(struct chooser *x, struct arena *a)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n; i++) {
        struct ec2_option option = x->v[i];
        struct zone_best ctx = {&x->v[i]};

        keep_offers(x, a, &option, is_best_of_zone, &ctx);
        if (option.n_offers == 0)
            continue;
        x->v[n++] = option; /* n is never ahead of i */
    }
    if (n)
        x->n = n;
}

/* ---- 5: nothing exotic ---- */

static bool is_exotic(const struct chooser *x, const struct ec2_option *o)
{
    static const char *const rare[] = {"aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "amd.com/gpu",
                                       "nvidia.com/gpu", "habana.ai/gaudi"};
    str family, size;

    (void)str_cut(sym_str(x->in->syms, o->type->name), '.', &family, &size);
    if (str_contains(size, STR("metal")))
        return true;
    for (uint32_t i = 0; i < o->type->capacity.n; i++)
        for (size_t r = 0; r < ARRAY_LEN(rare); r++)
            if (o->type->capacity.q[i].v != 0 && str_is(sym_str(x->in->syms, o->type->capacity.q[i].name), rare[r]))
                return true;
    return false;
}

static void nothing_exotic(struct chooser *x)
{
    uint32_t n_plain = 0, n = 0;

    for (uint32_t i = 0; i < x->n; i++)
        n_plain += !is_exotic(x, &x->v[i]);
    if (n_plain == 0 || n_plain == x->n)
        return;
    for (uint32_t i = 0; i < x->n; i++)
        if (!is_exotic(x, &x->v[i]))
            x->v[n++] = x->v[i];
    x->n = n;
}

/* ---- 6: no spot that costs more than on demand ---- */

static double cheapest(const struct chooser *x, sym capacity_type)
{
    double best = INFINITY;

    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t o = 0; o < x->v[i].n_offers; o++)
            if (x->v[i].offers[o].fits && sym_eq(x->v[i].offers[o].capacity_type, capacity_type))
                best = MIN(best, x->v[i].offers[o].offering->price_usd_per_h);
    return best;
}

static bool is_worth_it(const struct chooser *x UNUSED, const struct ec2_offer *o, const void *ctx)
{
    const double *most = ctx;

    return !sym_eq(o->capacity_type, SYM(SPOT)) || o->offering->price_usd_per_h <= *most;
}

static void no_dear_spot(struct chooser *x, struct arena *a)
{
    double most = cheapest(x, SYM(ON_DEMAND));
    uint32_t n = 0;

    if (isinf(most) || isinf(cheapest(x, SYM(SPOT))))
        return;
    for (uint32_t i = 0; i < x->n; i++) {
        keep_offers(x, a, &x->v[i], is_worth_it, &most);
        if (x->v[i].n_offers)
            x->v[n++] = x->v[i];
    }
    x->n = n;
}

bool choose_filter(struct chooser *x, struct arena *a)
{
    if (x->allows_reserved) {
        one_kind_of_reservation(x, a);
        one_capacity_block(x, a);
        best_reservations(x, a);
    }
    if (!x->has_min_values) {
        nothing_exotic(x);
        if (x->allows_spot && x->allows_on_demand)
            no_dear_spot(x, a);
    }
    return x->n > 0;
}
