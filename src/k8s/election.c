/* A fiber tries, leads, renews. A timer watches over it: whatever a call does, ten seconds after we sent the last renewal that
 * succeeded we no longer lead, and that is five before anybody else may. */
#include "k8s/election.h"

#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "k8s/api_int.h"
#include "model/duration.h"
#include "net/fiber.h"

#define LEASE_S 15
#define GIVE_UP_US (10 * SECOND_US)
#define RETRY_US (2 * SECOND_US)

struct election {
    struct api *api;
    struct arena *names;
    struct election_options o;
    struct api_ref ref;
    struct fiber *fiber;
    bool running; /* the fiber will free what is freed meanwhile */
    bool freed, leads, over;
    bool calling; /* the fiber is in a call */
    bool due;
    struct timer pause;  /* until the next try */
    struct timer expiry; /* of our own lease */
    struct timer news;   /* on_lead, on the loop */
    /* The lease as it was last seen, and since when it says the same. */
    struct arena *box;
    struct tree *lease; /* in the box; NULL: not seen yet */
    struct sb spec;
    int64_t since_us;
};

str election_identity(struct arena *a, struct world *w, const char *host)
{
    uint64_t x = world_random(w), y = world_random(w);

    return arena_printf(a, "%s_%08x-%04x-4%03x-%04x-%012llx", host, (unsigned)(x >> 32), (unsigned)(x >> 16 & 0xffff),
                        (unsigned)(x & 0xfff), (unsigned)(0x8000 | (y >> 48 & 0x3fff)),
                        (unsigned long long)(y & 0xffffffffffff));
}

static void note(struct election *l, const char *message, const struct err *e)
{
    if (l->o.on_log && !l->freed)
        l->o.on_log(l->o.ctx, message, e);
}

/* ---- the lease ---- */

static str holder_of(const struct tree *lease)
{
    return tree_str(tree_at(lease, "spec", "holderIdentity", NULL));
}

/* What a call has brought; the box becomes ours. */
static void see(struct election *l, struct arena *box, struct tree *lease)
{
    struct sb spec = {0};

    json_compact(&spec, tree_get(lease, "spec"), /* nulls= */ true);
    if (!l->lease || !str_eq(sb_view(&spec), sb_view(&l->spec)))
        l->since_us = world_mono_us(l->api->world);
    sb_fini(&l->spec);
    l->spec = spec;
    arena_free(l->box);
    l->box = box;
    l->lease = lease;
}

/* Somebody else's, and not run out yet. Its own word counts for how long it lasts, but not for when that began. */
static bool is_taken(const struct election *l)
{
    int64_t duration_s = LEASE_S;
    str holder = holder_of(l->lease);

    (void)tree_to_i64(tree_at(l->lease, "spec", "leaseDurationSeconds", NULL), &duration_s);
    int64_t ends_us = sat_add(l->since_us, sat_mul(MAX(duration_s, 0), SECOND_US));
    return holder.n && !str_eq(holder, l->o.identity) && ends_us > world_mono_us(l->api->world);
}

