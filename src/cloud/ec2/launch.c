/* From a claim to a machine (aws 4.1, 4.2). */
#include "cloud/ec2/launch_int.h"

#include <inttypes.h>

#include "cloud/ec2/reconcile.h"
#include "k8s/conditions.h"

bool ec2_launch_error(struct err *e, enum err_kind kind, const char *code, const char *message)
{
    (void)err_set(e, kind, "%s", message);
    (void)strncpy(e->code, code, sizeof(e->code) - 1);
    return false;
}

/* ---- the class ---- */

static const struct ec2_class *class_of(struct ec2 *p, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    const struct ec2_class *k = ec2_class_of(p, a, c->class_ref.name, e);

    if (k && !k->deleting)
        return k;
    if (!k && e->kind != ERR_NOT_FOUND)
        return NULL;
    if (p->host.warn)
        p->host.warn(p->host.ctx, EC2_ON_CLAIM, c->name, "Failed resolving NodeClass");
    (void)err_set(e, ERR_CAPACITY, "resolving nodeclass, ec2nodeclasses.karpenter.k8s.aws \"" STR_FMT "\" %s",
                  STR_ARG(c->class_ref.name), k ? "is terminating, treating as not found" : "not found");
    return NULL;
}

static bool is_ready(struct arena *a, const struct ec2_class *k, struct err *e)
{
    struct cond ready = cond_get(k->object, "Ready");

    if (str_is(ready.status, "False"))
        return ec2_launch_error(e, ERR_INVALID, CLOUD_NOT_READY, arena_strdup(a, ready.message).p);
    if (!str_is(ready.status, "True"))
        return ec2_launch_error(e, ERR_IO, "NodeClassReadinessUnknown", "NodeClass is in Ready=Unknown");
    if (ready.observed != k->generation)
        return ec2_launch_error(e, ERR_INVALID, CLOUD_NOT_READY,
                                "nodeclass status has not been reconciled against the latest spec");
    return true;
}

bool ec2_launch_tags(struct ec2 *p, struct arena *a, const struct ec2_class *k, str pool, struct ec2_tag **ret,
                     uint32_t *ret_n, struct err *e)
{
    const struct ec2_tag own[] = {
        {arena_printf(a, "kubernetes.io/cluster/" STR_FMT, STR_ARG(p->cluster.name)), STR("owned")},
        {STR("karpenter.sh/nodepool"), arena_strdup(a, pool)},
        {STR("eks:eks-cluster-name"), p->cluster.name},
        {STR("karpenter.k8s.aws/ec2nodeclass"), arena_strdup(a, k->name)},
    };
    struct ec2_tag *v = arena_new_array(a, struct ec2_tag, k->n_tags + ARRAY_LEN(own));
    str problem = ec2_tags_problem(a, k, p->cluster.name);
    uint32_t n = 0;

    if (problem.n)
        return ec2_launch_error(e, ERR_INVALID, CLOUD_NOT_READY, arena_strdup(a, problem).p);
    for (uint32_t i = 0; i < k->n_tags; i++)
        v[n++] = k->tags[i];
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        uint32_t at = 0;

        while (at < n && !str_eq(v[at].key, own[i].key))
            at++;
        v[at] = own[i];
        n = MAX(n, at + 1);
    }
    *ret = v;
    *ret_n = n;
    return true;
}

/* ---- the machine ---- */

static const struct ec2_option *option_of(const struct ec2_launching *l, str type)
{
    for (uint32_t i = 0; i < l->choice.n; i++)
        if (str_eq(sym_str(l->p->syms, l->choice.v[i].type->name), type))
            return &l->choice.v[i];
    return NULL;
}

static void put_reservation(const struct ec2_launching *l, const struct ec2_option *o, struct ec2_facts *f)
{
    const struct syms *t = l->p->syms;

    if (!sym_eq(l->choice.capacity_type, SYM(RESERVED)))
        return;
    for (uint32_t i = 0; i < o->n_offers; i++) {
        const struct ec2_offer *x = &o->offers[i];

        if (!x->fits || !sym_some(x->reservation) || !str_eq(sym_str(t, x->zone), f->zone))
            continue;
        f->reservation = sym_str(t, x->reservation);
        f->reservation_kind = sym_str(t, x->kind);
        f->interruptible = x->interruptible;
        return;
    }
}

