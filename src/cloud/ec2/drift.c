/* Whether a machine is still what its class asks for (aws 2.9.4). */
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/images.h"
#include "cloud/ec2/reconcile.h"

/* ---- the class of the claim's pool ---- */

struct search {
    str pool;
    struct arena *a;
    str class;
    bool found;
};

static void look_at(void *arg, const struct nodepool *np)
{
    struct search *s = arg;

    if (s->found || !str_eq(np->name, s->pool))
        return;
    s->found = true;
    s->class = arena_strdup(s->a, np->tmpl.class_ref.name);
}

/* NULL without an error: nothing can be said about drift. */
static const struct ec2_class *class_of(struct ec2 *p, struct arena *a, const struct nodeclaim *c)
{
    struct search s = {.a = a};
    struct err e;
    sym pool;

    if (!lset_value(p->syms, c->labels, SYM(NP), &pool))
        return NULL;
    s.pool = sym_str(p->syms, pool);
    p->host.each_pool(p->host.ctx, look_at, &s);
    if (!s.found || s.class.n == 0)
        return NULL;
    const struct ec2_class *k = ec2_class_of(p, a, s.class, &e);
    if (k && !k->deleting)
        return k;
    if (p->host.warn)
        p->host.warn(p->host.ctx, EC2_ON_POOL, s.pool, "Failed resolving NodeClass");
    return NULL;
}

/* ---- one after the other ---- */

static bool is_static_drift(const struct ec2_class *k, const struct nodeclaim *c)
{
    const struct tree *notes = tree_at(k->object, "metadata", "annotations", NULL);
    str class_hash = tree_str(tree_get(notes, EC2_HASH_ANNOTATION)),
        class_version = tree_str(tree_get(notes, EC2_HASH_VERSION_ANNOTATION));
    str hash = annotation_value(c->annotations, c->n_annotations, EC2_HASH_ANNOTATION);
    str version = annotation_value(c->annotations, c->n_annotations, EC2_HASH_VERSION_ANNOTATION);

    return class_hash.n && class_version.n && hash.n && version.n && str_eq(class_version, version) &&
           !str_eq(class_hash, hash);
}

static bool ami_drift(struct ec2 *p, const struct ec2_class *k, const struct nodeclaim *c, bool *ret, struct err *e)
{
    const struct itype *type = NULL;
    struct ec2_types types;
    sym name;

    if (!lset_value(p->syms, c->labels, SYM(ITYPE), &name))
        return err_set(e, ERR_INVALID, "claim " STR_FMT " names no instance type", STR_ARG(c->name));
    if (!ec2_market_types(p->market, k, &types, e))
        return err_wrap(e, "getting instance types");
    for (uint32_t i = 0; i < types.n && !type; i++)
        if (sym_eq(types.v[i].name, name))
            type = &types.v[i];
    if (!type)
        return err_set(e, ERR_INVALID, "finding node instance type \"" STR_FMT "\"", STR_ARG(sym_str(p->syms, name)));
    if (k->status.n_amis == 0)
        return err_set(e, ERR_INVALID, "no amis exist given constraints");
    if (c->image_id.n == 0)
        return err_set(e, ERR_INVALID, "claim " STR_FMT " has no image", STR_ARG(c->name));
    const struct ec2_class_ami *ami = ec2_ami_for(k, type);
    *ret = !ami || !str_eq(ami->id, c->image_id);
    return true;
}

static bool has_group(const struct ec2_instance *i, str id)
{
    for (uint32_t x = 0; x < i->n_groups; x++)
        if (str_eq(i->groups[x], id))
            return true;
    return false;
}

static bool groups_drift(const struct ec2_class *k, const struct ec2_instance *i)
{
    for (uint32_t x = 0; x < k->status.n_groups; x++)
        if (!has_group(i, k->status.groups[x].id))
            return true;
    for (uint32_t x = 0; x < i->n_groups; x++) {
        bool wanted = false;

        for (uint32_t g = 0; g < k->status.n_groups && !wanted; g++)
            wanted = str_eq(k->status.groups[g].id, i->groups[x]);
        if (!wanted)
            return true;
    }
    return false;
}

