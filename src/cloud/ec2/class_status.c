/* The status of an EC2NodeClass: what its selectors were resolved to. It is our own writing, so it is read as it is; only what cannot be read
 * at all is an error. */
#include "cloud/ec2/class_int.h"

#define MAX_FOUND 10000 /* entries of one list */

static bool get_found(const struct decoder *d, const struct tree *status, const char *key, const struct tree **ret,
                      uint32_t *ret_n, struct err *e)
{
    if (!dec_list(d, status, key, ret, e))
        return false;
    *ret_n = *ret ? (*ret)->n : 0;
    if (*ret_n > MAX_FOUND)
        return dec_fail(d, *ret, NULL, e, "has more than %d entries", MAX_FOUND);
    for (uint32_t i = 0; i < *ret_n; i++)
        if (!dec_is_map(d, &(*ret)->items[i], e))
            return false;
    return true;
}

static bool get_subnets(const struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k,
                        struct err *e)
{
    const struct tree *list;

    if (!get_found(d, status, "subnets", &list, &k->status.n_subnets, e))
        return false;
    k->status.subnets = arena_new_array(a, struct ec2_class_subnet, k->status.n_subnets);
    for (uint32_t i = 0; i < k->status.n_subnets; i++) {
        struct ec2_class_subnet *s = &k->status.subnets[i];

        if (!dec_str(d, &list->items[i], "id", &s->id, e) || !dec_str(d, &list->items[i], "zone", &s->zone, e) ||
            !dec_str(d, &list->items[i], "zoneID", &s->zone_id, e))
            return false;
    }
    return true;
}

static bool get_groups(const struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k,
                       struct err *e)
{
    const struct tree *list;

    if (!get_found(d, status, "securityGroups", &list, &k->status.n_groups, e))
        return false;
    k->status.groups = arena_new_array(a, struct ec2_group, k->status.n_groups);
    for (uint32_t i = 0; i < k->status.n_groups; i++)
        if (!dec_str(d, &list->items[i], "id", &k->status.groups[i].id, e) ||
            !dec_str(d, &list->items[i], "name", &k->status.groups[i].name, e))
            return false;
    return true;
}

static bool get_amis(struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k, struct err *e)
{
    const struct tree *list;

    if (!get_found(d, status, "amis", &list, &k->status.n_amis, e))
        return false;
    k->status.amis = arena_new_array(a, struct ec2_class_ami, k->status.n_amis);
    for (uint32_t i = 0; i < k->status.n_amis; i++) {
        struct ec2_class_ami *x = &k->status.amis[i];
        const struct tree *t = &list->items[i];

        if (!dec_str(d, t, "id", &x->id, e) || !dec_str(d, t, "name", &x->name, e) ||
            !dec_bool(d, t, "deprecated", &x->deprecated, e) ||
            !dec_reqs(d, t, "requirements", REQ_POOL, &x->requirements, &x->n_requirements, e))
            return false;
    }
    return true;
}

static bool get_reservation(const struct decoder *d, const struct tree *t, struct ec2_class_reservation *r,
                            struct err *e)
{
    r->ends_ms = INT64_MIN;
    if (!dec_str(d, t, "id", &r->id, e) || !dec_str(d, t, "availabilityZone", &r->zone, e) ||
        !dec_str(d, t, "instanceType", &r->type, e) || !dec_str(d, t, "ownerID", &r->owner, e) ||
        !dec_str(d, t, "instanceMatchCriteria", &r->match, e) || !dec_str(d, t, "reservationType", &r->kind, e) ||
        !dec_str(d, t, "state", &r->state, e) || !dec_bool(d, t, "interruptible", &r->interruptible, e) ||
        !dec_time(d, t, "endTime", &r->ends_ms, e))
        return false;
    if (!r->kind.n)
        r->kind = STR("default");
    if (!r->state.n)
        r->state = STR("active");
    return true;
}

static bool get_reservations(const struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k,
                             struct err *e)
{
    const struct tree *list;

    if (!get_found(d, status, "capacityReservations", &list, &k->status.n_reservations, e))
        return false;
    k->status.reservations = arena_new_array(a, struct ec2_class_reservation, k->status.n_reservations);
    for (uint32_t i = 0; i < k->status.n_reservations; i++)
        if (!get_reservation(d, &list->items[i], &k->status.reservations[i], e))
            return false;
    return true;
}

bool ec2_status_decode(struct decoder *d, struct arena *a, const struct tree *status, struct ec2_class *k,
                       struct err *e)
{
    return get_subnets(d, a, status, k, e) && get_groups(d, a, status, k, e) && get_amis(d, a, status, k, e) &&
           get_reservations(d, a, status, k, e) && dec_str(d, status, "instanceProfile", &k->status.profile, e);
}
