/* offerings - where and how each type can be bought, at what price, and whether it can be had now (aws 5.6).
 *
 * What an offering asks of labels depends on zone and capacity type alone, or on a reservation: those requirements are built once for a class, and all types
 * point to them. What is left for each type is a price and a yes or no, which is worked out anew whenever something that they come from has changed.
 */
#include <math.h>

#include "cloud/catalog.h"
#include "cloud/ec2/types_int.h"
#include "model/overlay.h"

#define RESERVED_DISCOUNT 10000000.0 /* paid for already: nearly nothing, and still in the order of size */

struct asked {             /* of an offering's labels, for each partition */
    struct req_expr *reqs; /* n each, one partition after the other */
    uint32_t n;
};

struct reserved_offer { /* beside class->status.reservations */
    struct asked asked;
    uint32_t type_ix, zone_ix; /* UINT32_MAX: unknown to EC2 */
};

struct ec2_offers {
    const struct zone_view *zones;  /* beside universe.zones */
    struct asked *on_demand, *spot; /* by zone */
    struct reserved_offer *reserved;
    uint32_t n_reserved;
    uint32_t n_copies; /* of each offering: one, or one for every partition */
    uint64_t print;    /* of what the offerings were worked out from */
    int64_t until_ms;  /* they hold so long; INT64_MIN: there are none yet */
};

/* ---- requirements, once for a class ---- */

static struct asked ask(struct build *b, const struct req_expr *x, uint32_t n, uint32_t n_partitions)
{
    uint32_t copies = MAX(n_partitions, 1u), each = n + (n_partitions ? 1 : 0);
    struct asked r = {.reqs = arena_new_array(b->a, struct req_expr, (size_t)each * copies), .n = each};

    for (uint32_t i = 0; i < copies; i++) {
        memcpy(&r.reqs[(size_t)i * each], x, n * sizeof(*x));
        if (n_partitions) {
            sym partition = sym_of(b->t, arena_printf(b->a, "%u", i + 1));

            r.reqs[(size_t)i * each + n] = catalog_req(b->a, b->keys[EC2_L_PLACEMENT_PARTITION], &partition, 1);
        }
    }
    return r;
}

/* Capacity type and place; the answer is how many requirements that makes. */
static uint32_t ask_place(struct build *b, struct req_expr *x, sym capacity_type, sym zone, sym zone_id)
{
    uint32_t n = 0;

    x[n++] = catalog_req(b->a, SYM(CT), &capacity_type, 1);
    x[n++] = catalog_req(b->a, SYM(ZONE), &zone, 1);
    if (sym_some(zone_id))
        x[n++] = catalog_req(b->a, b->keys[EC2_L_ZONE_ID], &zone_id, 1);
    return n;
}

static struct asked ask_zone(struct build *b, sym capacity_type, const struct zone_view *z, uint32_t n_partitions)
{
    struct req_expr x[6];
    uint32_t n = ask_place(b, x, capacity_type, z->name, z->id);

    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_ID], NULL, 0);
    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_TYPE], NULL, 0);
    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_INTERRUPTIBLE], NULL, 0);
    return ask(b, x, n, n_partitions);
}

static struct asked ask_reservation(struct build *b, const struct ec2_class_reservation *r, sym zone_id,
                                    uint32_t n_partitions)
{
    sym id = sym_of(b->t, r->id), kind = sym_of(b->t, r->kind), interruptible = r->interruptible ? b->yes : b->no;
    struct req_expr x[6];
    uint32_t n = ask_place(b, x, SYM(RESERVED), sym_of(b->t, r->zone), zone_id);

    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_ID], &id, 1);
    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_TYPE], &kind, 1);
    x[n++] = catalog_req(b->a, b->keys[EC2_L_RESERVATION_INTERRUPTIBLE], &interruptible, 1);
    return ask(b, x, n, n_partitions);
}

void offers_init(struct build *b, struct ec2_types *types)
{
    const struct ec2_universe *u = b->in->universe;
    const struct ec2_class *k = b->in->class;
    uint32_t n_partitions = ec2_partitions(b->in->placement);
    struct ec2_offers *o = arena_new_one(b->a, struct ec2_offers);

    o->zones = b->zones;
    o->n_copies = MAX(n_partitions, 1u);
    o->on_demand = arena_new_array(b->a, struct asked, u->n_zones);
    o->spot = arena_new_array(b->a, struct asked, u->n_zones);
    for (uint32_t z = 0; z < u->n_zones; z++) {
        o->on_demand[z] = ask_zone(b, SYM(ON_DEMAND), &b->zones[z], n_partitions);
        o->spot[z] = ask_zone(b, SYM(SPOT), &b->zones[z], n_partitions);
    }
    o->n_reserved = k->status.n_reservations;
    o->reserved = arena_new_array(b->a, struct reserved_offer, o->n_reserved);
    for (uint32_t i = 0; i < o->n_reserved; i++) {
        const struct ec2_class_reservation *r = &k->status.reservations[i];
        uint32_t z = 0;

        while (z < u->n_zones && !str_eq(u->zones[z], r->zone))
            z++;
        o->reserved[i] = (struct reserved_offer){
            .asked = ask_reservation(b, r, z < u->n_zones ? b->zones[z].id : SYM(NONE), n_partitions),
            .type_ix = b->reservation_type[i],
            .zone_ix = z < u->n_zones ? z : UINT32_MAX,
        };
    }
    o->until_ms = INT64_MIN;
    types->offers = o;
}

