/* market - spot prices that move, and how much of each type there is to be had. */
#include <math.h>

#include "sim/aws/account.h"

#define STEP 0.06           /* the most that a price moves at a time, as a share */
#define SWING 0.4           /* how far from where it began, as a share */
#define MOST_OF_DEMAND 0.95 /* spot is cheaper than on demand */

/* Up to here machines cost what they did: called before prices change. */
static void settle_all(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->machine_list.n; i++)
        machine_settle(s->machine_list.v[i]);
}

static void price_set(struct sim_aws *s, struct pool *p, double usd)
{
    p->spot = usd;
    if (p->n_past == AWS_MAX_HISTORY) {
        memmove(&p->past[0], &p->past[1], (AWS_MAX_HISTORY - 1) * sizeof(p->past[0]));
        p->n_past--;
    }
    p->past[p->n_past++] = (struct spot_price){.at_ms = account_now_ms(s), .usd = usd};
}

static void walk(void *ctx)
{
    struct sim_aws *s = ctx;

    settle_all(s);
    for (uint32_t i = 0; i < s->pools.n; i++) {
        struct pool *p = &s->pools.v[i];
        double turn = (double)(world_random(s->w) >> 11) / 9007199254740992.0 * 2 - 1;

        if (isnan(p->spot))
            continue;
        double low = p->spot_given * (1 - SWING), high = p->spot_given * (1 + SWING);

        if (!isnan(p->on_demand))
            high = fmax(low, fmin(high, p->on_demand * MOST_OF_DEMAND));
        price_set(s, p, fmin(fmax(p->spot * (1 + STEP * turn), low), high));
    }
    timer_set(s->w, &s->walk, s->o.walk_ms * 1000);
}

void market_start(struct sim_aws *s)
{
    s->walk = (struct timer){.fn = walk, .ctx = s};
    if (s->o.walk_ms > 0)
        timer_set(s->w, &s->walk, s->o.walk_ms * 1000);
}

void sim_aws_set_spot_price(struct sim_aws *s, str type, str zone, double usd_per_h)
{
    struct pool *p = account_pool(s, type, zone);

    if (!p)
        return;
    settle_all(s);
    price_set(s, p, usd_per_h);
}

uint32_t sim_aws_set_pool(struct sim_aws *s, str type, str zone, str capacity_type, int64_t more)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->pools.n; i++) {
        struct pool *p = &s->pools.v[i];

        if ((type.n == 0 || str_eq(type, p->type)) && (zone.n == 0 || str_eq(zone, p->zone))) {
            p->more[str_is(capacity_type, "spot")] = MAX(more, -1);
            n++;
        }
    }
    return n;
}

void sim_aws_drain_pool(struct sim_aws *s, str type, str zone, str capacity_type)
{
    (void)sim_aws_set_pool(s, type, zone, capacity_type, 0);
}
