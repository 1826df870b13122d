/* reservations - capacity that was paid for beforehand: taken into the account, and over at some time. Launches count what is left in it (launch.c, machines.c). */
#include "data/edit.h"
#include "sim/aws/account.h"

void account_add_reservation(struct sim_aws *s, struct tree *doc)
{
    struct reservation *r = arena_new_one(s->a, struct reservation);
    int64_t total = 1;

    r->doc = doc;
    (void)tree_to_i64(tree_get(doc, "TotalInstanceCount"), &total);
    if (!tree_get(doc, "State"))
        tree_set_str(s->a, doc, "State", STR("active"));
    if (!tree_get(doc, "OwnerId"))
        tree_set_str(s->a, doc, "OwnerId", s->account_id);
    live_number_init(&r->available, s->a, doc, "AvailableInstanceCount", total);
    vec_push(&s->reservations, r);
}

bool sim_aws_add_reservation(struct sim_aws *s, const struct tree *reservation, struct err *e)
{
    str id = tree_str(tree_get(reservation, "CapacityReservationId"));

    if (!str_starts(id, STR("cr-")) || tree_str(tree_get(reservation, "InstanceType")).n == 0 ||
        tree_str(tree_get(reservation, "AvailabilityZone")).n == 0)
        return err_set(e, ERR_INVALID,
                       "a reservation needs a CapacityReservationId (cr-…), an InstanceType and an AvailabilityZone");
    if (account_reservation(s, id))
        return err_set(e, ERR_CONFLICT, "reservation " STR_FMT " is there already", STR_ARG(id));
    account_add_reservation(s, tree_copy(s->a, reservation));
    return true;
}

void reservation_leave(struct machine *m)
{
    (void)tree_drop(m->doc, STR("CapacityReservationId"));
    m->reservation = NULL;
}

bool sim_aws_end_reservation(struct sim_aws *s, str id)
{
    struct reservation *r = account_reservation(s, id);

    if (!r || !str_is(tree_str(tree_get(r->doc, "State")), "active"))
        return false;
    bool block = str_is(tree_str(tree_get(r->doc, "ReservationType")), "capacity-block");
    tree_set_str(s->a, r->doc, "State", block ? STR("expired") : STR("cancelled"));
    live_number_set(&r->available, 0);
    for (uint32_t i = 0; i < s->machine_list.n; i++) {
        struct machine *m = s->machine_list.v[i];

        if (m->reservation != r)
            continue;
        reservation_leave(m); /* first: it gives nothing back */
        if (block && (m->state == PENDING || m->state == RUNNING))
            machine_end(m, "Server.CapacityBlockEnded");
    }
    return true;
}
