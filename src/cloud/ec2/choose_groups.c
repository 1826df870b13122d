/* What a fleet request is made of: types that share a launch template, and where each of them may be had (aws 4.6.1, 4.7). */
#include "base/vec.h"
#include "cloud/ec2/choose.h"
#include "cloud/ec2/images.h"

static bool kvs_equal(const struct ec2_kvs *a, const struct ec2_kvs *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
            return false;
    return true;
}

static const struct ec2_offer *reserved_offer(const struct ec2_option *o, uint32_t from)
{
    for (uint32_t i = from; i < o->n_offers; i++)
        if (o->offers[i].fits && sym_eq(o->offers[i].capacity_type, SYM(RESERVED)))
            return &o->offers[i];
    return NULL;
}

/* Of one group: a machine of either is told the same. An image may be there twice, for several kinds of machines. */
static bool go_together(const struct ec2_choice *c, const struct ec2_launch_group *g, const struct ec2_option *o,
                        const struct ec2_class_ami *ami, uint32_t n_efa)
{
    const struct ec2_type_detail *d = c->v[g->options[0]].detail;

    return str_eq(g->ami->id, ami->id) && g->n_efa == n_efa && d->pods == o->detail->pods &&
           kvs_equal(&d->kube_reserved, &o->detail->kube_reserved) &&
           kvs_equal(&d->system_reserved, &o->detail->system_reserved);
}

typedef VEC(struct ec2_launch_group) groups;

static void put_in_group(struct arena *a, const struct syms *t, const struct ec2_choice *c, groups *all, uint32_t ix,
                         const struct ec2_class_ami *ami, uint32_t n_efa, const struct ec2_offer *reserved)
{
    str reservation = reserved ? sym_str(t, reserved->reservation) : STR("");
    struct ec2_launch_group *g = NULL;

    for (uint32_t i = 0; i < all->n && !g; i++)
        if (str_eq(all->v[i].reservation, reservation) && go_together(c, &all->v[i], &c->v[ix], ami, n_efa))
            g = &all->v[i];
    if (!g) {
        g = vec_add(all);
        *g = (struct ec2_launch_group){.ami = ami,
                                       .n_efa = n_efa,
                                       .reservation = reservation,
                                       .kind = reserved ? sym_str(t, reserved->kind) : STR(""),
                                       .interruptible = reserved && reserved->interruptible,
                                       .options = arena_new_array(a, uint32_t, c->n)};
    }
    if (g->n == 0 || g->options[g->n - 1] != ix)
        g->options[g->n++] = ix;
}

bool ec2_launch_groups(struct arena *a, struct syms *t, const struct ec2_choice *c, const struct ec2_class *k,
                       bool wants_efa, struct ec2_launch_group **ret, uint32_t *ret_n, struct err *e)
{
    bool reserved = sym_eq(c->capacity_type, SYM(RESERVED));
    groups all = {0};

    if (k->status.n_amis == 0)
        return err_set(e, ERR_INVALID, "no amis exist given constraints");
    for (uint32_t i = 0; i < c->n; i++) {
        const struct ec2_option *o = &c->v[i];
        const struct ec2_class_ami *ami = ec2_ami_for(k, o->type);
        uint32_t n_efa = wants_efa ? o->detail->n_efa : 0;
        const struct ec2_offer *r;

        if (!ami)
            continue;
        if (!reserved)
            put_in_group(a, t, c, &all, i, ami, n_efa, NULL);
        for (uint32_t x = 0; reserved && (r = reserved_offer(o, x)) != NULL; x = (uint32_t)(r - o->offers) + 1)
            put_in_group(a, t, c, &all, i, ami, n_efa, r);
    }
    if (all.n == 0) {
        vec_fini(&all);
        return err_set(e, ERR_INVALID, "no instance types satisfy requirements of amis");
    }
    *ret = vec_to_arena(&all, a);
    *ret_n = all.n;
    vec_fini(&all);
    return true;
}

static const struct ec2_zone_subnet *subnet_of(const struct ec2_zone_subnet *where, uint32_t n, str zone)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(where[i].zone, zone))
            return &where[i];
    return NULL;
}

static bool is_there(const struct ec2_override *v, uint32_t from, uint32_t n, str zone)
{
    for (uint32_t i = from; i < n; i++)
        if (str_eq(v[i].zone, zone))
            return true;
    return false;
}

static void put_overrides(const struct syms *t, const struct ec2_choice *c, const struct ec2_launch_group *g,
                          const struct ec2_option *o, const struct ec2_zone_subnet *where, uint32_t n_where,
                          struct ec2_override *v, uint32_t *n)
{
    uint32_t first = *n;

    for (uint32_t i = 0; i < o->n_offers; i++) {
        const struct ec2_offer *offer = &o->offers[i];
        str zone = sym_str(t, offer->zone);
        const struct ec2_zone_subnet *s = subnet_of(where, n_where, zone);

        if (!offer->fits || !sym_eq(offer->capacity_type, c->capacity_type) || !s || is_there(v, first, *n, zone))
            continue;
        if (g->reservation.n && !str_eq(sym_str(t, offer->reservation), g->reservation))
            continue;
        v[(*n)++] = (struct ec2_override){.type = sym_str(t, o->type->name),
                                          .subnet = s->subnet,
                                          .image = g->ami->id,
                                          .zone = zone,
                                          .priority = offer->offering->price_usd_per_h,
                                          .has_priority = true};
    }
}

uint32_t ec2_overrides(struct arena *a, const struct syms *t, const struct ec2_choice *c,
                       const struct ec2_launch_group *g, const struct ec2_zone_subnet *where, uint32_t n_where,
                       struct ec2_override **ret)
{
    uint32_t most = 0, n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        most += c->v[g->options[i]].n_offers;
    *ret = arena_new_array(a, struct ec2_override, most);
    for (uint32_t i = 0; i < g->n; i++)
        put_overrides(t, c, g, &c->v[g->options[i]], where, n_where, *ret, &n);
    return n;
}

int64_t ec2_fewest_pods(const struct syms *t, const struct ec2_choice *c, str zone)
{
    int64_t fewest = INT64_MAX;

    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t o = 0; o < c->v[i].n_offers; o++) {
            const struct ec2_offer *offer = &c->v[i].offers[o];

            if (offer->offering->available && sym_eq(offer->capacity_type, c->capacity_type) &&
                str_eq(sym_str(t, offer->zone), zone))
                fewest = MIN(fewest, c->v[i].detail->pods);
        }
    return fewest == INT64_MAX ? 0 : fewest;
}