/* ---- prices and availability, as often as they change ---- */

struct round {
    const struct ec2_types_input *in;
    const struct ec2_offers *o;
    bool *shifted;        /* by zone */
    bool *here;           /* by zone: the type at hand can be had in it */
    uint32_t *price_zone; /* by zone: its number in prices */
    bool any_unavailable;
    struct offering *draft; /* of the type at hand */
    uint32_t n_draft;
};

static bool shifted(const struct ec2_types_input *in, const struct zone_view *z)
{
    for (uint32_t i = 0; i < in->n_shifted_zones; i++)
        if (z->id_text.n && str_eq(in->shifted_zones[i], z->id_text))
            return true;
    return false;
}

static int32_t left_of(const struct ec2_types_input *in, str reservation)
{
    for (uint32_t i = 0; i < in->n_reserved; i++)
        if (str_eq(in->reserved[i].id, reservation))
            return in->reserved[i].left;
    return 0;
}

static double overlay_price(const struct ec2_types_input *in, str type)
{
    return in->overlay_price ? in->overlay_price(in->overlay_ctx, type) : (double)NAN;
}

static void put(struct round *r, const struct asked *asked, struct offering o)
{
    for (uint32_t i = 0; i < r->o->n_copies; i++) {
        o.requirements = &asked->reqs[(size_t)i * asked->n];
        o.n_requirements = asked->n;
        r->draft[r->n_draft++] = o;
    }
}

static bool marked(const struct round *r, str type, const char *capacity_type, uint32_t zone)
{
    const struct zone_view *z = &r->o->zones[zone];
    struct ec2_offering_key key = {.capacity_type = str_c(capacity_type), .type = type, .zone = z->text};

    if (!r->any_unavailable)
        return false;
    if (r->in->placement)
        key.placement = r->in->placement->id;
    return ec2_unavailable_is(r->in->unavailable, &key, z->subnets, z->n_subnets, r->in->now_ms);
}

static void put_zone(struct round *r, const struct ec2_type_detail *d, const char *capacity_type, uint32_t zone,
                     const struct asked *asked, double price)
{
    if (isnan(price))
        price = overlay_price(r->in, d->info->name);

    bool available = d->compatible && !isnan(price) && r->here[zone] && !r->shifted[zone];

    put(r, asked,
        (struct offering){
            .price_usd_per_h = isnan(price) ? 0 : price,
            .available = available && !marked(r, d->info->name, capacity_type, zone),
        });
}

static void put_reserved(struct round *r, const struct ec2_type_detail *d, uint32_t i, double on_demand)
{
    const struct ec2_class_reservation *res = &r->in->class->status.reservations[i];
    const struct reserved_offer *o = &r->o->reserved[i];
    int32_t left = left_of(r->in, res->id);
    bool there = o->zone_ix != UINT32_MAX && r->here[o->zone_ix] && !r->shifted[o->zone_ix];

    put(r, &o->asked,
        (struct offering){
            .price_usd_per_h = isnan(on_demand) ? 0 : on_demand / RESERVED_DISCOUNT,
            .available = d->compatible && left != 0 && there && !str_is(res->state, "expiring"),
            .reservation_capacity = left,
        });
}

static void draft_type(struct round *r, const struct ec2_type_detail *d, uint32_t ix)
{
    const struct ec2_universe *u = r->in->universe;
    const struct ec2_type_zones *where = &u->where[ix];
    uint32_t ways = ec2_ways_to_buy(d->info), priced = ec2_prices_type(r->in->prices, d->info->name);
    double on_demand = ec2_price_on_demand_at(r->in->prices, priced);

    r->n_draft = 0;
    memset(r->here, 0, u->n_zones * sizeof(*r->here));
    for (uint32_t i = 0; i < where->n; i++)
        r->here[where->v[i]] = r->o->zones[where->v[i]].n_subnets > 0;
    for (uint32_t z = 0; z < u->n_zones; z++) {
        if (ways & BUY_ON_DEMAND)
            put_zone(r, d, "on-demand", z, &r->o->on_demand[z], on_demand);
        if (ways & BUY_SPOT)
            put_zone(r, d, "spot", z, &r->o->spot[z], ec2_price_spot_at(r->in->prices, priced, r->price_zone[z]));
    }
    for (uint32_t i = 0; i < r->o->n_reserved && r->in->reserved_capacity; i++)
        if (r->o->reserved[i].type_ix == ix)
            put_reserved(r, d, i, on_demand);
}

