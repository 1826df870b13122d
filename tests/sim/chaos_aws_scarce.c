/* Capacity that was paid for beforehand, and zones that nobody may use for a while.
 *
 * Their deeds are drawn beside those of chaos_aws.c, from a seed of their own. Reservations of all three kinds are made, used, taken back, cancelled, not selected any more; a block ends half an hour before
 * its time is over, as AWS ends it. One zone at a time is shifted away from: for as long as it was told, or somebody calls it off. */
#include <stdio.h>
#include <string.h>

#include "data/edit.h"
#include "data/reader.h"
#include "model/duration.h"
#include "sim/chaos_aws.h"
#include "support/check.h"

#define SCARCE_SEED 80
#define MOST_RESERVED 6u
#define BLOCK_ENDS_S 1800.0 /* before its time is over AWS takes the machines */
#define SHIFT_POLL_S 45.0   /* a shift that is over is believed so long */

static const char *const zones[CHAOS_ZONES] = {"test-zone-1a", "test-zone-1b", "test-zone-1c"};
static const char *const zone_ids[CHAOS_ZONES] = {"tstz1-1a", "tstz1-1b", "tstz1-1c"};
static const char *const types[] = {"c5.xlarge", "m5.large", "m5.xlarge", "m5.2xlarge", "m6g.xlarge", "r5.large"};

uint32_t scarce_settings(struct chaos *c, uint64_t draw, const char **env)
{
    uint32_t n = 0;

    c->aws->reserves = has_part(c, CHAOS_AWS_RESERVE) && (draw >> 32 & 1);
    c->aws->shifts = has_part(c, CHAOS_AWS_SHIFT) && (draw >> 33 & 1);
    if (c->aws->shifts) {
        env[n++] = "ENABLE_ZONAL_SHIFT";
        env[n++] = "true";
    }
    env[n] = NULL;
    return n;
}

/* ---- reservations ---- */

static void reserve(struct chaos *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct chaos_reserved r = {0};
    uint32_t kind = below(c, 3), zone = below(c, CHAOS_ZONES), type = below(c, ARRAY_LEN(types));
    double lasts_s = 3600 + below(c, 4 * 3600);
    const struct tree *doc = NULL;
    struct sb ends = {0};
    struct err e = {0};

    if (c->aws->reserved.n == MOST_RESERVED)
        return;
    (void)snprintf(r.id, sizeof(r.id), "cr-%08x", ++c->aws->n_reserved);
    r.interruptible = kind == 1;
    r.ends_s = kind == 2 ? rig_now(c->r) + lasts_s : 0;
    if (kind == 2) {
        sb_c(&ends, ",\"EndDate\":\"");
        time_print_rfc3339(&ends, world_now_ms(c->aws->sky->world) + (int64_t)(lasts_s * 1000));
        sb_c(&ends, "\"");
    }
    str text =
        arena_printf(a,
                     "{\"CapacityReservationId\":\"%s\",\"InstanceType\":\"%s\",\"AvailabilityZone\":\"%s\","
                     "\"TotalInstanceCount\":%u,\"InstanceMatchCriteria\":\"targeted\",\"ReservationType\":\"%s\","
                     "\"Interruptible\":%s,\"Tags\":[{\"Key\":\"sky\",\"Value\":\"yes\"}]" STR_FMT "}",
                     r.id, types[type], zones[zone], 1 + below(c, 5), kind == 2 ? "capacity-block" : "default",
                     r.interruptible ? "true" : "false", STR_ARG(sb_view(&ends)));
    deed(c, "reserve", text.p);
    check_ok("a reservation", tree_parse_json(a, "reservation", text, &doc, &e), &e);
    check_ok("a reservation", sim_aws_add_reservation(c->aws->sky->aws, doc, &e), &e);
    vec_push(&c->aws->reserved, r);
    sb_fini(&ends);
}

static void end_reservation(struct chaos *c, uint32_t i)
{
    struct chaos_reserved r = c->aws->reserved.v[i];

    deed(c, "a reservation ends", r.id);
    (void)sim_aws_end_reservation(c->aws->sky->aws, str_c(r.id));
    memmove(&c->aws->reserved.v[i], &c->aws->reserved.v[i + 1],
            (--c->aws->reserved.n - i) * sizeof(struct chaos_reserved));
}

static void cancel(struct chaos *c)
{
    if (c->aws->reserved.n)
        end_reservation(c, below(c, c->aws->reserved.n));
}

struct crowd {
    struct chaos *c;
    VEC(str) ids;
};

static void note_reserved(void *ctx, const struct sim_aws_resource *r)
{
    struct crowd *w = ctx;
    const struct sim_machine *m = strcmp(r->kind, "instance") == 0 ? sim_aws_machine(w->c->aws->sky->aws, r->id) : NULL;

    if (m && str_is(m->capacity_type, "reserved"))
        vec_push(&w->ids, r->id);
}

