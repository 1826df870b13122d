/* What the claims of a question may cost, and which types are left to them (lifecycle 8.10). */
#include <math.h>

#include "plan/whatif_int.h"

/* Spot for spot wants that much choice, or a cheaper spot pool would be chased for ever. */
#define SPOT_TYPES_MIN 15

/* The claims of the open question with all types that packing left them. */
static struct choice *choices(struct whatif *w)
{
    struct packer *k = &w->k;
    uint32_t first = vec_last(&w->marks).mark.claims;

    if (w->choices)
        return w->choices;
    w->choices = arena_new_array(w->answer, struct choice, k->bins.n - first);
    w->n_choices = 0;
    for (uint32_t i = first; i < k->bins.n; i++) {
        struct choice *c = &w->choices[w->n_choices];
        const struct bin *b = &k->bins.v[i];

        if (!claim_is_made(k, b))
            continue;
        *c = (struct choice){.bin = b, .rs = claim_rs(k, b)};
        (void)claim_types(k, c->rs, b->rows, w->answer, &c->types, &c->n_types);
        w->n_choices++;
    }
    return w->choices;
}

/* Keeps the types whose price by `of` is below; they stay in order. */
static void keep_below(struct choice *c, const double *of, double price)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_types; i++)
        if (of[c->types[i]] < price)
            c->types[n++] = c->types[i];
    c->n_types = n;
}

/* The types that cost less wherever they are launched; false: none is left, or minValues no longer hold. */
static bool choose_below(struct whatif *w, struct choice *c, double price)
{
    uint32_t lowered;

    keep_below(c, price_book_of(&w->k, c->rs)->worst, price);
    return types_meet_min_values(&w->k.p, c->rs, c->types, c->n_types, &lowered) && c->n_types > 0;
}

str whatif_missed_values(struct whatif *w, struct arena *a)
{
    for (uint32_t i = 0; i < w->n_choices; i++) {
        const struct choice *c = &w->choices[i];
        uint32_t lowered;

        if (!types_meet_min_values(&w->k.p, c->rs, c->types, c->n_types, &lowered))
            return explain_missed_values(&w->k, c->rs, lowered, a);
    }
    return (str){0};
}

static bool allows(const struct problem *p, uint32_t rs, sym capacity_type)
{
    return req_has(&p->space, rs_get(&p->space, rs, p->ct_key), space_val(&p->space, p->ct_key, capacity_type));
}

static void pin_spot(struct whatif *w, struct choice *c)
{
    struct problem *p = &w->k.p;

    c->rs = rs_add(&p->space, c->rs, req_one(&p->space, p->ct_key, space_val(&p->space, p->ct_key, SYM(SPOT))));
}

/* How many of the cheapest are needed for minValues. */
static uint32_t needed(struct whatif *w, const struct choice *c)
{
    uint32_t n = MIN(c->n_types, (uint32_t)SPOT_TYPES_MIN), lowered;

    while (n < c->n_types && !types_meet_min_values(&w->k.p, c->rs, c->types, n, &lowered))
        n++;
    return n;
}

static enum cheaper too_dear(const struct choice *c)
{
    return c->n_types ? CHEAPER_MIN_VALUES : CHEAPER_NONE;
}

static enum cheaper spot_for_spot(struct whatif *w, struct choice *c, double price, bool alone)
{
    if (!w->k.p.snap->settings.spot_to_spot)
        return CHEAPER_SPOT_OFF;
    pin_spot(w, c);
    keep_below(c, price_book_of(&w->k, c->rs)->price, INFINITY);
    if (!choose_below(w, c, price))
        return too_dear(c);
    if (!alone)
        return CHEAPER_YES;
    if (c->n_types < SPOT_TYPES_MIN)
        return CHEAPER_SPOT_FEW;
    c->n_types = needed(w, c);
    return CHEAPER_YES;
}

static bool has_spot(struct whatif *w, const struct choice *c)
{
    const struct problem *p = &w->k.p;
    const struct price_book *book = price_book_of(&w->k, c->rs);
    uint32_t words = p->space.keys.v[p->ct_key].n_words, spot = space_val(&p->space, p->ct_key, SYM(SPOT));

    for (uint32_t i = 0; i < c->n_types; i++)
        if (bit_test(book->cts + (size_t)c->types[i] * words, spot))
            return true;
    return false;
}

static enum cheaper choose(struct whatif *w, struct choice *c, double price, bool all_spot, bool alone)
{
    const struct problem *p = &w->k.p;

    if (all_spot && allows(p, c->rs, SYM(SPOT)))
        return spot_for_spot(w, c, price, alone);
    if (!choose_below(w, c, price))
        return too_dear(c);
    /* quirk: Karpenter does so even if no type that is left has a spot offering, and then launches nothing. */
    if (allows(p, c->rs, SYM(SPOT)) && allows(p, c->rs, SYM(ON_DEMAND)) && (w->compat || has_spot(w, c)))
        pin_spot(w, c);
    return CHEAPER_YES;
}

/* The least that a launch of the claim might have to pay. */
static double least_worst(struct whatif *w, const struct choice *c)
{
    const double *worst = price_book_of(&w->k, c->rs)->worst;
    double least = INFINITY;

    for (uint32_t i = 0; i < c->n_types; i++)
        least = MIN(least, worst[c->types[i]]);
    return least;
}

/* What is left of the price when every claim takes its cheapest type is shared out evenly: whatever is launched, the
 * sum stays below. */
enum cheaper whatif_cheaper(struct whatif *w, double price, bool all_spot, bool alone, uint32_t *ret_n)
{
    struct choice *v = choices(w);
    enum cheaper verdict = CHEAPER_YES;
    double sum = 0;

    for (uint32_t i = 0; i < w->n_choices; i++)
        sum += w->n_choices > 1 ? least_worst(w, &v[i]) : 0;
    *ret_n = 0;
    for (uint32_t i = 0; i < w->n_choices && verdict == CHEAPER_YES; i++) {
        double share = w->n_choices > 1 ? least_worst(w, &v[i]) + (price - sum) / w->n_choices : price;

        verdict = sum < price ? choose(w, &v[i], share, all_spot, alone) : CHEAPER_NONE;
        *ret_n += v[i].n_types;
    }
    return verdict;
}

bool whatif_below(struct whatif *w, uint32_t i, double price)
{
    return choose_below(w, &choices(w)[i], price);
}

bool whatif_offers(struct whatif *w, uint32_t i, uint32_t type)
{
    const struct choice *c = &choices(w)[i];

    for (uint32_t k = 0; k < c->n_types; k++)
        if (c->types[k] == type)
            return true;
    return false;
}

double whatif_price(struct whatif *w, uint32_t i)
{
    const struct choice *c = &choices(w)[i];
    const double *of = price_book_of(&w->k, c->rs)->price;
    double price = INFINITY;

    /* quirk: Karpenter looks at the first type alone, which need not be to be had since the claim was pinned to spot. */
    for (uint32_t t = 0; t < (w->compat ? MIN(c->n_types, 1u) : c->n_types); t++)
        price = MIN(price, of[c->types[t]]);
    return isfinite(price) ? price : 0;
}

struct plan_claim *whatif_claims(struct whatif *w, struct arena *a)
{
    const struct choice *v = choices(w);
    struct plan_claim *out = arena_new_array(a, struct plan_claim, w->n_choices);

    for (uint32_t i = 0; i < w->n_choices; i++)
        packer_claim(&w->k, v[i].bin, v[i].rs, v[i].types, v[i].n_types, &out[i], a);
    return out;
}