static str micro_time(struct arena *a, struct world *w)
{
    int64_t ms = world_now_ms(w);
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    b.n--; /* the Z */
    sb_printf(&b, ".%03d000Z", (int)(((ms % 1000) + 1000) % 1000));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* A map of its own with the same members; what is no map has none. */
static struct tree *same_members(struct arena *a, const struct tree *t)
{
    struct tree *copy = tree_new_map(a);

    for (uint32_t i = 0; t && t->kind == TREE_MAP && i < t->n; i++)
        *tree_put(a, copy, t->keys[i]) = t->items[i];
    return copy;
}

/* The lease as we would have it: ours, or nobody's. What stays is that of the lease as it was seen. */
static struct tree *draft(struct election *l, struct arena *a, bool release)
{
    struct tree *t = same_members(a, l->lease), *spec;

    tree_set(a, t, "spec", *same_members(a, tree_get(t, "spec")));
    spec = tree_sub(a, t, "spec");
    bool mine = str_eq(holder_of(t), l->o.identity);
    str now = micro_time(a, l->api->world);
    int64_t transitions = 0;

    (void)tree_to_i64(tree_get(spec, "leaseTransitions"), &transitions);
    if (!l->lease) {
        tree_set_str(a, t, "apiVersion", api_kind_version(a, &api_leases));
        tree_set_str(a, t, "kind", STR("Lease"));
        tree_set_str(a, tree_sub(a, t, "metadata"), "name", l->o.name);
        tree_set_str(a, tree_sub(a, t, "metadata"), "namespace", l->o.ns);
        spec = tree_sub(a, t, "spec");
    } else if (!mine) {
        transitions++;
    }
    tree_set_str(a, spec, "holderIdentity", release ? STR("") : l->o.identity);
    tree_set_i64(a, spec, "leaseDurationSeconds", release ? 1 : LEASE_S);
    if (!mine || release)
        tree_set_str(a, spec, "acquireTime", now);
    tree_set_str(a, spec, "renewTime", now);
    tree_set_i64(a, spec, "leaseTransitions", transitions);
    return t;
}

/* ---- leading ---- */

static void stop_leading(struct election *l)
{
    l->leads = false;
    l->over = true;
    timer_stop(l->api->world, &l->expiry);
    timer_stop(l->api->world, &l->news);
}

static void lose(void *ctx)
{
    struct election *l = ctx;
    bool told = !timer_is_set(&l->news); /* nobody loses what they have not heard of */

    stop_leading(l);
    if (l->fiber)
        fiber_wake(l->fiber);
    note(l, "lost the lease", NULL);
    if (told && !l->freed)
        l->o.on_lost(l->o.ctx);
}

static void tell(void *ctx)
{
    struct election *l = ctx;

    l->o.on_lead(l->o.ctx);
}

/* A write that was sent then has succeeded. */
static bool renewed(struct election *l, int64_t sent_us)
{
    int64_t left_us = sent_us + GIVE_UP_US - world_mono_us(l->api->world);

    if (left_us <= 0 || l->over || l->freed)
        return false;
    timer_set(l->api->world, &l->expiry, left_us);
    if (l->leads)
        return true;
    l->leads = true;
    note(l, "Successfully acquired lease", NULL);
    if (l->o.on_event)
        l->o.on_event(l->o.ctx, arena_printf(l->box, STR_FMT " became leader", STR_ARG(l->o.identity)), l->lease);
    timer_set(l->api->world, &l->news, 0);
    return true;
}

static bool write_lease(struct election *l, bool release, struct err *e)
{
    struct arena *box = arena_new(0);
    int64_t sent_us = world_mono_us(l->api->world);
    struct tree *body = draft(l, box, release), *got;
    bool ok = l->lease ? api_update(l->api, box, &l->ref, body, &got, e)
                       : api_create(l->api, box, &api_leases, l->o.ns, body, &got, e);

    if (!ok) {
        arena_free(box);
        return false;
    }
    see(l, box, got);
    return release || renewed(l, sent_us) || err_set(e, ERR_TIMEOUT, "it took too long");
}

/* false: there is no lease, or nobody knows. */
static bool read_lease(struct election *l, struct err *e)
{
    struct arena *box = arena_new(0);
    struct tree *got;

    if (!api_get(l->api, box, &l->ref, &got, e)) {
        arena_free(box);
        return false;
    }
    see(l, box, got);
    return true;
}

static void forget(struct election *l)
{
    arena_free(l->box);
    l->box = NULL;
    l->lease = NULL;
    sb_reset(&l->spec);
}

static void try_once(struct election *l)
{
    struct err e;

    if (l->leads) {
        if (write_lease(l, /* release= */ false, &e))
            return;
        note(l, "cannot renew the lease", &e);
        if (l->over || l->freed)
            return;
    }
    if (!read_lease(l, &e)) {
        if (e.kind != ERR_NOT_FOUND) {
            note(l, "cannot read the lease", &e);
            return;
        }
        forget(l);
    }
    if (l->over || l->freed)
        return;
    if (l->lease && is_taken(l)) {
        if (l->leads)
            lose(l); /* somebody took it away from us */
        return;
    }
    if (!write_lease(l, /* release= */ false, &e))
        note(l, "cannot write the lease", &e);
}

/* ---- the fiber ---- */

static void rings(void *ctx)
{
    struct election *l = ctx;

    l->due = true;
    if (l->fiber)
        fiber_wake(l->fiber);
}

/* Two seconds; for those who wait, up to 1.2 times as much more, so that not all come at once. */
static void pause_a_while(struct election *l)
{
    struct world *w = l->api->world;
    int64_t us = RETRY_US;

    if (!l->leads)
        us += (int64_t)(world_random(w) % (uint64_t)(RETRY_US * 12 / 10));
    l->due = false;
    timer_set(w, &l->pause, us);
    while (!l->due && !l->over && !l->freed && !world_dead(w))
        fiber_park();
}

static void destroy(struct election *l)
{
    arena_free(l->box);
    arena_free(l->names);
    sb_fini(&l->spec);
    free(l);
}

static void run(void *arg)
{
    struct election *l = arg;

    l->fiber = fiber_self();
    note(l, "Attempting to acquire leader lease...", NULL);
    while (!l->over && !l->freed && !world_dead(l->api->world)) {
        l->calling = true;
        try_once(l);
        l->calling = false;
        if (!l->over && !l->freed)
            pause_a_while(l);
    }
    if (world_dead(l->api->world))
        l->leads = false;
    timer_stop(l->api->world, &l->pause);
    l->fiber = NULL;
    l->running = false;
    if (l->freed)
        destroy(l);
}

struct election *election_new(struct api *c, const struct election_options *o)
{
    struct election *l = xcalloc(1, sizeof(*l));

    l->api = c;
    l->o = *o;
    l->names = arena_new(0);
    l->o.ns = arena_strdup(l->names, o->ns);
    l->o.name = arena_strdup(l->names, o->name);
    l->o.identity = arena_strdup(l->names, o->identity);
    l->ref = (struct api_ref){&api_leases, l->o.ns, l->o.name};
    l->pause = (struct timer){.fn = rings, .ctx = l};
    l->expiry = (struct timer){.fn = lose, .ctx = l};
    l->news = (struct timer){.fn = tell, .ctx = l};
    l->running = true;
    fiber_go(c->world, "election", run, l);
    return l;
}

void election_resign(struct election *l)
{
    bool led = l->leads;
    struct err e;

    stop_leading(l);
    if (l->fiber)
        fiber_wake(l->fiber);
    while (l->calling && !world_dead(l->api->world)) /* its answer says which version to replace */
        fiber_sleep_us(l->api->world, SECOND_US / 100);
    if (led && str_eq(holder_of(l->lease), l->o.identity) && !write_lease(l, /* release= */ true, &e))
        note(l, "cannot give the lease back", &e);
}

void election_free(struct election *l)
{
    if (!l)
        return;
    l->freed = true;
    l->leads = false;
    if (!l->running) {
        destroy(l);
        return;
    }
    stop_leading(l);
    timer_stop(l->api->world, &l->pause);
    if (l->fiber)
        fiber_wake(l->fiber);
}

bool election_leads(const struct election *l)
{
    return l->leads;
}
