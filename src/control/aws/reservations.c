/* capacityreservation.expiration: machines in a capacity block that ends soon begin to drain (aws 7.7).
 * capacityreservation.capacitytype: a machine whose reservation is gone has become an ordinary one (aws 7.8). */
#include "cloud/ec2/selectors.h"
#include "control/aws/machines_int.h"
#include "control/fan.h"
#include "data/edit.h"

#define WORKERS 10

/* ---- expiration ---- */

struct ending {
    struct aws_machines *s;
    struct reconcile *r;
    str *claims, *reservations; /* of each */
    uint32_t n;
    bool *ends;
};

static void find_reserved(struct ending *x)
{
    struct store *store = x->s->c->store;
    struct names all = store_names(store, OBJ_NODECLAIM);
    sym key = ec2_label_key(x->s->c->syms, EC2_L_RESERVATION_ID), id;

    x->claims = arena_new_array(x->r->arena, str, all.n);
    x->reservations = arena_new_array(x->r->arena, str, all.n);
    x->ends = arena_new_array(x->r->arena, bool, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct nodeclaim *c = store_claim(store, all.v[i]);
        const struct kept *meta = store_meta(store, OBJ_NODECLAIM, all.v[i]);

        if (!c || !meta || !meta->managed || c->deleting || !lset_value(x->s->c->syms, c->labels, key, &id))
            continue;
        x->claims[x->n] = arena_strdup(x->r->arena, all.v[i]);
        x->reservations[x->n++] = arena_strdup(x->r->arena, sym_str(x->s->c->syms, id));
    }
}

static bool is_ending(struct ending *x, str id, bool *ret, struct err *e)
{
    struct ec2_reservation *v;
    struct ec2_class_reservation *found;
    uint32_t n;

    if (!ec2_describe_reservations(x->s->o.aws, x->r->arena, id, NULL, 0, &v, &n, e))
        return err_wrap(e, "listing capacity reservations");
    n = ec2_reservations_found(x->r->arena, v, n, world_now_ms(x->s->c->world), &found);
    *ret = n && str_is(found[0].state, "expiring");
    return true;
}

/* Each reservation is asked for once. */
static bool find_ending(struct ending *x, struct err *e)
{
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t j = 0;

        while (!str_eq(x->reservations[j], x->reservations[i]))
            j++;
        if (j < i)
            x->ends[i] = x->ends[j];
        else if (!is_ending(x, x->reservations[i], &x->ends[i], e))
            return false;
    }
    return true;
}

static void delete_ending(void *ctx, uint32_t i)
{
    struct ending *x = ctx;
    struct draft d;
    struct err e;

    if (!x->ends[i] || !draft_open(&d, x->s->c, x->r->arena, OBJ_NODECLAIM, x->claims[i]) || obj_is_deleting(d.obj))
        return;
    if (write_delete(x->s->c, x->r->arena, OBJ_NODECLAIM, x->claims[i], &e))
        log_info(machine_log(x->r->arena, x->r->log, d.obj), "initiating delete due to capacity reservation expiration",
                 LOG_OBJ("NodeClaim", STR(""), x->claims[i]), LOG_STR("capacity-reservation-id", x->reservations[i]));
    else if (e.kind != ERR_NOT_FOUND)
        reconcile_fail(x->r, &e);
}

static struct result reconcile_expiration(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct ending x = {.s = s, .r = r};

    find_reserved(&x);
    if (!find_ending(&x, &r->err))
        return result_error();
    fan_out(s->c->world, "capacityreservation.expiration", x.n, WORKERS, delete_ending, &x);
    return r->err.kind != ERR_NONE ? result_error() : result_after_ms(MINUTE_MS);
}

/* ---- capacity type ---- */

bool instance_is_on_demand(const struct ec2_instance *i, bool reserved_capacity)
{
    return !ec2_instance_is_spot(i) &&
           !(reserved_capacity && i->reservation.n && str_is(i->reservation_preference, "capacity-reservations-only"));
}

/* quirk: the label that says whether the reservation could be interrupted stays (aws 12, 2). */
static bool demote(struct aws_machines *s, struct reconcile *r, enum object_kind kind, str name, struct err *e)
{
    struct draft d;

    if (!draft_open(&d, s->c, r->arena, kind, name) || obj_is_deleting(d.obj) ||
        !str_is(obj_label(d.obj, CAPACITY_LABEL), "reserved"))
        return true;
    if (kind == OBJ_NODE && !str_is(obj_label(d.obj, REGISTERED_LABEL), "true"))
        return true;
    struct tree *labels = tree_path(r->arena, d.obj, "metadata", "labels", NULL);
    obj_set_label(r->arena, d.obj, STR(CAPACITY_LABEL), STR("on-demand"));
    (void)tree_drop(labels, ec2_label_name(EC2_L_RESERVATION_ID));
    (void)tree_drop(labels, ec2_label_name(EC2_L_RESERVATION_TYPE));
    return draft_patch(&d, DRAFT_PLAIN, e) || e->kind == ERR_NOT_FOUND;
}

/* *conflicts: somebody else wrote meanwhile; *failed: something else went wrong. */
static void sync_machine(struct aws_machines *s, struct reconcile *r, str instance_id, bool *conflicts)
{
    str id = arena_strdup(r->arena, machine_provider_id(s, instance_id));
    struct names claims = machine_claims(s, r->arena, id), nodes = machine_nodes(s, r->arena, id);
    struct err e;

    for (uint32_t i = 0; i < claims.n; i++) {
        const struct nodeclaim *c = store_claim(s->c->store, claims.v[i]);

        if (!c || c->deleting)
            continue;
        bool ok = demote(s, r, OBJ_NODECLAIM, claims.v[i], &e);
        for (uint32_t k = 0; ok && k < nodes.n; k++)
            ok = demote(s, r, OBJ_NODE, nodes.v[k], &e);
        if (!ok && e.kind == ERR_CONFLICT)
            *conflicts = true;
        else if (!ok)
            reconcile_fail(r, &e);
    }
}

static struct result reconcile_capacity_type(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct ec2_instances there;
    bool conflicts = false;

    if (!s->o.provider.instance_list(s->o.provider.p, r->arena, &there, &r->err))
        return result_error();
    for (uint32_t i = 0; i < there.n; i++)
        if (instance_is_on_demand(&there.v[i], s->c->options->settings.reserved_capacity))
            sync_machine(s, r, there.v[i].id, &conflicts);
    if (r->err.kind != ERR_NONE)
        return result_error();
    return conflicts ? result_requeue() : result_after_ms(MINUTE_MS);
}

void reservations_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "capacityreservation.expiration", reconcile_expiration);
    (void)machines_singleton(s, "capacityreservation.capacitytype", reconcile_capacity_type);
}