static void put_annotations(const struct ec2_launching *l, struct machine *ret)
{
    struct annotation *v = arena_new_array(l->a, struct annotation, 3);

    v[0] = (struct annotation){
        STR(EC2_HASH_ANNOTATION),
        arena_printf(l->a, "%" PRIu64, ec2_class_hash(l->k, l->p->cluster.ca_bundle)),
    };
    v[1] = (struct annotation){STR(EC2_HASH_VERSION_ANNOTATION), STR(EC2_HASH_VERSION)};
    v[2] = (struct annotation){STR(EC2_PROFILE_ANNOTATION), arena_strdup(l->a, l->k->status.profile)};
    ret->annotations = v;
    ret->n_annotations = 3;
}

static bool machine_of(struct ec2_launching *l, const struct ec2_launched *is, struct machine *ret, struct err *e)
{
    const struct ec2_option *o = option_of(l, is->is.type);
    sym pool;

    if (!o)
        return err_set(e, ERR_INVALID, "EC2 launched a " STR_FMT ", which nobody asked for", STR_ARG(is->is.type));
    struct ec2_facts f = {
        .id = is->id,
        .image = is->is.image,
        .zone = is->is.zone,
        .capacity_type = sym_str(l->p->syms, l->choice.capacity_type),
        .tenancy = str_c(l->choice.tenancy),
        .partition = l->choice.partition,
        .n_efa = ec2_claim_wants_efa(l) || l->k->n_nics ? o->detail->n_efa : 0,
        .has_pool = true,
    };
    if (lset_value(l->p->syms, l->claim->labels, SYM(NP), &pool))
        f.pool = sym_str(l->p->syms, pool);
    put_reservation(l, o, &f);
    if (f.reservation.n)
        ec2_reserved_launched(l->p, f.reservation);
    ec2_machine_of(l->p, l->a, &f, o->type, l->k, l->placement, ret);
    put_annotations(l, ret);
    return true;
}

/* ---- all of it ---- */

static bool find_placement(struct ec2_launching *l, struct err *e)
{
    struct ec2_placement_group *g = arena_new_one(l->a, struct ec2_placement_group);
    bool known = false;

    if (!l->k->has_placement)
        return true;
    if (!ec2_find_placement(l->p, l->a, l->k, g, &known, e) && !known)
        return err_wrap(e, "resolving placement group");
    l->placement = g;
    return true;
}

static bool launch_from(struct ec2_launching *l, const struct ec2_types *types, const struct catalog *seen,
                        struct machine *ret, struct err *e)
{
    struct ec2_choose_input in = {
        .syms = l->p->syms,
        .rules = &seen->rules,
        .claim = l->claim,
        .types = seen->types,
        .detail = types->detail,
        .n = types->n,
        .best_effort = l->p->settings.min_values == MINVALUES_BEST_EFFORT,
    };
    struct ec2_launched is;
    bool gone;

    if (!ec2_choose(l->a, &in, &l->choice, e))
        return false;
    if (!ec2_launch_fleet(l, &is, &gone, e) && !(gone && ec2_launch_fleet(l, &is, &gone, e)))
        return false;
    return machine_of(l, &is, ret, e);
}

bool ec2_launch(struct ec2 *p, struct arena *a, const struct nodeclaim *c, struct machine *ret, struct err *e)
{
    struct ec2_launching l = {.p = p, .a = a, .claim = c};
    struct ec2_tag *tags;
    struct ec2_types types;
    sym pool = SYM(NONE);

    l.k = class_of(p, a, c, e);
    if (!l.k || !is_ready(a, l.k, e))
        return false;
    (void)lset_value(p->syms, c->labels, SYM(NP), &pool);
    if (!ec2_launch_tags(p, a, l.k, sym_str(p->syms, pool), &tags, &l.n_tags, e))
        return false;
    l.tags = tags;
    if (!find_placement(&l, e))
        return false;
    if (!ec2_market_types(p->market, l.k, &types, e)) {
        if (p->host.say)
            p->host.say(p->host.ctx, /* error= */ true, "failed resolving instance types", e);
        return ec2_launch_error(e, ERR_IO, "InstanceTypeResolutionFailed", "Error resolving instance types");
    }
    struct ec2_view *view = ec2_market_hold(p->market, &types); /* others ask for types while this launch waits */
    bool ok = launch_from(&l, &types, ec2_market_overlaid(p->market, view, pool), ret, e);
    ec2_market_release(p->market, view);
    return ok;
}
