/* What a claim is told of its machine (aws 4.9, 4.10). */
#include "base/vec.h"
#include "cloud/ec2/ec2_int.h"

typedef VEC(struct annotation) pairs;

/* A later value for the same key replaces the earlier one. */
static void put(pairs *v, str key, str val)
{
    for (uint32_t i = 0; i < v->n; i++)
        if (str_eq(v->v[i].key, key)) {
            v->v[i].val = val;
            return;
        }
    vec_push(v, (struct annotation){key, val});
}

static int by_key(const void *a, const void *b, void *ctx UNUSED)
{
    const struct annotation *x = a, *y = b;

    return str_cmp(x->key, y->key);
}

static bool is_of_reservations(str key)
{
    return str_eq(key, ec2_label_name(EC2_L_RESERVATION_ID)) || str_eq(key, ec2_label_name(EC2_L_RESERVATION_TYPE)) ||
           str_eq(key, ec2_label_name(EC2_L_RESERVATION_INTERRUPTIBLE));
}

static void put_type(pairs *v, const struct syms *t, const struct itype *type)
{
    for (uint32_t i = 0; type && i < type->n_requirements; i++) {
        const struct req_expr *r = &type->requirements[i];

        if (r->op == OP_IN && r->n_vals == 1 && !is_of_reservations(sym_str(t, r->key)))
            put(v, sym_str(t, r->key), sym_str(t, r->vals[0]));
    }
}

static void put_place(pairs *v, const struct ec2_facts *f, const struct ec2_class *k)
{
    put(v, STR("topology.kubernetes.io/zone"), f->zone);
    for (uint32_t i = 0; k && i < k->status.n_subnets; i++)
        if (str_eq(k->status.subnets[i].zone, f->zone) && k->status.subnets[i].zone_id.n)
            put(v, ec2_label_name(EC2_L_ZONE_ID), k->status.subnets[i].zone_id);
}

static void put_kind(pairs *v, const struct ec2_facts *f)
{
    put(v, STR("karpenter.sh/capacity-type"), f->capacity_type);
    put(v, ec2_label_name(EC2_L_TENANCY), f->tenancy);
    if (str_is(f->capacity_type, "reserved")) {
        put(v, ec2_label_name(EC2_L_RESERVATION_ID), f->reservation);
        put(v, ec2_label_name(EC2_L_RESERVATION_TYPE), f->reservation_kind);
        put(v, ec2_label_name(EC2_L_RESERVATION_INTERRUPTIBLE), f->interruptible ? STR("true") : STR("false"));
    }
    if (f->has_pool)
        put(v, STR("karpenter.sh/nodepool"), f->pool);
}

static struct reslist some_of(struct ec2 *p, struct arena *a, const struct reslist *all, uint32_t n_efa)
{
    struct reslist r = {0};

    for (uint32_t i = 0; i < all->n; i++) {
        const struct resq *q = &all->q[i];

        if (q->v != 0 && (n_efa || !str_is(sym_str(p->syms, q->name), "vpc.amazonaws.com/efa")))
            reslist_set(a, &r, q->name, q->v, q->binary);
    }
    return r;
}

void ec2_machine_of(struct ec2 *p, struct arena *a, const struct ec2_facts *f, const struct itype *type,
                    const struct ec2_class *k, const struct ec2_placement_group *placement, struct machine *ret)
{
    pairs v = {0};

    *ret = (struct machine){
        .provider_id = arena_printf(a, "aws:///" STR_FMT "/" STR_FMT, STR_ARG(f->zone), STR_ARG(f->id)),
        .image_id = arena_strdup(a, f->image),
        .deleting = f->deleting,
    };
    put_type(&v, p->syms, type);
    put_place(&v, f, k);
    put_kind(&v, f);
    if (placement) {
        put(&v, ec2_label_name(EC2_L_PLACEMENT_GROUP), placement->id);
        if (str_is(placement->strategy, "partition"))
            put(&v, ec2_label_name(EC2_L_PLACEMENT_PARTITION), f->partition);
    }
    sort_stable(v.v, v.n, sizeof(*v.v), by_key, NULL);
    ret->labels = arena_new_array(a, struct annotation, v.n);
    ret->n_labels = v.n;
    for (uint32_t i = 0; i < v.n; i++)
        ret->labels[i] = (struct annotation){arena_strdup(a, v.v[i].key), arena_strdup(a, v.v[i].val)};
    vec_fini(&v);
    if (!type)
        return;
    struct reslist left = reslist_dup(a, &type->capacity);
    reslist_sub(&left, &type->overhead);
    ret->capacity = some_of(p, a, &type->capacity, f->n_efa);
    ret->allocatable = some_of(p, a, &left, f->n_efa);
}

str ec2_instance_tag_value(const struct ec2_instance *i, const char *key, bool *ret_known)
{
    for (uint32_t x = 0; x < i->n_tags; x++)
        if (str_is(i->tags[x].key, key)) {
            *ret_known = true;
            return i->tags[x].value;
        }
    *ret_known = false;
    return (str){0};
}

bool ec2_instance_is_reserved(const struct ec2 *p, const struct ec2_instance *i)
{
    return p->settings.reserved_capacity && !ec2_instance_is_spot(i) && i->reservation.n &&
           str_is(i->reservation_preference, "capacity-reservations-only");
}

struct ec2_facts ec2_facts_of(const struct ec2 *p, struct arena *a, const struct ec2_instance *i)
{
    struct ec2_facts f = {
        .id = i->id,
        .image = i->image,
        .zone = i->zone,
        .capacity_type = ec2_instance_is_spot(i) ? STR("spot") : STR("on-demand"),
        .tenancy = i->tenancy.n ? i->tenancy : STR("default"),
        .reservation = i->reservation,
        .reservation_kind = str_is(i->lifecycle, "capacity-block") ? STR("capacity-block") : STR("default"),
        .interruptible = str_is(i->lifecycle, "interruptible-capacity-reservation"),
        .partition = i->partition ? arena_printf(a, "%d", i->partition) : STR(""),
        .n_efa = i->n_efa,
        .deleting = str_is(i->state, "shutting-down") || str_is(i->state, "terminated"),
    };

    if (ec2_instance_is_reserved(p, i))
        f.capacity_type = STR("reserved");
    f.pool = ec2_instance_tag_value(i, "karpenter.sh/nodepool", &f.has_pool);
    return f;
}