/* AWS wants machines back that it had lent. */
static void take_back(struct chaos *c)
{
    struct crowd w = {.c = c};

    sim_aws_each(c->aws->sky->aws, note_reserved, &w);
    for (uint32_t i = 0; i < w.ids.n; i++) {
        char name[32];

        if (!one_in(c, 2) || !sim_aws_notify(c->aws->sky->aws, w.ids.v[i], SIM_AWS_RESERVATION_WARNING))
            continue;
        (void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(w.ids.v[i]));
        deed(c, "a reserved machine is taken back", name);
        aws_warned(c, w.ids.v[i]);
    }
    vec_fini(&w.ids);
}

static void select_none(struct chaos *c)
{
    patch_class(c, "{spec: {capacityReservationSelectorTerms: null}}");
}

static void select_all(struct chaos *c)
{
    patch_class(c, "{spec: {capacityReservationSelectorTerms: [{tags: {sky: 'yes'}}]}}");
}

/* ---- zones ---- */

bool is_shifted(const struct chaos *c, str zone_id)
{
    for (uint32_t i = 0; i < CHAOS_ZONES; i++) {
        const struct chaos_shift *s = &c->aws->shift[i];

        if (!s->zone_id || (zone_id.n && !str_is(zone_id, s->zone_id)))
            continue;
        /* quirk: one that is called off stays for whoever sees another one (aws 7.12). Its end is a time of the wall clock. */
        if (rig_now(c->r) < s->until_s + SHIFT_POLL_S || (c->jumped_s >= s->from_s && !c->calm))
            return true;
    }
    return false;
}

static void shift_zone(struct chaos *c)
{
    uint32_t z = below(c, CHAOS_ZONES), for_s = 300 + below(c, one_in(c, 3) ? 10800 : 1800);

    for (uint32_t i = 0; i < CHAOS_ZONES; i++)
        sim_aws_shift_zone(c->aws->sky->aws, str_c(zone_ids[i]), 0);
    deed(c, "traffic is moved away from", zone_ids[z]);
    sim_aws_shift_zone(c->aws->sky->aws, str_c(zone_ids[z]), for_s * 1000ll);
    c->aws->shift[z] = (struct chaos_shift){zone_ids[z], rig_now(c->r), rig_now(c->r) + for_s};
}

static void call_off(struct chaos *c)
{
    deed(c, "shifts", "are called off");
    for (uint32_t i = 0; i < CHAOS_ZONES; i++)
        sim_aws_shift_zone(c->aws->sky->aws, str_c(zone_ids[i]), 0);
}

/* ---- the table ---- */

static const struct {
    enum chaos_part part;
    uint32_t weight;
    void (*fn)(struct chaos *c);
} deeds[] = {
    {CHAOS_AWS_RESERVE, 8, reserve},     {CHAOS_AWS_RESERVE, 3, cancel},     {CHAOS_AWS_RESERVE, 3, take_back},
    {CHAOS_AWS_RESERVE, 1, select_none}, {CHAOS_AWS_RESERVE, 2, select_all}, {CHAOS_AWS_SHIFT, 3, shift_zone},
    {CHAOS_AWS_SHIFT, 2, call_off},
};

void scarce_act(struct chaos *c, uint32_t number)
{
    uint32_t all = 0, n;
    size_t i = 0;

    rng_init(&c->rng, hash_mix(hash_mix(c->what->seed, SCARCE_SEED), number));
    if (!one_in(c, 3))
        return;
    for (size_t k = 0; k < ARRAY_LEN(deeds); k++)
        all += deeds[k].weight;
    for (n = below(c, all); n >= deeds[i].weight; i++)
        n -= deeds[i].weight;
    if (deeds[i].part == CHAOS_AWS_RESERVE ? c->aws->reserves : c->aws->shifts)
        deeds[i].fn(c);
}

void scarce_tend(struct chaos *c)
{
    for (uint32_t i = c->aws->reserved.n; i-- > 0;)
        if (c->aws->reserved.v[i].ends_s > 0 && rig_now(c->r) > c->aws->reserved.v[i].ends_s - BLOCK_ENDS_S)
            end_reservation(c, i);
}

/* Ordinary reservations stay: what is reserved is used to the end. */
void scarce_calm(struct chaos *c)
{
    for (uint32_t i = c->aws->reserved.n; i-- > 0;)
        if (c->aws->reserved.v[i].ends_s > 0)
            end_reservation(c, i);
    if (c->aws->reserves)
        select_all(c);
    if (c->aws->shifts)
        call_off(c);
}
