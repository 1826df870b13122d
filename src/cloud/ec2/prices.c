/* prices - one row per type. Spot prices of a row are by number of the zone: there are a few zones in a region, and most types are in most of them. */
#include "cloud/ec2/prices.h"

#include <math.h>

#include "base/map.h"
#include "base/vec.h"
#include "cloud/ec2/facts.h"

#define UNKNOWN UINT32_MAX

struct row {
    double on_demand; /* NAN: none */
    double first;     /* the spot price for any zone, until zones have prices of their own; NAN: none */
    VEC(double) spot; /* by zone; NAN: none */
};

struct ec2_prices {
    struct arena *names;
    struct strmap types, zones;
    VEC(struct row) rows;
    uint32_t n_zones;
    uint64_t version;
    bool zonal; /* spot prices were set */
};

static uint32_t row_of(struct ec2_prices *p, str type)
{
    uint32_t ix = strmap_get(&p->types, type);

    if (ix != MAP_NONE)
        return ix;
    vec_push(&p->rows, (struct row){.on_demand = NAN, .first = NAN});
    strmap_put(&p->types, arena_strdup(p->names, type), p->rows.n - 1);
    return p->rows.n - 1;
}

static uint32_t zone_of(struct ec2_prices *p, str zone)
{
    uint32_t ix = strmap_get(&p->zones, zone);

    if (ix != MAP_NONE)
        return ix;
    strmap_put(&p->zones, arena_strdup(p->names, zone), p->n_zones);
    return p->n_zones++;
}

struct ec2_prices *ec2_prices_new(str region)
{
    struct ec2_prices *p = xcalloc(1, sizeof(*p));
    const struct ec2_fact *facts;
    uint32_t n = ec2_facts(&facts), in = ec2_fact_region(region);

    p->names = arena_new(1u << 14);
    p->version = 1;
    vec_reserve(&p->rows, n);
    for (uint32_t i = 0; i < n; i++)
        if (facts[i].price[in] > 0) {
            struct row *r = &p->rows.v[row_of(p, str_c(facts[i].type))];

            r->on_demand = r->first = facts[i].price[in];
        }
    return p;
}

void ec2_prices_free(struct ec2_prices *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->rows.n; i++)
        vec_fini(&p->rows.v[i].spot);
    vec_fini(&p->rows);
    strmap_fini(&p->types);
    strmap_fini(&p->zones);
    arena_free(p->names);
    free(p);
}

static bool usable(double price)
{
    return isfinite(price) && price > 0;
}

/* Also true when there was none before. */
static bool replace(double *at, double price)
{
    if (*at == price) /* never so when it is NAN */
        return false;
    *at = price;
    return true;
}

bool ec2_prices_set_on_demand(struct ec2_prices *p, const struct aws_price *v, uint32_t n)
{
    bool any = false, changed = false;

    for (uint32_t i = 0; i < n; i++)
        if (v[i].type.n && usable(v[i].per_hour)) {
            any = true;
            changed |= replace(&p->rows.v[row_of(p, v[i].type)].on_demand, v[i].per_hour);
        }
    p->version += changed;
    return any;
}

bool ec2_prices_set_spot(struct ec2_prices *p, const struct ec2_spot_price *v, uint32_t n)
{
    bool any = false, changed = false;

    for (uint32_t i = 0; i < n; i++) {
        if (!v[i].type.n || !v[i].zone.n || !usable(v[i].usd) || v[i].at_ms == INT64_MIN)
            continue;
        struct row *r = &p->rows.v[row_of(p, v[i].type)];
        uint32_t zone = zone_of(p, v[i].zone);

        while (r->spot.n <= zone)
            vec_push(&r->spot, NAN);
        any = true;
        changed |= replace(&r->spot.v[zone], v[i].usd);
    }
    changed |= any && !p->zonal;
    p->zonal |= any;
    p->version += changed;
    return any;
}

uint64_t ec2_prices_version(const struct ec2_prices *p)
{
    return p->version;
}

uint32_t ec2_prices_type(const struct ec2_prices *p, str type)
{
    return strmap_get(&p->types, type);
}

uint32_t ec2_prices_zone(const struct ec2_prices *p, str zone)
{
    return strmap_get(&p->zones, zone);
}

double ec2_price_on_demand_at(const struct ec2_prices *p, uint32_t type)
{
    return type == UNKNOWN ? (double)NAN : p->rows.v[type].on_demand;
}

double ec2_price_spot_at(const struct ec2_prices *p, uint32_t type, uint32_t zone)
{
    if (type == UNKNOWN)
        return NAN;
    const struct row *r = &p->rows.v[type];

    if (!p->zonal)
        return r->first;
    return zone < r->spot.n ? r->spot.v[zone] : (double)NAN;
}

double ec2_price_on_demand(const struct ec2_prices *p, str type)
{
    return ec2_price_on_demand_at(p, ec2_prices_type(p, type));
}

double ec2_price_spot(const struct ec2_prices *p, str type, str zone)
{
    return ec2_price_spot_at(p, ec2_prices_type(p, type), ec2_prices_zone(p, zone));
}
