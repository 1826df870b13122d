/* zonalshift: zones that traffic is moved away from get no machines, and NodePools that could have had some there are told (aws 7.12). */
#include <stdlib.h>

#include "base/sb.h"
#include "control/aws/machines_int.h"
#include "data/json_own.h"

#define POLL_MS (30 * 1000)

struct zone {
    str id, name;
    bool shifted;
};

struct look {
    struct aws_machines *s;
    struct reconcile *r;
    VEC(struct zone) zones; /* of subnets of classes; in the run's arena */
};

static const struct tree *class_subnets(struct aws_machines *s, struct arena *a, str store_name)
{
    const struct kept *k = store_kept(s->c->store, OBJ_NODECLASS, store_name);

    return k ? tree_at(json_read_own(a, arena_strdup(a, k->text)), "status", "subnets", NULL) : NULL;
}

static void add_zones(struct look *l, const struct tree *subnets)
{
    const struct aws_provider *p = &l->s->o.provider;

    for (uint32_t i = 0; subnets && i < subnets->n; i++) {
        str id = tree_str(tree_get(&subnets->items[i], "zoneID"));
        uint32_t k = 0;

        while (k < l->zones.n && !str_eq(l->zones.v[k].id, id))
            k++;
        if (id.n && k == l->zones.n)
            vec_push(&l->zones, (struct zone){arena_strdup(l->r->arena, id),
                                              arena_strdup(l->r->arena, tree_str(tree_get(&subnets->items[i], "zone"))),
                                              p->zone_is_shifted(p->p, id)});
    }
}

static uint32_t told_of(const struct aws_machines *s, str id)
{
    uint32_t i = 0;

    while (i < s->shifted.n && !str_eq(s->shifted.v[i], id))
        i++;
    return i;
}

static bool has_value(const struct req_expr *x, const struct syms *t, str value)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (str_eq(sym_str(t, x->vals[i]), value))
            return true;
    return false;
}

/* Whether what is asked of nodes lets the label have this value. */
static bool allows(const struct syms *t, const struct claim_template *c, sym key, str value)
{
    sym v;

    if (lset_value(t, c->labels, key, &v) && !str_eq(sym_str(t, v), value))
        return false;
    for (uint32_t i = 0; i < c->n_requirements; i++) {
        const struct req_expr *x = &c->requirements[i];

        if (!sym_eq(x->key, key))
            continue;
        if (x->op == OP_IN ? !has_value(x, t, value) : x->op == OP_NOT_IN ? has_value(x, t, value) : x->op != OP_EXISTS)
            return false;
    }
    return true;
}

static bool has_zone(const struct tree *subnets, str zone_id)
{
    for (uint32_t i = 0; subnets && i < subnets->n; i++)
        if (str_eq(tree_str(tree_get(&subnets->items[i], "zoneID")), zone_id))
            return true;
    return false;
}

static void tell_pool(struct look *l, const struct nodepool *p, const struct zone *z)
{
    struct syms *t = l->s->c->syms;
    str class = class_name_of(l->r->arena, &p->tmpl.class_ref);

    if (!has_zone(class_subnets(l->s, l->r->arena, class), z->id) || !allows(t, &p->tmpl, SYM(ZONE), z->name) ||
        !allows(t, &p->tmpl, ec2_label_key(t, EC2_L_ZONE_ID), z->id))
        return;
    str text = arena_printf(l->r->arena,
                            "Zonal shift %s: offerings in zone " STR_FMT " (" STR_FMT ") are %s for this NodePool%c",
                            z->shifted ? "detected" : "cleared", STR_ARG(z->name), STR_ARG(z->id),
                            z->shifted ? "unavailable" : "restored", 0);
    machine_event(l->s, (struct event_object){.kind = &api_nodepools, .name = p->name, .uid = p->uid}, z->shifted,
                  z->shifted ? "ZonalShiftActive" : "ZonalShiftCleared", text.p, z->id);
}

static void tell(struct look *l, const struct zone *z)
{
    struct store *store = l->s->c->store;
    struct names pools = store_names(store, OBJ_NODEPOOL);

    for (uint32_t i = 0; i < pools.n; i++) {
        const struct nodepool *p = store_pool(store, pools.v[i]);

        if (p)
            tell_pool(l, p, z);
    }
}

static void remember(struct aws_machines *s, const struct zone *z)
{
    uint32_t at = told_of(s, z->id);

    if (z->shifted) {
        char *copy = xcalloc(1, z->id.n + 1);

        memcpy(copy, z->id.p, z->id.n);
        vec_push(&s->shifted, ((str){copy, z->id.n}));
    } else {
        free((char *)(uintptr_t)s->shifted.v[at].p);
        s->shifted.v[at] = s->shifted.v[--s->shifted.n];
    }
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct look l = {.s = s, .r = r};

    if (!s->o.provider.refresh_shifts(s->o.provider.p, &r->err))
        return result_error();
    struct names classes = store_names(s->c->store, OBJ_NODECLASS);
    for (uint32_t i = 0; i < classes.n; i++)
        add_zones(&l, class_subnets(s, r->arena, classes.v[i]));
    for (uint32_t i = 0; i < l.zones.n; i++) {
        if (l.zones.v[i].shifted == (told_of(s, l.zones.v[i].id) < s->shifted.n))
            continue;
        tell(&l, &l.zones.v[i]);
        remember(s, &l.zones.v[i]);
    }
    vec_fini(&l.zones);
    return result_after_ms(POLL_MS);
}

void zonal_shift_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "zonalshift", reconcile);
}