static bool subnet_drift(const struct ec2_class *k, const struct ec2_instance *i)
{
    for (uint32_t x = 0; x < k->status.n_subnets; x++)
        if (str_eq(k->status.subnets[x].id, i->subnet))
            return false;
    return true;
}

static bool is_selected(const struct ec2_class *k, str reservation)
{
    for (uint32_t x = 0; x < k->status.n_reservations; x++)
        if (str_eq(k->status.reservations[x].id, reservation))
            return true;
    return false;
}

/* What is remembered may be old: a machine that left its reservation is on demand now. */
static bool reservation_drift(struct ec2 *p, struct arena *a, const struct ec2_class *k, const struct ec2_instance *i,
                              bool *ret, struct err *e)
{
    struct ec2_instance now;

    *ret = false;
    if (!ec2_instance_is_reserved(p, i) || is_selected(k, i->reservation))
        return true;
    if (!ec2_instance_get(p, a, i->id, /* fresh= */ true, &now, e))
        return err_wrap(e, "getting instance");
    *ret = ec2_instance_is_reserved(p, &now) && !is_selected(k, now.reservation);
    return true;
}

static bool placement_drift(struct ec2 *p, struct arena *a, const struct ec2_class *k, const struct nodeclaim *c,
                            bool *ret, struct err *e)
{
    struct ec2_placement_group g = {0};
    sym label = SYM(NONE);
    bool known = false;

    if (k->has_placement && !ec2_find_placement(p, a, k, &g, &known, e) && !known) {
        if (e->kind != ERR_NOT_FOUND)
            return err_wrap(e, "resolving placement group");
        g.id = STR("");
    }
    (void)lset_value(p->syms, c->labels, ec2_label_key(p->syms, EC2_L_PLACEMENT_GROUP), &label);
    *ret = !str_eq(sym_str(p->syms, label), g.id);
    return true;
}

static bool of_machine(struct ec2 *p, struct arena *a, const struct ec2_class *k, const struct nodeclaim *c,
                       str *ret_reason, struct err *e)
{
    struct ec2_instance i;
    bool reserved = false, placed = false;
    str id = ec2_instance_id(c->provider_id);

    if (id.n == 0)
        return err_set(e, ERR_INVALID, "parsing instance id \"" STR_FMT "\"", STR_ARG(c->provider_id));
    if (!ec2_instance_get(p, a, id, /* fresh= */ false, &i, e))
        return err_wrap(e, "getting instance");
    if (k->status.n_groups == 0)
        return err_set(e, ERR_INVALID, "no security groups are present in the status");
    if (k->status.n_subnets == 0)
        return err_set(e, ERR_INVALID, "no subnets are present in the status");
    if (!reservation_drift(p, a, k, &i, &reserved, e) || !placement_drift(p, a, k, c, &placed, e))
        return false;
    if (groups_drift(k, &i))
        *ret_reason = STR("SecurityGroupDrift");
    else if (subnet_drift(k, &i))
        *ret_reason = STR("SubnetDrift");
    else if (reserved)
        *ret_reason = STR("CapacityReservationDrift");
    else
        *ret_reason = placed ? STR("PlacementGroupDrift") : STR("");
    return true;
}

bool ec2_drifted(struct ec2 *p, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e)
{
    const struct ec2_class *k = class_of(p, a, c);
    bool ami = false;

    if (!k || is_static_drift(k, c)) {
        *ret_reason = k ? STR("NodeClassDrift") : STR("");
        return true;
    }
    if (!ami_drift(p, k, c, &ami, e))
        return false;
    if (ami) {
        *ret_reason = STR("AMIDrift");
        return true;
    }
    return of_machine(p, a, k, c, ret_reason, e);
}