static bool is_as_drafted(const struct round *r, const struct itype *it)
{
    if (it->n_offerings != r->n_draft)
        return false;
    for (uint32_t i = 0; i < r->n_draft; i++) {
        const struct offering *x = &it->offerings[i], *y = &r->draft[i];

        if (x->requirements != y->requirements || x->price_usd_per_h != y->price_usd_per_h ||
            x->available != y->available || x->reservation_capacity != y->reservation_capacity)
            return false;
    }
    return true;
}

static void round_init(struct round *r, struct arena *scratch)
{
    const struct ec2_universe *u = r->in->universe;
    size_t most = (2 * (size_t)u->n_zones + r->o->n_reserved) * r->o->n_copies;

    r->shifted = arena_new_array(scratch, bool, u->n_zones);
    r->here = arena_new_array(scratch, bool, u->n_zones);
    r->price_zone = arena_new_array(scratch, uint32_t, u->n_zones);
    r->draft = arena_new_array(scratch, struct offering, most);
    r->any_unavailable = r->in->unavailable && !ec2_unavailable_none(r->in->unavailable);
    for (uint32_t z = 0; z < u->n_zones; z++) {
        r->shifted[z] = shifted(r->in, &r->o->zones[z]);
        r->price_zone[z] = ec2_prices_zone(r->in->prices, u->zones[z]);
    }
}

/* Of everything that an offering depends on and that may change without a new resolution. */
static uint64_t print_of(const struct ec2_types_input *in)
{
    const struct ec2_class *k = in->class;
    uint64_t h = hash_mix(ec2_prices_version(in->prices), (uint64_t)(uintptr_t)in->prices);

    h = hash_mix(h, in->unavailable ? ec2_unavailable_version(in->unavailable) : 0);
    h = hash_mix(h, u64_pair(in->n_shifted_zones, in->n_reserved));
    h = hash_mix(hash_mix(h, in->reserved_capacity), in->overlay_price ? in->overlay_news + 1 : 0);
    for (uint32_t i = 0; i < in->n_shifted_zones; i++)
        h = hash_bytes(in->shifted_zones[i].p, in->shifted_zones[i].n, h);
    for (uint32_t i = 0; i < in->n_reserved; i++)
        h = hash_mix(hash_bytes(in->reserved[i].id.p, in->reserved[i].id.n, h), (uint64_t)in->reserved[i].left);
    for (uint32_t i = 0; i < k->status.n_reservations; i++)
        h = hash_bytes(k->status.reservations[i].state.p, k->status.reservations[i].state.n, h);
    return h;
}

uint32_t ec2_types_offerings(struct arena *a, const struct ec2_types_input *in, struct ec2_types *io)
{
    struct ec2_offers *o = io->offers;
    struct round r = {.in = in, .o = o};
    uint64_t print = print_of(in);
    uint32_t n_changed = 0;

    assert(in->universe->n == io->n && in->class->status.n_reservations == o->n_reserved);
    if (print == o->print && in->now_ms < o->until_ms)
        return 0;
    AUTO(arena) struct arena *scratch = arena_new(0);
    round_init(&r, scratch);
    for (uint32_t i = 0; i < io->n; i++) {
        struct itype *it = &io->v[i];

        draft_type(&r, &io->detail[i], i);
        if (is_as_drafted(&r, it))
            continue;
        it->offerings = arena_dup_array(a, struct offering, r.draft, r.n_draft);
        it->n_offerings = r.n_draft;
        n_changed++;
    }
    o->print = print;
    o->until_ms = r.any_unavailable ? ec2_unavailable_until_ms(in->unavailable) : INT64_MAX;
    return n_changed;
}

static bool names(const struct syms *t, const struct req_expr *x, str type)
{
    if (!sym_eq(x->key, SYM(ITYPE)) || x->op != OP_IN)
        return false;
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (str_eq(sym_str(t, x->vals[i]), type))
            return true;
    return false;
}

double ec2_overlay_price(const struct syms *t, const struct overlay *v, uint32_t n, str type)
{
    while (n-- > 0)
        if (v[n].price.kind == PRICE_IS && v[n].n_requirements == 1 && names(t, v[n].requirements, type))
            return v[n].price.v;
    return NAN;
}
